//! The refs of a kernel: arguments, allocations, and views of them.

use super::index::IndexValue;
use super::operations::ViewKind;
use crate::attribute::MemorySpaceAttr;
use crate::bytecode::{Attribute, AttributeId, Bytecode, FloatKind, Text, Type, TypeId, Value};
use crate::dtype::Dtype;
use crate::memory_space::MemrefSpace;
use std::collections::HashMap;

/// The number of a ref in its kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyRefId(pub(super) usize);

/// A ref of a kernel: an argument, an allocation, or a view of another.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BodyRef<'m> {
    /// Its extents, major to minor; [`DYNAMIC`](crate::bytecode::DYNAMIC) for one that is
    /// known at run time.
    pub shape: &'m [i64],
    /// What it holds.
    pub element: RefElement,
    /// Where it lies, as its own type says: a view may lie in another space than what it
    /// is a view of.
    pub space: RefSpace,
    /// Its type.
    pub type_id: TypeId,
    /// What it is a part of in the end.
    pub root: RefRoot,
    /// How it is seen, if it is a view.
    pub view: Option<BodyView>,
    /// Whether it, or what it is a view of, is handed on by a loop or a branch.
    pub is_carried: bool,
}

/// How a ref is seen as another.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BodyView {
    /// What it is a view of.
    pub of: BodyRefId,
    /// How.
    pub kind: ViewKind,
    /// Where a slice begins in each dimension; empty for other views.
    pub offsets: Box<[IndexValue]>,
    /// How many elements a slice has in each dimension that its type does not say.
    pub dynamic_sizes: Box<[IndexValue]>,
}

/// What a ref is a part of in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefRoot {
    /// The kernel's argument with this number.
    Argument(usize),
    /// The kernel's allocation with this number.
    Allocation(usize),
    /// Not known.
    Unknown,
}

/// What a ref holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefElement {
    /// Numbers. A body has no signs and no booleans: `i32` is given as `int32`, and may
    /// have been `uint32` or `bool`.
    Numbers(Dtype),
    /// Semaphores that are signalled.
    Semaphores,
    /// Semaphores that copies signal.
    DmaSemaphores,
    /// Something else.
    Other,
}

/// Where a ref lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefSpace {
    /// There.
    Known(MemrefSpace),
    /// Its type does not say: the core's own memory.
    Unsaid,
    /// Its type says something that is none of the known ones.
    Other,
}

impl RefSpace {
    /// The space, where it is known.
    pub const fn known(self) -> Option<MemrefSpace> {
        match self {
            Self::Known(space) => Some(space),
            Self::Unsaid | Self::Other => None,
        }
    }
}

/// No ref.
const NONE: u32 = u32::MAX;

/// The refs of a kernel, and which value is which.
#[derive(Debug)]
pub(super) struct Refs<'m> {
    pub(super) all: Vec<BodyRef<'m>>,
    /// The value that each is.
    values: Vec<usize>,
    /// The ref of each value of the file.
    of_value: Vec<u32>,
}

impl<'m> Refs<'m> {
    pub(super) fn new(file: &Bytecode<'_>) -> Self {
        Self { all: Vec::new(), values: Vec::new(), of_value: vec![NONE; file.value_count()] }
    }

    /// The refs of values so far, by the values' numbers, for the next kernel to begin
    /// without them.
    pub(super) fn take_values(&mut self) -> HashMap<usize, BodyRefId> {
        let values = std::mem::take(&mut self.values).into_iter().enumerate();
        values.map(|(id, value)| (value, BodyRefId(id))).collect()
    }

    /// The refs so far, for the next kernel to begin without them.
    pub(super) fn take(&mut self) -> Vec<BodyRef<'m>> {
        std::mem::take(&mut self.all)
    }

    pub(super) fn of(&self, value: Value<'_, '_>) -> Option<BodyRefId> {
        let index = *self.of_value.get(value.index())?;
        (index != NONE).then_some(BodyRefId(index as usize))
    }

    pub(super) fn get(&self, id: BodyRefId) -> Option<&BodyRef<'m>> {
        self.all.get(id.0)
    }

    /// Makes the ref of a value of a memref's type.
    pub(super) fn add(
        &mut self,
        file: &'m Bytecode<'_>,
        value: Value<'_, '_>,
        root: RefRoot,
        view: Option<BodyView>,
    ) -> Option<BodyRefId> {
        let parts = file.r#type(value.type_id()).ok()?.as_memref()?;
        let of = view.as_ref().and_then(|view| self.get(view.of));
        let (root, is_carried) = of.map_or((root, false), |of| (of.root, of.is_carried));
        let id = self.all.len();
        *self.of_value.get_mut(value.index())? = u32::try_from(id).ok()?;
        self.values.push(value.index());
        self.all.push(BodyRef {
            shape: &parts.shape,
            element: element(file, parts.element),
            space: space(file, parts.space),
            type_id: value.type_id(),
            root,
            view,
            is_carried,
        });
        Some(BodyRefId(id))
    }

    /// Says that a loop or a branch hands the ref of one value on as another.
    pub(super) fn carry(
        &mut self,
        file: &'m Bytecode<'_>,
        from: Value<'_, '_>,
        to: Value<'_, '_>,
    ) -> Option<()> {
        if self.of(to).is_some() {
            return Some(());
        }
        let of = self.of(from)?;
        let view = BodyView {
            of,
            kind: ViewKind::Cast,
            offsets: Box::default(),
            dynamic_sizes: Box::default(),
        };
        let id = self.add(file, to, RefRoot::Unknown, Some(view))?;
        self.all.get_mut(id.0)?.is_carried = true;
        Some(())
    }
}

fn element(file: &Bytecode<'_>, id: TypeId) -> RefElement {
    let dtype = |word: &str| Dtype::ALL.iter().find(|dtype| dtype.as_mosaic() == word);
    // The first with the word, except for i32, which a bool has as well.
    let number = match file.r#type(id) {
        Ok(Type::Integer { width, .. }) => match width {
            1 => Some(Dtype::Int1),
            2 => Some(Dtype::Int2),
            4 => Some(Dtype::Int4),
            8 => Some(Dtype::Int8),
            16 => Some(Dtype::Int16),
            32 => Some(Dtype::Int32),
            64 => Some(Dtype::Int64),
            _ => None,
        },
        Ok(Type::Float(kind)) => dtype(kind.as_str()).copied(),
        Ok(Type::Complex(part)) => match file.r#type(*part) {
            Ok(Type::Float(FloatKind::F32)) => Some(Dtype::Complex64),
            Ok(Type::Float(FloatKind::F64)) => Some(Dtype::Complex128),
            _ => None,
        },
        Ok(Type::Text(text)) if *text == "!tpu.semaphore" => return RefElement::Semaphores,
        Ok(Type::Text(text)) if *text == "!tpu.dma_semaphore" => return RefElement::DmaSemaphores,
        _ => None,
    };
    number.map_or(RefElement::Other, RefElement::Numbers)
}

fn space(file: &Bytecode<'_>, id: Option<AttributeId>) -> RefSpace {
    let Some(id) = id else { return RefSpace::Unsaid };
    let text = file.attribute(id).ok().and_then(Attribute::as_text);
    let parsed = text.and_then(Text::as_str).and_then(|text| text.parse().ok());
    parsed.map_or(RefSpace::Other, |attribute: MemorySpaceAttr| RefSpace::Known(attribute.space()))
}
