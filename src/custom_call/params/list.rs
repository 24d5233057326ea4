//! The parameters, a row each.

/// Hands the list of the parameters to a macro: of each its docs, its field, which is also
/// its key in JSON, its type, its default; `=> field` where a field of
/// the config has it as it is;
/// and what the JSON schema says of it, where that is not what the docs say.
macro_rules! parameters {
    ($to:ident) => {
        $to! {
            /// One a grid axis: what the steps along it may assume of each other. `None` is
            /// arbitrary for all. An unpipelined kernel has none: its mesh says it.
            dimension_semantics: Option<Vec<DimensionSemantics>> = None,
                "One a grid axis: what the steps along it may assume of each other; arbitrary.";
            /// One an input: whether XLA may fuse the operation that makes it into the kernel.
            /// `None` is no for all.
            allow_input_fusion: Option<Vec<bool>> = None => allow_input_fusion,
                "One an input: whether XLA may fuse what makes it into the kernel; no.";
            /// Bytes of VMEM that the kernel may have for windows and scratch. `None` is the
            /// chip's default; more than the chip gives is cut by the compiler, without a word
            /// (both: [`CompilerLimits`](crate::CompilerLimits)). A SparseCore kernel's is
            /// ignored by the compiler.
            vmem_limit_bytes: Option<VmemLimitBytes> = None,
                "Bytes of VMEM for windows and scratch; the chip's default. More than the chip gives is cut.";
            /// Which barrier semaphore the kernel uses: kernels that may run at the same time
            /// need different ones. `None` without a custom barrier, or where ids are
            /// [given out](CollectiveIds).
            collective_id: Option<CollectiveId> = None,
                "Which barrier semaphore the kernel uses; needs a custom barrier.";
            /// Whether XLA may merge the call with its like, or drop it when nothing uses it.
            /// It may do both by default.
            has_side_effects: SideEffects = SideEffects::Pure,
                "Whether XLA may merge the call with its like, or drop it when it is unused; pure.";
            /// Compiler flags for this kernel alone. None given are not the same as an empty
            /// set: the JSON then has an empty list.
            flags: Option<Flags> = None,
                "Compiler flags for this kernel alone.";
            /// Bytes of VMEM that the compiler keeps for relayouts. `None` leaves it to the
            /// compiler.
            internal_scratch_in_bytes: Option<u32> = None,
                "Bytes of VMEM that the compiler keeps for relayouts; up to the compiler.";
            /// How the body is serialized: 1 by default. A body of plain Mosaic text is handed
            /// over without one, whatever is said here.
            serialization_format: Option<u32> = Some(1),
                "How the body is serialized: 1, or null where it is not.";
            /// Whether accesses out of bounds go unnoticed; false.
            disable_bounds_checks: bool = false => disable_bounds_checks;
            /// Whether a semaphore that is not back at zero goes unnoticed; false.
            disable_semaphore_checks: bool = false => disable_semaphore_checks;
            /// Whether the devices do not wait for each other before the kernel; false.
            skip_device_barrier: bool = false => skip_device_barrier;
            /// Whether a collective_id is meant though there is no custom barrier; false.
            allow_collective_id_without_custom_barrier: bool = false;
            /// Whether results must not depend on how the compiler tiles; true.
            shape_invariant_numerics: bool = true => shape_invariant_numerics;
            /// Whether a SparseCore kernel's arrays lie as on a TensorCore, which is what
            /// `None` means too. Refused on a TensorCore, whatever it says.
            use_tc_tiling_on_sc: Option<bool> = None,
                "Whether a SparseCore kernel's arrays lie as on a TensorCore; true. Refused on a TensorCore.";
            /// Whether the compiler infers vector layouts; true by default. A TensorCore kernel
            /// needs it, and has it whatever is said here.
            needs_layout_passes: bool = true,
                "Whether the compiler infers vector layouts; true.";
            /// Whether the compiler may fuse the transposition of a matmul's left side into the
            /// MXU. Seldom faster. The body says it, in each
            /// [matmul](Self::transpose_lhs_hint), and the config does not.
            fuse_transposed_lhs_in_matmul: bool = false,
                "Whether the MXU may take a matmul's left side transposed; false.";
            /// How hard the SparseCore compiler tries; `None` means O3. Refused on a
            /// TensorCore.
            opt_level: Option<OptLevel> = None,
                "How hard the SparseCore compiler tries; O3. Refused on a TensorCore.";
        }
    };
}
pub(crate) use parameters;
