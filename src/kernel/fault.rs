//! Faults that only a whole kernel can have.

use crate::error::{Code, Fault};
use crate::memory_space::Resolved;
use crate::word::Word;

/// What is wrong with a description as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum KernelFault {
    #[error("both a core type and a mesh")]
    CoreTypeAndMesh,
    #[error("both axes of the mesh are called {name}")]
    MeshAxesOfOneName { name: Word },
    #[error("the name {name} is taken by {first}")]
    DuplicateName { name: Word, first: Word },
    #[error("no ref is called {name}")]
    UnknownRef { name: Word, known: String },
    #[error("{space} is an accumulator, which is never a memref")]
    NoMemref { space: Resolved },
    #[error("alias {input}->{output} has a number below 0")]
    NegativeAlias { input: i64, output: i64 },
}

impl Fault for KernelFault {
    fn code(&self) -> Code {
        match self {
            Self::CoreTypeAndMesh => Code::CoreTypeAndMesh,
            Self::MeshAxesOfOneName { .. } => Code::MeshAxisNameClash,
            Self::DuplicateName { .. } => Code::DuplicateName,
            Self::UnknownRef { .. } => Code::UnknownRef,
            Self::NoMemref { .. } => Code::InvalidMemorySpace,
            Self::NegativeAlias { .. } => Code::AliasIndexOutOfRange,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::CoreTypeAndMesh
            | Self::DuplicateName { .. }
            | Self::NoMemref { .. }
            | Self::NegativeAlias { .. } => self.code().mend().to_owned(),
            Self::MeshAxesOfOneName { .. } => "give each axis a name of its own".to_owned(),
            Self::UnknownRef { known, .. } if known.is_empty() => {
                "the kernel has no refs".to_owned()
            }
            Self::UnknownRef { known, .. } => format!("use one of {known}"),
        }
    }
}
