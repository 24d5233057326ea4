//! Core types, memory spaces, the resolver, Mosaic's attribute.

use crate::line::Word;
use mosaic_memspace::error::{Code, Fault};
use mosaic_memspace::{CallSite, CoreType, MemorySpace, MemorySpaceAttr, Resolved};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    space: Option<Word<MemorySpace>>,
    core: Word<CoreType>,
}

impl Written {
    fn resolved(&self) -> Resolved {
        CallSite::Other.resolve(self.space.map(|space| space.0), self.core.0)
    }
}

pub(crate) fn resolve(written: Written) -> Result<Word<Resolved>, Code> {
    Ok(Word(written.resolved()))
}

pub(crate) fn mosaic_attribute(written: Written) -> Result<Word<MemorySpaceAttr>, Code> {
    let space = written.space.map(|space| space.0);
    let attribute = CallSite::Other.attribute(space, written.core.0);
    // As one gets it step by step.
    let resolved = written.resolved().memref().map(MemorySpaceAttr::new).transpose();
    assert_eq!(attribute, resolved);
    let attribute = attribute.map_err(|fault| fault.code())?;
    attribute.map(Word).ok_or(Code::InvalidMemorySpace)
}
