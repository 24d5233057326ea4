//! What a core may do to a ref, by its memory space.

use super::{NO, Verdict, places};
use crate::grid::Grid;
use mosaic_memspace::operand::{Form, Role};
use mosaic_memspace::rules::{Access, Holding, check_place, check_scratch, check_window_space};
use mosaic_memspace::{CoreType, Resolved};
use serde::Serialize;

/// One access of one core to one space.
#[derive(Serialize)]
pub(super) struct Record {
    core: CoreType,
    space: String,
    op: &'static str,
    shape: &'static str,
    #[serde(flatten)]
    verdict: Verdict,
}

pub(super) fn records() -> Vec<Record> {
    let mut records = Vec::new();
    for core in CoreType::ALL {
        for (space, resolved) in places(*core) {
            records.extend(Access::ALL.iter().map(|access| {
                let refused = access.check(resolved, *core, None).err();
                Record {
                    core: *core,
                    space: space.clone(),
                    op: access.op.as_str(),
                    shape: access.shape.as_str(),
                    verdict: Verdict::new(
                        access.jax_lowers(resolved, *core, None),
                        refused.map(|fault| (fault.reason, fault)),
                    ),
                }
            }));
        }
    }
    records
}

/// A row a core and space, a column an access; scratch and operands besides.
pub(super) fn grids() -> Vec<Grid> {
    let accesses = Access::ALL.iter().map(|access| format!("{} {}", access.op, access.shape));
    let headers = ["core", "space"].map(str::to_owned).into_iter().chain(accesses);
    let more = ["scratch", "operand", "why no load or store"].map(str::to_owned);
    let mut grid = Grid::new(headers.chain(more));
    for core in CoreType::ALL {
        for (space, resolved) in places(*core) {
            let verdicts = Access::ALL.iter().map(|access| access.check(resolved, *core, None));
            let mut reasons: Vec<String> = Vec::new();
            for refused in verdicts.clone().filter_map(Result::err) {
                let reason = refused.reason.to_string();
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
            let first = [core.to_string(), space];
            let last = [
                scratch(resolved, *core).to_owned(),
                operand(resolved, *core).to_owned(),
                reasons.join("; "),
            ];
            let verdicts = verdicts.map(|verdict| yes(verdict.is_ok()).to_owned());
            grid.row(first.into_iter().chain(verdicts).chain(last));
        }
    }
    vec![grid]
}

const fn yes(yes: bool) -> &'static str {
    if yes { "yes" } else { NO }
}

/// What scratch holds there.
fn scratch(space: Resolved, core_type: CoreType) -> &'static str {
    let takes = |holding| check_scratch(space, holding, core_type, None).is_ok();
    match (takes(Holding::Elements), takes(Holding::Semaphores)) {
        (true, _) => "yes",
        (false, true) => "semaphores",
        (false, false) => NO,
    }
}

/// How an operand of a pipelined kernel lies there.
fn operand(space: Resolved, core_type: CoreType) -> &'static str {
    let takes = |role| check_window_space(space, role, core_type).is_ok();
    let windowed = Form::Pipelined.has_window(space, core_type);
    match (takes(Role::Input), takes(Role::Output)) {
        _ if check_place(space, core_type, None).is_err() => NO,
        (true, true) if windowed => "in a window",
        (true, true) => "as a whole",
        (true, false) => "input only",
        (false, true) => "output only",
        (false, false) => NO,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{foreign, places};
    use super::*;

    #[test]
    fn one_space_of_another_core_stands_for_all() {
        for core in CoreType::ALL {
            let listed = places(*core);
            let stands = listed.iter().find(|(name, _)| name == "of another core");
            for space in foreign(*core) {
                for access in Access::ALL {
                    let reason =
                        |space| access.check(space, *core, None).map_err(|fault| fault.reason);
                    assert_eq!(stands.map(|(_, one)| reason(*one)), Some(reason(space)));
                }
            }
        }
    }
}
