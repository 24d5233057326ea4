//! What a kernel has beside its operands: scalar prefetch, scratch, semaphores.

use super::resolved::ResolvedScratch;
use crate::dtype::Dtype;
use crate::error::words;
use crate::memory_space::{MemorySpace, Resolved};
use crate::word::Spelled;

/// An argument that is in smem before the first step (`num_scalar_prefetch`).
#[derive(Clone, Debug, PartialEq)]
pub struct Prefetch {
    pub(crate) name: Option<String>,
    /// In elements.
    pub(crate) shape: Vec<u64>,
    pub(crate) dtype: Spelled<Dtype>,
}

impl Prefetch {
    /// An argument of this shape, in elements.
    pub fn new(name: &str, shape: impl Into<Vec<u64>>, dtype: Dtype) -> Self {
        Self { name: Some(name.to_owned()), shape: shape.into(), dtype: dtype.into() }
    }

    /// The argument in smem.
    pub fn in_smem(&self) -> ResolvedScratch<'_> {
        let name = self.name.as_deref().unwrap_or("prefetch");
        ResolvedScratch::prefetch(name, &self.shape, self.dtype.or(Dtype::Int32))
    }
}

words! {
    /// The kind of a semaphore.
    pub enum Semaphore {
        /// Counts signals.
        Regular,
        /// Counts the bytes of copies.
        Dma,
        /// Waits for other devices.
        Barrier,
    }
    path: "operand::Semaphore",
    all: 3 "All of them",
    as_str: Dma "dma" "The word",
}

impl Semaphore {
    /// The element type of its memref.
    pub(crate) const fn as_mosaic(self) -> &'static str {
        match self {
            Self::Dma => "!tpu.dma_semaphore",
            Self::Regular | Self::Barrier => "!tpu.semaphore",
        }
    }
}

/// Scratch memory of a kernel, or semaphores.
#[derive(Clone, Debug, PartialEq)]
pub struct Scratch {
    pub(crate) name: Option<String>,
    pub(crate) shape: Vec<u64>,
    pub(crate) holds: Holds,
    /// Whether the body allocates it, for a part of its run.
    pub(crate) scoped: bool,
    /// Whether memory is kept for it: not for what the compiler removes, nor for what is
    /// allocated when less is.
    pub(crate) kept: bool,
}

/// What scratch holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Holds {
    Elements { dtype: Spelled<Dtype>, space: Option<Spelled<MemorySpace>> },
    Semaphores(Semaphore),
}

impl Scratch {
    /// Memory of this shape, in elements.
    pub fn new(name: &str, space: MemorySpace, shape: impl Into<Vec<u64>>, dtype: Dtype) -> Self {
        let holds = Holds::Elements { dtype: dtype.into(), space: Some(space.into()) };
        Self { name: Some(name.to_owned()), shape: shape.into(), holds, scoped: false, kept: true }
    }

    /// Semaphores: one, if the shape is empty.
    pub fn semaphore(name: &str, kind: Semaphore, shape: impl Into<Vec<u64>>) -> Self {
        let holds = Holds::Semaphores(kind);
        Self { name: Some(name.to_owned()), shape: shape.into(), holds, scoped: false, kept: true }
    }

    /// The same, allocated by the body for a part of its run (`pl.run_scoped`): of what
    /// is allocated one after the other, describe what is there when most is.
    #[must_use]
    pub fn in_scope(self) -> Self {
        Self { scoped: true, ..self }
    }

    /// The scratch in the memory that its space has been resolved to; `None` of
    /// semaphores, whose bytes nobody has measured.
    pub fn in_space(&self, space: Resolved) -> Option<ResolvedScratch<'_>> {
        let name = self.name.as_deref().unwrap_or("scratch");
        match &self.holds {
            Holds::Semaphores(_) => None,
            Holds::Elements { dtype, .. } => {
                let dtype = dtype.or(Dtype::Int32);
                let scratch = ResolvedScratch::new(name, &self.shape, dtype, space);
                Some(if self.scoped { scratch.in_scope() } else { scratch })
            }
        }
    }
}
