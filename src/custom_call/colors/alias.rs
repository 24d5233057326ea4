//! Aliases: outputs that take the buffer of an input, and what can be wrong with them.

use super::color::{Color, ColorFault, InputColor};
use crate::dtype::Dtype;
use crate::error::{Code, faults};
use crate::memory_space::MemorySpace;
use crate::operand::Role;
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

faults! {
    /// An alias, or a placed value, that is refused. Numbers count from 0.
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// use mosaic_memspace::custom_call::{Alias, AliasFault, Placed, jax_alias_colors};
    /// use mosaic_memspace::operand::Role;
    ///
    /// let alias = Alias { input: 3, output: 0 };
    /// let values = [Placed::default(); 2];
    /// let error = jax_alias_colors(&values, &values, &[alias], CoreType::Tc).unwrap_err();
    /// assert_eq!(error, AliasFault::OutOfRange { alias, role: Role::Input, count: 2 });
    /// assert_eq!(error.to_string(), "alias 3->0 names input 3 of 2");
    /// ```
    #[derive(Clone)]
    pub enum AliasFault {
        /// A value placed in a space that has no color.
        Color {
        /// Whether it is an input or an output.
        role: Role,
        /// Its number.
        index: usize,
        /// Why it has no color.
        #[source]
        fault: ColorFault,
    } by fault ("{role} {index}: {fault}");
        /// An input or an output that does not exist.
        OutOfRange {
        /// The alias.
        alias: Alias,
        /// Which of its numbers is out of range.
        role: Role,
        /// How many there are.
        count: usize,
    } => AliasIndexOutOfRange ("alias {alias} names {role} {} of {count}", named(*.alias, *.role))
          help { let counted = match role {
                    Role::Input => "; scalar prefetch is counted first, then inputs",
                    Role::Output => "",
                };
                match count.checked_sub(1) {
                    Some(last) => format!("name an {role} from 0 to {last}{counted}"),
                    None => format!("leave the alias out: there is no {role}"),
                } };
        /// An input or an output aliased twice.
        Repeated {
        /// The alias.
        alias: Alias,
        /// Which of its numbers an earlier alias names.
        role: Role,
        /// The earlier alias that names it.
        before: Alias,
    } => AliasRepeated ("alias {alias} names {role} {}, as {before} does", named(*.alias, *.role))
          help { format!("leave out one of the aliases of {role} {}", named(*alias, *role)) };
        /// Both ends are placed, in different spaces.
        Conflict {
        /// The alias.
        alias: Alias,
        /// The input's color.
        input: Color,
        /// The output's color.
        output: Color,
    } => AliasMemorySpaceConflict ("memory space conflict for alias {alias}: input {} is in {input}, output {} in {output}",
        .alias.input, .alias.output)
          help { format!(
                "place input {} in {output}, or output {} in {input}, or leave one of them \
                 unplaced",
                alias.input, alias.output
            ) };
        /// Arrays that do not fit in one buffer.
        Mismatch {
        /// The alias.
        alias: Alias,
        /// The input, as `float32[8,128]`.
        input: String,
        /// The output.
        output: String,
    } => AliasMismatch ("alias {alias}: input {} is {input}, output {} is {output}", .alias.input, .alias.output)
          help "make the output {input}, as the input is";
        /// A value that an alias moves out of its annotated memory.
        SpaceLost {
        /// The alias.
        alias: Alias,
        /// Which end of it loses its memory.
        role: Role,
        /// The memory.
        space: MemorySpace,
        /// What it gets instead.
        color: Color,
    } => AliasSpaceLost ("{role} {} is in {space}, but its alias {alias} places it in {color}: {space} is lost",
        named(*.alias, *.role))
          help "place both ends of the alias in {color}, or leave {space} unaliased";
        /// A block spec of hbm on a value that nothing places there.
        HbmSpecUncolored {
        /// Whether it is an input or an output.
        role: Role,
        /// Its number.
        index: usize,
    } => HbmSpecUncolored ("the block spec of {role} {index} says hbm, but nothing places the value there: the \
         compiler may put it elsewhere")
          help {
              match role {
                  Role::Input => Code::HbmSpecUncolored.mend(),
                  Role::Output => {
                      "place the value: give the output's shape the memory space pltpu.HBM"
                  }
              }
          };
    }
}

/// The number that the alias has on this side.
const fn named(alias: Alias, role: Role) -> usize {
    match role {
        Role::Input => alias.input,
        Role::Output => alias.output,
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
            | Self::Mismatch { .. }
            | Self::SpaceLost { .. }
            | Self::HbmSpecUncolored { .. } => None,
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::error::Fault;

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
