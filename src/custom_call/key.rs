//! The keys of a backend config's objects, in the order that JAX writes them.

use super::config::RawJson;
use std::borrow::Cow;
use strum::{VariantArray, VariantNames};

/// The keys of one JSON object.
pub(super) trait Key: Copy + PartialEq + VariantArray + 'static {
    /// Keys that XLA adds when it prints the object: known, and kept as they come.
    const OF_XLA: &'static [&'static str];

    fn word(self) -> &'static str;
}

/// One list gives an object's keys, their order, and what XLA adds.
macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident { $($key:ident)* } $of_xla:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, VariantNames)]
        #[strum(serialize_all = "snake_case")]
        pub(super) enum $name {
            $($key,)*
        }

        impl Key for $name {
            const OF_XLA: &'static [&'static str] = &$of_xla;

            fn word(self) -> &'static str {
                crate::word::word_of(<Self as VariantNames>::VARIANTS, self as usize)
            }
        }
    )*};
}

keys! {
    /// The whole config.
    TopKey {
        CustomCallConfig SparseCoreConfig DeviceType ScopedMemoryConfigs FlagConfigs
        MegachipParallelismConfig
    } ["used_scoped_memory_configs", "retry_config", "aliasing_operands"];

    /// `custom_call_config`
    CallKey {
        Body HasCommunication CollectiveId CostEstimate NeedsHloPasses SerializationFormat
        NeedsLayoutPasses ShapeInvariantNumerics AllowInputFusion InternalScratchInBytes
        OutputMemorySpaceColors InputMemorySpaceColors DisableBoundsChecks DisableSemaphoreChecks
        SkipDeviceBarrier DebugLocations
    } ["output_memory_colors", "operand_to_metadata"];

    /// `custom_call_config.cost_estimate`
    CostKey { BytesAccessed Flops RemoteBytesTransferred Transcendentals } [];

    /// `custom_call_config.output_memory_space_colors[…]`
    OutputColorKey { Color ShapeIndex } [];

    /// `custom_call_config.input_memory_space_colors[…]`
    InputColorKey { OperandIndex Color } ["shape_index"];

    /// `sparse_core_config`
    SparseCoreKey { CompEnv CoreIds Tiling } [];

    /// `sparse_core_config.comp_env`
    CompEnvKey { BackendOptLevel } [];

    /// `scoped_memory_configs[…]`
    ScopedKey { MemorySpace Offset Size } [];

    /// `flag_configs[…]`
    FlagKey { FlagType Value } [];

    /// `flag_configs[…].value`
    FlagValueKey { BooleanValue IntegerValue DoubleValue } [];

    /// `megachip_parallelism_config`
    MegachipKey { Cores } [];
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
