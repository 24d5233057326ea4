//! The kinds of core that a Mosaic kernel is lowered for.

use crate::error::words;

words! {
    /// The kind of core that a kernel runs on (JAX's `CoreType`).
    ///
    /// Closed on purpose: a lowering pass can match every core there is, and a new
    /// core is a new major version of this crate.
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    ///
    /// assert_eq!("sc_vector_subcore".parse(), Ok(CoreType::ScVectorSubcore));
    /// assert_eq!(CoreType::Tc.as_str(), "tc");
    /// assert_eq!(CoreType::from_number(1), Some(CoreType::ScScalarSubcore));
    /// ```
    #[repr(u8)]
    pub enum CoreType {
        /// The TensorCore; MLIR number 0.
        Tc,
        /// A SparseCore's scalar subcore; MLIR number 1.
        ScScalarSubcore,
        /// A SparseCore's vector subcore; MLIR number 2.
        ScVectorSubcore,
    }
    path: "CoreType",
    all: 3 "Every core type, in the order of the MLIR numbers",
    as_str: ScScalarSubcore "sc_scalar_subcore" "The word that JAX and Mosaic use",
    expecting: "a core type: tc, sc_scalar_subcore or sc_vector_subcore",
    unknown: UnknownCoreType "Unsupported core type",
}

impl CoreType {
    /// The number that the Mosaic dialect stores in `#tpu.core_type`.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::CoreType::ScVectorSubcore.number(), 2);
    /// ```
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The core type with this Mosaic number, or `None` when there is none.
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// assert_eq!(CoreType::from_number(0), Some(CoreType::Tc));
    /// assert_eq!(CoreType::from_number(3), None);
    /// ```
    #[allow(clippy::indexing_slicing, reason = "guarded by the length")]
    pub const fn from_number(number: u32) -> Option<Self> {
        let number = number as usize;
        if number < Self::ALL.len() { Some(Self::ALL[number]) } else { None }
    }

    /// Whether the core belongs to a SparseCore.
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// assert!(CoreType::ScScalarSubcore.is_sparse_core());
    /// assert!(!CoreType::Tc.is_sparse_core());
    /// ```
    pub const fn is_sparse_core(self) -> bool {
        match self {
            Self::Tc => false,
            Self::ScScalarSubcore | Self::ScVectorSubcore => true,
        }
    }
}
