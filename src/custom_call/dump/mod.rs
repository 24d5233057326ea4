//! Finds every `tpu_custom_call` in a dump: StableHLO as JAX prints it, HLO as XLA does.

mod tokens;
mod types;

use super::colors::alias::Alias;
use super::config::BackendConfig;
use super::config::read::InvalidConfig;
use super::value::DumpedType;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::ops::Range;
use tokens::{Brackets, Escapes, Token, Tokens, unescape};

/// A dump that is being searched for calls.
///
/// The dump may be of any length. One line of it is held in memory at a time, and a
/// line is longer than [`LONGEST_LINE`] only in a broken dump, or where it prints a
/// large constant: such a line is reported, passed over, and the search goes on.
///
/// An instruction of HLO may continue on further lines, where its attributes hold JSON
/// with line ends, as before XLA's optimizations. It counts as one line, its first.
///
/// ```
/// use mosaic_memspace::custom_call::Dump;
///
/// let text = r#"module {
///   %0 = stablehlo.custom_call @tpu_custom_call(%arg0) {backend_config = "{}", kernel_name = "k"} : (tensor<4xf32>) -> tensor<4xf32>
/// }"#;
/// let mut dump = Dump::new(text.as_bytes());
/// let call = dump.next_call()?.expect("there is one");
/// assert_eq!((call.line, call.kernel_name.as_deref()), (2, Some("k")));
/// assert_eq!((call.operands, call.results), (1, 1));
/// assert!(dump.next_call()?.is_none());
/// # Ok::<(), mosaic_memspace::custom_call::DumpFault>(())
/// ```
#[derive(Debug)]
pub struct Dump<R> {
    reader: R,
    /// The line that is being searched, and those that it continues on.
    line: String,
    /// A line that was read to see whether the one before continues on it; empty if
    /// there is none.
    ahead: String,
    /// The number of the line.
    number: u64,
    /// How many lines were read.
    read: u64,
    /// The calls of the line that have not been returned yet.
    found: VecDeque<Found>,
    /// Bytes that a line may have.
    longest: usize,
}

/// Bytes of the longest line of a dump that is searched, 128 MiB.
///
/// The body of a kernel stands in its call's line as base64. The bodies of real
/// kernels take up to some MB there, so this leaves room for one that is ten times
/// as large, while gzipped input, which may unpack to a thousand times its size,
/// cannot take all of a machine's memory.
pub const LONGEST_LINE: usize = 128 << 20;

/// Why a dump, or a line of it, cannot be searched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DumpFault {
    /// The reader failed.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// A line is longer than [`LONGEST_LINE`]. It has been passed over; the lines after
    /// it can be searched.
    #[error("line {line} is longer than {longest} bytes")]
    LineTooLong {
        /// The number of the line; the first is 1.
        line: u64,
        /// Bytes that a line may have.
        longest: usize,
    },
}

impl<R: BufRead> Dump<R> {
    /// The text of a module, to be read from `reader`.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::Dump;
    /// assert!(Dump::new(b"module {}".as_slice()).next_call()?.is_none());
    /// # Ok::<(), mosaic_memspace::custom_call::DumpFault>(())
    /// ```
    pub const fn new(reader: R) -> Self {
        Self {
            reader,
            line: String::new(),
            ahead: String::new(),
            number: 0,
            read: 0,
            found: VecDeque::new(),
            longest: LONGEST_LINE,
        }
    }

    /// The next `tpu_custom_call`, or `None` at the end.
    ///
    /// # Errors
    /// [`DumpFault::Read`]: the reader failed. [`DumpFault::LineTooLong`]: a line is too
    /// long to be searched; the next call of this function goes on behind it.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::Dump;
    ///
    /// let line = r#"ROOT %a = f32[4]{0} custom-call(%x, %y), custom_call_target="tpu_custom_call", backend_config={"flag_configs":[]}"#;
    /// let mut dump = Dump::new(line.as_bytes());
    /// let call = dump.next_call()?.expect("there is one");
    /// assert_eq!(call.operands, 2);
    /// assert_eq!(call.config().map(|config| config.flag_configs), Ok(Some(vec![])));
    /// # Ok::<(), mosaic_memspace::custom_call::DumpFault>(())
    /// ```
    pub fn next_call(&mut self) -> Result<Option<DumpedCall<'_>>, DumpFault> {
        while self.found.is_empty() {
            if !self.next_line()? {
                return Ok(None);
            }
            self.found = calls(&self.line);
        }
        Ok(self.found.pop_front().map(|found| found.on(&self.line, self.number)))
    }

    /// Whether there is another line.
    fn next_line(&mut self) -> Result<bool, DumpFault> {
        if self.ahead.is_empty() {
            self.read_ahead()?;
        }
        std::mem::swap(&mut self.line, &mut self.ahead);
        self.ahead.clear();
        self.number = self.read;
        if self.line.contains(HLO_TARGET) || is_payload(&self.line) {
            let mut brackets = Brackets::default();
            while brackets.open_at_end(&self.line) {
                self.read_ahead()?;
                if self.ahead.is_empty() || begins_instruction(&self.ahead) {
                    break;
                }
                if self.line.len().saturating_add(self.ahead.len()) > self.longest {
                    self.line = String::new();
                    return Err(self.too_long(self.number));
                }
                self.line.push_str(&self.ahead);
                self.ahead.clear();
            }
        }
        Ok(!self.line.is_empty())
    }

    /// Reads a line, if there is one.
    fn read_ahead(&mut self) -> Result<(), DumpFault> {
        let mut bytes = std::mem::take(&mut self.ahead).into_bytes();
        bytes.clear();
        // The line's end is not counted.
        let most = u64::try_from(self.longest).unwrap_or(u64::MAX).saturating_add(1);
        if self.reader.by_ref().take(most).read_until(b'\n', &mut bytes)? > 0 {
            self.read = self.read.saturating_add(1);
        }
        if bytes.len() > self.longest && !bytes.ends_with(b"\n") {
            drop(bytes);
            self.pass_line()?;
            return Err(self.too_long(self.read));
        }
        self.ahead = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Ok(())
    }

    /// Passes over the rest of the line.
    fn pass_line(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.reader.fill_buf()?;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let passed = end.map_or(bytes.len(), |end| end.saturating_add(1));
            let is_last = end.is_some() || bytes.is_empty();
            self.reader.consume(passed);
            if is_last {
                return Ok(());
            }
        }
    }

    const fn too_long(&self, line: u64) -> DumpFault {
        DumpFault::LineTooLong { line, longest: self.longest }
    }
}

/// A `tpu_custom_call` in a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DumpedCall<'l> {
    /// The line it stands on; the first is 1.
    pub line: u64,
    /// What JAX calls the kernel; of HLO, what the instruction is called, without the
    /// number behind it.
    pub kernel_name: Option<Cow<'l, str>>,
    /// How many operands it has.
    pub operands: usize,
    /// How many results it has.
    pub results: usize,
    /// Its `backend_config`, without the escapes of the dump.
    pub backend_config: Option<Cow<'l, str>>,
    /// The types of its operands; `None` for one that is no array, or not told.
    pub operand_types: Vec<Option<DumpedType>>,
    /// The types of its results.
    pub result_types: Vec<Option<DumpedType>>,
    /// Operands and results that share a buffer, by their numbers in the call.
    pub aliases: Vec<Alias>,
}

impl DumpedCall<'_> {
    /// The backend config.
    ///
    /// # Errors
    /// [`InvalidConfig`]: there is none, or it cannot be read.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::Dump;
    ///
    /// let mut dump = Dump::new(b"stablehlo.custom_call @tpu_custom_call()".as_slice());
    /// let call = dump.next_call()?.expect("there is one");
    /// assert!(call.config().is_err());
    /// # Ok::<(), mosaic_memspace::custom_call::DumpFault>(())
    /// ```
    pub fn config(&self) -> Result<BackendConfig<'_>, InvalidConfig> {
        BackendConfig::from_json(self.backend_config.as_deref().unwrap_or_default())
    }
}

/// What makes a line of HLO a kernel's call.
const HLO_TARGET: &str = "custom_call_target=\"tpu_custom_call\"";

/// Whether a backend config stands there by itself, as when it has been cut out of a dump.
fn is_payload(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('{') && line.contains("\"custom_call_config\"")
}

/// Whether a line of HLO begins an instruction, or a computation: JSON that goes on
/// there begins with a quote, a bracket, a number, or one of three words.
fn begins_instruction(line: &str) -> bool {
    match Tokens::new(line).next() {
        Some(Token::Word(word)) => {
            let number = word.starts_with(|first: char| first.is_ascii_digit() || first == '-');
            !number && !["true", "false", "null"].contains(&word)
        }
        Some(Token::Text(..) | Token::Arrow | Token::Mark(_)) | None => false,
    }
}

/// A call's parts, as places in its line.
#[derive(Clone, Debug, Default)]
struct Found {
    is_kernel: bool,
    kernel_name: Option<Range<usize>>,
    operands: usize,
    results: usize,
    config: Option<(Range<usize>, Escapes)>,
    /// Where the types begin: in StableHLO of all, in HLO of the result and the operands.
    types: [Option<usize>; 2],
    /// Where the list of aliases begins.
    aliases: Option<usize>,
    is_hlo: bool,
}

impl Found {
    fn on(self, line: &str, number: u64) -> DumpedCall<'_> {
        let part =
            |range: Range<usize>, escapes| unescape(line.get(range).unwrap_or_default(), escapes);
        let from = |begin: Option<usize>| begin.and_then(|begin| line.get(begin..));
        let [first, second] = self.types.map(|begin| from(begin).unwrap_or_default());
        let aliases = from(self.aliases).unwrap_or_default();
        let ([mut operand_types, mut result_types], aliases) = if self.is_hlo {
            let end = first.find(" custom-call").unwrap_or(first.len());
            let results = first.get(..end).unwrap_or_default();
            (types::of_hlo(results, second), types::hlo_aliases(aliases))
        } else {
            (types::of_stablehlo(first), types::stablehlo_aliases(aliases))
        };
        operand_types.resize(self.operands, None);
        result_types.resize(self.results, None);
        DumpedCall {
            line: number,
            kernel_name: self
                .kernel_name
                .map(|range| part(range, if self.is_hlo { Escapes::None } else { Escapes::Mlir })),
            operands: self.operands,
            results: self.results,
            backend_config: self.config.map(|(range, escapes)| part(range, escapes)),
            operand_types,
            result_types,
            aliases,
        }
    }
}

/// The kernels' calls in a line.
fn calls(line: &str) -> VecDeque<Found> {
    if is_payload(line) {
        let config = Some((0..line.len(), Escapes::None));
        return VecDeque::from([Found { is_kernel: true, config, ..Found::default() }]);
    }
    if !line.contains("tpu_custom_call") {
        return VecDeque::new();
    }
    let mut found =
        if line.contains(HLO_TARGET) { VecDeque::from([hlo(line)]) } else { stablehlo(line) };
    found.retain(|call| call.is_kernel);
    found
}

/// The custom calls in a line of StableHLO, in MLIR's short form or its generic one:
/// `stablehlo.custom_call @target(…) {…} : (…) -> …`, `"stablehlo.custom_call"(…) <{…}> : …`.
fn stablehlo(line: &str) -> VecDeque<Found> {
    let mut calls = VecDeque::new();
    let mut tokens = Tokens::new(line);
    let mut key = "";
    while let Some(token) = tokens.next() {
        if let Token::Word(name) | Token::Text(name, _) = token
            && name.ends_with(".custom_call")
        {
            let mut call = Found::default();
            if tokens.skip("@tpu_custom_call") {
                call.is_kernel = true;
            }
            if tokens.skip("(") {
                call.operands = tokens.group();
            }
            calls.push_back(call);
        }
        let Some(call) = calls.back_mut() else { continue };
        match token {
            Token::Word(word) => {
                call.is_kernel |= key == "call_target_name" && word == "@tpu_custom_call";
                if word == "output_operand_aliases" {
                    call.aliases = Some(tokens.at);
                }
                key = word;
            }
            Token::Text(text, place) => match key {
                "backend_config" => call.config = Some((place, Escapes::Mlir)),
                "kernel_name" => call.kernel_name = Some(place),
                "call_target_name" => call.is_kernel |= text == "tpu_custom_call",
                _ => {}
            },
            Token::Arrow => call.results = if tokens.skip("(") { tokens.group() } else { 1 },
            Token::Mark(b'=') => {}
            Token::Mark(mark) => {
                key = "";
                let begin = tokens.at;
                let [types, _] = &mut call.types;
                if mark == b':' && types.is_none() && tokens.skip("(") {
                    tokens.group();
                    *types = Some(begin);
                }
            }
        }
    }
    calls
}

/// The kernel's name in an instruction's, which XLA numbers: `%flash_attention.1`. One
/// that only says what it is names no kernel.
fn instruction(line: &str, name: &str) -> Option<Range<usize>> {
    let begin = line.find(name)?;
    let name = name.strip_prefix('%').unwrap_or(name);
    let begin = line.get(begin..)?.find(name)?.saturating_add(begin);
    let digits = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit());
    let own = name.rsplit_once('.').filter(|(_, number)| digits(number));
    let own = own.map_or(name, |(own, _)| own);
    let says = !matches!(own, "" | "custom-call" | "tpu_custom_call");
    says.then_some(begin..begin.saturating_add(own.len()))
}

/// The instruction in a line of HLO:
/// `%name = type custom-call(…), custom_call_target="…", backend_config={…}`.
fn hlo(line: &str) -> Found {
    let mut call = Found { is_hlo: true, ..Found::default() };
    let mut tokens = Tokens::new(line);
    let mut key = "";
    let mut seen_type = false;
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(word) => {
                if word == "custom-call" && tokens.skip("(") {
                    call.operands = tokens.group();
                }
                key = word;
            }
            Token::Mark(b'=') => {
                if !seen_type {
                    seen_type = true;
                    call.kernel_name = instruction(line, key);
                    call.types[0] = Some(tokens.at);
                    call.results = if tokens.skip("(") { tokens.group() } else { 1 };
                } else if key == "operand_layout_constraints" {
                    call.types[1] = Some(tokens.at);
                } else if key == "output_to_operand_aliasing" {
                    call.aliases = Some(tokens.at);
                } else if key == "backend_config" {
                    let begin = tokens.at;
                    if tokens.skip("{") {
                        tokens.group();
                        call.config = Some((begin..tokens.at, Escapes::None));
                    }
                }
            }
            Token::Text(text, place) => match key {
                "custom_call_target" => call.is_kernel = text == "tpu_custom_call",
                "backend_config" => call.config = Some((place, Escapes::Hlo)),
                _ => {}
            },
            Token::Arrow | Token::Mark(_) => key = "",
        }
    }
    call
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::panic, reason = "tests")]
mod tests {
    use super::*;

    type Parts = (u64, Option<String>, usize, usize, Option<String>);

    fn found(text: &str) -> Vec<Parts> {
        let mut dump = Dump::new(text.as_bytes());
        let mut calls = Vec::new();
        while let Ok(Some(call)) = dump.next_call() {
            let name = call.kernel_name.map(Cow::into_owned);
            let config = call.backend_config.map(Cow::into_owned);
            calls.push((call.line, name, call.operands, call.results, config));
        }
        calls
    }

    #[test]
    fn stablehlo_is_read_in_both_of_mlirs_forms() {
        let text = r#"
%0:2 = stablehlo.custom_call @tpu_custom_call(%a, %b#1) {backend_config = "{\22a\\\22: \0A1}", has_side_effect = true, kernel_name = "k\22"} : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<2x!quant.uniform<i8:f32, 1.0>>)
%1 = "stablehlo.custom_call"(%a) <{api_version = 1 : i32, backend_config = "{}", call_target_name = @tpu_custom_call}> {kernel_name = "g"} : (tensor<4xf32>) -> tensor<4xf32> loc(#loc3)
%1 = "stablehlo.custom_call"() <{call_target_name = "tpu_custom_call", backend_config = "{}"}> : () -> ()
%2 = stablehlo.custom_call @Sharding(%a) {backend_config = "tpu_custom_call"} : (tensor<4xf32>) -> tensor<4xf32>
%2 = stablehlo.custom_call @tpu_custom_call_other(%a) {backend_config = "{}"} : (tensor<4xf32>) -> tensor<4xf32>
// tpu_custom_call
"#;
        let json = "{\"a\\\": \n1}".to_owned();
        assert_eq!(
            found(text),
            [
                (2, Some("k\"".into()), 2, 2, Some(json)),
                (3, Some("g".into()), 1, 1, Some("{}".into())),
                (4, None, 0, 0, Some("{}".into())),
            ]
        );
    }

    #[test]
    fn several_calls_may_stand_on_a_line() {
        let call = r#"stablehlo.custom_call @tpu_custom_call(%a) {backend_config = "{}", kernel_name = "k"} : (tensor<f32>) -> tensor<f32> "#;
        assert_eq!(found(&call.repeat(3)).len(), 3);
    }

    #[test]
    fn hlo_is_read_with_raw_json_and_with_quoted() {
        let text = r#"
  ROOT %gmm.1 = (f32[512,384]{1,0:T(8,128)}, /*index=1*/s32[]) custom-call(f32[2]{0} %x, %y, /*index=2*/%z), custom_call_target="tpu_custom_call", operand_layout_constraints={f32[2]{0}}, frontend_attributes={kernel_metadata={}}, metadata={op_name="a}\"b"}, backend_config={"a":{"b":"}\"{"}}, sharding={replicated}
  %a.2 = f32[512]{0} custom-call(), custom_call_target="tpu_custom_call", backend_config="{\"a\":\n\0421\"}"
  %b = f32[512]{0} custom-call(%tpu_custom_call.1), custom_call_target="Sharding"
  %c = f32[512]{0} fusion(%tpu_custom_call.1), calls=%tpu_custom_call
"#;
        assert_eq!(
            found(text),
            [
                (2, Some("gmm".into()), 3, 2, Some(r#"{"a":{"b":"}\"{"}}"#.into())),
                (3, Some("a".into()), 0, 1, Some("{\"a\":\n\"1\"}".into())),
            ]
        );
    }

    #[test]
    fn an_instruction_of_hlo_goes_on_where_its_json_does() {
        let config =
            "{\"custom_call_config\": {\"body\": \"\", \"cost_estimate\": {\n\"flops\":1\n}}}";
        let call = |metadata| {
            format!(
                "  ROOT k.1 = f32[4]{{0}} custom-call(a.1), {HLO_TARGET}, \
                 frontend_attributes={{kernel_metadata={metadata}}}, backend_config={config}\n"
            )
        };
        let (plain, metadata) =
            (call("{}"), call("{\n\"a\":[\n-1,\ntrue\n],\n\"b\":\"}\\\"{\"\n}"));
        let rest =
            "  b.1 = f32[4]{0} add(a.1, a.1), frontend_attributes={kernel_metadata={\n}}\n}\n";
        let cut = plain.split_inclusive('\n').next().unwrap_or_default();
        let text = format!("e {{\n{plain}{metadata}{rest}{cut}{rest}{cut}ENTRY {{\n{plain}{cut}");
        let lines: Vec<_> = found(&text).into_iter().map(|call| (call.0, call.4)).collect();
        let whole = Some(config.to_owned());
        let cut = config.split_inclusive('\n').next().map(str::to_owned);
        assert_eq!(
            lines,
            [
                (2, whole.clone()),
                (5, whole.clone()),
                (17, cut.clone()),
                (21, cut.clone()),
                (23, whole),
                (26, cut)
            ]
        );
    }

    /// What a dump of these bytes holds, where a line may have 100 bytes: the lines of its
    /// calls, the lines that are too long, and the most memory that was kept for a line.
    fn bounded(reader: impl BufRead) -> (Vec<u64>, Vec<u64>, usize) {
        let mut dump = Dump { longest: 100, ..Dump::new(reader) };
        let (mut calls, mut too_long, mut kept) = (Vec::new(), Vec::new(), 0);
        loop {
            match dump.next_call() {
                Ok(Some(call)) => calls.push(call.line),
                Ok(None) => return (calls, too_long, kept),
                Err(DumpFault::LineTooLong { line, longest: 100 }) => too_long.push(line),
                Err(error) => panic!("{error}"),
            }
            kept = kept.max(dump.line.capacity()).max(dump.ahead.capacity());
        }
    }

    #[test]
    fn a_line_may_be_as_long_as_the_bound_and_no_longer() {
        let call = "custom_call @tpu_custom_call(";
        let line = |length: usize| format!("stablehlo.{call}{}", "%".repeat(length - 10 - 29));
        let (fits, long, longer) = (line(100), line(101), line(5000));
        let text = format!("{fits}\n{long}\n{fits}\n{longer}\n{fits}\r\n{fits}\n{longer}");
        let (calls, too_long, kept) = bounded(text.as_bytes());
        assert_eq!((calls, too_long), (vec![1, 3, 6], vec![2, 4, 5, 7]));
        assert!(kept <= 2 * 101, "{kept} bytes");
        assert_eq!(bounded(fits.as_bytes()).0, [1]);
        let endless = io::BufReader::new(io::repeat(b'a').take(1 << 24));
        assert_eq!(bounded(endless), (vec![], vec![1], 0));
    }

    #[test]
    fn an_instruction_on_several_lines_is_no_longer_than_a_line_may_be() {
        let call = format!("a = custom-call(), {HLO_TARGET}, b={{");
        let (short, long) = (format!("{call}\n}}\n"), format!("{call}{}}}\n", "\n1".repeat(30)));
        let (calls, too_long, kept) = bounded(format!("{short}{long}{short}").as_bytes());
        assert_eq!((calls, too_long), (vec![1, 34], vec![3]));
        assert!(kept <= 2 * 101, "{kept} bytes");
    }

    #[test]
    fn what_is_cut_off_is_found_and_said_to_be_wrong() {
        let text =
            r#"%0 = stablehlo.custom_call @tpu_custom_call(%a) {backend_config = "{\22custom_c"#;
        let mut dump = Dump::new(text.as_bytes());
        let call = dump.next_call().ok().flatten();
        assert!(call.is_some_and(|call| call.config().is_err()));
    }
}
