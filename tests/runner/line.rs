//! A line of vectors, and how a function's answer is held against it.

use mosaic_memspace::error::Code;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt::{self, Display};
use std::str::FromStr;

/// `{"id", "fn", "input", "expect"}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line<'a> {
    #[serde(rename = "id")]
    _id: &'a str,
    r#fn: &'a str,
    #[serde(borrow)]
    input: &'a RawValue,
    expect: Answer<Value>,
}

/// `{"ok": value}` or `{"error": name}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer<T> {
    Ok(T),
    Error(String),
}

impl<T> From<Result<T, Code>> for Answer<T> {
    fn from(result: Result<T, Code>) -> Self {
        match result {
            Ok(value) => Self::Ok(value),
            Err(code) => Self::Error(code.to_string()),
        }
    }
}

/// A function that vectors ask for.
pub(crate) struct Function {
    name: &'static str,
    answer: Box<Answering>,
}

type Answering = dyn Fn(&str) -> serde_json::Result<Answer<Value>>;

pub(crate) fn function<I: DeserializeOwned, O: Serialize>(
    name: &'static str,
    function: impl Fn(I) -> Result<O, Code> + 'static,
) -> Function {
    let answer = move |input: &str| {
        let value = function(serde_json::from_str(input)?).map(serde_json::to_value);
        Ok(match value {
            Ok(value) => Answer::Ok(value?),
            Err(code) => Answer::Error(code.to_string()),
        })
    };
    Function { name, answer: Box::new(answer) }
}

/// What was recorded, and what this crate says.
pub(crate) struct Difference {
    input: String,
    expected: Answer<Value>,
    got: Answer<Value>,
}

impl Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = |answer| serde_json::to_string(answer).map_err(|_| fmt::Error);
        writeln!(f, "  input    {}", self.input)?;
        writeln!(f, "  expected {}", json(&self.expected)?)?;
        write!(f, "  got      {}", json(&self.got)?)
    }
}

impl<'a> Line<'a> {
    pub(crate) fn read(line: &'a str) -> Result<Self, String> {
        serde_json::from_str(line).map_err(|error| format!("not a vector: {error}"))
    }

    pub(crate) fn check(
        self,
        functions: &[Function],
    ) -> Result<(&'static str, Result<(), Difference>), String> {
        let known = functions.iter().find(|function| function.name == self.r#fn);
        let function = known.ok_or_else(|| format!("unknown function {:?}", self.r#fn))?;
        let got = (function.answer)(self.input.get())
            .map_err(|error| format!("{}: unreadable input: {error}", function.name))?;
        let verdict = if got == self.expect {
            Ok(())
        } else {
            let input = self.input.get().to_owned();
            Err(Difference { input, expected: self.expect, got })
        };
        Ok((function.name, verdict))
    }
}

/// One of the crate's words, read by `FromStr` and written by `Display`, so
/// that vectors need none of the crate's features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Word<T>(pub(crate) T);

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        word.parse().map(Self).map_err(D::Error::custom)
    }
}

impl<T: Display> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
