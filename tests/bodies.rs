//! Every body of `../shared/bodies`, or of the folder that `MOSAIC_BODIES` names, says
//! what jaxlib's own parser says of it: `NAME.mlirbc` and `NAME.json`.

#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "counts of a folder's files are small"
)]

use mosaic_memspace::bytecode::{Bytecode, TypeId};
use mosaic_memspace::custom_call::Bound;
use mosaic_memspace::read::module::{
    AllocationKind, BodyArgument, BodyCopy, BodyRefId, CopyOffsets, KernelBody, ModuleBody,
    RefRoot, RefSpace, SaidCoreType, WrittenIndex,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

/// Differences shown of one body.
const SHOWN: usize = 10;

fn main() -> ExitCode {
    if env::args().any(|argument| argument == "--list") {
        println!("bodies: test");
        return ExitCode::SUCCESS;
    }
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/bodies");
    let folder = env::var_os("MOSAIC_BODIES").map_or(shared, PathBuf::from);
    if !folder.is_dir() {
        println!("no folder {}: nothing to compare, 0 of 0", folder.display());
        return ExitCode::SUCCESS;
    }
    match run(&folder) {
        Ok((agreed, all)) => {
            println!("{agreed} of {all}");
            if agreed == all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("{}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}

fn run(folder: &Path) -> io::Result<(usize, usize)> {
    let entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    let mut bodies: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
    bodies.retain(|path| path.extension().is_some_and(|extension| extension == "mlirbc"));
    bodies.sort();
    let mut agreed = 0;
    for path in &bodies {
        let differences = match compare(path) {
            Ok(differences) => differences,
            Err(error) => vec![error],
        };
        if differences.is_empty() {
            agreed += 1;
        } else {
            println!("{}", path.display());
            for difference in differences.iter().take(SHOWN) {
                println!("  {difference}");
            }
        }
    }
    Ok((agreed, bodies.len()))
}

/// Where a body and what is recorded of it differ.
fn compare(path: &Path) -> Result<Vec<String>, String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let json = fs::read_to_string(path.with_extension("json"));
    let json = json.map_err(|error| error.to_string())?;
    let recorded: Value = serde_json::from_str(&json).map_err(|error| error.to_string())?;
    let file = Bytecode::parse(&bytes).map_err(|fault| fault.to_string())?;
    let module = ModuleBody::read(&file);
    let mut differences = Vec::new();
    for (what, offset, _) in module.not_understood.iter() {
        differences.push(format!("not understood at byte {offset}: {what}"));
    }
    let facts = json!({
        "version": file.version(),
        "producer": file.producer().to_string(),
        "bytes": bytes.len(),
    });
    let mut bytecode = recorded["bytecode"].clone();
    if let Some(bytecode) = bytecode.as_object_mut() {
        // The bytes are those that were read.
        bytecode.remove("sha256");
    }
    differ("bytecode", &bytecode, &facts, &mut differences);
    let truth = Truth { file: &file, module: &module }.json(&recorded["truth"]);
    differ("truth", &recorded["truth"], &truth, &mut differences);
    if let Some(names) = recorded.get("arg_names").and_then(Value::as_object) {
        arguments(names, &module, &mut differences);
    }
    Ok(differences)
}

/// Names are recorded for every argument of every function that the debug locations
/// have; the functions and the number of their arguments are in the body.
fn arguments(
    recorded: &Map<String, Value>,
    module: &ModuleBody<'_, '_>,
    differences: &mut Vec<String>,
) {
    for (function, names) in recorded {
        let own = module.functions.iter().find(|own| {
            let name = own.attribute("sym_name").and_then(|name| name.as_string());
            name.is_some_and(|name| name == function.as_str())
        });
        let block = own.and_then(|own| own.regions().next()).and_then(|own| own.blocks().next());
        let found = block.map_or(0, |block| block.arguments().len());
        if names.as_array().map_or(0, Vec::len) != found {
            differences.push(format!("arg_names.{function}: {names}, ours has {found}"));
        }
    }
}

/// Notes every place where two values differ.
fn differ(at: &str, recorded: &Value, ours: &Value, differences: &mut Vec<String>) {
    match (recorded, ours) {
        (Value::Object(recorded), Value::Object(ours)) => {
            for (key, value) in recorded {
                differ(&format!("{at}.{key}"), value, &ours[key.as_str()], differences);
            }
            for key in ours.keys().filter(|key| !recorded.contains_key(*key)) {
                differences.push(format!("{at}.{key}: not recorded, ours {}", ours[key]));
            }
        }
        (Value::Array(recorded), Value::Array(ours)) if recorded.len() == ours.len() => {
            for (place, (recorded, ours)) in recorded.iter().zip(ours).enumerate() {
                differ(&format!("{at}[{place}]"), recorded, ours, differences);
            }
        }
        _ if recorded == ours => {}
        _ => differences.push(format!("{at}: recorded {recorded}, ours {ours}")),
    }
}

/// What a body says, as it is recorded.
struct Truth<'m, 'a> {
    file: &'m Bytecode<'a>,
    module: &'m ModuleBody<'m, 'a>,
}

impl<'m, 'a> Truth<'m, 'a> {
    fn json(&self, recorded: &Value) -> Value {
        let name = |function: &mosaic_memspace::bytecode::Operation<'_, '_>| {
            function.attribute("sym_name").and_then(|name| name.as_string()).map(|n| n.to_string())
        };
        let mut counts = BTreeMap::<String, usize>::new();
        for operation in self.file.operations() {
            *counts.entry(operation.name().to_string()).or_default() += 1;
        }
        let recorded = &recorded["kernels"];
        let kernels = self.module.kernels.iter().enumerate();
        let kernels = kernels.map(|(place, kernel)| self.kernel(kernel, &recorded[place]));
        json!({
            "stable_mosaic_version": self.module.version,
            "functions": self.module.functions.iter().map(name).collect::<Vec<_>>(),
            "op_counts": counts,
            "kernels": kernels.collect::<Vec<_>>(),
        })
    }

    fn kernel(&self, kernel: &KernelBody<'m, 'a>, recorded: &Value) -> Value {
        let attributes = kernel.function.attributes().unwrap_or_default();
        let mut names: Vec<_> = attributes.iter().map(|(name, _)| name.to_string()).collect();
        names.sort();
        let bound = |bound: &Bound| match bound {
            Bound::Static(extent) => *extent,
            Bound::Dynamic => i64::MIN,
        };
        let bounds = kernel.iteration_bounds.as_ref();
        let semantics = kernel
            .dimension_semantics
            .as_ref()
            .map(|axes| axes.iter().map(|axis| axis.map(|axis| axis.as_str())).collect::<Vec<_>>());
        let allocations = kernel.allocations.iter().filter(|own| is_recorded(own.kind));
        let accesses = kernel.accesses.iter().zip(0..).map(|(access, place): (_, usize)| {
            let of = kernel.get(access.r#ref);
            json!({
                "op": access.name,
                "load": access.loads,
                "space": of.map(|of| word(of.space)),
                "value": self.text(access.value_type),
                "root": root(kernel, access.r#ref, &recorded["accesses"][place]["root"]),
            })
        });
        let copies = kernel.copies.iter().zip(0..);
        json!({
            "function": kernel.name.map(|name| name.to_string()),
            "core_type": match kernel.core_type {
                SaidCoreType::Known(core_type) => Some(core_type.as_str()),
                SaidCoreType::Absent => None,
                SaidCoreType::Other => Some("not known"),
            },
            "iteration_bounds": bounds.map(|bounds| bounds.iter().map(bound).collect::<Vec<_>>()),
            "dimension_semantics": semantics,
            "scalar_prefetch": kernel.scalar_prefetch,
            "scratch_operands": kernel.scratch_operands,
            "function_attributes": names,
            "args": kernel.arguments.iter().map(|own| self.argument(kernel, own)).collect::<Vec<_>>(),
            "allocs": allocations.map(|own| json!({
                "op": own.name,
                "type": kernel.get(own.r#ref).map(|of| self.text(of.type_id)),
                "memory_space": kernel.get(own.r#ref).map(|of| word(of.space)),
            })).collect::<Vec<_>>(),
            "accesses": accesses.collect::<Vec<_>>(),
            "copies": copies.map(|(copy, place): (_, usize)| {
                self.copy(kernel, copy, &recorded["copies"][place])
            }).collect::<Vec<_>>(),
        })
    }

    fn argument(&self, kernel: &KernelBody<'m, 'a>, own: &BodyArgument<'m, 'a>) -> Value {
        let of = own.r#ref.and_then(|id| kernel.get(id));
        let mut json = json!({
            "type": self.text(own.value.type_id()),
            "memory_space": of.map(|of| word(of.space)),
            "kind": own.kind.as_str(),
        });
        let Some(window) = &own.window else { return json };
        let mut keys: Vec<_> = window.keys.iter().map(ToString::to_string).collect();
        keys.sort();
        json["window"] = json!(keys);
        if let Some(bounds) = window.bounds {
            json["window_bounds"] = json!(bounds.iter().collect::<Vec<_>>());
        }
        if let Some(mode) = window.pipeline_mode {
            json["pipeline_mode"] = json!(mode.as_str());
        }
        if let Some(mode) = window.revisit_mode {
            json["revisit_mode"] = json!(mode.as_str());
        }
        if let Some(kind) = &window.kind {
            json["window_kind"] =
                json!(format!("#tpu.element_window<{:?}, {:?}>", kind.low, kind.high));
        }
        if let Some(transform) = &window.transform {
            if transform.is_affine_map() {
                json["affine_map"] = json!(true);
            }
            let indices: Vec<_> = transform.indices(transform.rank()).collect();
            let written = indices.iter().map(|index| match index.written {
                WrittenIndex::Axis(axis) => json!(axis),
                WrittenIndex::Constant(0) => Value::Null,
                WrittenIndex::Constant(_) | WrittenIndex::Computed => json!("other"),
            });
            json["transform"] = written.collect();
            let constants = indices.iter().map(|index| match index.written {
                WrittenIndex::Constant(value) => json!(value),
                WrittenIndex::Axis(_) | WrittenIndex::Computed => Value::Null,
            });
            json["constants"] = constants.collect();
        }
        json
    }

    fn copy(
        &self,
        kernel: &KernelBody<'m, 'a>,
        copy: &BodyCopy<'m, 'a>,
        recorded: &Value,
    ) -> Value {
        let space = |id| kernel.get(id).map(|of| word(of.space));
        let r#type = |id| kernel.get(id).map(|of| self.text(of.type_id));
        let mut json = json!({
            "op": copy.name,
            "from": space(copy.source),
            "to": space(copy.target),
            "from_type": r#type(copy.source),
            "to_type": r#type(copy.target),
            "from_root": root(kernel, copy.source, &recorded["from_root"]),
            "to_root": root(kernel, copy.target, &recorded["to_root"]),
            "mode": "copy",
        });
        let Some(indirect) = copy.indirect else {
            json["source_semaphore"] = json!(copy.source_semaphore.is_some());
            json["target_semaphore"] = json!(copy.target_semaphore.is_some());
            json["device_id"] = json!(copy.device.is_some());
            json["core_id"] = json!(copy.core.is_some());
            let segments = copy.segments.map(|segments| segments.iter().collect::<Vec<_>>());
            json["segments"] = json!(segments);
            return json;
        };
        json["mode"] = json!(if indirect.gathers { "gather" } else { "scatter" });
        json["add"] = json!(indirect.adds);
        (json["offsets"], json["offsets_root"]) = match indirect.offsets {
            CopyOffsets::Ref(id) => (json!(space(id)), root(kernel, id, &recorded["offsets_root"])),
            CopyOffsets::Vector(id) => (json!(self.text(id)), Value::Null),
        };
        json
    }

    fn text(&self, id: TypeId) -> String {
        self.file.show_type(id).to_string()
    }
}

/// Whether allocations of this kind are recorded.
fn is_recorded(kind: AllocationKind) -> bool {
    match kind {
        AllocationKind::Semaphore | AllocationKind::Memory | AllocationKind::Barrier => true,
        AllocationKind::Internal => false,
    }
}

fn word(space: RefSpace) -> Option<String> {
    space.known().map(|space| space.to_string())
}

/// What a ref is a part of. A root that a loop hands on is recorded as null.
fn root(kernel: &KernelBody<'_, '_>, id: BodyRefId, recorded: &Value) -> Value {
    let Some(of) = kernel.get(id) else { return Value::Null };
    if of.is_carried && recorded.is_null() {
        return Value::Null;
    }
    match of.root {
        RefRoot::Argument(place) => json!({ "arg": place }),
        RefRoot::Allocation(place) => {
            let before = kernel.allocations.iter().take(place);
            json!({ "alloc": before.filter(|own| is_recorded(own.kind)).count() })
        }
        RefRoot::Unknown => Value::Null,
    }
}
