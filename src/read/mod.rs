//! Kernels read from JSON, and written as it.

mod fault;
mod json;
mod kernel;
mod kernels;
mod params;
mod rows;
mod schema;
mod shapes;
mod text;
mod value;
mod words;

pub use fault::{InputFault, InputFaults, Span};
pub use kernels::{Described, Kernels};
pub use schema::input_schema;
