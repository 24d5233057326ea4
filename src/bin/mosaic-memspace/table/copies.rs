//! Between which memory spaces a core copies, and how.

use super::{NO, Verdict, places};
use crate::grid::Grid;
use mosaic_memspace::rules::Dma;
use mosaic_memspace::{Chip, CoreType, Reach, Resolved, Unreached, reach};
use serde::Serialize;

/// One copy of one core between two spaces.
#[derive(Serialize)]
pub(super) struct Record {
    core: CoreType,
    src: String,
    dst: String,
    mode: &'static str,
    add: bool,
    #[serde(flatten)]
    verdict: Verdict,
}

pub(super) fn records() -> Vec<Record> {
    let mut records = Vec::new();
    for core in CoreType::ALL {
        let places = places(*core);
        for (from, src) in &places {
            for (to, dst) in &places {
                records.extend(Dma::ALL.iter().map(|dma| {
                    let refused = dma.check(*src, *dst, *core, None).err();
                    Record {
                        core: *core,
                        src: from.clone(),
                        dst: to.clone(),
                        mode: dma.mode.as_str(),
                        add: dma.add,
                        verdict: Verdict::new(
                            dma.jax_lowers(*src, *dst, *core, None),
                            refused.map(|fault| (fault.reason, fault)),
                        ),
                    }
                }));
            }
        }
    }
    records
}

/// A row a core and source, a column a destination; then the spaces that no copy
/// of a core reaches, and what older chips lack.
pub(super) fn grids() -> Vec<Grid> {
    let reached_by_some = |name: &str| {
        let names = |core: &CoreType| {
            let reached =
                |(space, at): (String, Resolved)| space == name && unreached(at, *core).is_none();
            places(*core).into_iter().any(reached)
        };
        CoreType::ALL.iter().any(names)
    };
    let every = places(CoreType::Tc);
    let columns: Vec<&str> =
        every.iter().map(|(name, _)| name.as_str()).filter(|name| reached_by_some(name)).collect();
    let headers = columns.iter().map(|to| format!("to {to}"));
    let mut copies = Grid::new(["core", "from"].map(str::to_owned).into_iter().chain(headers));
    let mut never = Grid::new(["core", "space", "why no copy reaches it"]);
    for core in CoreType::ALL {
        let places = places(*core);
        for (name, at) in &places {
            if let Some(why) = unreached(*at, *core) {
                never.row([core.to_string(), name.clone(), why.to_string()]);
                continue;
            }
            let to = columns.iter().map(|column| {
                let to = places.iter().find(|(name, _)| name == column);
                to.map_or_else(|| NO.to_owned(), |(_, to)| ways(*at, *to, *core))
            });
            copies.row([core.to_string(), name.clone()].into_iter().chain(to));
        }
    }
    vec![copies, never, older()]
}

/// What the older chips that have a core do not copy, of all above.
fn older() -> Grid {
    let mut grid = Grid::new(["core", "chips", "copies that they do not make"]);
    for core in CoreType::ALL {
        let mut lacking: Vec<(String, Vec<&str>)> = Vec::new();
        for chip in Chip::ALL.iter().filter(|chip| chip.facts().require_core(*core).is_ok()) {
            let lacks = not_made(*core, *chip);
            match lacking.iter_mut().find(|(same, _)| *same == lacks) {
                Some((_, chips)) => chips.push(chip.as_str()),
                None => lacking.push((lacks, vec![chip.as_str()])),
            }
        }
        for (lacks, chips) in lacking.into_iter().filter(|(lacks, _)| !lacks.is_empty()) {
            grid.row([core.to_string(), chips.join(", "), lacks]);
        }
    }
    grid
}

fn not_made(core: CoreType, chip: Chip) -> String {
    let places = places(core);
    let pairs = places.iter().flat_map(|src| places.iter().map(move |dst| (src, dst)));
    let lacks = pairs.filter(|((_, src), (_, dst))| {
        let made = |chip| Dma::COPY.check(*src, *dst, core, chip).is_ok();
        made(None) && !made(Some(chip.facts()))
    });
    lacks.map(|((src, _), (dst, _))| format!("{src} → {dst}")).collect::<Vec<_>>().join(", ")
}

/// Why no copy of the core starts there, or ends.
fn unreached(space: Resolved, core_type: CoreType) -> Option<Unreached> {
    match reach(space, core_type, None) {
        Reach::Local(_) | Reach::ByCopies(_) => None,
        Reach::Not(why) => Some(why),
    }
}

/// The copies that a core makes from one space to another.
fn ways(src: Resolved, dst: Resolved, core_type: CoreType) -> String {
    let made = Dma::ALL.iter().filter(|dma| dma.check(src, dst, core_type, None).is_ok());
    let made: Vec<_> = made.map(ToString::to_string).collect();
    if made.is_empty() { NO.to_owned() } else { made.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::super::foreign;
    use super::*;

    #[test]
    fn one_space_of_another_core_stands_for_all() {
        for core in CoreType::ALL {
            for space in foreign(*core) {
                assert_eq!(unreached(space, *core), Some(Unreached::OtherCore));
            }
        }
    }
}
