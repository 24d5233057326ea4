//! How a description is written in JSON, where that is not how it is kept.

use super::description::{
    Holds, Kernel, MeshSpec, OnChip, Operand, Params, Prefetch, RefAccess, Scratch, Semaphore,
};
use super::place::Place;
use super::spelled::Spelled;
use super::strict::{Object, Text, inside};
use crate::chip::Chip;
use crate::core_type::CoreType;
use crate::custom_call::{
    CollectiveId, CompilerParams, CostEstimate, DimensionSemantics, Flags, OptLevel, ParamFault,
    SideEffects, UnknownParamWord, VmemLimitBytes, WrittenFlagValue,
};
use crate::dtype::Dtype;
use crate::memory_space::MemorySpace;
use crate::rules::{self, AccessOp, AccessShape, BlockDim, DmaMode, IndexEntry, Role};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Unexpected, Visitor};
use std::fmt;
use std::str::FromStr;

impl<'de> Deserialize<'de> for Kernel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Object(written) = Object::<WrittenKernel>::deserialize(deserializer)?;
        if written.core_type.is_none() && written.mesh.is_none() {
            return Err(D::Error::custom("missing field `core_type` or `mesh`"));
        }
        Ok(Self {
            name: written.name,
            chip: written.chip.map(OnChip::Word),
            core_type: written.core_type,
            mesh: written.mesh,
            grid: written.grid.unwrap_or_default(),
            scalar_prefetch: inside(written.scalar_prefetch.unwrap_or_default()),
            operands: inside(written.operands),
            scratch: written.scratch.unwrap_or_default(),
            aliases: written.aliases.unwrap_or_default(),
            params: written.params.map_or_else(Params::default, |params| params.0.into()),
            custom_barrier: written.custom_barrier.unwrap_or_default(),
            has_communication: written.has_communication.unwrap_or_default(),
            cost_estimate: written.cost_estimate.map(|cost| cost.0.into()),
            accesses: written.accesses.unwrap_or_default(),
            body: written.body_base64.map_or_else(Vec::new, |body| body.0),
        })
    }
}

/// A kernel.
#[derive(serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = super::field_rules::needs_cores))]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenKernel {
    /// What reports call it.
    name: Option<String>,
    /// The chip it is for; without one, what needs a chip is not checked.
    chip: Option<Spelled<Chip>>,
    /// The core type of a pipelined kernel (`pl.pallas_call`).
    core_type: Option<Spelled<CoreType>>,
    /// The mesh of an unpipelined kernel (`pl.kernel`).
    mesh: Option<MeshSpec>,
    /// The steps along each axis; null is known only when the kernel runs.
    grid: Option<Vec<Option<u64>>>,
    /// Arguments that are in smem before the first step.
    scalar_prefetch: Option<Vec<Object<Prefetch>>>,
    /// Inputs and outputs.
    operands: Vec<Object<Operand>>,
    /// Scratch memory and semaphores.
    scratch: Option<Vec<Scratch>>,
    /// Pairs of an input, counted with the scalar prefetch first, and an output.
    aliases: Option<Vec<(i64, i64)>>,
    /// JAX's CompilerParams.
    params: Option<Object<WrittenParams>>,
    /// Whether the body uses the barrier semaphore.
    custom_barrier: Option<bool>,
    /// Whether it talks to other devices.
    has_communication: Option<bool>,
    /// What XLA is told that it costs.
    cost_estimate: Option<Object<WrittenCost>>,
    /// Loads, stores and copies that the body makes.
    accesses: Option<Vec<RefAccess>>,
    /// The serialised Mosaic module, for the config.
    body_base64: Option<Base64>,
}

pub(super) struct Base64(Vec<u8>);

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let bytes = base64_simd::STANDARD.decode_to_vec(text.as_bytes());
        bytes.map(Self).map_err(|_| D::Error::custom("not base64"))
    }
}

impl<'de> Deserialize<'de> for Scratch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Object(written) = Object::<WrittenScratch>::deserialize(deserializer)?;
        let WrittenScratch { name, shape, dtype, space, semaphore } = written;
        let holds = match (semaphore, dtype, space) {
            (Some(Text(kind)), None, None) => Holds::Semaphores(kind),
            (None, Some(dtype), space) => Holds::Elements { dtype, space },
            (None, None, _) => {
                return Err(D::Error::custom("missing field `dtype` or `semaphore`"));
            }
            (Some(_), _, _) => {
                let message = "a semaphore has no `dtype` and no `space` but semaphore_mem";
                return Err(D::Error::custom(message));
            }
        };
        Ok(Self { name, shape: shape.unwrap_or_default(), holds })
    }
}

/// Scratch memory, or semaphores.
#[derive(serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = super::field_rules::elements_or_semaphores))]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenScratch {
    name: Option<String>,
    /// In elements, or semaphores.
    shape: Option<Vec<u64>>,
    /// The element type of scratch memory.
    dtype: Option<Spelled<Dtype>>,
    /// Where scratch memory lies.
    space: Option<Spelled<MemorySpace>>,
    /// The kind, if it holds semaphores.
    semaphore: Option<Text<Semaphore>>,
}

impl<'de> Deserialize<'de> for RefAccess {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Object(written) = Object::<WrittenAccess>::deserialize(deserializer)?;
        let local = |op| {
            if written.src.is_some() || written.dst.is_some() || written.indices.is_some() {
                return Err(D::Error::custom("`src`, `dst` and `indices` belong to a dma"));
            }
            if written.mode.is_some() || written.add.is_some() {
                return Err(D::Error::custom("`mode` and `add` belong to a dma"));
            }
            let shape = written.shape.ok_or_else(|| D::Error::missing_field("shape"))?;
            let r#ref = written.r#ref.clone().ok_or_else(|| D::Error::missing_field("ref"))?;
            Ok(Self::Local { access: rules::Access { op, shape }, r#ref })
        };
        match written.op.0 {
            WrittenOp::Load => local(AccessOp::Load),
            WrittenOp::Store => local(AccessOp::Store),
            WrittenOp::Dma => {
                if written.r#ref.is_some() || written.shape.is_some() {
                    return Err(D::Error::custom("`ref` and `shape` belong to a load or a store"));
                }
                Ok(Self::Dma {
                    dma: rules::Dma {
                        mode: written.mode.unwrap_or(DmaMode::Copy),
                        add: written.add.unwrap_or(false),
                    },
                    src: written.src.ok_or_else(|| D::Error::missing_field("src"))?,
                    dst: written.dst.ok_or_else(|| D::Error::missing_field("dst"))?,
                    indices: written.indices,
                })
            }
        }
    }
}

/// A load or a store of a ref, or a copy between two.
#[derive(serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = super::field_rules::fields_of_op))]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenAccess {
    op: Text<WrittenOp>,
    /// The ref that is loaded from or stored to.
    r#ref: Option<String>,
    /// How much is loaded or stored at once.
    shape: Option<AccessShape>,
    /// The ref that is copied from.
    src: Option<String>,
    /// The ref that is copied to.
    dst: Option<String>,
    /// How a copy finds its rows; null is copy.
    mode: Option<DmaMode>,
    /// Whether a copy adds to its destination.
    add: Option<bool>,
    /// The ref that holds the indices of a gather or a scatter.
    indices: Option<String>,
}

#[derive(Clone, Copy, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
enum WrittenOp {
    Load,
    Store,
    Dma,
}

/// A `block_shape`: numbers, `null` for squeezed, `{"element": n}`.
pub(super) fn block_shape<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<BlockDim>>, D::Error> {
    let written = Option::<Vec<WrittenBlockDim>>::deserialize(deserializer)?;
    Ok(written.map(|dims| dims.into_iter().map(|dim| dim.0).collect()))
}

pub(super) struct WrittenBlockDim(BlockDim);

impl<'de> Deserialize<'de> for WrittenBlockDim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Dim;
        impl<'de> Visitor<'de> for Dim {
            type Value = BlockDim;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, null for squeezed, or {\"element\": number}")
            }

            fn visit_u64<E: Error>(self, extent: u64) -> Result<BlockDim, E> {
                Ok(BlockDim::Blocked(extent))
            }

            fn visit_i64<E: Error>(self, extent: i64) -> Result<BlockDim, E> {
                Err(E::invalid_value(Unexpected::Signed(extent), &self))
            }

            fn visit_unit<E: Error>(self) -> Result<BlockDim, E> {
                Ok(BlockDim::Squeezed)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<BlockDim, A::Error> {
                let mut element = None;
                while let Some(key) = map.next_key::<String>()? {
                    if key == "element" {
                        if element.replace(map.next_value()?).is_some() {
                            return Err(A::Error::duplicate_field("element"));
                        }
                    } else {
                        map.next_value::<IgnoredAny>()?;
                        return Err(A::Error::unknown_field(&key, &["element"]));
                    }
                }
                element.map(BlockDim::Element).ok_or_else(|| A::Error::missing_field("element"))
            }
        }
        deserializer.deserialize_any(Dim).map(Self)
    }
}

/// An `index_map`: for each dimension null, a grid axis, or `"other"`.
pub(super) fn index_map<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<IndexEntry>>, D::Error> {
    let written = Option::<Vec<WrittenIndexEntry>>::deserialize(deserializer)?;
    Ok(written.map(|entries| entries.into_iter().map(|entry| entry.0).collect()))
}

pub(super) struct WrittenIndexEntry(IndexEntry);

impl<'de> Deserialize<'de> for WrittenIndexEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entry;
        impl Visitor<'_> for Entry {
            type Value = IndexEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("null, the number of a grid axis, or \"other\"")
            }

            fn visit_u64<E: Error>(self, axis: u64) -> Result<IndexEntry, E> {
                // No grid has so many axes: out of range it stays.
                Ok(IndexEntry::Axis(usize::try_from(axis).unwrap_or(usize::MAX)))
            }

            fn visit_i64<E: Error>(self, axis: i64) -> Result<IndexEntry, E> {
                Err(E::invalid_value(Unexpected::Signed(axis), &self))
            }

            fn visit_unit<E: Error>(self) -> Result<IndexEntry, E> {
                Ok(IndexEntry::Zero)
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<IndexEntry, E> {
                if word == "other" {
                    Ok(IndexEntry::Other)
                } else {
                    Err(E::invalid_value(Unexpected::Str(word), &self))
                }
            }
        }
        deserializer.deserialize_any(Entry).map(Self)
    }
}

/// `"in"` or `"out"`.
pub(super) fn role<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Role, D::Error> {
    Ok(match Text::deserialize(deserializer)?.0 {
        WrittenRole::In => Role::Input,
        WrittenRole::Out => Role::Output,
    })
}

#[derive(serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
pub(super) enum WrittenRole {
    In,
    Out,
}

impl<'de> Deserialize<'de> for MeshSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Object(mesh) = Object::<WrittenMesh>::deserialize(deserializer)?;
        let (core_axis, subcore_axis) = match mesh.core_type.known() {
            Some(CoreType::Tc | CoreType::ScScalarSubcore) => {
                if mesh.core_axis.is_some() || mesh.subcore_axis.is_some() {
                    return Err(D::Error::custom("a mesh of this core type has one `axis`"));
                }
                if mesh.num_subcores.is_some() {
                    return Err(D::Error::custom("a mesh of this core type has no `num_subcores`"));
                }
                (mesh.axis.ok_or_else(|| D::Error::missing_field("axis"))?, String::new())
            }
            Some(CoreType::ScVectorSubcore) => {
                if mesh.axis.is_some() {
                    let message = "a vector subcore mesh has a `core_axis` and a `subcore_axis`";
                    return Err(D::Error::custom(message));
                }
                let missing = |axis: Option<String>, field| {
                    axis.ok_or_else(|| D::Error::missing_field(field))
                };
                (missing(mesh.core_axis, "core_axis")?, missing(mesh.subcore_axis, "subcore_axis")?)
            }
            None => (String::new(), String::new()),
        };
        Ok(Self {
            core_type: mesh.core_type,
            core_axis,
            subcore_axis,
            num_cores: mesh.num_cores,
            num_subcores: mesh.num_subcores,
        })
    }
}

/// A mesh of cores; absent counts are the chip's.
#[derive(serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = super::field_rules::axes_of_mesh))]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenMesh {
    core_type: Spelled<CoreType>,
    /// The axis of a mesh of TensorCores or of scalar subcores.
    axis: Option<String>,
    /// The axis of the SparseCores of a vector subcore mesh.
    core_axis: Option<String>,
    /// The axis of their subcores.
    subcore_axis: Option<String>,
    num_cores: Option<i64>,
    /// Of a vector subcore mesh.
    num_subcores: Option<i64>,
}

/// What XLA is told that a kernel costs.
#[derive(serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "CostEstimate"))]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenCost {
    flops: i64,
    transcendentals: i64,
    bytes_accessed: i64,
    remote_bytes_transferred: Option<i64>,
}

impl From<WrittenCost> for CostEstimate<'static> {
    fn from(written: WrittenCost) -> Self {
        let mut cost = Self::default();
        cost.flops = written.flops;
        cost.transcendentals = written.transcendentals;
        cost.bytes_accessed = written.bytes_accessed;
        cost.remote_bytes_transferred = written.remote_bytes_transferred.unwrap_or_default();
        cost
    }
}

/// Every field of JAX's `CompilerParams`, under its own name; what is absent, or
/// null, is at its default.
#[derive(Default, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "CompilerParams"))]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenParams {
    /// One a grid axis: what the steps along it may assume of each other; arbitrary.
    dimension_semantics: Option<Vec<Spelled<DimensionSemantics>>>,
    /// One an input: whether XLA may fuse what makes it into the kernel; no.
    allow_input_fusion: Option<Vec<bool>>,
    /// Bytes of VMEM for windows and scratch; the chip's default. More than the chip
    /// gives is cut.
    vmem_limit_bytes: Option<i64>,
    /// Which barrier semaphore the kernel uses; needs a custom barrier.
    collective_id: Option<i64>,
    /// Whether XLA may merge the call with its like, or drop it when it is unused; pure.
    has_side_effects: Option<WrittenSideEffects>,
    /// Compiler flags for this kernel alone.
    flags: Option<WrittenFlags>,
    /// Bytes of VMEM that the compiler keeps for relayouts; up to the compiler.
    internal_scratch_in_bytes: Option<u32>,
    /// How the body is serialised; 1.
    serialization_format: Option<u32>,
    /// Whether accesses out of bounds go unnoticed; false.
    disable_bounds_checks: Option<bool>,
    /// Whether a semaphore that is not back at zero goes unnoticed; false.
    disable_semaphore_checks: Option<bool>,
    /// Whether the devices do not wait for each other before the kernel; false.
    skip_device_barrier: Option<bool>,
    /// Whether a collective_id is meant though there is no custom barrier; false.
    allow_collective_id_without_custom_barrier: Option<bool>,
    /// Whether results must not depend on how the compiler tiles; true.
    shape_invariant_numerics: Option<bool>,
    /// Whether a SparseCore kernel's arrays lie as on a TensorCore; true. Refused on a
    /// TensorCore.
    use_tc_tiling_on_sc: Option<bool>,
    /// Whether the compiler infers vector layouts; true.
    needs_layout_passes: Option<bool>,
    /// Whether the MXU may take a matmul's left side transposed; false.
    fuse_transposed_lhs_in_matmul: Option<bool>,
    /// How hard the SparseCore compiler tries; O3. Refused on a TensorCore.
    opt_level: Option<Spelled<OptLevel>>,
}

#[derive(serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(untagged, expecting = "expected true, false, or a kind of side effects as a word")]
enum WrittenSideEffects {
    Any(bool),
    Kind(Spelled<SideEffects>),
}

/// Flags in the order they are written in.
pub(super) struct WrittenFlags(Vec<(String, WrittenFlagValue)>);

impl<'de> Deserialize<'de> for WrittenFlags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = WrittenFlags;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of compiler flags")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WrittenFlags, A::Error> {
                let mut flags = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, serde_json::Value>()? {
                    flags.push((name, written_flag(&value)));
                }
                Ok(WrittenFlags(flags))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

fn written_flag(value: &serde_json::Value) -> WrittenFlagValue {
    match value {
        serde_json::Value::Bool(value) => (*value).into(),
        serde_json::Value::String(value) => WrittenFlagValue::Str(value.clone()),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(value), _) => value.into(),
            (None, Some(value)) if number.is_f64() => value.into(),
            (None, _) => WrittenFlagValue::Other(number.to_string()),
        },
        serde_json::Value::Null | serde_json::Value::Array(_) | serde_json::Value::Object(_) => {
            WrittenFlagValue::Other(value.to_string())
        }
    }
}

impl From<WrittenParams> for Params {
    fn from(written: WrittenParams) -> Self {
        let mut faults = Vec::new();
        let mut sound = CompilerParams::default();
        let mut words = Words::default();
        sound.dimension_semantics = written.dimension_semantics.and_then(|semantics| {
            let known = |(index, word)| words.known("dimension_semantics", Some(index), word);
            let known: Vec<_> = semantics.into_iter().enumerate().map(known).collect();
            known.into_iter().collect()
        });
        sound.allow_input_fusion = written.allow_input_fusion;
        sound.vmem_limit_bytes = written
            .vmem_limit_bytes
            .and_then(|bytes| VmemLimitBytes::new(bytes).map_err(|fault| faults.push(fault)).ok());
        sound.collective_id = written.collective_id.and_then(|id| {
            CollectiveId::new(id).map_err(|fault| faults.push(ParamFault::from(fault))).ok()
        });
        sound.has_side_effects = match written.has_side_effects {
            Some(WrittenSideEffects::Any(any)) => any.into(),
            Some(WrittenSideEffects::Kind(kind)) => {
                words.known("has_side_effects", None, kind).unwrap_or(sound.has_side_effects)
            }
            None => sound.has_side_effects,
        };
        if let Some(WrittenFlags(flags)) = written.flags {
            let flags = flags.iter().map(|(name, value)| (name.as_str(), value.clone()));
            match Flags::from_written(flags) {
                Ok(flags) => sound.flags = Some(flags),
                Err(errors) => faults.extend(errors.into_iter().map(ParamFault::from)),
            }
        }
        sound.internal_scratch_in_bytes = written.internal_scratch_in_bytes;
        sound.serialization_format = written.serialization_format.or(sound.serialization_format);
        for (ours, theirs) in [
            (&mut sound.disable_bounds_checks, written.disable_bounds_checks),
            (&mut sound.disable_semaphore_checks, written.disable_semaphore_checks),
            (&mut sound.skip_device_barrier, written.skip_device_barrier),
            (
                &mut sound.allow_collective_id_without_custom_barrier,
                written.allow_collective_id_without_custom_barrier,
            ),
            (&mut sound.shape_invariant_numerics, written.shape_invariant_numerics),
            (&mut sound.needs_layout_passes, written.needs_layout_passes),
            (&mut sound.fuse_transposed_lhs_in_matmul, written.fuse_transposed_lhs_in_matmul),
        ] {
            *ours = theirs.unwrap_or(*ours);
        }
        sound.use_tc_tiling_on_sc = written.use_tc_tiling_on_sc;
        sound.opt_level = written.opt_level.and_then(|word| words.known("opt_level", None, word));
        Self { sound, faults, words: words.unknown }
    }
}

/// The words of parameters that are read, and those that no parameter takes.
#[derive(Default)]
struct Words {
    unknown: Vec<(Place, UnknownParamWord)>,
}

impl Words {
    fn known<T>(
        &mut self,
        parameter: &'static str,
        index: Option<usize>,
        word: Spelled<T>,
    ) -> Option<T>
    where
        T: FromStr<Err = UnknownParamWord>,
    {
        match word {
            Spelled::Known(word) => Some(word),
            Spelled::Unknown(fault) => {
                let place = Place::list("params").field(parameter);
                let place = match index {
                    Some(index) => place.index(index),
                    None => place,
                };
                self.unknown.push((place, fault));
                None
            }
        }
    }
}
