//! Whether a kernel fits: what libtpu answered beyond the vectors, every fault,
//! and that no description is too large to be answered.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test"
)]

use mosaic_memspace::error::{Code, Fault};
use mosaic_memspace::fit::{ScKernel, TcKernel, VmemLimit};
use mosaic_memspace::operand::{
    BlockDim, Form, GridAxis, IndexEntry, Operand, Ref, ResolvedScratch,
};
use mosaic_memspace::rules::{PipelineBuffer, WindowAttr, window_faults};
use mosaic_memspace::{Chip, CoreType, Dtype, MemorySpace, Resolved};
use proptest::prelude::*;

fn output(array: &[u64]) -> Operand {
    Operand::output("x", array, Dtype::Float32)
}

fn input(array: &[u64]) -> Operand {
    Operand::input("x", array, Dtype::Float32)
}

const fn scratch(shape: &'static [u64]) -> ResolvedScratch<'static> {
    ResolvedScratch::new("t", shape, Dtype::Float32, Resolved::VMEM)
}

fn vmem(kernel: &TcKernel<'_>) -> u64 {
    kernel.vmem_plan_into(&mut Vec::new()).unwrap().bytes()
}

fn of(chip: Chip, operands: &[Operand], scratch: &[ResolvedScratch<'_>]) -> u64 {
    let operands = operands.iter().map(|operand| operand.in_space(Resolved::VMEM).into());
    let refs: Vec<_> = operands.chain(scratch.iter().copied().map(Ref::from)).collect();
    let grid = [GridAxis::new(2)];
    vmem(&TcKernel { grid: &grid, refs: &refs, ..TcKernel::new(chip.facts()) })
}

/// On v2 and v3 everything starts at a multiple of 4096: scratch, then windows.
#[test]
fn the_oldest_chips_align_what_they_allocate() {
    let (small, x, given, one) = (output(&[3]), output(&[8, 128]), input(&[3]), input(&[1]));
    let [short, long] = [scratch(&[3]), scratch(&[1500])];
    for chip in [Chip::V2, Chip::V3] {
        for (operands, scratch, expected) in [
            (vec![&small, &x], &[][..], 8192),
            (vec![&small, &x], &[short], 12288),
            (vec![&small, &x], &[long], 16384),
            (vec![&small, &small], &[short, long], 17408),
            (vec![&given, &given, &small], &[], 9216),
            (vec![&output(&[1500])], &[], 6144),
            (vec![&one, &x], &[], 8192),
            (vec![&x, &output(&[1])], &[short], 9216),
            (vec![], &[short], 1024),
            (vec![], &[long, short], 9216),
        ] {
            let operands: Vec<_> = operands.into_iter().cloned().collect();
            assert_eq!(of(chip, &operands, scratch), expected, "{chip}: {operands:?} {scratch:?}");
        }
    }
    assert_eq!(of(Chip::V4i, &[x, small], &[short]), 5632);
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
        let scratch = ResolvedScratch::new("t", shape, dtype, Resolved::VMEM);
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
        let operand = Operand::output("x", array, dtype)
            .block_dims(block.iter().copied())
            .index_entries(map.iter().copied())
            .buffers(buffers);
        let buffer = PipelineBuffer::new(&operand, Some(MemorySpace::HBM), &[GridAxis::new(8)]);
        let shape = buffer.unwrap().unwrap().shape;
        let scratch = ResolvedScratch::new("t", &shape, dtype, Resolved::VMEM).in_scope();
        assert_eq!(of(Chip::V5e, &[], &[scratch]), bytes, "{array:?} {block:?} {dtype}");
    }
}

/// v5p shares a parallel axis between two cores.
#[test]
fn one_step_a_core_needs_one_buffer() {
    let blocks = output(&[4, 8, 128])
        .block_dims([BlockDim::Squeezed, BlockDim::Blocked(8), BlockDim::Blocked(128)])
        .index_map([Some(0), None, None]);
    let refs = [blocks.in_space(Resolved::VMEM).into()];
    let bytes = |chip: Chip, grid: &[GridAxis]| {
        vmem(&TcKernel { grid, refs: &refs, ..TcKernel::new(chip.facts()) })
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
    let bytes = |operand: &Operand, space| {
        let refs = [operand.in_space(space).into()];
        vmem(&TcKernel { refs: &refs, ..TcKernel::new(Chip::V6e.facts()) })
    };
    for (dtype, expected) in
        [(Dtype::Int32, 512), (Dtype::Int8, 512), (Dtype::Int4, 1024), (Dtype::Int2, 2048)]
    {
        let one = Operand::input("x", [1, 1], dtype);
        for space in [Resolved::VMEM, Resolved::ANY, Resolved::HBM] {
            assert_eq!(bytes(&one, space), expected, "{dtype} {space}");
        }
        assert_eq!(bytes(&one, Resolved::SMEM), 0);
    }
    assert_eq!(bytes(&output(&[1, 1]), Resolved::VMEM), 1024);
    let one = input(&[1, 1]);
    let unused = one.in_space(Resolved::VMEM).left_untouched();
    let kernel = TcKernel { refs: &[unused.into()], ..TcKernel::new(Chip::V6e.facts()) };
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
        let array = Operand::output("x", shape, dtype);
        let array = array.in_space(Resolved::ANY).with_array_in_vmem();
        for (limit, fits) in [(67_043_328 - bytes, true), (67_043_328 - bytes + 512, false)] {
            let kernel = TcKernel {
                refs: &[array.into()],
                vmem_limit_bytes: Some(limit),
                ..TcKernel::new(Chip::Tpu7x.facts())
            };
            assert_eq!(kernel.colored_operands_fault().unwrap().is_none(), fits, "{shape:?}");
        }
    }
}

#[test]
fn a_window_on_an_array_in_vmem_costs_nothing() {
    let x = output(&[8, 128]);
    let there = x.in_space(Resolved::VMEM).with_array_in_vmem();
    let kernel = TcKernel { refs: &[there.into()], ..TcKernel::new(Chip::V5e.facts()) };
    let mut parts = Vec::new();
    let plan = kernel.vmem_plan_into(&mut parts).unwrap();
    assert_eq!((plan.bytes(), plan.parts()[0].buffer_bytes), (0, 4096));
}

#[test]
fn each_fault_says_what_would_be_right() {
    let chip = Chip::V5e.facts();
    let [array, half] = [&[32768, 1024], &[16384, 1024]].map(|shape| input(shape));
    let in_vmem = [array.in_space(Resolved::ANY).with_array_in_vmem().into()];
    let half_in_vmem = [half.in_space(Resolved::ANY).with_array_in_vmem().into()];
    let table = ResolvedScratch::prefetch("n", &[262_144], Dtype::Int32);
    let tight = ResolvedScratch::new("s", &[261_200], Dtype::Int32, Resolved::SMEM);
    for (kernel, code, message, help) in [
        (
            TcKernel { refs: &[scratch(&[32769, 128]).into()], ..TcKernel::new(chip) },
            Code::VmemOverflow,
            "VMEM: 16781312 bytes needed, 16777216 there, 4096 too many; \
             the largest: t (16781312 bytes)",
            "raise vmem_limit_bytes to 16781312 or more; \
             or halve dimension 0 of t, to 16385",
        ),
        (
            TcKernel { refs: &[table.into()], ..TcKernel::new(chip) },
            Code::SmemOverflow,
            "SMEM: 1048576 bytes needed, 1046528 there, 2048 too many; \
             the largest: n (1048576 bytes)",
            "keep large tables in hbm and copy the part in use",
        ),
        (
            TcKernel { refs: &in_vmem, ..TcKernel::new(chip) },
            Code::ColoredOperandsOverflow,
            "operands in VMEM take 134217728 bytes and the scoped limit 16777216, \
             of 134217728 for both; the largest: x (134217728 bytes)",
            "leave an operand in hbm",
        ),
        (
            TcKernel {
                refs: &half_in_vmem,
                vmem_limit_bytes: Some(100 << 20),
                ..TcKernel::new(chip)
            },
            Code::ColoredOperandsOverflow,
            "operands in VMEM take 67108864 bytes and the scoped limit 104857600, \
             of 134217728 for both; the largest: x (67108864 bytes)",
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
            TcKernel { refs: &[scratch(&[32000, 128]).into()], ..TcKernel::new(chip) },
            Code::VmemTight,
            "VMEM: 16384000 bytes of 16777216 declared, which leaves less than 5 %",
            "leave room for the compiler's spills, or raise vmem_limit_bytes",
        ),
        (
            TcKernel { refs: &[tight.into()], ..TcKernel::new(chip) },
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
    let brim = TcKernel { refs: &[scratch(&[32768, 128]).into()], ..TcKernel::new(chip) };
    let codes: Vec<_> = brim.faults().unwrap().iter().map(Fault::code).collect();
    assert_eq!(codes, [Code::VmemTight], "the limit is inclusive");
    let roomy = TcKernel { refs: &[scratch(&[31120, 128]).into()], ..TcKernel::new(chip) };
    assert_eq!(roomy.faults().unwrap(), []);
}

#[test]
fn the_pool_counts_every_subcore() {
    let kernel = |scratch: ResolvedScratch<'_>, core_type, tc_tiling| {
        let refs = [scratch.into()];
        let chip = Chip::Tpu7x.facts();
        let kernel = ScKernel { tc_tiling, refs: &refs, ..ScKernel::new(chip, core_type) };
        let mut parts = Vec::new();
        let plan = kernel.plan_into(&mut parts).unwrap();
        let faults = kernel.faults(&plan);
        (plan.bytes(), faults.iter().map(|it| (it.code(), it.help())).collect::<Vec<_>>())
    };
    let (vector, scalar) = (CoreType::ScVectorSubcore, CoreType::ScScalarSubcore);
    let space = Resolved::VMEM;
    let lines = ResolvedScratch::new("t", &[200_000], Dtype::Float32, space);
    let halve = "halve dimension 0 of t, to 100000".to_owned();
    assert_eq!(
        kernel(lines, vector, true),
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
        let scratch = ResolvedScratch::new("t", shape, dtype, shared);
        assert_eq!(kernel(scratch, vector, tc_tiling).0, words * 4, "{shape:?} {dtype}");
    }
    let table = ResolvedScratch::new("t", &[20_000], Dtype::Int32, Resolved::SMEM);
    let help = "keep large tables in hbm and copy the part in use".to_owned();
    assert_eq!(kernel(table, scalar, true), (0, vec![(Code::SmemOverflow, help)]));
    let fits = ResolvedScratch::new("t", &[16_256], Dtype::Int32, Resolved::SMEM);
    assert_eq!(kernel(fits, scalar, true), (0, vec![]));
}

#[test]
fn what_there_is_of_smem_and_what_a_kernel_may_use_of_it() {
    for (chip, capacity, usable) in [
        (Chip::V2, 16 << 10, Some(15_360)),
        (Chip::V4, 1 << 20, Some(1_048_064)),
        (Chip::V5e, 1 << 20, Some(1_046_528)),
        (Chip::V6e, 1 << 20, Some(1_046_528)),
    ] {
        let mut parts = Vec::new();
        let plan = TcKernel::new(chip.facts()).smem_plan_into(&mut parts).unwrap();
        assert_eq!((plan.capacity_bytes(), plan.usable_bytes()), (capacity, usable), "{chip}");
        assert_eq!(Some(plan.bytes_there()), usable);
    }
}

/// The last bytes that fit, and the first that do not: each remedy saves just enough.
#[test]
fn a_remedy_is_the_least_that_does() {
    let help = |rows: u64, limit| {
        let shape = [rows, 128];
        let sum = ResolvedScratch::new("t", &shape, Dtype::Float32, Resolved::VMEM);
        let kernel = TcKernel {
            refs: &[sum.into()],
            vmem_limit_bytes: Some(limit),
            ..TcKernel::new(Chip::V4.facts())
        };
        let faults = kernel.faults().unwrap();
        faults.iter().find(|it| it.code() == Code::VmemOverflow).map(Fault::help)
    };
    // 16 MiB is the most that v4 gives: up to there the limit can be raised.
    let most = 16 << 20;
    assert_eq!(
        help(32_768, most - 512).as_deref(),
        Some("raise vmem_limit_bytes to 16777216 or more; or halve dimension 0 of t, to 16384")
    );
    assert_eq!(help(32_769, most).as_deref(), Some("halve dimension 0 of t, to 16385"));
    // Half of it fits exactly, and half of a row more does not.
    assert_eq!(help(65_536, most).as_deref(), Some("halve dimension 0 of t, to 32768"));
    assert_eq!(help(65_552, most).as_deref(), Some("halve dimension 0 of t twice, to 16388"));
}

#[test]
fn nothing_is_allocated_where_the_buffer_has_room() {
    let x = output(&[8, 128]);
    let refs = [Ref::from(x.in_space(Resolved::VMEM)); 20];
    let kernel = TcKernel { refs: &refs, ..TcKernel::new(Chip::V5e.facts()) };
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
            .into_iter()
            .map(|(array, block, index_map, space, buffers, flags)| {
                let new = if flags[0] { Operand::input } else { Operand::output };
                let mut operand = new("x", array, dtype).buffers(buffers);
                if let Some(block) = block {
                    operand = operand.block_dims(block);
                }
                if let Some(index_map) = index_map {
                    operand = operand.index_entries(index_map);
                }
                (operand, space, flags)
            })
            .collect();
        let windows = operands.iter().map(|(operand, space, [_, in_vmem, untouched])| {
            let placed = operand.in_space(*space);
            let placed = if *in_vmem { placed.with_array_in_vmem() } else { placed };
            if *untouched { placed.left_untouched() } else { placed }
        });
        let windows: Vec<_> = windows.collect();
        let scratch = scratch.iter().flat_map(|(shape, space)| {
            let scratch = ResolvedScratch::new("t", shape, dtype, *space);
            [scratch, scratch.in_scope(), ResolvedScratch::prefetch("n", shape, dtype)]
        });
        let refs: Vec<Ref<'_>> =
            windows.iter().copied().map(Ref::from).chain(scratch.map(Ref::from)).collect();
        let kernel = TcKernel {
            grid: &grid,
            refs: &refs,
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
        let kernel = ScKernel {
            grid: &grid,
            refs: &refs,
            ..ScKernel::new(chip.facts(), core_type)
        };
        let mut parts = Vec::new();
        if let Ok(plan) = kernel.plan_into(&mut parts) {
            for fault in kernel.faults(&plan) {
                prop_assert!(!fault.to_string().is_empty() && !fault.help().is_empty());
            }
        }
        for window in &windows {
            for fault in window_faults(window, &grid, Form::Pipelined, core_type) {
                prop_assert!(!fault.to_string().is_empty() && !fault.help().is_empty());
            }
            let text = WindowAttr::pipelined(window, "f", core_type).to_string();
            let braced = text.starts_with('{') && text.ends_with('}');
            prop_assert!(braced, "{}", text);
        }
    }
}
