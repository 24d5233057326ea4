//! How much of each memory a core has.

use super::facts::ChipFacts;
use crate::core_type::CoreType;
use crate::memory_space::{CoreMemorySpace, TpuSpace};

/// How much of a memory space a core has.
///
#[doc = include_str!("../../docs/chips.md")]
///
/// ```
/// use mosaic_memspace::{Capacity, Chip, CoreType, TpuSpace};
///
/// const V5E: Capacity = Chip::V5e.facts().capacity(TpuSpace::Vmem, CoreType::Tc);
/// assert_eq!(V5E, Capacity::Bytes(128 << 20));
/// assert!(Capacity::Unknown.is_present() && !Capacity::Absent.is_present());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Capacity {
    /// The core has no such memory.
    Absent,
    /// The core has so many bytes of it.
    Bytes(u64),
    /// The core has it, and its size is not public.
    Unknown,
}

impl Capacity {
    /// Whether the core has such a memory at all.
    ///
    /// ```
    /// assert!(mosaic_memspace::Capacity::Bytes(1).is_present());
    /// ```
    pub const fn is_present(self) -> bool {
        match self {
            Self::Absent => false,
            Self::Bytes(_) | Self::Unknown => true,
        }
    }

    /// The bytes, where there are any and they are known.
    ///
    /// ```
    /// use mosaic_memspace::Capacity;
    /// assert_eq!(Capacity::Bytes(16).bytes(), Some(16));
    /// assert_eq!(Capacity::Unknown.bytes(), None);
    /// ```
    pub const fn bytes(self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Absent | Self::Unknown => None,
        }
    }

    const fn of(bytes: Option<u64>) -> Self {
        match bytes {
            Some(bytes) => Self::Bytes(bytes),
            None => Self::Absent,
        }
    }
}

impl std::fmt::Display for Capacity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Absent => f.pad("absent"),
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Unknown => f.pad("unknown"),
        }
    }
}

impl ChipFacts {
    /// How much of `space` a core of type `core_type` has: a TensorCore, one
    /// SparseCore's scalar subcore, or one of its vector subcores.
    ///
    /// `vmem_shared` is the SparseCore's whole pool, from which the vmem of its
    /// subcores is taken too. HBM is one TensorCore's share of the chip's, for
    /// every core that reaches it. On a chip without SparseCores their cores
    /// have nothing.
    ///
    /// ```
    /// use mosaic_memspace::{Capacity, Chip, CoreType, TpuSpace};
    ///
    /// let v6e = Chip::V6e.facts();
    /// let subcore = CoreType::ScVectorSubcore;
    /// assert_eq!(v6e.capacity(TpuSpace::Vmem, subcore), Capacity::Bytes(256 << 10));
    /// assert_eq!(v6e.capacity(TpuSpace::Cmem, subcore), Capacity::Absent);
    /// assert_eq!(v6e.capacity(TpuSpace::Smem, subcore), Capacity::Unknown);
    /// ```
    pub const fn capacity(&self, space: TpuSpace, core_type: CoreType) -> Capacity {
        let owned = CoreMemorySpace::new(space, core_type).is_some();
        if self.require_core(core_type).is_err() || !owned && !matches!(space, TpuSpace::Hbm) {
            return Capacity::Absent;
        }
        let sparse_core = match &self.sparse_core {
            Some(facts) if core_type.is_sparse_core() => Some(facts),
            Some(_) | None => None,
        };
        match (space, sparse_core) {
            (TpuSpace::Vmem, None) => Capacity::Bytes(self.vmem_capacity_bytes),
            (TpuSpace::Vmem, Some(facts)) => Capacity::Bytes(facts.vmem_capacity_bytes as u64),
            (TpuSpace::VmemShared, None) => Capacity::Absent,
            (TpuSpace::VmemShared, Some(facts)) => Capacity::Bytes(facts.pool_bytes()),
            (TpuSpace::Smem, None) => Capacity::Bytes(self.smem_capacity_bytes),
            (TpuSpace::Smem, Some(_)) | (TpuSpace::SemaphoreMem, _) => Capacity::Unknown,
            (TpuSpace::Cmem, _) => Capacity::of(self.cmem_capacity_bytes),
            (TpuSpace::Hbm, _) => Capacity::Bytes(self.hbm_capacity_bytes),
        }
    }
}
