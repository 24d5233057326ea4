//! What someone else wrote, as it may be shown: without what cannot be seen, or would
//! steer a terminal, and in a length that can be read.

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Characters of a name that are shown in a line of text.
const NAME: usize = 80;

/// Characters that are shown in a cell of a table.
const CELL: usize = 1000;

/// Control characters, line separators, and marks that turn the direction of text.
pub(crate) fn is_unseen(it: char) -> bool {
    it.is_control()
        || matches!(
            it,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

/// A name, escaped and cut.
pub(crate) fn name(text: &str) -> String {
    let mut shown = escaped(text, NAME);
    if text.chars().nth(NAME).is_some() {
        let _ = write!(shown, "… ({} bytes)", text.len());
    }
    shown
}

/// What is in a cell of a table, escaped and cut.
pub(crate) fn cell(text: &str) -> String {
    let mut shown = escaped(text, CELL);
    if text.chars().nth(CELL).is_some() {
        shown.push('…');
    }
    shown
}

/// A message of several lines.
pub(crate) fn lines(text: &str) -> String {
    text.split('\n').map(|line| escaped(line, usize::MAX)).collect::<Vec<_>>().join("\n")
}

fn escaped(text: &str, characters: usize) -> String {
    let mut shown = String::new();
    for it in text.chars().take(characters) {
        if is_unseen(it) {
            shown.extend(it.escape_debug());
        } else {
            shown.push(it);
        }
    }
    shown
}

/// A text with what cannot be seen replaced, in as many bytes; line breaks and tabs stay.
pub(crate) fn veiled(text: &str) -> String {
    let veiled =
        |it: char| match (is_unseen(it) && !matches!(it, '\n' | '\r' | '\t'), it.len_utf8()) {
            (false, _) => it,
            (true, 1) => '?',
            (true, 2) => '·',
            (true, _) => char::REPLACEMENT_CHARACTER, // three bytes, as all the others
        };
    text.chars().map(veiled).collect()
}

/// Writes a value as JSON, with escapes in its strings for what cannot be seen.
pub(crate) fn write_json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    write_with(out, value, CompactFormatter)
}

/// The same, for people.
pub(crate) fn write_pretty_json(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    write_with(out, value, PrettyFormatter::new())
}

fn write_with(
    out: &mut impl Write,
    value: &impl Serialize,
    formatter: impl Formatter,
) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(out, Escaping(formatter));
    Ok(value.serialize(&mut serializer)?)
}

/// A way to write JSON, but for what is in its strings.
struct Escaping<F>(F);

/// The parts in which `F` may differ from a formatter that has no spaces.
macro_rules! as_inside {
    ($($part:ident($($argument:ident: $type:ty),*);)*) => {
        $(
            fn $part<W: ?Sized + Write>(
                &mut self,
                out: &mut W,
                $($argument: $type),*
            ) -> io::Result<()> {
                self.0.$part(out, $($argument),*)
            }
        )*
    };
}

impl<F: Formatter> Formatter for Escaping<F> {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // Of ASCII, serde_json has escaped what cannot be seen, but for the last.
        if fragment.bytes().all(|byte| byte < 0x7f) {
            return out.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some(at) = rest.find(is_unseen) {
            let (seen, unseen) = rest.split_at(at);
            out.write_all(seen.as_bytes())?;
            let mut characters = unseen.chars();
            if let Some(it) = characters.next() {
                write!(out, "\\u{:04x}", u32::from(it))?;
            }
            rest = characters.as_str();
        }
        out.write_all(rest.as_bytes())
    }

    as_inside! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    const ODD: &str = "a\u{1b}[31m\u{9b}\u{7f}\u{202e}\u{2028}\0ü\u{1f600}";

    #[test]
    fn nothing_unseen_is_shown() {
        for shown in [name(ODD), cell(ODD), lines(ODD), veiled(ODD)] {
            assert!(!shown.chars().any(is_unseen), "{shown:?}");
            assert!(shown.ends_with("ü\u{1f600}"));
        }
        assert_eq!(veiled(ODD).len(), ODD.len());
        assert_eq!(lines("a\nb\r"), "a\nb\\r");
        assert_eq!(name(&"é".repeat(100)), format!("{}… (200 bytes)", "é".repeat(80)));
        assert_eq!(cell(&"é".repeat(1001)), format!("{}…", "é".repeat(1000)));
    }

    #[test]
    fn json_is_the_same_value_without_what_is_unseen() {
        let value = serde_json::json!({ODD: [ODD, 1, null, {"a": []}], "b": {}});
        let plain = |write: fn(&mut Vec<u8>, &serde_json::Value) -> io::Result<()>| {
            let mut out = Vec::new();
            write(&mut out, &value).unwrap();
            String::from_utf8(out).unwrap()
        };
        let compact = plain(write_json);
        assert!(!compact.chars().any(is_unseen));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&compact).unwrap(), value);
        let pretty = plain(write_pretty_json);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&pretty).unwrap(), value);
        let seen = serde_json::json!({"a": ["ü\"\\\n", 1.5, true], "b": {}});
        let mut out = Vec::new();
        write_json(&mut out, &seen).unwrap();
        assert_eq!(out, seen.to_string().into_bytes());
        let mut out = Vec::new();
        write_pretty_json(&mut out, &seen).unwrap();
        assert_eq!(out, serde_json::to_vec_pretty(&seen).unwrap());
    }
}
