//! `check`: everything that is wrong with kernels, and the bytes they take.

use crate::Status;
use crate::bars;
use crate::failure::Failure;
use crate::grid::{self, Grid};
use crate::html;
use crate::input::{Content, Input};
use crate::shown;
use crate::snippet::{self, Told};
use clap::ValueEnum;
use mosaic_memspace::error::{Fault as _, Severity, UnknownWord};
use mosaic_memspace::kernel::{Diagnostic, Place, Report};
use mosaic_memspace::read::{Described, DumpKernel, DumpKernelFault, DumpKernels, Kernels};
use mosaic_memspace::{Chip, MemrefSpace, Resolved};
use std::fs;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Everything that is wrong with kernels, and the memory that they take
///
/// Exit status: 0 when no kernel has an error, 1 when one has, 2 when the input
/// could not be used.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Dumps in StableHLO or HLO, modules in bytecode, or descriptions in JSON, gzipped or
    /// not; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,

    /// How to print: for people, or one JSON object a kernel
    #[arg(long, default_value = "text")]
    format: Format,

    /// Check the kernels for this chip, whatever they say; given several times, each for
    /// each, one after the other
    #[arg(long, value_name = "CHIP")]
    chip: Vec<String>,

    /// Write a page about all of them: what lies in which memory, on which chip
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,

    /// Treat warnings as errors
    #[arg(long, value_name = "WHAT")]
    deny: Option<Deny>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deny {
    Warnings,
}

pub(crate) fn run(arguments: &Arguments) -> Status {
    let chips = arguments.chip.iter().map(|word| word.parse().map(Some));
    let chips: Vec<Option<Chip>> =
        chips.collect::<Result<_, _>>().map_err(|fault: UnknownWord| Failure::fault(&fault))?;
    let chips = if chips.is_empty() { vec![None] } else { chips };
    let out = BufWriter::new(io::stdout().lock());
    let mut run = Run { arguments, chips, out, status: 0, pages: Vec::new() };
    for file in &arguments.files {
        match Content::read(file) {
            Ok(Content::Json(input)) => run.file(&input)?,
            Ok(Content::Dump(input)) => run.dump(&input)?,
            Ok(Content::Module { name, bytes }) => run.module(&name, &bytes)?,
            Err(failure) => run.unusable(|| failure.tell())?,
        }
    }
    run.out.flush()?;
    if let Some(file) = &arguments.report {
        fs::write(file, html::page(&run.pages, &arguments.chip))
            .map_err(|error| Failure::Unusable(format!(": {}: {error}", file.display())))?;
    }
    Ok(ExitCode::from(run.status))
}

struct Run<'a> {
    arguments: &'a Arguments,
    chips: Vec<Option<Chip>>,
    out: BufWriter<StdoutLock<'static>>,
    /// The worst so far.
    status: u8,
    pages: Vec<html::Kernel>,
}

impl Run<'_> {
    /// Tells that some of the input cannot be used, after what has been printed.
    fn unusable(&mut self, tell: impl FnOnce()) -> Result<(), Failure> {
        self.out.flush()?;
        tell();
        self.status = 2;
        Ok(())
    }

    fn file(&mut self, input: &Input) -> Result<(), Failure> {
        let mut is_empty = true;
        for described in Kernels::new(&input.text) {
            is_empty = false;
            match described {
                Ok(described) => self.kernel(described, input)?,
                Err(faults) => self.unusable(|| {
                    for fault in &faults {
                        let (message, help) = (&*fault.message(), &*fault.help());
                        let told = Told { code: fault.code(), at: &fault.at, message, help };
                        let shown = snippet::render(&told, input, &fault.span, true);
                        anstream::eprintln!("{shown}\n");
                    }
                })?,
            }
        }
        if is_empty {
            let failure = Failure::Unusable(format!(": {}: no kernel in it", input.name));
            self.unusable(|| failure.tell())?;
        }
        Ok(())
    }

    /// Every call of a dump.
    fn dump(&mut self, input: &Input) -> Result<(), Failure> {
        let mut kernels = DumpKernels::new(input.text.as_bytes());
        let mut is_empty = true;
        loop {
            let call = match kernels.next_call() {
                Ok(None) => break,
                Ok(Some(call)) => call,
                // The lines after it are read.
                Err(fault) => {
                    is_empty = false;
                    let failure = Failure::Unusable(format!(": {}: {fault}", input.name));
                    self.unusable(|| failure.tell())?;
                    continue;
                }
            };
            is_empty = false;
            match call {
                Ok(kernels) => {
                    for kernel in kernels {
                        let place = format!("{}:{}", input.name, kernel.line);
                        self.read(&kernel, &place)?;
                    }
                }
                Err((line, fault)) => {
                    let failure = Failure::fault_at(&format!("{}:{line}", input.name), &fault);
                    self.unusable(|| failure.tell())?;
                }
            }
        }
        if is_empty && is_body(&input.text) {
            let failure = Failure::fault_at(&input.name, &DumpKernelFault::Text);
            self.unusable(|| failure.tell())?;
        } else if is_empty {
            anstream::eprintln!("note: {}: no kernel in it", shown::name(&input.name));
        }
        Ok(())
    }

    /// The kernels of a bare module.
    fn module(&mut self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        match DumpKernel::of_module(bytes) {
            Ok(kernels) => kernels.iter().try_for_each(|kernel| self.read(kernel, name)),
            Err(fault) => {
                let failure = Failure::fault_at(name, &fault);
                self.unusable(|| failure.tell())
            }
        }
    }

    /// A kernel that was read from its body.
    fn read(&mut self, read: &DumpKernel, place: &str) -> Result<(), Failure> {
        let mut checked = Vec::new();
        for index in 0..self.chips.len() {
            let chip = self.chips.get(index).copied().flatten();
            let kernel = read.kernel.clone().on(chip);
            let report = kernel.check();
            self.judge(&report);
            match self.arguments.format {
                Format::Json => {
                    shown::write_json(&mut self.out, &report)?;
                    writeln!(self.out)?;
                }
                Format::Text => {
                    head(&mut self.out, &report, chip.map(Chip::as_str))?;
                    for diagnostic in &report.diagnostics {
                        let Diagnostic { code, severity, message, help, at, .. } = diagnostic;
                        let at = shown::cell(&at.to_string());
                        let (message, help) = (shown::lines(message), shown::lines(help));
                        let name = shown::name(place);
                        writeln!(self.out, "{severity}[{code}]: {message}")?;
                        writeln!(self.out, " --> {name}: {at}\n  = help: {help}\n")?;
                    }
                    if !report.not_understood.is_empty() {
                        let what = shown::lines(&report.not_understood.join(", "));
                        writeln!(self.out, "not understood, and left out: {what}\n")?;
                    }
                }
            }
            if self.arguments.report.is_some() {
                let chip = chip.map(|chip| chip.as_str().to_owned());
                checked.push(html::Checked { chip, refs: refs(&report), report });
            }
        }
        if self.arguments.report.is_some() {
            let name = read.kernel.name().unwrap_or(UNNAMED).to_owned();
            self.pages.push(html::Kernel { name, place: place.to_owned(), checked });
        }
        Ok(())
    }

    /// What a report does to the exit status.
    fn judge(&mut self, report: &Report) {
        let is_refused = |diagnostic: &Diagnostic| match diagnostic.severity {
            Severity::Error => true,
            Severity::Warning => self.arguments.deny == Some(Deny::Warnings),
        };
        if report.diagnostics.iter().any(is_refused) {
            self.status = self.status.max(1);
        }
    }

    fn kernel(&mut self, mut described: Described<'_>, input: &Input) -> Result<(), Failure> {
        let mut checked = Vec::new();
        for index in 0..self.chips.len() {
            let chip = self.chips.get(index).copied().flatten();
            let kernel = match chip {
                Some(chip) => &described.kernel.clone().on(chip),
                None => &described.kernel,
            };
            let (name, report) = (kernel.chip_name().map(str::to_owned), kernel.check());
            self.judge(&report);
            match self.arguments.format {
                Format::Json => {
                    shown::write_json(&mut self.out, &report)?;
                    writeln!(self.out)?;
                }
                Format::Text => {
                    text(&mut self.out, &mut described, &report, name.as_deref(), input)?;
                }
            }
            if self.arguments.report.is_some() {
                checked.push(html::Checked { chip: name, refs: refs(&report), report });
            }
        }
        if self.arguments.report.is_some() {
            let line = described.span(&Place::kernel()).line;
            let name = described.kernel.name().unwrap_or(UNNAMED).to_owned();
            self.pages.push(html::Kernel {
                name,
                place: format!("{}:{line}", input.name),
                checked,
            });
        }
        Ok(())
    }
}

/// Whether a text without calls is itself a kernel's body: a function of one says what
/// core it is for.
fn is_body(text: &str) -> bool {
    text.contains("tpu.core_type") || text.contains("stable_mosaic.version")
}

const UNNAMED: &str = "a kernel without a name";

/// A kernel's refs, what fills the memories, and what is wrong.
fn text(
    out: &mut impl Write,
    described: &mut Described<'_>,
    report: &Report,
    chip: Option<&str>,
    input: &Input,
) -> Result<(), Failure> {
    head(out, report, chip)?;
    let colours = grid::colors();
    for diagnostic in &report.diagnostics {
        let span = described.span(&diagnostic.at);
        writeln!(out, "{}\n", snippet::render(&diagnostic.into(), input, &span, colours))?;
    }
    Ok(())
}

/// A kernel's name, its refs, what fills the memories, and what it all comes to.
fn head(out: &mut impl Write, report: &Report, chip: Option<&str>) -> Result<(), Failure> {
    let name = shown::name(report.name.as_deref().unwrap_or(UNNAMED));
    let core_type = report.core_type.map(|core_type| format!(", {core_type}")).unwrap_or_default();
    let bold = if grid::colors() { anstyle::Style::new().bold() } else { anstyle::Style::new() };
    let chip = chip.map(|chip| format!(", {}", shown::name(chip))).unwrap_or_default();
    writeln!(out, "{bold}{name}{core_type}{chip}{bold:#}")?;
    writeln!(out, "{}", refs(report).text())?;
    writeln!(out, "{}{}\n", bars::render(&report.memories), verdict(report))?;
    Ok(())
}

/// What it all comes to.
fn verdict(report: &Report) -> String {
    let count = |severity, noun: &str| {
        let faults = report.diagnostics.iter().filter(|fault| fault.severity == severity);
        match faults.count() {
            0 => None,
            1 => Some(format!("1 {noun}")),
            many => Some(format!("{many} {noun}s")),
        }
    };
    let (errors, warnings) = (count(Severity::Error, "error"), count(Severity::Warning, "warning"));
    let uncounted = uncounted(report);
    let memory = match (&report.fit, uncounted.is_empty(), &errors) {
        (None, _, _) => {
            Some("memory not counted: no chip is given, or it lacks the core".to_owned())
        }
        (Some(_), false, _) => Some(format!("{} not counted", some_of(&uncounted))),
        (Some(_), true, Some(_)) => None,
        (Some(_), true, None) => Some(
            "fits by its declarations; what the compiler adds, such as spills, comes on top"
                .to_owned(),
        ),
    };
    let used = report.fit.and_then(|fit| fit.used_vmem_bytes);
    let used = used.map(|used| format!("the compiler took {used} bytes of VMEM"));
    let parts: Vec<_> = [errors, warnings, used, memory].into_iter().flatten().collect();
    parts.join("; ")
}

/// The first of these names, and how many more there are.
fn some_of(names: &[&str]) -> String {
    const NAMED: usize = 6;

    let first: Vec<_> = names.iter().take(NAMED).map(|name| shown::name(name)).collect();
    let more = match names.len().checked_sub(NAMED) {
        None | Some(0) => String::new(),
        Some(more) => format!(", {more} more"),
    };
    format!("{}{more}", first.join(", "))
}

/// The refs that would take memory, but whose bytes cannot be told.
fn uncounted(report: &Report) -> Vec<&str> {
    let operands = report.operands.iter().map(|it| (&it.name, it.resolved, it.bytes));
    let scratch = report.scratch.iter().map(|it| (&it.name, it.resolved, it.bytes));
    let uncounted = operands
        .chain(scratch)
        .filter(|(_, space, bytes)| bytes.is_none() && space.is_some_and(is_counted));
    uncounted.map(|(name, _, _)| name.as_str()).collect()
}

/// Whether what lies there is counted against a limit.
const fn is_counted(space: Resolved) -> bool {
    match space {
        Resolved::VMEM | Resolved::VMEM_SHARED | Resolved::SMEM => true,
        Resolved::CMEM | Resolved::SEMAPHORE_MEM | Resolved::HBM => false,
        Resolved::ANY | Resolved::HOST | Resolved::Memref(MemrefSpace::Core(_)) => false,
        Resolved::Acc(_) => false,
    }
}

fn refs(report: &Report) -> Grid {
    let mut grid = Grid::new([
        "ref",
        "written",
        "resolved",
        "attribute",
        "window",
        "buffers",
        "bytes each",
        "color",
    ]);
    let or_none = |value: Option<String>| value.unwrap_or_default();
    for operand in &report.operands {
        grid.row([
            operand.name.clone(),
            or_none(operand.written.clone()),
            or_none(operand.resolved.map(|space| space.to_string())),
            or_none(operand.attribute.map(|attribute| attribute.to_string())),
            if operand.windowed { "yes" } else { "" }.to_owned(),
            or_none(operand.buffers.map(|buffers| buffers.to_string())),
            or_none(operand.bytes.map(|bytes| bytes.to_string())),
            or_none(operand.color.map(|color| color.to_string())),
        ]);
    }
    for scratch in &report.scratch {
        grid.row([
            scratch.name.clone(),
            match scratch.semaphore {
                Some(kind) => format!("{} semaphore", kind.as_str()),
                None => "scratch".to_owned(),
            },
            or_none(scratch.resolved.map(|space| space.to_string())),
            or_none(scratch.attribute.map(|attribute| attribute.to_string())),
            String::new(),
            String::new(),
            or_none(scratch.bytes.map(|bytes| bytes.to_string())),
            String::new(),
        ]);
    }
    grid
}
