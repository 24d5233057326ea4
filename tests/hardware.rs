//! Chips, tilings, meshes and accumulators on any input: the right answer or a
//! typed error, and no panic; and all of it known at compile time.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    reason = "a test"
)]

use mosaic_memspace::error::{Code, Fault};
use mosaic_memspace::rules::{Accumulator, AccumulatorAllocator, AccumulatorFault, Allocation};
use mosaic_memspace::{
    Capacity, Chip, ChipFacts, CoreMemorySpace, CoreType, Dtype, InferredTiling, MemorySpace, Mesh,
    MeshConflictReason, MeshFault, ScVectorShapes, SparseCoreFacts, TilingFault, TpuSpace,
};
use proptest::prelude::*;
use proptest::sample::select;
use std::num::NonZeroU32;

const MEGACORE: ChipFacts = match Chip::V5p.facts().with_num_cores(2) {
    Ok(facts) => facts,
    Err(_) => panic!(),
};
const CAPACITY: Capacity = MEGACORE.capacity(TpuSpace::VmemShared, CoreType::ScScalarSubcore);
const KIND: Option<Chip> = Chip::from_device_kind("TPU7x");
const TILING: Result<InferredTiling, TilingFault> =
    MEGACORE.compact_tiling(&[u64::MAX, u64::MAX], Dtype::Bool);
const JAX_TILING: Result<InferredTiling, TilingFault> =
    MEGACORE.jax_sparse_core_tiling(&[1], Dtype::Uint2);
const SHAPES: Result<ScVectorShapes, TilingFault> = MEGACORE.sc_supported_shapes(Dtype::Int4);
const ROWS: Result<u64, TilingFault> = MEGACORE.sublane_tiling(Dtype::Int2);
const MATMUL: bool = MEGACORE.is_matmul_supported(Dtype::Uint4, Dtype::Int4);
const MESH: Mesh<'static> = match Mesh::vector_subcore("x", "y", Some(2), None, &MEGACORE) {
    Ok(mesh) => mesh,
    Err(_) => panic!(),
};
const TENSOR_CORES: Mesh<'static> = match Mesh::tensor_core("y", None, &MEGACORE) {
    Ok(mesh) => mesh,
    Err(_) => panic!(),
};
const TAGGED: Option<CoreMemorySpace> = match MESH.tag(MemorySpace::VMEM) {
    Ok(tagged) => Some(tagged),
    Err(_) => None,
};
const CONFLICT: Option<MeshConflictReason> = match TENSOR_CORES.can_share_a_kernel_with(&MESH) {
    Ok(()) => None,
    Err(conflict) => Some(conflict.reason()),
};
const FREED: u64 = {
    let mut allocator = AccumulatorAllocator::new(Chip::Tpu8i.facts());
    match allocator.allocate(&[64, 256], Dtype::Float32, 1) {
        Ok(allocation) => match allocator.free(allocation) {
            Ok(()) => allocator.free_entries(1),
            Err(_) => panic!(),
        },
        Err(_) => panic!(),
    }
};

#[test]
fn everything_is_known_at_compile_time() {
    assert_eq!((MEGACORE.num_cores.get(), CAPACITY), (2, Capacity::Bytes(8 << 20)));
    assert_eq!(KIND, Some(Chip::Tpu7x));
    assert_eq!(TILING.unwrap().tile(), [8, 128]);
    assert_eq!(JAX_TILING.unwrap().tile(), [32]);
    assert_eq!(SHAPES.unwrap(), ScVectorShapes { row: [64], rows: Some([8, 8]) });
    assert_eq!((ROWS, MATMUL), (Ok(128), true));
    assert_eq!((MESH.size(), TENSOR_CORES.size()), (32, 2));
    assert_eq!(TAGGED, Some(CoreMemorySpace::VmemOfScVectorSubcore));
    assert_eq!(CONFLICT, Some(MeshConflictReason::AxisNameClash));
    assert_eq!(FREED, 256);
}

#[test]
fn only_a_registered_chip_has_a_word() {
    for chip in Chip::ALL {
        assert_eq!(chip.facts().name, chip.as_str());
        assert_eq!(chip.facts().with_num_cores(1), Ok(*chip.facts()));
    }
    assert_eq!("9z".parse::<Chip>().unwrap_err().code(), Code::UnknownChip);
}

#[test]
fn two_cores_are_v4s_and_v5ps_alone() {
    for chip in Chip::ALL {
        let can = matches!(chip, Chip::V4 | Chip::V5p);
        for num_cores in [0, 2, 3, u32::MAX] {
            let facts = chip.facts().with_num_cores(num_cores);
            assert_eq!(facts.is_ok(), can && num_cores == 2, "{chip} {num_cores}");
            if let Err(refused) = facts {
                assert_eq!(refused.code(), Code::CoreCountUnsupported);
                assert_eq!(refused.help(), if can { "ask for 1 or 2" } else { "ask for 1" });
            }
        }
    }
}

#[test]
fn a_core_that_a_chip_lacks_has_nothing() {
    for chip in Chip::ALL {
        for core_type in CoreType::ALL {
            let present =
                |space: &&TpuSpace| chip.facts().capacity(**space, *core_type).is_present();
            let has = TpuSpace::ALL.iter().filter(present).count();
            let exists = !core_type.is_sparse_core() || chip.facts().sparse_core.is_some();
            assert_eq!(has > 0, exists, "{core_type} of {chip}");
        }
    }
}

fn dtype() -> impl Strategy<Value = Dtype> {
    select(Dtype::ALL)
}

/// A count that is small, or at a limit.
fn count() -> impl Strategy<Value = NonZeroU32> {
    let limits = [u32::MAX, u32::MAX - 1, 1 << 31, 256, 128, 16, 8];
    prop_oneof![1..=20_u32, select(limits.to_vec()), any::<u32>()]
        .prop_filter_map("not zero", NonZeroU32::new)
}

/// A registered chip, or one that nobody will build.
fn chip() -> impl Strategy<Value = ChipFacts> {
    let registered = select(Chip::ALL).prop_map(|chip| *chip.facts());
    let counts = (count(), count(), count(), count(), count(), count(), count());
    let sizes = (any::<u32>(), any::<u64>(), any::<bool>(), 0..12_u32);
    let described = (registered.clone(), counts, sizes).prop_map(|(chip, counts, sizes)| {
        let (num_lanes, num_sublanes, mxu_column_size, entries, num_cores, subcores, lanes) =
            counts;
        let (vmem, bytes, present, generation) = sizes;
        ChipFacts {
            name: "described",
            generation,
            num_lanes,
            num_sublanes,
            mxu_column_size,
            num_mxus: vmem,
            num_accumulators: present.then_some(entries),
            hbm_capacity_bytes: bytes,
            sparse_core: present.then_some(SparseCoreFacts {
                num_cores,
                num_subcores: subcores,
                num_lanes: lanes,
                vmem_capacity_bytes: vmem,
                dma_granule_size_bytes: vmem,
                usable_scalar_smem_words: None,
                usable_vector_smem_words: None,
            }),
            ..chip
        }
    });
    prop_oneof![registered, described]
}

/// An extent that is small, or at a limit.
fn extent() -> impl Strategy<Value = u64> {
    let limits = [0, 1, 1 << 31, 1 << 32, 1 << 33, 1 << 63, u64::MAX - 1, u64::MAX];
    prop_oneof![0..300_u64, select(limits.to_vec()), any::<u64>()]
}

fn shape() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![prop::collection::vec(extent(), 0..5), prop::collection::vec(extent(), 0..=64)]
}

proptest! {
    #[test]
    fn a_compact_tile_is_the_least_doubling_that_reaches_the_extent(
        chip in chip(), shape in shape(), dtype in dtype(),
    ) {
        let tiling = chip.compact_tiling(&shape, dtype);
        let packing = dtype.packing().map(u64::from);
        let start = |packing| if chip.generation < 4 { 2 * packing } else { packing };
        match (tiling, packing) {
            (Err(error), None) => prop_assert_eq!(error, TilingFault::UnsupportedDtype { dtype }),
            (Err(error), Some(_)) => {
                prop_assert_eq!((error, shape.len()), (TilingFault::Rank, 0));
            }
            (Ok(_), None) => prop_assert!(false, "{} has no packing", dtype),
            (Ok(tiling), Some(packing)) => {
                prop_assert_eq!(tiling.rank(), shape.len());
                let extents: Vec<u128> = tiling.extents().map(u128::from).collect();
                prop_assert_eq!(extents.len(), shape.len());
                let lanes = u128::from(chip.num_lanes.get());
                let start = u128::from(start(packing));
                if let [length] = extents[..] {
                    prop_assert_eq!(length, start * lanes);
                } else if let [leading @ .., rows, columns] = &extents[..] {
                    let extent = shape[shape.len() - 2];
                    let reached = u128::from(extent.min(u64::from(chip.num_sublanes.get())));
                    prop_assert!(leading.iter().all(|extent| *extent == 1));
                    prop_assert_eq!(*columns, lanes);
                    prop_assert!(rows % start == 0 && (rows / start).is_power_of_two());
                    prop_assert!(*rows >= reached && (*rows == start || rows / 2 < reached));
                }
            }
        }
    }

    #[test]
    fn a_sparse_cores_tile_is_its_row_of_lanes(
        chip in chip(), shape in shape(), dtype in dtype(),
    ) {
        let tiling = chip.sparse_core_tiling(&shape, dtype);
        match (chip.sc_supported_shapes(dtype), tiling) {
            (Err(error), tiling) => prop_assert_eq!(tiling, Err(error)),
            (Ok(_), Err(error)) => prop_assert_eq!((error, shape.len()), (TilingFault::Rank, 0)),
            (Ok(shapes), Ok(tiling)) => {
                prop_assert_eq!(tiling.tile(), shapes.row);
                prop_assert!(tiling.extents().count() == shape.len());
                let lanes = chip.sparse_core.unwrap().num_lanes;
                let elements = u128::from(lanes.get()) * u128::from(dtype.packing().unwrap());
                for shape in shapes.iter() {
                    let product: u128 = shape.iter().map(|extent| u128::from(*extent)).product();
                    prop_assert_eq!(product, elements);
                    prop_assert!(shapes.contains(shape));
                }
            }
        }
    }

    #[test]
    fn jax_differs_where_it_counts_bytes_and_nowhere_else(
        chip in chip(), shape in shape(), dtype in dtype(),
    ) {
        let whole_bytes = dtype.bits() >= 8;
        if whole_bytes || dtype == Dtype::Int4 {
            prop_assert_eq!(
                chip.jax_compact_tiling(&shape, dtype), chip.compact_tiling(&shape, dtype)
            );
        }
        if whole_bytes {
            prop_assert_eq!(
                chip.jax_sc_supported_shapes(dtype), chip.sc_supported_shapes(dtype)
            );
        }
        if let Ok(rows) = chip.sublane_tiling(dtype) {
            prop_assert_eq!(rows, chip.jax_sublane_tiling(dtype));
        }
        if chip.sparse_core.is_some() && whole_bytes {
            prop_assert_eq!(
                chip.jax_sparse_core_tiling(&shape, dtype), chip.sparse_core_tiling(&shape, dtype)
            );
        }
    }

    #[test]
    fn an_accumulator_is_refused_for_the_first_fault_or_has_its_entries(
        chip in chip(), mut shape in shape(), dtype in dtype(), mxu_id in any::<u8>(), fits in 0..4,
    ) {
        // Mostly what is nearly right.
        let dtype = if fits > 0 { Dtype::Float32 } else { dtype };
        let mxu_id = if fits > 0 { mxu_id % 2 } else { mxu_id };
        let (columns, sublanes) = (chip.mxu_column_size.get(), chip.num_sublanes.get());
        if fits > 1 && let Some(last) = shape.last_mut() {
            *last = columns.into();
        }
        if fits > 2 && let Some(first) = shape.first_mut() {
            *first = first.saturating_mul(sublanes.into());
        }
        let answer = Accumulator::new(&shape, dtype, mxu_id, &chip);

        let code = answer.map_err(|error| error.code());
        let Some((minor, major)) = shape.split_last().filter(|(_, major)| !major.is_empty()) else {
            prop_assert_eq!(code, Err(Code::AccumulatorRank));
            return Ok(());
        };
        let divides = major.iter().fold(1 % u128::from(sublanes), |rest, extent| {
            rest * u128::from(*extent) % u128::from(sublanes)
        }) == 0;
        let zero = major.contains(&0);
        let product = major.iter().try_fold(1_u64, |rows, extent| rows.checked_mul(*extent));
        let expected = if !matches!(dtype, Dtype::Float32 | Dtype::Int32) {
            Err(Code::AccumulatorDtype)
        } else if chip.num_accumulators.is_none() {
            Err(Code::NoAccumulators)
        } else if u32::from(mxu_id) >= chip.num_mxus {
            Err(Code::MxuIdOutOfRange)
        } else if *minor != u64::from(columns) {
            Err(Code::AccumulatorMinorDim)
        } else if zero || !divides {
            Err(Code::AccumulatorMajorDims)
        } else {
            product.map(|rows| rows / u64::from(sublanes)).ok_or(Code::SizeOverflow)
        };
        prop_assert_eq!(code.map(|accumulator| accumulator.entries()), expected);
        if let Err(error) = answer {
            prop_assert!(!error.to_string().is_empty() && !error.help().is_empty());
        }
    }

    #[test]
    fn accumulators_never_overlap_and_freeing_in_reverse_gives_all_back(
        chip in chip(),
        requests in prop::collection::vec((0..3_u8, 1..40_u64, any::<bool>()), 0..40),
    ) {
        let mut allocator = AccumulatorAllocator::new(&chip);
        let all: Vec<u64> = (0..3).map(|mxu_id| allocator.free_entries(mxu_id)).collect();
        let mut placed: Vec<Allocation> = Vec::new();
        for (mxu_id, entries, frees) in requests {
            if frees && let Some(last) = placed.pop() {
                allocator.free(last).unwrap();
                continue;
            }
            let rows = entries * u64::from(chip.num_sublanes.get());
            let before = allocator.free_entries(mxu_id);
            let columns = chip.mxu_column_size.get().into();
            match allocator.allocate(&[rows, columns], Dtype::Int32, mxu_id) {
                Ok(allocation) => {
                    prop_assert_eq!(before - allocator.free_entries(mxu_id), entries);
                    let used = placed.iter().filter(|other| other.accumulator().mxu_id() == mxu_id);
                    let used: u64 = used.map(|other| other.accumulator().entries()).sum();
                    let registers = u64::from(chip.mxu_column_size.get() / chip.num_lanes.get());
                    prop_assert_eq!(allocation.base_address(), used * registers);
                    placed.push(allocation);
                }
                Err(AccumulatorFault::Overflow { entries: wanted, free, .. }) => {
                    prop_assert_eq!((wanted, free), (entries, before));
                    prop_assert!(entries > before);
                    prop_assert_eq!(allocator.free_entries(mxu_id), before);
                }
                Err(error) => prop_assert!(
                    matches!(
                        error,
                        AccumulatorFault::NoAccumulators { .. }
                            | AccumulatorFault::MxuIdOutOfRange { .. }
                    ),
                    "{}", error
                ),
            }
        }
        while let Some(last) = placed.pop() {
            allocator.free(last).unwrap();
        }
        let free: Vec<u64> = (0..3).map(|mxu_id| allocator.free_entries(mxu_id)).collect();
        prop_assert_eq!(free, all);
    }

    #[test]
    fn a_mesh_has_cores_and_no_more_than_the_chip(
        chip in chip(), cores in counted(), subcores in counted(),
    ) {
        let vector = Mesh::vector_subcore("x", "y", cores, subcores, &chip);
        let scalar = Mesh::scalar_subcore("x", cores, &chip);
        let tensor_core = Mesh::tensor_core("x", cores, &chip);

        if let Ok(mesh) = vector {
            let facts = chip.sparse_core.unwrap();
            let asked = |asked: Option<i64>, has: NonZeroU32| {
                asked.map_or_else(|| u128::from(has.get()), |asked| asked as u128)
            };
            let size = asked(cores, facts.num_cores) * asked(subcores, facts.num_subcores);
            prop_assert_eq!(u128::from(mesh.size()), size);
            prop_assert!(mesh.shape().iter().all(|axis| axis.extent > 0));
        }
        for (mesh, most, counts) in [
            (vector, chip.sparse_core.map(|facts| facts.num_cores), vec![cores, subcores]),
            (scalar, chip.sparse_core.map(|facts| facts.num_cores), vec![cores]),
            (tensor_core, Some(NonZeroU32::MAX), vec![cores]),
        ] {
            match mesh {
                Ok(mesh) => prop_assert!(mesh.size() > 0 && most.is_some()),
                Err(MeshFault::NoSparseCores(_)) => prop_assert!(most.is_none()),
                Err(MeshFault::TooManyCores { asked, has, .. }) => {
                    prop_assert!(asked > has.into() && counts.contains(&Some(asked)));
                }
                Err(MeshFault::WithoutCores { asked, .. }) => {
                    prop_assert!(asked <= 0 && counts.contains(&Some(asked)));
                }
                Err(error) => prop_assert!(false, "{}", error),
            }
        }
    }

    #[test]
    fn sharing_a_kernel_is_symmetric_and_is_what_jax_allows_in_some_order(
        a in mesh(), b in mesh(),
    ) {
        let ours = a.can_share_a_kernel_with(&b).map_err(|conflict| conflict.code());
        prop_assert_eq!(ours, b.can_share_a_kernel_with(&a).map_err(|conflict| conflict.code()));
        let jax = [a.check_is_compatible_with(&b), b.check_is_compatible_with(&a)];
        prop_assert_eq!(ours.is_ok(), jax.iter().any(Result::is_ok));
        for conflict in jax.into_iter().filter_map(Result::err) {
            prop_assert!(!conflict.to_string().is_empty() && !conflict.help().is_empty());
        }
    }

    #[test]
    fn no_facts_make_a_capacity_overflow(chip in chip(), core in select(CoreType::ALL)) {
        for space in TpuSpace::ALL {
            let capacity = chip.capacity(*space, core);
            prop_assert_eq!(capacity.bytes().is_some(), matches!(capacity, Capacity::Bytes(_)));
        }
        if let Some(facts) = chip.sparse_core {
            let pool = u128::from(facts.num_subcores.get()) * u128::from(facts.vmem_capacity_bytes);
            prop_assert_eq!(u128::from(facts.pool_bytes()), pool);
        }
    }

    #[test]
    fn any_text_is_a_topology_of_a_known_chip_or_none(
        name in "\\PC{0,20}", extents in "[0-9x]{0,30}",
    ) {
        let chip = Chip::from_topology(&format!("{name}:{extents}"));
        prop_assert!(chip.is_none_or(|chip| chip.topology().is_some()));
        prop_assert_eq!(Chip::from_device_kind(&name).is_some(), Chip::ALL.iter().any(|chip| {
            chip.device_kinds().contains(&name.as_str())
        }));
    }
}

fn counted() -> impl Strategy<Value = Option<i64>> {
    let limits = [i64::MIN, -1, 0, 1, 2, 16, 17, i64::from(u32::MAX), i64::MAX];
    prop::option::of(prop_oneof![-2..20_i64, select(limits.to_vec()), any::<i64>()])
}

fn mesh() -> impl Strategy<Value = Mesh<'static>> {
    let axis = select(&["x", "y", "z"][..]);
    (axis.clone(), axis, 1..3_i64, 1..3_i64, select(CoreType::ALL)).prop_map(
        |(axis, other, cores, subcores, core_type)| {
            let chip = Chip::Tpu7x.facts();
            match core_type {
                CoreType::Tc => Mesh::tensor_core(axis, Some(cores), chip),
                CoreType::ScScalarSubcore => Mesh::scalar_subcore(axis, Some(cores), chip),
                CoreType::ScVectorSubcore => {
                    Mesh::vector_subcore(axis, other, Some(cores), Some(subcores), chip)
                }
            }
            .unwrap()
        },
    )
}
