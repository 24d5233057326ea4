//! Loads, stores and copies.

use crate::line::Word;
use mosaic_memspace::error::Code;
use mosaic_memspace::kernel::{Kernel, MeshSpec};
use mosaic_memspace::operand::{Operand, Scratch};
use mosaic_memspace::rules::{Access, AccessOp, AccessShape, Dma, DmaMode};
use mosaic_memspace::{CallSite, Chip, CoreType, Dtype, MemorySpace, Resolved};
use serde::{Deserialize, Serialize};

#[derive(Serialize)]
pub(crate) struct Verdict {
    legal: bool,
    jax_lowers: bool,
}

fn resolve(space: MemorySpace, core_type: CoreType) -> Resolved {
    CallSite::Other.resolve(Some(space), core_type)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Accessed {
    chip: Word<Chip>,
    core: Word<CoreType>,
    space: Word<MemorySpace>,
    op: Word<AccessOp>,
    shape: Word<AccessShape>,
}

pub(crate) fn access(asked: Accessed) -> Result<Verdict, Code> {
    let (core_type, chip) = (asked.core.0, Some(asked.chip.0.facts()));
    let space = resolve(asked.space.0, core_type);
    let access = Access { op: asked.op.0, shape: asked.shape.0 };
    Ok(Verdict {
        legal: access.check(space, core_type, chip).is_ok(),
        jax_lowers: access.jax_lowers(space, core_type, chip),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Copied {
    chip: Word<Chip>,
    core: Word<CoreType>,
    src: Word<MemorySpace>,
    dst: Word<MemorySpace>,
    mode: Word<DmaMode>,
    add: bool,
}

pub(crate) fn dma(asked: Copied) -> Result<Verdict, Code> {
    let (core_type, chip) = (asked.core.0, Some(asked.chip.0.facts()));
    let (src, dst) = (resolve(asked.src.0, core_type), resolve(asked.dst.0, core_type));
    let dma = Dma { mode: asked.mode.0, add: asked.add };
    Ok(Verdict {
        legal: dma.check(src, dst, core_type, chip).is_ok(),
        jax_lowers: dma.jax_lowers(src, dst, core_type, chip),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Placed {
    chip: Word<Chip>,
    core: Word<CoreType>,
    mesh: bool,
    role: Side,
    space: Word<MemorySpace>,
    annotated: Option<Word<MemorySpace>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Side {
    In,
    Out,
}

/// An operand that the kernel leaves where it is. On a mesh the space is the value's.
pub(crate) fn operand_space(asked: Placed) -> Result<Legal, Code> {
    let make = match asked.role {
        Side::In => Operand::input,
        Side::Out => Operand::output,
    };
    let space = Some(asked.space.0);
    let annotated = asked.annotated.map(|word| word.0);
    let annotated = if asked.mesh { space } else { annotated };
    let operand = make("x", SHAPE, Dtype::Float32).space(space).annotated(annotated);
    Ok(Legal::of(&kernel(asked.core.0, asked.mesh, asked.chip.0).operand(operand)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Held {
    chip: Word<Chip>,
    core: Word<CoreType>,
    space: Word<MemorySpace>,
}

pub(crate) fn scratch_space(asked: Held) -> Result<Legal, Code> {
    let scratch = Scratch::new("s", asked.space.0, SHAPE, Dtype::Float32);
    Ok(Legal::of(&kernel(asked.core.0, true, asked.chip.0).scratch(scratch)))
}

const SHAPE: [u64; 2] = [8, 128];

fn kernel(core_type: CoreType, mesh: bool, chip: Chip) -> Kernel {
    let kernel = match core_type {
        _ if !mesh => Kernel::pipelined(core_type),
        CoreType::Tc => Kernel::unpipelined(MeshSpec::tensor_cores("core").cores(1)),
        CoreType::ScScalarSubcore => {
            Kernel::unpipelined(MeshSpec::scalar_subcores("core").cores(1))
        }
        CoreType::ScVectorSubcore => {
            Kernel::unpipelined(MeshSpec::vector_subcores("core", "subcore").cores(1))
        }
    };
    kernel.on(chip)
}

#[derive(Serialize)]
pub(crate) struct Legal {
    legal: bool,
}

impl Legal {
    fn of(kernel: &Kernel) -> Self {
        Self { legal: !kernel.check().diagnostics.has_errors() }
    }
}
