//! Whether a kernel fits: what libtpu answered beyond the vectors, every fault,
//! and that no description is too large to be answered.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test"
)]

use mosaic_memspace::error::{Code, Fault};
use mosaic_memspace::fit::{FitOperand, ScKernel, ScWindow, Scratch, TcKernel, VmemLimit};
use mosaic_memspace::rules::{BlockDim, Form, GridAxis, IndexEntry, Operand, PipelineBuffer, Role};
use mosaic_memspace::{Chip, CoreType, Dtype, MemorySpace, Resolved};
use proptest::prelude::*;

const X: Operand<'static> = Operand {
    role: Role::Output,
    array_shape: &[8, 128],
    block_shape: None,
    element_shape: &[],
    dtype: Dtype::Float32,
    index_map: None,
    space: Resolved::VMEM,
    buffers: None,
};

const fn scratch(shape: &'static [u64]) -> Scratch<'static> {
    Scratch::new(shape, Dtype::Float32, Resolved::VMEM)
}

fn vmem(kernel: &TcKernel<'_>) -> u64 {
    kernel.vmem_plan_into(&mut Vec::new()).unwrap().bytes()
}

fn of(chip: Chip, operands: &[Operand<'_>], scratch: &[Scratch<'_>]) -> u64 {
    let operands: Vec<FitOperand<'_>> = operands.iter().copied().map(Into::into).collect();
    let grid = [GridAxis::new(2)];
    vmem(&TcKernel { grid: &grid, operands: &operands, scratch, ..TcKernel::new(chip.facts()) })
}

/// On v2 and v3 everything starts at a multiple of 4096: scratch, then windows.
#[test]
fn the_oldest_chips_align_what_they_allocate() {
    let small = Operand { array_shape: &[3], ..X };
    let input = Operand { role: Role::Input, ..small };
    let one = Operand { array_shape: &[1], ..input };
    let [short, long] = [scratch(&[3]), scratch(&[1500])];
    for chip in [Chip::V2, Chip::V3] {
        for (operands, scratch, expected) in [
            (&[small, X][..], &[][..], 8192),
            (&[small, X], &[short], 12288),
            (&[small, X], &[long], 16384),
            (&[small, small], &[short, long], 17408),
            (&[input, input, small], &[], 9216),
            (&[Operand { array_shape: &[1500], ..X }], &[], 6144),
            (&[one, X], &[], 8192),
            (&[X, Operand { array_shape: &[1], ..X }], &[short], 9216),
            (&[], &[short], 1024),
            (&[], &[long, short], 9216),
        ] {
            assert_eq!(of(chip, operands, scratch), expected, "{chip}: {operands:?} {scratch:?}");
        }
    }
    assert_eq!(of(Chip::V4i, &[X, small], &[short]), 5632);
}

/// What the body allocates is laid out and rounded up as windows are, and so are
/// the buffers of `emit_pipeline`.
#[test]
fn the_bodys_own_allocations_are_not_scratch() {
    for (shape, dtype, kernels, bodys) in [
        (&[16, 128][..], Dtype::Float32, 8192, 8192),
        (&[1, 128], Dtype::Float32, 512, 1024),
        (&[5, 200], Dtype::Int8, 2048, 2048),
        (&[5, 200], Dtype::Int4, 2048, 1024),
        (&[3, 16, 128], Dtype::Int4, 6144, 3072),
        (&[3, 16, 128], Dtype::Int2, 6144, 2048),
        (&[1000], Dtype::Int2, 2048, 1024),
    ] {
        let scratch = Scratch::new(shape, dtype, Resolved::VMEM);
        assert_eq!(of(Chip::V5e, &[], &[scratch]), kernels, "{shape:?} {dtype}");
        assert_eq!(of(Chip::V4, &[], &[scratch.in_scope()]), bodys, "{shape:?} {dtype}");
    }
    let [axis, zero] = [IndexEntry::Axis(0), IndexEntry::Zero];
    let blocked = |extents: &[u64]| {
        let dim = |extent: &u64| {
            if *extent == 0 { BlockDim::Squeezed } else { BlockDim::Blocked(*extent) }
        };
        extents.iter().map(dim).collect::<Vec<_>>()
    };
    for (array, block, map, dtype, buffers, bytes) in [
        (&[64, 128][..], &[8, 128][..], &[axis, zero][..], Dtype::Float32, None, 8192),
        (&[64, 128], &[8, 128], &[axis, zero], Dtype::Bfloat16, Some(5), 10240),
        (&[64, 128], &[64, 128], &[zero, zero], Dtype::Float32, Some(3), 32768),
        (&[8192], &[1024], &[axis], Dtype::Bfloat16, Some(3), 6144),
        (&[8, 16, 128], &[0, 16, 128], &[axis, zero, zero], Dtype::Float32, None, 16384),
        (&[8, 4, 128], &[0, 4, 128], &[axis, zero, zero], Dtype::Bfloat16, Some(3), 3072),
        (&[8, 1024], &[0, 1024], &[axis, zero], Dtype::Float32, Some(3), 12288),
        (&[1, 64, 128], &[0, 64, 128], &[zero, zero, zero], Dtype::Float32, None, 65536),
        (&[64, 128], &[8, 128], &[zero, zero], Dtype::Float32, None, 8192),
        (&[8, 16, 128], &[1, 16, 128], &[axis, zero, zero], Dtype::Int4, None, 2048),
    ] {
        let block = blocked(block);
        let operand = Operand {
            array_shape: array,
            block_shape: Some(&block),
            index_map: Some(map),
            dtype,
            buffers,
            ..X
        };
        let hbm = Some(MemorySpace::HBM);
        let buffer = PipelineBuffer::new(&operand, None, hbm, &[GridAxis::new(8)]);
        let shape: Vec<u64> = buffer.unwrap().unwrap().shape().collect();
        let scratch = Scratch::new(&shape, dtype, Resolved::VMEM).in_scope();
        assert_eq!(of(Chip::V5e, &[], &[scratch]), bytes, "{array:?} {block:?} {dtype}");
    }
}

/// v5p shares a parallel axis between two cores.
#[test]
fn one_step_a_core_needs_one_buffer() {
    let blocks = Operand {
        array_shape: &[4, 8, 128],
        block_shape: Some(&[BlockDim::Squeezed, BlockDim::Blocked(8), BlockDim::Blocked(128)]),
        index_map: Some(&[IndexEntry::Axis(0), IndexEntry::Zero, IndexEntry::Zero]),
        ..X
    };
    let operands = [blocks.into()];
    let bytes = |chip: Chip, grid: &[GridAxis]| {
        vmem(&TcKernel { grid, operands: &operands, ..TcKernel::new(chip.facts()) })
    };
    let [two, four] = [2, 4].map(|extent| GridAxis::new(extent).in_parallel());
    assert_eq!(bytes(Chip::V5p, &[two]), 4096);
    assert_eq!(bytes(Chip::V5p, &[GridAxis::new(2)]), 8192);
    assert_eq!(bytes(Chip::V5p, &[four]), 8192);
    assert_eq!(bytes(Chip::V5p, &[two, two]), 8192);
    assert_eq!(bytes(Chip::V4, &[two]), 8192);
    assert_eq!(bytes(Chip::Tpu7x, &[two]), 8192);
}

#[test]
fn an_input_of_one_element_costs_what_scratch_of_its_shape_does() {
    let one = Operand { role: Role::Input, array_shape: &[1, 1], ..X };
    for (dtype, expected) in
        [(Dtype::Int32, 512), (Dtype::Int8, 512), (Dtype::Int4, 1024), (Dtype::Int2, 2048)]
    {
        let one = Operand { dtype, ..one };
        for space in [Resolved::VMEM, Resolved::ANY, Resolved::HBM] {
            assert_eq!(
                of(Chip::V6e, &[Operand { space, ..one }], &[]),
                expected,
                "{dtype} {space}"
            );
        }
        assert_eq!(of(Chip::V6e, &[Operand { space: Resolved::SMEM, ..one }], &[]), 0);
    }
    assert_eq!(of(Chip::V6e, &[Operand { role: Role::Output, ..one }], &[]), 1024);
    let unused = FitOperand { untouched: true, ..one.into() };
    let kernel = TcKernel { operands: &[unused], ..TcKernel::new(Chip::V6e.facts()) };
    assert_eq!(vmem(&kernel), 0);
}

#[test]
fn a_limit_is_what_the_chip_makes_of_it() {
    let effective = |chip: Chip, asked| VmemLimit::new(chip.facts(), asked).effective;
    for (chip, default, most) in [
        (Chip::V2, 16 << 20, 16 << 20),
        (Chip::V4, 16 << 20, 16 << 20),
        (Chip::V5e, 16 << 20, 134_217_728),
        (Chip::V5p, 16 << 20, 67_043_328),
        (Chip::V6e, 32 << 20, 134_152_192),
        (Chip::Tpu7x, 32 << 20, 67_043_328),
    ] {
        assert_eq!(effective(chip, None), Some(default), "{chip}");
        assert_eq!(effective(chip, Some(i64::MAX)), Some(most), "{chip}");
        assert_eq!(effective(chip, Some(4096)), Some(4096), "{chip}");
        assert_eq!(effective(chip, Some(0)), None, "{chip}");
    }
    // Nobody has asked about the newest chips: their VMEM is all that is known.
    assert_eq!(effective(Chip::Tpu8i, None), None);
    assert_eq!(effective(Chip::Tpu8i, Some(i64::MAX)), Some(192 << 20));
}

/// Arrays in VMEM, beside the largest limit that leaves room for them.
#[test]
fn arrays_in_vmem_are_padded_and_counted_in_pages() {
    for (shape, dtype, bytes) in [
        (&[3, 5][..], Dtype::Float32, 4096),
        (&[1000], Dtype::Float32, 4096),
        (&[100, 3], Dtype::Bfloat16, 28672),
        (&[40, 256], Dtype::Int8, 12288),
        (&[5, 3, 130], Dtype::Float32, 20480),
        (&[100, 256], Dtype::Int4, 16384),
    ] {
        let array = Operand { array_shape: shape, dtype, space: Resolved::ANY, ..X };
        let array = FitOperand { array_in_vmem: true, ..array.into() };
        for (limit, fits) in [(67_043_328 - bytes, true), (67_043_328 - bytes + 512, false)] {
            let kernel = TcKernel {
                operands: &[array],
                vmem_limit_bytes: Some(limit),
                ..TcKernel::new(Chip::Tpu7x.facts())
            };
            assert_eq!(kernel.colored_operands_fault().unwrap().is_none(), fits, "{shape:?}");
        }
    }
}

#[test]
fn a_window_on_an_array_in_vmem_costs_nothing() {
    let there = FitOperand { array_in_vmem: true, ..X.into() };
    let kernel = TcKernel { operands: &[there], ..TcKernel::new(Chip::V5e.facts()) };
    let mut parts = Vec::new();
    let plan = kernel.vmem_plan_into(&mut parts).unwrap();
    assert_eq!((plan.bytes(), plan.parts()[0].buffer_bytes), (0, 4096));
}

#[test]
fn each_fault_says_what_would_be_right() {
    let chip = Chip::V5e.facts();
    let array = Operand { array_shape: &[32768, 1024], space: Resolved::ANY, ..X };
    let in_vmem = [FitOperand { array_in_vmem: true, ..array.into() }];
    let half = Operand { array_shape: &[16384, 1024], space: Resolved::ANY, ..X };
    let half_in_vmem = [FitOperand { array_in_vmem: true, ..half.into() }];
    let table = Scratch::new(&[262_144], Dtype::Int32, Resolved::SMEM);
    let tight = Scratch { shape: &[261_200], ..table };
    for (kernel, code, message, help) in [
        (
            TcKernel { scratch: &[scratch(&[32769, 128])], ..TcKernel::new(chip) },
            Code::VmemOverflow,
            "VMEM: 16781312 bytes needed, 16777216 there, 4096 too many; \
             the largest: scratch 0 (16781312 bytes)",
            "raise vmem_limit_bytes to 16781312 or more; \
             or halve dimension 0 of scratch 0, to 16385",
        ),
        (
            TcKernel { prefetch: &[table], ..TcKernel::new(chip) },
            Code::SmemOverflow,
            "SMEM: 1048576 bytes needed, 1046528 there, 2048 too many; \
             the largest: prefetch 0 (1048576 bytes)",
            "keep large tables in hbm and copy the part in use",
        ),
        (
            TcKernel { operands: &in_vmem, ..TcKernel::new(chip) },
            Code::ColoredOperandsOverflow,
            "operands in VMEM take 134217728 bytes and the scoped limit 16777216, \
             of 134217728 for both; the largest: operand 0 (134217728 bytes)",
            "leave an operand in hbm",
        ),
        (
            TcKernel {
                operands: &half_in_vmem,
                vmem_limit_bytes: Some(100 << 20),
                ..TcKernel::new(chip)
            },
            Code::ColoredOperandsOverflow,
            "operands in VMEM take 67108864 bytes and the scoped limit 104857600, \
             of 134217728 for both; the largest: operand 0 (67108864 bytes)",
            "ask for a vmem_limit_bytes of 67108864 or less, or leave an operand in hbm",
        ),
        (
            TcKernel { vmem_limit_bytes: Some(-4), ..TcKernel::new(chip) },
            Code::VmemLimitNotPositive,
            "a vmem limit of -4 bytes",
            "ask for a positive number of bytes, or leave vmem_limit_bytes out",
        ),
        (
            TcKernel { vmem_limit_bytes: Some(1 << 30), ..TcKernel::new(chip) },
            Code::VmemLimitClamped,
            "a vmem limit of 1073741824 bytes, which the compiler cuts to 134217728",
            "ask for 134217728 or less",
        ),
        (
            TcKernel { scratch: &[scratch(&[32000, 128])], ..TcKernel::new(chip) },
            Code::VmemTight,
            "VMEM: 16384000 bytes of 16777216 declared, which leaves less than 5 %",
            "leave room for the compiler's spills, or raise vmem_limit_bytes",
        ),
        (
            TcKernel { scratch: &[tight], ..TcKernel::new(chip) },
            Code::SmemTight,
            "SMEM: 1044992 bytes of 1046528 declared, which leaves less than 2048",
            "leave room for the compiler's scalar spills",
        ),
    ] {
        let faults = kernel.faults().unwrap();
        let said: Vec<_> = faults.iter().map(|it| (it.code(), it.to_string(), it.help())).collect();
        assert_eq!(said, [(code, message.to_owned(), help.to_owned())]);
    }
}

#[test]
fn what_just_fits_is_no_fault() {
    let chip = Chip::V5e.facts();
    let brim = TcKernel { scratch: &[scratch(&[32768, 128])], ..TcKernel::new(chip) };
    let codes: Vec<_> = brim.faults().unwrap().iter().map(Fault::code).collect();
    assert_eq!(codes, [Code::VmemTight], "the limit is inclusive");
    let roomy = TcKernel { scratch: &[scratch(&[31120, 128])], ..TcKernel::new(chip) };
    assert_eq!(roomy.faults().unwrap(), []);
}

#[test]
fn the_pool_counts_every_subcore() {
    let kernel = |scratch: &[Scratch<'_>], core_type, tc_tiling| {
        let kernel =
            ScKernel { chip: Chip::Tpu7x.facts(), core_type, tc_tiling, windows: &[], scratch };
        let mut parts = Vec::new();
        let plan = kernel.plan_into(&mut parts).unwrap();
        let faults = kernel.faults(&plan);
        (plan.bytes(), faults.iter().map(|it| (it.code(), it.help())).collect::<Vec<_>>())
    };
    let (vector, scalar) = (CoreType::ScVectorSubcore, CoreType::ScScalarSubcore);
    let space = Resolved::VMEM;
    let lines = Scratch::new(&[200_000], Dtype::Float32, space);
    let halve = "halve dimension 0 of scratch 0, to 100000".to_owned();
    assert_eq!(
        kernel(&[lines], vector, true),
        (12_804_096, vec![(Code::SparseCorePoolOverflow, halve)])
    );
    let shared = Resolved::VMEM_SHARED;
    for (shape, dtype, tc_tiling, words) in [
        (&[2, 3, 5][..], Dtype::Bfloat16, true, 512),
        (&[2, 9, 5], Dtype::Int8, true, 1024),
        (&[2, 4, 5], Dtype::Int4, true, 256),
        (&[2, 33, 5], Dtype::Bool, true, 10240),
        (&[128, 9, 5], Dtype::Float32, false, 9216),
        (&[128, 9, 5], Dtype::Int8, false, 9216),
        (&[1001], Dtype::Float32, false, 1024),
    ] {
        let scratch = Scratch::new(shape, dtype, shared);
        assert_eq!(kernel(&[scratch], vector, tc_tiling).0, words * 4, "{shape:?} {dtype}");
    }
    let table = Scratch::new(&[20_000], Dtype::Int32, Resolved::SMEM);
    let help = "keep large tables in hbm and copy the part in use".to_owned();
    assert_eq!(kernel(&[table], scalar, true), (0, vec![(Code::SmemOverflow, help)]));
    let fits = Scratch { shape: &[16_256], ..table };
    assert_eq!(kernel(&[fits], scalar, true), (0, vec![]));
}

#[test]
fn nothing_is_allocated_where_the_buffer_has_room() {
    let operands = [FitOperand::from(X); 20];
    let kernel = TcKernel { operands: &operands, ..TcKernel::new(Chip::V5e.facts()) };
    let mut parts = Vec::with_capacity(20);
    let place = parts.as_ptr();
    assert_eq!(kernel.vmem_plan_into(&mut parts).unwrap().parts().len(), 20);
    assert_eq!((parts.as_ptr(), parts.capacity()), (place, 20));
}

fn extents() -> impl Strategy<Value = Vec<u64>> {
    let extent = prop_oneof![0..300_u64, any::<u64>(), Just(u64::MAX)];
    prop::collection::vec(extent, 0..5)
}

fn dims() -> impl Strategy<Value = Option<Vec<BlockDim>>> {
    let dim = prop_oneof![
        Just(BlockDim::Squeezed),
        (0..300_u64).prop_map(BlockDim::Blocked),
        any::<u64>().prop_map(BlockDim::Element),
    ];
    prop::option::of(prop::collection::vec(dim, 0..5))
}

fn entries() -> impl Strategy<Value = Option<Vec<IndexEntry>>> {
    let entry = prop_oneof![
        Just(IndexEntry::Zero),
        any::<usize>().prop_map(IndexEntry::Axis),
        Just(IndexEntry::Other),
    ];
    prop::option::of(prop::collection::vec(entry, 0..5))
}

fn space() -> impl Strategy<Value = Resolved> {
    let memref = mosaic_memspace::MemrefSpace::ALL;
    prop::sample::select(memref).prop_map(Resolved::Memref)
}

proptest! {
    #[test]
    fn any_kernel_is_answered(
        chip in prop::sample::select(Chip::ALL),
        grid in prop::collection::vec(prop::option::of(any::<u64>()), 0..4),
        operands in prop::collection::vec(
            (extents(), dims(), entries(), space(), prop::option::of(any::<u32>()), any::<[bool; 3]>()),
            0..5,
        ),
        scratch in prop::collection::vec((extents(), space()), 0..4),
        dtype in prop::sample::select(Dtype::ALL),
        limit in prop::option::of(any::<i64>()),
        core_type in prop::sample::select(CoreType::ALL),
    ) {
        let grid: Vec<_> =
            grid.into_iter().map(|extent| GridAxis { extent, parallel: true }).collect();
        let operands: Vec<_> = operands
            .iter()
            .map(|(array, block, index_map, space, buffers, [input, array_in_vmem, untouched])| {
                let operand = Operand {
                    role: if *input { Role::Input } else { Role::Output },
                    array_shape: array,
                    block_shape: block.as_deref(),
                    element_shape: &[],
                    dtype,
                    index_map: index_map.as_deref(),
                    space: *space,
                    buffers: *buffers,
                };
                FitOperand { operand, array_in_vmem: *array_in_vmem, untouched: *untouched }
            })
            .collect();
        let scratch: Vec<_> = scratch
            .iter()
            .map(|(shape, space)| Scratch::new(shape, dtype, *space))
            .collect();
        let kernel = TcKernel {
            grid: &grid,
            prefetch: &scratch,
            operands: &operands,
            scratch: &scratch,
            vmem_limit_bytes: limit,
            ..TcKernel::new(chip.facts())
        };
        match kernel.faults() {
            Ok(faults) => for fault in faults {
                prop_assert!(!fault.to_string().is_empty() && !fault.help().is_empty());
            },
            Err(error) => {
                let codes = [Code::SizeOverflow, Code::UnsupportedDtype];
                prop_assert!(codes.contains(&error.code()) && !error.help().is_empty());
            }
        }
        let windows: Vec<_> = operands
            .iter()
            .map(|operand| ScWindow::new(operand.operand, &grid, Form::Unpipelined))
            .collect();
        let kernel = ScKernel { chip: chip.facts(), core_type, tc_tiling: true, windows: &windows, scratch: &scratch };
        let mut parts = Vec::new();
        if let Ok(plan) = kernel.plan_into(&mut parts) {
            for fault in kernel.faults(&plan) {
                prop_assert!(!fault.to_string().is_empty() && !fault.help().is_empty());
            }
        }
        for operand in &operands {
            use mosaic_memspace::rules::WindowAttr;
            for fault in operand.operand.window_faults(&grid, Form::Pipelined, core_type) {
                prop_assert!(!fault.to_string().is_empty() && !fault.help().is_empty());
            }
            let text = WindowAttr::pipelined(&operand.operand, "f", core_type).to_string();
            let braced = text.starts_with('{') && text.ends_with('}');
            prop_assert!(braced, "{}", text);
        }
    }
}
