//! `inspect`: what the custom calls of a dump say.

use crate::Status;
use crate::bars;
use crate::failure::Failure;
use crate::grid::{Format, Grid};
use crate::shown;
use flate2::bufread::MultiGzDecoder;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mosaic_memspace::custom_call::{
    BackendConfig, ColorNumber, CostEstimate, DeviceType, Dump, DumpFault, DumpedCall, FlagValue,
    Open, OptLevel, Tiling, body_memory_spaces,
};
use mosaic_memspace::error::Fault;
use serde::Serialize;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What each tpu_custom_call of a dump says
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// StableHLO or HLO text, gzipped or not; - or nothing is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    #[arg(long, default_value = "text")]
    format: Format,

    /// Write each kernel's body into this folder
    #[arg(long, value_name = "DIR")]
    body: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Status {
    if let Some(folder) = &arguments.body {
        fs::create_dir_all(folder).map_err(|error| unusable(folder, &error))?;
    }
    let standard_input = [PathBuf::from("-")];
    let files = if arguments.files.is_empty() { &standard_input } else { &*arguments.files };
    let mut inspection = Inspection {
        bodies: arguments.body.as_deref(),
        output: Output::new(arguments.format),
        calls: 0,
        status: ExitCode::SUCCESS,
    };
    inspection.output.begin()?;
    for file in files {
        inspection.file(file)?;
    }
    inspection.output.end()?;
    Ok(inspection.status)
}

struct Inspection<'a> {
    bodies: Option<&'a Path>,
    output: Output,
    calls: u64,
    status: ExitCode,
}

impl Inspection<'_> {
    fn file(&mut self, file: &Path) -> Result<(), Failure> {
        let before = self.calls;
        let mut passed_over = false;
        let mut dump = match open(file) {
            Ok(reader) => Dump::new(reader),
            Err(error) => {
                self.status = unusable(file, &error).report();
                return Ok(());
            }
        };
        loop {
            match dump.next_call() {
                Ok(Some(call)) => self.call(file, &call)?,
                Ok(None) => {
                    if self.calls == before && !passed_over {
                        anstream::eprintln!("note: {}: no tpu_custom_call in it", file.display());
                    }
                    return Ok(());
                }
                Err(DumpFault::LineTooLong { line, longest }) => {
                    self.status = too_long(file, line, longest).report();
                    passed_over = true;
                }
                Err(error) => {
                    self.status = unusable(file, &error).report();
                    return Ok(());
                }
            }
        }
    }

    fn call(&mut self, file: &Path, call: &DumpedCall<'_>) -> Result<(), Failure> {
        self.calls = self.calls.saturating_add(1);
        let place = format!("{}:{}", file.display(), call.line);
        let config = match call.config() {
            _ if call.backend_config.is_none() => BackendConfig::default(),
            Ok(config) => config,
            Err(fault) => {
                self.complain(&place, &fault);
                return Ok(());
            }
        };
        let body = match config.body.decode() {
            // A log of the compiler prints calls without their config.
            Ok(body) => Some(body).filter(|_| call.backend_config.is_some()),
            Err(fault) => {
                self.complain(&place, &fault);
                None
            }
        };
        if let (Some(folder), Some(body)) = (self.bodies, &body) {
            let path = folder.join(body_name(self.calls, call.kernel_name.as_deref(), body));
            fs::write(&path, body).map_err(|error| unusable(&path, &error))?;
        }
        self.output.call(&Inspected::new(file, call, &config, body.as_deref()))
    }

    fn complain(&mut self, place: &str, fault: &dyn Fault) {
        self.status = Failure::fault_at(place, fault).report();
    }
}

fn too_long(path: &Path, line: u64, longest: usize) -> Failure {
    Failure::Unusable(format!(
        ": {}:{line}: the line is longer than {} and is passed over\n  \
         = help: no kernel's call is so long; print the module without its large constants",
        path.display(),
        bars::bytes(u64::try_from(longest).unwrap_or(u64::MAX)),
    ))
}

fn unusable(path: &Path, error: &dyn Error) -> Failure {
    Failure::Unusable(format!(": {}: {error}", path.display()))
}

/// The file's text, unpacked if it is gzipped.
fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    const BUFFER: usize = 1 << 16;

    let bytes: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Box::new(progress(path, length).wrap_read(file))
    };
    let mut reader = BufReader::with_capacity(BUFFER, bytes);
    let gzipped = reader.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    Ok(if gzipped {
        Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(reader)))
    } else {
        Box::new(reader)
    })
}

/// A bar on standard error, if that is a terminal and the file takes its time.
fn progress(path: &Path, length: u64) -> ProgressBar {
    const LONG: u64 = 1 << 26;
    const TEMPLATE: &str = "{msg} {wide_bar} {bytes}/{total_bytes} {eta}";

    let target =
        if length < LONG { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(length), target);
    if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
        bar.set_style(style);
    }
    bar.with_message(shown::name(&path.display().to_string()))
        .with_finish(indicatif::ProgressFinish::AndClear)
}

/// A file name for the body of the call with this number.
fn body_name(number: u64, kernel: Option<&str>, body: &[u8]) -> String {
    const LONGEST: usize = 100;

    let harmless = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let kernel: String = kernel.unwrap_or("kernel").chars().take(LONGEST).map(harmless).collect();
    let extension = if body.starts_with(b"ML\xefR") { "mlirbc" } else { "mlir" };
    format!("{number:03}-{kernel}.{extension}")
}

/// What a call says.
#[derive(Serialize)]
struct Inspected<'c> {
    file: String,
    line: u64,
    kernel_name: Option<&'c str>,
    device_type: Option<String>,
    has_communication: bool,
    collective_id: Option<u32>,
    vmem_limit_bytes: Option<i64>,
    used_vmem_bytes: Option<u64>,
    cost_estimate: Option<Cost>,
    flags: BTreeMap<&'c str, serde_json::Value>,
    tiling: Option<String>,
    opt_level: Option<String>,
    input_memory_spaces: Vec<Option<String>>,
    output_memory_spaces: Vec<Option<String>>,
    serialization_format: Option<i64>,
    body_bytes: Option<usize>,
    body_memory_spaces: Option<Vec<&'c str>>,
    unknown: Vec<String>,
}

#[derive(Serialize)]
struct Cost {
    flops: i64,
    transcendentals: i64,
    bytes_accessed: i64,
    remote_bytes_transferred: i64,
}

impl From<&CostEstimate<'_>> for Cost {
    fn from(cost: &CostEstimate<'_>) -> Self {
        Self {
            flops: cost.flops,
            transcendentals: cost.transcendentals,
            bytes_accessed: cost.bytes_accessed,
            remote_bytes_transferred: cost.remote_bytes_transferred,
        }
    }
}

impl<'c> Inspected<'c> {
    fn new(
        file: &Path,
        call: &'c DumpedCall<'_>,
        config: &'c BackendConfig<'_>,
        body: Option<&'c [u8]>,
    ) -> Self {
        let sparse_core = config.sparse_core_config.as_ref();
        let inputs = config.input_memory_space_colors.iter();
        let inputs = inputs.map(|input| (usize::try_from(input.operand_index).ok(), input.color));
        let outputs = config.output_colors().map(|(output, color)| (Some(output), color));
        Self {
            file: file.display().to_string(),
            line: call.line,
            kernel_name: call.kernel_name.as_deref(),
            device_type: config
                .device_type
                .as_ref()
                .map(|word| open_word(word, DeviceType::as_str)),
            has_communication: config.has_communication,
            collective_id: config
                .collective_id
                .map(mosaic_memspace::custom_call::CollectiveId::get),
            vmem_limit_bytes: config.vmem_limit_bytes(),
            used_vmem_bytes: config.used_vmem_bytes(),
            cost_estimate: config.cost_estimate.as_ref().map(Into::into),
            flags: flags(config),
            tiling: sparse_core
                .and_then(|sparse_core| sparse_core.tiling.as_ref())
                .map(|word| open_word(word, Tiling::as_str)),
            opt_level: sparse_core
                .and_then(|sparse_core| sparse_core.opt_level())
                .map(|word| open_word(word, OptLevel::as_str)),
            input_memory_spaces: by_number(call.operands, inputs),
            output_memory_spaces: by_number(call.results, outputs),
            serialization_format: config.serialization_format,
            body_bytes: body.map(<[u8]>::len),
            body_memory_spaces: body.and_then(body_memory_spaces),
            unknown: config
                .unknown()
                .into_iter()
                .map(|unknown| unknown.path)
                .chain(colors_of_nothing(call, config))
                .collect(),
        }
    }
}

/// Paths of the colors of operands and results that the call does not have.
fn colors_of_nothing(call: &DumpedCall<'_>, config: &BackendConfig<'_>) -> Vec<String> {
    let beyond = |number: Option<usize>, count| number.is_none_or(|number| number >= count);
    let inputs = config
        .input_memory_space_colors
        .iter()
        .enumerate()
        .filter(|(_, input)| beyond(usize::try_from(input.operand_index).ok(), call.operands));
    let outputs = config.output_memory_space_colors.iter().enumerate();
    let outputs = outputs.filter(|(_, output)| beyond(output.result(), call.results));
    let path = |list: &str, index| format!("custom_call_config.{list}[{index}]");
    let inputs = inputs.map(|(index, _)| path("input_memory_space_colors", index));
    inputs.chain(outputs.map(|(index, _)| path("output_memory_space_colors", index))).collect()
}

fn open_word<T: Copy>(word: &Open<'_, T>, known: impl FnOnce(T) -> &'static str) -> String {
    match word {
        Open::Known(word) => known(*word).to_owned(),
        Open::Other(text) => text.as_str().trim_matches('"').to_owned(),
    }
}

fn flags<'c>(config: &'c BackendConfig<'_>) -> BTreeMap<&'c str, serde_json::Value> {
    let value = |value: FlagValue| match value {
        FlagValue::Bool(value) => value.into(),
        FlagValue::Int(value) => value.into(),
        FlagValue::Float(value) => value.get().into(),
    };
    let flags = config.flag_configs.iter().flatten();
    flags.map(|flag| (flag.name(), flag.value().map(value).unwrap_or_default())).collect()
}

/// The names of the colors, one for each value; `None` for a value without a color.
fn by_number(
    values: usize,
    colored: impl Iterator<Item = (Option<usize>, ColorNumber)>,
) -> Vec<Option<String>> {
    let mut names = vec![None; values];
    for (number, color) in colored {
        if let Some(name) = number.and_then(|number| names.get_mut(number)) {
            *name = Some(color.to_string());
        }
    }
    names
}

/// Where the calls are printed: as JSON, each at once; as a table, all at the end.
enum Output {
    Json { first: bool },
    Table { grid: Grid, format: Format },
}

impl Output {
    fn new(format: Format) -> Self {
        match format {
            Format::Json => Self::Json { first: true },
            Format::Text | Format::Markdown => {
                Self::Table { grid: Grid::new(COLUMNS.map(|(heading, _)| heading)), format }
            }
        }
    }

    fn begin(&self) -> Result<(), Failure> {
        match self {
            Self::Json { .. } => Ok(io::stdout().write_all(b"[")?),
            Self::Table { .. } => Ok(()),
        }
    }

    fn call(&mut self, call: &Inspected<'_>) -> Result<(), Failure> {
        match self {
            Self::Json { first } => {
                let mut out = io::stdout().lock();
                out.write_all(if *first { b"\n" } else { b",\n" })?;
                *first = false;
                shown::write_json(&mut out, call)?;
            }
            Self::Table { grid, .. } => grid.row(COLUMNS.map(|(_, cell)| cell(call))),
        }
        Ok(())
    }

    fn end(&self) -> Result<(), Failure> {
        match self {
            Self::Json { first } => {
                let mut out = io::stdout().lock();
                out.write_all(if *first { b"]\n" } else { b"\n]\n" })?;
                Ok(out.flush()?)
            }
            Self::Table { grid, format } => grid.print(*format),
        }
    }
}

/// A column of the table: its heading, and its cell for a call.
type Column = (&'static str, fn(&Inspected<'_>) -> String);

const COLUMNS: [Column; 13] = [
    ("call", |call| format!("{}:{}", call.file, call.line)),
    ("kernel", |call| call.kernel_name.unwrap_or_default().to_owned()),
    ("runs on", |call| {
        let device = call.device_type.as_deref().unwrap_or("tensorcore");
        let parts = [Some(device), call.tiling.as_deref(), call.opt_level.as_deref()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }),
    ("body", |call| match call.body_bytes {
        Some(bytes) => format!("{bytes} bytes"),
        None => "not told".to_owned(),
    }),
    ("spaces in the body", |call| match &call.body_memory_spaces {
        Some(spaces) => {
            let plain = |space: &&str| {
                space.trim_start_matches("#tpu.memory_space<").trim_end_matches('>').to_owned()
            };
            spaces.iter().map(plain).collect::<Vec<_>>().join(" ")
        }
        None => "unknown".to_owned(),
    }),
    ("inputs", |call| colors(&call.input_memory_spaces)),
    ("outputs", |call| colors(&call.output_memory_spaces)),
    ("vmem limit", |call| shown_if_there(call.vmem_limit_bytes)),
    ("vmem used", |call| shown_if_there(call.used_vmem_bytes)),
    ("collective id", |call| shown_if_there(call.collective_id)),
    ("communicates", |call| if call.has_communication { "yes" } else { "no" }.to_owned()),
    ("flags", |call| {
        let flags = call.flags.iter().map(|(name, value)| format!("{name}={value}"));
        flags.collect::<Vec<_>>().join(" ")
    }),
    ("unknown", |call| call.unknown.join(" ")),
];

fn shown_if_there(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The colored values, each with its number.
fn colors(names: &[Option<String>]) -> String {
    let colored = names.iter().enumerate();
    let colored = colored.filter_map(|(number, name)| Some(format!("{number}:{}", name.as_ref()?)));
    colored.collect::<Vec<_>>().join(" ")
}
