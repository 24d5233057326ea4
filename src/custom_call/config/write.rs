//! The backend config's JSON, byte for byte as JAX 0.12.0.1 writes it.

use super::BackendConfig;
use super::body::{Base64, Body};
use super::flags::FlagValue;
use super::key::{
    CallKey, CompEnvKey, CostKey, Extras, FlagKey, FlagValueKey, InputColorKey, Key, MegachipKey,
    OutputColorKey, ScopedKey, SparseCoreKey, TopKey,
};
use super::number::{FLOAT, python_float};
use super::open::{Open, RawJson};
use super::parts::{
    ColoredInput, ColoredOutput, CompEnv, CostEstimate, FlagConfig, MegachipConfig, ScopedMemory,
    SparseCoreConfig,
};
use super::sink::{LIST, Layout, Length, Members, Sink, list};
use crate::custom_call::params::words::DeviceType;
use std::borrow::Cow;

impl BackendConfig<'_> {
    /// The JSON, byte for byte as JAX 0.12.0.1 writes it, in one allocation.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::BackendConfig;
    /// let json = BackendConfig::new(b"ML").to_json();
    /// assert_eq!(json, r#"{"custom_call_config": {"body": "TUw="}}"#);
    /// ```
    pub fn to_json(&self) -> String {
        let mut json = String::with_capacity(self.json_len());
        write(self, &mut json);
        json
    }

    /// Appends the JSON: one allocation at most, and none where there is room for it.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::BackendConfig;
    ///
    /// let mut json = String::with_capacity(1 << 10);
    /// BackendConfig::new(b"ML").write_json(&mut json);
    /// assert_eq!(json.capacity(), 1 << 10);
    /// ```
    pub fn write_json(&self, json: &mut String) {
        json.reserve_exact(self.json_len());
        write(self, json);
    }

    /// How many bytes the JSON has.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::BackendConfig;
    /// let config = BackendConfig::new(&[0; 1000]);
    /// assert_eq!(config.json_len(), config.to_json().len());
    /// ```
    pub fn json_len(&self) -> usize {
        let mut length = Length::default();
        write(self, &mut length);
        length.get()
    }
}

const SPACED: Layout = Layout { open: "{", separator: ", ", close: "}" };
const COMPACT: Layout = Layout { open: "{", separator: ",", close: "}" };
const LINES: Layout = Layout { open: "{\n", separator: ",\n", close: "\n}" };
const LINES_LIST: Layout = Layout { open: "[\n", separator: ",\n", close: "\n]" };

impl<S: Sink> Members<'_, S> {
    /// Where the value of the next key goes.
    fn value_of(&mut self, key: impl Key) -> &mut S {
        let sink = self.element();
        sink.text(key.text());
        sink
    }

    fn if_true(&mut self, key: impl Key, value: bool) {
        if value {
            boolean(true, self.value_of(key));
        }
    }

    fn if_some(&mut self, key: impl Key, number: Option<i64>) {
        if let Some(number) = number {
            self.value_of(key).decimal(number);
        }
    }

    fn extras<K: Key>(&mut self, extras: &Extras<'_, K>, after: Option<K>) {
        for extra in extras.after(after) {
            let sink = self.element();
            string(&extra.key, sink);
            sink.text(K::COLON);
            sink.text(extra.value.as_str());
        }
    }
}

/// An object: its keys in order, and behind each what was read behind it.
fn object<S: Sink, K: Key>(
    sink: &mut S,
    layout: &'static Layout,
    extras: &Extras<'_, K>,
    mut member: impl FnMut(K, &mut Members<'_, S>),
) {
    let mut members = Members::begin(sink, layout);
    members.extras(extras, None);
    for key in K::VARIANTS {
        member(*key, &mut members);
        members.extras(extras, Some(*key));
    }
    members.end();
}

pub(in crate::custom_call) fn write<S: Sink>(config: &BackendConfig<'_>, sink: &mut S) {
    object(sink, &SPACED, &config.top_extras, |key, members| match key {
        TopKey::CustomCallConfig => custom_call_config(config, members.value_of(key)),
        TopKey::SparseCoreConfig => {
            if let Some(sparse_core) = &config.sparse_core_config {
                sparse_core_config(sparse_core, members.value_of(key));
            }
        }
        TopKey::DeviceType => {
            if let Some(device_type) = &config.device_type {
                let word = |known: &DeviceType| known.json_word();
                open_word(device_type, word, members.value_of(key));
            }
        }
        TopKey::ScopedMemoryConfigs => {
            if !config.scoped_memory_configs.is_empty() {
                list(members.value_of(key), &LIST, &config.scoped_memory_configs, scoped_memory);
            }
        }
        TopKey::FlagConfigs => {
            if let Some(flags) = &config.flag_configs {
                list(members.value_of(key), &LIST, flags, flag_config);
            }
        }
        TopKey::MegachipParallelismConfig => {
            if let Some(megachip) = &config.megachip_parallelism_config {
                megachip_config(megachip, members.value_of(key));
            }
        }
    });
}

fn custom_call_config<S: Sink>(config: &BackendConfig<'_>, sink: &mut S) {
    object(sink, &SPACED, &config.call_extras, |key, members| match key {
        CallKey::Body => body(&config.body, members.value_of(key)),
        CallKey::HasCommunication => members.if_true(key, config.has_communication),
        CallKey::CollectiveId => {
            members.if_some(key, config.collective_id.map(|id| id.get().into()));
        }
        CallKey::CostEstimate => {
            if let Some(cost) = &config.cost_estimate {
                cost_estimate(cost, members.value_of(key));
            }
        }
        CallKey::NeedsHloPasses => members.if_true(key, config.needs_hlo_passes),
        CallKey::SerializationFormat => members.if_some(key, config.serialization_format),
        CallKey::NeedsLayoutPasses => members.if_true(key, config.needs_layout_passes),
        CallKey::ShapeInvariantNumerics => {
            if !config.shape_invariant_numerics {
                boolean(false, members.value_of(key));
            }
        }
        CallKey::AllowInputFusion => {
            if let Some(allowed) = &config.allow_input_fusion {
                list(members.value_of(key), &LIST, allowed, |allowed, sink| {
                    boolean(*allowed, sink);
                });
            }
        }
        CallKey::InternalScratchInBytes => members.if_some(key, config.internal_scratch_in_bytes),
        CallKey::OutputMemorySpaceColors => {
            if !config.output_memory_space_colors.is_empty() {
                let outputs = &config.output_memory_space_colors;
                list(members.value_of(key), &LIST, outputs, colored_output);
            }
        }
        CallKey::InputMemorySpaceColors => {
            if !config.input_memory_space_colors.is_empty() {
                let inputs = &config.input_memory_space_colors;
                list(members.value_of(key), &LIST, inputs, colored_input);
            }
        }
        CallKey::DisableBoundsChecks => members.if_true(key, config.disable_bounds_checks),
        CallKey::DisableSemaphoreChecks => members.if_true(key, config.disable_semaphore_checks),
        CallKey::SkipDeviceBarrier => members.if_true(key, config.skip_device_barrier),
        CallKey::DebugLocations => {
            if let Some(locations) = config.debug_locations.as_ref().filter(|body| !body.is_empty())
            {
                body(locations, members.value_of(key));
            }
        }
    });
}

fn cost_estimate<S: Sink>(cost: &CostEstimate<'_>, sink: &mut S) {
    object(sink, &LINES, &cost.extras, |key, members| {
        let number = match key {
            CostKey::BytesAccessed => cost.bytes_accessed,
            CostKey::Flops => cost.flops,
            CostKey::RemoteBytesTransferred => cost.remote_bytes_transferred,
            CostKey::Transcendentals => cost.transcendentals,
        };
        members.value_of(key).decimal(number);
    });
}

fn colored_output<S: Sink>(output: &ColoredOutput<'_>, sink: &mut S) {
    object(sink, &COMPACT, &output.extras, |key, members| match key {
        OutputColorKey::Color => members.value_of(key).decimal(output.color.number()),
        OutputColorKey::ShapeIndex => {
            if !output.shape_index.is_empty() {
                list(members.value_of(key), &LIST, &output.shape_index, |index, sink| {
                    sink.decimal(*index);
                });
            }
        }
    });
}

fn colored_input<S: Sink>(input: &ColoredInput<'_>, sink: &mut S) {
    object(sink, &COMPACT, &input.extras, |key, members| match key {
        InputColorKey::OperandIndex => members.value_of(key).decimal(input.operand_index.into()),
        InputColorKey::Color => members.value_of(key).decimal(input.color.number()),
    });
}

fn sparse_core_config<S: Sink>(config: &SparseCoreConfig<'_>, sink: &mut S) {
    object(sink, &LINES, &config.extras, |key, members| match key {
        SparseCoreKey::CompEnv => {
            if let Some(settings) = &config.comp_env {
                comp_env(settings, members.value_of(key));
            }
        }
        SparseCoreKey::CoreIds => {
            if !config.core_ids.is_empty() {
                list(members.value_of(key), &LINES_LIST, config.core_ids.iter().copied(), core_id);
            }
        }
        SparseCoreKey::Tiling => {
            if let Some(tiling) = &config.tiling {
                open_word(tiling, |known| known.as_str(), members.value_of(key));
            }
        }
    });
}

fn comp_env<S: Sink>(settings: &CompEnv<'_>, sink: &mut S) {
    object(sink, &LINES, &settings.extras, |key, members| match key {
        CompEnvKey::BackendOptLevel => {
            if let Some(level) = &settings.backend_opt_level {
                open_word(level, |known| known.as_str(), members.value_of(key));
            }
        }
    });
}

fn scoped_memory<S: Sink>(limit: &ScopedMemory<'_>, sink: &mut S) {
    object(sink, &SPACED, &limit.extras, |key, members| match key {
        ScopedKey::MemorySpace => members.value_of(key).decimal(limit.memory_space.number()),
        ScopedKey::Offset => members.value_of(key).decimal(limit.offset),
        ScopedKey::Size => members.value_of(key).decimal(limit.size),
    });
}

fn flag_config<S: Sink>(flag: &FlagConfig<'_>, sink: &mut S) {
    object(sink, &SPACED, &flag.extras, |key, members| match key {
        FlagKey::FlagType => quoted(flag.flag_type.as_str(), members.value_of(key)),
        FlagKey::Value => flag_value(flag, members.value_of(key)),
    });
}

fn flag_value<S: Sink>(flag: &FlagConfig<'_>, sink: &mut S) {
    object(sink, &SPACED, &flag.value_extras, |key, members| {
        if let Some(value) = flag.value.filter(|value| FlagValueKey::of(*value) == key) {
            let sink = members.value_of(key);
            match value {
                FlagValue::Bool(value) => boolean(value, sink),
                FlagValue::Int(value) => sink.decimal(value),
                FlagValue::Float(value) => sink.text(python_float(value.get(), &mut [0; FLOAT])),
            }
        }
    });
}

fn megachip_config<S: Sink>(config: &MegachipConfig<'_>, sink: &mut S) {
    object(sink, &SPACED, &config.extras, |key, members| match key {
        MegachipKey::Cores => {
            list(members.value_of(key), &LIST, config.cores.iter().copied(), core_id);
        }
    });
}

/// A core's number, which JAX writes as a string.
fn core_id<S: Sink>(id: u32, sink: &mut S) {
    sink.text("\"");
    sink.decimal(id.into());
    sink.text("\"");
}

fn body<S: Sink>(body: &Body<'_>, sink: &mut S) {
    match body {
        Body::Bytes(bytes) => {
            sink.text("\"");
            sink.base64(bytes);
            sink.text("\"");
        }
        Body::Base64(Base64(Cow::Borrowed(text))) => quoted(text, sink),
        Body::Base64(Base64(Cow::Owned(text))) => string(text, sink),
    }
}

fn open_word<S: Sink, T>(word: &Open<'_, T>, known: impl FnOnce(&T) -> &'static str, sink: &mut S) {
    match word {
        Open::Known(word) => quoted(known(word), sink),
        Open::Other(text) => raw(*text, sink),
    }
}

fn raw<S: Sink>(value: RawJson<'_>, sink: &mut S) {
    sink.text(value.as_str());
}

/// A string in which nothing needs an escape.
fn quoted<S: Sink>(text: &str, sink: &mut S) {
    sink.text("\"");
    sink.text(text);
    sink.text("\"");
}

/// Any string.
fn string<S: Sink>(text: &str, sink: &mut S) {
    sink.text("\"");
    for piece in text.split_inclusive(needs_escape) {
        let mut rest = piece.chars();
        let last = rest.next_back().filter(|last| needs_escape(*last));
        sink.text(if last.is_some() { rest.as_str() } else { piece });
        if let Some(last) = last {
            sink.text("\\u00");
            for shift in [4, 0] {
                let digit = char::from_digit((u32::from(last) >> shift) & 0xf, 16);
                sink.text(digit.unwrap_or('0').encode_utf8(&mut [0; 4]));
            }
        }
    }
    sink.text("\"");
}

/// Those below U+0020, the quote and the backslash.
fn needs_escape(character: char) -> bool {
    matches!(character, '"' | '\\' | '\0'..='\u{1f}')
}

fn boolean<S: Sink>(value: bool, sink: &mut S) {
    sink.text(if value { "true" } else { "false" });
}
