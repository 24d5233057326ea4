//! The color that a memory space gives the value it is annotated on.

use super::NO;
use crate::grid::Grid;
use mosaic_memspace::custom_call::{Color, ColorFault, color, jax_color};
use mosaic_memspace::error::Fault;
use mosaic_memspace::{CoreType, MemorySpace};
use serde::Serialize;

/// What one space comes to in a kernel of one core type.
#[derive(Serialize)]
pub(super) struct Record {
    space: String,
    core: CoreType,
    /// As JAX answers.
    color: Option<Color>,
    number: Option<u8>,
    refused: Option<String>,
    help: Option<String>,
    /// As it would be if a tag of the kernel's own core type changed nothing.
    even_color: Option<Color>,
}

pub(super) fn records() -> Vec<Record> {
    let record = |space: MemorySpace, core: CoreType| {
        let answer = jax_color(Some(space), core);
        let given = answer.ok().flatten();
        Record {
            space: name(space),
            core,
            color: given,
            number: given.map(Color::number),
            refused: answer.err().map(|fault| fault.to_string()),
            help: answer.err().map(|fault| fault.help()),
            even_color: color(Some(space), core).ok().flatten(),
        }
    };
    let all = |space| CoreType::ALL.iter().map(move |core| record(space, *core));
    spaces().flat_map(all).collect()
}

/// A row a space, a column a core type, as JAX answers; then where the even rule
/// answers otherwise.
pub(super) fn grids() -> Vec<Grid> {
    let cores = CoreType::ALL.iter().map(|core| core.as_str());
    let mut colors = Grid::new(["annotated"].into_iter().chain(cores));
    let mut uneven = Grid::new(["annotated", "core", "JAX", "evenly"]);
    for space in spaces() {
        let answers = CoreType::ALL.iter().map(|core| shown(jax_color(Some(space), *core)));
        colors.row([name(space)].into_iter().chain(answers));
        for core in CoreType::ALL {
            let (jax, even) = (jax_color(Some(space), *core), color(Some(space), *core));
            if jax != even {
                uneven.row([name(space), core.to_string(), shown(jax), shown(even)]);
            }
        }
    }
    vec![colors, uneven]
}

fn spaces() -> impl Iterator<Item = MemorySpace> {
    MemorySpace::ALL.iter().copied().chain([MemorySpace::Acc(0)])
}

fn name(space: MemorySpace) -> String {
    match space {
        MemorySpace::Acc(_) => "acc(n)".to_owned(),
        MemorySpace::ANY
        | MemorySpace::DEFAULT
        | MemorySpace::ERROR
        | MemorySpace::INDEX
        | MemorySpace::KEY
        | MemorySpace::HOST
        | MemorySpace::Tpu(_)
        | MemorySpace::Core(_) => space.to_string(),
    }
}

fn shown(answer: Result<Option<Color>, ColorFault>) -> String {
    match answer {
        Ok(Some(color)) => format!("{color} {}", color.number()),
        Ok(None) => NO.to_owned(),
        Err(_) => "refused".to_owned(),
    }
}
