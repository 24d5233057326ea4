//! The operations of a body that a memory space can depend on.

use crate::bytecode::Text;

/// A row an operation: its dialect, its name there, what it does.
macro_rules! operations {
    ($($dialect:literal $name:literal $kind:expr;)*) => {
        /// What the operation with this name does.
        fn kind_of(dialect: &str, name: &str) -> Option<Known> {
            match (dialect, name) {
                $(($dialect, $name) => {
                    Some(Known { name: concat!($dialect, ".", $name), kind: $kind })
                })*
                _ => None,
            }
        }
    };
}

/// An operation that is known by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Its name, without `stable_mosaic`.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Function,
    /// Ends a block and hands its operands on.
    Yield,
    Return,
    Call,
    If,
    For,
    While,
    Condition,
    /// What is allocated within lives until its end.
    Scope,
    Load,
    Store,
    FetchAndAdd,
    Copy,
    IndirectCopy,
    WaitCopy,
    /// Semaphore, source, target.
    WaitThree,
    Semaphore(SemaphoreAction),
    Allocation(AllocationKind),
    View(ViewKind),
    Scalar(Scalar),
}

/// What a semaphore is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SemaphoreAction {
    /// It is raised: `tpu.sem_signal`.
    Signal,
    /// It is waited for: `tpu.sem_wait`.
    Wait,
    /// It is read: `tpu.sem_read`.
    Read,
    /// Subcores meet: `tpu.barrier`.
    Barrier,
    /// A copy that raises it is waited for: `tpu.wait_dma` and its like.
    WaitCopy,
}

/// What makes memory or semaphores within a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AllocationKind {
    /// `tpu.sem_alloc`
    Semaphore,
    /// `memref.alloca`
    Memory,
    /// `tpu.sem_barrier`: the barrier that all devices share.
    Barrier,
    /// `tpu.internal_scratch`: the compiler's own.
    Internal,
}

/// How a ref is seen as another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViewKind {
    /// A part of it.
    Slice,
    /// Without dimensions of extent 1.
    Squeeze,
    /// In another shape.
    Reshape,
    /// With other elements of the same bits.
    Bitcast,
    /// With a type of another layout, shape or space.
    Cast,
    /// The part of a subcore, in its own memory.
    SharedSlice,
}

/// Arithmetic on indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Constant,
    Same,
    ZeroExtend,
    Select,
    Compare,
    AssumeMultiple,
    Binary(Arithmetic),
}

/// Two integers made one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    Mul,
    DivSigned,
    DivUnsigned,
    FloorDiv,
    CeilDivSigned,
    CeilDivUnsigned,
    RemSigned,
    RemUnsigned,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRightSigned,
    ShiftRightUnsigned,
    MinSigned,
    MinUnsigned,
    MaxSigned,
    MaxUnsigned,
}

operations! {
    "func" "func" Kind::Function;
    "func" "return" Kind::Return;
    "func" "call" Kind::Call;
    "scf" "if" Kind::If;
    "scf" "for" Kind::For;
    "scf" "while" Kind::While;
    "scf" "condition" Kind::Condition;
    "scf" "yield" Kind::Yield;
    "tpu" "region" Kind::Scope;
    "tpu" "yield" Kind::Yield;

    "memref" "load" Kind::Load;
    "vector" "load" Kind::Load;
    "tpu" "load" Kind::Load;
    "tpu" "vector_load" Kind::Load;
    "tpu" "strided_load" Kind::Load;
    "tpu" "shuffled_load" Kind::Load;
    "tpu" "vector_load_idx" Kind::Load;
    "tpu" "vector_expand_load" Kind::Load;
    "tpu" "expand_load_vreg" Kind::Load;
    "memref" "store" Kind::Store;
    "vector" "store" Kind::Store;
    "tpu" "store" Kind::Store;
    "tpu" "vector_store" Kind::Store;
    "tpu" "strided_store" Kind::Store;
    "tpu" "shuffled_store" Kind::Store;
    "tpu" "vector_store_idx" Kind::Store;
    "tpu" "vector_compress_store" Kind::Store;
    "tpu" "compress_store_vreg" Kind::Store;
    "tpu" "fetch_and_add_sync" Kind::FetchAndAdd;

    "tpu" "enqueue_dma" Kind::Copy;
    "tpu" "enqueue_indirect_dma" Kind::IndirectCopy;
    "tpu" "wait_dma" Kind::WaitCopy;
    "tpu" "wait_dma2" Kind::WaitThree;
    "tpu" "wait_indirect_dma" Kind::WaitThree;
    "tpu" "sem_signal" Kind::Semaphore(SemaphoreAction::Signal);
    "tpu" "sem_wait" Kind::Semaphore(SemaphoreAction::Wait);
    "tpu" "sem_read" Kind::Semaphore(SemaphoreAction::Read);
    "tpu" "barrier" Kind::Semaphore(SemaphoreAction::Barrier);

    "tpu" "sem_alloc" Kind::Allocation(AllocationKind::Semaphore);
    "memref" "alloca" Kind::Allocation(AllocationKind::Memory);
    "tpu" "sem_barrier" Kind::Allocation(AllocationKind::Barrier);
    "tpu" "internal_scratch" Kind::Allocation(AllocationKind::Internal);

    "tpu" "memref_slice" Kind::View(ViewKind::Slice);
    "memref" "subview" Kind::View(ViewKind::Slice);
    "tpu" "memref_squeeze" Kind::View(ViewKind::Squeeze);
    "tpu" "memref_reshape" Kind::View(ViewKind::Reshape);
    "tpu" "memref_bitcast" Kind::View(ViewKind::Bitcast);
    "tpu" "reinterpret_cast" Kind::View(ViewKind::Cast);
    "tpu" "erase_memref_layout" Kind::View(ViewKind::Cast);
    "tpu" "assume_layout" Kind::View(ViewKind::Cast);
    "tpu" "annotate" Kind::View(ViewKind::Cast);
    "memref" "cast" Kind::View(ViewKind::Cast);
    "memref" "memory_space_cast" Kind::View(ViewKind::Cast);
    "tpu" "shared_memref_slice" Kind::View(ViewKind::SharedSlice);

    "arith" "constant" Kind::Scalar(Scalar::Constant);
    "arith" "index_cast" Kind::Scalar(Scalar::Same);
    "arith" "extsi" Kind::Scalar(Scalar::Same);
    "arith" "trunci" Kind::Scalar(Scalar::Same);
    "arith" "index_castui" Kind::Scalar(Scalar::ZeroExtend);
    "arith" "extui" Kind::Scalar(Scalar::ZeroExtend);
    "arith" "select" Kind::Scalar(Scalar::Select);
    "arith" "cmpi" Kind::Scalar(Scalar::Compare);
    "tpu" "assume_multiple" Kind::Scalar(Scalar::AssumeMultiple);
    "arith" "addi" Kind::Scalar(Scalar::Binary(Arithmetic::Add));
    "arith" "subi" Kind::Scalar(Scalar::Binary(Arithmetic::Sub));
    "arith" "muli" Kind::Scalar(Scalar::Binary(Arithmetic::Mul));
    "arith" "divsi" Kind::Scalar(Scalar::Binary(Arithmetic::DivSigned));
    "arith" "divui" Kind::Scalar(Scalar::Binary(Arithmetic::DivUnsigned));
    "arith" "floordivsi" Kind::Scalar(Scalar::Binary(Arithmetic::FloorDiv));
    "arith" "ceildivsi" Kind::Scalar(Scalar::Binary(Arithmetic::CeilDivSigned));
    "arith" "ceildivui" Kind::Scalar(Scalar::Binary(Arithmetic::CeilDivUnsigned));
    "arith" "remsi" Kind::Scalar(Scalar::Binary(Arithmetic::RemSigned));
    "arith" "remui" Kind::Scalar(Scalar::Binary(Arithmetic::RemUnsigned));
    "arith" "andi" Kind::Scalar(Scalar::Binary(Arithmetic::And));
    "arith" "ori" Kind::Scalar(Scalar::Binary(Arithmetic::Or));
    "arith" "xori" Kind::Scalar(Scalar::Binary(Arithmetic::Xor));
    "arith" "shli" Kind::Scalar(Scalar::Binary(Arithmetic::ShiftLeft));
    "arith" "shrsi" Kind::Scalar(Scalar::Binary(Arithmetic::ShiftRightSigned));
    "arith" "shrui" Kind::Scalar(Scalar::Binary(Arithmetic::ShiftRightUnsigned));
    "arith" "minsi" Kind::Scalar(Scalar::Binary(Arithmetic::MinSigned));
    "arith" "minui" Kind::Scalar(Scalar::Binary(Arithmetic::MinUnsigned));
    "arith" "maxsi" Kind::Scalar(Scalar::Binary(Arithmetic::MaxSigned));
    "arith" "maxui" Kind::Scalar(Scalar::Binary(Arithmetic::MaxUnsigned));
}

/// What an operation of this name does: Mosaic's own dialects, or their names in
/// `stable_mosaic`.
pub(super) fn known(dialect: Text<'_>, name: Text<'_>) -> Option<Known> {
    let (dialect, name) = (dialect.as_str()?, name.as_str()?);
    match dialect {
        "stable_mosaic" => name.split_once('.').and_then(|(dialect, name)| kind_of(dialect, name)),
        _ => kind_of(dialect, name),
    }
}
