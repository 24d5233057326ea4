//! The backend config of a `tpu_custom_call`: what XLA is told about a kernel.

pub(super) mod body;
pub(super) mod flags;
mod key;
pub(super) mod libtpu;
mod number;
pub(super) mod open;
pub(super) mod parts;
#[cfg(feature = "read")]
pub(super) mod read;
#[cfg(feature = "read")]
mod scalar;
pub(super) mod sink;
pub(super) mod write;

use crate::custom_call::colors::color::{Color, InputColor};
use crate::custom_call::ids::collective_id::CollectiveId;
use crate::custom_call::params::words::{DeviceType, OptLevel, Tiling};
use body::Body;
use flags::Flags;
use key::{CallKey, Extras, Key, TopKey, push_key};
use libtpu::OneCoreMark;
use open::{Open, RawJson};
use parts::{
    ColoredInput, ColoredOutput, CompEnv, CostEstimate, FlagConfig, MegachipConfig, ScopedMemory,
    SparseCoreConfig,
};

/// The backend config of a `tpu_custom_call`: what XLA is told about a kernel
/// (JAX: `CustomCallBackendConfig`).
///
/// Every value that can be built is valid JSON, [written](Self::to_json) byte
/// for byte as JAX 0.12.0.1 writes it. With the feature `read` it is also
/// [read](Self::from_json) from what JAX and XLA print. Unknown keys are kept, and
/// written again in their places.
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
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools, reason = "each is a key of its own in the JSON")]
pub struct BackendConfig<'a> {
    /// The kernel: a serialized Mosaic module.
    pub body: Body<'a>,
    /// Whether the kernel talks to other devices.
    pub has_communication: bool,
    /// Which barrier semaphore it uses; kernels that may overlap need different ones.
    pub collective_id: Option<CollectiveId>,
    /// What the kernel costs, for XLA's scheduler.
    pub cost_estimate: Option<CostEstimate<'a>>,
    /// Whether the body still holds HLO operations.
    pub needs_hlo_passes: bool,
    /// How the body is serialized; without it, the compiler takes plain Mosaic text too.
    pub serialization_format: Option<i64>,
    /// Whether the compiler has to infer vector layouts; a TensorCore kernel needs it.
    pub needs_layout_passes: bool,
    /// Whether results must not depend on how XLA pads and tiles; true when absent.
    pub shape_invariant_numerics: bool,
    /// By operand: whether XLA may fuse its producer into the kernel.
    pub allow_input_fusion: Option<Vec<bool>>,
    /// Bytes of scratch that are reserved for the compiler itself.
    pub internal_scratch_in_bytes: Option<i64>,
    /// Colors of results ([`set_output_colors`](Self::set_output_colors)).
    pub output_memory_space_colors: Vec<ColoredOutput<'a>>,
    /// Colors of operands ([`set_input_colors`](Self::set_input_colors)).
    pub input_memory_space_colors: Vec<ColoredInput<'a>>,
    /// Whether accesses are not checked against their bounds.
    pub disable_bounds_checks: bool,
    /// Whether semaphores are not checked to be zero at the end.
    pub disable_semaphore_checks: bool,
    /// Whether the devices start the kernel without waiting for each other.
    pub skip_device_barrier: bool,
    /// The debug locations, which JAX keeps apart from the body.
    pub debug_locations: Option<Body<'a>>,
    /// What only a SparseCore kernel has ([`set_sparse_core`](Self::set_sparse_core)).
    pub sparse_core_config: Option<SparseCoreConfig<'a>>,
    /// What the kernel runs on; absent for a TensorCore.
    pub device_type: Option<Open<'a, DeviceType>>,
    /// Limits of scoped memory ([`set_vmem_limit_bytes`](Self::set_vmem_limit_bytes)).
    pub scoped_memory_configs: Vec<ScopedMemory<'a>>,
    /// Compiler flags of this kernel alone ([`set_flags`](Self::set_flags)).
    pub flag_configs: Option<Vec<FlagConfig<'a>>>,
    /// How a libtpu before 0.0.50 is told that the kernel runs on one core.
    pub megachip_parallelism_config: Option<MegachipConfig<'a>>,
    top_extras: Extras<'a, TopKey>,
    call_extras: Extras<'a, CallKey>,
}

impl Default for BackendConfig<'_> {
    fn default() -> Self {
        Self {
            body: Body::default(),
            has_communication: false,
            collective_id: None,
            cost_estimate: None,
            needs_hlo_passes: false,
            serialization_format: None,
            needs_layout_passes: false,
            shape_invariant_numerics: true,
            allow_input_fusion: None,
            internal_scratch_in_bytes: None,
            output_memory_space_colors: Vec::new(),
            input_memory_space_colors: Vec::new(),
            disable_bounds_checks: false,
            disable_semaphore_checks: false,
            skip_device_barrier: false,
            debug_locations: None,
            sparse_core_config: None,
            device_type: None,
            scoped_memory_configs: Vec::new(),
            flag_configs: None,
            megachip_parallelism_config: None,
            top_extras: Extras::default(),
            call_extras: Extras::default(),
        }
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
            comp_env: opt_level.map(CompEnv::new),
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
        let mut in_object = Collector(&mut found);
        in_object.keys("", &self.top_extras);
        in_object.keys("custom_call_config", &self.call_extras);
        if let Some(cost) = &self.cost_estimate {
            in_object.keys("custom_call_config.cost_estimate", &cost.extras);
        }
        let outputs = self.output_memory_space_colors.iter().map(|output| &output.extras);
        in_object.list("custom_call_config.output_memory_space_colors", outputs);
        let inputs = self.input_memory_space_colors.iter().map(|input| &input.extras);
        in_object.list("custom_call_config.input_memory_space_colors", inputs);
        if let Some(sparse_core) = &self.sparse_core_config {
            in_object.keys("sparse_core_config", &sparse_core.extras);
            if let Some(comp_env) = &sparse_core.comp_env {
                in_object.keys("sparse_core_config.comp_env", &comp_env.extras);
            }
        }
        let limits = self.scoped_memory_configs.iter().map(|limit| &limit.extras);
        in_object.list("scoped_memory_configs", limits);
        for (index, flag) in self.flag_configs.iter().flatten().enumerate() {
            in_object.keys(&format!("flag_configs[{index}]"), &flag.extras);
            in_object.keys(&format!("flag_configs[{index}].value"), &flag.value_extras);
        }
        if let Some(megachip) = &self.megachip_parallelism_config {
            in_object.keys("megachip_parallelism_config", &megachip.extras);
        }
        found
    }
}

/// An unknown key, and its value.
///
/// ```
/// # #[cfg(feature = "read")] {
/// use mosaic_memspace::custom_call::BackendConfig;
/// let config = BackendConfig::from_json(r#"{"flag_configs": [{"since": 2}]}"#);
/// // A flag needs a name, whatever else it has.
/// assert!(config.is_err());
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKey<'a> {
    /// Where it stands: `custom_call_config.new`, `scoped_memory_configs[0].new`.
    pub path: String,
    /// Its value.
    pub value: RawJson<'a>,
}

/// Collects unknown keys with their paths.
struct Collector<'f, 'a>(&'f mut Vec<UnknownKey<'a>>);

impl<'a> Collector<'_, 'a> {
    fn keys<K: Key>(&mut self, object: &str, extras: &Extras<'a, K>) {
        self.0.extend(extras.unknown().map(|extra| {
            let mut path = object.to_owned();
            push_key(&mut path, &extra.key);
            UnknownKey { path, value: extra.value }
        }));
    }

    fn list<'e, K: Key>(&mut self, list: &str, extras: impl Iterator<Item = &'e Extras<'a, K>>)
    where
        'a: 'e,
    {
        for (index, extras) in extras.enumerate() {
            self.keys(&format!("{list}[{index}]"), extras);
        }
    }
}
