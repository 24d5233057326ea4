//! The parts of a backend config, each an object of its own in the JSON.

use super::flags::{Finite, FlagName, FlagValue};
use super::open::Open;
use super::rows::{Extras, object, rows};
use crate::custom_call::colors::color::{Color, ColorNumber};
use crate::custom_call::params::words::{OptLevel, Tiling};

object! {
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
    #[derive(Eq)]
    pub struct CostEstimate in LINES, of XLA [] {
        /// Bytes read and written.
        pub bytes_accessed: i64;
        /// Floating-point operations.
        pub flops: i64;
        /// Bytes sent to other devices.
        pub remote_bytes_transferred: i64;
        /// Transcendental operations, such as `exp`.
        pub transcendentals: i64;
    }
}

object! {
    /// The color of one result.
    #[derive(Eq)]
    pub struct ColoredOutput in COMPACT, of XLA [] {
        /// Its color.
        pub color: ColorNumber;
        /// Where the result stands in a tuple; empty when it is the only one.
        pub shape_index: Vec<i64>;
    }
}

impl ColoredOutput<'_> {
    /// The color of the result at this place of a tuple, or of the only result.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{Color, ColoredOutput};
    /// assert_eq!(ColoredOutput::new(vec![1], Color::Vmem.into()).result(), Some(1));
    /// ```
    pub const fn new(shape_index: Vec<i64>, color: ColorNumber) -> Self {
        Self { color, shape_index, extras: Extras::new() }
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

object! {
    /// The color of one operand.
    #[derive(Eq)]
    pub struct ColoredInput in COMPACT, of XLA ["shape_index"] {
        /// The operand's number.
        pub operand_index: u32;
        /// Its color.
        pub color: ColorNumber;
    }
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

object! {
    /// What only a SparseCore kernel has.
    #[derive(Eq)]
    pub struct SparseCoreConfig in LINES, of XLA [] {
        /// The compiler's settings.
        pub comp_env: Option<CompEnv<'a>>;
        /// The cores that the kernel runs on; all when empty.
        pub core_ids: Vec<u32>;
        /// How its arrays lie in memory.
        pub tiling: Option<Open<'a, Tiling>>;
    }
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

object! {
    /// The SparseCore compiler's settings.
    #[derive(Eq)]
    pub struct CompEnv in LINES, of XLA [] {
        /// How hard it tries.
        pub backend_opt_level: Option<Open<'a, OptLevel>>;
    }
}

object! {
    /// A limit of scoped memory.
    #[derive(Eq)]
    pub struct ScopedMemory in SPACED, of XLA [] {
        /// The memory's color. JAX leaves out the blank behind its colon.
        pub memory_space [", \"memory_space\":"]: ColorNumber;
        /// Where the scope begins, in bytes.
        pub offset: i64;
        /// How much there is, in bytes.
        pub size: i64;
    }
}

impl ScopedMemory<'_> {
    pub(super) fn vmem(size: i64) -> Self {
        Self { memory_space: Color::Vmem.into(), offset: 0, size, extras: Extras::new() }
    }

    pub(super) fn is_vmem(&self) -> bool {
        self.memory_space == Color::Vmem.into()
    }
}

object! {
    /// A compiler flag of one kernel.
    pub struct FlagConfig in SPACED, of XLA [] {
        flag_type: Option<FlagName>;
        value: Option<FlagValues<'a>>;
    }
    fault |flag| flag.flag_type.is_none().then_some("missing field `flag_type`")
}

object! {
    /// The value of a flag, under the key of its type.
    pub(super) struct FlagValues in SPACED, of XLA [] {
        boolean_value: Option<bool>;
        integer_value: Option<i64>;
        double_value: Option<Finite>;
    }
    fault |value| value.is_several().then_some("a flag has one value")
}

impl FlagValues<'_> {
    #[cfg(feature = "read")]
    const fn is_several(&self) -> bool {
        let given = [
            self.boolean_value.is_some(),
            self.integer_value.is_some(),
            self.double_value.is_some(),
        ];
        matches!(given, [true, true, _] | [true, _, true] | [_, true, true])
    }
}

impl From<FlagValue> for FlagValues<'_> {
    fn from(value: FlagValue) -> Self {
        match value {
            FlagValue::Bool(value) => Self { boolean_value: Some(value), ..Self::default() },
            FlagValue::Int(value) => Self { integer_value: Some(value), ..Self::default() },
            FlagValue::Float(value) => Self { double_value: Some(value), ..Self::default() },
        }
    }
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
    pub fn new(name: FlagName, value: FlagValue) -> Self {
        Self { flag_type: Some(name), value: Some(value.into()), extras: Extras::new() }
    }

    /// The flag's name.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{FlagConfig, FlagName, FlagValue};
    /// let flag = FlagConfig::new(FlagName::new("a")?, FlagValue::Int(1));
    /// assert_eq!((flag.name(), flag.value()), ("a", Some(FlagValue::Int(1))));
    /// # Ok::<(), mosaic_memspace::custom_call::FlagFault>(())
    /// ```
    pub fn name(&self) -> &str {
        self.flag_type.as_ref().map_or("", FlagName::as_str)
    }

    /// Its value; `None` is one of another kind than JAX writes, which is kept.
    pub fn value(&self) -> Option<FlagValue> {
        let value = self.value.as_ref()?;
        let (boolean, integer) = (value.boolean_value, value.integer_value);
        let double = || value.double_value.map(FlagValue::Float);
        boolean.map(FlagValue::Bool).or(integer.map(FlagValue::Int)).or_else(double)
    }
}

object! {
    /// Which cores a kernel runs on, as a libtpu before 0.0.50 reads it.
    #[derive(Eq)]
    pub struct MegachipConfig in SPACED, of XLA [] {
        /// The cores.
        pub cores: Vec<u32>;
    }
}
