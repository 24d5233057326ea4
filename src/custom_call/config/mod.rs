//! The backend config of a `tpu_custom_call`: what XLA is told about a kernel.

pub(super) mod body;
pub(super) mod flags;
pub(super) mod libtpu;
mod number;
pub(super) mod open;
pub(super) mod parts;
#[cfg(feature = "read")]
pub(super) mod read;
pub(super) mod rows;
#[cfg(feature = "read")]
mod scalar;
pub(super) mod sink;
mod values;

use crate::custom_call::colors::color::{Color, ColorNumber, InputColor};
use crate::custom_call::ids::collective_id::CollectiveId;
use crate::custom_call::params::words::{DeviceType, OptLevel, Tiling};
use body::Body;
use flags::Flags;
use libtpu::OneCoreMark;
use open::Open;
use parts::{
    ColoredInput, ColoredOutput, CompEnv, CostEstimate, FlagConfig, MegachipConfig, ScopedMemory,
    SparseCoreConfig,
};
use rows::{Extras, UnknownKey, or_default, rows};
use sink::{Length, Sink};

/// The struct, and its two objects in the JSON.
macro_rules! backend_config {
    (
        $(#[$attr:meta])*
        pub struct BackendConfig {
            custom_call_config: {
                $($(#[$call_doc:meta])* $call:ident: $call_type:ty $(= $call_absent:expr)?;)*
            }
            $($(#[$doc:meta])* $field:ident: $type:ty;)*
        }
    ) => {
        $(#[$attr])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        #[allow(clippy::struct_excessive_bools, reason = "each is a key of its own in the JSON")]
        pub struct BackendConfig<'a> {
            $($(#[$call_doc])* pub $call: $call_type,)*
            $($(#[$doc])* pub $field: $type,)*
            call_extras: Extras<'a>,
            extras: Extras<'a>,
        }

        impl Default for BackendConfig<'_> {
            fn default() -> Self {
                Self {
                    $($call: or_default!($($call_absent)?),)*
                    $($field: or_default!(),)*
                    call_extras: Extras::new(),
                    extras: Extras::new(),
                }
            }
        }

        rows! {
            CustomCallConfig: BackendConfig<'a>, call_extras, SPACED,
            ["operand_to_metadata"], {} {}
            $($call: $call_type $(= $call_absent)?;)*
        }

        rows! {
            BackendConfig<'a>: BackendConfig<'a>, extras, SPACED,
            ["retry_config", "aliasing_operands"], {}
            { custom_call_config: CustomCallConfig }
            $($field: $type;)*
        }
    };
}

/// The object in the config that tells of the call; its members are the config's fields.
struct CustomCallConfig;

/// The doc of a parameter's field.
macro_rules! param {
    () => {
        "As in [`CompilerParams`](crate::custom_call::CompilerParams)."
    };
}

backend_config! {
    /// The backend config of a `tpu_custom_call`: what XLA is told about a kernel
    /// (JAX: `CustomCallBackendConfig`).
    ///
    /// Every value that can be built is valid JSON, [written](Self::to_json) byte
    /// for byte as JAX 0.12.0.1 writes it. With the feature `read` it is also
    /// [read](Self::from_json), from what JAX and XLA print; what no field holds is
    /// kept, in its place, and written again.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::BackendConfig;
    ///
    /// let mut config = BackendConfig::new(b"a module");
    /// config.collective_id = Some(0.into());
    /// config.set_vmem_limit_bytes(Some(1 << 20));
    /// assert_eq!(
    ///     config.to_json(),
    ///     "{\"custom_call_config\": {\"body\": \"YSBtb2R1bGU=\", \"collective_id\": 0}, \
    ///      \"scoped_memory_configs\": [{\"memory_space\":1, \"offset\": 0, \"size\": 1048576}]}"
    /// );
    /// ```
    pub struct BackendConfig {
        custom_call_config: {
            /// The kernel: a serialised Mosaic module.
            body: Body<'a>;
            /// Whether the kernel talks to other devices.
            has_communication: bool;
            #[doc = param!()] collective_id: Option<CollectiveId>;
            /// What the kernel costs, for XLA's scheduler.
            cost_estimate: Option<CostEstimate<'a>>;
            /// Whether the body still holds HLO operations.
            needs_hlo_passes: bool;
            #[doc = param!()] serialization_format: Option<i64>;
            #[doc = param!()] needs_layout_passes: bool;
            #[doc = param!()] shape_invariant_numerics: bool = true;
            #[doc = param!()] allow_input_fusion: Option<Vec<bool>>;
            #[doc = param!()] internal_scratch_in_bytes: Option<i64>;
            /// Colors of results as JAX wrote them from 2024 to 2026: a number for each, -1
            /// where XLA may choose. The compiler still goes by them.
            output_memory_colors: Option<Vec<i64>>;
            /// Colors of results ([`set_output_colors`](Self::set_output_colors)).
            output_memory_space_colors: Vec<ColoredOutput<'a>>;
            /// Colors of operands ([`set_input_colors`](Self::set_input_colors)).
            input_memory_space_colors: Vec<ColoredInput<'a>>;
            #[doc = param!()] disable_bounds_checks: bool;
            #[doc = param!()] disable_semaphore_checks: bool;
            #[doc = param!()] skip_device_barrier: bool;
            /// The debug locations, which JAX keeps apart from the body.
            debug_locations: Option<Body<'a>>;
        }
        /// What only a SparseCore kernel has ([`set_sparse_core`](Self::set_sparse_core)).
        sparse_core_config: Option<SparseCoreConfig<'a>>;
        /// What the kernel runs on; absent for a TensorCore.
        device_type: Option<Open<'a, DeviceType>>;
        /// Limits of scoped memory ([`set_vmem_limit_bytes`](Self::set_vmem_limit_bytes)).
        scoped_memory_configs: Vec<ScopedMemory<'a>>;
        /// What the compiler took of scoped memory; it writes this, and JAX does not.
        used_scoped_memory_configs: Option<Vec<ScopedMemory<'a>>>;
        /// Compiler flags of this kernel alone ([`set_flags`](Self::set_flags)).
        flag_configs: Option<Vec<FlagConfig<'a>>>;
        /// How a libtpu before 0.0.50 is told that the kernel runs on one core.
        megachip_parallelism_config: Option<MegachipConfig<'a>>;
    }
}

impl<'a> BackendConfig<'a> {
    /// A config with a body alone: everything else is as if its key were absent.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::BackendConfig;
    /// let config = BackendConfig::new(b"");
    /// assert_eq!(config.to_json(), r#"{"custom_call_config": {"body": ""}}"#);
    /// ```
    pub fn new(body: &'a [u8]) -> Self {
        Self { body: Body::Bytes(body), ..Self::default() }
    }

    /// The bytes of VMEM that the kernel may use, or `None` for the chip's default.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::BackendConfig;
    /// assert_eq!(BackendConfig::new(b"").vmem_limit_bytes(), None);
    /// ```
    pub fn vmem_limit_bytes(&self) -> Option<i64> {
        let vmem = self.scoped_memory_configs.iter().find(|limit| limit.is_vmem())?;
        Some(vmem.size)
    }

    /// Sets the bytes of VMEM that the kernel may use. The compiler lowers a number that is
    /// too large to the chip's limit, without a message.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::BackendConfig;
    /// let mut config = BackendConfig::new(b"");
    /// config.set_vmem_limit_bytes(Some(1 << 25));
    /// assert_eq!(config.vmem_limit_bytes(), Some(1 << 25));
    /// ```
    pub fn set_vmem_limit_bytes(&mut self, limit: Option<i64>) {
        self.scoped_memory_configs.retain(|limit| !limit.is_vmem());
        self.scoped_memory_configs.extend(limit.map(ScopedMemory::vmem));
    }

    /// The colors of results, by their numbers: those of `output_memory_space_colors`, or
    /// where there are none, of `output_memory_colors`, as JAX wrote them from 2024 to
    /// 2026: a number for each result, -1 where XLA may choose.
    pub fn output_colors(&self) -> impl Iterator<Item = (usize, ColorNumber)> {
        let now = self.output_memory_space_colors.iter();
        let now = now.filter_map(|output| Some((output.result()?, output.color)));
        let is_old = self.output_memory_space_colors.is_empty();
        let old = self.output_memory_colors.iter().flatten().enumerate();
        let old = old.filter(move |(_, color)| is_old && **color >= 0);
        now.chain(old.map(|(number, color)| (number, ColorNumber::new(*color))))
    }

    /// The bytes of VMEM that the compiler took, in a dump that was made after it had run.
    pub fn used_vmem_bytes(&self) -> Option<u64> {
        let used = self.used_scoped_memory_configs.iter().flatten();
        let mut vmem = used.filter(|memory| memory.is_vmem());
        vmem.next().and_then(|memory| u64::try_from(memory.size).ok())
    }

    /// Places the results: one entry for each, `None` where XLA may choose.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{BackendConfig, Color};
    ///
    /// let mut config = BackendConfig::new(b"");
    /// config.set_output_colors(&[None, Some(Color::Vmem)]);
    /// assert!(config.to_json().contains(r#"[{"color":1,"shape_index":[1]}]"#));
    /// // A single result is no tuple, and has no index in one.
    /// config.set_output_colors(&[Some(Color::Hbm)]);
    /// assert!(config.to_json().contains(r#"[{"color":0}]"#));
    /// ```
    pub fn set_output_colors(&mut self, colors: &[Option<Color>]) {
        let tuple = colors.len() > 1;
        let colored = (0..).zip(colors).filter_map(|(index, color)| {
            let shape_index = if tuple { vec![index] } else { Vec::new() };
            color.map(|color| ColoredOutput::new(shape_index, color.into()))
        });
        self.output_memory_space_colors = colored.collect();
    }

    /// Places the operands: one entry for each, `None` where XLA may choose. As in JAX,
    /// `smem` is left out: XLA places no operand there.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{BackendConfig, InputColor};
    ///
    /// let mut config = BackendConfig::new(b"");
    /// config.set_input_colors(&[Some(InputColor::Smem), Some(InputColor::Vmem)]);
    /// assert!(config.to_json().contains(r#"[{"operand_index":1,"color":1}]"#));
    /// ```
    pub fn set_input_colors(&mut self, colors: &[Option<InputColor>]) {
        let colored = (0..).zip(colors).filter_map(|(operand_index, color)| {
            color
                .filter(|color| color.is_written())
                .map(|color| ColoredInput::new(operand_index, color.color().into()))
        });
        self.input_memory_space_colors = colored.collect();
    }

    /// Sets the compiler flags of this kernel. An empty list is written, `None` is not.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{BackendConfig, Flags};
    /// let mut config = BackendConfig::new(b"");
    /// config.set_flags(Some(&Flags::new()));
    /// assert!(config.to_json().ends_with(r#""flag_configs": []}"#));
    /// ```
    pub fn set_flags(&mut self, flags: Option<&Flags>) {
        self.flag_configs = flags.map(|flags| {
            let flags = flags.iter().map(|(name, value)| FlagConfig::new(name.clone(), value));
            flags.collect()
        });
    }

    /// Makes it the config of a SparseCore kernel. Without a tiling it is compact, as JAX writes
    /// it; `one_core` tells the compiler that the kernel runs on one core.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{BackendConfig, LibtpuVersion, OptLevel};
    ///
    /// let mut config = BackendConfig::new(b"");
    /// let mark = LibtpuVersion::NEWEST.one_core_mark();
    /// config.set_sparse_core(None, Some(OptLevel::O2), Some(mark));
    /// assert!(config.to_json().ends_with(
    ///     "\"sparse_core_config\": {\n\"comp_env\":{\n\"backend_opt_level\":\"O2\"\n},\n\
    ///      \"core_ids\":[\n\"0\"\n],\n\"tiling\":\"TILING_COMPACT\"\n}, \
    ///      \"device_type\": \"DEVICE_TYPE_SPARSECORE\"}"
    /// ));
    /// ```
    pub fn set_sparse_core(
        &mut self,
        tiling: Option<Tiling>,
        opt_level: Option<OptLevel>,
        one_core: Option<OneCoreMark>,
    ) {
        let mut config = SparseCoreConfig {
            comp_env: opt_level.map(|level| CompEnv {
                backend_opt_level: Some(Open::Known(level)),
                ..CompEnv::default()
            }),
            tiling: Some(Open::Known(tiling.unwrap_or(Tiling::Compact))),
            ..SparseCoreConfig::default()
        };
        self.megachip_parallelism_config = None;
        match one_core {
            Some(OneCoreMark::CoreIds) => config.core_ids = vec![0],
            Some(OneCoreMark::Megachip) => {
                let one_core = MegachipConfig { cores: vec![0], ..MegachipConfig::default() };
                self.megachip_parallelism_config = Some(one_core);
            }
            None => {}
        }
        self.sparse_core_config = Some(config);
        self.device_type = Some(Open::Known(DeviceType::SparseCore));
    }

    /// The keys that neither JAX nor, as far as is known, XLA writes. They are kept,
    /// and written again in their places.
    ///
    /// ```
    /// # #[cfg(feature = "read")] {
    /// use mosaic_memspace::custom_call::BackendConfig;
    /// let text = r#"{"custom_call_config": {"body": "", "new": {"x": 1}}}"#;
    /// let config = BackendConfig::from_json(text)?;
    /// let unknown = config.unknown();
    /// assert_eq!(unknown[0].path, "custom_call_config.new");
    /// assert_eq!(unknown[0].value.as_str(), r#"{"x": 1}"#);
    /// assert_eq!(config.to_json(), text);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn unknown(&self) -> Vec<UnknownKey<'a>> {
        let mut found = Vec::new();
        rows::walk::<Self>(self, "", &mut found);
        found
    }

    /// The JSON, byte for byte as JAX 0.12.0.1 writes it, in one allocation.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::BackendConfig;
    /// let json = BackendConfig::new(b"ML").to_json();
    /// assert_eq!(json, r#"{"custom_call_config": {"body": "TUw="}}"#);
    /// ```
    pub fn to_json(&self) -> String {
        let mut json = String::with_capacity(self.json_len());
        self.write(&mut json);
        json
    }

    /// Appends the JSON: one allocation at most, and none where there is room for it.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::BackendConfig;
    ///
    /// let mut json = String::with_capacity(1 << 10);
    /// BackendConfig::new(b"ML").write_json(&mut json);
    /// assert_eq!(json.capacity(), 1 << 10);
    /// ```
    pub fn write_json(&self, json: &mut String) {
        json.reserve_exact(self.json_len());
        self.write(json);
    }

    /// How many bytes the JSON has.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::BackendConfig;
    /// let config = BackendConfig::new(&[0; 1000]);
    /// assert_eq!(config.json_len(), config.to_json().len());
    /// ```
    pub fn json_len(&self) -> usize {
        let mut length = Length::default();
        self.write(&mut length);
        length.get()
    }

    pub(super) fn write<S: Sink>(&self, sink: &mut S) {
        rows::write::<Self, S>(self, sink);
    }
}
