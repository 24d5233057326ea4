//! `describe`: the kernels of dumps and modules, as descriptions in JSON.

use crate::Status;
use crate::failure::Failure;
use crate::input::Content;
use crate::shown;
use mosaic_memspace::Chip;
use mosaic_memspace::error::UnknownWord;
use mosaic_memspace::kernel::Kernel;
use mosaic_memspace::read::{DumpKernel, DumpKernels, Kernels};
use std::io::{self, Write};
use std::process::ExitCode;

/// The kernels of dumps, as descriptions that can be edited and checked again
///
/// A description checks as its kernel does. What a description cannot say is told on
/// standard error.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Dumps in StableHLO or HLO, modules in bytecode, or descriptions in JSON, gzipped or
    /// not; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,

    /// The chip that the kernels are said to be for
    #[arg(long, value_name = "CHIP")]
    chip: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Status {
    let chip = arguments.chip.as_ref().map(|word| word.parse::<Chip>()).transpose();
    let chip = chip.map_err(|fault: UnknownWord| Failure::fault(&fault))?;
    let mut described = Vec::new();
    let mut status = 0;
    for file in &arguments.files {
        if let Err(failure) = read(file, &mut described) {
            failure.tell();
            status = 2;
        }
    }
    let kernels: Vec<_> = described.into_iter().filter_map(|kernel| said(kernel, chip)).collect();
    let mut out = io::stdout().lock();
    match kernels.as_slice() {
        [] => anstream::eprintln!("note: no kernel in it"),
        [kernel] => writeln!(out, "{}", laid_out(kernel))?,
        kernels => {
            let kernels: Vec<_> = kernels.iter().map(|kernel| laid_out(kernel)).collect();
            writeln!(out, "[\n{}\n]", kernels.join(",\n"))?;
        }
    }
    out.flush()?;
    Ok(ExitCode::from(status))
}

/// The kernels of a file; what cannot be read of it is told after those before.
fn read(file: &str, kernels: &mut Vec<Kernel>) -> Result<(), Failure> {
    let (name, mut first) = (shown::name(file), Ok(()));
    let mut unread = |failure: Failure| {
        if first.is_ok() {
            first = Err(failure);
        } else {
            failure.tell();
        }
    };
    match Content::read(file)? {
        Content::Json(input) => {
            for described in Kernels::new(&input.text) {
                match described {
                    Ok(described) => kernels.push(described.kernel),
                    Err(faults) => unread(Failure::Unusable(format!(": {name}: {faults}"))),
                }
            }
        }
        Content::Dump(input) => {
            let mut calls = DumpKernels::new(input.text.as_bytes());
            loop {
                match calls.next_call() {
                    Ok(None) => break,
                    Ok(Some(Ok(of_call))) => {
                        kernels.extend(of_call.into_iter().map(|it| it.kernel));
                    }
                    Ok(Some(Err((line, fault)))) => {
                        unread(Failure::fault_at(&format!("{name}:{line}"), &fault));
                    }
                    Err(fault) => unread(Failure::Unusable(format!(": {name}: {fault}"))),
                }
            }
        }
        Content::Module { bytes, .. } => match DumpKernel::of_module(&bytes) {
            Ok(of_module) => kernels.extend(of_module.into_iter().map(|it| it.kernel)),
            Err(fault) => unread(Failure::fault_at(&name, &fault)),
        },
    }
    first
}

/// The kernel as a description, for this chip; what it leaves out is told.
fn said(kernel: Kernel, chip: Option<Chip>) -> Option<String> {
    let name = shown::name(kernel.name().unwrap_or("a kernel without a name"));
    let kernel = if chip.is_some() { kernel.on(chip) } else { kernel };
    let (kernel, left_out) = kernel.described();
    for what in left_out {
        anstream::eprintln!("note: {name}: left out: {}", shown::lines(&what));
    }
    kernel.to_json()
}

/// JSON with a member of the object a line, and an element a line of its lists of objects
/// and lists.
fn laid_out(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    let mut broken = Vec::new();
    let mut characters = json.chars().peekable();
    while let Some(character) = characters.next() {
        if quoted {
            text.push(character);
            quoted = escaped || character != '"';
            escaped = !escaped && character == '\\';
            continue;
        }
        let line = |text: &mut String, depth: usize| {
            text.push('\n');
            text.push_str(&"  ".repeat(depth));
        };
        match character {
            '"' => quoted = true,
            '{' | '[' => {
                depth = depth.saturating_add(1);
                let of_parts = matches!(characters.peek(), Some('{' | '['));
                let breaks = depth == 1 || (depth == 2 && character == '[' && of_parts);
                broken.push(breaks);
                text.push(character);
                if breaks {
                    line(&mut text, depth);
                }
                continue;
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                if broken.pop() == Some(true) {
                    line(&mut text, depth);
                }
            }
            ',' if broken.last() == Some(&true) => {
                text.push(',');
                line(&mut text, depth);
                while characters.next_if(|it| *it == ' ').is_some() {}
                continue;
            }
            _ => {}
        }
        text.push(character);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::laid_out;

    #[test]
    fn a_member_stands_on_its_own_line_and_an_operand_too() {
        let json =
            r#"{"a": [1, 2], "b": [{"c": "x, [\"y\", ", "d": {"e": 1}}, {}], "f": [[2, 0]]}"#;
        assert_eq!(
            laid_out(json),
            "{\n  \"a\": [1, 2],\n  \"b\": [\n    {\"c\": \"x, [\\\"y\\\", \", \"d\": {\"e\": 1}},\n    \
             {}\n  ],\n  \"f\": [\n    [2, 0]\n  ]\n}"
        );
    }
}
