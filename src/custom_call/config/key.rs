//! The keys of a backend config's objects, in the order that JAX writes them.

use super::flags::FlagValue;
use super::open::RawJson;
use std::borrow::Cow;
use strum::VariantArray;

/// The keys of one JSON object.
pub(super) trait Key: Copy + PartialEq + VariantArray + 'static {
    /// What JAX writes between a key of the object and its value.
    const COLON: &'static str;

    /// Keys that XLA adds when it prints the object: known, and kept as they come.
    const OF_XLA: &'static [&'static str];

    #[cfg(feature = "read")]
    fn word(self) -> &'static str;

    /// The key as JAX writes it: in quotes, with its colon.
    fn text(self) -> &'static str;
}

/// One list gives an object's keys, their order, their text, and what XLA adds.
macro_rules! keys {
    ($(
        $(#[$doc:meta])*
        $name:ident $colon:literal { $($key:ident $word:literal $($own_colon:literal)?)* } $of_xla:expr;
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
        #[allow(clippy::enum_variant_names, reason = "each is its key's name")]
        pub(super) enum $name {
            $($key,)*
        }

        impl Key for $name {
            const COLON: &'static str = $colon;
            const OF_XLA: &'static [&'static str] = &$of_xla;

            #[cfg(feature = "read")]
            fn word(self) -> &'static str {
                match self {
                    $(Self::$key => $word,)*
                }
            }

            fn text(self) -> &'static str {
                match self {
                    $(Self::$key => concat!("\"", $word, "\"", last!($colon $($own_colon)?)),)*
                }
            }
        }
    )*};
}

/// A key's own colon, when it has one.
macro_rules! last {
    ($colon:literal) => {
        $colon
    };
    ($colon:literal $own_colon:literal) => {
        $own_colon
    };
}

keys! {
    /// The whole config.
    TopKey ": " {
        CustomCallConfig "custom_call_config"
        SparseCoreConfig "sparse_core_config"
        DeviceType "device_type"
        ScopedMemoryConfigs "scoped_memory_configs"
        FlagConfigs "flag_configs"
        MegachipParallelismConfig "megachip_parallelism_config"
    } ["used_scoped_memory_configs", "retry_config", "aliasing_operands"];

    /// `custom_call_config`
    CallKey ": " {
        Body "body"
        HasCommunication "has_communication"
        CollectiveId "collective_id"
        CostEstimate "cost_estimate"
        NeedsHloPasses "needs_hlo_passes"
        SerializationFormat "serialization_format"
        NeedsLayoutPasses "needs_layout_passes"
        ShapeInvariantNumerics "shape_invariant_numerics"
        AllowInputFusion "allow_input_fusion"
        InternalScratchInBytes "internal_scratch_in_bytes"
        OutputMemorySpaceColors "output_memory_space_colors"
        InputMemorySpaceColors "input_memory_space_colors"
        DisableBoundsChecks "disable_bounds_checks"
        DisableSemaphoreChecks "disable_semaphore_checks"
        SkipDeviceBarrier "skip_device_barrier"
        DebugLocations "debug_locations"
    } ["output_memory_colors", "operand_to_metadata"];

    /// `custom_call_config.cost_estimate`
    CostKey ":" {
        BytesAccessed "bytes_accessed"
        Flops "flops"
        RemoteBytesTransferred "remote_bytes_transferred"
        Transcendentals "transcendentals"
    } [];

    /// `custom_call_config.output_memory_space_colors[…]`
    OutputColorKey ":" {
        Color "color"
        ShapeIndex "shape_index"
    } [];

    /// `custom_call_config.input_memory_space_colors[…]`
    InputColorKey ":" {
        OperandIndex "operand_index"
        Color "color"
    } ["shape_index"];

    /// `sparse_core_config`
    SparseCoreKey ":" {
        CompEnv "comp_env"
        CoreIds "core_ids"
        Tiling "tiling"
    } [];

    /// `sparse_core_config.comp_env`
    CompEnvKey ":" {
        BackendOptLevel "backend_opt_level"
    } [];

    /// `scoped_memory_configs[…]`, where JAX leaves out one blank.
    ScopedKey ": " {
        MemorySpace "memory_space" ":"
        Offset "offset"
        Size "size"
    } [];

    /// `flag_configs[…]`
    FlagKey ": " {
        FlagType "flag_type"
        Value "value"
    } [];

    /// `flag_configs[…].value`
    FlagValueKey ": " {
        BooleanValue "boolean_value"
        IntegerValue "integer_value"
        DoubleValue "double_value"
    } [];

    /// `megachip_parallelism_config`
    MegachipKey ": " {
        Cores "cores"
    } [];
}

impl FlagValueKey {
    /// The key that a value stands under.
    pub(super) const fn of(value: FlagValue) -> Self {
        match value {
            FlagValue::Bool(_) => Self::BooleanValue,
            FlagValue::Int(_) => Self::IntegerValue,
            FlagValue::Float(_) => Self::DoubleValue,
        }
    }
}

/// The keys of an object that are none of `K`, each with the known key that it
/// stands behind, so that it can be written in its place again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extras<'a, K>(pub(super) Vec<Extra<'a, K>>);

/// A key that is none of `K`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extra<'a, K> {
    /// `None` at the object's beginning.
    pub(super) after: Option<K>,
    pub(super) key: Cow<'a, str>,
    pub(super) value: RawJson<'a>,
}

impl<K> Extras<'_, K> {
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }
}

impl<K> Default for Extras<'_, K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, K: Key> Extras<'a, K> {
    /// Those that stand directly behind `key`.
    pub(super) fn after(&self, key: Option<K>) -> impl Iterator<Item = &Extra<'a, K>> {
        self.0.iter().filter(move |extra| extra.after == key)
    }

    /// Those that XLA does not add either.
    pub(super) fn unknown(&self) -> impl Iterator<Item = &Extra<'a, K>> {
        self.0.iter().filter(|extra| !K::OF_XLA.contains(&extra.key.as_ref()))
    }
}

/// Adds a key to the path of its object: `.key`, or `["the key"]` where it is no word.
pub(super) fn push_key(path: &mut String, key: &str) {
    let is_word = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_';
    if key.is_empty() || !key.bytes().all(is_word) {
        path.push_str("[\"");
        path.extend(key.chars().flat_map(char::escape_debug));
        path.push_str("\"]");
    } else {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(key);
    }
}
