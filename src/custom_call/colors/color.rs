//! Colors: the numbers by which XLA knows the memory space of an operand.

use crate::core_type::CoreType;
use crate::error::{Code, Fault, UnknownWord, faults};
use crate::memory_space::{CoreMemorySpace, MemorySpace, TpuSpace};
use crate::word::word_impls;
use std::fmt;
use std::str::FromStr;

/// Defines the colors: one list gives their words, their numbers, and both inverses.
macro_rules! colors {
    ($($name:ident $word:literal $number:literal $summary:literal;)*) => {
        /// A memory space as XLA's buffer assignment numbers it (JAX:
        /// `tpu_custom_call.MemorySpace`).
        ///
        #[doc = include_str!("../../../docs/colors.md")]
        ///
        /// ```
        /// use mosaic_memspace::custom_call::Color;
        ///
        /// assert_eq!(Color::ScVectorSmem.number(), 12);
        /// assert_eq!(Color::from_number(12), Some(Color::ScVectorSmem));
        /// assert_eq!("sc_vector_smem".parse(), Ok(Color::ScVectorSmem));
        /// ```
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::EnumCount,
            strum::EnumIter, strum::VariantArray,
        )]
        #[repr(u8)]
        pub enum Color {
            $(
                #[doc = concat!("`", $word, "`, ", stringify!($number), ": ", $summary)]
                $name = $number,
            )*
        }

        impl Color {
            const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word that JAX uses, in lower case.
            ///
            /// ```
            /// use mosaic_memspace::custom_call::Color;
            /// const WORD: &str = Color::SemaphoreMem.as_str();
            /// assert_eq!(WORD, "semaphore_mem");
            /// ```
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }

            /// The color with this number, or `None` when JAX knows none.
            ///
            /// ```
            /// use mosaic_memspace::custom_call::Color;
            /// assert_eq!(Color::from_number(4), Some(Color::Smem));
            /// assert_eq!(Color::from_number(3), None);
            /// ```
            pub const fn from_number(number: i64) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)*
                    _ => None,
                }
            }

            fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

colors! {
    Hbm "hbm" 0 "the chip's main memory.";
    Vmem "vmem" 1 "a TensorCore's vector memory.";
    SemaphoreMem "semaphore_mem" 2 "a TensorCore's semaphores.";
    Smem "smem" 4 "a TensorCore's scalar memory.";
    Host "host" 5 "the host's memory.";
    ScScalarSemaphoreMem "sc_scalar_semaphore_mem" 8 "a scalar subcore's semaphores.";
    ScVectorSemaphoreMem "sc_vector_semaphore_mem" 10 "a vector subcore's semaphores.";
    ScScalarSmem "sc_scalar_smem" 11 "a scalar subcore's scalar memory.";
    ScVectorSmem "sc_vector_smem" 12 "a vector subcore's scalar memory.";
}

impl Color {
    /// Every color, in the order of the numbers.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::custom_call::Color::ALL.len(), 9);
    /// ```
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The number that the custom call's JSON holds.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::custom_call::Color::Host.number(), 5);
    /// ```
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The space to annotate a value with so that it has this color in a kernel
    /// of any core type.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{Color, color};
    /// use mosaic_memspace::{CoreMemorySpace, CoreType, MemorySpace};
    ///
    /// let space = Color::Smem.memory_space();
    /// assert_eq!(space, MemorySpace::Core(CoreMemorySpace::SmemOfTc));
    /// assert_eq!(color(Some(space), CoreType::ScVectorSubcore), Ok(Some(Color::Smem)));
    /// ```
    pub const fn memory_space(self) -> MemorySpace {
        MemorySpace::Core(match self {
            Self::Hbm => return MemorySpace::HBM,
            Self::Host => return MemorySpace::HOST,
            Self::Vmem => CoreMemorySpace::VmemOfTc,
            Self::SemaphoreMem => CoreMemorySpace::SemaphoreMemOfTc,
            Self::Smem => CoreMemorySpace::SmemOfTc,
            Self::ScScalarSemaphoreMem => CoreMemorySpace::SemaphoreMemOfScScalarSubcore,
            Self::ScVectorSemaphoreMem => CoreMemorySpace::SemaphoreMemOfScVectorSubcore,
            Self::ScScalarSmem => CoreMemorySpace::SmemOfScScalarSubcore,
            Self::ScVectorSmem => CoreMemorySpace::SmemOfScVectorSubcore,
        })
    }
}

word_impls!(Color, "a color");

impl FromStr for Color {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::from_word(word).ok_or_else(|| unknown(word))
    }
}

fn unknown(word: &str) -> UnknownWord {
    UnknownWord::new(Code::UnknownColor, "unknown color", Color::WORDS, word)
}

/// The color of a value annotated with `space`, in a kernel for cores of type
/// `core_type`; `None` when the value has no color.
///
/// Only a space annotated on the value itself colors it; a block spec does not.
/// A tag counts before the kernel's core type, and a tag with the kernel's own core type
/// changes nothing. [`jax_color`] differs in three places.
///
/// # Errors
/// [`ColorFault`] for a SparseCore's vmem, which has no color.
///
/// ```
/// use mosaic_memspace::custom_call::{Color, color};
/// use mosaic_memspace::{CoreType, MemorySpace};
///
/// let smem = color(Some(MemorySpace::SMEM), CoreType::ScScalarSubcore);
/// assert_eq!(smem, Ok(Some(Color::ScScalarSmem)));
/// assert_eq!(color(Some(MemorySpace::CMEM), CoreType::Tc), Ok(None));
/// assert_eq!(color(None, CoreType::Tc), Ok(None));
/// ```
pub const fn color(
    space: Option<MemorySpace>,
    core_type: CoreType,
) -> Result<Option<Color>, ColorFault> {
    let Some(space) = space else { return Ok(None) };
    match space {
        MemorySpace::ANY
        | MemorySpace::DEFAULT
        | MemorySpace::ERROR
        | MemorySpace::INDEX
        | MemorySpace::KEY
        | MemorySpace::Acc(_) => Ok(None),
        MemorySpace::HOST => Ok(Some(Color::Host)),
        MemorySpace::Tpu(space) => owned(space, core_type),
        MemorySpace::Core(tagged) => owned(tagged.space(), tagged.core_type()),
    }
}

/// The color that JAX gives (`_get_memory_space_from_aval`):
///
/// | written | tc | sc_scalar_subcore | sc_vector_subcore |
/// | --- | --- | --- | --- |
/// | host | host 5 | host 5 | host 5 |
/// | vmem | vmem 1 | vmem 1 | vmem 1 |
/// | smem | smem 4 | sc_scalar_smem 11 | sc_vector_smem 12 |
/// | semaphore_mem | semaphore_mem 2 | sc_scalar_semaphore_mem 8 | SemaphoreColorUnsupported |
/// | hbm | hbm 0 | hbm 0 | hbm 0 |
/// | vmem@tc | vmem 1 | vmem 1 | vmem 1 |
/// | smem@tc | smem 4 | smem 4 | smem 4 |
/// | semaphore_mem@tc | semaphore_mem 2 | semaphore_mem 2 | semaphore_mem 2 |
/// | smem@sc_scalar_subcore | sc_scalar_smem 11 | sc_scalar_smem 11 | sc_scalar_smem 11 |
/// | semaphore_mem@sc_scalar_subcore | sc_scalar_semaphore_mem 8 | sc_scalar_semaphore_mem 8 | sc_scalar_semaphore_mem 8 |
/// | vmem@sc_vector_subcore | VmemColorUnsupported | VmemColorUnsupported | VmemColorUnsupported |
/// | smem@sc_vector_subcore | sc_vector_smem 12 | sc_vector_smem 12 | sc_vector_smem 12 |
/// | semaphore_mem@sc_vector_subcore | sc_vector_semaphore_mem 10 | sc_vector_semaphore_mem 10 | sc_vector_semaphore_mem 10 |
///
/// Every other word has no color, and neither has a value without a space.
///
/// It is as [`color`], but
///
/// * untagged `vmem` is a TensorCore's in every kernel, while
///   `vmem@sc_vector_subcore` is refused;
/// * untagged `semaphore_mem` in a vector subcore kernel is refused, while
///   `semaphore_mem@sc_vector_subcore` is not.
///
/// # Errors
/// [`ColorFault`] for `vmem@sc_vector_subcore`, and for untagged
/// `semaphore_mem` in a vector subcore kernel.
///
/// ```
/// use mosaic_memspace::custom_call::{Color, jax_color};
/// use mosaic_memspace::{CoreType, MemorySpace};
///
/// let vmem = jax_color(Some(MemorySpace::VMEM), CoreType::ScVectorSubcore);
/// assert_eq!(vmem, Ok(Some(Color::Vmem)));
/// assert!(jax_color(Some(MemorySpace::SEMAPHORE_MEM), CoreType::ScVectorSubcore).is_err());
/// ```
pub const fn jax_color(
    space: Option<MemorySpace>,
    core_type: CoreType,
) -> Result<Option<Color>, ColorFault> {
    let Some(written) = space else { return Ok(None) };
    match written {
        MemorySpace::ANY
        | MemorySpace::DEFAULT
        | MemorySpace::ERROR
        | MemorySpace::INDEX
        | MemorySpace::KEY
        | MemorySpace::HOST
        | MemorySpace::Core(_)
        | MemorySpace::Acc(_) => color(space, core_type),
        MemorySpace::Tpu(TpuSpace::Vmem) => Ok(Some(Color::Vmem)),
        MemorySpace::Tpu(TpuSpace::SemaphoreMem)
            if matches!(core_type, CoreType::ScVectorSubcore) =>
        {
            Err(ColorFault::UntaggedSemaphore)
        }
        MemorySpace::Tpu(space) => owned(space, core_type),
    }
}

/// The color of a space of the core type that owns it.
const fn owned(space: TpuSpace, owner: CoreType) -> Result<Option<Color>, ColorFault> {
    use CoreType::{ScScalarSubcore, ScVectorSubcore, Tc};
    Ok(Some(match (space, owner) {
        (TpuSpace::Hbm, Tc | ScScalarSubcore | ScVectorSubcore) => Color::Hbm,
        (TpuSpace::VmemShared | TpuSpace::Cmem, Tc | ScScalarSubcore | ScVectorSubcore) => {
            return Ok(None);
        }
        (TpuSpace::Vmem, Tc) => Color::Vmem,
        (TpuSpace::Vmem, ScScalarSubcore | ScVectorSubcore) => {
            return Err(ColorFault::Vmem { core_type: owner });
        }
        (TpuSpace::Smem, Tc) => Color::Smem,
        (TpuSpace::Smem, ScScalarSubcore) => Color::ScScalarSmem,
        (TpuSpace::Smem, ScVectorSubcore) => Color::ScVectorSmem,
        (TpuSpace::SemaphoreMem, Tc) => Color::SemaphoreMem,
        (TpuSpace::SemaphoreMem, ScScalarSubcore) => Color::ScScalarSemaphoreMem,
        (TpuSpace::SemaphoreMem, ScVectorSubcore) => Color::ScVectorSemaphoreMem,
    }))
}

faults! {
    /// A memory space that a value cannot be placed in, because XLA has no number for it.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::jax_color;
    /// use mosaic_memspace::{CoreMemorySpace, CoreType, MemorySpace};
    ///
    /// let vmem = MemorySpace::Core(CoreMemorySpace::VmemOfScVectorSubcore);
    /// assert_eq!(
    ///     jax_color(Some(vmem), CoreType::Tc).unwrap_err().to_string(),
    ///     "vmem of sc_vector_subcore has no color; only tc's vmem has"
    /// );
    /// ```
    #[derive(Clone, Copy)]
    pub enum ColorFault {
        /// vmem of a SparseCore.
        Vmem {
            /// The core that owns it.
            core_type: CoreType,
        } => VmemColorUnsupported ("vmem of {core_type} has no color; only tc's vmem has")
          help "leave the value in hbm and copy it into vmem inside the kernel";
        /// Untagged semaphore memory in a vector subcore kernel, which JAX refuses.
        UntaggedSemaphore => SemaphoreColorUnsupported ("untagged semaphore_mem has no color in a sc_vector_subcore kernel")
          help { let tagged = Color::ScVectorSemaphoreMem.memory_space();
                format!("annotate the value with {tagged}, which names its owner") };
    }
}

/// A color that an input of a kernel may have.
///
/// `smem` is one of them, but JAX does not write it, since XLA places no input there.
///
/// ```
/// use mosaic_memspace::custom_call::{Color, InputColor};
/// assert_eq!(InputColor::new(Color::Vmem), Ok(InputColor::Vmem));
/// assert_eq!(
///     InputColor::new(Color::Host).unwrap_err().to_string(),
///     "an input cannot be placed in host; input_memory_space_colors takes hbm, vmem and smem"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InputColor {
    /// `hbm`, 0.
    Hbm,
    /// `vmem`, 1.
    Vmem,
    /// `smem`, 4.
    Smem,
}

impl InputColor {
    /// `color`, if an input may have it.
    ///
    /// # Errors
    /// [`InputColorFault`] for the others.
    pub const fn new(color: Color) -> Result<Self, InputColorFault> {
        match color {
            Color::Hbm => Ok(Self::Hbm),
            Color::Vmem => Ok(Self::Vmem),
            Color::Smem => Ok(Self::Smem),
            Color::SemaphoreMem
            | Color::Host
            | Color::ScScalarSemaphoreMem
            | Color::ScVectorSemaphoreMem
            | Color::ScScalarSmem
            | Color::ScVectorSmem => Err(InputColorFault(color)),
        }
    }

    /// The color.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{Color, InputColor};
    /// assert_eq!(InputColor::Smem.color(), Color::Smem);
    /// ```
    pub const fn color(self) -> Color {
        match self {
            Self::Hbm => Color::Hbm,
            Self::Vmem => Color::Vmem,
            Self::Smem => Color::Smem,
        }
    }

    /// Whether JAX writes it into the custom call's JSON.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::InputColor;
    /// assert!(InputColor::Hbm.is_written() && !InputColor::Smem.is_written());
    /// ```
    pub const fn is_written(self) -> bool {
        match self {
            Self::Hbm | Self::Vmem => true,
            Self::Smem => false,
        }
    }
}

impl fmt::Display for InputColor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.color().fmt(f)
    }
}

/// A color that no input can have (JAX: a `NotImplementedError` when the JSON is
/// written).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an input cannot be placed in {0}; input_memory_space_colors takes hbm, vmem and smem")]
pub struct InputColorFault(Color);

impl InputColorFault {
    /// The color.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{Color, InputColor};
    /// assert_eq!(InputColor::new(Color::Host).unwrap_err().color(), Color::Host);
    /// ```
    pub const fn color(self) -> Color {
        self.0
    }
}

impl Fault for InputColorFault {
    fn code(&self) -> Code {
        Code::InputColorUnsupported
    }
}

/// A color from outside: a number that JAX may know or not.
///
/// The compiler writes colors of its own, and XLA's dumps write numbers as strings.
///
/// ```
/// use mosaic_memspace::custom_call::{Color, ColorNumber};
///
/// let vmem: ColorNumber = "1".parse()?;
/// assert_eq!(vmem.known(), Some(Color::Vmem));
/// let other = ColorNumber::new(77);
/// assert_eq!((other.known(), other.number()), (None, 77));
/// assert_eq!(format!("{vmem} {other}"), "vmem 77");
/// # Ok::<(), mosaic_memspace::error::UnknownWord>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColorNumber(i64);

impl ColorNumber {
    /// The color with this number.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::ColorNumber;
    /// assert_eq!(ColorNumber::new(-1).number(), -1);
    /// ```
    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    /// The number as it was given.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{Color, ColorNumber};
    /// assert_eq!(ColorNumber::from(Color::Smem).number(), 4);
    /// ```
    pub const fn number(self) -> i64 {
        self.0
    }

    /// The color, when it is one that JAX knows.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{Color, ColorNumber};
    /// assert_eq!(ColorNumber::new(5).known(), Some(Color::Host));
    /// ```
    pub const fn known(self) -> Option<Color> {
        Color::from_number(self.0)
    }
}

impl From<InputColor> for Color {
    fn from(color: InputColor) -> Self {
        color.color()
    }
}

impl TryFrom<Color> for InputColor {
    type Error = InputColorFault;

    fn try_from(color: Color) -> Result<Self, InputColorFault> {
        Self::new(color)
    }
}

impl From<Color> for ColorNumber {
    fn from(color: Color) -> Self {
        Self(color.number().into())
    }
}

impl TryFrom<ColorNumber> for Color {
    type Error = UnknownWord;

    fn try_from(number: ColorNumber) -> Result<Self, UnknownWord> {
        number.known().ok_or_else(|| unknown(&number.0.to_string()))
    }
}

/// The color's word, or the number of an unknown one.
impl fmt::Display for ColorNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.known() {
            Some(color) => color.fmt(f),
            None => self.0.fmt(f),
        }
    }
}

/// From a number in decimal digits, or from a color's word.
impl FromStr for ColorNumber {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        if let Ok(number) = text.parse() {
            return Ok(Self(number));
        }
        text.parse::<Color>().map(Self::from)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn every_color_comes_back_from_its_word_its_number_and_its_space() {
        for &known in Color::ALL {
            assert_eq!(known.as_str().parse(), Ok(known));
            assert_eq!(Color::from_number(known.number().into()), Some(known));
            assert_eq!(known.number().to_string().parse(), Ok(ColorNumber::from(known)));
            assert_eq!(known.as_str().parse(), Ok(ColorNumber::from(known)));
            for &core_type in CoreType::ALL {
                let space = Some(known.memory_space());
                assert_eq!(color(space, core_type), Ok(Some(known)));
                assert_eq!(jax_color(space, core_type), Ok(Some(known)));
            }
        }
    }

    #[test]
    fn numbers_that_are_no_color_are_kept() {
        let known: Vec<i64> = Color::ALL.iter().map(|color| color.number().into()).collect();
        for number in (-300..300).chain([i64::MIN, i64::MAX]) {
            let foreign: ColorNumber = number.to_string().parse().unwrap();
            assert_eq!(foreign.number(), number);
            assert_eq!(foreign.known().is_some(), known.contains(&number));
            assert_eq!(Color::try_from(foreign).is_ok(), known.contains(&number));
        }
        assert_eq!(ColorNumber::new(77).to_string(), "77");
        assert!("9223372036854775808".parse::<ColorNumber>().is_err());
    }

    #[test]
    fn a_tag_that_names_the_kernels_own_core_type_changes_nothing() {
        for &tagged in CoreMemorySpace::ALL {
            let core_type = tagged.core_type();
            let untagged = color(Some(tagged.space().into()), core_type);
            assert_eq!(untagged, color(Some(tagged.into()), core_type), "{tagged}");
        }
    }

    #[test]
    fn jax_is_uneven_in_exactly_three_places() {
        let mut uneven = Vec::new();
        for &core_type in CoreType::ALL {
            for &space in MemorySpace::ALL {
                let even = color(Some(space), core_type);
                if even != jax_color(Some(space), core_type) {
                    uneven.push(format!("{space} {core_type}"));
                }
            }
        }
        let expected =
            ["vmem sc_scalar_subcore", "vmem sc_vector_subcore", "semaphore_mem sc_vector_subcore"];
        assert_eq!(uneven, expected);
    }

    #[test]
    fn the_table_in_the_docs_is_what_jax_color_answers() {
        let cell = |space, core_type| match jax_color(Some(space), core_type) {
            Ok(None) => String::new(),
            Ok(Some(color)) => format!("{color} {}", color.number()),
            Err(fault) => fault.code().to_string(),
        };
        let mut rows = vec![format!(
            "written | {}",
            CoreType::ALL.iter().map(|c| c.as_str()).collect::<Vec<_>>().join(" | ")
        )];
        rows.push(["---"; 4].join(" | "));
        for &space in MemorySpace::ALL {
            let cells: Vec<_> = CoreType::ALL.iter().map(|core| cell(space, *core)).collect();
            if cells.iter().any(|cell| !cell.is_empty()) {
                rows.push(format!("{space} | {}", cells.join(" | ")));
            }
        }
        let line = |table: String, row: &String| table + "/// | " + row + " |\n";
        let table = rows.iter().fold(String::new(), line);
        assert!(include_str!("color.rs").contains(&table), "the table should be\n{table}");
    }

    #[test]
    fn help_names_the_space_that_would_do() {
        let error = jax_color(Some(MemorySpace::SEMAPHORE_MEM), CoreType::ScVectorSubcore);
        let help = error.unwrap_err().help();
        let space = help.split(' ').find_map(|word| word.trim_end_matches(',').parse().ok());
        assert_eq!(
            jax_color(space, CoreType::ScVectorSubcore),
            Ok(Some(Color::ScVectorSemaphoreMem))
        );
    }
}
