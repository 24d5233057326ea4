//! Text written piece by piece: into a string, or only counted.

use super::number::{INTEGER, integer, integer_len, natural, natural_len};

/// Where text is written to.
pub(in crate::custom_call) trait Sink {
    fn text(&mut self, text: &str);
    fn base64(&mut self, bytes: &[u8]);
    fn decimal(&mut self, number: i64);
    fn natural(&mut self, number: u64);
}

impl Sink for String {
    fn text(&mut self, text: &str) {
        self.push_str(text);
    }

    fn base64(&mut self, bytes: &[u8]) {
        base64_simd::STANDARD.encode_append(bytes, self);
    }

    fn decimal(&mut self, number: i64) {
        self.push_str(integer(number, &mut [0; INTEGER]));
    }

    fn natural(&mut self, number: u64) {
        self.push_str(natural(number, &mut [0; INTEGER]));
    }
}

/// Counts, so that what is written fits at once.
#[derive(Default)]
pub(in crate::custom_call) struct Length(usize);

impl Length {
    pub(in crate::custom_call) const fn get(&self) -> usize {
        self.0
    }
}

impl Sink for Length {
    fn text(&mut self, text: &str) {
        self.0 = self.0.saturating_add(text.len());
    }

    fn base64(&mut self, bytes: &[u8]) {
        self.0 = self.0.saturating_add(base64_simd::STANDARD.encoded_length(bytes.len()));
    }

    fn decimal(&mut self, number: i64) {
        self.0 = self.0.saturating_add(integer_len(number));
    }

    fn natural(&mut self, number: u64) {
        self.0 = self.0.saturating_add(natural_len(number));
    }
}

/// How an object or a list is laid out: JAX has one way for each of them.
pub(in crate::custom_call) struct Layout {
    pub(in crate::custom_call) open: &'static str,
    pub(in crate::custom_call) separator: &'static str,
    pub(in crate::custom_call) close: &'static str,
}

pub(in crate::custom_call) const LIST: Layout = Layout { open: "[", separator: ",", close: "]" };

/// An object or a list that is being written.
pub(in crate::custom_call) struct Members<'s, S> {
    sink: &'s mut S,
    layout: &'static Layout,
    first: bool,
}

impl<'s, S: Sink> Members<'s, S> {
    pub(in crate::custom_call) fn begin(sink: &'s mut S, layout: &'static Layout) -> Self {
        sink.text(layout.open);
        Self { sink, layout, first: true }
    }

    pub(in crate::custom_call) fn end(self) {
        self.sink.text(self.layout.close);
    }

    /// Where the next element goes.
    pub(in crate::custom_call) fn element(&mut self) -> &mut S {
        if !self.first {
            self.sink.text(self.layout.separator);
        }
        self.first = false;
        self.sink
    }
}

pub(in crate::custom_call) fn list<S: Sink, T>(
    sink: &mut S,
    layout: &'static Layout,
    elements: impl IntoIterator<Item = T>,
    mut element: impl FnMut(T, &mut S),
) {
    let mut members = Members::begin(sink, layout);
    for each in elements {
        element(each, members.element());
    }
    members.end();
}
