#whole = affine_map<(core, subcore) -> (0)>
module @move {
  func.func @move(%core: i32, %subcore: i32, %x: memref<1024xi32, #tpu.memory_space<hbm>>, %o: memref<1024xi32, #tpu.memory_space<hbm>>, %part: memref<64xi32, #tpu.memory_space<vmem>>) attributes {dimension_semantics = [#tpu.dimension_semantics<core_parallel>, #tpu.dimension_semantics<subcore_parallel>], iteration_bounds = array<i64: 1, 16>, scratch_operands = 1 : i64, tpu.core_type = #tpu.core_type<sc_vector_subcore>, window_params = [{transform_indices = #whole}, {transform_indices = #whole}]} {
    %length = arith.constant 64 : i32
    %begin = arith.muli %subcore, %length : i32
    %from = tpu.memref_slice %x[%begin] : memref<1024xi32, #tpu.memory_space<hbm>> -> memref<64xi32, #tpu.memory_space<hbm>>
    %to = tpu.memref_slice %o[%begin] : memref<1024xi32, #tpu.memory_space<hbm>> -> memref<64xi32, #tpu.memory_space<hbm>>
    "tpu.region"() ({
      %done = tpu.sem_alloc : memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>
      tpu.enqueue_dma source(%from : memref<64xi32, #tpu.memory_space<hbm>>) target(%part : memref<64xi32, #tpu.memory_space<vmem>>) target_semaphore(%done : memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>)
      tpu.wait_dma source(%from : memref<64xi32, #tpu.memory_space<hbm>>) target(%part : memref<64xi32, #tpu.memory_space<vmem>>) target_semaphore(%done : memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>) {wait_target = true}
      tpu.enqueue_dma source(%part : memref<64xi32, #tpu.memory_space<vmem>>) target(%to : memref<64xi32, #tpu.memory_space<hbm>>) target_semaphore(%done : memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>)
      tpu.wait_dma source(%part : memref<64xi32, #tpu.memory_space<vmem>>) target(%to : memref<64xi32, #tpu.memory_space<hbm>>) target_semaphore(%done : memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>) {wait_target = true}
      tpu.yield
    }) : () -> ()
    return
  }
}
