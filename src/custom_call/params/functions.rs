//! What a module's functions say together: what it runs on, and on how many cores.

use super::words::{DeviceType, DimensionSemantics};
use crate::core_type::CoreType;
use crate::error::faults;

/// A function of a Mosaic module, as far as the custom call depends on it.
///
/// ```
/// use mosaic_memspace::CoreType;
/// use mosaic_memspace::custom_call::ModuleFunction;
/// let function = ModuleFunction { core_type: Some(CoreType::Tc), iteration_space: None };
/// assert_eq!(ModuleFunction::default().core_type, None);
/// # let _ = function;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModuleFunction<'a> {
    /// `tpu.core_type`, or `None` where the attribute is absent.
    pub core_type: Option<CoreType>,
    /// `iteration_bounds` and `dimension_semantics`, or `None` where either is absent.
    pub iteration_space: Option<IterationSpace<'a>>,
}

/// The grid of a function.
///
/// ```
/// use mosaic_memspace::custom_call::{Bound, DimensionSemantics, IterationSpace};
/// let grid = IterationSpace {
///     bounds: &[Bound::Static(4), Bound::Dynamic],
///     semantics: &[DimensionSemantics::Parallel, DimensionSemantics::Arbitrary],
/// };
/// assert_eq!(grid.bounds.len(), grid.semantics.len());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IterationSpace<'a> {
    /// `iteration_bounds`, in steps.
    pub bounds: &'a [Bound],
    /// `dimension_semantics`, one a bound.
    pub semantics: &'a [DimensionSemantics],
}

/// How many steps a grid axis has.
///
/// ```
/// use mosaic_memspace::custom_call::Bound;
/// assert_eq!(Bound::from_mlir(4), Bound::Static(4));
/// assert_eq!(Bound::from_mlir(i64::MIN), Bound::Dynamic);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bound {
    /// So many.
    Static(i64),
    /// Known when the kernel runs.
    Dynamic,
}

impl Bound {
    /// The bound as an element of MLIR's array, where −2^63 is dynamic.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::Bound;
    /// assert_eq!(Bound::from_mlir(-1), Bound::Static(-1));
    /// ```
    pub const fn from_mlir(bound: i64) -> Self {
        if bound == i64::MIN { Self::Dynamic } else { Self::Static(bound) }
    }

    /// The bound as an element of MLIR's array.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::Bound;
    /// assert_eq!(Bound::Dynamic.to_mlir(), i64::MIN);
    /// ```
    pub const fn to_mlir(self) -> i64 {
        match self {
            Self::Static(bound) => bound,
            Self::Dynamic => i64::MIN,
        }
    }
}

/// What a module runs on (JAX: `_get_device_type`): a SparseCore when one of its
/// functions does, else nothing is said. A function without a core type is neither.
///
/// # Errors
/// [`MixedCoreTypes`]
///
/// ```
/// use mosaic_memspace::CoreType;
/// use mosaic_memspace::custom_call::{DeviceType, ModuleFunction, device_type};
///
/// let of = |core_type| ModuleFunction { core_type, iteration_space: None };
/// let functions = [of(None), of(Some(CoreType::ScVectorSubcore))];
/// assert_eq!(device_type(&functions), Ok(Some(DeviceType::SparseCore)));
/// assert_eq!(device_type(&[of(Some(CoreType::Tc))]), Ok(None));
/// ```
pub fn device_type(functions: &[ModuleFunction<'_>]) -> Result<Option<DeviceType>, MixedCoreTypes> {
    let mut tensor_core = None;
    let mut sparse_core = None;
    for (number, function) in functions.iter().enumerate() {
        match function.core_type {
            None => {}
            Some(core_type) => match DeviceType::of(core_type) {
                None => tensor_core = tensor_core.or(Some(number)),
                Some(device_type) => sparse_core = sparse_core.or(Some((number, device_type))),
            },
        }
    }
    match (tensor_core, sparse_core) {
        (Some(tensor_core), Some((sparse_core, _))) => {
            Err(MixedCoreTypes { tensor_core, sparse_core })
        }
        (None | Some(_), sparse_core) => Ok(sparse_core.map(|(_, device_type)| device_type)),
    }
}

/// On how many cores a module runs: the bound of its `core_parallel` dimension, or
/// `None` when no function has one.
///
/// A function without such a dimension says nothing of it; [`jax_active_core_count`]
/// forgets there what the functions before said.
///
/// # Errors
/// [`ActiveCoresFault`], the first in the order of the functions and their dimensions.
///
/// ```
/// use mosaic_memspace::custom_call::{
///     Bound, DimensionSemantics, IterationSpace, ModuleFunction, active_core_count,
///     jax_active_core_count,
/// };
///
/// let bounds = [Bound::Static(2)];
/// let on = |semantics| ModuleFunction {
///     iteration_space: Some(IterationSpace { bounds: &bounds, semantics }),
///     ..ModuleFunction::default()
/// };
/// let spread = on(&[DimensionSemantics::CoreParallel]);
/// let plain = on(&[DimensionSemantics::Arbitrary]);
///
/// assert_eq!(active_core_count(&[spread, plain]), Ok(Some(2)));
/// assert_eq!(jax_active_core_count(&[spread, plain]), Ok(None));
/// ```
pub fn active_core_count(
    functions: &[ModuleFunction<'_>],
) -> Result<Option<i64>, ActiveCoresFault> {
    count(functions, |before, own| own.or(before))
}

/// As JAX counts (`_get_active_core_count`): a function with bounds but without a
/// `core_parallel` dimension resets the count, and with it what later functions are
/// held against. Of 2, none, 3 JAX makes 3, where [`active_core_count`] sees that
/// 2 is not 3.
///
/// # Errors
/// [`ActiveCoresFault`], the first in the order of the functions and their dimensions.
///
/// ```
/// use mosaic_memspace::custom_call::{ModuleFunction, jax_active_core_count};
/// assert_eq!(jax_active_core_count(&[ModuleFunction::default()]), Ok(None));
/// ```
pub fn jax_active_core_count(
    functions: &[ModuleFunction<'_>],
) -> Result<Option<i64>, ActiveCoresFault> {
    count(functions, |_, own| own)
}

/// `next` makes the count after a function from the one before and the function's own.
fn count(
    functions: &[ModuleFunction<'_>],
    next: impl Fn(Option<i64>, Option<i64>) -> Option<i64>,
) -> Result<Option<i64>, ActiveCoresFault> {
    let mut cores = None;
    for (function, of) in functions.iter().enumerate() {
        if let Some(space) = of.iteration_space {
            cores = next(cores, core_parallel_bound(function, space, cores)?);
        }
    }
    Ok(cores)
}

/// The bound of the function's `core_parallel` dimension, held against the one `before`.
fn core_parallel_bound(
    function: usize,
    space: IterationSpace<'_>,
    before: Option<i64>,
) -> Result<Option<i64>, ActiveCoresFault> {
    let (bounds, semantics) = (space.bounds.len(), space.semantics.len());
    if bounds != semantics {
        return Err(ActiveCoresFault::SemanticsLength { function, bounds, semantics });
    }
    let mut found = None;
    for (dimension, (bound, semantics)) in space.bounds.iter().zip(space.semantics).enumerate() {
        match semantics {
            DimensionSemantics::Parallel
            | DimensionSemantics::SubcoreParallel
            | DimensionSemantics::Arbitrary => continue,
            DimensionSemantics::CoreParallel => {}
        }
        let bound = match *bound {
            Bound::Static(bound) => bound,
            Bound::Dynamic => return Err(ActiveCoresFault::DynamicBound { function, dimension }),
        };
        if let Some((first, _)) = found {
            return Err(ActiveCoresFault::Several { function, dimensions: [first, dimension] });
        }
        match before {
            Some(before) if before != bound => {
                return Err(ActiveCoresFault::BoundsDiffer { function, bound, before });
            }
            None | Some(_) => {}
        }
        found = Some((dimension, bound));
    }
    Ok(found.map(|(_, bound)| bound))
}

faults! {
    /// Functions for a TensorCore and for a SparseCore in one module.
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// use mosaic_memspace::custom_call::{ModuleFunction, device_type};
    ///
    /// let of = |core_type| ModuleFunction { core_type: Some(core_type), iteration_space: None };
    /// let error = device_type(&[of(CoreType::Tc), of(CoreType::ScScalarSubcore)]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "a module holds functions for a TensorCore (number 0) and for a SparseCore (number 1)"
    /// );
    /// ```
    #[derive(Clone, Copy)]
    pub struct MixedCoreTypes {
        /// The first function for a TensorCore, counted from 0.
        pub tensor_core: usize,
        /// The first function for a SparseCore, counted from 0.
        pub sparse_core: usize,
    }
    => MixedCoreTypes
       ("a module holds functions for a TensorCore (number {tensor_core}) and for a SparseCore \
         (number {sparse_core})");
}

faults! {
    /// Functions whose active cores cannot be told. They are counted from 0, and so are
    /// their dimensions.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{
    ///     Bound, DimensionSemantics, IterationSpace, ModuleFunction, active_core_count,
    /// };
    /// use mosaic_memspace::error::Fault;
    ///
    /// let function = ModuleFunction {
    ///     core_type: None,
    ///     iteration_space: Some(IterationSpace {
    ///         bounds: &[Bound::Dynamic],
    ///         semantics: &[DimensionSemantics::CoreParallel],
    ///     }),
    /// };
    /// let error = active_core_count(&[function]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the bound of core_parallel dimension 0 of function 0 is dynamic"
    /// );
    /// assert_eq!(error.help(), "give the core_parallel dimension a static bound");
    /// ```
    #[derive(Clone, Copy)]
    pub enum ActiveCoresFault {
        /// Not one semantics for each bound.
        SemanticsLength {
        /// The function.
        function: usize,
        /// How many bounds it has.
        bounds: usize,
        /// How many semantics it has.
        semantics: usize,
    } => SemanticsLengthMismatch ("function {function} has {bounds} iteration bounds and {semantics} dimension semantics")
          help "give {bounds} dimension semantics, one for each grid axis";
        /// A number of cores that is not known.
        DynamicBound {
        /// The function.
        function: usize,
        /// The dimension.
        dimension: usize,
    } => CoreParallelBoundDynamic ("the bound of core_parallel dimension {dimension} of function {function} is dynamic");
        /// More than one `core_parallel` dimension.
        Several {
        /// The function.
        function: usize,
        /// The first two such dimensions.
        dimensions: [usize; 2],
    } => MultipleCoreParallelDims ("dimensions {} and {} of function {function} are both core_parallel", dimensions[0],
        dimensions[1])
          help {
              let [first, second] = dimensions;
              format!("make dimension {first} or dimension {second} parallel, arbitrary or subcore_parallel")
          };
        /// Another number of cores than a function before.
        BoundsDiffer {
        /// The function.
        function: usize,
        /// Its bound.
        bound: i64,
        /// The bound of a function before it.
        before: i64,
    } => CoreParallelBoundsDiffer ("the core_parallel bound of function {function} is {bound}, that of a function before \
         it {before}")
          help "give the core_parallel dimension the bound {before} in every function";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Code, Fault};
    use DimensionSemantics::{Arbitrary, CoreParallel};

    fn on<'a>(bounds: &'a [Bound], semantics: &'a [DimensionSemantics]) -> ModuleFunction<'a> {
        let iteration_space = Some(IterationSpace { bounds, semantics });
        ModuleFunction { core_type: None, iteration_space }
    }

    const TWO: &[Bound] = &[Bound::Static(2)];
    const THREE: &[Bound] = &[Bound::Static(3)];

    #[test]
    fn a_function_that_says_nothing_hides_a_difference_from_jax_alone() {
        let functions =
            [on(TWO, &[CoreParallel]), on(TWO, &[Arbitrary]), on(THREE, &[CoreParallel])];
        assert_eq!(jax_active_core_count(&functions), Ok(Some(3)));
        let differ = ActiveCoresFault::BoundsDiffer { function: 2, bound: 3, before: 2 };
        assert_eq!(active_core_count(&functions), Err(differ));
    }

    #[test]
    fn a_function_without_bounds_changes_nothing_in_either_count() {
        let functions = [on(TWO, &[CoreParallel]), ModuleFunction::default()];
        assert_eq!(jax_active_core_count(&functions), Ok(Some(2)));
        assert_eq!(active_core_count(&functions), Ok(Some(2)));
    }

    #[test]
    fn each_fault_has_its_code_and_names_the_place() {
        let two = [Bound::Static(2), Bound::Static(2)];
        let cases = [
            (on(&two, &[Arbitrary]), Code::SemanticsLengthMismatch, "2 dimension semantics"),
            (on(&[Bound::Dynamic], &[CoreParallel]), Code::CoreParallelBoundDynamic, "static"),
            (on(&two, &[CoreParallel; 2]), Code::MultipleCoreParallelDims, "dimension 0 or"),
            (on(THREE, &[CoreParallel]), Code::CoreParallelBoundsDiffer, "bound 2"),
        ];
        for (function, code, help) in cases {
            let fault = active_core_count(&[on(TWO, &[CoreParallel]), function]).map_err(|fault| {
                assert!(fault.to_string().contains("function 1"), "{fault}");
                assert!(fault.help().contains(help), "{}", fault.help());
                fault.code()
            });
            assert_eq!(fault, Err(code));
        }
    }

    #[test]
    fn what_a_dimension_differs_in_is_told_before_a_second_one() {
        let twice = [Bound::Static(3), Bound::Static(3)];
        let functions = [on(TWO, &[CoreParallel]), on(&twice, &[CoreParallel; 2])];
        let fault = jax_active_core_count(&functions).map_err(|fault| fault.code());
        assert_eq!(fault, Err(Code::CoreParallelBoundsDiffer));
    }
}
