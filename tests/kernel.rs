//! A whole kernel: every fault at its place, and nonsense that is survived.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use mosaic_memspace::custom_call::{Color, CompilerParams, LibtpuVersion, VmemLimitBytes};
use mosaic_memspace::kernel::{Kernel, MeshSpec, RefAccess, Report};
use mosaic_memspace::operand::{BlockDim, IndexEntry, Operand, Prefetch, Scratch, Semaphore};
use mosaic_memspace::read::{InputFault, Kernels};
use mosaic_memspace::rules::AccessShape;
use mosaic_memspace::{Chip, CoreType, Dtype, MemorySpace, Resolved};
use proptest::prelude::*;

fn report(json: &str) -> Report {
    Kernels::new(json).next().unwrap().unwrap().kernel.check()
}

/// The first fault of a description that cannot be used.
fn refusal(json: &str) -> InputFault {
    let faults = Kernels::new(json).next().unwrap().unwrap_err();
    faults.iter().next().unwrap().clone()
}

/// Codes and places, in order.
fn faults(report: &Report) -> Vec<(String, String)> {
    let told = |fault: &mosaic_memspace::kernel::Diagnostic| {
        (fault.code.to_string(), fault.at.to_string())
    };
    report.diagnostics.iter().map(told).collect()
}

#[test]
fn twelve_faults_get_twelve_diagnostics_each_at_its_place() {
    let report = report(
        r#"{"chip": "v5e", "core_type": "tc", "grid": [4],
            "operands": [
              {"name": "a", "role": "in", "array_shape": [64, 256], "dtype": "float33"},
              {"name": "b", "role": "in", "array_shape": [64, 256], "dtype": "int8",
               "space": "vram"},
              {"name": "c", "role": "in", "array_shape": [64, 256], "dtype": "int8",
               "block_shape": [7, 256], "index_map": [0, null]},
              {"name": "d", "role": "in", "array_shape": [64, 256], "dtype": "int8",
               "space": "cmem"},
              {"name": "e", "role": "out", "array_shape": [64, 256], "dtype": "int8",
               "space": "vmem_shared"},
              {"name": "f", "role": "in", "array_shape": [64, 256], "dtype": "int8",
               "block_shape": [32, 256], "index_map": [1, null]},
              {"name": "f", "role": "in", "array_shape": [64, 256], "dtype": "int8",
               "block_shape": [32, 256], "index_map": [0, null], "buffers": 3}],
            "scratch": [{"name": "s", "space": "hbm", "shape": [8, 128], "dtype": "float32"}],
            "aliases": [[9, 0]],
            "params": {"vmem_limit_bytes": 0, "opt_level": "O1"},
            "accesses": [{"op": "load", "ref": "z", "shape": "vector"}]}"#,
    );
    let told = faults(&report);
    let expected = [
        ("UnknownDtype", "operands.a.dtype"),
        ("UnknownMemorySpace", "operands.b.space"),
        ("BlockNotTileAligned", "operands.c.block_shape"),
        ("SpaceNotOnCore", "operands.d.space"),
        ("WindowSpaceUnsupported", "operands.e.space"),
        ("IndexMapAxisOutOfRange", "operands.f.index_map"),
        ("BufferCountUnsupported", "operands.f.buffers"),
        ("DuplicateName", "operands.f.name"),
        ("ScratchSpaceUnsupported", "scratch.s.space"),
        ("AliasIndexOutOfRange", "aliases[0]"),
        ("VmemLimitNotPositive", "params.vmem_limit_bytes"),
        ("OptLevelOnlyForSparseCore", "params.opt_level"),
        ("UnknownRef", "accesses[0].ref"),
    ];
    let expected: Vec<_> =
        expected.map(|(code, at)| (code.to_owned(), at.to_owned())).into_iter().collect();
    assert_eq!(told, expected);
    assert_eq!(report.config, None, "a refused kernel has no config");
}

#[test]
fn what_is_built_is_what_is_read() {
    let json = r#"{"name": "scale", "chip": "v5e", "core_type": "tc", "grid": [4],
        "scalar_prefetch": [{"name": "n", "shape": [4], "dtype": "int32"}],
        "operands": [
          {"name": "x", "role": "in", "array_shape": [3, 512, 256], "dtype": "float32",
           "block_shape": [null, {"element": 128}, {"element": 256}],
           "index_map": ["other", 0, null], "buffers": 1, "annotated": "vmem"},
          {"name": "o", "role": "out", "array_shape": [512, 256], "dtype": "float32",
           "block_shape": [128, 256], "index_map": [0, null]}],
        "scratch": [{"name": "t", "space": "vmem", "shape": [128, 256], "dtype": "float32"},
                    {"name": "sem", "semaphore": "dma", "shape": [2]}],
        "params": {"vmem_limit_bytes": 33554432},
        "accesses": [{"op": "load", "ref": "x", "shape": "vector"},
                     {"op": "dma", "src": "x", "dst": "t", "mode": "copy", "add": false}],
        "body_base64": "bW9kdWxlIHt9"}"#;
    let mut params = CompilerParams::default();
    params.vmem_limit_bytes = Some(VmemLimitBytes::new(33_554_432).unwrap());
    let built = Kernel::pipelined(CoreType::Tc)
        .named("scale")
        .on(Chip::V5e)
        .grid([4])
        .prefetch(Prefetch::new("n", [4], Dtype::Int32))
        .operand(
            Operand::input("x", [3, 512, 256], Dtype::Float32)
                .block_dims([BlockDim::Squeezed, BlockDim::Element(128), BlockDim::Element(256)])
                .index_entries([IndexEntry::Other, IndexEntry::Axis(0), IndexEntry::Zero])
                .buffers(1)
                .annotated(MemorySpace::VMEM),
        )
        .operand(
            Operand::output("o", [512, 256], Dtype::Float32)
                .block([128, 256])
                .index_map([Some(0), None]),
        )
        .scratch(Scratch::new("t", MemorySpace::VMEM, [128, 256], Dtype::Float32))
        .scratch(Scratch::semaphore("sem", Semaphore::Dma, [2]))
        .params(params)
        .access(RefAccess::load("x", AccessShape::Vector))
        .access(RefAccess::copy("x", "t"))
        .body(*b"module {}");
    let read = report(json);
    assert_eq!(format!("{:?}", built.check()), format!("{read:?}"));
    assert_eq!(faults(&read), []);

    let resolved = built.resolve().unwrap();
    assert_eq!(Some(resolved.config(LibtpuVersion::NEWEST).to_json()), read.config);
    assert_eq!(resolved.operands()[1].color, Some(Color::Vmem));
    assert_eq!(resolved.operands()[1].buffers, Some(1));
    assert_eq!(resolved.scratch()[1].resolved, Some(Resolved::SEMAPHORE_MEM));
    assert_eq!(resolved.core_type(), CoreType::Tc);
}

#[test]
fn without_a_chip_nothing_is_assumed() {
    let kernel = r#"{"core_type": "tc", "operands": [
        {"role": "in", "array_shape": [1000000, 1000000], "dtype": "float32"},
        {"role": "in", "array_shape": [5000], "block_shape": [1000], "dtype": "bfloat16",
         "space": "cmem"}]}"#;
    let report = report(kernel);
    assert!(report.fit.is_none() && report.operands[0].bytes.is_none());
    let codes: Vec<_> = faults(&report).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["BlockedWithoutGrid"], "neither the bytes nor the tile of rank 1");
}

#[test]
fn bytes_of_a_dynamic_axis_are_double_and_colors_count_its_bound() {
    let x = Operand::input("x", [512, 256], Dtype::Float32).annotated(MemorySpace::HBM);
    let kernel = Kernel::pipelined(CoreType::Tc)
        .on(Chip::V5e)
        .dynamic_grid([None])
        .operand(x.block([128, 256]).index_map([Some(0), None]));
    let resolved = kernel.resolve().unwrap();
    assert_eq!(resolved.operands()[0].buffers, Some(2));
    let config = resolved.config(LibtpuVersion::NEWEST).to_json();
    assert!(config.contains(r#""input_memory_space_colors": [{"operand_index":1,"color":0}]"#));
}

#[test]
fn an_unpipelined_kernel_takes_its_refs_as_they_lie() {
    let mesh = || MeshSpec::vector_subcores("c", "s");
    let kernel = Kernel::unpipelined(mesh())
        .on(Chip::Tpu7x)
        .operand(Operand::input("x", [512, 256], Dtype::Float32))
        .scratch(Scratch::new("v", MemorySpace::VMEM, [128], Dtype::Float32));
    let resolved = kernel.resolve().unwrap();
    assert_eq!(resolved.operands()[0].resolved, Some(Resolved::HBM), "as JAX's mesh has it");
    assert!(resolved.operands()[0].windowed);
    let fit = resolved.fit().unwrap();
    assert_eq!(fit.vmem_bytes, None);
    assert_eq!(fit.sparse_core_bytes, Some(16 * 512));

    // 2046 words are there, in steps of 128.
    let scalars = |words| {
        let scratch = Scratch::new("s", MemorySpace::SMEM, [words], Dtype::Int32);
        faults(&Kernel::unpipelined(mesh()).on(Chip::Tpu7x).scratch(scratch).check())
    };
    assert_eq!(scalars(1920), []);
    assert_eq!(scalars(2046), [("SmemOverflow".to_owned(), "scratch.s".to_owned())]);

    let x = Operand::input("x", [512, 256], Dtype::Float32);
    let on_tensor_cores = Kernel::unpipelined(MeshSpec::tensor_cores("c")).operand(x).check();
    assert_eq!(on_tensor_cores.operands[0].resolved, Some(Resolved::ANY));

    let told = faults(&Kernel::unpipelined(mesh().cores(9)).on(Chip::Tpu7x).check());
    assert_eq!(told, [("TooManyCores".to_owned(), "mesh.num_cores".to_owned())]);
    let told = faults(&Kernel::unpipelined(mesh().subcores(0)).check());
    assert_eq!(told, [("MeshWithoutCores".to_owned(), "mesh.num_subcores".to_owned())]);
}

#[test]
fn a_word_that_no_parameter_takes_is_reported_with_the_rest() {
    let report = report(
        r#"{"core_type": "tc", "grid": [2, 2], "operands": [], "params": {
            "dimension_semantics": ["parallel", "sequential", "Parallel"],
            "has_side_effects": "none", "opt_level": "O4", "use_tc_tiling_on_sc": true}}"#,
    );
    let told = |code: &str, place: &str| (code.to_owned(), format!("params.{place}"));
    let expected = [
        told("UnknownParamWord", "dimension_semantics[1]"),
        told("UnknownParamWord", "dimension_semantics[2]"),
        told("UnknownParamWord", "has_side_effects"),
        told("UnknownParamWord", "opt_level"),
        told("TcTilingFlagOnTensorCore", "use_tc_tiling_on_sc"),
    ];
    assert_eq!(faults(&report), expected);
    let fault = report.diagnostics.iter().next().unwrap();
    assert!(fault.message.starts_with("unknown dimension semantics: sequential; expected one of"));
}

#[test]
fn null_is_as_good_as_absent_wherever_a_field_may_be_absent() {
    let absent = report(
        r#"{"core_type": "tc", "operands": [], "scratch": [{"semaphore": "dma"}],
            "cost_estimate": {"flops": 1, "transcendentals": 2, "bytes_accessed": 3}}"#,
    );
    let null = report(
        r#"{"name": null, "chip": null, "core_type": "tc", "mesh": null, "grid": null,
            "scalar_prefetch": null, "operands": [],
            "scratch": [{"name": null, "shape": null, "dtype": null, "space": null,
                         "semaphore": "dma"}],
            "aliases": null, "params": null, "custom_barrier": null, "has_communication": null,
            "cost_estimate": {"flops": 1, "transcendentals": 2, "bytes_accessed": 3,
                              "remote_bytes_transferred": null},
            "accesses": null, "body_base64": null}"#,
    );
    assert_eq!(format!("{null:?}"), format!("{absent:?}"));
    let without = r#"{"core_type": "tc", "operands": []}"#;
    let nulls = r#"{"core_type": "tc", "operands": [], "scratch": null, "cost_estimate": null}"#;
    assert_eq!(format!("{:?}", report(nulls)), format!("{:?}", report(without)));
}

/// Where JAX refuses one thing and libtpu another, as they answered for 7x, v5p and v5e.
#[test]
fn a_mesh_is_taken_where_jax_and_the_compiler_take_it() {
    let on = |mesh: &str, operand: &str| {
        let report = report(&format!(
            r#"{{"chip": "7x", "mesh": {mesh}, "operands": [
                {{"name": "x", "role": "in", "array_shape": [64, 128], "dtype": "float32"{operand}}},
                {{"name": "o", "role": "out", "array_shape": [64, 128], "dtype": "float32"}}],
                "scratch": [{{"name": "t", "space": "vmem_shared", "shape": [64, 128],
                              "dtype": "float32"}}],
                "accesses": [{{"op": "dma", "src": "o", "dst": "t"}},
                             {{"op": "dma", "src": "t", "dst": "o"}}]}}"#
        ));
        faults(&report)
    };
    let scalar = r#"{"core_type": "sc_scalar_subcore", "axis": "c"}"#;
    let vector = r#"{"core_type": "sc_vector_subcore", "core_axis": "c", "subcore_axis": "s"}"#;
    // A ref of which nothing is said lies in hbm, the mesh's default, and is copied from there.
    assert_eq!(on(scalar, ""), []);
    assert_eq!(on(vector, ""), []);
    assert_eq!(on(vector, r#", "space": "vmem""#), []);
    assert_eq!(on(scalar, r#", "space": "smem""#), []);
    let refused = [("WindowSpaceUnsupported".to_owned(), "operands.x.space".to_owned())];
    assert_eq!(on(vector, r#", "space": "smem""#), refused);
    assert_eq!(on(vector, r#", "space": "host""#), refused);
    let alike = r#"{"core_type": "sc_vector_subcore", "core_axis": "c", "subcore_axis": "c"}"#;
    let named = [("MeshAxisNameClash".to_owned(), "mesh.subcore_axis".to_owned())];
    assert_eq!(on(alike, ""), named);

    let tensor_cores = |cores, space| {
        let x = Operand::input("x", [8, 128], Dtype::Float32).space(space);
        let mesh = MeshSpec::tensor_cores("c").cores(cores);
        faults(&Kernel::unpipelined(mesh).on(Chip::V5p).operand(x).check())
    };
    assert_eq!(tensor_cores(2, MemorySpace::VMEM), refused);
    assert_eq!(tensor_cores(1, MemorySpace::VMEM), []);
    assert_eq!(tensor_cores(2, MemorySpace::SMEM), []);
}

#[test]
fn every_axis_of_a_mesh_is_looked_at() {
    let asked = |cores, subcores| {
        let mesh = MeshSpec::vector_subcores("c", "s").cores(cores).subcores(subcores);
        let on_chip = Kernel::unpipelined(mesh.clone()).on(Chip::Tpu7x).check();
        let anywhere = Kernel::unpipelined(mesh).check();
        [faults(&on_chip), faults(&anywhere)]
    };
    let told = |code: &str, field: &str| (code.to_owned(), format!("mesh.{field}"));
    let [on_chip, anywhere] = asked(9, 99);
    let cores = told("TooManyCores", "num_cores");
    assert_eq!(on_chip, [cores, told("TooManyCores", "num_subcores")]);
    assert_eq!(anywhere, []);
    let [on_chip, anywhere] = asked(0, 0);
    let none = [told("MeshWithoutCores", "num_cores"), told("MeshWithoutCores", "num_subcores")];
    assert_eq!(on_chip, none);
    assert_eq!(anywhere, none);
}

/// The texts are JAX's, of such kernels.
#[test]
fn a_sparse_core_mesh_of_one_core_is_marked_as_such() {
    let config = |mesh: MeshSpec| {
        let kernel = Kernel::unpipelined(mesh).on(Chip::V6e);
        kernel.check().config.unwrap()
    };
    let marked = "{\"custom_call_config\": {\"body\": \"\", \"serialization_format\": 1, \
                  \"needs_layout_passes\": true}, \"sparse_core_config\": {\n\"core_ids\":[\n\"0\"\n],\n\
                  \"tiling\":\"TILING_COMPACT\"\n}, \"device_type\": \"DEVICE_TYPE_SPARSECORE\"}";
    assert_eq!(config(MeshSpec::scalar_subcores("c").cores(1)), marked);
    assert_eq!(config(MeshSpec::vector_subcores("c", "s").cores(1).subcores(4)), marked);
    for two in [MeshSpec::scalar_subcores("c").cores(2), MeshSpec::vector_subcores("c", "s")] {
        assert!(!config(two).contains("core_ids"), "v6e has two");
    }
    assert!(!config(MeshSpec::tensor_cores("c").cores(1)).contains("core_ids"));
    let somewhere = Kernel::unpipelined(MeshSpec::scalar_subcores("c")).check();
    assert!(!somewhere.config.unwrap().contains("core_ids"), "no chip, no count");
}

/// Of a chip without SparseCores no more is asked than that it has some.
#[test]
fn a_core_that_is_not_there_is_the_one_fault() {
    let kernel = |chip| {
        let report = report(&format!(
            r#"{{"chip": "{chip}", "core_type": "sc_scalar_subcore", "grid": [2],
                "scalar_prefetch": [{{"name": "n", "shape": [4], "dtype": "int32"}}],
                "operands": [
                  {{"name": "x", "role": "in", "array_shape": [64, 128], "dtype": "float32",
                    "space": "vmem"}},
                  {{"name": "b", "role": "in", "array_shape": [64, 128], "dtype": "float32",
                    "space": "smem", "block_shape": [7, 128], "index_map": [5, null]}}],
                "scratch": [{{"name": "t", "space": "any", "shape": [8], "dtype": "float32"}}],
                "accesses": [{{"op": "load", "ref": "n", "shape": "vector"}}]}}"#
        ));
        faults(&report).into_iter().map(|(code, _)| code).collect::<Vec<_>>()
    };
    assert_eq!(kernel("v5e"), ["NoSparseCores", "IndexMapAxisOutOfRange"]);
    let there = [
        "SpaceNotOnCore",
        "BlockNotTileAligned",
        "IndexMapAxisOutOfRange",
        "ScratchSpaceUnsupported",
        "IllegalAccess",
    ];
    assert_eq!(kernel("7x"), there);
}

/// Only a fault of where a ref lies keeps its bytes and its accesses from being told.
#[test]
fn a_fault_of_something_else_hides_nothing() {
    let report = report(
        r#"{"chip": "v6e", "core_type": "tc", "grid": [4],
            "operands": [
              {"name": "x", "role": "in", "array_shape": [64, 128], "dtype": "int32",
               "space": "smem", "block_shape": [16, 128], "index_map": [0, null], "buffers": -3},
              {"name": "y", "role": "in", "array_shape": [64, 128], "dtype": "int32",
               "block_shape": [16, 128], "index_map": [9, null]},
              {"name": "z", "role": "in", "array_shape": [64, 128], "dtype": "int32",
               "block_shape": [7, 128], "index_map": [0, null]},
              {"name": "c", "role": "in", "array_shape": [64, 128], "dtype": "int32",
               "space": "cmem"}],
            "scratch": [{"name": "a", "space": "acc(0)", "shape": [8, 256], "dtype": "int8"}],
            "accesses": [{"op": "load", "ref": "x", "shape": "vector"},
                         {"op": "store", "ref": "y", "shape": "scalar"},
                         {"op": "store", "ref": "z", "shape": "scalar"},
                         {"op": "load", "ref": "c", "shape": "vector"},
                         {"op": "load", "ref": "a", "shape": "vector"}]}"#,
    );
    let codes: Vec<_> = faults(&report).into_iter().map(|(code, _)| code).collect();
    let expected = [
        "BufferCountUnsupported",
        "IndexMapAxisOutOfRange",
        "BlockNotTileAligned",
        "SpaceNotOnCore",
        "AccumulatorDtype",
        "IllegalAccess",
        "IllegalAccess",
        "IllegalAccess",
    ];
    assert_eq!(codes, expected);
    assert!(report.diagnostics.iter().any(|it| it.message == "a window of -3 buffers"));
    let said = |index: usize| {
        let operand = &report.operands[index];
        (operand.windowed, operand.buffers, operand.bytes)
    };
    assert_eq!(said(0), (true, Some(2), Some(16 * 512)));
    assert_eq!(said(1), (true, Some(2), Some(16 * 512)));
    assert_eq!(said(2), (true, Some(2), None));
    assert_eq!(said(3), (true, Some(1), None));
}

#[test]
fn buffers_are_told_without_a_chip_unless_they_are_the_chips_to_tell() {
    let buffers = |chip: &str, semantics: &str| {
        let report = report(&format!(
            r#"{{{chip} "core_type": "tc", "grid": [2], "operands": [
                {{"role": "in", "array_shape": [64, 128], "dtype": "int32",
                  "block_shape": [32, 128], "index_map": [0, null]}},
                {{"role": "in", "array_shape": [64, 128], "dtype": "int32", "buffers": 2}},
                {{"role": "in", "array_shape": [64, 128], "dtype": "int32", "space": "any"}}],
                "params": {{"dimension_semantics": ["{semantics}"]}}}}"#
        ));
        report.operands.iter().map(|operand| operand.buffers).collect::<Vec<_>>()
    };
    assert_eq!(buffers("", "arbitrary"), [Some(2), Some(1), None]);
    assert_eq!(buffers("", "parallel"), [None, Some(1), None], "one step a core, if it has two");
    assert_eq!(buffers(r#""chip": "v5p","#, "parallel"), [Some(1), Some(1), None]);
    assert_eq!(buffers(r#""chip": "v5e","#, "parallel"), [Some(2), Some(1), None]);
}

#[test]
fn a_window_on_an_array_in_vmem_has_a_buffer_that_costs_nothing() {
    for shape in [vec![1], vec![8, 128]] {
        let x = Operand::input("x", shape, Dtype::Int32).annotated(MemorySpace::VMEM);
        let report = Kernel::pipelined(CoreType::Tc).on(Chip::V5e).operand(x).check();
        assert!(report.operands[0].bytes.is_some_and(|bytes| bytes > 0));
        assert_eq!(report.fit.unwrap().vmem_bytes, Some(0));
    }
}

#[test]
fn an_array_that_stays_in_place_has_no_buffer_though_it_may_cost_one() {
    let report = report(
        r#"{"chip": "v5e", "core_type": "tc", "operands": [
              {"name": "x", "role": "in", "array_shape": [1], "dtype": "int32", "space": "any"}],
            "scratch": [{"name": "t", "space": "vmem", "shape": [1], "dtype": "int32"}],
            "accesses": [{"op": "dma", "src": "x", "dst": "t"}]}"#,
    );
    assert_eq!(report.operands[0].bytes, None);
    assert_eq!(report.fit.unwrap().vmem_bytes, Some(512 + 512));
}

#[test]
fn indices_may_be_a_vector() {
    let copy = |mode: &str, indices: &str| {
        let report = report(&format!(
            r#"{{"chip": "7x", "core_type": "sc_vector_subcore", "operands": [
                {{"name": "x", "role": "in", "array_shape": [64, 128], "dtype": "float32",
                  "space": "hbm", "annotated": "hbm"}}],
                "scratch": [
                  {{"name": "t", "space": "vmem", "shape": [16, 128], "dtype": "float32"}},
                  {{"name": "i", "space": "smem", "shape": [16], "dtype": "int32"}}],
                "accesses": [
                  {{"op": "dma", "src": "x", "dst": "t", "mode": "{mode}"{indices}}}]}}"#
        ));
        faults(&report).into_iter().map(|(code, _)| code).collect::<Vec<_>>()
    };
    assert_eq!(copy("gather", ""), [""; 0]);
    assert_eq!(copy("gather", r#", "indices": "i""#), ["IllegalCopy"]);
    assert_eq!(copy("gather", r#", "indices": "j""#), ["UnknownRef"]);
    assert_eq!(copy("copy", r#", "indices": "i""#), ["IllegalCopy"]);
}

#[test]
fn colors_are_told_though_an_alias_is_wrong() {
    let report = report(
        r#"{"core_type": "tc", "operands": [
              {"name": "x", "role": "in", "array_shape": [8], "dtype": "int32", "annotated": "hbm"},
              {"name": "y", "role": "in", "array_shape": [8], "dtype": "int32", "annotated": "vmem"},
              {"name": "o", "role": "out", "array_shape": [8], "dtype": "int32"},
              {"name": "p", "role": "out", "array_shape": [8], "dtype": "int32", "annotated": "hbm"}],
            "aliases": [[0, 0], [7, 1], [1, 1]]}"#,
    );
    let colors: Vec<_> = report.operands.iter().map(|operand| operand.color).collect();
    let (hbm, vmem) = (Some(Color::Hbm), Some(Color::Vmem));
    assert_eq!(colors, [hbm, vmem, hbm, hbm]);
    let codes: Vec<_> = faults(&report).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["AliasIndexOutOfRange", "AliasMemorySpaceConflict"]);
}

/// As libtpu allocates on 7x, whose pool takes 512 KiB of vmem a subcore.
#[test]
fn what_a_sparse_core_keeps_of_operands_counts_in_its_memory() {
    let kernel = |rows: u64| {
        let x = Operand::input("x", [rows, 100], Dtype::Float32).space(MemorySpace::VMEM);
        let kernel = Kernel::unpipelined(MeshSpec::vector_subcores("c", "s")).on(Chip::Tpu7x);
        kernel.operand(x.annotated(MemorySpace::VMEM)).check()
    };
    let fits = kernel(512);
    assert_eq!(faults(&fits), []);
    assert_eq!((fits.operands[0].buffers, fits.operands[0].bytes), (Some(2), Some(512 * 512)));
    assert_eq!(fits.fit.unwrap().sparse_core_bytes, Some(16 * 2 * 512 * 512));
    let over = ("SparseCorePoolOverflow".to_owned(), "operands.x".to_owned());
    assert_eq!(faults(&kernel(520)), [over]);

    let scalars = |words: u64| {
        let x = Operand::input("x", [words], Dtype::Int32).space(MemorySpace::SMEM);
        let kernel = Kernel::unpipelined(MeshSpec::scalar_subcores("c")).on(Chip::Tpu7x);
        kernel.operand(x.annotated(MemorySpace::SMEM)).check()
    };
    assert_eq!(faults(&scalars(16_256)), []);
    let over = ("SmemOverflow".to_owned(), "operands.x".to_owned());
    assert_eq!(faults(&scalars(16_320)), [over]);

    let scratch = |access: &str| {
        let report = report(&format!(
            r#"{{"chip": "7x", "mesh": {{"core_type": "sc_vector_subcore", "core_axis": "c",
                 "subcore_axis": "s"}}, "operands": [
                {{"name": "x", "role": "in", "array_shape": [64, 128], "dtype": "int32"}}],
                "scratch": [
                 {{"name": "t", "space": "vmem", "shape": [64, 128], "dtype": "int32"}},
                 {{"name": "u", "space": "vmem", "shape": [64, 128], "dtype": "int32"}}],
                "accesses": [{access}]}}"#
        ));
        assert_eq!(report.scratch[1].bytes, Some(32_768));
        report.fit.unwrap().sparse_core_bytes
    };
    assert_eq!(scratch(""), Some(2 * 16 * 32_768), "nothing is said of accesses");
    let only_t = r#"{"op": "dma", "src": "x", "dst": "t"}"#;
    assert_eq!(scratch(only_t), Some(16 * 32_768), "u is not used");
}

#[test]
fn input_that_cannot_be_used_says_where_and_what() {
    for (json, at, column, told) in [
        (r#"{"core_type": "tc"}"#, "", 1, "missing field `operands`"),
        (r#"{"operands": []}"#, "", 1, "missing field `core_type` or `mesh`"),
        (
            r#"{"core_type": "tc", "operands": {}}"#,
            "operands",
            33,
            "an object where a list belongs",
        ),
        (r#"{"core_type": "tc", "operands": [], "grdi": []}"#, "grdi", 37, "unknown field `grdi`"),
        (
            r#"{"core_type": "tc", "operands": [], "grid": [-1]}"#,
            "grid[0]",
            46,
            "`-1` where an integer from 0 to 2^64 - 1 belongs",
        ),
        (
            r#"{"core_type": "tc", "operands": [{"role": "inout", "array_shape": [], "dtype": "int8"}]}"#,
            "operands[0].role",
            43,
            "`\"inout\"` where \"in\" or \"out\" belongs",
        ),
        (
            r#"{"core_type": "tc", "operands": [{"role": "in", "array_shape": [1], "dtype": "int8", "block_shape": ["x"]}]}"#,
            "operands[0].block_shape[0]",
            102,
            "`\"x\"` where an extent, null for a squeezed dimension, or {\"element\": extent} belongs",
        ),
        (
            r#"{"core_type": "tc", "operands": [], "scratch": [{"shape": [1]}]}"#,
            "scratch[0]",
            49,
            "missing field `dtype` or `semaphore`",
        ),
        (
            r#"{"core_type": "tc", "operands": [], "accesses": [{"op": "dma", "src": "x"}]}"#,
            "accesses[0]",
            50,
            "missing field `dst`",
        ),
        (
            r#"{"core_type": "tc", "operands": [], "body_base64": "?"}"#,
            "body_base64",
            52,
            "`\"?\"` where a string of base64 belongs",
        ),
        (
            r#"{"core_type": "tc", "operands": [{"role": "in", "array_shape": [8], "dtype": "int8", "block_shape": [{"element": 8, "element": 4}]}]}"#,
            "operands[0].block_shape[0].element",
            117,
            "the field `element` is there twice",
        ),
        (
            r#"{"core_type": "tc", "operands": [], "params": {"flags": {"a": 1, "a": 2}}}"#,
            "params.flags.a",
            66,
            "the field `a` is there twice",
        ),
        (
            r#"{"core_type": "tc", "operands": [], "params": {"has_side_effects": 1}}"#,
            "params.has_side_effects",
            68,
            "`1` where true, false, or a kind of side effects as a string belongs",
        ),
        (r#"{"core_type": "tc", "operands": ["#, "", 33, "`[` is never closed"),
        ("\u{feff}{}", "", 1, "`\\u{feff}` where a value belongs"),
        ("7", "", 1, "`7` where an object belongs"),
        ("[7]", "", 2, "`7` where an object belongs"),
    ] {
        let fault = refusal(json);
        assert_eq!((&*fault.at.to_string(), fault.span.column), (at, column), "{json}: {fault}");
        let colon = if at.is_empty() { "" } else { ": " };
        assert_eq!(fault.to_string(), format!("1:{column}: {at}{colon}{told}"));
    }
    assert!(Kernels::new("").next().is_none() && Kernels::new("[]").next().is_none());
}

#[test]
fn a_deep_or_a_long_kernel_is_read_in_bounded_time() {
    let open = "[".repeat(1_000_000);
    refusal(&open);
    refusal(&format!(r#"{{"core_type": "tc", "operands": [], "cost_estimate": {open}"#));
    let close = "]".repeat(1_000_000);
    let flag = format!(
        r#"{{"core_type": "tc", "operands": [], "params": {{"flags": {{"a": {open}{close}}}}}}}"#
    );
    assert_eq!(report(&flag).diagnostics.iter().count(), 1);

    let operand = r#"{"role": "in", "array_shape": [512, 256], "block_shape": [7, 256],
                      "dtype": "float32", "buffers": 9}"#;
    let operands = vec![operand; 100_000].join(",");
    let report = report(&format!(
        r#"{{"core_type": "tc", "chip": "v5e", "grid": [4], "operands": [{operands}]}}"#
    ));
    assert_eq!(report.diagnostics.iter().count(), 200_000);

    // Not once through the grid for each operand.
    let x = || {
        let x = Operand::input("", [8, 128], Dtype::Int8).space(MemorySpace::SMEM);
        x.index_entries([IndexEntry::Other, IndexEntry::Zero])
    };
    let long = Kernel::pipelined(CoreType::Tc).on(Chip::V5e).grid(vec![1; 50_000]);
    let report = (0..50_000).fold(long, |kernel, _| kernel.operand(x())).check();
    assert_eq!(report.operands[0].buffers, Some(1), "one step in all");
}

#[test]
fn sizes_that_no_number_holds_are_reported_at_their_refs() {
    let report = report(
        r#"{"core_type": "tc", "chip": "v5e", "operands": [
            {"name": "x", "role": "in", "array_shape": [18446744073709551615, 9223372036854775808],
             "dtype": "float32"},
            {"name": "y", "role": "in", "array_shape": [18446744073709551615, 9223372036854775808],
             "dtype": "float32", "space": "hbm", "annotated": "hbm"}],
            "scratch": [{"name": "s", "space": "smem", "shape": [18446744073709551615, 2, 3],
                         "dtype": "int8"}]}"#,
    );
    let told = faults(&report);
    let at = |place: &str| ("SizeOverflow".to_owned(), place.to_owned());
    assert_eq!(told, [at("operands.x"), at("scratch.s")]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_kernels_or_refused(text in r#"[\[\]{}",:a-z0-9_ \n-]{0,200}"#) {
        let mut read = 0_u32;
        for kernel in Kernels::new(&text) {
            read = read.saturating_add(1);
            if let Ok(described) = kernel {
                described.kernel.check();
            }
        }
        prop_assert!(read < 400);
    }

    #[test]
    fn a_changed_kernel_is_checked_or_refused(at in 0..1200_usize, byte in any::<u8>()) {
        let mut bytes = include_bytes!("kernels/scale.json").to_vec();
        let at = at.checked_rem(bytes.len()).unwrap();
        bytes[at] = byte;
        if let Ok(text) = String::from_utf8(bytes) {
            for mut described in Kernels::new(&text).flatten() {
                let report = described.kernel.check();
                for fault in &report.diagnostics {
                    described.span(&fault.at);
                }
            }
        }
    }
}

/// What the body allocates counts as its windows do, and what a pipeline does with its
/// buffers; each as libtpu counts them.
#[test]
fn scoped_scratch_and_pipelines_are_counted() {
    let kernel = |spec: &str| {
        let json = format!(
            r#"{{"core_type": "tc", "chip": "v5e", "grid": [2],
            "operands": [
              {{"name": "x", "role": "in", "array_shape": [512, 256], "dtype": "float32", "space": "hbm"}},
              {{"name": "o", "role": "out", "array_shape": [512, 256], "dtype": "float32", "space": "any"}}],
            "scratch": [{{"name": "t", "space": "vmem", "shape": [1], "dtype": "float32", "scoped": true}}],
            "pipelines": [{{"grid": [4], "operands": [{spec}]}}]}}"#
        );
        Kernels::new(&json).next().unwrap().unwrap().kernel
    };
    let block = r#""block_shape": [128, 256], "index_map": [0, null]"#;
    let of = |spec: &str| {
        let report = kernel(spec).check();
        let codes = report.diagnostics.iter().map(|it| (it.code.as_str(), it.at.to_string()));
        let bytes = report.fit.and_then(|fit| fit.vmem_bytes).unwrap_or_default();
        (
            bytes,
            codes
                .map(|(code, at)| (code.to_owned(), at))
                .filter(|(code, _)| code != "HbmSpecUncolored")
                .collect::<Vec<_>>(),
        )
    };
    let at = |field: &str| format!("pipelines[0].operands[0].{field}");
    for (spec, buffers) in [
        (format!(r#"{{"ref": "x", {block}}}"#), 2),
        (format!(r#"{{"ref": "x", {block}, "buffers": 5}}"#), 5),
        (format!(r#"{{"ref": "x", {block}, "space": "hbm"}}"#), 0),
        (r#"{"ref": "x"}"#.to_owned(), 4),
    ] {
        assert_eq!(of(&spec), (1024 + buffers * 128 * 256 * 4, vec![]), "{spec}");
    }
    for (spec, code, field) in [
        (r#"{"ref": "y"}"#.to_owned(), "UnknownRef", "ref"),
        (r#"{"ref": "x", "block_shape": [128]}"#.to_owned(), "RankMismatch", "block_shape"),
        (format!(r#"{{"ref": "x", {block}, "space": "cmem"}}"#), "EmitPipelineSpace", "space"),
        (format!(r#"{{"ref": "x", {block}, "buffers": 0}}"#), "BufferCountUnsupported", "buffers"),
        (
            r#"{"ref": "x", "block_shape": [128, 256], "index_map": [1, null]}"#.to_owned(),
            "IndexMapAxisOutOfRange",
            "index_map",
        ),
    ] {
        assert_eq!(of(&spec), (1024, vec![(code.to_owned(), at(field))]), "{spec}");
        let kernel = kernel(&spec);
        let again = kernel.to_json().unwrap();
        assert_eq!(Kernels::new(&again).next().unwrap().unwrap().kernel, kernel);
    }
}
