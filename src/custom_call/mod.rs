//! What XLA is handed with a kernel: where its memory-space decisions leave the
//! lowering pass.
//!
//! * [`Color`]: the number by which XLA knows the memory space of an operand.
//! * [`Flags`]: the compiler flags of one kernel.
//! * [`BackendConfig`]: what XLA is told about a kernel, as JSON, both ways.
//!
//! A function whose name begins with `jax_` answers as JAX does even where that
//! is uneven; the one without the prefix gives the even answer.

mod color;
mod config;
mod flag;
mod key;
mod libtpu;
mod number;
mod params;
mod write;

pub use color::{
    Color, ColorNumber, ColorUnsupported, InputColor, InputColorUnsupported, UnknownColor, color,
    jax_color,
};
pub use config::{
    BackendConfig, Base64, Body, ColoredInput, ColoredOutput, CompEnv, CostEstimate, FlagConfig,
    InvalidBase64, MegachipConfig, Open, RawJson, ScopedMemory, SparseCoreConfig, Unknown,
};
pub use flag::{Finite, FlagError, FlagName, FlagValue, Flags, WrittenFlagValue};
pub use libtpu::{LibtpuVersion, NotAVersion, OneCoreMark};
pub use params::{
    DeviceType, DimensionSemantics, OptLevel, SideEffects, TcTilingFlagOnTensorCore, Tiling,
    UnknownParamWord,
};
