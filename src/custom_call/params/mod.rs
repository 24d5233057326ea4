//! Compiler parameters: what an author may ask of the compiler for one kernel.

pub(super) mod fault;
pub(super) mod functions;
mod hand_over;
pub(crate) mod list;
pub(super) mod words;

use super::config::BackendConfig;
use super::config::flags::Flags;
use super::ids::allocator::{CollectiveIds, IdOptions, IdPolicy};
use super::ids::collective_id::{CollectiveId, IdCall};
use crate::core_type::CoreType;
use crate::error::Faults;
use fault::{ParamFault, in_jax_order};
use functions::{Bound, IterationSpace, ModuleFunction, active_core_count};
use list::parameters;
use std::num::NonZeroU64;
use words::{DeviceType, DimensionSemantics, OptLevel, SideEffects, Tiling};

macro_rules! compiler_params {
    ($(
        $(#[doc = $doc:literal])+
        $field:ident: $type:ty = $default:expr $(=> $config:ident)? $(, $json:literal)?;
    )+) => {
        /// What an author may ask of the compiler for one kernel (JAX: `CompilerParams`, each
        /// field under its own name, with its default).
        ///
        /// What no kernel may have cannot be built: an id below zero, a limit of no bytes, a
        /// flag that breaks the JSON. What depends on the kernel is
        /// [validated](Self::validate).
        ///
        /// ```
        /// use mosaic_memspace::custom_call::{CompilerParams, DimensionSemantics, VmemLimitBytes};
        ///
        /// let mut params = CompilerParams::default();
        /// params.dimension_semantics = Some(vec![DimensionSemantics::Parallel]);
        /// params.vmem_limit_bytes = Some(VmemLimitBytes::new(32 << 20)?);
        /// assert!(params.shape_invariant_numerics && params.needs_layout_passes);
        /// # Ok::<(), mosaic_memspace::custom_call::ParamFault>(())
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        #[allow(clippy::struct_excessive_bools, reason = "JAX's parameters")]
        pub struct CompilerParams {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl Default for CompilerParams {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl CompilerParams {
            /// Gives the config what it has of the parameters as it is.
            fn hand_over(&self, config: &mut BackendConfig<'_>) {
                $($(config.$config.clone_from(&self.$field);)?)+
            }

            /// Takes from a config what it has of the parameters as it is.
            #[cfg(feature = "read")]
            pub(crate) fn take_over(&mut self, config: &BackendConfig<'_>) {
                $($(self.$field.clone_from(&config.$config);)?)+
            }
        }
    };
}
parameters!(compiler_params);

impl CompilerParams {
    /// Holds the parameters against a kernel that is alone in its module, with JAX's
    /// default options for collective ids.
    ///
    /// # Errors
    /// Every [`ParamFault`], in the order of JAX's checks.
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// use mosaic_memspace::custom_call::{CompilerParams, KernelFacts, OptLevel};
    ///
    /// let mut params = CompilerParams::default();
    /// params.opt_level = Some(OptLevel::O2);
    /// params.collective_id = Some(5.into());
    /// let faults = params.validate(&KernelFacts::new(CoreType::Tc)).unwrap_err();
    /// let messages: Vec<_> = faults.iter().map(ToString::to_string).collect();
    /// assert_eq!(
    ///     messages,
    ///     [
    ///         "collective_id has to be unspecified or None when not using a custom barrier",
    ///         "explicit opt_level is only supported for SparseCore kernels.",
    ///     ]
    /// );
    /// ```
    pub fn validate(&self, kernel: &KernelFacts<'_>) -> Result<ResolvedParams, Faults<ParamFault>> {
        let mut ids = CollectiveIds::new(IdOptions::new(IdPolicy::default()), &[self.call(kernel)]);
        self.validate_in(kernel, &mut ids)
    }

    /// Holds the parameters against a kernel whose module has these ids.
    ///
    /// # Errors
    /// As [`validate`](Self::validate).
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// use mosaic_memspace::custom_call::{
    ///     AutoAssign, CollectiveIds, CompilerParams, IdOptions, KernelFacts, IdPolicy,
    /// };
    ///
    /// let params = CompilerParams::default();
    /// let mut kernel = KernelFacts::new(CoreType::Tc);
    /// kernel.has_custom_barrier = true;
    /// assert!(params.validate(&kernel).is_err());
    ///
    /// let options = IdOptions::new(IdPolicy::FromBase).auto_assign(AutoAssign::Yes);
    /// let mut ids = CollectiveIds::new(options, &[params.call(&kernel)]);
    /// let resolved = params.validate_in(&kernel, &mut ids)?;
    /// assert_eq!(resolved.collective_id, Some(7000.into()));
    /// # Ok::<(), mosaic_memspace::error::Faults<mosaic_memspace::custom_call::ParamFault>>(())
    /// ```
    pub fn validate_in<'a>(
        &self,
        kernel: &KernelFacts<'a>,
        ids: &mut CollectiveIds<'a>,
    ) -> Result<ResolvedParams, Faults<ParamFault>> {
        let mut errors = Vec::new();
        let active_core_count = noted(self.active_core_count(kernel), &mut errors).flatten();
        let tiling = Tiling::resolve(self.use_tc_tiling_on_sc, kernel.core_type);
        let tiling = noted(tiling.map_err(ParamFault::from), &mut errors).flatten();
        let id = ids.assign(&self.call(kernel)).map_err(ParamFault::from);
        let collective_id = noted(id, &mut errors).flatten();
        let device_type = DeviceType::of(kernel.core_type);
        errors.extend(sparse_core_only(device_type, tiling, self.opt_level));
        in_jax_order(errors).into_result()?;
        Ok(ResolvedParams {
            collective_id,
            tiling,
            device_type,
            active_core_count,
            needs_layout_passes: self.needs_layout_passes || device_type.is_none(),
        })
    }

    /// The kernel's call, as an allocator of collective ids wants it.
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// use mosaic_memspace::custom_call::{CompilerParams, KernelFacts};
    /// let call = CompilerParams::default().call(&KernelFacts::new(CoreType::Tc));
    /// assert_eq!(call.collective_id, None);
    /// ```
    pub const fn call<'a>(&self, kernel: &KernelFacts<'a>) -> IdCall<'a> {
        IdCall {
            module: kernel.module,
            tag: kernel.collective_id_tag,
            skip_device_barrier: self.skip_device_barrier,
            collective_id: self.collective_id,
            has_custom_barrier: kernel.has_custom_barrier,
            allow_collective_id_without_custom_barrier: self
                .allow_collective_id_without_custom_barrier,
        }
    }

    /// A mesh is spread over its cores by itself.
    fn active_core_count(&self, kernel: &KernelFacts<'_>) -> Result<Option<i64>, ParamFault> {
        let Some(bounds) = kernel.grid else {
            return match &self.dimension_semantics {
                Some(semantics) => Err(ParamFault::SemanticsOnMesh { semantics: semantics.len() }),
                None => Ok(kernel.mesh_cores.map(Into::into)),
            };
        };
        let Some(semantics) = self.dimension_semantics.as_deref() else { return Ok(None) };
        let function = ModuleFunction {
            core_type: Some(kernel.core_type),
            iteration_space: Some(IterationSpace { bounds, semantics }),
        };
        active_core_count(&[function]).map_err(ParamFault::from)
    }
}

/// The value, or its absence with the error noted.
fn noted<T>(result: Result<T, ParamFault>, errors: &mut Vec<ParamFault>) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}

/// What JAX allows to SparseCore kernels alone.
fn sparse_core_only(
    device_type: Option<DeviceType>,
    tiling: Option<Tiling>,
    opt_level: Option<OptLevel>,
) -> impl Iterator<Item = ParamFault> {
    let tensor_core = match device_type {
        None => true,
        Some(DeviceType::SparseCore) => false,
    };
    let tiling = tiling.map(|tiling| ParamFault::TilingOnlyForSparseCore { tiling });
    let opt_level = opt_level.map(|opt_level| ParamFault::OptLevelOnlyForSparseCore { opt_level });
    tiling.into_iter().chain(opt_level).filter(move |_| tensor_core)
}

/// What parameters depend on in a kernel.
///
/// ```
/// use mosaic_memspace::CoreType;
/// use mosaic_memspace::custom_call::{Bound, KernelFacts};
///
/// let mut kernel = KernelFacts::new(CoreType::Tc);
/// kernel.grid = Some(&[Bound::Static(4), Bound::Dynamic]);
/// assert!(!kernel.has_custom_barrier);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelFacts<'a> {
    /// What it runs on.
    pub core_type: CoreType,
    /// The steps of its grid's axes; `None` when it is unpipelined, on a mesh.
    pub grid: Option<&'a [Bound]>,
    /// The cores of the mesh, when it is unpipelined and they are known; subcores do not
    /// count.
    pub mesh_cores: Option<u32>,
    /// Whether it uses a barrier semaphore (`get_barrier_semaphore`).
    pub has_custom_barrier: bool,
    /// The tag it gives to that semaphore.
    pub collective_id_tag: Option<&'a str>,
    /// Its body, serialized: kernels that have the same one share a collective id.
    pub module: &'a [u8],
}

impl KernelFacts<'_> {
    /// A kernel with an empty grid, and no barrier.
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// use mosaic_memspace::custom_call::KernelFacts;
    /// assert_eq!(KernelFacts::new(CoreType::Tc).grid, Some(&[] as &[_]));
    /// ```
    pub const fn new(core_type: CoreType) -> Self {
        Self {
            core_type,
            grid: Some(&[]),
            mesh_cores: None,
            has_custom_barrier: false,
            collective_id_tag: None,
            module: &[],
        }
    }
}

/// What parameters come to in a kernel.
///
/// ```
/// use mosaic_memspace::CoreType;
/// use mosaic_memspace::custom_call::{CompilerParams, DeviceType, KernelFacts, Tiling};
///
/// let kernel = KernelFacts::new(CoreType::ScVectorSubcore);
/// let resolved = CompilerParams::default().validate(&kernel)?;
/// assert_eq!(resolved.tiling, Some(Tiling::Compact));
/// assert_eq!(resolved.device_type, Some(DeviceType::SparseCore));
/// # Ok::<(), mosaic_memspace::error::Faults<mosaic_memspace::custom_call::ParamFault>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolvedParams {
    /// The id, its own or given out.
    pub collective_id: Option<CollectiveId>,
    /// How arrays lie; `None` on a TensorCore.
    pub tiling: Option<Tiling>,
    /// What the custom call says it runs on; `None` on a TensorCore.
    pub device_type: Option<DeviceType>,
    /// On how many cores, where a grid axis is `core_parallel`.
    pub active_core_count: Option<i64>,
    /// Whether the compiler infers vector layouts, as it does for every TensorCore kernel.
    pub needs_layout_passes: bool,
}

/// What a custom call is checked for when all is chosen already, as when its JSON is
/// written (JAX: `_lowered_to_custom_call_config`).
///
/// ```
/// use mosaic_memspace::custom_call::{CallChecks, Tiling};
///
/// let checks = CallChecks { tiling: Some(Tiling::Compact), ..CallChecks::default() };
/// assert_eq!(
///     checks.check().unwrap_err().to_string(),
///     "explicit tiling is only supported for SparseCore kernels."
/// );
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallChecks {
    /// What the call runs on.
    pub device_type: Option<DeviceType>,
    /// Its collective id.
    pub collective_id: Option<CollectiveId>,
    /// Whether the kernel uses a barrier semaphore.
    pub has_custom_barrier: bool,
    /// Whether an id without a barrier is meant.
    pub allow_collective_id_without_custom_barrier: bool,
    /// How arrays lie.
    pub tiling: Option<Tiling>,
    /// How hard the compiler tries.
    pub opt_level: Option<OptLevel>,
}

impl CallChecks {
    /// Checks the call.
    ///
    /// # Errors
    /// Every [`ParamFault`], in the order of JAX's checks.
    ///
    /// ```
    /// assert!(mosaic_memspace::custom_call::CallChecks::default().check().is_ok());
    /// ```
    pub fn check(&self) -> Result<(), Faults<ParamFault>> {
        let call = IdCall {
            has_custom_barrier: self.has_custom_barrier,
            allow_collective_id_without_custom_barrier: self
                .allow_collective_id_without_custom_barrier,
            ..IdCall::new(&[])
        };
        let mut errors = Vec::new();
        noted(call.check(self.collective_id).map_err(ParamFault::from), &mut errors);
        errors.extend(sparse_core_only(self.device_type, self.tiling, self.opt_level));
        in_jax_order(errors).into_result()
    }
}

/// Bytes of VMEM that a kernel asks for; at least one.
///
/// The compiler has a smallest limit of its own, which depends on the kernel.
///
/// ```
/// use mosaic_memspace::custom_call::VmemLimitBytes;
/// assert_eq!(VmemLimitBytes::new(1 << 25).map(VmemLimitBytes::get), Ok(33_554_432));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VmemLimitBytes(NonZeroU64);

impl VmemLimitBytes {
    /// A limit of so many bytes.
    ///
    /// # Errors
    /// [`ParamFault::VmemLimitNotPositive`]: JAX takes it, and the compiler fails.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::VmemLimitBytes;
    /// assert_eq!(
    ///     VmemLimitBytes::new(0).unwrap_err().to_string(),
    ///     "vmem_limit_bytes is 0; it has to be a positive number of bytes"
    /// );
    /// ```
    pub const fn new(bytes: i64) -> Result<Self, ParamFault> {
        if bytes > 0
            && let Some(limit) = NonZeroU64::new(bytes.unsigned_abs())
        {
            return Ok(Self(limit));
        }
        Err(ParamFault::VmemLimitNotPositive { bytes })
    }

    /// The bytes.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::VmemLimitBytes;
    /// assert_eq!(VmemLimitBytes::new(i64::MAX).map(VmemLimitBytes::get), Ok(i64::MAX as u64));
    /// ```
    pub const fn get(self) -> u64 {
        self.0.get()
    }

    /// The bytes, as the custom call's JSON has them.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{BackendConfig, VmemLimitBytes};
    /// let mut config = BackendConfig::new(b"");
    /// config.set_vmem_limit_bytes(VmemLimitBytes::new(4096).ok().map(VmemLimitBytes::to_i64));
    /// assert_eq!(config.vmem_limit_bytes(), Some(4096));
    /// ```
    pub const fn to_i64(self) -> i64 {
        // It was made from one.
        self.0.get().cast_signed()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
mod tests {
    use super::*;
    use crate::custom_call::{CollectiveIdFault, FlagValue, WrittenFlagValue};
    use crate::error::{Code, Fault};

    fn codes(faults: &Faults<ParamFault>) -> Vec<Code> {
        faults.iter().map(Fault::code).collect()
    }

    fn tensor_core(change: impl FnOnce(&mut CompilerParams)) -> Vec<Code> {
        on(KernelFacts::new(CoreType::Tc), change)
    }

    fn on(kernel: KernelFacts<'_>, change: impl FnOnce(&mut CompilerParams)) -> Vec<Code> {
        let mut params = CompilerParams::default();
        change(&mut params);
        params.validate(&kernel).map_or_else(|faults| codes(&faults), |_| Vec::new())
    }

    #[test]
    fn defaults_suit_every_core_type() {
        for &core_type in CoreType::ALL {
            let resolved = CompilerParams::default().validate(&KernelFacts::new(core_type));
            assert!(resolved.unwrap().needs_layout_passes);
        }
    }

    #[test]
    fn layout_passes_can_be_left_out_on_a_sparse_core_alone() {
        let params = CompilerParams { needs_layout_passes: false, ..CompilerParams::default() };
        for &core_type in CoreType::ALL {
            let resolved = params.validate(&KernelFacts::new(core_type)).unwrap();
            assert_eq!(resolved.needs_layout_passes, !core_type.is_sparse_core());
        }
    }

    #[test]
    fn what_is_for_sparse_cores_is_refused_elsewhere_alone() {
        let opt_level = |params: &mut CompilerParams| params.opt_level = Some(OptLevel::O1);
        let tiling = |params: &mut CompilerParams| params.use_tc_tiling_on_sc = Some(true);
        assert_eq!(tensor_core(opt_level), [Code::OptLevelOnlyForSparseCore]);
        assert_eq!(tensor_core(tiling), [Code::TcTilingFlagOnTensorCore]);
        for core_type in [CoreType::ScScalarSubcore, CoreType::ScVectorSubcore] {
            assert_eq!(on(KernelFacts::new(core_type), opt_level), []);
            assert_eq!(on(KernelFacts::new(core_type), tiling), []);
        }
    }

    #[test]
    fn semantics_go_with_the_grid() {
        use DimensionSemantics::{Arbitrary, CoreParallel, Parallel};
        let with = |grid, semantics: &[DimensionSemantics]| {
            let mut kernel = KernelFacts::new(CoreType::Tc);
            kernel.grid = grid;
            on(kernel, |params| params.dimension_semantics = Some(semantics.to_vec()))
        };
        let grid = [Bound::Static(4), Bound::Dynamic];
        assert_eq!(with(Some(&grid), &[Parallel, Arbitrary]), []);
        assert_eq!(with(Some(&grid), &[Parallel]), [Code::SemanticsLengthMismatch]);
        assert_eq!(with(Some(&grid), &[Parallel, CoreParallel]), [Code::CoreParallelBoundDynamic]);
        let twice = [Bound::Static(4); 2];
        assert_eq!(with(Some(&twice), &[CoreParallel; 2]), [Code::MultipleCoreParallelDims]);
        assert_eq!(with(None, &[]), [Code::SemanticsOnMesh]);

        let mut kernel = KernelFacts::new(CoreType::ScScalarSubcore);
        kernel.grid = Some(&twice);
        let dimension_semantics = Some(vec![CoreParallel, Arbitrary]);
        let params = CompilerParams { dimension_semantics, ..CompilerParams::default() };
        assert_eq!(params.validate(&kernel).unwrap().active_core_count, Some(4));

        kernel.grid = None;
        kernel.mesh_cores = Some(1);
        let on_mesh = CompilerParams::default().validate(&kernel).unwrap();
        assert_eq!(on_mesh.active_core_count, Some(1));
    }

    #[test]
    fn a_barrier_and_an_id_go_together() {
        let mut kernel = KernelFacts::new(CoreType::Tc);
        let own = |params: &mut CompilerParams| params.collective_id = Some(3.into());
        let meant = |params: &mut CompilerParams| {
            params.collective_id = Some(3.into());
            params.allow_collective_id_without_custom_barrier = true;
        };
        assert_eq!(on(kernel, own), [Code::UnexpectedCollectiveId]);
        assert_eq!(on(kernel, meant), []);
        kernel.has_custom_barrier = true;
        assert_eq!(on(kernel, |_| {}), [Code::MissingCollectiveId]);
        assert_eq!(on(kernel, own), []);
        kernel.collective_id_tag = Some("t");
        assert_eq!(on(kernel, |_| {}), []);
        assert_eq!(on(kernel, own), [Code::CollectiveIdAndTag]);
    }

    #[test]
    fn all_faults_come_at_once_in_jaxs_order() {
        let mut kernel = KernelFacts::new(CoreType::Tc);
        kernel.grid = Some(&[Bound::Dynamic]);
        let everything = |params: &mut CompilerParams| {
            params.opt_level = Some(OptLevel::O3);
            params.collective_id = Some(3.into());
            params.use_tc_tiling_on_sc = Some(false);
            params.dimension_semantics = Some(vec![DimensionSemantics::CoreParallel]);
        };
        let expected = [
            Code::TcTilingFlagOnTensorCore,
            Code::CoreParallelBoundDynamic,
            Code::UnexpectedCollectiveId,
            Code::OptLevelOnlyForSparseCore,
        ];
        assert_eq!(on(kernel, everything), expected);
    }

    #[test]
    fn jaxs_first_is_found_among_faults_that_jax_does_not_see() {
        let mut faults = vec![VmemLimitBytes::new(-1).unwrap_err()];
        let first = |faults: &[ParamFault]| {
            let ordered = in_jax_order(faults.to_vec());
            ordered.iter().find(|fault| fault.is_jax()).map(Fault::code)
        };
        assert_eq!(first(&faults), None);
        let written: [(&str, WrittenFlagValue); 3] =
            [("a", f64::NAN.into()), ("b", "no".into()), ("\"", 1.into())];
        let flags = Flags::from_written(written).unwrap_err();
        faults.extend(flags.into_iter().map(ParamFault::from));
        assert_eq!(first(&faults), Some(Code::InvalidFlagValue));
        let checks = CallChecks { tiling: Some(Tiling::SparseCore), ..CallChecks::default() };
        faults.extend(checks.check().unwrap_err());
        faults.extend([CollectiveIdFault::OutOfRange { number: -1 }.into()]);
        assert_eq!((first(&faults), faults.len()), (Some(Code::TilingOnlyForSparseCore), 6));
    }

    #[test]
    fn the_messages_that_people_search_for_stay_as_they_are() {
        let checks = CallChecks {
            opt_level: Some(OptLevel::O2),
            tiling: Some(Tiling::Compact),
            collective_id: Some(5.into()),
            ..CallChecks::default()
        };
        let faults = checks.check().unwrap_err();
        let messages: Vec<_> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "collective_id has to be unspecified or None when not using a custom barrier",
                "explicit tiling is only supported for SparseCore kernels.",
                "explicit opt_level is only supported for SparseCore kernels.",
            ]
        );
        let helps: Vec<_> = faults.iter().map(Fault::help).collect();
        for (help, named) in helps.iter().zip(["collective_id=5", "TILING_COMPACT", "opt_level=O2"])
        {
            assert!(help.contains(named), "{help}");
        }
    }

    #[test]
    fn limits_are_positive_64_bit_numbers() {
        for bytes in [i64::MIN, -1, 0] {
            let error = VmemLimitBytes::new(bytes).unwrap_err();
            assert_eq!(error.code(), Code::VmemLimitNotPositive);
            assert!(error.to_string().contains(&bytes.to_string()));
        }
        for bytes in [1, 1 << 24, i64::MAX] {
            assert_eq!(VmemLimitBytes::new(bytes).unwrap().to_i64(), bytes);
        }
    }

    #[test]
    fn each_fault_names_its_parameter() {
        let flag = FlagValue::new("a", "no".into()).unwrap_err();
        let names = [
            (ParamFault::from(flag), "flags"),
            (CollectiveIdFault::Missing.into(), "collective_id"),
            (ParamFault::SemanticsOnMesh { semantics: 1 }, "dimension_semantics"),
            (Tiling::resolve(Some(true), CoreType::Tc).unwrap_err().into(), "use_tc_tiling_on_sc"),
        ];
        for (error, name) in names {
            assert_eq!(error.field(), Some(name));
        }
    }
}
