//! Memories as bars: how full each is, and with what.

use crate::shown;
use mosaic_memspace::fit::Part;
use mosaic_memspace::kernel::Memory;
use std::fmt::Write;

/// Cells of a whole bar.
const WIDTH: u64 = 40;

/// Parts that are named; the rest are counted.
const NAMED: usize = 6;

/// A bar for each memory that holds something, and what fills it below it.
pub(crate) fn render(memories: &[Memory]) -> String {
    let mut text = String::new();
    for memory in memories.iter().filter(|memory| !memory.parts.is_empty()) {
        let percent = share(memory.bytes, memory.limit, 100);
        let _ = writeln!(
            text,
            "{:14} {} {percent} % of {}: {} declared",
            memory.kind.as_str(),
            bar(memory),
            bytes(memory.limit),
            bytes(memory.bytes),
        );
        let named: Vec<_> = memory.parts.iter().take(NAMED).map(part).collect();
        let _ = write!(text, "{:14} {}", "", named.join(", "));
        match memory.parts.len().checked_sub(NAMED) {
            None | Some(0) => {}
            Some(more) => {
                let rest = memory.parts.iter().skip(NAMED).map(|part| part.bytes);
                let rest = rest.fold(0, u64::saturating_add);
                let _ = write!(text, ", {more} more {}", bytes(rest));
            }
        }
        text.push('\n');
    }
    text
}

fn bar(memory: &Memory) -> String {
    let full = usize::try_from(share(memory.bytes, memory.limit, WIDTH).min(WIDTH)).unwrap_or(0);
    let width = usize::try_from(WIDTH).unwrap_or(0);
    format!("{}{}", "█".repeat(full), "░".repeat(width.saturating_sub(full)))
}

fn part(part: &Part<'_>) -> String {
    match part.buffers {
        1 => format!("{} {}", shown::name(&part.name), bytes(part.bytes)),
        buffers => format!("{} {} ({buffers} ×)", shown::name(&part.name), bytes(part.bytes)),
    }
}

/// So many of `whole` equal shares as `part` of `all` fills, the last one begun.
fn share(part: u64, all: u64, whole: u64) -> u64 {
    let filled = u128::from(part).saturating_mul(whole.into());
    let shares = filled.div_ceil(u128::from(all.max(1)));
    u64::try_from(shares).unwrap_or(u64::MAX)
}

/// Bytes in a unit in which they are a short number, exact or to a tenth.
pub(crate) fn bytes(count: u64) -> String {
    let mut unit = 1_u64;
    let mut name = "B";
    for (shift, larger) in [(10, "KiB"), (20, "MiB"), (30, "GiB"), (40, "TiB")] {
        let size = 1_u64 << shift;
        if count >= size {
            (unit, name) = (size, larger);
        }
    }
    let tenths = u128::from(count).saturating_mul(10).checked_div(unit.into()).unwrap_or(0);
    match (tenths.checked_div(10), tenths.checked_rem(10)) {
        (Some(whole), Some(0)) => format!("{whole} {name}"),
        (Some(whole), Some(tenth)) => format!("{whole}.{tenth} {name}"),
        (_, _) => format!("{count} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_in_the_largest_unit_that_they_fill() {
        for (count, shown) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (33_554_432, "32 MiB"),
            (u64::MAX, "16777215.9 TiB"),
        ] {
            assert_eq!(bytes(count), shown);
        }
    }

    #[test]
    fn a_share_that_is_begun_is_shown() {
        assert_eq!(share(0, 100, 40), 0);
        assert_eq!(share(1, 100, 40), 1);
        assert_eq!(share(200, 100, 40), 80);
        assert_eq!(share(1, 0, 40), 40);
    }
}
