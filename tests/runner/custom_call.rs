//! The custom call's JSON, and its text.

use crate::line::Word;
use mosaic_memspace::Dtype;
use mosaic_memspace::custom_call::{
    Alias, BackendConfig, Body, CallChecks, CallOperand, CollectiveId, Color, CostEstimate,
    CustomCall, DeviceType, Flags, InputColor, OneCoreMark, OptLevel, SideEffects, TensorType,
    Tiling, ValueName, WrittenFlagValue,
};
use mosaic_memspace::error::{Code, Fault};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools, reason = "JAX's parameters")]
pub(crate) struct Call {
    body_base64: String,
    has_communication: bool,
    has_custom_barrier: bool,
    collective_id: Option<u32>,
    device_type: Option<Word<DeviceType>>,
    cost_estimate: Option<Cost>,
    needs_hlo_passes: bool,
    needs_layout_passes: bool,
    vmem_limit_bytes: Option<i64>,
    flags: Option<WrittenFlags>,
    allow_input_fusion: Option<Vec<bool>>,
    serialization_format: Option<i64>,
    internal_scratch_in_bytes: Option<i64>,
    output_memory_spaces: Option<Vec<Option<Word<Color>>>>,
    input_memory_spaces: Option<Vec<Option<Word<Color>>>>,
    disable_bounds_checks: bool,
    disable_semaphore_checks: bool,
    active_core_count: Option<u64>,
    skip_device_barrier: bool,
    shape_invariant_numerics: bool,
    allow_collective_id_without_custom_barrier: bool,
    tiling: Option<Word<Tiling>>,
    opt_level: Option<Word<OptLevel>>,
    use_core_ids: bool,
    debug_locations_base64: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cost {
    flops: i64,
    transcendentals: i64,
    bytes_accessed: i64,
    remote_bytes_transferred: i64,
}

pub(crate) fn backend_config(call: Call) -> Result<String, Code> {
    check(&call)?;
    let body = decode(&call.body_base64)?;
    let locations = call.debug_locations_base64.as_deref().map(decode).transpose()?;

    let mut config = BackendConfig::new(&body);
    config.has_communication = call.has_communication;
    config.collective_id = call.collective_id.map(CollectiveId::from);
    config.cost_estimate = call.cost_estimate.map(|cost| {
        let mut estimate = CostEstimate::default();
        estimate.flops = cost.flops;
        estimate.transcendentals = cost.transcendentals;
        estimate.bytes_accessed = cost.bytes_accessed;
        estimate.remote_bytes_transferred = cost.remote_bytes_transferred;
        estimate
    });
    config.needs_hlo_passes = call.needs_hlo_passes;
    config.serialization_format = call.serialization_format;
    config.needs_layout_passes = call.needs_layout_passes;
    config.shape_invariant_numerics = call.shape_invariant_numerics;
    config.allow_input_fusion = call.allow_input_fusion;
    config.internal_scratch_in_bytes = call.internal_scratch_in_bytes;
    let colors = call.output_memory_spaces.unwrap_or_default();
    config.set_output_colors(&colors.into_iter().map(|color| Some(color?.0)).collect::<Vec<_>>());
    let colors = call.input_memory_spaces.unwrap_or_default();
    let colors: Result<Vec<_>, _> = colors
        .into_iter()
        .map(|color| color.map(|color| InputColor::new(color.0)).transpose())
        .collect();
    config.set_input_colors(&colors.map_err(|fault| fault.code())?);
    config.disable_bounds_checks = call.disable_bounds_checks;
    config.disable_semaphore_checks = call.disable_semaphore_checks;
    config.skip_device_barrier = call.skip_device_barrier;
    config.debug_locations = locations.as_deref().map(Body::Bytes);
    match call.device_type {
        Some(Word(DeviceType::SparseCore)) => {
            let mark = if call.use_core_ids { OneCoreMark::CoreIds } else { OneCoreMark::Megachip };
            let one_core = (call.active_core_count == Some(1)).then_some(mark);
            let tiling = call.tiling.map(|word| word.0);
            config.set_sparse_core(tiling, call.opt_level.map(|word| word.0), one_core);
        }
        None => {}
    }
    config.set_vmem_limit_bytes(call.vmem_limit_bytes);
    if let Some(written) = call.flags {
        let flags = written.0.iter().map(|(name, value)| (name.as_str(), value.clone()));
        let flags = Flags::from_written(flags)
            .map_err(|faults| faults.first().map_or(Code::InvalidFlagValue, Fault::code))?;
        config.set_flags(Some(&flags));
    }
    Ok(config.to_json())
}

fn decode(base64: &str) -> Result<Vec<u8>, Code> {
    base64_simd::STANDARD.decode_to_vec(base64).map_err(|_| Code::InvalidConfig)
}

/// Flags in the order of the line.
struct WrittenFlags(Vec<(String, WrittenFlagValue)>);

impl<'de> Deserialize<'de> for WrittenFlags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = WrittenFlags;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("flags by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WrittenFlags, A::Error> {
                let mut flags = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, serde_json::Value>()? {
                    flags.push((name, written(&value)));
                }
                Ok(WrittenFlags(flags))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

fn written(value: &serde_json::Value) -> WrittenFlagValue {
    match (value.as_bool(), value.as_i64(), value.as_f64(), value.as_str()) {
        (Some(value), _, _, _) => value.into(),
        (_, Some(value), _, _) => value.into(),
        (_, _, Some(value), _) => value.into(),
        (_, _, _, Some(value)) => value.into(),
        (None, None, None, None) => WrittenFlagValue::Other(value.to_string()),
    }
}

/// What JAX checks before it writes anything.
fn check(call: &Call) -> Result<(), Code> {
    let checks = CallChecks {
        device_type: call.device_type.map(|word| word.0),
        collective_id: call.collective_id.map(CollectiveId::from),
        has_custom_barrier: call.has_custom_barrier,
        allow_collective_id_without_custom_barrier: call.allow_collective_id_without_custom_barrier,
        tiling: call.tiling.map(|word| word.0),
        opt_level: call.opt_level.map(|word| word.0),
    };
    let first = checks.check().err().and_then(|faults| faults.into_iter().next());
    first.map_or(Ok(()), |fault| Err(fault.code()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Operation {
    operands: Vec<Array>,
    results: Vec<Array>,
    aliases: Vec<(usize, usize)>,
    kernel_name: Option<String>,
    metadata: Option<BTreeMap<String, String>>,
    side_effects: Word<SideEffects>,
    body_base64: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Array {
    shape: Vec<u64>,
    dtype: Word<Dtype>,
}

impl Array {
    fn tensor(&self) -> TensorType<'_> {
        TensorType::new(&self.shape, self.dtype.0)
    }
}

pub(crate) fn custom_call(operation: Operation) -> Result<String, Code> {
    let body = decode(&operation.body_base64)?;
    let mut config = BackendConfig::new(&body);
    config.serialization_format = Some(1);
    config.needs_layout_passes = true;

    let names: Vec<_> = (0..operation.operands.len()).map(|i| format!("%arg{i}")).collect();
    let operands = names.iter().zip(&operation.operands).map(|(name, array)| {
        let name = ValueName::new(name).map_err(|_| Code::UnknownRef)?;
        Ok(CallOperand::new(name, array.tensor()))
    });
    let operands = operands.collect::<Result<Vec<_>, _>>()?;
    let results: Vec<_> = operation.results.iter().map(Array::tensor).collect();
    let aliases = operation.aliases.into_iter().map(|(input, output)| Alias { input, output });
    let aliases: Vec<_> = aliases.collect();
    let metadata = operation.metadata.as_ref().map(metadata_json);

    let mut call = CustomCall::new(&config, &operands, &results, &aliases)
        .map_err(|faults| faults.first().map_or(Code::AliasMismatch, Fault::code))?;
    call.kernel_name = operation.kernel_name.as_deref();
    call.kernel_metadata = metadata.as_deref();
    call.side_effects = operation.side_effects.0;
    Ok(call.to_string())
}

/// An object as JAX hands it over: a line a member, everything but ASCII escaped.
fn metadata_json(metadata: &BTreeMap<String, String>) -> String {
    let string = |text: &String| {
        let json = serde_json::Value::from(text.as_str()).to_string();
        let mut ascii = String::new();
        for unit in json.encode_utf16() {
            match u8::try_from(unit).ok().filter(u8::is_ascii) {
                Some(byte) => ascii.push(byte.into()),
                None => ascii = format!("{ascii}\\u{unit:04x}"),
            }
        }
        ascii
    };
    let members: Vec<_> =
        metadata.iter().map(|(key, value)| format!("{}:{}", string(key), string(value))).collect();
    if members.is_empty() { "{}".to_owned() } else { format!("{{\n{}\n}}", members.join(",\n")) }
}
