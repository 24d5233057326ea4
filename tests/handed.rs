//! The function and the call of a kernel, against what JAX 0.12.0.1 lowers.
//!
//! The expected texts are what `print(module)` shows of JAX's own lowering of the same
//! kernels; only their affine maps, which MLIR prints by name, stand in their places.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use mosaic_memspace::custom_call::{
    CompilerParams, DimensionSemantics, LibtpuVersion, SideEffects, ValueName,
};
use mosaic_memspace::kernel::{ArgumentKind, Function, Kernel, MeshSpec};
use mosaic_memspace::operand::{BlockDim, IndexEntry, Operand, Prefetch, Scratch, Semaphore};
use mosaic_memspace::{Chip, CoreType, Dtype, MemorySpace};

const F32: Dtype = Dtype::Float32;

fn function(kernel: &Kernel) -> Function {
    kernel.resolve().unwrap().function().unwrap()
}

fn rows(operand: Operand) -> Operand {
    operand.block([128, 256]).index_map([Some(0), None])
}

fn every_kind_of_argument() -> Kernel {
    let input = |name: &str| Operand::input(name, [512, 256], F32);
    let mut params = CompilerParams::default();
    params.dimension_semantics =
        Some(vec![DimensionSemantics::Parallel, DimensionSemantics::Arbitrary]);
    let squeezed = [BlockDim::Squeezed, BlockDim::Blocked(128), BlockDim::Blocked(256)];
    let element = [BlockDim::Element(128), BlockDim::Element(256)];
    Kernel::pipelined(CoreType::Tc)
        .named("all")
        .grid([4, 2])
        .params(params)
        .prefetch(Prefetch::new("n", [4], Dtype::Int32))
        .operand(rows(Operand::output("o", [512, 256], F32)))
        .operand(Operand::input("s", [4], F32).space(MemorySpace::SMEM))
        .operand(rows(input("x")))
        .operand(Operand::input("q", [2, 128, 256], F32).block_dims(squeezed).index_map([
            Some(1),
            None,
            None,
        ]))
        .operand(
            input("e").block_dims(element).index_entries([IndexEntry::Other, IndexEntry::Zero]),
        )
        .operand(Operand::input("b", [128, 256], F32).buffers(1))
        .operand(input("y").space(MemorySpace::ANY))
        .scratch(Scratch::new("t", MemorySpace::VMEM, [128, 256], F32))
        .scratch(Scratch::new("w", MemorySpace::SMEM, [4], Dtype::Int32))
        .scratch(Scratch::semaphore("sem", Semaphore::Dma, [2]))
        .scratch(Scratch::semaphore("rsem", Semaphore::Regular, []))
        .scratch(Scratch::new("m", MemorySpace::VMEM, [8, 128], Dtype::Bool))
        .alias(2, 0)
}

#[test]
fn a_kernel_with_a_grid() {
    let function = function(&every_kind_of_argument());
    assert_eq!(
        function.to_string(),
        "func.func @all(%arg0: i32, %arg1: i32, %arg2: memref<4xi32, #tpu.memory_space<smem>>, %arg3: memref<4xf32, #tpu.memory_space<smem>>, %arg4: memref<128x256xf32, #tpu.memory_space<vmem>>, %arg5: memref<1x128x256xf32, #tpu.memory_space<vmem>>, %arg6: memref<128x256xf32, #tpu.memory_space<vmem>>, %arg7: memref<128x256xf32, #tpu.memory_space<vmem>>, %arg8: memref<512x256xf32, #tpu.memory_space<any>>, %arg9: memref<128x256xf32, #tpu.memory_space<vmem>>, %arg10: memref<128x256xf32, #tpu.memory_space<vmem>>, %arg11: memref<4xi32, #tpu.memory_space<smem>>, %arg12: memref<2x!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>, %arg13: memref<!tpu.semaphore, #tpu.memory_space<semaphore_mem>>, %arg14: memref<8x128xi32, #tpu.memory_space<vmem>>) attributes {dimension_semantics = [#tpu.dimension_semantics<parallel>, #tpu.dimension_semantics<arbitrary>], iteration_bounds = array<i64: 4, 2>, scalar_prefetch = 1 : i64, scratch_operands = 5 : i64, tpu.core_type = #tpu.core_type<tc>, window_params = [{transform_indices = @transform_0, window_bounds = array<i64: 4>}, {transform_indices = @transform_1, window_bounds = array<i64: 128, 256>}, {transform_indices = @transform_2, window_bounds = array<i64: 1, 128, 256>}, {transform_indices = @transform_3, window_bounds = array<i64: 128, 256>, window_kind = #tpu.element_window<[0, 0], [0, 0]>}, {pipeline_mode = #tpu.pipeline_mode<synchronous>, transform_indices = @transform_4, window_bounds = array<i64: 128, 256>}, {}, {transform_indices = @transform_6, window_bounds = array<i64: 128, 256>}]}"
    );
    // The values' names are JAX's; the names and kinds are the description's.
    let names: Vec<_> = function.arguments.iter().map(|it| it.name.as_str()).collect();
    let expected = ["grid0", "grid1", "n", "s", "x", "q", "e", "b", "y", "o"];
    assert_eq!(names.split_at(10), (&expected[..], &["t", "w", "sem", "rsem", "m"][..]));
    let kinds = function.arguments.iter().map(|it| it.kind.as_str());
    let expected = ["grid"; 2].into_iter().chain(["prefetch"]).chain(["operand"; 7]);
    assert!(kinds.eq(expected.chain(["scratch"; 5])));
    let scratch = function.arguments.iter().filter(|it| it.kind == ArgumentKind::Scratch);
    assert_eq!(scratch.count(), 5);
}

#[test]
fn the_transforms_of_a_kernel_with_a_grid() {
    let function = function(&every_kind_of_argument());
    let names: Vec<_> = function.transforms.iter().map(|it| it.name.as_str()).collect();
    let expected: Vec<_> = [0, 1, 2, 3, 4, 6].map(|number| format!("transform_{number}")).into();
    assert_eq!(names, expected);
    let takes = "(%arg0: i32, %arg1: i32, %arg2: memref<4xi32, #tpu.memory_space<smem>>)";
    let texts: Vec<_> = function.transforms.iter().map(|it| it.text.as_str()).collect();
    let zero = "%zero = arith.constant 0 : i32";
    assert_eq!(
        texts.split_at(4).0,
        [
            format!("func.func @transform_0{takes} -> i32 {{\n{zero}\nreturn %zero : i32\n}}"),
            format!(
                "func.func @transform_1{takes} -> (i32, i32) {{\n{zero}\n\
                 return %arg0, %zero : i32, i32\n}}"
            ),
            format!(
                "func.func @transform_2{takes} -> (i32, i32, i32) {{\n{zero}\n\
                 return %arg1, %zero, %zero : i32, i32, i32\n}}"
            ),
            "func.func private @transform_3(i32, i32, memref<4xi32, #tpu.memory_space<smem>>) \
             -> (i32, i32)"
                .to_owned(),
        ]
    );
    let clashing = every_kind_of_argument().named("transform_1");
    assert_eq!(self::function(&clashing).transforms[1].name, "index_map_1");
}

#[test]
fn a_kernel_without_a_grid() {
    let array = |name: &str| Operand::input(name, [8, 128], F32);
    let kernel = Kernel::pipelined(CoreType::Tc)
        .named("gridless")
        .operand(array("x").space(MemorySpace::VMEM))
        .operand(array("y").space(MemorySpace::ANY))
        .operand(array("h").space(MemorySpace::HBM))
        .operand(Operand::output("o", [8, 128], F32))
        .scratch(Scratch::new("t", MemorySpace::VMEM, [8, 128], Dtype::Bfloat16));
    let function = function(&kernel);
    assert_eq!(
        function.to_string(),
        "func.func @gridless(%arg0: memref<8x128xf32, #tpu.memory_space<vmem>>, %arg1: memref<8x128xf32, #tpu.memory_space<any>>, %arg2: memref<8x128xf32, #tpu.memory_space<hbm>>, %arg3: memref<8x128xf32, #tpu.memory_space<vmem>>, %arg4: memref<8x128xbf16, #tpu.memory_space<vmem>>) attributes {dimension_semantics = [], scalar_prefetch = 0 : i64, scratch_operands = 1 : i64, tpu.core_type = #tpu.core_type<tc>}"
    );
    assert!(function.transforms.is_empty());
    assert!(self::function(&kernel.named("a b")).to_string().starts_with("func.func @\"a b\"("));
}

#[test]
fn a_dynamic_grid_and_its_call() {
    let mut params = CompilerParams::default();
    params.has_side_effects = SideEffects::SideEffecting;
    let kernel = Kernel::pipelined(CoreType::Tc)
        .named("dynamic")
        .dynamic_grid([None, Some(2)])
        .operand(rows(Operand::input("x", [512, 256], F32)))
        .operand(rows(Operand::output("o", [512, 256], F32)))
        .params(params)
        .alias(0, 0);
    assert_eq!(
        function(&kernel).to_string(),
        "func.func @dynamic(%arg0: i32, %arg1: i32, %arg2: memref<128x256xf32, #tpu.memory_space<vmem>>, %arg3: memref<128x256xf32, #tpu.memory_space<vmem>>) attributes {dimension_semantics = [#tpu.dimension_semantics<arbitrary>, #tpu.dimension_semantics<arbitrary>], iteration_bounds = array<i64: -9223372036854775808, 2>, scalar_prefetch = 0 : i64, scratch_operands = 0 : i64, tpu.core_type = #tpu.core_type<tc>, window_params = [{transform_indices = @transform_0, window_bounds = array<i64: 128, 256>}, {transform_indices = @transform_1, window_bounds = array<i64: 128, 256>}]}"
    );
    assert_eq!(
        call(&kernel),
        r#"%0 = stablehlo.custom_call @tpu_custom_call(%arg0, %arg1) {backend_config = "{\22custom_call_config\22: {\22body\22: \22TUzvUg==\22, \22serialization_format\22: 1, \22needs_layout_passes\22: true}}", has_side_effect = true, kernel_name = "dynamic", mhlo.frontend_attributes = {kernel_metadata = "{}"}, operand_layouts = [dense<> : tensor<0xindex>, dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<i32>, tensor<512x256xf32>) -> tensor<512x256xf32>"#
    );
}

#[test]
fn the_call_of_a_kernel_with_prefetch_and_an_alias() {
    assert_eq!(
        call(&every_kind_of_argument()),
        r#"%0 = stablehlo.custom_call @tpu_custom_call(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6) {backend_config = "{\22custom_call_config\22: {\22body\22: \22TUzvUg==\22, \22serialization_format\22: 1, \22needs_layout_passes\22: true}}", kernel_name = "all", mhlo.frontend_attributes = {kernel_metadata = "{}"}, operand_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 2, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<4xi32>, tensor<4xf32>, tensor<512x256xf32>, tensor<2x128x256xf32>, tensor<512x256xf32>, tensor<128x256xf32>, tensor<512x256xf32>) -> tensor<512x256xf32>"#
    );
}

/// With bytecode for a body.
fn call(kernel: &Kernel) -> String {
    let names: Vec<_> = (0..10).map(|number| format!("%arg{number}")).collect();
    let value = |number: usize| ValueName::new(&names[number]).unwrap();
    kernel.resolve().unwrap().call(b"ML\xefR", LibtpuVersion::NEWEST, value).to_string()
}

#[test]
fn text_is_handed_over_without_a_serialization_format() {
    let kernel = Kernel::pipelined(CoreType::Tc);
    let resolved = kernel.resolve().unwrap();
    let format = |body: &[u8]| {
        let value = |_| ValueName::FIRST;
        resolved
            .call(body, LibtpuVersion::NEWEST, value)
            .to_string()
            .contains("serialization_format")
    };
    assert!(!format(b"module {}"));
    assert!(format(b"ML\xefR") && format(b"\xff\xfe") && format(b""));
}

#[test]
fn a_scalar_subcore_kernel() {
    let kernel = Kernel::unpipelined(MeshSpec::scalar_subcores("c").cores(2))
        .named("scalar")
        .operand(Operand::input("x", [1024], Dtype::Int32))
        .operand(Operand::output("o", [1024], Dtype::Int32))
        .scratch(Scratch::new("s", MemorySpace::SMEM, [8], Dtype::Int32))
        .scratch(Scratch::semaphore("sem", Semaphore::Dma, []));
    let expected = "func.func @scalar(%arg0: i32, %arg1: memref<1024xi32, #tpu.memory_space<hbm>>, %arg2: memref<1024xi32, #tpu.memory_space<hbm>>, %arg3: memref<8xi32, #tpu.memory_space<smem>>, %arg4: memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>) attributes {dimension_semantics = [#tpu.dimension_semantics<core_parallel>], iteration_bounds = array<i64: 2>, scalar_prefetch = 0 : i64, scratch_operands = 2 : i64, tpu.core_type = #tpu.core_type<sc_scalar_subcore>, window_params = [{transform_indices = affine_map<(d0) -> (0)>}, {transform_indices = affine_map<(d0) -> (0)>}]}";
    assert_eq!(function(&kernel).to_string(), expected);
    // The v6e has two.
    let mut of_chip = kernel.clone().on(Chip::V6e);
    assert_eq!(function(&of_chip).to_string(), expected);
    of_chip = Kernel::unpipelined(MeshSpec::scalar_subcores("c"));
    assert_eq!(of_chip.resolve().unwrap().function(), None);
}

#[test]
fn a_vector_subcore_kernel() {
    let kernel = Kernel::unpipelined(MeshSpec::vector_subcores("c", "s").cores(1).subcores(4))
        .named("vector")
        .operand(Operand::input("x", [1024], Dtype::Int32))
        .operand(Operand::output("o", [1024], Dtype::Int32))
        .operand(Operand::output("p", [8, 128], F32))
        .scratch(Scratch::new("v", MemorySpace::VMEM, [8], Dtype::Int32))
        .scratch(Scratch::new("w", MemorySpace::VMEM_SHARED, [128], F32))
        .scratch(Scratch::semaphore("sem", Semaphore::Dma, [2]))
        .scratch(Scratch::semaphore("r", Semaphore::Regular, []));
    assert_eq!(
        function(&kernel).to_string(),
        "func.func @vector(%arg0: i32, %arg1: i32, %arg2: memref<1024xi32, #tpu.memory_space<hbm>>, %arg3: memref<1024xi32, #tpu.memory_space<hbm>>, %arg4: memref<8x128xf32, #tpu.memory_space<hbm>>, %arg5: memref<8xi32, #tpu.memory_space<vmem>>, %arg6: memref<128xf32, #tpu.memory_space<vmem_shared>>, %arg7: memref<2x!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>, %arg8: memref<!tpu.semaphore, #tpu.memory_space<semaphore_mem>>) attributes {dimension_semantics = [#tpu.dimension_semantics<core_parallel>, #tpu.dimension_semantics<subcore_parallel>], iteration_bounds = array<i64: 1, 4>, scalar_prefetch = 0 : i64, scratch_operands = 4 : i64, tpu.core_type = #tpu.core_type<sc_vector_subcore>, window_params = [{transform_indices = affine_map<(d0, d1) -> (0)>}, {transform_indices = affine_map<(d0, d1) -> (0)>}, {transform_indices = affine_map<(d0, d1) -> (0, 0)>}]}"
    );
    let call = call(&kernel);
    assert!(call.contains("\\22device_type\\22: \\22DEVICE_TYPE_SPARSECORE\\22"), "{call}");
    assert!(
        call.ends_with(": (tensor<1024xi32>) -> (tensor<1024xi32>, tensor<8x128xf32>)"),
        "{call}"
    );
}

#[test]
fn a_tensor_core_mesh_kernel() {
    let kernel = Kernel::unpipelined(MeshSpec::tensor_cores("c").cores(1))
        .named("tc1")
        .operand(Operand::input("x", [8, 128], F32))
        .operand(Operand::output("o", [8, 128], F32));
    assert_eq!(
        function(&kernel).to_string(),
        "func.func @tc1(%arg0: i32, %arg1: memref<8x128xf32, #tpu.memory_space<any>>, %arg2: memref<8x128xf32, #tpu.memory_space<any>>) attributes {dimension_semantics = [#tpu.dimension_semantics<parallel>], iteration_bounds = array<i64: 1>, scalar_prefetch = 0 : i64, scratch_operands = 0 : i64, tpu.core_type = #tpu.core_type<tc>, window_params = [{}, {}]}"
    );
}

#[test]
fn an_accumulator_is_no_argument() {
    let acc = Scratch::new("acc", MemorySpace::Acc(0), [256, 256], F32);
    let kernel = Kernel::pipelined(CoreType::Tc).on(Chip::Tpu7x).scratch(acc);
    let function = function(&kernel);
    assert!(function.arguments.is_empty());
    assert!(function.attributes.contains(&("scratch_operands", "0 : i64".to_owned())));
}
