//! Diagnostics as a terminal shows them: message, place, caret, help.

use crate::input::Input;
use crate::shown;
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use mosaic_memspace::error::{Code, Severity};
use mosaic_memspace::kernel::{Diagnostic, Place};
use mosaic_memspace::read::Span;
use std::ops::Range;

/// Lines are shown from their start, but for what is further on than this.
const FAR: usize = 200;

/// Bytes of such a line shown on either side of what a diagnostic is about.
const AROUND: usize = 60;

/// What is wrong, where in a description, and what would be right.
pub(crate) struct Told<'a> {
    pub(crate) code: Code,
    pub(crate) at: &'a Place,
    pub(crate) message: &'a str,
    pub(crate) help: &'a str,
}

impl<'a> From<&'a Diagnostic> for Told<'a> {
    fn from(diagnostic: &'a Diagnostic) -> Self {
        let Diagnostic { code, at, message, help, .. } = diagnostic;
        Self { code: *code, at, message, help }
    }
}

/// One fault of a part of a text.
pub(crate) fn render(told: &Told<'_>, input: &Input, span: &Span, colors: bool) -> String {
    let level = match told.code.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let Input { name, text } = input;
    let Span { range, line, column, .. } = span;
    let shown = line_around(text, range);
    let whole_line =
        shown.start == 0 || text.as_bytes().get(shown.start.saturating_sub(1)) == Some(&b'\n');
    let start = range.start.saturating_sub(shown.start);
    let end = range.end.min(shown.end).saturating_sub(shown.start);
    let source = shown::veiled(text.get(shown).unwrap_or_default());
    let name = shown::name(name);
    let at = shown::cell(&told.at.to_string());
    let snippet = Snippet::source(&*source)
        .line_start(*line)
        .fold(false)
        .annotation(AnnotationKind::Primary.span(start..end).label(at));
    let title = level.primary_title(told.message).id(told.code.as_str());
    let group = if whole_line {
        title.element(snippet.path(&*name))
    } else {
        title.element(Origin::path(&*name).line(*line).char_column(*column)).element(snippet)
    };
    let report = [group.element(Level::HELP.message(told.help))];
    let renderer = if colors { Renderer::styled() } else { Renderer::plain() };
    renderer.decor_style(DecorStyle::Ascii).render(&report)
}

/// The first line of `range`, or so much of it as a terminal can show. A line may
/// be the whole file: no more of it is looked at than is shown.
fn line_around(text: &str, range: &Range<usize>) -> Range<usize> {
    let furthest = char_boundary(text, range.start.saturating_sub(FAR));
    let before = text.get(furthest..range.start).unwrap_or_default();
    let start = match before.rfind('\n') {
        Some(newline) => furthest.saturating_add(newline).saturating_add(1),
        None if furthest == 0 => 0,
        None => char_boundary(text, range.start.saturating_sub(AROUND)),
    };
    let longest = range.end.min(range.start.saturating_add(AROUND)).saturating_add(FAR);
    let longest = char_boundary(text, longest);
    let after = text.get(range.start..longest).unwrap_or_default();
    let end = after.find('\n').map_or(longest, |newline| range.start.saturating_add(newline));
    start..end
}

/// The last boundary between characters that is not after `at`.
fn char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
