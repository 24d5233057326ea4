//! Reports as one HTML file that needs nothing else: what lies in which memory, on
//! which chip, and what is wrong.

use crate::bars::bytes;
use crate::grid::Grid;
use crate::shown::is_unseen;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use mosaic_memspace::error::{Code, Severity};
use mosaic_memspace::fit::Part;
use mosaic_memspace::kernel::{Diagnostic, Memory, Place, Report};
use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;

/// A kernel, and what it comes to on one chip after the other.
pub(crate) struct Kernel {
    pub(crate) name: String,
    /// The file, and the line in it.
    pub(crate) place: String,
    pub(crate) checked: Vec<Checked>,
}

/// What a kernel comes to on a chip.
pub(crate) struct Checked {
    pub(crate) chip: Option<String>,
    pub(crate) report: Report,
    pub(crate) refs: Grid,
}

/// The page about `kernels`. `chips` are those that all of them were checked for; if
/// none were named, each was for its own.
pub(crate) fn page(kernels: &[Kernel], chips: &[String]) -> String {
    let count = kernels.len();
    let title = match kernels {
        [kernel] => format!("Memory of {}", shown(&kernel.name)),
        _ => format!("Memory of {count} kernels"),
    };
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                header {
                    h1 { bdi { (title) } }
                    p.quiet {
                        "As declared, by mosaic-memspace " (env!("CARGO_PKG_VERSION"))
                        ". The compiler may add spilled registers and scratch of its own."
                    }
                }
                main {
                    (matrix(kernels, chips))
                    @for (number, kernel) in kernels.iter().enumerate() {
                        (article(kernel, number))
                    }
                }
            }
        }
    };
    page.into_string()
}

/// Every kernel on every chip, each leading to what is below.
fn matrix(kernels: &[Kernel], chips: &[String]) -> Markup {
    html! {
        div.wide {
            table.matrix {
                thead {
                    tr {
                        th scope="col" { "kernel" }
                        @if chips.is_empty() {
                            th scope="col" { "its own chip" }
                        }
                        @for chip in chips {
                            th scope="col" { (chip) }
                        }
                    }
                }
                tbody {
                    @for (number, kernel) in kernels.iter().enumerate() {
                        tr {
                            th scope="row" { (name(&kernel.name)) }
                            @for (column, checked) in kernel.checked.iter().enumerate() {
                                td {
                                    a href={ "#" (anchor(number, column)) } {
                                        (verdict(&checked.report))
                                        @if let (true, Some(chip)) = (chips.is_empty(), &checked.chip) {
                                            " on " (name(chip))
                                        }
                                    }
                                    (gauges(&checked.report.memories))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// How full each memory is, small.
fn gauges(memories: &[Memory]) -> Markup {
    html! {
        @for memory in memories.iter().filter(|memory| memory.bytes > 0) {
            div.gauge.over[memory.bytes > memory.limit] {
                span { (memory.kind.as_str()) }
                span.track {
                    span.fill style={ "width:" (Percent::of(memory.bytes, memory.limit).at_most_100()) } {}
                }
                span.number { (Percent::of(memory.bytes, memory.limit).rounded()) }
            }
        }
    }
}

fn article(kernel: &Kernel, number: usize) -> Markup {
    let alone = kernel.checked.len() == 1;
    let shared = on_every_chip(&kernel.checked);
    let is_shared = |diagnostic: &&Diagnostic| shared.contains(&key(diagnostic));
    let first = kernel.checked.first().map(|checked| checked.report.diagnostics.iter());
    let shown_once: Vec<_> = first.into_iter().flatten().filter(is_shared).collect();
    html! {
        article {
            h2 { (name(&kernel.name)) }
            p.quiet {
                (name(&kernel.place))
                @if let Some(core_type) = kernel.checked.first().and_then(|it| it.report.core_type) {
                    " · " (core_type)
                }
            }
            @if !shown_once.is_empty() {
                section {
                    h3 { "on every chip" }
                    (faults(&shown_once))
                }
            }
            div.chips {
                @for (column, checked) in kernel.checked.iter().enumerate() {
                    (on_chip(checked, &shared, &anchor(number, column), alone))
                }
            }
        }
    }
}

/// What makes two faults the same one, though they were found on different chips.
type Key<'a> = (Code, &'a Place, &'a str, &'a str);

fn key(diagnostic: &Diagnostic) -> Key<'_> {
    let Diagnostic { code, at, message, help, .. } = diagnostic;
    (*code, at, message, help)
}

/// What is wrong on every chip, if there are several.
fn on_every_chip(checked: &[Checked]) -> HashSet<Key<'_>> {
    if checked.len() == 1 {
        return HashSet::new();
    }
    in_every_list(checked.iter().map(|checked| checked.report.diagnostics.iter().map(key)))
}

/// What is in all of these lists. Each element is looked at once.
fn in_every_list<T: Eq + Hash>(
    mut lists: impl Iterator<Item = impl Iterator<Item = T>>,
) -> HashSet<T> {
    let mut common: HashSet<T> = lists.next().into_iter().flatten().collect();
    for list in lists {
        common = list.filter_map(|element| common.take(&element)).collect();
    }
    common
}

/// What a kernel comes to on a chip, but for the faults that it `shared` with others.
fn on_chip(checked: &Checked, shared: &HashSet<Key<'_>>, anchor: &str, alone: bool) -> Markup {
    let Checked { chip, report, refs } = checked;
    let is_own = |diagnostic: &&Diagnostic| !shared.contains(&key(diagnostic));
    let own: Vec<_> = report.diagnostics.iter().filter(is_own).collect();
    html! {
        section id=(anchor) {
            h3 {
                @match chip {
                    Some(chip) => { (name(chip)) },
                    None => { "no chip" },
                }
                " " (verdict(report))
            }
            @if report.memories.is_empty() {
                p.quiet {
                    @if chip.is_none() {
                        "Without a chip, bytes are not counted."
                    } @else {
                        "Nothing could be counted."
                    }
                }
            }
            @for memory in &report.memories {
                (filled(memory))
            }
            @if !own.is_empty() { (faults(&own)) }
            details open[alone] {
                summary { "Refs (" (refs.rows.len()) ")" }
                div.wide { (table(refs)) }
            }
        }
    }
}

/// Whether the kernel is refused, in a word or two.
fn verdict(report: &Report) -> Markup {
    let count = |severity| {
        report.diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count()
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    html! {
        @if errors > 0 {
            span.pill.error { (errors) (plural(errors, " error")) }
        }
        @if warnings > 0 {
            @if errors > 0 { " " }
            span.pill.warning { (warnings) (plural(warnings, " warning")) }
        }
        @if errors == 0 && warnings == 0 {
            span.pill.sound { "no faults" }
        }
    }
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

/// Parts that are named; the rest are counted together.
const NAMED: usize = 8;

/// A memory's bar, and what its parts are.
fn filled(memory: &Memory) -> Markup {
    let kind = memory.kind.as_str();
    let whole = memory.bytes.max(memory.limit);
    let over = memory.bytes.checked_sub(memory.limit).filter(|over| *over > 0);
    let mut named = memory.parts.iter();
    let first: Vec<&Part<'_>> = named.by_ref().take(NAMED).collect();
    let rest: Vec<&Part<'_>> = named.collect();
    let rest_bytes = rest.iter().map(|part| part.bytes).fold(0, u64::saturating_add);
    let width = |bytes| format!("width:{}", Percent::of(bytes, whole));
    html! {
        div.memory {
            p.head {
                b { (kind) }
                " "
                span title={ (memory.bytes) " of " (memory.limit) " bytes" } {
                    (bytes(memory.bytes)) " of " (bytes(memory.limit))
                }
                span.number { (Percent::of(memory.bytes, memory.limit).rounded()) }
            }
            @if !first.is_empty() {
                div.bar role="img" aria-label={
                    (kind) ": " (memory.bytes) " of " (memory.limit) " bytes"
                } {
                    @for (number, part) in first.iter().enumerate() {
                        span class={ "part c" (number) } style=(width(part.bytes)) title=(label(part)) {
                            @if Percent::of(part.bytes, whole).holds_a_name() { (name(&part.name)) }
                        }
                    }
                    @if rest_bytes > 0 {
                        span.part.rest style=(width(rest_bytes)) {}
                    }
                    @if over.is_some() {
                        span.limit style={ "left:" (Percent::of(memory.limit, whole)) } {}
                    }
                }
            }
            @if let Some(over) = over {
                p.too-much { (bytes(over)) " more than there are" }
            }
            @if !first.is_empty() {
                ul.parts {
                    @for (number, part) in first.iter().enumerate() {
                        li title=(label(part)) {
                            i class={ "c" (number) } {}
                            span.name { (name(&part.name)) (times(part)) }
                            span.number { (bytes(part.bytes)) }
                        }
                    }
                    @if !rest.is_empty() {
                        li {
                            i.rest {}
                            span.name { (rest.len()) " more" }
                            span.number { (bytes(rest_bytes)) }
                        }
                    }
                }
            }
        }
    }
}

fn label(part: &Part<'_>) -> String {
    format!("{}{}: {} bytes", shown(&part.name), times(part), part.bytes)
}

/// How often the ref is there, if not once.
fn times(part: &Part<'_>) -> String {
    if part.buffers == 1 { String::new() } else { format!(" × {}", part.buffers) }
}

fn faults(diagnostics: &[&Diagnostic]) -> Markup {
    html! {
        ul.diagnostics {
            @for diagnostic in diagnostics {
                (fault(diagnostic))
            }
        }
    }
}

fn fault(diagnostic: &Diagnostic) -> Markup {
    let Diagnostic { code, severity, at, message, help, .. } = diagnostic;
    let at = at.to_string();
    html! {
        li class=(severity) {
            p {
                span class={ "pill " (severity) } { (severity) }
                " " code { (code) }
                @if !at.is_empty() {
                    " at " code { (name(&at)) }
                }
            }
            p { (name(message)) }
            p.quiet { "help: " (name(help)) }
        }
    }
}

fn table(grid: &Grid) -> Markup {
    // Numbers stand at the right.
    let counted = counted(&grid.rows, grid.headers.len());
    let number = |column: usize| counted.get(column).is_some_and(|counted| *counted);
    html! {
        table {
            thead {
                tr {
                    @for (column, header) in grid.headers.iter().enumerate() {
                        th scope="col" .number[number(column)] { (header) }
                    }
                }
            }
            tbody {
                @for row in &grid.rows {
                    tr {
                        @for (column, cell) in row.iter().enumerate() {
                            td.number[number(column)] { (name(cell)) }
                        }
                    }
                }
            }
        }
    }
}

/// For each column whether it holds numbers alone, apart from cells that are empty. The
/// first column never does: it names the row. Each cell is looked at once.
fn counted(rows: &[Vec<impl AsRef<str>>], columns: usize) -> Vec<bool> {
    let mut numbers = vec![None; columns];
    for row in rows {
        for (cell, are_numbers) in row.iter().zip(&mut numbers) {
            let cell = cell.as_ref();
            if !cell.is_empty() && *are_numbers != Some(false) {
                *are_numbers = Some(cell.parse::<u64>().is_ok());
            }
        }
    }
    let named =
        |(column, are_numbers): (usize, Option<bool>)| column > 0 && are_numbers == Some(true);
    numbers.into_iter().enumerate().map(named).collect()
}

fn anchor(kernel: usize, chip: usize) -> String {
    format!("kernel-{kernel}-{chip}")
}

/// What someone else wrote, kept from turning the text around it.
fn name(text: &str) -> Markup {
    html! { bdi { (shown(text)) } }
}

/// What someone else wrote, in a length that can be read, without what can't be seen.
fn shown(text: &str) -> String {
    const CHARACTERS: usize = 400;

    let mut characters =
        text.chars().map(|it| if is_unseen(it) { char::REPLACEMENT_CHARACTER } else { it });
    let mut shown: String = characters.by_ref().take(CHARACTERS).collect();
    if characters.next().is_some() {
        shown.push('…');
    }
    shown
}

/// A share, in hundredths of a percent.
#[derive(Clone, Copy)]
struct Percent(u64);

impl Percent {
    const WHOLE: u64 = 10_000;

    fn of(part: u64, whole: u64) -> Self {
        let share = u128::from(part).saturating_mul(Self::WHOLE.into());
        let share = share.checked_div(whole.into()).unwrap_or(Self::WHOLE.into());
        Self(u64::try_from(share).unwrap_or(u64::MAX))
    }

    fn at_most_100(self) -> Self {
        Self(self.0.min(Self::WHOLE))
    }

    /// Whether so much of a bar is wide enough for a word.
    const fn holds_a_name(self) -> bool {
        self.0 >= Self::WHOLE / 10
    }

    /// In whole percents, a share that is begun as one.
    fn rounded(self) -> String {
        format!("{} %", self.0.div_ceil(100))
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, hundredths) = (self.0.div_euclid(100), self.0.rem_euclid(100));
        write!(f, "{whole}.{hundredths:02}%")
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "tests")]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::hash::Hasher;

    /// A text that counts how often it is compared, hashed or read.
    struct Counting<'a>(&'a str, &'a Cell<usize>);

    impl Counting<'_> {
        fn count(&self) {
            self.1.set(self.1.get() + 1);
        }
    }

    impl PartialEq for Counting<'_> {
        fn eq(&self, other: &Self) -> bool {
            self.count();
            self.0 == other.0
        }
    }

    impl Eq for Counting<'_> {}

    impl Hash for Counting<'_> {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.count();
            self.0.hash(state);
        }
    }

    impl AsRef<str> for Counting<'_> {
        fn as_ref(&self) -> &str {
            self.count();
            self.0
        }
    }

    #[test]
    fn a_page_takes_work_in_proportion_to_its_faults() {
        for faults in [500, 1000, 2000] {
            let texts: Vec<String> = (0..faults).map(|fault| fault.to_string()).collect();
            let work = Cell::new(0);
            let list = || texts.iter().map(|text| Counting(text, &work));
            let chips = [list().rev().collect::<Vec<_>>(), list().collect(), list().collect()];
            assert_eq!(in_every_list(chips.into_iter().map(Vec::into_iter)).len(), faults);
            assert!(work.get() <= 20 * faults, "{} looks at {faults} faults", work.get());
        }
    }

    #[test]
    fn a_table_takes_work_in_proportion_to_its_cells() {
        for rows in [500, 1000, 2000] {
            let work = Cell::new(0);
            let row = || ["1", "2", "", "a"].map(|text| Counting(text, &work)).into();
            let cells: Vec<Vec<_>> = std::iter::repeat_with(row).take(rows).collect();
            assert_eq!(counted(&cells, 5), [false, true, false, false, false]);
            assert_eq!(work.get(), 4 * rows);
        }
    }

    #[test]
    fn a_column_holds_numbers_if_each_of_its_cells_does() {
        let rows = [["1", "", "1", "a", "-1"], ["2", "3", "a", "1", "1"]].map(Vec::from);
        assert_eq!(counted(&rows, 5), [false, true, false, false, false]);
    }
}
