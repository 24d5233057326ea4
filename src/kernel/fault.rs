//! What can be wrong with a kernel.

use crate::attribute::NotOwnableByCore;
use crate::chip::NoSparseCores;
use crate::custom_call::{AliasFault, ParamFault};
use crate::error::{UnknownWord, faults};
use crate::fit::{CountFault, FitFault, PaddingFault};
use crate::memory_space::Resolved;
use crate::mesh::MeshFault;
use crate::reach::Unreached;
use crate::rules::{
    AccessFault, AccumulatorFault, BlockFault, CopyFault, EmitPipelineFault, IndicesFault,
    PlaceFault, WindowFault,
};
use crate::word::Shown;

faults! {
    /// What is wrong with a kernel: a fault of one of its rules, or of the description as
    /// a whole.
    ///
    /// ```
    /// use mosaic_memspace::kernel::{Kernel, KernelFault};
    /// use mosaic_memspace::operand::Operand;
    /// use mosaic_memspace::rules::BlockFault;
    /// use mosaic_memspace::{CoreType, Dtype};
    ///
    /// let x = Operand::input("x", [512, 256], Dtype::Float32).block([100, 256]);
    /// let report = Kernel::pipelined(CoreType::Tc).grid([6]).operand(x).check();
    /// let KernelFault::Block(fault) = &report.diagnostics[0].fault else { return };
    /// assert!(matches!(fault, BlockFault::NotTileAligned { minor: None, .. }));
    /// ```
    #[derive(Clone)]
    pub enum KernelFault {
        /// A word that is none of the known.
        Word[fault: UnknownWord];
        /// A chip without the core.
        NoSparseCores[fault: NoSparseCores];
        /// A mesh that cannot be.
        Mesh[fault: MeshFault];
        /// Both a core type and a mesh.
        CoreTypeAndMesh => CoreTypeAndMesh ("both a core type and a mesh");
        /// Mesh axes of one name.
        MeshAxesOfOneName {
            /// The name.
            name: Box<str>,
        } => MeshAxisNameClash at "subcore_axis" ("both axes of the mesh are called {}", Shown(name))
          help "give each axis a name of its own";
        /// Two refs of one name.
        DuplicateName {
            /// The name.
            name: Box<str>,
            /// Where the first is.
            first: Box<str>,
        } => DuplicateName at "name" ("the name {} is taken by {}", Shown(name), Shown(first));
        /// A name that no ref has.
        UnknownRef {
            /// The name.
            name: Box<str>,
            /// The names that there are, some of them when they are many.
            known: String,
        } => UnknownRef ("no ref is called {}", Shown(name))
          help {
              match known.as_str() {
                  "" => "the kernel has no refs".to_owned(),
                  known => format!("use one of {known}"),
              }
          };
        /// An operand in an accumulator.
        NoMemref {
            /// The accumulator.
            space: Resolved,
        } => InvalidMemorySpace at "space" ("{space} is an accumulator, which is never a memref");
        /// A tagged space that Mosaic cannot write.
        NotOwnable[fault: NotOwnableByCore];
        /// A space that the core does not reach.
        Unreached[fault: Unreached];
        /// Scratch where there is none.
        Place[fault: PlaceFault];
        /// A block.
        Block[fault: BlockFault];
        /// A window.
        Window[fault: WindowFault];
        /// A buffer of `emit_pipeline`.
        EmitPipeline[fault: EmitPipelineFault];
        /// An accumulator.
        Accumulator[fault: AccumulatorFault];
        /// An alias with a number below 0.
        NegativeAlias {
            /// The input's number.
            input: i64,
            /// The output's number.
            output: i64,
        } => AliasIndexOutOfRange ("alias {input}->{output} has a number below 0");
        /// An alias, or a color.
        Alias[fault: AliasFault];
        /// A compiler parameter.
        Param[fault: ParamFault];
        /// A load or a store.
        Access[fault: AccessFault];
        /// A copy.
        Copy[fault: CopyFault];
        /// The indices of a copy.
        Indices[fault: IndicesFault];
        /// The size of a ref.
        Padding[fault: PaddingFault];
        /// The size of all refs.
        Count[fault: CountFault];
        /// A memory that does not suffice, with its remedies.
        Fit[fault: FitFault];
    }
}
