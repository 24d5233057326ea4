//! Which types of core a chip has.

use super::Chip;
use super::facts::{ChipFacts, SparseCoreFacts};
use crate::core_type::CoreType;
use crate::error::{Code, faults};
use crate::word::List;

impl ChipFacts {
    /// Whether the chip has cores of this type.
    ///
    /// # Errors
    /// [`NoSparseCores`] for a SparseCore's subcores on a chip without.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, CoreType};
    /// assert!(Chip::V5e.facts().require_core(CoreType::Tc).is_ok());
    /// assert!(Chip::V5e.facts().require_core(CoreType::ScVectorSubcore).is_err());
    /// ```
    pub const fn require_core(&self, core_type: CoreType) -> Result<(), NoSparseCores> {
        match self.require_sparse_core() {
            Err(absent) if core_type.is_sparse_core() => Err(absent),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// The facts of the chip's SparseCores.
    ///
    /// # Errors
    /// [`NoSparseCores`] when it has none.
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    /// let sparse_core = Chip::V6e.facts().require_sparse_core();
    /// assert_eq!(sparse_core.map(|facts| facts.num_subcores.get()), Ok(16));
    /// ```
    pub const fn require_sparse_core(&self) -> Result<&SparseCoreFacts, NoSparseCores> {
        match &self.sparse_core {
            Some(facts) => Ok(facts),
            None => Err(NoSparseCores { chip: self.name }),
        }
    }
}

faults! {
    /// A SparseCore asked of a chip without one.
    ///
    /// ```
    /// use mosaic_memspace::{Chip, CoreType};
    /// use mosaic_memspace::error::{Code, Fault};
    ///
    /// let absent = Chip::V5e.facts().require_core(CoreType::ScScalarSubcore).unwrap_err();
    /// assert_eq!(absent.to_string(), "v5e has no SparseCores");
    /// assert_eq!(absent.code(), Code::NoSparseCores);
    /// ```
    #[derive(Clone, Copy)]
    pub struct NoSparseCores {
        chip: &'static str,
    }
    => NoSparseCores ("{chip} has no SparseCores")
       help {
           let have = Chip::ALL.iter().filter(|chip| chip.facts().sparse_core.is_some());
           format!("{}: {}", Code::NoSparseCores.mend(), List(have))
       };
}
