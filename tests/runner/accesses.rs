//! Loads, stores and copies.

use crate::line::Word;
use mosaic_memspace::error::Code;
use mosaic_memspace::rules::{Access, AccessOp, AccessShape, Dma, DmaMode};
use mosaic_memspace::{CallSite, Chip, CoreType, MemorySpace, Resolved};
use serde::{Deserialize, Serialize};

#[derive(Serialize)]
pub(crate) struct Verdict {
    legal: bool,
    jax_lowers: bool,
}

impl Verdict {
    /// What a core answers counts only where the chip has the core.
    fn on(chip: Chip, core_type: CoreType, legal: bool, jax_lowers: bool) -> Self {
        let there = chip.facts().require_core(core_type).is_ok();
        Self { legal: there && legal, jax_lowers: there && jax_lowers }
    }
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
    let core_type = asked.core.0;
    let space = resolve(asked.space.0, core_type);
    let access = Access { op: asked.op.0, shape: asked.shape.0 };
    Ok(Verdict::on(
        asked.chip.0,
        core_type,
        access.check(space, core_type).is_ok(),
        access.jax_lowers(space, core_type),
    ))
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
    let core_type = asked.core.0;
    let (src, dst) = (resolve(asked.src.0, core_type), resolve(asked.dst.0, core_type));
    let dma = Dma { mode: asked.mode.0, add: asked.add };
    Ok(Verdict::on(
        asked.chip.0,
        core_type,
        dma.check(src, dst, core_type).is_ok(),
        dma.jax_lowers(src, dst, core_type),
    ))
}
