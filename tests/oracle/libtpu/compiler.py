"""JAX and libtpu, set up to lower and compile for one chip that is not there."""

import re

import jax
import numpy
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from chips import TOPOLOGIES

USED = re.compile(
    r'custom_call_target="tpu_custom_call".*"used_scoped_memory_configs":\[([^\]]*)\]'
)
VMEM_SIZE = re.compile(r'"memory_space":"1","offset":"\d+","size":"(\d+)"')

# Nothing is moved into VMEM, where a window on it would cost nothing.
OPTIONS = {"xla_msa_enable": False}


class Compiler:
    def __init__(self, chip: str):
        self.chip = chip
        topology = topologies.get_topology_desc(topology_name=TOPOLOGIES[chip], platform="tpu")
        self.mesh = Mesh(numpy.array(topology.devices[:1]), ("x",))

    def lower(self, kernel):
        """`kernel()` gives a function and the shapes of its arguments.

        It is called where JAX knows the chip: some kernels ask JAX about it.
        """
        everywhere = NamedSharding(self.mesh, PartitionSpec())
        with jax.sharding.use_abstract_mesh(self.mesh.abstract_mesh):
            function, arguments = kernel()
            jitted = jax.jit(function, in_shardings=everywhere, out_shardings=everywhere)
            return jitted.trace(*arguments).lower(lowering_platforms=("tpu",))

    def compile(self, lowered):
        with jax.sharding.use_abstract_mesh(self.mesh.abstract_mesh):
            return lowered.compile(compiler_options=OPTIONS)


def vmem_used(compiled) -> int:
    """The VMEM that the compiled module's one kernel uses, in bytes."""
    (used,) = USED.findall(compiled.as_text())
    return sum(int(size) for size in VMEM_SIZE.findall(used))
