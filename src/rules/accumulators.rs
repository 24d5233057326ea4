//! Accumulators: which may be declared, and where they lie in an MXU's result buffer.

use super::accumulator_fault::{AccumulatorFault, AccumulatorFreeOrder};
use crate::chip::ChipFacts;
use crate::dtype::Dtype;
use std::num::NonZeroU32;

/// A ref to accumulators of an MXU, checked for a chip (JAX:
/// `AccMemorySpace.__call__`).
///
/// ```
/// use mosaic_memspace::rules::{Accumulator, AccumulatorFault};
/// use mosaic_memspace::{Chip, Dtype};
///
/// const REF: Result<Accumulator, AccumulatorFault> =
///     Accumulator::new(&[2, 64, 256], Dtype::Float32, 1, Chip::Tpu7x.facts());
/// let accumulator = REF?;
/// assert_eq!(accumulator.entries(), 16); // of 8 × 256 elements
/// assert_eq!(accumulator.mxu_id(), 1);
/// # Ok::<(), AccumulatorFault>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Accumulator {
    mxu_id: u8,
    entries: u64,
}

impl Accumulator {
    /// A ref of `shape` in the result buffer of the MXU `mxu_id`.
    ///
    /// # Errors
    /// The first that applies, in JAX's order: [`AccumulatorFault::Rank`],
    /// [`Dtype`](AccumulatorFault::Dtype),
    /// [`NoAccumulators`](AccumulatorFault::NoAccumulators),
    /// [`MxuIdOutOfRange`](AccumulatorFault::MxuIdOutOfRange),
    /// [`MinorDim`](AccumulatorFault::MinorDim),
    /// [`MajorDims`](AccumulatorFault::MajorDims); then
    /// [`SizeOverflow`](AccumulatorFault::SizeOverflow), where JAX counts on.
    ///
    /// ```
    /// use mosaic_memspace::rules::{Accumulator, AccumulatorFault};
    /// use mosaic_memspace::{Chip, Dtype};
    /// let error = Accumulator::new(&[8, 128], Dtype::Int32, 0, Chip::Tpu7x.facts());
    /// assert_eq!(error, Err(AccumulatorFault::MinorDim { extent: 128, columns: 256 }));
    /// ```
    pub const fn new(
        shape: &[u64],
        dtype: Dtype,
        mxu_id: u8,
        chip: &ChipFacts,
    ) -> Result<Self, AccumulatorFault> {
        let [major @ .., minor] = shape else {
            return Err(AccumulatorFault::Rank { rank: 0 });
        };
        if major.is_empty() {
            return Err(AccumulatorFault::Rank { rank: 1 });
        }
        if !dtype.is(Dtype::Float32) && !dtype.is(Dtype::Int32) {
            return Err(AccumulatorFault::Dtype { dtype });
        }
        if chip.num_accumulators.is_none() {
            return Err(AccumulatorFault::NoAccumulators { chip: chip.name });
        }
        if mxu_id as u32 >= chip.num_mxus {
            return Err(AccumulatorFault::MxuIdOutOfRange { mxu_id, num_mxus: chip.num_mxus });
        }
        let columns = chip.mxu_column_size.get();
        if *minor != columns as u64 {
            return Err(AccumulatorFault::MinorDim { extent: *minor, columns });
        }
        match entries(major, chip.num_sublanes) {
            Ok(entries) => Ok(Self { mxu_id, entries }),
            Err(error) => Err(error),
        }
    }

    /// Entries that it takes, each of sublanes × columns elements.
    ///
    /// ```
    /// use mosaic_memspace::rules::Accumulator;
    /// use mosaic_memspace::{Chip, Dtype};
    /// let sixteen_sublanes = Chip::Tpu8t.facts();
    /// let accumulator = Accumulator::new(&[64, 256], Dtype::Float32, 0, sixteen_sublanes)?;
    /// assert_eq!(accumulator.entries(), 4);
    /// # Ok::<(), mosaic_memspace::rules::AccumulatorFault>(())
    /// ```
    pub const fn entries(&self) -> u64 {
        self.entries
    }

    /// The MXU whose result buffer it lies in.
    ///
    /// ```
    /// use mosaic_memspace::rules::Accumulator;
    /// use mosaic_memspace::{Chip, Dtype};
    /// let accumulator = Accumulator::new(&[8, 256], Dtype::Int32, 1, Chip::Tpu8i.facts())?;
    /// assert_eq!(accumulator.mxu_id(), 1);
    /// # Ok::<(), mosaic_memspace::rules::AccumulatorFault>(())
    /// ```
    pub const fn mxu_id(&self) -> u8 {
        self.mxu_id
    }
}

/// How many entries of `sublanes` rows the product of `major` makes. Whether it
/// is a multiple is known even where the product is not.
const fn entries(major: &[u64], sublanes: NonZeroU32) -> Result<u64, AccumulatorFault> {
    let mut rest = major;
    let mut rows = Some(1_u64);
    let mut rows_beyond = 1;
    while let [extent, others @ ..] = rest {
        rows = match rows {
            Some(rows) => rows.checked_mul(*extent),
            None if *extent == 0 => Some(0),
            None => None,
        };
        rows_beyond = remainder(rows_beyond, *extent, sublanes);
        rest = others;
    }
    match rows {
        Some(count @ 1..) if rows_beyond == 0 => Ok(quotient(count, sublanes)),
        None if rows_beyond == 0 => Err(AccumulatorFault::SizeOverflow),
        Some(_) | None => Err(AccumulatorFault::MajorDims { rows, sublanes: sublanes.get() }),
    }
}

#[allow(clippy::arithmetic_side_effects, reason = "a divisor that is not zero")]
const fn quotient(a: u64, b: NonZeroU32) -> u64 {
    a / b.get() as u64
}

/// a × b modulo `sublanes`, where a is a remainder already.
#[allow(clippy::arithmetic_side_effects, reason = "32 × 64 bits, and a divisor that is not zero")]
#[allow(clippy::cast_possible_truncation, reason = "a remainder is below the divisor")]
const fn remainder(a: u32, b: u64, sublanes: NonZeroU32) -> u32 {
    ((a as u128 * b as u128) % sublanes.get() as u128) as u32
}

/// Places accumulators in the result buffers of a TensorCore's MXUs, one after the
/// other in each (JAX: `LoweringContext.alloc_accumulator`).
///
/// What is placed can be freed again, the last first. JAX frees only where a
/// `run_scoped` ends, so its users meet an overflow that need not be.
///
/// ```
/// use mosaic_memspace::rules::AccumulatorAllocator;
/// use mosaic_memspace::{Chip, Dtype};
///
/// let mut allocator = AccumulatorAllocator::new(Chip::Tpu7x.facts());
/// let first = allocator.allocate(&[512, 256], Dtype::Float32, 0)?;
/// let second = allocator.allocate(&[512, 256], Dtype::Float32, 0)?;
/// assert_eq!((first.base_address(), second.base_address()), (0, 128));
///
/// let full = allocator.allocate(&[8, 256], Dtype::Float32, 0).unwrap_err();
/// assert_eq!(
///     full.to_string(),
///     "an accumulator of 1 entry on MXU 0, of whose 128 entries 0 are free"
/// );
/// allocator.free(second)?;
/// assert_eq!(allocator.allocate(&[8, 256], Dtype::Float32, 0)?.base_address(), 128);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AccumulatorAllocator<'chip> {
    chip: &'chip ChipFacts,
    /// Entries taken, by MXU id.
    taken: [u64; MXU_IDS],
}

/// An MXU id is a byte.
const MXU_IDS: usize = 256;

impl<'chip> AccumulatorAllocator<'chip> {
    /// With all of the chip's accumulators free.
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    /// use mosaic_memspace::rules::AccumulatorAllocator;
    /// const ALLOCATOR: AccumulatorAllocator<'static> =
    ///     AccumulatorAllocator::new(Chip::Tpu8i.facts());
    /// assert_eq!(ALLOCATOR.free_entries(0), 256);
    /// ```
    pub const fn new(chip: &'chip ChipFacts) -> Self {
        Self { chip, taken: [0; MXU_IDS] }
    }

    /// Entries that are free in the result buffer of an MXU; 0 where there is none.
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    /// use mosaic_memspace::rules::AccumulatorAllocator;
    /// let allocator = AccumulatorAllocator::new(Chip::Tpu7x.facts());
    /// assert_eq!((allocator.free_entries(1), allocator.free_entries(2)), (128, 0));
    /// ```
    pub const fn free_entries(&self, mxu_id: u8) -> u64 {
        match self.chip.num_accumulators {
            Some(all) if (mxu_id as u32) < self.chip.num_mxus => {
                (all.get() as u64).saturating_sub(self.taken(mxu_id))
            }
            Some(_) | None => 0,
        }
    }

    /// Checks a ref as [`Accumulator::new`] does and places it.
    ///
    /// # Errors
    /// Those of [`Accumulator::new`], then [`AccumulatorFault::Overflow`]. What
    /// fails takes nothing.
    ///
    /// ```
    /// use mosaic_memspace::rules::AccumulatorAllocator;
    /// use mosaic_memspace::{Chip, Dtype};
    ///
    /// const SECOND: Option<u64> = {
    ///     let mut allocator = AccumulatorAllocator::new(Chip::Tpu7x.facts());
    ///     match allocator.allocate(&[64, 256], Dtype::Int32, 1) {
    ///         Ok(_) => match allocator.allocate(&[8, 256], Dtype::Int32, 1) {
    ///             Ok(second) => Some(second.base_address()),
    ///             Err(_) => None,
    ///         },
    ///         Err(_) => None,
    ///     }
    /// };
    /// assert_eq!(SECOND, Some(16));
    /// ```
    pub const fn allocate(
        &mut self,
        shape: &[u64],
        dtype: Dtype,
        mxu_id: u8,
    ) -> Result<Allocation, AccumulatorFault> {
        let accumulator = match Accumulator::new(shape, dtype, mxu_id, self.chip) {
            Ok(accumulator) => accumulator,
            Err(error) => return Err(error),
        };
        let free = self.free_entries(mxu_id);
        match free.checked_sub(accumulator.entries) {
            Some(_) => {
                let base_entry = self.taken(mxu_id);
                let allocation = Allocation {
                    accumulator,
                    base_entry,
                    base_address: base_entry.saturating_mul(registers(self.chip)), // 32 × 32 bits
                };
                self.take_up_to(mxu_id, allocation.end());
                Ok(allocation)
            }
            None => Err(AccumulatorFault::Overflow {
                mxu_id,
                entries: accumulator.entries,
                free,
                num_accumulators: match self.chip.num_accumulators {
                    Some(all) => all.get(),
                    None => 0,
                },
                roomier: self.with_room_for(accumulator.entries),
            }),
        }
    }

    /// Frees what was placed last in its MXU's result buffer.
    ///
    /// # Errors
    /// [`AccumulatorFreeOrder`], which gives the allocation back, when something
    /// placed after it is there still, or when another allocator placed it.
    ///
    /// ```
    /// use mosaic_memspace::rules::AccumulatorAllocator;
    /// use mosaic_memspace::{Chip, Dtype};
    ///
    /// let mut allocator = AccumulatorAllocator::new(Chip::Tpu7x.facts());
    /// let first = allocator.allocate(&[8, 256], Dtype::Float32, 0)?;
    /// let second = allocator.allocate(&[8, 256], Dtype::Float32, 0)?;
    /// let first = allocator.free(first).unwrap_err().into_allocation();
    /// allocator.free(second)?;
    /// allocator.free(first)?;
    /// assert_eq!(allocator.free_entries(0), 128);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn free(&mut self, allocation: Allocation) -> Result<(), AccumulatorFreeOrder> {
        let mxu_id = allocation.accumulator.mxu_id;
        let taken = self.taken(mxu_id);
        if taken == allocation.end() {
            self.take_up_to(mxu_id, allocation.base_entry);
            Ok(())
        } else {
            Err(AccumulatorFreeOrder {
                taken: taken.saturating_mul(registers(self.chip)),
                allocation,
            })
        }
    }

    #[allow(clippy::indexing_slicing, reason = "an entry for every byte")]
    const fn taken(&self, mxu_id: u8) -> u64 {
        self.taken[mxu_id as usize]
    }

    #[allow(clippy::indexing_slicing, reason = "an entry for every byte")]
    const fn take_up_to(&mut self, mxu_id: u8, entry: u64) {
        self.taken[mxu_id as usize] = entry;
    }

    const fn with_room_for(&self, entries: u64) -> Option<u8> {
        let mut mxu_id = 0;
        loop {
            if self.free_entries(mxu_id) >= entries {
                return Some(mxu_id);
            }
            mxu_id = match mxu_id.checked_add(1) {
                Some(next) => next,
                None => return None,
            };
        }
    }
}

/// Vector registers that an entry of the result buffer takes.
const fn registers(chip: &ChipFacts) -> u64 {
    quotient(chip.mxu_column_size.get() as u64, chip.num_lanes)
}

/// Where an [`AccumulatorAllocator`] has placed an accumulator. It is the right to
/// free it, once.
///
/// ```
/// use mosaic_memspace::rules::AccumulatorAllocator;
/// use mosaic_memspace::{Chip, Dtype};
///
/// let mut allocator = AccumulatorAllocator::new(Chip::Tpu7x.facts());
/// let placed = allocator.allocate(&[8, 256], Dtype::Float32, 0)?;
/// allocator.free(placed)?; // moved: to free it again doesn't compile
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
#[must_use = "without it the accumulator cannot be freed"]
pub struct Allocation {
    accumulator: Accumulator,
    base_entry: u64,
    base_address: u64,
}

impl Allocation {
    /// The accumulator's address in the result buffer, in vector registers.
    ///
    /// ```
    /// use mosaic_memspace::rules::AccumulatorAllocator;
    /// use mosaic_memspace::{Chip, Dtype};
    /// let mut allocator = AccumulatorAllocator::new(Chip::Tpu7x.facts());
    /// let placed = allocator.allocate(&[8, 256], Dtype::Float32, 0)?;
    /// assert_eq!(placed.base_address(), 0);
    /// # Ok::<(), mosaic_memspace::rules::AccumulatorFault>(())
    /// ```
    pub const fn base_address(&self) -> u64 {
        self.base_address
    }

    /// What was placed.
    ///
    /// ```
    /// use mosaic_memspace::rules::AccumulatorAllocator;
    /// use mosaic_memspace::{Chip, Dtype};
    /// let mut allocator = AccumulatorAllocator::new(Chip::Tpu7x.facts());
    /// let placed = allocator.allocate(&[16, 256], Dtype::Float32, 0)?;
    /// assert_eq!(placed.accumulator().entries(), 2);
    /// # Ok::<(), mosaic_memspace::rules::AccumulatorFault>(())
    /// ```
    pub const fn accumulator(&self) -> Accumulator {
        self.accumulator
    }

    /// The entry after its last.
    const fn end(&self) -> u64 {
        self.base_entry.saturating_add(self.accumulator.entries) // below 2³²: they fitted
    }
}
