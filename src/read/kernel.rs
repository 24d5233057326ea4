//! The fields of a kernel, and of what is in it.

use super::rows::{Case, When, drafted, rows};
use super::schema::Definitions;
use super::value::{Faults, Json, Value};
use super::words::Op;
use crate::core_type::CoreType;
use crate::dtype::Dtype;
use crate::kernel::{AccessedRef, Kernel, MeshSpec, OnChip, RefAccess};
use crate::memory_space::MemorySpace;
use crate::operand::{Holds, Operand, Pipeline, PipelineOperand, Prefetch, Scratch, Semaphore};
use crate::rules::{Access, AccessOp, AccessShape, Dma, DmaMode};
use crate::word::Spelled;

rows! {
    /// A kernel.
    Kernel as "Kernel" {
        const IGNORED: Option<&'static str> = Some("$schema");

        fn absent() -> Self {
            Self::empty()
        }

        fn cases() -> impl Iterator<Item = Case> {
            let when = When::Absent("mesh");
            std::iter::once(Case { when, needs: &["core_type"], excludes: &[] })
        }
    }
    /// What reports call it.
    "name": name;
    /// The chip it is for; without one, what needs a chip is not checked.
    "chip": chip;
    /// The core type of a pipelined kernel (`pl.pallas_call`).
    "core_type": core_type;
    /// The mesh of an unpipelined kernel (`pl.kernel`).
    "mesh": mesh;
    /// The steps along each axis; null is known only when the kernel runs.
    "grid": grid;
    /// Arguments that are in smem before the first step.
    "scalar_prefetch": scalar_prefetch;
    /// Inputs and outputs.
    need "operands": operands;
    /// Scratch memory and semaphores.
    "scratch": scratch;
    /// Pipelines that the body runs (`pltpu.emit_pipeline`); of those that it runs one
    /// after the other, the one that takes the most.
    "pipelines": pipelines;
    /// Pairs of an input, counted with the scalar prefetch first, and an output.
    "aliases": aliases;
    /// JAX's CompilerParams.
    "params": params;
    /// Whether the body uses the barrier semaphore.
    "custom_barrier": custom_barrier;
    /// Whether it talks to other devices.
    "has_communication": has_communication;
    /// What XLA is told that it costs.
    "cost_estimate": cost_estimate;
    /// Loads, stores and copies that the body makes.
    "accesses": accesses;
    /// The serialized Mosaic module, for the config.
    "body_base64": body;
    /// Whether the spaces of operands are what the author wrote; true. From a body one
    /// cannot tell.
    "spaces_as_written": spaces_as_written;
}

rows! {
    /// An argument that is in smem before the first step (num_scalar_prefetch).
    Prefetch as "Prefetch" {
        fn absent() -> Self {
            Self { name: None, ..Self::new("", [], Dtype::Int32) }
        }
    }
    /// What accesses and reports call it.
    "name": name;
    /// In elements.
    need "shape": shape;
    /// The element type.
    need "dtype": dtype;
}

rows! {
    /// An input or an output of a kernel.
    Operand as "Operand" {
        fn absent() -> Self {
            Self { name: None, ..Self::input("", [], Dtype::Int32) }
        }
    }
    /// What accesses and reports call it.
    "name": name;
    /// Whether the kernel reads or writes it.
    need "role": role;
    /// In elements.
    need "array_shape": array_shape;
    /// What a step sees; without one, the whole array.
    "block_shape": block_shape;
    /// Which block a step sees: an entry a dimension; without one, all zeros.
    "index_map": index_map;
    /// The element type.
    need "dtype": dtype;
    /// The memory space of the block spec.
    "space": space;
    /// How often the window is buffered: 1 or 2.
    "buffers": buffers;
    /// The memory space that is put on the value itself; only it colors it.
    "annotated": annotated;
    /// The kind, if it is semaphores that another kernel makes or takes.
    "semaphore": semaphore;
}

drafted! {
    /// Scratch memory, or semaphores.
    Scratch by ScratchDraft as "Scratch" {
        fn cases() -> impl Iterator<Item = Case> {
            let semaphores = When::Given("semaphore");
            let elements = When::Absent("semaphore");
            [
                Case { when: semaphores, needs: &[], excludes: &["dtype", "space"] },
                Case { when: elements, needs: &["dtype"], excludes: &[] },
            ]
            .into_iter()
        }
    }
    /// What accesses and reports call it.
    "name": name: String;
    /// In elements, or semaphores.
    "shape": shape: Vec<u64>;
    /// The element type of scratch memory.
    "dtype": dtype: Spelled<Dtype>;
    /// Where scratch memory lies.
    "space": space: Spelled<MemorySpace>;
    /// The kind, if it holds semaphores.
    "semaphore": semaphore: Semaphore;
    /// Whether the body allocates it, for a part of its run (`pl.run_scoped`).
    "scoped": scoped: bool;
    /// Whether memory is kept for it; true. The compiler removes scratch that is only in
    /// registers, and of what is scoped, what takes the most counts.
    "kept": kept: bool;
}

rows! {
    /// A pipeline that the body runs.
    Pipeline as "Pipeline" {
        fn absent() -> Self {
            Self::default()
        }
    }
    /// The steps along each axis; null is known only when the kernel runs.
    "grid": grid;
    /// Its block specs.
    need "operands": operands;
}

rows! {
    /// A block spec of a pipeline.
    PipelineOperand as "PipelineOperand" {
        fn absent() -> Self {
            Self { over: Operand { name: None, ..Operand::over("") } }
        }
    }
    /// The ref that it is over.
    need "ref": over.name;
    /// What a step sees; without one, the whole ref.
    "block_shape": over.block_shape;
    /// Which block a step sees: an entry a dimension; without one, all zeros.
    "index_map": over.index_map;
    /// Where the blocks are copied to; without one, vmem.
    "space": over.space;
    /// How often the block is buffered: any number, or two.
    "buffers": over.buffers;
}

impl ScratchDraft {
    fn of(scratch: &Scratch) -> Self {
        let draft = Self {
            name: scratch.name.clone(),
            shape: Some(scratch.shape.clone()).filter(|shape| !shape.is_empty()),
            scoped: Some(true).filter(|_| scratch.scoped),
            kept: Some(false).filter(|_| !scratch.kept),
            ..Self::default()
        };
        match &scratch.holds {
            Holds::Semaphores(kind) => Self { semaphore: Some(*kind), ..draft },
            Holds::Elements { dtype, space } => {
                Self { dtype: Some(dtype.clone()), space: space.clone(), ..draft }
            }
        }
    }

    fn done(self) -> Option<Scratch> {
        let holds = match (self.semaphore, self.dtype) {
            (Some(kind), _) => Holds::Semaphores(kind),
            (None, dtype) => Holds::Elements { dtype: dtype?, space: self.space },
        };
        let (shape, scoped) = (self.shape.unwrap_or_default(), self.scoped == Some(true));
        Some(Scratch { name: self.name, shape, holds, scoped, kept: self.kept != Some(false) })
    }
}

drafted! {
    /// A load or a store of a ref, or a copy between two.
    RefAccess by AccessDraft as "Access" {
        fn cases() -> impl Iterator<Item = Case> {
            [Op::Load, Op::Store, Op::Dma].into_iter().map(|op| {
                let when = When::Is("op", op.as_str());
                match op {
                    Op::Load | Op::Store => Case {
                        when,
                        needs: &["ref", "shape"],
                        excludes: &[
                            "src", "dst", "src_space", "dst_space", "mode", "add", "indices",
                        ],
                    },
                    Op::Dma => Case {
                        when,
                        needs: &["src", "dst"],
                        excludes: &["ref", "shape", "space"],
                    },
                }
            })
        }
    }
    /// What is done.
    need "op": op: Op;
    /// The ref that is loaded from or stored to.
    "ref": r#ref: String;
    /// How much is loaded or stored at once.
    "shape": shape: AccessShape;
    /// The ref that is copied from.
    "src": src: String;
    /// The ref that is copied to.
    "dst": dst: String;
    /// How a copy finds its rows; null is copy.
    "mode": mode: DmaMode;
    /// Whether a copy adds to its destination.
    "add": add: bool;
    /// The ref that holds the indices of a gather or a scatter.
    "indices": indices: String;
    /// The memory of a view of the ref, where it is another than the ref's.
    "space": space: Spelled<MemorySpace>;
    /// The same, of a view of the ref that is copied from.
    "src_space": src_space: Spelled<MemorySpace>;
    /// The same, of a view of the ref that is copied to.
    "dst_space": dst_space: Spelled<MemorySpace>;
    /// Whether a ref is another core's, another device's or the host's; false.
    "remote": remote: bool;
}

impl AccessDraft {
    fn of(access: &RefAccess) -> Self {
        let remote =
            |refs: &[&AccessedRef]| Some(true).filter(|_| refs.iter().any(|it| it.is_remote));
        match access {
            RefAccess::Local { access, r#ref } => Self {
                op: Some(match access.op {
                    AccessOp::Load => Op::Load,
                    AccessOp::Store => Op::Store,
                }),
                r#ref: r#ref.name.clone(),
                space: r#ref.space.clone(),
                shape: Some(access.shape),
                remote: remote(&[r#ref]),
                ..Self::default()
            },
            RefAccess::Dma { dma, src, dst, indices } => Self {
                op: Some(Op::Dma),
                src: src.name.clone(),
                dst: dst.name.clone(),
                src_space: src.space.clone(),
                dst_space: dst.space.clone(),
                mode: Some(dma.mode),
                add: Some(dma.add),
                indices: indices.clone(),
                remote: remote(&[src, dst]),
                ..Self::default()
            },
        }
    }

    fn done(self) -> Option<RefAccess> {
        let is_remote = self.remote == Some(true);
        let accessed = |name: Option<String>, space| {
            name.map(|name| AccessedRef { name: Some(name), space, is_remote })
        };
        let op = match self.op? {
            Op::Load => AccessOp::Load,
            Op::Store => AccessOp::Store,
            Op::Dma => {
                let mode = self.mode.unwrap_or(DmaMode::Copy);
                let dma = Dma { mode, add: self.add.unwrap_or(false) };
                let (src, dst) =
                    (accessed(self.src, self.src_space)?, accessed(self.dst, self.dst_space)?);
                return Some(RefAccess::Dma { dma, src, dst, indices: self.indices });
            }
        };
        let access = Access { op, shape: self.shape? };
        Some(RefAccess::Local { access, r#ref: accessed(self.r#ref, self.space)? })
    }
}

drafted! {
    /// A mesh of cores; absent counts are the chip's.
    MeshSpec by MeshDraft as "Mesh" {
        fn cases() -> impl Iterator<Item = Case> {
            CoreType::ALL.iter().map(|core_type| {
                let when = When::Is("core_type", core_type.as_str());
                match core_type {
                    CoreType::Tc | CoreType::ScScalarSubcore => Case {
                        when,
                        needs: &["axis"],
                        excludes: &["core_axis", "subcore_axis", "num_subcores"],
                    },
                    CoreType::ScVectorSubcore => {
                        Case { when, needs: &["core_axis", "subcore_axis"], excludes: &["axis"] }
                    }
                }
            })
        }
    }
    /// What its cores are.
    need "core_type": core_type: Spelled<CoreType>;
    /// The axis of a mesh of TensorCores or of scalar subcores.
    "axis": axis: String;
    /// The axis of the SparseCores of a vector subcore mesh.
    "core_axis": core_axis: String;
    /// The axis of their subcores.
    "subcore_axis": subcore_axis: String;
    /// How many cores.
    "num_cores": num_cores: i64;
    /// How many subcores of each core of a vector subcore mesh.
    "num_subcores": num_subcores: i64;
}

impl MeshDraft {
    fn of(mesh: &MeshSpec) -> Self {
        let draft = Self {
            core_type: Some(mesh.core_type.clone()),
            num_cores: mesh.num_cores,
            num_subcores: mesh.num_subcores,
            ..Self::default()
        };
        let (core_axis, subcore_axis) = (mesh.core_axis.clone(), mesh.subcore_axis.clone());
        match mesh.core_type.known() {
            Some(CoreType::Tc | CoreType::ScScalarSubcore) => {
                Self { axis: Some(core_axis), ..draft }
            }
            Some(CoreType::ScVectorSubcore) => {
                Self { core_axis: Some(core_axis), subcore_axis: Some(subcore_axis), ..draft }
            }
            None => draft,
        }
    }

    fn done(self) -> Option<MeshSpec> {
        let core_type = self.core_type?;
        let (core_axis, subcore_axis) = match core_type.known() {
            Some(CoreType::Tc | CoreType::ScScalarSubcore) => (self.axis?, String::new()),
            Some(CoreType::ScVectorSubcore) => (self.core_axis?, self.subcore_axis?),
            // It is reported, and no axis of it is looked at.
            None => (String::new(), String::new()),
        };
        let (num_cores, num_subcores) = (self.num_cores, self.num_subcores);
        Some(MeshSpec { core_type, core_axis, subcore_axis, num_cores, num_subcores })
    }
}

impl Json for OnChip {
    fn expected() -> String {
        String::expected()
    }

    fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self> {
        Spelled::read(value, faults).map(Self::Word)
    }

    fn write(&self, json: &mut String) {
        match self {
            Self::Word(chip) => chip.write(json),
            Self::Facts(facts) => super::shapes::write_string(facts.name, json),
        }
    }

    fn schema(definitions: &mut Definitions) -> serde_json::Value {
        Spelled::<crate::chip::Chip>::schema(definitions)
    }
}
