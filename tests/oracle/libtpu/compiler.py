"""JAX and libtpu, set up to lower and compile for one chip that is not there."""

import re

import jax
import numpy
from jax._src import compiler as jax_compiler
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir
from jax._src.pallas.mosaic.error_handling import MosaicError
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from chips import TOPOLOGIES
from spaces import InHost

# Nothing is moved into VMEM, where a window on it would cost nothing.
OPTIONS = {"xla_msa_enable": False}

REFUSALS = (jax.errors.JaxRuntimeError, ir.MLIRError, MosaicError)

USED = re.compile(
    r'custom_call_target="tpu_custom_call".*"used_scoped_memory_configs":\[([^\]]*)\]'
)
VMEM_SIZE = re.compile(r'"memory_space":"1","offset":"\d+","size":"(\d+)"')


class Compiler:
    def __init__(self, chip: str):
        topology = topologies.get_topology_desc(topology_name=TOPOLOGIES[chip], platform="tpu")
        self.device = topology.devices[0]
        self.mesh = Mesh(numpy.array([self.device]), ("x",))

    def lower(self, kernel):
        """`kernel()` gives a function and the shapes of its arguments.

        It is called where JAX knows the chip: some kernels ask JAX about it.
        One without arguments and results would be lowered for the CPU.
        """
        everywhere = NamedSharding(self.mesh, PartitionSpec())
        with jax.sharding.use_abstract_mesh(self.mesh.abstract_mesh):
            function, arguments = kernel()
            places = tuple(
                everywhere.with_memory_kind("pinned_host" if isinstance(it, InHost) else "device")
                for it in arguments
            )
            jitted = jax.jit(function, in_shardings=places, out_shardings=everywhere)
            return jitted.trace(*arguments).lower(lowering_platforms=("tpu",))

    def compile(self, lowered):
        with jax.sharding.use_abstract_mesh(self.mesh.abstract_mesh):
            return lowered.compile(compiler_options=OPTIONS)

    def compile_text(self, stablehlo: str) -> None:
        with mlir.make_ir_context():
            module = ir.Module.parse(stablehlo)
            options = jax_compiler.get_compile_options(
                num_replicas=1,
                num_partitions=1,
                device_assignment=numpy.array([[self.device]]),
                env_options_overrides=dict(OPTIONS),
                backend=self.device.client,
            )
            devices = xla_client.DeviceList((self.device,))
            self.device.client.compile(module, devices, compile_options=options)


def vmem_used(compiled) -> int:
    """The VMEM that the compiled module's one kernel uses, in bytes."""
    (used,) = USED.findall(compiled.as_text())
    return sum(int(size) for size in VMEM_SIZE.findall(used))
