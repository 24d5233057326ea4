//! Why an accumulator is refused.

use super::accumulators::Allocation;
use crate::chip::Chip;
use crate::dtype::Dtype;
use crate::error::faults;
use crate::word::List;

faults! {
    /// Why there is no such accumulator.
    ///
    /// ```
    /// use mosaic_memspace::rules::Accumulator;
    /// use mosaic_memspace::error::Fault;
    /// use mosaic_memspace::{Chip, Dtype};
    ///
    /// let error = Accumulator::new(&[12, 256], Dtype::Float32, 0, Chip::Tpu7x.facts()).unwrap_err();
    /// assert_eq!(error.to_string(), "an accumulator of 12 rows, which are no whole 8 sublanes");
    /// assert_eq!(error.help(), "make the product of all extents but the last 8 or 16");
    /// ```
    #[derive(Clone, Copy)]
    pub enum AccumulatorFault {
        /// Fewer than two dimensions.
        Rank {
            /// The rank.
            rank: usize,
        } => AccumulatorRank at "shape" ("an accumulator of rank {rank}");
        /// Neither float32 nor int32.
        Dtype {
            /// The element type.
            dtype: Dtype,
        } => AccumulatorDtype at "dtype" ("an accumulator of {dtype}");
        /// The chip has none.
        NoAccumulators {
            /// The chip's name.
            chip: &'static str,
        } => NoAccumulators at "space" ("an accumulator on {chip}, which has none")
          help {
              let have = |chip: &&Chip| chip.facts().num_accumulators.is_some();
              let have = List(Chip::ALL.iter().filter(have));
              format!("accumulate in vmem; these chips have accumulators: {have}")
          };
        /// No MXU has this id.
        MxuIdOutOfRange {
            /// The id.
            mxu_id: u8,
            /// How many MXUs the TensorCore has.
            num_mxus: u32,
        } => MxuIdOutOfRange at "space"
          ("an accumulator on MXU {mxu_id}, of {num_mxus} MXUs")
          help "use an id below {num_mxus}";
        /// The last extent is not the MXU's column size.
        MinorDim {
            /// The last extent.
            extent: u64,
            /// The MXU's column size.
            columns: u32,
        } => AccumulatorMinorDim at "shape"
          ("an accumulator of {extent} columns on an MXU of {columns}")
          help "make the last extent {columns}";
        /// The other extents do not multiply to whole sublanes.
        MajorDims {
            /// The product of all extents but the last, if 64 bits hold it.
            rows: Option<u64>,
            /// The chip's sublanes.
            sublanes: u32,
        } => AccumulatorMajorDims at "shape"
          ("an accumulator of {}, which are no whole {sublanes} sublanes", counted(*.rows))
          help { whole_sublanes(*rows, (*sublanes).into()) };
        /// More rows than 64 bits count.
        SizeOverflow => SizeOverflow at "shape"
          ("an accumulator of more rows than a 64-bit number holds");
        /// The result buffer has too little room left.
        Overflow {
            /// The MXU.
            mxu_id: u8,
            /// Entries asked for.
            entries: u64,
            /// Entries that are free.
            free: u64,
            /// Entries that there are.
            num_accumulators: u32,
            /// Another MXU that has the room.
            roomier: Option<u8>,
        } => AccumulatorOverflow
          (
              "an accumulator of {entries} {} on MXU {mxu_id}, of whose {num_accumulators} \
               entries {free} are free",
              if *.entries == 1 { "entry" } else { "entries" }
          )
          help {
              match (roomier, free) {
                  (Some(mxu_id), _) => format!("use MXU {mxu_id}, or free an accumulator"),
                  (None, 0) => "free an accumulator".to_owned(),
                  (None, free) => {
                      format!("free an accumulator, or make this one {free} entries at most")
                  }
              }
          };
    }
}

fn counted(rows: Option<u64>) -> String {
    rows.map_or_else(|| "more than 2⁶⁴ rows".to_owned(), |rows| format!("{rows} rows"))
}

fn whole_sublanes(rows: Option<u64>, sublanes: u64) -> String {
    let below = rows.and_then(|rows| rows.checked_sub(rows.checked_rem(sublanes)?));
    let above = below.and_then(|below| below.checked_add(sublanes));
    let product = "make the product of all extents but the last";
    match (below, above) {
        (Some(0), Some(above)) => format!("{product} {above}"),
        (Some(below), Some(above)) => format!("{product} {below} or {above}"),
        (_, _) => format!("{product} a multiple of {sublanes}"),
    }
}

faults! {
    /// An accumulator freed while another lies above it.
    ///
    /// ```
    /// use mosaic_memspace::rules::AccumulatorAllocator;
    /// use mosaic_memspace::error::Fault;
    /// use mosaic_memspace::{Chip, Dtype};
    ///
    /// let mut allocator = AccumulatorAllocator::new(Chip::Tpu7x.facts());
    /// let first = allocator.allocate(&[64, 256], Dtype::Float32, 0)?;
    /// let second = allocator.allocate(&[64, 256], Dtype::Float32, 0)?;
    /// let error = allocator.free(first).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the accumulator at address 0 of MXU 0 is not the last: the buffer is in use up to 32"
    /// );
    /// # Ok::<(), mosaic_memspace::rules::AccumulatorFault>(())
    /// ```
    pub struct AccumulatorFreeOrder {
        pub(super) allocation: Allocation,
        pub(super) taken: u64,
    }
    => AccumulatorFreeOrder
       (
           "the accumulator at address {} of MXU {} is not the last: the buffer is in use up to \
            {taken}",
           .allocation.base_address(), .allocation.accumulator().mxu_id()
       );
}

impl AccumulatorFreeOrder {
    /// The allocation, which was not freed.
    ///
    /// ```
    /// use mosaic_memspace::rules::AccumulatorAllocator;
    /// use mosaic_memspace::{Chip, Dtype};
    /// let mut allocator = AccumulatorAllocator::new(Chip::Tpu7x.facts());
    /// let first = allocator.allocate(&[64, 256], Dtype::Float32, 0)?;
    /// let second = allocator.allocate(&[64, 256], Dtype::Float32, 0)?;
    /// let error = allocator.free(first).unwrap_err();
    /// assert_eq!(error.into_allocation().base_address(), 0);
    /// # Ok::<(), mosaic_memspace::rules::AccumulatorFault>(())
    /// ```
    pub const fn into_allocation(self) -> Allocation {
        self.allocation
    }
}
