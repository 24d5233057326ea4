"""What a server can be asked: name → function of a compiler and an input."""

import re

import jax
from jax._src.pallas.mosaic.error_handling import VerificationError

import access_kernels
import fit_kernels
import place_kernels
from compiler import Compiler, vmem_used

# Only these, and with these words, are a refusal; anything else is a fault here.
JAX_REFUSES = (NotImplementedError, RuntimeError, ValueError, VerificationError)
JAX_SAYS = re.compile(
    "does not have SparseCores"
    "|(Get|Swap) (only supports|does not support)"
    "|(Loads|Loads and stores) are only allowed on"
    "|(Can only|Cannot) (load|store) scalars"
    "|(DMAs?|Scatter/gather|gather|scatter|Scatter from VMEM) (with|via) "
    "|'tpu.(vector_load|vector_store|memref_slice|enqueue_indirect_dma)' op "
)
COMPILER_SAYS = re.compile(
    "Scratch memref allocation only"
    "|Failed to convert (a )?memory space"
    "|Operand windows can only be requested in"
    "|Unimplemented DMA from"
    "|Cannot infer the memory space of"
    "|Targeting VMEM on MegaCore targets is ambiguous"
    "|Only semaphores can be allocated in semaphore memory space"
    "|must refer to core-local memory spaces"
    "|(does not|doesn't) support transfer"
    "|target.SupportsDmasBetweenMemorySpaces"
)
SMEM_SIZE = re.compile(r"Allocation \(size=(\d+)\) would exceed memory .*space=smem")
POOL_OVERFLOW = re.compile("E3000: CompileTimeSparseCoreAllocationFailure")


def vmem_fit(compiler: Compiler, value: dict) -> int:
    lowered = compiler.lower(lambda: fit_kernels.windows_and_scratch(value))
    return vmem_used(compiler.compile(lowered))


def smem_operand_bytes(compiler: Compiler, value: dict) -> int:
    lowered = compiler.lower(lambda: fit_kernels.smem_operand(value))
    try:
        compiler.compile(lowered)
    except jax.errors.JaxRuntimeError as error:
        if size := SMEM_SIZE.search(str(error)):
            return int(size[1])
        raise
    raise AssertionError("it fits, and the compiler only tells the size of what does not")


def sparse_core_pool(compiler: Compiler, value: dict) -> bool:
    lowered = compiler.lower(lambda: fit_kernels.sparse_core_scratch(value))
    return compiles(compiler, lowered, POOL_OVERFLOW)


def access(compiler: Compiler, value: dict) -> dict:
    return legality(compiler, lambda: access_kernels.access(value))


def dma(compiler: Compiler, value: dict) -> dict:
    return legality(compiler, lambda: access_kernels.copy(value))


def operand_space(compiler: Compiler, value: dict) -> dict:
    return {"legal": legality(compiler, lambda: place_kernels.operand(value))["legal"]}


def scratch_space(compiler: Compiler, value: dict) -> dict:
    return {"legal": legality(compiler, lambda: place_kernels.scratch(value))["legal"]}


def compile_call(compiler: Compiler, stablehlo: str) -> None:
    compiler.compile_text(stablehlo)


def legality(compiler: Compiler, kernel) -> dict:
    try:
        lowered = compiler.lower(kernel)
    except JAX_REFUSES as error:
        if not JAX_SAYS.search(str(error)):
            raise
        return {"legal": False, "jax_lowers": False}
    return {"legal": compiles(compiler, lowered, COMPILER_SAYS), "jax_lowers": True}


def compiles(compiler: Compiler, lowered, refusal: re.Pattern) -> bool:
    try:
        compiler.compile(lowered)
    except jax.errors.JaxRuntimeError as error:
        if not refusal.search(str(error)):
            raise
        return False
    return True


QUESTIONS = {
    "vmem_fit": vmem_fit,
    "smem_operand_bytes": smem_operand_bytes,
    "sparse_core_pool": sparse_core_pool,
    "access": access,
    "dma": dma,
    "operand_space": operand_space,
    "scratch_space": scratch_space,
    "compile_call": compile_call,
}
