"""What a server can be asked: name → function of a compiler and an input."""

import kernels
from compiler import Compiler, vmem_used


def vmem_fit(compiler: Compiler, value: dict) -> int:
    lowered = compiler.lower(lambda: kernels.windows_and_scratch(value))
    return vmem_used(compiler.compile(lowered))


QUESTIONS = {
    "vmem_fit": vmem_fit,
}
