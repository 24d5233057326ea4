//! Words of a description.

use super::schema::Definitions;
use super::shapes::{write_string, wrong};
use super::value::{Faults, Json, Value};
use crate::chip::Chip;
use crate::core_type::CoreType;
use crate::custom_call::{DimensionSemantics, OptLevel, SideEffects};
use crate::dtype::Dtype;
use crate::error::UnknownWord;
use crate::memory_space::MemorySpace;
use crate::operand::{Role, Semaphore};
use crate::rules::{AccessShape, DmaMode};
use crate::word::Spelled;
use std::str::FromStr;

/// Words that are all there are.
pub(super) trait Words: Copy + PartialEq + 'static {
    const NAME: &'static str;
    const ALL: &'static [Self];

    fn word(self) -> String;
}

macro_rules! words {
    ($($type:ident: $all:expr, $word:expr;)*) => {
        $(
            impl Words for $type {
                const NAME: &'static str = stringify!($type);
                const ALL: &'static [Self] = $all;

                fn word(self) -> String {
                    $word(self).into()
                }
            }
        )*
    };
}

words! {
    AccessShape: Self::ALL, Self::as_str;
    Chip: Self::ALL, Self::as_str;
    CoreType: Self::ALL, Self::as_str;
    DimensionSemantics: Self::ALL, Self::as_str;
    DmaMode: Self::ALL, Self::as_str;
    Dtype: Self::ALL, Self::as_str;
    MemorySpace: Self::ALL, |space: Self| space.to_string();
    Op: &[Self::Load, Self::Store, Self::Dma], Self::as_str;
    OptLevel: Self::ALL, Self::as_str;
    Role: &[Self::Input, Self::Output], in_or_out;
    Semaphore: &[Self::Regular, Self::Dma, Self::Barrier], Self::as_str;
    SideEffects: Self::ALL, Self::as_str;
}

const fn in_or_out(role: Role) -> &'static str {
    match role {
        Role::Input => "in",
        Role::Output => "out",
    }
}

/// What an access does.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Op {
    Load,
    Store,
    Dma,
}

impl Op {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Dma => "dma",
        }
    }
}

/// Words of which no other can be used.
macro_rules! only {
    ($($type:ident)*) => {
        $(
            impl Json for $type {
                fn expected() -> String {
                    expected::<Self>()
                }

                fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
                    let text = value.string();
                    let known = Self::ALL.iter().find(|it| text.as_deref() == Some(&*it.word()));
                    known.copied().or_else(|| wrong(value, faults))
                }

                fn write(&self, json: &mut String) {
                    write_string(&self.word(), json);
                }

                fn schema(definitions: &mut Definitions) -> serde_json::Value {
                    definitions.words::<Self>()
                }
            }
        )*
    };
}

only! { AccessShape DmaMode Op Role Semaphore }

fn expected<T: Words>() -> String {
    let words = T::ALL.iter().map(|it| format!("\"{}\"", it.word()));
    words.reduce(|before, word| format!("{before} or {word}")).unwrap_or_default()
}

/// Any word can be used: one that is not known is reported with the rest.
impl<T: Words + FromStr<Err = UnknownWord>> Json for Spelled<T> {
    fn expected() -> String {
        String::expected()
    }

    fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
        let Some(word) = value.string() else { return wrong(value, faults) };
        Some(word.parse().map_or_else(Self::Unknown, Self::Known))
    }

    fn write(&self, json: &mut String) {
        match self {
            Self::Known(it) => write_string(&it.word(), json),
            Self::Unknown(fault) => write_string(fault.word(), json),
        }
    }

    fn schema(definitions: &mut Definitions) -> serde_json::Value {
        definitions.open_words::<T>()
    }
}

/// Reads a word of a parameter; one that is not known is reported with the rest.
pub(super) fn of_param<T: Json + FromStr<Err = UnknownWord>>(
    value: &Value<'_, '_>,
    faults: &mut Faults,
) -> Option<T> {
    let Some(word) = value.string() else { return wrong(value, faults) };
    let unknown = |fault| faults.words.push((value.place(), fault));
    word.parse().map_err(unknown).ok()
}

macro_rules! of_params {
    ($($type:ident)*) => {
        $(
            impl Json for $type {
                fn expected() -> String {
                    String::expected()
                }

                fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
                    of_param(value, faults)
                }

                fn write(&self, json: &mut String) {
                    write_string(self.as_str(), json);
                }

                fn schema(definitions: &mut Definitions) -> serde_json::Value {
                    definitions.open_words::<Self>()
                }
            }
        )*
    };
}

of_params! { DimensionSemantics OptLevel }
