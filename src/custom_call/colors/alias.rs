//! Aliases: outputs that take the buffer of an input, and what can be wrong with them.

use super::color::{Color, ColorFault, InputColor};
use crate::dtype::Dtype;
use crate::error::{Code, Fault};
use crate::memory_space::MemorySpace;
use crate::rules::Role;
use crate::word::Joined;
use std::fmt;

/// An output that takes the buffer of an input (JAX: `input_output_aliases`).
///
/// Inputs are counted from 0 with scalar prefetch first. In the custom call, dynamic grid
/// bounds are counted before both ([`shifted`](Self::shifted)).
///
/// ```
/// use mosaic_memspace::custom_call::Alias;
/// assert_eq!(Alias { input: 2, output: 0 }.to_string(), "2->0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Alias {
    /// The number of the input.
    pub input: usize,
    /// The number of the output.
    pub output: usize,
}

impl Alias {
    /// The alias as the custom call has it, for a kernel with this many dynamic grid
    /// bounds: they are operands before all others.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::Alias;
    /// let alias = Alias { input: 0, output: 0 };
    /// assert_eq!(alias.shifted(2), Alias { input: 2, output: 0 });
    /// ```
    #[must_use]
    pub const fn shifted(self, dynamic_grid_bounds: usize) -> Self {
        Self { input: self.input.saturating_add(dynamic_grid_bounds), ..self }
    }

    /// Compares the shape and the element type of the input with those of the output.
    ///
    /// # Errors
    /// [`AliasFault::Mismatch`] unless they are equal.
    ///
    /// ```
    /// use mosaic_memspace::Dtype;
    /// use mosaic_memspace::custom_call::Alias;
    ///
    /// let alias = Alias { input: 1, output: 0 };
    /// let array: (&[u64], _) = (&[8, 128], Dtype::Float32);
    /// assert_eq!(alias.check_types(array, array), Ok(()));
    /// assert_eq!(
    ///     alias.check_types(array, (&[8, 128], Dtype::Int32)).unwrap_err().to_string(),
    ///     "alias 1->0: input 1 is float32[8,128], output 0 is int32[8,128]"
    /// );
    /// ```
    pub fn check_types(
        self,
        input: (&[u64], Dtype),
        output: (&[u64], Dtype),
    ) -> Result<(), AliasFault> {
        if input == output {
            return Ok(());
        }
        let written = |(shape, dtype): (&[u64], Dtype)| {
            let extents: Vec<_> = shape.iter().map(u64::to_string).collect();
            format!("{dtype}[{}]", extents.join(","))
        };
        Err(AliasFault::Mismatch { alias: self, input: written(input), output: written(output) })
    }
}

impl fmt::Display for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}->{}", self.input, self.output)
    }
}

/// An alias, or a placed value, that is refused. Numbers count from 0.
///
/// ```
/// use mosaic_memspace::CoreType;
/// use mosaic_memspace::custom_call::{Alias, AliasFault, Placed, jax_alias_colors};
/// use mosaic_memspace::rules::Role;
///
/// let alias = Alias { input: 3, output: 0 };
/// let values = [Placed::default(); 2];
/// let error = jax_alias_colors(&values, &values, &[alias], CoreType::Tc).unwrap_err();
/// assert_eq!(error, AliasFault::OutOfRange { alias, role: Role::Input, count: 2 });
/// assert_eq!(error.to_string(), "alias 3->0 names input 3 of 2");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AliasFault {
    /// A value placed in a space that has no color.
    #[error("{role} {index}: {fault}")]
    Color {
        /// Whether it is an input or an output.
        role: Role,
        /// Its number.
        index: usize,
        /// Why it has no color.
        #[source]
        fault: ColorFault,
    },
    /// An input or an output that does not exist.
    #[error("alias {alias} names {role} {} of {count}", named(*.alias, *.role))]
    OutOfRange {
        /// The alias.
        alias: Alias,
        /// Which of its numbers is out of range.
        role: Role,
        /// How many there are.
        count: usize,
    },
    /// An input or an output aliased twice.
    #[error("alias {alias} names {role} {}, as {before} does", named(*.alias, *.role))]
    Repeated {
        /// The alias.
        alias: Alias,
        /// Which of its numbers an earlier alias names.
        role: Role,
        /// The earlier alias that names it.
        before: Alias,
    },
    /// Both ends are placed, in different spaces.
    #[error(
        "memory space conflict for alias {alias}: input {} is in {input}, output {} in {output}",
        .alias.input, .alias.output
    )]
    Conflict {
        /// The alias.
        alias: Alias,
        /// The input's color.
        input: Color,
        /// The output's color.
        output: Color,
    },
    /// Arrays that do not fit in one buffer.
    #[error(
        "alias {alias}: input {} is {input}, output {} is {output}", .alias.input, .alias.output
    )]
    Mismatch {
        /// The alias.
        alias: Alias,
        /// The input, as `float32[8,128]`.
        input: String,
        /// The output.
        output: String,
    },
}

/// The number that the alias has on this side.
const fn named(alias: Alias, role: Role) -> usize {
    match role {
        Role::Input => alias.input,
        Role::Output => alias.output,
    }
}

impl Fault for AliasFault {
    fn code(&self) -> Code {
        match self {
            Self::Color { fault, .. } => fault.code(),
            Self::OutOfRange { .. } => Code::AliasIndexOutOfRange,
            Self::Repeated { .. } => Code::AliasRepeated,
            Self::Conflict { .. } => Code::AliasMemorySpaceConflict,
            Self::Mismatch { .. } => Code::AliasMismatch,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::Color { fault, .. } => fault.help(),
            Self::OutOfRange { role, count, .. } => {
                let counted = match role {
                    Role::Input => "; scalar prefetch is counted first, then inputs",
                    Role::Output => "",
                };
                match count.checked_sub(1) {
                    Some(last) => format!("name an {role} from 0 to {last}{counted}"),
                    None => format!("leave the alias out: there is no {role}"),
                }
            }
            Self::Repeated { alias, role, .. } => {
                format!("leave out one of the aliases of {role} {}", named(*alias, *role))
            }
            Self::Conflict { alias, input, output } => format!(
                "place input {} in {output}, or output {} in {input}, or leave one of them \
                 unplaced",
                alias.input, alias.output
            ),
            Self::Mismatch { input, .. } => format!("make the output {input}, as the input is"),
        }
    }
}

impl AliasFault {
    /// The role of a value that is refused by itself, without an alias.
    pub(super) const fn role(&self) -> Option<Role> {
        match self {
            Self::Color { role, .. } => Some(*role),
            Self::OutOfRange { .. }
            | Self::Repeated { .. }
            | Self::Conflict { .. }
            | Self::Mismatch { .. } => None,
        }
    }
}

/// What JAX accepts although it does not do what it says.
///
/// ```
/// use mosaic_memspace::custom_call::{Alias, HbmSpecs, Placed, alias_colors};
/// use mosaic_memspace::{CoreType, MemorySpace};
///
/// let host = [Placed::on_value(Some(MemorySpace::HOST))];
/// let hbm = [Placed::on_value(Some(MemorySpace::HBM))];
/// let aliases = [Alias { input: 0, output: 0 }];
/// let (_, warnings) =
///     alias_colors(&host, &hbm, &aliases, CoreType::Tc, HbmSpecs::LeaveUncolored)?;
/// assert_eq!(
///     warnings[0].to_string(),
///     "input 0 is in host, but its alias 0->0 places it in hbm: host is lost"
/// );
/// # Ok::<(), mosaic_memspace::custom_call::AliasFaults>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AliasWarning {
    /// A value that an alias moves out of its annotated memory.
    #[error(
        "{role} {} is in {space}, but its alias {alias} places it in {color}: {space} is lost",
        named(*.alias, *.role)
    )]
    SpaceLost {
        /// The alias.
        alias: Alias,
        /// Which end of it loses its memory.
        role: Role,
        /// The memory.
        space: MemorySpace,
        /// What it gets instead.
        color: Color,
    },
    /// A block spec of hbm on a value that nothing places there.
    #[error(
        "the block spec of {role} {index} says hbm, but nothing places the value there: the \
         compiler may put it elsewhere"
    )]
    HbmSpecUncolored {
        /// Whether it is an input or an output.
        role: Role,
        /// Its number.
        index: usize,
    },
}

impl Fault for AliasWarning {
    fn code(&self) -> Code {
        match self {
            Self::SpaceLost { .. } => Code::AliasSpaceLost,
            Self::HbmSpecUncolored { .. } => Code::HbmSpecUncolored,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::SpaceLost { space, color, .. } => {
                format!("place both ends of the alias in {color}, or leave {space} unaliased")
            }
            Self::HbmSpecUncolored { role: Role::Input, .. } => self.code().mend().to_owned(),
            Self::HbmSpecUncolored { role: Role::Output, .. } => {
                "place the value: give the output's shape the memory space pltpu.HBM".to_owned()
            }
        }
    }
}

/// The colors of a kernel's inputs and outputs, as the custom call has them.
///
/// A side without colors is `None` where JAX makes no list for it: unless a value on
/// it is annotated (`host` alone does not count among inputs) or is given a color.
///
/// ```
/// use mosaic_memspace::custom_call::AliasColors;
/// assert_eq!(AliasColors::default().inputs, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AliasColors {
    /// For each input; colors that an input cannot have are left out.
    pub inputs: Option<Vec<Option<InputColor>>>,
    /// For each output.
    pub outputs: Option<Vec<Option<Color>>>,
}

/// All faults of a kernel's placed values and aliases.
///
/// ```
/// use mosaic_memspace::custom_call::{Alias, HbmSpecs, Placed, alias_colors};
/// use mosaic_memspace::CoreType;
///
/// let values = [Placed::default()];
/// let aliases = [Alias { input: 1, output: 0 }, Alias { input: 0, output: 4 }];
/// let faults =
///     alias_colors(&values, &values, &aliases, CoreType::Tc, HbmSpecs::LeaveUncolored);
/// assert_eq!(
///     faults.unwrap_err().to_string(),
///     "alias 1->0 names input 1 of 1; alias 0->4 names output 4 of 1"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", Joined(errors))]
#[non_exhaustive]
pub struct AliasFaults {
    /// The faults; at least one.
    pub errors: Vec<AliasFault>,
    /// The warnings.
    pub warnings: Vec<AliasWarning>,
    /// The colors apart from the errors: a refused alias carries no color, and in a
    /// conflict each value keeps its own.
    pub colors: AliasColors,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    const SAME: Alias = Alias { input: 0, output: 0 };

    #[test]
    fn arrays_in_one_buffer_are_alike() {
        let array = |shape, dtype| (shape, dtype);
        let full: &[u64] = &[8, 128];
        let cases = [
            (array(full, Dtype::Int8), array(full, Dtype::Uint8)),
            (array(full, Dtype::Int8), array(&[8, 64], Dtype::Int8)),
            (array(full, Dtype::Int8), array(&[1024], Dtype::Int8)),
            (array(&[], Dtype::Int8), array(&[1], Dtype::Int8)),
        ];
        for (input, output) in cases {
            assert_eq!(SAME.check_types(input, input), Ok(()));
            let error = SAME.check_types(input, output).unwrap_err();
            assert_eq!(error.code(), Code::AliasMismatch);
            assert!(error.help().starts_with("make the output int8["), "{}", error.help());
        }
    }
}
