//! What XLA is given with a kernel: the output of a lowering pass.
//!
//! * [`Color`]: the number by which XLA knows the memory space of an operand.
//! * [`Alias`], [`alias_colors`]: colors carried between inputs and outputs in one buffer.
//! * [`collective_ids`]: the ids of the barriers that kernels of a module meet at.
//! * [`device_type`], [`active_core_count`]: what the functions of a module say together.
//! * [`CompilerParams`]: the parameters of the compiler, checked with all faults at once.
//! * [`Flags`]: the compiler flags of one kernel.
//! * [`BackendConfig`]: what XLA is told about a kernel, as JSON, both ways.
//! * [`CustomCall`]: the whole operation as MLIR text, to be put into a module.
//!
//! A function whose name begins with `jax_` answers exactly as JAX does, even where JAX
//! treats like cases differently. The function without the prefix treats them alike.

mod call;
mod colors;
mod config;
#[cfg(feature = "read")]
mod dump;
mod ids;
mod params;
mod value;

pub use call::CustomCall;
pub(crate) use call::quoted_text;
pub use colors::alias::{Alias, AliasColors, AliasFault};
pub(crate) use colors::carried::alias_colors_by;
pub use colors::carried::{HbmSpecs, Placed, alias_colors, jax_alias_colors};
pub use colors::color::{
    Color, ColorFault, ColorNumber, InputColor, InputColorFault, color, jax_color,
};
pub use config::body::{Base64, Body, InvalidBase64, body_memory_spaces};
pub use config::flags::{Finite, FlagFault, FlagName, FlagValue, Flags, WrittenFlagValue};
pub use config::libtpu::{LibtpuVersion, OneCoreMark, UnknownLibtpuVersion};
pub use config::open::{Open, RawJson};
pub use config::parts::{
    ColoredInput, ColoredOutput, CompEnv, CostEstimate, FlagConfig, MegachipConfig, ScopedMemory,
    SparseCoreConfig,
};
#[cfg(feature = "read")]
pub use config::read::InvalidConfig;
pub use config::{BackendConfig, rows::UnknownKey};
#[cfg(feature = "read")]
pub use dump::{Dump, DumpFault, DumpedCall, LONGEST_LINE};
pub use ids::allocator::{AutoAssign, CollectiveIds, IdOptions, IdOrder, IdPolicy, collective_ids};
pub use ids::collective_id::{CollectiveId, CollectiveIdFault, IdCall};
pub use params::fault::ParamFault;
pub use params::functions::{
    ActiveCoresFault, Bound, IterationSpace, MixedCoreTypes, ModuleFunction, active_core_count,
    device_type, jax_active_core_count,
};
#[cfg(feature = "read")]
pub(crate) use params::list::parameters;
pub use params::words::{
    DeviceType, DimensionSemantics, OptLevel, SideEffects, TcTilingFlagOnTensorCore, Tiling,
};
pub use params::{CallChecks, CompilerParams, KernelFacts, ResolvedParams, VmemLimitBytes};
pub use value::{CallOperand, DumpedType, NotAValueName, TensorType, ValueName};
