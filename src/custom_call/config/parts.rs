//! The parts of a backend config, each an object of its own in the JSON.

use super::flags::{FlagName, FlagValue};
use super::key::{
    CompEnvKey, CostKey, Extras, FlagKey, FlagValueKey, InputColorKey, MegachipKey, OutputColorKey,
    ScopedKey, SparseCoreKey,
};
use super::open::Open;
use crate::custom_call::colors::color::{Color, ColorNumber};
use crate::custom_call::params::words::{OptLevel, Tiling};

/// What a kernel costs (JAX: `CostEstimate`).
///
/// ```
/// use mosaic_memspace::custom_call::{BackendConfig, CostEstimate};
///
/// let mut cost = CostEstimate::default();
/// cost.flops = 2_000;
/// let mut config = BackendConfig::new(b"");
/// config.cost_estimate = Some(cost);
/// assert!(config.to_json().contains("\"flops\":2000,"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CostEstimate<'a> {
    /// Floating-point operations.
    pub flops: i64,
    /// Transcendental operations, such as `exp`.
    pub transcendentals: i64,
    /// Bytes read and written.
    pub bytes_accessed: i64,
    /// Bytes sent to other devices.
    pub remote_bytes_transferred: i64,
    pub(super) extras: Extras<'a, CostKey>,
}

/// The color of one result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColoredOutput<'a> {
    /// Where the result stands in a tuple; empty when it is the only one.
    pub shape_index: Vec<i64>,
    /// Its color.
    pub color: ColorNumber,
    pub(super) extras: Extras<'a, OutputColorKey>,
}

impl ColoredOutput<'_> {
    /// The color of the result at this place of a tuple, or of the only result.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{Color, ColoredOutput};
    /// assert_eq!(ColoredOutput::new(vec![1], Color::Vmem.into()).result(), Some(1));
    /// ```
    pub const fn new(shape_index: Vec<i64>, color: ColorNumber) -> Self {
        Self { shape_index, color, extras: Extras::new() }
    }

    /// The result's number; `None` for a part of a result, which no kernel has.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{Color, ColoredOutput};
    /// assert_eq!(ColoredOutput::new(vec![], Color::Vmem.into()).result(), Some(0));
    /// assert_eq!(ColoredOutput::new(vec![0, 1], Color::Vmem.into()).result(), None);
    /// ```
    pub fn result(&self) -> Option<usize> {
        match self.shape_index.as_slice() {
            [] => Some(0),
            [index] => usize::try_from(*index).ok(),
            [_, _, ..] => None,
        }
    }
}

/// The color of one operand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColoredInput<'a> {
    /// The operand's number.
    pub operand_index: u32,
    /// Its color.
    pub color: ColorNumber,
    pub(super) extras: Extras<'a, InputColorKey>,
}

impl ColoredInput<'_> {
    /// The color of the operand with this number.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{Color, ColoredInput};
    /// assert_eq!(ColoredInput::new(3, Color::Vmem.into()).operand_index, 3);
    /// ```
    pub const fn new(operand_index: u32, color: ColorNumber) -> Self {
        Self { operand_index, color, extras: Extras::new() }
    }
}

/// What only a SparseCore kernel has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SparseCoreConfig<'a> {
    /// The compiler's settings.
    pub comp_env: Option<CompEnv<'a>>,
    /// The cores that the kernel runs on; all when empty.
    pub core_ids: Vec<u32>,
    /// How its arrays lie in memory.
    pub tiling: Option<Open<'a, Tiling>>,
    pub(super) extras: Extras<'a, SparseCoreKey>,
}

impl SparseCoreConfig<'_> {
    /// The opt level, if one is given.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::SparseCoreConfig;
    /// assert_eq!(SparseCoreConfig::default().opt_level(), None);
    /// ```
    pub fn opt_level(&self) -> Option<&Open<'_, OptLevel>> {
        self.comp_env.as_ref()?.backend_opt_level.as_ref()
    }
}

/// The SparseCore compiler's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompEnv<'a> {
    /// How hard it tries.
    pub backend_opt_level: Option<Open<'a, OptLevel>>,
    pub(super) extras: Extras<'a, CompEnvKey>,
}

impl CompEnv<'_> {
    pub(super) const fn new(opt_level: OptLevel) -> Self {
        Self { backend_opt_level: Some(Open::Known(opt_level)), extras: Extras::new() }
    }
}

/// A limit of scoped memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScopedMemory<'a> {
    /// The memory's color.
    pub memory_space: ColorNumber,
    /// Where the scope begins, in bytes.
    pub offset: i64,
    /// How much there is, in bytes.
    pub size: i64,
    pub(super) extras: Extras<'a, ScopedKey>,
}

impl ScopedMemory<'_> {
    pub(super) fn vmem(size: i64) -> Self {
        Self { memory_space: Color::Vmem.into(), offset: 0, size, extras: Extras::new() }
    }

    pub(super) fn is_vmem(&self) -> bool {
        self.memory_space == Color::Vmem.into()
    }
}

/// A compiler flag of one kernel.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FlagConfig<'a> {
    /// The flag's name.
    pub flag_type: FlagName,
    /// Its value; `None` is one of another kind than JAX writes, which is kept.
    pub value: Option<FlagValue>,
    pub(super) value_extras: Extras<'a, FlagValueKey>,
    pub(super) extras: Extras<'a, FlagKey>,
}

impl FlagConfig<'_> {
    /// A flag with a value.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{BackendConfig, FlagConfig, FlagName, FlagValue};
    ///
    /// let flag = FlagConfig::new(FlagName::new("a")?, FlagValue::Int(1));
    /// let mut config = BackendConfig::new(b"");
    /// config.flag_configs = Some(vec![flag]);
    /// let text = r#""flag_configs": [{"flag_type": "a", "value": {"integer_value": 1}}]}"#;
    /// assert!(config.to_json().ends_with(text));
    /// # Ok::<(), mosaic_memspace::custom_call::FlagFault>(())
    /// ```
    pub const fn new(name: FlagName, value: FlagValue) -> Self {
        let value = Some(value);
        Self { flag_type: name, value, value_extras: Extras::new(), extras: Extras::new() }
    }
}

/// Which cores a kernel runs on, as a libtpu before 0.0.50 reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MegachipConfig<'a> {
    /// The cores.
    pub cores: Vec<u32>,
    pub(super) extras: Extras<'a, MegachipKey>,
}
