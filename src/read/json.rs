//! JSON as a tree with places, as far as a text can be read.
//!
//! serde_json says where a text breaks, but neither where whole values are nor what
//! stands before the break. So brackets, commas and the ends of values are found
//! here, and serde_json decodes what is between them.

use super::fault::JsonFault;
use super::value::Located;
use crate::kernel::Place;
use crate::word::Shown;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// A value of a text, and all values in it: each before those in it, keys as texts.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    text: &'a str,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Kind,
    start: usize,
    end: usize,
    /// The first node after this one and those in it.
    next: usize,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    False,
    True,
    Number,
    Text,
    List,
    Object,
    /// A list or an object that the text does not close.
    OpenList,
    OpenObject,
    /// A word or a number that is no JSON, which is told already.
    Broken,
}

impl<'a> Tree<'a> {
    /// The number of the value that holds all others.
    pub(super) const ROOT: usize = 0;

    /// Reads the value that starts at `start`, and where it ends, or else where the text
    /// breaks in it.
    pub(super) fn read(
        text: &'a str,
        start: usize,
        faults: &mut Vec<Located>,
    ) -> (Self, Result<usize, usize>) {
        let mut parser = Parser { text, at: start, nodes: Vec::new(), open: Vec::new(), faults };
        let end = match parser.value() {
            Ok(()) => Ok(parser.at),
            Err(fault) => {
                parser.faults.push(fault);
                Err(parser.at)
            }
        };
        (Self { text, nodes: parser.nodes }, end)
    }

    pub(super) fn kind(&self, node: usize) -> Kind {
        self.nodes.get(node).map_or(Kind::Broken, |node| node.kind)
    }

    /// The bytes of the text.
    pub(super) fn range(&self, node: usize) -> Range<usize> {
        self.nodes.get(node).map_or(0..0, |node| node.start..node.end)
    }

    pub(super) fn json(&self, node: usize) -> &'a str {
        self.text.get(self.range(node)).unwrap_or_default()
    }

    /// What a text says.
    pub(super) fn string(&self, node: usize) -> Option<Cow<'a, str>> {
        let json = self.json(node);
        let inside = json.strip_prefix('"')?.strip_suffix('"')?;
        if inside.contains('\\') {
            return serde_json::from_str(json).ok().map(Cow::Owned);
        }
        Some(Cow::Borrowed(inside))
    }

    /// The values of a list, or the keys and the values of an object.
    pub(super) fn parts(&self, node: usize) -> impl Iterator<Item = usize> {
        let end = self.after(node).min(self.nodes.len());
        let inside = move |part: &usize| *part < end;
        let first = Some(node.saturating_add(1)).filter(inside);
        std::iter::successors(first, move |part| Some(self.after(*part)).filter(inside))
    }

    fn after(&self, node: usize) -> usize {
        self.nodes.get(node).map_or(node, |node| node.next)
    }
}

struct Parser<'a, 'f> {
    text: &'a str,
    at: usize,
    nodes: Vec<Node>,
    /// The lists and objects around what comes next.
    open: Vec<usize>,
    faults: &'f mut Vec<Located>,
}

/// What comes next.
#[derive(Clone, Copy)]
enum Next {
    Value,
    Key,
    Colon,
    /// A comma, or the end of a list or an object.
    More,
}

impl Next {
    fn expected(self, around: Option<Kind>) -> &'static str {
        match (self, around) {
            (Self::Value, _) => "a value",
            (Self::Key, _) => "a key in double quotes",
            (Self::Colon, _) => "`:`",
            (Self::More, Some(Kind::OpenObject)) => "`,` or `}`",
            (Self::More, _) => "`,` or `]`",
        }
    }
}

impl Parser<'_, '_> {
    fn value(&mut self) -> Result<(), Located> {
        let mut next = Next::Value;
        loop {
            next = self.step(next)?;
            if self.open.is_empty() {
                return Ok(());
            }
        }
    }

    fn step(&mut self, next: Next) -> Result<Next, Located> {
        self.at = blanks(self.text, self.at);
        let around = self.around();
        let Some(byte) = self.text.as_bytes().get(self.at).copied() else {
            return Err(self.unclosed(next));
        };
        match (next, byte) {
            (Next::Value, b'{') => {
                self.open(Kind::OpenObject);
                return Ok(Next::Key);
            }
            (Next::Value, b'[') => {
                self.open(Kind::OpenList);
                return Ok(Next::Value);
            }
            (Next::Value, b'"') => self.string()?,
            (Next::Value, b'-' | b'0'..=b'9') => self.number(),
            (Next::Value, b'A'..=b'Z' | b'a'..=b'z' | b'_') => self.word(),
            (Next::Key, b'"') => {
                self.string()?;
                return Ok(Next::Colon);
            }
            (Next::Colon, b':') => {
                self.at = self.at.saturating_add(1);
                return Ok(Next::Value);
            }
            (Next::More, b',') => {
                self.at = self.at.saturating_add(1);
                return Ok(self.item());
            }
            (Next::Key | Next::More, b'}') if around == Some(Kind::OpenObject) => {
                self.close(next, Kind::Object);
            }
            (Next::Value | Next::More, b']') if around == Some(Kind::OpenList) => {
                self.close(next, Kind::List);
            }
            // A comma is missing, unless it is the next kernel that begins here.
            (Next::More, b'"' | b'[' | b'{' | b'-' | b'0'..=b'9')
                if !is_unindented_object(self.text, self.at) =>
            {
                self.tell(self.at..self.at.saturating_add(1), next.expected(around));
                return Ok(self.item());
            }
            (Next::Value | Next::Key | Next::Colon | Next::More, _) => {
                let found = character(self.text, self.at);
                return Err(not_json(self.text, found, next.expected(around)));
            }
        }
        Ok(Next::More)
    }

    fn around(&self) -> Option<Kind> {
        self.open.last().and_then(|node| self.nodes.get(*node)).map(|node| node.kind)
    }

    /// What begins another part of the list or object.
    fn item(&self) -> Next {
        if self.around() == Some(Kind::OpenObject) { Next::Key } else { Next::Value }
    }

    fn push(&mut self, kind: Kind, end: usize) {
        let next = self.nodes.len().saturating_add(1);
        self.nodes.push(Node { kind, start: self.at, end, next });
        self.at = end;
    }

    fn open(&mut self, kind: Kind) {
        self.open.push(self.nodes.len());
        self.push(kind, self.at.saturating_add(1));
        // Until it is closed, it is all that there is.
        if let Some(node) = self.nodes.last_mut() {
            node.next = usize::MAX;
        }
    }

    fn close(&mut self, next: Next, kind: Kind) {
        let count = self.nodes.len();
        let node = self.open.pop().and_then(|open| Some((open, self.nodes.get_mut(open)?)));
        let Some((open, node)) = node else { return };
        node.kind = kind;
        node.end = self.at.saturating_add(1);
        node.next = count;
        let is_after_comma = match next {
            Next::Value | Next::Key => open.saturating_add(1) < count,
            Next::Colon | Next::More => false,
        };
        if is_after_comma {
            let expected = next.expected(None);
            self.tell(self.at..self.at.saturating_add(1), expected);
        }
        self.at = self.at.saturating_add(1);
    }

    fn string(&mut self) -> Result<(), Located> {
        let bytes = self.text.as_bytes();
        let mut end = self.at.saturating_add(1);
        let mut is_escaped = false;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => {
                    is_escaped = true;
                    end = end.saturating_add(1);
                }
                None | Some(b'\n') => {
                    let range = self.at..end.min(bytes.len());
                    return Err(not_json(self.text, range, "a string with its closing quote"));
                }
                Some(0..0x20) => {
                    self.tell(end..end.saturating_add(1), "an escape as \\t or \\u0007");
                }
                Some(_) => {}
            }
            end = end.saturating_add(1);
        }
        let range = self.at..end.saturating_add(1);
        let is_broken = is_escaped && !is_json(self.text, range.clone());
        if is_broken {
            self.tell(range.clone(), "a string with JSON's escapes");
        }
        self.push(if is_broken { Kind::Broken } else { Kind::Text }, range.end);
        Ok(())
    }

    fn number(&mut self) {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let range = self.run(is_part);
        let digits = self.text.get(range.clone()).unwrap_or_default();
        let is_plain = !digits.starts_with('0') && digits.bytes().all(|it| it.is_ascii_digit());
        if is_plain || is_json(self.text, range.clone()) {
            self.push(Kind::Number, range.end);
        } else {
            self.tell(range.clone(), "a number as 0.5 or -1e3");
            self.push(Kind::Broken, range.end);
        }
    }

    fn word(&mut self) {
        let range = self.run(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let kind = match self.text.get(range.clone()) {
            Some("null") => Kind::Null,
            Some("false") => Kind::False,
            Some("true") => Kind::True,
            Some(_) | None => {
                self.tell(range.clone(), "true, false, null, or a string in double quotes");
                Kind::Broken
            }
        };
        self.push(kind, range.end);
    }

    /// The bytes from here on that are parts of the same.
    fn run(&self, is_part: impl Fn(u8) -> bool) -> Range<usize> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| !is_part(*byte)).unwrap_or(rest.len());
        self.at..self.at.saturating_add(length)
    }

    /// A fault after which the rest can still be told apart.
    fn tell(&mut self, range: Range<usize>, expected: &'static str) {
        self.faults.push(not_json(self.text, range, expected));
    }

    /// The text ends too early: the bracket that is missing its other one is told.
    fn unclosed(&self, next: Next) -> Located {
        match self.open.last().and_then(|open| self.nodes.get(*open)) {
            Some(node) => {
                let is_object = node.kind == Kind::OpenObject;
                let (open, close) = if is_object { ('{', '}') } else { ('[', ']') };
                let fault = JsonFault::Unclosed { open, close };
                Located { fault, at: Place::kernel(), range: node.start..node.end }
            }
            None => not_json(self.text, self.at..self.at, next.expected(None)),
        }
    }
}

/// Another part of the text is there than what belongs there.
pub(super) fn not_json(text: &str, range: Range<usize>, expected: &'static str) -> Located {
    let found = match text.get(range.clone()) {
        None | Some("") => "the end of the text".to_owned(),
        Some(found) => format!("`{}`", Shown(found)),
    };
    let fault = JsonFault::NotJson { found, expected };
    Located { fault, at: Place::kernel(), range }
}

/// The character at `at`.
pub(super) fn character(text: &str, at: usize) -> Range<usize> {
    let rest = text.get(at..).unwrap_or_default();
    at..at.saturating_add(rest.chars().next().map_or(0, char::len_utf8))
}

fn is_json(text: &str, range: Range<usize>) -> bool {
    let json = text.get(range).unwrap_or_default();
    // A raw value may hold half a surrogate pair; a string may not.
    if json.starts_with('"') {
        return serde_json::from_str::<Cow<'_, str>>(json).is_ok();
    }
    serde_json::from_str::<&RawValue>(json).is_ok()
}

/// Where the blanks end that are at `at`.
pub(super) fn blanks(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    at.saturating_add(rest.iter().position(|byte| !is_blank(byte)).unwrap_or(rest.len()))
}

/// Whether an object begins a line here, as each does that stands in a line of its own.
fn is_unindented_object(text: &str, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| text.as_bytes().get(before));
    text.as_bytes().get(at) == Some(&b'{') && before == Some(&b'\n')
}

/// The next line, from `at` on, that begins with an object.
pub(super) fn next_object(text: &str, at: usize) -> Option<usize> {
    if is_unindented_object(text, at) {
        return Some(at);
    }
    text.get(at..)?.find("\n{").map(|found| at.saturating_add(found).saturating_add(1))
}
