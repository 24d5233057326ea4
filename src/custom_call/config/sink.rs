//! Text written piece by piece: into a string, or only counted.

use super::number::{NATURAL, natural, natural_len};

/// Where text is written to.
pub(in crate::custom_call) trait Sink {
    fn text(&mut self, text: &str);
    fn base64(&mut self, bytes: &[u8]);
    fn decimal(&mut self, number: i64);
    fn natural(&mut self, number: u64);
}

impl Sink for String {
    #[inline]
    fn text(&mut self, text: &str) {
        self.push_str(text);
    }

    fn base64(&mut self, bytes: &[u8]) {
        base64_simd::STANDARD.encode_append(bytes, self);
    }

    fn decimal(&mut self, number: i64) {
        if number < 0 {
            self.push('-');
        }
        self.natural(number.unsigned_abs());
    }

    fn natural(&mut self, number: u64) {
        #[allow(clippy::cast_possible_truncation, reason = "it is a digit")]
        if number < 10 {
            self.push(char::from(b'0' | number as u8));
        } else {
            self.push_str(natural(number, &mut [0; NATURAL]));
        }
    }
}

/// Counts, so that what is written fits at once.
#[derive(Default)]
pub(in crate::custom_call) struct Length(usize);

impl Length {
    pub(in crate::custom_call) const fn get(&self) -> usize {
        self.0
    }

    #[inline]
    const fn add(&mut self, bytes: usize) {
        self.0 = self.0.saturating_add(bytes);
    }
}

impl Sink for Length {
    #[inline]
    fn text(&mut self, text: &str) {
        self.add(text.len());
    }

    fn base64(&mut self, bytes: &[u8]) {
        self.add(base64_simd::STANDARD.encoded_length(bytes.len()));
    }

    fn decimal(&mut self, number: i64) {
        self.add(usize::from(number < 0));
        self.natural(number.unsigned_abs());
    }

    fn natural(&mut self, number: u64) {
        self.add(natural_len(number));
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
    #[inline]
    pub(in crate::custom_call) fn begin(sink: &'s mut S, layout: &'static Layout) -> Self {
        sink.text(layout.open);
        Self { sink, layout, first: true }
    }

    #[inline]
    pub(in crate::custom_call) fn end(self) {
        self.sink.text(self.layout.close);
    }

    /// Where the next element goes.
    #[inline]
    pub(in crate::custom_call) fn element(&mut self) -> &mut S {
        self.after(self.layout.separator)
    }

    /// Where an element goes whose text begins so, with the separator.
    #[inline]
    pub(in crate::custom_call) fn after(&mut self, text: &'static str) -> &mut S {
        let passed_over = if self.first { self.layout.separator.len() } else { 0 };
        self.first = false;
        self.sink.text(text.get(passed_over..).unwrap_or_default());
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
