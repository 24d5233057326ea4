//! What a kernel may promise the compiler about its accesses of a ref.

use crate::error::{Code, Fault, words};
use crate::memory_space::{MemorySpace, TpuSpace};
use crate::word::List;
use std::fmt;

words! {
    /// A promise about the accesses of a ref (a keyword of `pltpu.annotate`).
    ///
    /// ```
    /// use mosaic_memspace::rules::Assumption;
    /// assert_eq!("no_hazard".parse(), Ok(Assumption::NoHazard));
    /// assert!(Assumption::NoHazardNoDeps.overrides_hazards());
    /// ```
    pub enum Assumption {
        /// The kernel never stores there; copies may still.
        NoStore,
        /// Accesses do not meet in a bank.
        NoBankConflict,
        /// A load may follow a store at once; dependencies are kept.
        NoHazard,
        /// Loads and stores may change places.
        NoHazardNoDeps,
    }
    path: "rules::Assumption",
    all: 4 "Every promise",
    as_str: NoBankConflict "no_bank_conflict" "JAX's word",
    expecting: "no_store, no_bank_conflict, no_hazard or no_hazard_no_deps",
    unknown: UnknownAccess "unknown access",
}

impl Assumption {
    /// Whether it changes how the compiler keeps a load behind a store.
    ///
    /// ```
    /// assert!(!mosaic_memspace::rules::Assumption::NoStore.overrides_hazards());
    /// ```
    pub const fn overrides_hazards(self) -> bool {
        match self {
            Self::NoStore | Self::NoBankConflict => false,
            Self::NoHazard | Self::NoHazardNoDeps => true,
        }
    }
}

/// The promises about one ref, or one slice of it (JAX's `AccessAssumption`).
///
/// ```
/// use mosaic_memspace::MemorySpace;
/// use mosaic_memspace::rules::{Assumption, Assumptions};
///
/// let promised = Assumptions::NONE.with(Assumption::NoHazard).with(Assumption::NoBankConflict);
/// assert!(promised.check(Some(MemorySpace::VMEM)).is_ok());
/// let fault = promised.check(Some(MemorySpace::DEFAULT)).unwrap_err();
/// assert_eq!(fault.to_string(), "no_hazard on a ref in default; expected vmem");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Assumptions(u8);

impl Assumptions {
    /// No promise.
    pub const NONE: Self = Self(0);

    /// These, and one more.
    ///
    /// ```
    /// use mosaic_memspace::rules::{Assumption, Assumptions};
    /// const PURE: Assumptions = Assumptions::NONE.with(Assumption::NoStore);
    /// assert!(PURE.contains(Assumption::NoStore));
    /// ```
    #[must_use]
    pub const fn with(self, assumption: Assumption) -> Self {
        Self(self.0 | 1 << assumption as u8)
    }

    /// These and those: what a slice of a ref that is promised about has.
    ///
    /// ```
    /// use mosaic_memspace::rules::{Assumption, Assumptions};
    /// let [a, b] = [Assumption::NoStore, Assumption::NoHazard].map(|it| Assumptions::NONE.with(it));
    /// assert_eq!(a.union(b).to_string(), "no_store, no_hazard");
    /// ```
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether this is among them.
    ///
    /// ```
    /// use mosaic_memspace::rules::{Assumption, Assumptions};
    /// assert!(!Assumptions::NONE.contains(Assumption::NoHazard));
    /// ```
    pub const fn contains(self, assumption: Assumption) -> bool {
        self.0 & (1 << assumption as u8) != 0
    }

    /// Whether JAX takes them for a ref whose memory space the author wrote so.
    ///
    /// JAX compares the space as it is written, before it is resolved: a window
    /// that lies in vmem because no space was written is refused.
    ///
    /// # Errors
    /// [`HazardFault`], the first in JAX's order.
    ///
    /// ```
    /// use mosaic_memspace::rules::{Assumption, Assumptions, HazardFault};
    /// let both = Assumptions::NONE.with(Assumption::NoHazard).with(Assumption::NoHazardNoDeps);
    /// assert_eq!(both.check(None), Err(HazardFault::Both));
    /// ```
    pub const fn check(self, written: Option<MemorySpace>) -> Result<(), HazardFault> {
        let hazards =
            [self.contains(Assumption::NoHazard), self.contains(Assumption::NoHazardNoDeps)];
        let hazard = match hazards {
            [false, false] => return Ok(()),
            [true, _] => Assumption::NoHazard,
            [false, true] => Assumption::NoHazardNoDeps,
        };
        if self.contains(Assumption::NoStore) {
            return Err(HazardFault::WithNoStore { hazard });
        }
        if let [true, true] = hazards {
            return Err(HazardFault::Both);
        }
        if is_vmem(written) { Ok(()) } else { Err(HazardFault::NotInVmem { hazard, written }) }
    }
}

impl fmt::Display for Assumptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        List(Assumption::ALL.iter().filter(|assumption| self.contains(**assumption))).fmt(f)
    }
}

/// Vmem by name, whoever owns it.
const fn is_vmem(written: Option<MemorySpace>) -> bool {
    let Some(written) = written else { return false };
    match written {
        MemorySpace::Tpu(space) => matches!(space, TpuSpace::Vmem),
        MemorySpace::Core(tagged) => matches!(tagged.space(), TpuSpace::Vmem),
        MemorySpace::Plain(_) | MemorySpace::Acc(_) => false,
    }
}

/// A hazard override that cannot be.
///
/// ```
/// use mosaic_memspace::rules::{Assumption, HazardFault};
/// use mosaic_memspace::error::{Code, Fault};
///
/// let fault = HazardFault::WithNoStore { hazard: Assumption::NoHazard };
/// assert_eq!(fault.to_string(), "no_hazard together with no_store");
/// assert_eq!(fault.code(), Code::HazardOverrideUnsupported);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HazardFault {
    /// On a ref that is never stored to, and so has no hazard.
    #[error("{hazard} together with no_store")]
    WithNoStore {
        /// The override.
        hazard: Assumption,
    },
    /// Both overrides at once.
    #[error("no_hazard together with no_hazard_no_deps")]
    Both,
    /// On a ref that is not written to be in vmem.
    #[error("{hazard} on a ref in {}; expected vmem", OrNone(*written))]
    NotInVmem {
        /// The override.
        hazard: Assumption,
        /// The ref's space, as written.
        written: Option<MemorySpace>,
    },
}

impl Fault for HazardFault {
    fn code(&self) -> Code {
        Code::HazardOverrideUnsupported
    }

    fn help(&self) -> String {
        match self {
            Self::WithNoStore { hazard } => {
                format!("leave {hazard} out: what is never stored to has no hazard")
            }
            Self::Both => "leave no_hazard out: no_hazard_no_deps says more".to_owned(),
            Self::NotInVmem { hazard, written: None | Some(MemorySpace::DEFAULT) } => {
                format!("write the space, memory_space=pltpu.VMEM, or leave {hazard} out")
            }
            Self::NotInVmem { hazard, written: Some(_) } => {
                format!("put the ref in vmem, or leave {hazard} out")
            }
        }
    }
}

/// A space, or that none is written.
pub(super) struct OrNone(pub(super) Option<MemorySpace>);

impl fmt::Display for OrNone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(space) => space.fmt(f),
            None => f.write_str("no space"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Assumption::{NoBankConflict, NoHazard, NoHazardNoDeps, NoStore};

    #[test]
    fn each_fault_says_what_would_be_right() {
        let vmem = Some(MemorySpace::VMEM);
        let wrong = [
            (
                &[NoStore, NoHazardNoDeps][..],
                vmem,
                "no_hazard_no_deps together with no_store",
                "leave no_hazard_no_deps out: what is never stored to has no hazard",
            ),
            (
                &[NoHazard, NoHazardNoDeps],
                vmem,
                "no_hazard together with no_hazard_no_deps",
                "leave no_hazard out: no_hazard_no_deps says more",
            ),
            (
                &[NoHazard],
                None,
                "no_hazard on a ref in no space; expected vmem",
                "write the space, memory_space=pltpu.VMEM, or leave no_hazard out",
            ),
            (
                &[NoHazard],
                Some(MemorySpace::SMEM),
                "no_hazard on a ref in smem; expected vmem",
                "put the ref in vmem, or leave no_hazard out",
            ),
        ];
        for (promised, written, message, help) in wrong {
            let promised = promised.iter().fold(Assumptions::NONE, |all, it| all.with(*it));
            let said = promised.check(written).map_err(|it| (it.to_string(), it.help()));
            assert_eq!(said, Err((message.to_owned(), help.to_owned())));
        }
    }

    #[test]
    fn without_an_override_any_space_will_do() {
        let promised = Assumptions::NONE.with(NoStore).with(NoBankConflict);
        for space in MemorySpace::ALL {
            assert_eq!(promised.check(Some(*space)), Ok(()));
        }
        let hazard = Assumptions::NONE.with(NoHazard);
        let takes = MemorySpace::ALL.iter().filter(|space| hazard.check(Some(**space)).is_ok());
        let takes: Vec<_> = takes.map(ToString::to_string).collect();
        assert_eq!(takes, ["vmem", "vmem@tc", "vmem@sc_vector_subcore"]);
    }
}
