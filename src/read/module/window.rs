//! The windows of a kernel's operands.

use super::index::{self, IndexValue, Knowledge};
use crate::bytecode::{AffineExpr, AffineMap, DenseIntegers, Text};
use std::rc::Rc;

/// How an operand's block moves over its array, as the function's attributes say.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BodyWindow<'m, 'a> {
    /// The keys that it has.
    pub keys: Vec<Text<'a>>,
    /// The block's extents.
    pub bounds: Option<DenseIntegers<'a>>,
    /// Where the block is at each step of the grid.
    pub transform: Option<WindowTransform<'m>>,
    /// How many buffers it has.
    pub pipeline_mode: Option<PipelineMode>,
    /// When a block may come again.
    pub revisit_mode: Option<RevisitMode>,
    /// How much its indices are counted in, where it is not the block's extents.
    pub kind: Option<ElementWindow>,
}

/// How many buffers a window has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PipelineMode {
    /// One.
    Synchronous,
    /// Two.
    DoubleBuffered,
}

impl PipelineMode {
    /// How many buffers that is.
    pub const fn buffers(self) -> u32 {
        match self {
            Self::Synchronous => 1,
            Self::DoubleBuffered => 2,
        }
    }

    /// Mosaic's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Synchronous => "synchronous",
            Self::DoubleBuffered => "double_buffered",
        }
    }

    pub(super) fn read(text: Text<'_>) -> Option<Self> {
        let word = parameter(text, "#tpu.pipeline_mode")?;
        [Self::Synchronous, Self::DoubleBuffered].into_iter().find(|mode| mode.as_str() == word)
    }
}

/// When a block may come again after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RevisitMode {
    /// At any step.
    Any,
    /// At the next step only.
    Immediate,
}

impl RevisitMode {
    /// Mosaic's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Immediate => "immediate",
        }
    }

    pub(super) fn read(text: Text<'_>) -> Option<Self> {
        let word = parameter(text, "#tpu.revisit_mode")?;
        [Self::Any, Self::Immediate].into_iter().find(|mode| mode.as_str() == word)
    }
}

/// A window whose indices count elements in every dimension, with padding around the
/// array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ElementWindow {
    /// Elements before the array, in each dimension.
    pub low: Vec<i64>,
    /// Elements after the array, in each dimension.
    pub high: Vec<i64>,
}

impl ElementWindow {
    pub(super) fn read(text: Text<'_>) -> Option<Self> {
        let inside = parameter(text, "#tpu.element_window")?;
        let (low, high) = inside.strip_prefix('[')?.strip_suffix(']')?.split_once(']')?;
        let high = high.trim_start().strip_prefix(',')?.trim_start().strip_prefix('[')?;
        Some(Self { low: numbers(low)?, high: numbers(high)? })
    }
}

fn numbers(list: &str) -> Option<Vec<i64>> {
    if list.trim().is_empty() {
        return Some(Vec::new());
    }
    list.split(',').map(|number| number.trim().parse().ok()).collect()
}

/// What stands between the angle brackets of `mnemonic<…>`.
fn parameter<'t>(text: Text<'t>, mnemonic: &str) -> Option<&'t str> {
    let text = text.as_str()?.strip_prefix(mnemonic)?;
    Some(text.strip_prefix('<')?.strip_suffix('>')?.trim())
}

/// Where a block is at each step of the grid: an index for each dimension.
#[derive(Clone, Debug)]
pub struct WindowTransform<'m>(Source<'m>);

#[derive(Clone, Debug)]
enum Source<'m> {
    Map(&'m AffineMap),
    Function(Rc<[WindowIndex]>),
}

/// The index of a block in one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WindowIndex {
    /// What stands there.
    pub written: WrittenIndex,
    /// What it is after the folding that the compiler does. Axes of extent 1 are still
    /// axes: `i * j` reads `i` even where `j` is always 0.
    pub folded: IndexValue,
}

/// What an index map returns for one dimension, as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WrittenIndex {
    /// The grid index of this axis.
    Axis(usize),
    /// A constant.
    Constant(i64),
    /// Something computed.
    Computed,
}

impl<'m> WindowTransform<'m> {
    pub(super) const fn of_map(map: &'m AffineMap) -> Self {
        Self(Source::Map(map))
    }

    pub(super) const fn of_function(indices: Rc<[WindowIndex]>) -> Self {
        Self(Source::Function(indices))
    }

    /// Whether it is an affine map, and no function.
    pub const fn is_affine_map(&self) -> bool {
        matches!(self.0, Source::Map(_))
    }

    /// How many dimensions it has an index for.
    pub fn rank(&self) -> usize {
        match &self.0 {
            Source::Map(map) => usize::try_from(map.result_count()).unwrap_or(usize::MAX),
            Source::Function(indices) => indices.len(),
        }
    }

    /// The index of a dimension; `None` past the last.
    pub fn index(&self, dimension: usize) -> Option<WindowIndex> {
        match &self.0 {
            Source::Function(indices) => indices.get(dimension).copied(),
            Source::Map(map) => {
                let folded = index::of_map(map, dimension)?;
                let written = match map.result(u64::try_from(dimension).ok()?)? {
                    AffineExpr::Dimension(axis) => {
                        WrittenIndex::Axis(usize::try_from(axis).unwrap_or(usize::MAX))
                    }
                    AffineExpr::Constant(value) => WrittenIndex::Constant(value),
                    AffineExpr::Symbol(_) | AffineExpr::Binary(_) => WrittenIndex::Computed,
                };
                Some(WindowIndex { written, folded })
            }
        }
    }

    /// The indices of the first so many dimensions.
    pub fn indices(&self, rank: usize) -> impl Iterator<Item = WindowIndex> {
        (0..rank.min(self.rank())).map_while(|dimension| self.index(dimension))
    }
}

impl WindowIndex {
    /// Whether the block moves in this dimension, in a grid of which `is_long` says
    /// whether an axis has, or may have, another extent than 1. The compiler gives a
    /// window that moves in none a single buffer.
    pub fn moves(&self, mut is_long: impl FnMut(usize) -> bool, axes: usize) -> bool {
        match self.folded.knowledge() {
            Knowledge::Constant(_) => false,
            Knowledge::Multiple(_) | Knowledge::Unknown => {
                self.folded.is_opaque()
                    || (0..axes).any(|axis| self.folded.reads_axis(axis) && is_long(axis))
            }
        }
    }
}
