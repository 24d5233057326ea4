//! The words that compiler parameters take.

use crate::core_type::CoreType;
use crate::error::{faults, words};
use crate::mesh::Mesh;

words! {
    /// What the steps along one grid axis may assume of each other (JAX:
    /// `GridDimensionSemantics`).
    ///
    /// ```
    /// use mosaic_memspace::custom_call::DimensionSemantics;
    ///
    /// assert_eq!("core_parallel".parse(), Ok(DimensionSemantics::CoreParallel));
    /// let attribute = DimensionSemantics::Parallel.attribute();
    /// assert_eq!(attribute, "#tpu.dimension_semantics<parallel>");
    /// ```
    pub enum DimensionSemantics {
        /// The steps may run in any order.
        Parallel,
        /// The axis is spread over the cores.
        CoreParallel,
        /// The axis is spread over the subcores.
        SubcoreParallel,
        /// The steps run one after the other; what is meant when nothing is said.
        Arbitrary,
    }
    path: "custom_call::DimensionSemantics",
    all: 4 "All of them",
    as_str: Arbitrary "arbitrary" "JAX's word",
    expecting: "dimension semantics",
    unknown: UnknownParamWord "unknown dimension semantics",
}

impl DimensionSemantics {
    /// Mosaic's attribute, an element of a function's `dimension_semantics`.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::DimensionSemantics;
    /// const TEXT: &str = DimensionSemantics::CoreParallel.attribute();
    /// assert_eq!(TEXT, "#tpu.dimension_semantics<core_parallel>");
    /// ```
    pub const fn attribute(self) -> &'static str {
        match self {
            Self::Parallel => "#tpu.dimension_semantics<parallel>",
            Self::CoreParallel => "#tpu.dimension_semantics<core_parallel>",
            Self::SubcoreParallel => "#tpu.dimension_semantics<subcore_parallel>",
            Self::Arbitrary => "#tpu.dimension_semantics<arbitrary>",
        }
    }
}

impl Mesh<'_> {
    /// What the cores along each axis may assume of each other.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::DimensionSemantics;
    /// use mosaic_memspace::{Chip, Mesh};
    /// let mesh = Mesh::scalar_subcore("core", None, Chip::V6e.facts())?;
    /// assert_eq!(mesh.dimension_semantics(), [DimensionSemantics::CoreParallel]);
    /// # Ok::<(), mosaic_memspace::MeshFault>(())
    /// ```
    pub const fn dimension_semantics(&self) -> &'static [DimensionSemantics] {
        DimensionSemantics::of_mesh(self.core_type())
    }
}

impl DimensionSemantics {
    /// Of a mesh of such cores, one an axis.
    pub(crate) const fn of_mesh(core_type: CoreType) -> &'static [Self] {
        match core_type {
            CoreType::Tc => &[Self::Parallel],
            CoreType::ScScalarSubcore => &[Self::CoreParallel],
            CoreType::ScVectorSubcore => &[Self::CoreParallel, Self::SubcoreParallel],
        }
    }
}

words! {
    /// What XLA may do with a call whose results are not used, or that is made twice
    /// (JAX: `SideEffectType`).
    ///
    /// | | `has_side_effect` | `xla_allow_dce_side_effecting_op` | merged with its like | dropped when unused |
    /// |---|---|---|---|---|
    /// | pure | `false` | | yes | yes |
    /// | dataflow_side_effecting | `true` | `"true"` | no | yes |
    /// | side_effecting | `true` | | no | no |
    ///
    /// ```
    /// use mosaic_memspace::custom_call::SideEffects;
    ///
    /// assert_eq!("pure".parse(), Ok(SideEffects::Pure));
    /// assert_eq!(SideEffects::from(true), SideEffects::SideEffecting);
    /// ```
    #[derive(Default)]
    pub enum SideEffects {
        /// May be merged and dropped; JAX's `False`.
        #[default]
        Pure,
        /// May be dropped, but not merged.
        DataflowSideEffecting,
        /// May be neither merged nor dropped; JAX's `True`.
        SideEffecting,
    }
    path: "custom_call::SideEffects",
    all: 3 "All of them",
    as_str: Pure "pure" "JAX's word",
    expecting: "side effects",
    unknown: UnknownParamWord "unknown has_side_effects",
}

impl SideEffects {
    /// The custom call's `has_side_effect` attribute.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::SideEffects;
    /// assert!(SideEffects::DataflowSideEffecting.has_side_effect());
    /// ```
    pub const fn has_side_effect(self) -> bool {
        match self {
            Self::Pure => false,
            Self::DataflowSideEffecting | Self::SideEffecting => true,
        }
    }

    /// The frontend attribute that lets XLA drop the call when nothing uses it,
    /// as name and value.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::SideEffects;
    /// let attribute = SideEffects::DataflowSideEffecting.frontend_attribute();
    /// assert_eq!(attribute, Some(("xla_allow_dce_side_effecting_op", "true")));
    /// assert_eq!(SideEffects::SideEffecting.frontend_attribute(), None);
    /// ```
    pub const fn frontend_attribute(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::DataflowSideEffecting => Some(("xla_allow_dce_side_effecting_op", "true")),
            Self::Pure | Self::SideEffecting => None,
        }
    }
}

/// JAX's `has_side_effects` may be a boolean.
impl From<bool> for SideEffects {
    fn from(has_side_effects: bool) -> Self {
        if has_side_effects { Self::SideEffecting } else { Self::Pure }
    }
}

words! {
    /// How arrays lie in the memory of a SparseCore kernel (JAX: `Tiling`).
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// use mosaic_memspace::custom_call::Tiling;
    ///
    /// let tiling = Tiling::resolve(Some(false), CoreType::ScVectorSubcore);
    /// assert_eq!(tiling, Ok(Some(Tiling::SparseCore)));
    /// assert_eq!(Tiling::Compact.as_str(), "TILING_COMPACT");
    /// ```
    pub enum Tiling {
        /// `TILING_COMPACT`: as on a TensorCore; what is meant when nothing is said.
        #[strum(serialize = "TILING_COMPACT")]
        Compact,
        /// `TILING_SPARSE_CORE`: a SparseCore's own.
        #[strum(serialize = "TILING_SPARSE_CORE")]
        SparseCore,
    }
    path: "custom_call::Tiling",
    all: 2 "Both",
    as_str: SparseCore "TILING_SPARSE_CORE" "The word in the custom call's JSON",
    expecting: "a tiling: TILING_COMPACT or TILING_SPARSE_CORE",
    unknown: UnknownParamWord "unknown tiling",
}

impl Tiling {
    /// The tiling that `use_tc_tiling_on_sc` means (JAX: `_resolve_tiling`); a
    /// TensorCore kernel has none to choose.
    ///
    /// # Errors
    /// [`TcTilingFlagOnTensorCore`] when it is given at all to a TensorCore kernel.
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// use mosaic_memspace::custom_call::Tiling;
    ///
    /// assert_eq!(Tiling::resolve(None, CoreType::Tc), Ok(None));
    /// assert!(Tiling::resolve(Some(false), CoreType::Tc).is_err());
    /// let unset = Tiling::resolve(None, CoreType::ScScalarSubcore);
    /// assert_eq!(unset, Ok(Some(Tiling::Compact)));
    /// ```
    pub const fn resolve(
        use_tc_tiling_on_sc: Option<bool>,
        core_type: CoreType,
    ) -> Result<Option<Self>, TcTilingFlagOnTensorCore> {
        match (core_type.is_sparse_core(), use_tc_tiling_on_sc) {
            (false, None) => Ok(None),
            (false, Some(value)) => Err(TcTilingFlagOnTensorCore { flag: value }),
            (true, None | Some(true)) => Ok(Some(Self::Compact)),
            (true, Some(false)) => Ok(Some(Self::SparseCore)),
        }
    }
}

faults! {
    /// `use_tc_tiling_on_sc` given to a TensorCore kernel.
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// use mosaic_memspace::custom_call::Tiling;
    /// assert_eq!(
    ///     Tiling::resolve(Some(true), CoreType::Tc).unwrap_err().to_string(),
    ///     "use_tc_tiling_on_sc=True is not supported for TC kernels"
    /// );
    /// ```
    #[derive(Clone, Copy)]
    pub struct TcTilingFlagOnTensorCore {
        flag: bool,
    }
    => TcTilingFlagOnTensorCore at "use_tc_tiling_on_sc"
       ("use_tc_tiling_on_sc={} is not supported for TC kernels", if *flag { "True" } else { "False" });
}

words! {
    /// How hard the SparseCore compiler tries (JAX: `OptLevel`; unset means O3).
    ///
    /// ```
    /// use mosaic_memspace::custom_call::OptLevel;
    /// assert_eq!("O2".parse(), Ok(OptLevel::O2));
    /// assert_eq!(OptLevel::O0.as_str(), "O0");
    /// ```
    pub enum OptLevel {
        /// `O0`
        #[strum(serialize = "O0")]
        O0,
        /// `O1`
        #[strum(serialize = "O1")]
        O1,
        /// `O2`
        #[strum(serialize = "O2")]
        O2,
        /// `O3`
        #[strum(serialize = "O3")]
        O3,
    }
    path: "custom_call::OptLevel",
    all: 4 "All of them",
    as_str: O3 "O3" "JAX's word",
    expecting: "an opt level: O0, O1, O2 or O3",
    unknown: UnknownParamWord "unknown opt_level",
}

words! {
    /// What a custom call says it runs on.
    ///
    /// JAX knows one word, `sparsecore`, and says nothing of a TensorCore kernel.
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// use mosaic_memspace::custom_call::DeviceType;
    ///
    /// assert_eq!(DeviceType::of(CoreType::ScScalarSubcore), Some(DeviceType::SparseCore));
    /// assert_eq!(DeviceType::of(CoreType::Tc), None);
    /// ```
    pub enum DeviceType {
        /// `sparsecore`
        #[strum(serialize = "sparsecore")]
        SparseCore,
    }
    path: "custom_call::DeviceType",
    all: 1 "All of them",
    as_str: SparseCore "sparsecore" "JAX's word",
    expecting: "a device type: sparsecore",
    unknown: UnknownParamWord "unknown device type",
}

impl DeviceType {
    /// The word in the custom call's JSON.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::DeviceType;
    /// assert_eq!(DeviceType::SparseCore.json_word(), "DEVICE_TYPE_SPARSECORE");
    /// ```
    pub const fn json_word(self) -> &'static str {
        match self {
            Self::SparseCore => "DEVICE_TYPE_SPARSECORE",
        }
    }

    /// The device type of a kernel for cores of this type; `None` for a TensorCore's,
    /// of which nothing is said.
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// use mosaic_memspace::custom_call::DeviceType;
    /// const TC: Option<DeviceType> = DeviceType::of(CoreType::Tc);
    /// assert_eq!(TC, None);
    /// ```
    pub const fn of(core_type: CoreType) -> Option<Self> {
        if core_type.is_sparse_core() { Some(Self::SparseCore) } else { None }
    }
}
