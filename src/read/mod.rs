//! Into a kernel: a kernel read from JSON and written as it, a module read from its bytes.

#[cfg(feature = "read")]
mod fault;
#[cfg(feature = "read")]
mod json;
#[cfg(feature = "read")]
mod kernel;
#[cfg(feature = "read")]
mod kernels;
pub mod module;
#[cfg(feature = "read")]
mod params;
#[cfg(feature = "read")]
mod rows;
#[cfg(feature = "read")]
mod schema;
#[cfg(feature = "read")]
mod shapes;
#[cfg(feature = "read")]
mod text;
#[cfg(feature = "read")]
mod value;
#[cfg(feature = "read")]
mod words;

#[cfg(feature = "read")]
pub use fault::{InputFault, InputFaults, Span};
#[cfg(feature = "read")]
pub use kernels::{Described, Kernels};
#[cfg(feature = "read")]
pub use schema::input_schema;
