//! Closed enums that are read from words: any other word is an `UnknownWord`.

/// Defines a closed enum whose variants are words: the enum, the list of its values, and
/// the words both ways.
///
/// `all` takes the number of values and the docs of the list, `as_str` an example and the
/// docs of the function. The words are the variants' names in snake case, or what strum's
/// `serialize` says. `expecting` (for serde) and `unknown` (the code and the message of an
/// unknown word) may be left out together; then words are only printed, not read.
macro_rules! words {
    (
        $(#[$attr:meta])*
        pub enum $name:ident { $($variants:tt)* }
        path: $path:literal,
        all: $count:literal $all:literal,
        as_str: $variant:ident $word:literal $as_str:literal,
        $(
            expecting: $expecting:literal,
            unknown: $code:ident $what:literal $(helped by $helped:ident)?,
        )?
    ) => {
        $(#[$attr])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::EnumCount,
            strum::EnumIter, strum::VariantArray, strum::VariantNames,
        )]
        $(
            #[derive(strum::EnumString)]
            #[strum(parse_err_fn = Self::unknown, parse_err_ty = $crate::error::UnknownWord)]
            #[doc = ""]
            #[doc = concat!(
                "Any other word is [`", stringify!($code), "`](crate::error::Code::",
                stringify!($code), ")."
            )]
        )?
        #[strum(serialize_all = "snake_case")]
        pub enum $name { $($variants)* }

        impl $name {
            #[doc = concat!($all, ".")]
            ///
            /// ```
            #[doc = concat!("assert_eq!(mosaic_memspace::", $path, "::ALL.len(), ", $count, ");")]
            /// ```
            pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

            #[doc = concat!($as_str, ", e.g. `", $word, "`.")]
            ///
            /// ```
            #[doc = concat!("use mosaic_memspace::", $path, ";")]
            #[doc = concat!(
                "const WORD: &str = ", stringify!($name), "::", stringify!($variant), ".as_str();"
            )]
            #[doc = concat!("assert_eq!(WORD, \"", $word, "\");")]
            /// ```
            pub const fn as_str(self) -> &'static str {
                $crate::word::word_of(<Self as strum::VariantNames>::VARIANTS, self as usize)
            }
        }

        $crate::word::display_impl!($name);
        $(
            impl $name {
                fn unknown(word: &str) -> $crate::error::UnknownWord {
                    $crate::error::UnknownWord::new(
                        $crate::error::Code::$code,
                        $what,
                        <Self as strum::VariantNames>::VARIANTS,
                        word,
                    )
                    $(.helped($helped(word)))?
                }
            }
            $crate::word::serde_impls!($name, $expecting);
        )?
    };
}

pub(crate) use words;
