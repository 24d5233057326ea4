//! What XLA is handed with a kernel: where its memory-space decisions leave the
//! lowering pass.
//!
//! * [`Color`]: the number by which XLA knows the memory space of an operand.
//! * [`Alias`], [`alias_colors`]: colours carried between inputs and outputs in one buffer.
//! * [`collective_ids`]: the ids by which kernels of a module meet at a barrier.
//! * [`device_type`], [`active_core_count`]: what a module's functions say together.
//! * [`CompilerParams`]: what an author may ask of the compiler, all its faults at once.
//! * [`Flags`]: the compiler flags of one kernel.
//! * [`BackendConfig`]: what XLA is told about a kernel, as JSON, both ways.
//! * [`CustomCall`]: the whole operation as MLIR text, to be put into a module.
//!
//! A function whose name begins with `jax_` answers as JAX does even where that
//! is uneven; the one without the prefix gives the even answer.

mod alias;
mod alias_colors;
mod body;
mod collective;
mod collective_id;
mod color;
mod config;
mod config_parts;
#[cfg(feature = "read")]
mod dump;
mod flag;
mod hand_over;
mod key;
mod libtpu;
mod module;
mod number;
mod open;
mod operand;
mod operation;
mod param_fault;
mod param_words;
mod params;
#[cfg(feature = "read")]
mod read;
#[cfg(feature = "read")]
mod scalar;
mod sink;
#[cfg(feature = "read")]
mod tokens;
mod write;

pub use alias::{Alias, AliasColors, AliasError, AliasFaults, AliasWarning, Side};
pub use alias_colors::{HbmSpecs, Placed, alias_colors, jax_alias_colors};
pub use body::{Base64, Body, InvalidBase64, body_memory_spaces};
pub use collective::{
    AutoAssign, CollectiveIds, IdOptions, IdOrder, Policy, UnknownAutoAssign, collective_ids,
};
pub use collective_id::{Call, CollectiveId, CollectiveIdError};
pub use color::{
    Color, ColorNumber, ColorUnsupported, InputColor, InputColorUnsupported, UnknownColor, color,
    jax_color,
};
pub use config::{BackendConfig, Unknown};
pub use config_parts::{
    ColoredInput, ColoredOutput, CompEnv, CostEstimate, FlagConfig, MegachipConfig, ScopedMemory,
    SparseCoreConfig,
};
#[cfg(feature = "read")]
pub use dump::{Dump, DumpedCall};
pub use flag::{Finite, FlagError, FlagName, FlagValue, Flags, WrittenFlagValue};
pub use libtpu::{LibtpuVersion, OneCoreMark, UnknownLibtpuVersion};
pub use module::{
    ActiveCoresError, Bound, IterationSpace, MixedCoreTypes, ModuleFunction, active_core_count,
    device_type, jax_active_core_count,
};
pub use open::{Open, RawJson};
pub use operand::{NotAValueName, Operand, TensorType, ValueName};
pub use operation::CustomCall;
pub use param_fault::{ParamError, ParamFaults};
pub use param_words::{
    DeviceType, DimensionSemantics, OptLevel, SideEffects, TcTilingFlagOnTensorCore, Tiling,
    UnknownParamWord,
};
pub use params::{CallChecks, CompilerParams, KernelFacts, ResolvedParams, VmemLimit};
#[cfg(feature = "read")]
pub use read::InvalidConfig;
