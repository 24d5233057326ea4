//! What XLA is handed with a kernel: where its memory-space decisions leave the
//! lowering pass.
//!
//! * [`Color`]: the number by which XLA knows the memory space of an operand.
//! * [`CollectiveIds`]: the ids by which kernels of a module meet at a barrier.
//! * [`Flags`]: the compiler flags of one kernel.
//!
//! A function whose name begins with `jax_` answers as JAX does even where that
//! is uneven; the one without the prefix gives the even answer.

mod collective;
mod color;
mod flag;
mod params;

pub use collective::{
    AutoAssign, Call, CollectiveId, CollectiveIdError, CollectiveIds, IdOptions, IdOrder, Policy,
    UnknownAutoAssign,
};
pub use color::{
    Color, ColorNumber, ColorUnsupported, InputColor, InputColorUnsupported, UnknownColor, color,
    jax_color,
};
pub use flag::{Finite, FlagError, FlagName, FlagValue, Flags, WrittenFlagValue};
pub use params::{
    DeviceType, DimensionSemantics, OptLevel, SideEffects, TcTilingFlagOnTensorCore, Tiling,
    UnknownParamWord,
};
