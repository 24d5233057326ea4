//! The codes: a row a code, with its severity, a line on it, and the general help.

use super::unknown::UnknownWord;
use super::words::words;
use crate::word::{word_impls, word_of};
use strum::{EnumCount, EnumIter, EnumString, VariantArray, VariantNames};

words! {
    /// Whether a kernel with the fault is refused.
    ///
    /// ```
    /// use mosaic_memspace::error::{Code, Severity};
    /// assert_eq!(Code::VmemLimitClamped.severity(), Severity::Warning);
    /// assert!(Severity::Warning < Severity::Error);
    /// ```
    #[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub enum Severity {
        /// JAX and the compiler accept it, but it does not do what it says.
        Warning,
        /// JAX or the compiler refuses it.
        Error,
    }
    path: "error::Severity",
    all: 2 "Both",
    as_str: Error "error" "The word",
}

/// Defines the codes: one list gives each its severity, its summary and its help.
macro_rules! codes {
    ($($name:ident $severity:ident $summary:literal => $mend:literal;)*) => {
        /// A stable name of a fault; its word is the variant's name.
        ///
        /// ```
        /// use mosaic_memspace::error::Code;
        ///
        /// assert_eq!("VmemOverflow".parse(), Ok(Code::VmemOverflow));
        /// assert_eq!(Code::VmemOverflow.as_str(), "VmemOverflow");
        /// assert!("vmem_overflow".parse::<Code>().is_err());
        /// ```
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumCount, EnumIter,
            EnumString, VariantArray, VariantNames,
        )]
        #[strum(parse_err_fn = Code::unknown, parse_err_ty = UnknownWord)]
        #[non_exhaustive]
        pub enum Code {
            $(
                #[doc = $summary]
                #[doc = ""]
                #[doc = include_str!(concat!("../codes/", stringify!($name), ".md"))]
                $name,
            )*
        }

        impl Code {
            /// Whether a kernel with this fault is refused.
            ///
            /// ```
            /// use mosaic_memspace::error::{Code, Severity};
            /// assert_eq!(Code::VmemOverflow.severity(), Severity::Error);
            /// ```
            pub const fn severity(self) -> Severity {
                match self {
                    $(Self::$name => Severity::$severity,)*
                }
            }

            /// What is wrong, in one line.
            ///
            /// ```
            /// use mosaic_memspace::error::Code;
            /// assert!(Code::BlockRankZero.summary().contains("rank"));
            /// ```
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Self::$name => $summary,)*
                }
            }

            /// How to mend it, in one line. The help of a fault is more exact.
            ///
            /// ```
            /// use mosaic_memspace::error::Code;
            /// assert!(Code::BlockedWithoutGrid.mend().contains("grid"));
            /// ```
            pub const fn mend(self) -> &'static str {
                match self {
                    $(Self::$name => $mend,)*
                }
            }

            /// When it happens, with an example and how to mend it, in Markdown.
            ///
            /// ```
            /// use mosaic_memspace::error::Code;
            /// assert!(Code::VmemTight.explanation().contains("spill"));
            /// ```
            pub const fn explanation(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(concat!("../codes/", stringify!($name), ".md")),)*
                }
            }
        }
    };
}

codes! {
    // Words from outside.
    UnknownCoreType Error "a word that names no core type"
        => "write one of the three core types, in lower case";
    UnknownMemorySpace Error "a word that names no memory space"
        => "write one of the memory spaces listed, in lower case";
    UnknownChip Error "a word that names no chip"
        => "write one of the chips listed; a chip that is not among them can be described by a value of the same type";
    UnknownDtype Error "a word that names no element type"
        => "write one of the element types listed, as JAX spells them";
    UnknownAccess Error "a word that names no operation, shape or mode of copy"
        => "write one of the words listed, in lower case";
    UnknownAttribute Error "a text that is not a Mosaic attribute of the expected kind"
        => "write it as Mosaic prints it, in lower case";
    UnknownCode Error "a word that names no code"
        => "write one of the codes listed, spelled as they are in a report";
    UnknownColor Error "a word that names no color"
        => "write one of the colors listed, or its number";
    UnknownLibtpuVersion Error "a text that is not a version of libtpu"
        => "write three numbers with points between them, as in 0.0.52";
    NotAValueName Error "a text that is not the name of a value in MLIR"
        => "write a percent sign and a number or a word, as in %0 or %arg0";
    UnknownParamWord Error "a word that a compiler parameter does not take"
        => "write one of the words listed, as JAX spells them";

    // The description contradicts itself.
    CoreTypeAndMesh Error "both a core type and a mesh, or neither"
        => "give a core type for a pipelined kernel, or a mesh for an unpipelined one";
    DuplicateName Error "two refs of one name"
        => "give each ref a name of its own";
    UnknownRef Error "a name that no ref has"
        => "name one of the kernel's refs";
    RankMismatch Error "lists that should have one entry a dimension differ in length"
        => "give each list one entry a dimension";
    IndexMapAxisOutOfRange Error "an index map reads a grid axis that does not exist"
        => "read an axis of the grid, or use null";
    BlockExtentZero Error "a block with an extent of zero"
        => "make every extent of the block at least 1";

    // Chips and meshes.
    CoreCountUnsupported Error "a chip asked for a number of TensorCores per logical device that it cannot have"
        => "ask for one core; only v4 and v5p can have two";
    NoSparseCores Error "a SparseCore asked of a chip without one"
        => "run it on the TensorCore, or on a chip with SparseCores";
    TooManyCores Error "a mesh of more cores or subcores than the chip has"
        => "ask for no more cores than the chip has";
    MeshWithoutCores Error "a mesh of zero or fewer cores or subcores"
        => "give the mesh at least one core on each axis";
    MeshAxisNameClash Error "two axes of meshes share a name that they must not share"
        => "rename one of the axes";
    SparseCoreMeshMismatch Error "SparseCore meshes of two kinds that differ in core axis or cores"
        => "give both meshes the same core axis and the same number of cores";
    TwoVectorSubcoreMeshes Error "two vector subcore meshes in one kernel"
        => "use one vector subcore mesh";
    TwoScalarSubcoreMeshes Error "two scalar subcore meshes in one kernel"
        => "use one scalar subcore mesh";
    TwoTensorCoreMeshes Error "two different TensorCore meshes in one kernel"
        => "use one TensorCore mesh";
    IncompatibleMeshes Error "a TensorCore mesh named before a SparseCore mesh, or twice"
        => "name the SparseCore mesh first, and a TensorCore mesh once";
    MemorySpaceNotSupportedByMesh Error "a memory space that a mesh does not own"
        => "tag a space that the mesh owns";

    // Element types, tiles, accumulators.
    UnsupportedDtype Error "an element type that is known, but not possible here"
        => "use an element type of which a 32-bit word holds a whole number";
    TilingRank Error "a shape of rank 0 where a tiling is asked for"
        => "give the shape a dimension, if only of extent 1";
    AccumulatorRank Error "an accumulator of rank below 2"
        => "give the accumulator at least two dimensions";
    AccumulatorDtype Error "an accumulator of an element type other than float32 and int32"
        => "accumulate in float32, or in int32";
    NoAccumulators Error "an accumulator asked of a chip without any"
        => "accumulate in vmem";
    MxuIdOutOfRange Error "an MXU id that the chip does not have"
        => "use an MXU id below the chip's number of MXUs";
    AccumulatorMinorDim Error "an accumulator whose last extent is not the MXU's column size"
        => "make the last extent the MXU's column size";
    AccumulatorMajorDims Error "an accumulator whose other extents do not multiply to whole sublanes"
        => "make the product of the other extents a positive multiple of the chip's sublanes";
    AccumulatorOverflow Error "accumulators that exceed the MXU's result buffer"
        => "free an accumulator, make one smaller, or use another MXU";
    AccumulatorFreeOrder Error "an accumulator freed before one that was allocated after it"
        => "free accumulators of one MXU in the reverse of the order they were allocated in";

    // Where a ref may lie.
    InvalidMemorySpace Error "a memory space that a memref cannot have"
        => "an accumulator is no memref: use it in matmul operations only";
    NotOwnableByCore Error "a memory space that Mosaic cannot tag with this core type"
        => "leave the tag out, or tag a space that Mosaic lets the core own";
    SpaceNotOnCore Error "a memory space that the core does not have"
        => "use a space that the core has";
    ScratchSpaceUnsupported Error "scratch in a memory space that holds none"
        => "put scratch in a memory of the core: vmem, smem or semaphore_mem on a TensorCore";
    WindowSpaceUnsupported Error "a window in a memory space that can have none"
        => "put the window in vmem or smem, or leave the operand in any or hbm and copy from it";
    BlockDimsMixed Error "a block with both element and blocked dimensions"
        => "make every dimension of the block pl.Element, or none";
    BlockRankZero Error "a block of rank 0 outside smem, or in a kernel with a grid"
        => "put a scalar in smem, in a kernel without a grid, or give the array a dimension";
    BlockedInAnyOrHbm Error "a block that is not the whole array, in any or hbm"
        => "use the whole array there, or put the block in vmem or smem";
    BlockNotTileAligned Error "a block whose last two extents are neither whole tiles nor the array's"
        => "make the last extent a multiple of 128 and the second-last one of 8, or use the array's own";
    Rank1BlockInfeasible Error "a rank-1 block that is neither the array's extent nor a length that the tiling allows"
        => "use the array's extent, a multiple of sublanes × lanes, or a power of two from lanes × elements a word";
    BufferCountUnsupported Error "a window with another number of buffers than 1 or 2"
        => "use 1 or 2 buffers";
    BlockedWithoutGrid Error "a block that is not the whole array, in a kernel without a grid"
        => "give the kernel a grid, or use the whole array";
    EmitPipelineSpace Error "an emit_pipeline buffer in a space that it cannot have"
        => "put the buffer in vmem or smem; in hbm only over a ref in hbm or any";
    SubcoreSliceIndivisible Error "a vmem_shared ref whose last extent does not divide among the subcores"
        => "make the last extent a multiple of the chip's subcores";

    // Accesses.
    IllegalAccess Error "a load or store that the core cannot make"
        => "copy the part in use into vmem for vectors, or into smem for scalars";
    IllegalCopy Error "a copy that the core cannot make"
        => "go by a space that both ends can be copied to and from";
    HazardOverrideUnsupported Error "a hazard override that the ref or the other overrides exclude"
        => "use one override alone, on a vmem ref";

    // Bytes.
    SizeOverflow Error "a size that no 64-bit number holds"
        => "make the shape smaller";
    VmemOverflow Error "windows and scratch exceed the VMEM that a kernel may use"
        => "halve a block, use one buffer for a window, or raise vmem_limit_bytes";
    SmemOverflow Error "scalar operands, windows and scratch exceed the SMEM that a kernel may use"
        => "keep large tables in hbm and copy the part in use";
    SparseCorePoolOverflow Error "vmem of the subcores and vmem_shared exceed the SparseCore's pool"
        => "make a vmem or vmem_shared ref smaller: vmem counts once for each subcore";
    VmemTight Warning "fits by its declarations with less than 5 % of the limit to spare"
        => "leave room for the compiler's spills, or raise vmem_limit_bytes";
    SmemTight Warning "fits by its declarations with less than 2048 bytes of SMEM to spare"
        => "leave room for the compiler's scalar spills";
    ColoredOperandsOverflow Error "operands placed in vmem and the scoped limit together exceed the chip's VMEM"
        => "lower vmem_limit_bytes, or leave an operand in hbm";
    VmemLimitNotPositive Error "a vmem limit of zero or less"
        => "ask for a positive number of bytes, or leave vmem_limit_bytes out";
    VmemLimitClamped Warning "a vmem limit above what the chip gives, which the compiler cuts"
        => "ask for no more than the chip gives";

    // Colors and aliases.
    VmemColorUnsupported Error "a value placed in a vector subcore's vmem"
        => "place the value in hbm";
    SemaphoreColorUnsupported Error "a value placed in semaphore memory by a vector subcore kernel"
        => "tag the space: semaphore_mem@sc_vector_subcore";
    InputColorUnsupported Error "an input placed in another space than hbm, vmem or smem"
        => "place inputs in hbm, vmem or smem only";
    AliasMemorySpaceConflict Error "an input and its aliased output placed in different spaces"
        => "place both in the same space, or place only one of them";
    AliasIndexOutOfRange Error "an alias of an input or output that does not exist"
        => "count scalar prefetch first, then inputs; outputs from 0";
    AliasMismatch Error "an input and its aliased output that differ in shape or element type"
        => "give both the same shape and element type";
    AliasRepeated Error "an input or an output aliased twice"
        => "alias each input and each output at most once";
    AliasSpaceLost Warning "an alias that takes a value in host or cmem to another space, and loses its own"
        => "place both in the same space, or do not alias them";
    HbmSpecUncolored Warning "a block spec of hbm on a value that nothing places there"
        => "place the value: with_memory_space_constraint(x, pltpu.HBM)";

    // Compiler parameters.
    MixedCoreTypes Error "functions for a TensorCore and for a SparseCore in one module"
        => "lower them in modules of their own";
    MultipleCoreParallelDims Error "more than one core_parallel dimension"
        => "make at most one dimension core_parallel";
    SemanticsLengthMismatch Error "dimension semantics of another length than the grid"
        => "give one semantics for each grid axis";
    SemanticsOnMesh Error "dimension semantics given to an unpipelined (mesh) kernel"
        => "leave dimension_semantics out: the mesh says how its axes are spread";
    CoreParallelBoundDynamic Error "a core_parallel dimension whose bound is dynamic"
        => "give the core_parallel dimension a static bound";
    CoreParallelBoundsDiffer Error "functions with different core_parallel bounds in one module"
        => "give every function the same core_parallel bound";
    CollectiveIdAndTag Error "both a collective id and a tag"
        => "give one of them";
    TooManyCollectiveIds Error "more collective ids given out in one module than the limit, 25 unless it was set"
        => "give kernels that never overlap the same id, or the same tag";
    MissingCollectiveId Error "a custom barrier without a collective id"
        => "give the kernel a collective_id";
    UnexpectedCollectiveId Error "a collective id without a custom barrier"
        => "leave collective_id out, or use the barrier semaphore in the kernel";
    CollectiveIdConflict Error "a collective id given by hand that was given out already"
        => "give another id, below 7000";
    CollectiveIdNegative Error "a collective id below zero, or of more than 32 bits"
        => "give an id of 0 or more, below 2^32";
    TilingOnlyForSparseCore Error "a tiling given to a TensorCore kernel"
        => "leave the tiling out";
    OptLevelOnlyForSparseCore Error "an opt level given to a TensorCore kernel"
        => "leave opt_level out";
    TcTilingFlagOnTensorCore Error "use_tc_tiling_on_sc given to a TensorCore kernel"
        => "leave use_tc_tiling_on_sc out";
    InvalidFlagValue Error "a compiler flag whose value is no boolean, integer or float"
        => "give the flag a boolean, an integer of 64 bits or a float";
    NonFiniteFlag Error "a compiler flag whose value is infinite or no number"
        => "give the flag a finite number";
    FlagNameUnsafe Error "a compiler flag whose name would break the JSON"
        => "name the flag with letters, digits and underscores";

    // Descriptions that cannot be used.
    NotJson Error "a text that is not JSON where a kernel should be described"
        => "JSON has commas between values, keys and strings in double quotes, and no comments";
    WrongValue Error "a value of another kind than its field takes"
        => "write what the message says; `mosaic-memspace schema` says it of every field";
    UnknownField Error "a field that the description does not have"
        => "use a field that `mosaic-memspace schema` names";
    MissingField Error "a field that must be there and is not"
        => "add the field that the message names";
    DuplicateField Error "a field that is there twice"
        => "keep one of the two";
    MisplacedField Error "a field that does not go with another"
        => "take one of the two out";

    // Reading a backend config.
    InvalidConfig Error "a backend config that cannot be read"
        => "give the JSON that a tpu_custom_call carries as its backend_config";
    InvalidBytecode Error "a module that is not MLIR bytecode as the format says"
        => "give the module's bytes as MLIR wrote them, whole and decoded from base64";
}

impl Code {
    /// Every code.
    ///
    /// ```
    /// use mosaic_memspace::error::Code;
    /// assert!(Code::ALL.contains(&Code::VmemOverflow));
    /// ```
    pub const ALL: &'static [Self] = <Self as VariantArray>::VARIANTS;

    /// The code's word.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::error::Code::VmemTight.as_str(), "VmemTight");
    /// ```
    pub const fn as_str(self) -> &'static str {
        word_of(<Self as VariantNames>::VARIANTS, self as usize)
    }

    fn unknown(word: &str) -> UnknownWord {
        UnknownWord::new(Self::UnknownCode, "unknown code", <Self as VariantNames>::VARIANTS, word)
    }
}

word_impls!(Code, "a code");
