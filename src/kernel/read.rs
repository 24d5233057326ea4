//! Kernels read from JSON, and where in it a place is.

use super::description::Kernel;
use super::place::{Place, Step};
use crate::word::{Shown, Word, nearest};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::ops::Range;

/// The kernels of a JSON text: a single one, several one after the other (as in
/// JSON lines), or a list of them.
///
/// Each is read when it is asked for, so that one which cannot be used does not
/// keep those before it from being checked.
///
/// ```
/// use mosaic_memspace::kernel::Kernels;
///
/// let text = r#"{"core_type": "tc", "operands": []}
///               {"core_type": "tc", "operand": []}"#;
/// let mut kernels = Kernels::new(text);
/// assert!(kernels.next().is_some_and(|kernel| kernel.is_ok()));
/// let error = kernels.next().and_then(Result::err).map(|error| error.to_string());
/// assert_eq!(
///     error.as_deref(),
///     Some("2:43: operand: unknown field `operand`; did you mean `operands`?")
/// );
/// assert!(kernels.next().is_none());
/// ```
pub struct Kernels<'a> {
    text: &'a str,
    source: Source<'a>,
}

enum Source<'a> {
    /// One after the other.
    Stream(serde_json::StreamDeserializer<'a, serde_json::de::StrRead<'a>, &'a RawValue>),
    List(std::vec::IntoIter<&'a RawValue>),
    Failed(serde_json::Error),
    Done,
}

impl<'a> Kernels<'a> {
    /// The kernels of `text`.
    pub fn new(text: &'a str) -> Self {
        let source = if text.trim_ascii_start().starts_with('[') {
            match serde_json::from_str::<Vec<&RawValue>>(text) {
                Ok(list) => Source::List(list.into_iter()),
                Err(error) => Source::Failed(error),
            }
        } else {
            Source::Stream(serde_json::Deserializer::from_str(text).into_iter())
        };
        Self { text, source }
    }

    fn fail(&mut self, error: &serde_json::Error) -> InputError {
        self.source = Source::Done;
        InputError::new(String::new(), error, 1, 1)
    }

    fn read(&self, raw: &'a RawValue) -> Result<Described<'a>, InputError> {
        let mut deserializer = serde_json::Deserializer::from_str(raw.get());
        match serde_path_to_error::deserialize(&mut deserializer) {
            Ok(kernel) => Ok(Described { kernel, text: self.text, json: raw }),
            Err(error) => {
                let path = error.path().to_string();
                let (line, column) = Positions::new(self.text).of(offset(self.text, raw.get()));
                let path = if path == "." { String::new() } else { path };
                Err(InputError::new(path, error.inner(), line, column))
            }
        }
    }
}

impl<'a> Iterator for Kernels<'a> {
    type Item = Result<Described<'a>, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        let raw = match &mut self.source {
            Source::Stream(stream) => stream.next(),
            Source::List(list) => list.next().map(Ok),
            Source::Failed(_) => None,
            Source::Done => return None,
        };
        match (raw, std::mem::replace(&mut self.source, Source::Done)) {
            (Some(Ok(raw)), source) => {
                self.source = source;
                Some(self.read(raw))
            }
            (Some(Err(error)), _) | (None, Source::Failed(error)) => Some(Err(self.fail(&error))),
            (None, _) => None,
        }
    }
}

/// A kernel, and the JSON that describes it.
///
/// ```
/// use mosaic_memspace::kernel::{Kernels, Place};
///
/// let text = r#"{"core_type": "tc",
///                "operands": [], "grid": [4]}"#;
/// let described = Kernels::new(text).next().and_then(Result::ok).ok_or("no kernel")?;
/// let mut locator = described.locator();
/// let range = locator.range(&Place::list("grid"));
/// assert_eq!(&text[range.clone()], "[4]");
/// assert_eq!(mosaic_memspace::kernel::Positions::new(text).of(range.start), (2, 40));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct Described<'a> {
    /// What it says.
    pub kernel: Kernel,
    text: &'a str,
    json: &'a RawValue,
}

impl<'a> Described<'a> {
    /// Finds places of the description in the text.
    pub fn locator(&self) -> Locator<'a> {
        Locator { text: self.text, json: self.json, parts: HashMap::new() }
    }
}

/// Finds places of a description in the text that it was read from; what it has
/// once taken apart it keeps.
pub struct Locator<'a> {
    text: &'a str,
    json: &'a RawValue,
    parts: HashMap<usize, Parts<'a>>,
}

enum Parts<'a> {
    Object(HashMap<Cow<'a, str>, &'a RawValue>),
    List(Vec<&'a RawValue>),
    None,
}

impl<'a> Locator<'a> {
    /// The bytes of the text that say what is at `place`; where nothing is
    /// written there, those of what it is missing from.
    pub fn range(&mut self, place: &Place) -> Range<usize> {
        let mut json = self.json;
        for step in place.steps() {
            match self.part(json, step) {
                Some(part) => json = part,
                None => break,
            }
        }
        let start = offset(self.text, json.get());
        start..start.saturating_add(json.get().len())
    }

    fn part(&mut self, json: &'a RawValue, step: &Step) -> Option<&'a RawValue> {
        let parts = match self.parts.entry(offset(self.text, json.get())) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Parts::of(json)),
        };
        match (parts, step) {
            (Parts::Object(parts), Step::Field(name)) => parts.get(*name).copied(),
            (Parts::Object(parts), Step::Key(name)) => parts.get(&**name).copied(),
            (Parts::List(parts), Step::Index(i) | Step::Named(i, _)) => parts.get(*i).copied(),
            _ => None,
        }
    }
}

impl<'a> Parts<'a> {
    fn of(json: &'a RawValue) -> Self {
        let text = json.get();
        let object = || serde_json::from_str(text).map(Self::Object);
        let list = || serde_json::from_str(text).map(Self::List);
        object().or_else(|_| list()).unwrap_or(Self::None)
    }
}

/// A JSON text that cannot be used: no JSON, a wrong type, an unknown field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {}{message}", Prefix(.path))]
pub struct InputError {
    /// The path in the kernel's JSON, as `operands[0].dtype`; empty at its top.
    pub path: String,
    /// The line of the text, from 1.
    pub line: usize,
    /// The column in the line, from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

impl InputError {
    /// From an error in a text that starts at this line and column.
    fn new(path: String, error: &serde_json::Error, line: usize, column: usize) -> Self {
        let start = if error.line() <= 1 { column } else { 1 };
        Self {
            path,
            line: line.saturating_add(error.line().saturating_sub(1)),
            column: start.saturating_add(error.column().saturating_sub(1)),
            message: message(&error.to_string()),
        }
    }
}

/// A path before a message, so much of it as helps.
struct Prefix<'a>(&'a str);

impl fmt::Display for Prefix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "{}: ", Word::new(self.0)) }
    }
}

/// serde's message without its own line and column, with no more of the text than
/// helps, and with a guess at what an unknown field was meant to be.
fn message(message: &str) -> String {
    let message = message.rsplit_once(" at line ").map_or(message, |(message, _)| message);
    // What is expected comes from here: what is found may say anything.
    let Some((found, expected)) = message.rsplit_once(", expected ") else {
        return message.to_owned();
    };
    let field = found.strip_prefix("unknown field ").map(|field| field.trim_matches('`'));
    match field.and_then(|field| nearest(field, quoted(expected))) {
        Some(known) => format!("{}; did you mean `{known}`?", shown(found)),
        None => format!("{}, expected {expected}", shown(found)),
    }
}

/// What was found, with no more of a word of the text than helps. serde has escaped
/// texts already, but not names.
fn shown(found: &str) -> String {
    let name = |said: &str| {
        let word = found.strip_prefix(said)?.strip_prefix('`')?.strip_suffix('`')?;
        Some(format!("{said}`{}`", Shown(word)))
    };
    let text = |said: &str| {
        let text = found.strip_prefix(said)?;
        let (end, _) = text.char_indices().nth(Shown::CHARACTERS)?;
        Some(format!("{said}{}…", text.get(..end)?))
    };
    name("unknown field ")
        .or_else(|| name("unknown variant "))
        .or_else(|| text("invalid type: string "))
        .or_else(|| text("invalid value: string "))
        .unwrap_or_else(|| found.to_owned())
}

/// The words between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Where `part`, a slice of `text`, starts in it.
fn offset(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// Lines and columns of a text, both from 1; columns count characters.
///
/// It reads the text once, as far as it is asked, whatever places are asked for.
///
/// ```
/// use mosaic_memspace::kernel::Positions;
/// let mut positions = Positions::new("a\n bc");
/// assert_eq!(positions.of(4), (2, 3));
/// assert_eq!(positions.of(0), (1, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Positions<'a> {
    text: &'a str,
    /// The positions of bytes at equal distances.
    marks: Vec<(usize, usize)>,
}

impl<'a> Positions<'a> {
    /// Bytes from one mark to the next.
    const STEP: usize = 4096;

    /// Those of this text.
    pub const fn new(text: &'a str) -> Self {
        Self { text, marks: Vec::new() }
    }

    /// The line and the column of the byte at `offset`.
    pub fn of(&mut self, offset: usize) -> (usize, usize) {
        let offset = offset.min(self.text.len());
        let number = offset.checked_div(Self::STEP).unwrap_or(0);
        let mut mark = self.mark(number.min(self.marks.len().saturating_sub(1)));
        while self.marks.len() <= number {
            if !self.marks.is_empty() {
                let start = self.marks.len().saturating_sub(1).saturating_mul(Self::STEP);
                mark = self.after(mark, start..start.saturating_add(Self::STEP));
            }
            self.marks.push(mark);
        }
        self.after(self.mark(number), number.saturating_mul(Self::STEP)..offset)
    }

    fn mark(&self, number: usize) -> (usize, usize) {
        self.marks.get(number).copied().unwrap_or((1, 1))
    }

    /// The position behind these bytes, of which the first has a position.
    fn after(&self, (line, column): (usize, usize), range: Range<usize>) -> (usize, usize) {
        let bytes = self.text.as_bytes().get(range).unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n');
        let (newlines, last_line) = lines.enumerate().last().unwrap_or_default();
        // A character has one byte that does not continue another.
        let characters = last_line.iter().filter(|byte| (**byte & 0xc0) != 0x80).count();
        let column = if newlines == 0 { column } else { 1 };
        (line.saturating_add(newlines), column.saturating_add(characters))
    }
}
