//! What a kernel does with memory: allocations, loads and stores, copies, semaphores.

use super::index::IndexValue;
use super::operations::{AllocationKind, SemaphoreAction};
use super::refs::BodyRefId;
use crate::bytecode::{DenseIntegers, Operation, TypeId};

/// Memory or semaphores that a kernel makes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BodyAllocation<'m, 'a> {
    /// The operation.
    pub operation: Operation<'m, 'a>,
    /// Its name, without `stable_mosaic`.
    pub name: &'static str,
    /// What it makes.
    pub kind: AllocationKind,
    /// The ref that it makes.
    pub r#ref: BodyRefId,
    /// The number of the scope that it lives in.
    pub scope: usize,
}

/// Within what allocations live: a kernel, or a `tpu.region` in it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BodyScope<'m, 'a> {
    /// The function or region.
    pub operation: Operation<'m, 'a>,
    /// The number of the scope around it; the kernel itself has none.
    pub parent: Option<usize>,
}

/// A load or a store.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct BodyAccess<'m, 'a> {
    /// The operation.
    pub operation: Operation<'m, 'a>,
    /// Its name, without `stable_mosaic`.
    pub name: &'static str,
    /// Whether it reads.
    pub loads: bool,
    /// Whether it writes.
    pub stores: bool,
    /// The ref that it reads or writes.
    pub r#ref: BodyRefId,
    /// The type of what is read or written: a vector, or a scalar.
    pub value_type: TypeId,
    /// Where it begins in each dimension of the ref; the last ones are missing where the
    /// operation has fewer.
    pub indices: Box<[IndexValue]>,
    /// How far apart what is read or written lies in each dimension, where it says so.
    pub strides: Option<DenseIntegers<'a>>,
    /// Whether a mask picks the elements.
    pub is_masked: bool,
    /// Whether what is written is added to what is there.
    pub adds: bool,
    /// Whether what is read is used.
    pub is_used: bool,
    /// Whether it stands in a branch that is never taken.
    pub is_dead: bool,
}

/// A copy that a kernel starts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BodyCopy<'m, 'a> {
    /// The operation.
    pub operation: Operation<'m, 'a>,
    /// Its name, without `stable_mosaic`.
    pub name: &'static str,
    /// What it reads.
    pub source: BodyRefId,
    /// What it writes.
    pub target: BodyRefId,
    /// How it picks rows, if it does.
    pub indirect: Option<IndirectCopy>,
    /// The semaphore that tells that the source may be written again.
    pub source_semaphore: Option<BodyRefId>,
    /// The semaphore that tells that the target has arrived.
    pub target_semaphore: Option<BodyRefId>,
    /// The chip that it goes to, if not this one.
    pub device: Option<IndexValue>,
    /// The core that it goes to, if not this one.
    pub core: Option<IndexValue>,
    /// The subcore that it goes to, if not this one.
    pub subcore: Option<IndexValue>,
    /// How urgent it is, where it says so.
    pub priority: Option<i64>,
    /// How its operands are grouped, where it says so.
    pub segments: Option<DenseIntegers<'a>>,
    /// Whether it stands in a branch that is never taken.
    pub is_dead: bool,
}

/// How an indirect copy picks rows.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct IndirectCopy {
    /// Whether it picks rows of the source, else of the target.
    pub gathers: bool,
    /// The rows.
    pub offsets: CopyOffsets,
    /// Whether what is copied is added to what is there.
    pub adds: bool,
    /// Whether a value of the offsets is left out.
    pub has_filter: bool,
}

/// Where the rows that an indirect copy picks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyOffsets {
    /// In a ref.
    Ref(BodyRefId),
    /// In a vector of this type.
    Vector(TypeId),
}

/// What a kernel does with a semaphore.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BodySemaphoreUse<'m, 'a> {
    /// The operation.
    pub operation: Operation<'m, 'a>,
    /// Its name, without `stable_mosaic`.
    pub name: &'static str,
    /// What it does.
    pub action: SemaphoreAction,
    /// The semaphore.
    pub semaphore: BodyRefId,
    /// The refs of a copy that is waited for: source and target, as far as it says them.
    pub copy: [Option<BodyRefId>; 2],
    /// Whether it is on another chip.
    pub is_remote: bool,
}
