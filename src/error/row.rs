//! The rows of a fault type.

/// A fault type, a row a variant: its fields, its code, its message, its help and the
/// field of the description that it is about stand together.
///
/// ```text
/// faults! {
///     /// What is wrong with a window.
///     #[derive(Clone, Copy)]
///     pub enum WindowFault {
///         /// Another number of buffers than 1 or 2.
///         BufferCount {
///             /// The number asked for.
///             buffers: i64,
///         } => BufferCountUnsupported at "buffers"
///           ("a window of {buffers} buffers")
///           help "use 1 or 2 buffers";
///         /// The chip lacks the core.
///         NoSparseCores[absent: NoSparseCores];
///     }
/// }
/// ```
///
/// * `=> Code` is the row's code; `at "field"`, which may be left out, the field.
/// * `("…")` is the message, with thiserror's arguments.
/// * `help "…"` is a format string over the fields, `help { … }` an expression over
///   references to them; without either, the code's own help stands.
/// * `Variant[name: Type];` wraps another fault and says what that says.
/// * `Variant(name: Type) from ("semantics: {0}");` wraps it with another message, and
///   `from at "field" (…)` with another field.
/// * `Variant { …, fault: Type } by fault ("…");` says more than the fault that it holds,
///   whose code, help and field it has.
/// * `pub struct Name { field: Type } => Code ("…") help "…";` is a fault of one row.
///
/// `Debug`, `PartialEq`, `Eq` and the error itself are derived; `From` for what is wrapped.
macro_rules! faults {
    (
        $(#[$attr:meta])*
        $vis:vis enum $name:ident {
            $(
                $(#[$vattr:meta])*
                $variant:ident
                $({ $($(#[$fattr:meta])* $field:ident: $type:ty),+ $(,)? })?
                $([$same:ident: $same_of:ty])?
                $(($inner:ident: $of:ty))?
                $(
                    => $code:ident $(at $at:literal)? ($($message:tt)*)
                    $(help $help:literal)? $(help { $($by:tt)* })?
                )?
                $(from $(at $from_at:literal)? ($($from:tt)*))?
                $(by $whose:ident ($($told:tt)*))?
                ;
            )+
        }
    ) => {
        $(#[$attr])*
        #[derive(Debug, PartialEq, Eq, thiserror::Error)]
        #[non_exhaustive]
        $vis enum $name {
            $(
                $(#[$vattr])*
                $(#[error($($message)*)])?
                $(#[error($($from)*)])?
                $(#[error($($told)*)])?
                $(#[doc = concat!("It is a `", stringify!($same_of), "`.")] #[error(transparent)])?
                $variant
                $({ $($(#[$fattr])* $field: $type),+ })?
                $((#[from] $same_of))?
                $((#[from] $of))?,
            )+
        }

        impl $crate::error::Fault for $name {
            #[allow(unused_variables, reason = "a row's fields are there for its help")]
            fn code(&self) -> $crate::error::Code {
                match self {
                    $(
                        Self::$variant $({ $($field),+ })? $(($same))? $(($inner))? => {
                            $($crate::error::Code::$code)?
                            $($crate::error::Fault::code($same))?
                            $($crate::error::Fault::code($inner))?
                            $($crate::error::Fault::code($whose))?
                        }
                    )+
                }
            }

            #[allow(unused_variables, reason = "a row's fields are there for its help")]
            fn help(&self) -> String {
                match self {
                    $(
                        Self::$variant $({ $($field),+ })? $(($same))? $(($inner))? => {
                            $($crate::error::faults!(
                                @help $code $([$help])? $({ $($by)* })?
                            ))?
                            $($crate::error::Fault::help($same))?
                            $($crate::error::Fault::help($inner))?
                            $($crate::error::Fault::help($whose))?
                        }
                    )+
                }
            }

            #[allow(unused_variables, reason = "a row's fields are there for its help")]
            fn field(&self) -> Option<&'static str> {
                match self {
                    $(
                        Self::$variant $({ $($field),+ })? $(($same))? $(($inner))? => {
                            $($crate::error::faults!(@field $code $($at)?))?
                            $($crate::error::Fault::field($same))?
                            $($crate::error::faults!(@inner $inner $($from_at)?))?
                            $($crate::error::Fault::field($whose))?
                        }
                    )+
                }
            }
        }
    };

    (
        $(#[$attr:meta])*
        $vis:vis struct $name:ident {
            $($(#[$fattr:meta])* $fvis:vis $field:ident: $type:ty),+ $(,)?
        }
        => $code:ident $(at $at:literal)? ($($message:tt)*)
        $(help $help:literal)? $(help { $($by:tt)* })?;
    ) => {
        $(#[$attr])*
        #[derive(Debug, PartialEq, Eq, thiserror::Error)]
        #[error($($message)*)]
        $vis struct $name {
            $($(#[$fattr])* $fvis $field: $type),+
        }

        impl $crate::error::Fault for $name {
            fn code(&self) -> $crate::error::Code {
                $crate::error::Code::$code
            }

            #[allow(unused_variables, reason = "a row's fields are there for its help")]
            fn help(&self) -> String {
                let Self { $($field),+ } = self;
                $crate::error::faults!(@help $code $([$help])? $({ $($by)* })?)
            }

            fn field(&self) -> Option<&'static str> {
                $crate::error::faults!(@field $code $($at)?)
            }
        }
    };

    (@help $code:ident [$help:literal]) => { format!($help) };
    (@help $code:ident { $($by:tt)* }) => { String::from({ $($by)* }) };
    (@help $code:ident) => { $crate::error::Code::$code.mend().to_owned() };
    (@field $code:ident) => { None };
    (@field $code:ident $at:literal) => { Some($at) };
    (@inner $inner:ident) => { $crate::error::Fault::field($inner) };
    (@inner $inner:ident $at:literal) => { Some($at) };
}
pub(crate) use faults;
