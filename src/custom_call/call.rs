//! The whole operation, `stablehlo.custom_call @tpu_custom_call`, as MLIR text.

use super::colors::alias::{Alias, AliasFault};
use super::colors::carried::sound;
use super::config::BackendConfig;
use super::config::sink::{LIST, Layout, Length, Members, Sink, list};
use super::params::words::SideEffects;
use super::value::{CallOperand, TensorType, ValueName, tensor};
use crate::error::Faults;
use std::borrow::Cow;
use std::fmt;

/// A `stablehlo.custom_call @tpu_custom_call`, printed as JAX 0.12.0.1 prints it: what
/// stands in a module where a kernel is called.
///
/// ```
/// use mosaic_memspace::Dtype;
/// use mosaic_memspace::custom_call::{BackendConfig, CustomCall, CallOperand, TensorType, ValueName};
///
/// let config = BackendConfig::new(b"ML");
/// let array = TensorType::new(&[8, 128], Dtype::Float32);
/// let operands = [CallOperand::new(ValueName::new("%arg0")?, array)];
/// let results = [array];
/// let mut call = CustomCall::new(&config, &operands, &results, &[])?;
/// call.kernel_name = Some("scale");
/// assert_eq!(
///     call.to_string(),
///     r#"%0 = stablehlo.custom_call @tpu_custom_call(%arg0) {backend_config = "{\22custom_call_config\22: {\22body\22: \22TUw=\22}}", kernel_name = "scale", operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<8x128xf32>) -> tensor<8x128xf32>"#
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CustomCall<'a> {
    config: Cow<'a, BackendConfig<'a>>,
    operands: Cow<'a, [CallOperand<'a>]>,
    results: Cow<'a, [TensorType<'a>]>,
    aliases: Cow<'a, [Alias]>,
    /// What the results are called; `%0` unless it is set.
    pub name: ValueName<'a>,
    /// What the kernel is called.
    pub kernel_name: Option<&'a str>,
    /// What the author adds for tools, as JSON (JAX: the `metadata` of a `pallas_call`,
    /// which is `{}` there when nothing is given).
    pub kernel_metadata: Option<&'a str>,
    /// What XLA may do with the call.
    pub side_effects: SideEffects,
}

impl<'a> CustomCall<'a> {
    /// A call of these operands. Numbers of aliases count all of them: dynamic grid
    /// bounds, scalar prefetch, inputs ([`Alias::shifted`]).
    ///
    /// # Errors
    /// Every [`AliasFault`]: numbers out of range, an operand or a result aliased twice, or
    /// arrays that differ in shape or element type.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{Alias, BackendConfig, CustomCall};
    /// let config = BackendConfig::new(b"");
    /// let alias = Alias { input: 0, output: 0 };
    /// assert!(CustomCall::new(&config, &[], &[], &[alias]).is_err());
    /// ```
    pub fn new(
        config: &'a BackendConfig<'a>,
        operands: &'a [CallOperand<'a>],
        results: &'a [TensorType<'a>],
        aliases: &'a [Alias],
    ) -> Result<Self, Faults<AliasFault>> {
        let mut errors = Vec::new();
        for alias in sound(operands.len(), results.len(), aliases, &mut errors) {
            let ends = operands.get(alias.input).zip(results.get(alias.output));
            let checked = ends.map_or(Ok(()), |(operand, result)| {
                alias.check_types(operand.array.parts(), result.parts())
            });
            errors.extend(checked.err());
        }
        Faults::from_iter(errors).into_result()?;
        Ok(Self {
            config: Cow::Borrowed(config),
            operands: Cow::Borrowed(operands),
            results: Cow::Borrowed(results),
            aliases: Cow::Borrowed(aliases),
            name: ValueName::FIRST,
            kernel_name: None,
            kernel_metadata: None,
            side_effects: SideEffects::default(),
        })
    }

    /// A call whose aliases were checked with its kernel.
    pub(crate) fn checked(
        config: BackendConfig<'a>,
        operands: Vec<CallOperand<'a>>,
        results: Vec<TensorType<'a>>,
        aliases: Vec<Alias>,
    ) -> Self {
        Self {
            config: Cow::Owned(config),
            operands: operands.into(),
            results: results.into(),
            aliases: aliases.into(),
            name: ValueName::FIRST,
            kernel_name: None,
            kernel_metadata: None,
            side_effects: SideEffects::default(),
        }
    }

    /// The operation's text, in one allocation.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{BackendConfig, CustomCall};
    /// let config = BackendConfig::new(b"");
    /// let call = CustomCall::new(&config, &[], &[], &[])?;
    /// assert!(call.to_mlir().ends_with(" : () -> ()"));
    /// # Ok::<(), mosaic_memspace::error::Faults<mosaic_memspace::custom_call::AliasFault>>(())
    /// ```
    pub fn to_mlir(&self) -> String {
        let mut length = Length::default();
        self.print(&mut length);
        let mut text = String::with_capacity(length.get());
        self.print(&mut text);
        text
    }

    fn print<S: Sink>(&self, sink: &mut S) {
        if !self.results.is_empty() {
            sink.text(self.name.as_str());
            if self.results.len() > 1 {
                sink.text(":");
                sink.natural(self.results.len() as u64);
            }
            sink.text(" = ");
        }
        sink.text("stablehlo.custom_call @tpu_custom_call");
        list(sink, &TUPLE, self.operands.iter(), |operand, sink| sink.text(operand.name.as_str()));
        sink.text(" ");
        self.attributes(sink);
        sink.text(" : ");
        list(sink, &TUPLE, self.operands.iter(), |operand, sink| tensor(operand.array, sink));
        sink.text(" -> ");
        match &*self.results {
            [result] => tensor(*result, sink),
            results => list(sink, &TUPLE, results, |result, sink| tensor(*result, sink)),
        }
    }

    /// The attributes, which MLIR sorts by name.
    fn attributes<S: Sink>(&self, sink: &mut S) {
        let mut attributes = Members::begin(sink, &DICTIONARY);
        {
            let mut string = Quoted::begin(attributes.named("backend_config"));
            self.config.write(&mut string);
            string.end();
        }
        if self.side_effects.has_side_effect() {
            attributes.named("has_side_effect").text("true");
        }
        if let Some(name) = self.kernel_name {
            quoted(name, attributes.named("kernel_name"));
        }
        let metadata = self.kernel_metadata.map(|metadata| ("kernel_metadata", metadata));
        let frontend = [metadata, self.side_effects.frontend_attribute()];
        if frontend.iter().any(Option::is_some) {
            let sink = attributes.named("mhlo.frontend_attributes");
            let mut members = Members::begin(sink, &DICTIONARY);
            for (name, value) in frontend.into_iter().flatten() {
                quoted(value, members.named(name));
            }
            members.end();
        }
        let operands = self.operands.iter().map(|operand| operand.array);
        list(attributes.named("operand_layouts"), &SPACED_LIST, operands, layout);
        if !self.aliases.is_empty() {
            let sink = attributes.named("output_operand_aliases");
            list(sink, &SPACED_LIST, self.aliases.iter(), |alias, sink| self.alias(*alias, sink));
        }
        let results = self.results.iter().copied();
        list(attributes.named("result_layouts"), &SPACED_LIST, results, layout);
        attributes.end();
    }

    fn alias<S: Sink>(&self, alias: Alias, sink: &mut S) {
        sink.text("#stablehlo.output_operand_alias<output_tuple_indices = [");
        if self.results.len() > 1 {
            sink.natural(alias.output as u64);
        }
        sink.text("], operand_index = ");
        sink.natural(alias.input as u64);
        sink.text(", operand_tuple_indices = []>");
    }
}

impl fmt::Display for CustomCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_mlir())
    }
}

const TUPLE: Layout = Layout { open: "(", separator: ", ", close: ")" };
const DICTIONARY: Layout = Layout { open: "{", separator: ", ", close: "}" };
const SPACED_LIST: Layout = Layout { separator: ", ", ..LIST };

impl<S: Sink> Members<'_, S> {
    /// Where the value of the next attribute goes.
    fn named(&mut self, name: &str) -> &mut S {
        let sink = self.element();
        sink.text(name);
        sink.text(" = ");
        sink
    }
}

/// An array's dimensions, minor to major: it is laid out as it is written.
fn layout<S: Sink>(array: TensorType<'_>, sink: &mut S) {
    sink.text("dense<");
    match array.shape {
        [] => {}
        [_] => sink.text("0"),
        shape => list(sink, &SPACED_LIST, (0..shape.len()).rev(), |dimension, sink| {
            sink.natural(dimension as u64);
        }),
    }
    sink.text("> : tensor<");
    sink.natural(array.shape.len() as u64);
    sink.text("xindex>");
}

/// A string of MLIR.
pub(crate) fn quoted_text(text: &str) -> String {
    let mut written = String::new();
    quoted(text, &mut written);
    written
}

fn quoted<S: Sink>(text: &str, sink: &mut S) {
    let mut string = Quoted::begin(sink);
    string.text(text);
    string.end();
}

/// A string of MLIR that is being written: what is no printable ASCII, and the quote,
/// stands there as two hexadecimal digits.
struct Quoted<'s, S>(&'s mut S);

impl<'s, S: Sink> Quoted<'s, S> {
    fn begin(sink: &'s mut S) -> Self {
        sink.text("\"");
        Self(sink)
    }

    fn end(self) {
        self.0.text("\"");
    }
}

impl<S: Sink> Sink for Quoted<'_, S> {
    fn text(&mut self, text: &str) {
        let plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.bytes().position(|byte| !plain(byte)).unwrap_or(rest.len());
            let (run, from) = rest.split_at_checked(end).unwrap_or((rest, ""));
            self.0.text(run);
            // The bytes of one character, which is escaped whole.
            let mut characters = from.chars();
            if let Some(character) = characters.next() {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    self.0.text("\\");
                    self.0.text(escape(byte, &mut [0; 2]));
                }
            }
            rest = characters.as_str();
        }
    }

    fn base64(&mut self, bytes: &[u8]) {
        self.0.base64(bytes);
    }

    fn decimal(&mut self, number: i64) {
        self.0.decimal(number);
    }

    fn natural(&mut self, number: u64) {
        self.0.natural(number);
    }
}

/// What stands for a byte behind a backslash.
fn escape(byte: u8, digits: &mut [u8; 2]) -> &str {
    if byte == b'\\' {
        return "\\";
    }
    for (digit, value) in digits.iter_mut().zip([byte >> 4, byte & 0xf]) {
        *digit = b"0123456789ABCDEF".get(usize::from(value)).copied().unwrap_or_default();
    }
    std::str::from_utf8(digits).unwrap_or_default()
}
