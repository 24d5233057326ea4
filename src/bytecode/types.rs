//! Types of the builtin dialect, and other dialects' types as their text.

use super::cursor::{Cursor, Read};
use super::fault::BytecodeProblem;
use super::tables::{AttributeId, Tables, TypeId};
use super::text::Text;

/// A type, as its entry says it; the types within are numbers, to be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Type<'a> {
    /// `i32`, `si8`, `ui8`.
    Integer {
        /// Its bits.
        width: u32,
        /// Whether it says its sign.
        signedness: Signedness,
    },
    /// `index`
    Index,
    /// `f32`, `bf16`, `f8E4M3FN`, …
    Float(FloatKind),
    /// `complex<f32>`
    Complex(TypeId),
    /// `(i32) -> i32`
    Function {
        /// The types of its arguments.
        inputs: Box<[TypeId]>,
        /// The types of its results.
        results: Box<[TypeId]>,
    },
    /// `memref<8x128xf32, #tpu.memory_space<vmem>>`
    Memref(Box<MemrefParts>),
    /// `memref<*xf32>`
    UnrankedMemref {
        /// The type of its elements.
        element: TypeId,
        /// Where it lies.
        space: Option<AttributeId>,
    },
    /// `tensor<8x128xf32>`
    Tensor {
        /// The extents, major to minor; [`DYNAMIC`] for `?`.
        shape: Box<[i64]>,
        /// The type of its elements.
        element: TypeId,
        /// Its encoding.
        encoding: Option<AttributeId>,
    },
    /// `tensor<*xf32>`
    UnrankedTensor(TypeId),
    /// `tuple<i32, f32>`
    Tuple(Box<[TypeId]>),
    /// `vector<8x128xf32>`
    Vector {
        /// The extents, major to minor.
        shape: Box<[i64]>,
        /// The dimensions that are scalable, or none said.
        scalable: Box<[bool]>,
        /// The type of its elements.
        element: TypeId,
    },
    /// `none`
    None,
    /// A type that stands in the file as text, whole: `!tpu.dma_semaphore`.
    Text(Text<'a>),
}

/// The extent that is known at run time only.
pub const DYNAMIC: i64 = i64::MIN;

/// What a memref's type says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemrefParts {
    /// The extents, major to minor; [`DYNAMIC`] for `?`.
    pub shape: Box<[i64]>,
    /// The type of its elements.
    pub element: TypeId,
    /// How its elements lie.
    pub layout: AttributeId,
    /// Where it lies, if it says so.
    pub space: Option<AttributeId>,
}

/// Whether an integer type says its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signedness {
    /// `i32`
    Signless,
    /// `si32`
    Signed,
    /// `ui32`
    Unsigned,
}

/// A row a float type: its variant, its word, its code, its bits, those of its fraction.
macro_rules! floats {
    ($($(#[$doc:meta])* $name:ident $word:literal $code:literal $bits:literal;)*) => {
        /// A float type of the builtin dialect.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum FloatKind {
            $(
                #[doc = concat!("`", $word, "`")]
                $name,
            )*
        }

        impl FloatKind {
            /// Every one of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// MLIR's word, e.g. `bf16`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }

            /// Bits of one.
            pub const fn bits(self) -> u32 {
                match self {
                    $(Self::$name => $bits,)*
                }
            }

            const fn of_code(code: u64) -> Option<Self> {
                match code {
                    $($code => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

floats! {
    Bf16 "bf16" 3 16;
    F16 "f16" 4 16;
    F32 "f32" 5 32;
    F64 "f64" 6 64;
    F80 "f80" 7 80;
    F128 "f128" 8 128;
    Tf32 "tf32" 21 19;
    F8E5M2 "f8E5M2" 22 8;
    F8E4M3 "f8E4M3" 23 8;
    F8E4M3FN "f8E4M3FN" 24 8;
    F8E5M2FNUZ "f8E5M2FNUZ" 25 8;
    F8E4M3FNUZ "f8E4M3FNUZ" 26 8;
    F8E4M3B11FNUZ "f8E4M3B11FNUZ" 27 8;
    F8E3M4 "f8E3M4" 28 8;
    F4E2M1FN "f4E2M1FN" 29 4;
    F6E2M3FN "f6E2M3FN" 30 6;
    F6E3M2FN "f6E3M2FN" 31 6;
    F8E8M0FNU "f8E8M0FNU" 32 8;
}

/// The highest code of a type that is known.
const NEWEST: u64 = 32;

impl<'a> Type<'a> {
    pub(super) fn of_text(text: Text<'a>, builtin: bool) -> Self {
        let float = FloatKind::ALL.iter().find(|kind| builtin && text == kind.as_str());
        float.map_or(Self::Text(text), |kind| Self::Float(*kind))
    }

    pub(super) fn decode(tables: &Tables<'a>, mut data: Cursor<'a>) -> Read<Self> {
        let data = &mut data;
        let at = *data;
        let code = data.varint("a type's code")?;
        let decoded = match code {
            0 => {
                let said = data.varint("an integer type")?;
                let signedness = match said & 3 {
                    0 => Signedness::Signless,
                    1 => Signedness::Signed,
                    2 => Signedness::Unsigned,
                    code => {
                        let what = "an integer type's sign";
                        return Err(at.fault(BytecodeProblem::Code { what, code, most: 2 }));
                    }
                };
                let width = u32::try_from(said >> 2).ok().filter(|width| *width <= WIDEST);
                let Some(width) = width else {
                    let (what, most) = ("bits of an integer type", WIDEST as usize);
                    let count = said >> 2;
                    return Err(at.fault(BytecodeProblem::Count { what, count, most }));
                };
                Self::Integer { width, signedness }
            }
            1 => Self::Index,
            2 => Self::Function { inputs: ids(tables, data)?, results: ids(tables, data)? },
            9 => Self::Complex(tables.type_id(data)?),
            10 | 11 => {
                let space = if code == 11 { Some(tables.attribute_id(data)?) } else { None };
                let shape = shape(data)?;
                let element = tables.type_id(data)?;
                let layout = tables.attribute_id(data)?;
                Self::Memref(Box::new(MemrefParts { shape, element, layout, space }))
            }
            12 => Self::None,
            13 | 14 => {
                let encoding = if code == 14 { Some(tables.attribute_id(data)?) } else { None };
                Self::Tensor { shape: shape(data)?, element: tables.type_id(data)?, encoding }
            }
            15 => Self::Tuple(ids(tables, data)?),
            16 | 17 => {
                let space = if code == 17 { Some(tables.attribute_id(data)?) } else { None };
                Self::UnrankedMemref { element: tables.type_id(data)?, space }
            }
            18 => Self::UnrankedTensor(tables.type_id(data)?),
            19 | 20 => {
                let scalable = if code == 20 { flags(data)? } else { Box::default() };
                let shape = shape(data)?;
                Self::Vector { shape, scalable, element: tables.type_id(data)? }
            }
            _ => {
                let unknown = BytecodeProblem::Code { what: "a type", code, most: NEWEST };
                Self::Float(FloatKind::of_code(code).ok_or_else(|| at.fault(unknown))?)
            }
        };
        data.finish("a type")?;
        Ok(decoded)
    }

    /// Bits of a scalar of this type as an attribute holds it: an index has 64.
    pub(super) const fn value_bits(&self) -> Option<u32> {
        match self {
            Self::Integer { width, .. } => Some(*width),
            Self::Index => Some(64),
            Self::Float(kind) => Some(kind.bits()),
            Self::Complex(_)
            | Self::Function { .. }
            | Self::Memref(_)
            | Self::UnrankedMemref { .. }
            | Self::Tensor { .. }
            | Self::UnrankedTensor(_)
            | Self::Tuple(_)
            | Self::Vector { .. }
            | Self::None
            | Self::Text(_) => None,
        }
    }
}

impl Type<'_> {
    /// What a memref's type says.
    pub fn as_memref(&self) -> Option<&MemrefParts> {
        if let Self::Memref(parts) = self { Some(parts) } else { None }
    }

    /// The extents and the element type of a vector or a tensor.
    pub fn as_shaped(&self) -> Option<(&[i64], TypeId)> {
        if let Self::Tensor { shape, element, .. } | Self::Vector { shape, element, .. } = self {
            Some((shape, *element))
        } else {
            None
        }
    }

    pub(super) const fn is_unsigned(&self) -> bool {
        matches!(self, Self::Integer { signedness: Signedness::Unsigned, .. })
    }
}

/// The widest integer that MLIR has.
const WIDEST: u32 = (1 << 24) - 1;

fn ids<'a>(tables: &Tables<'a>, data: &mut Cursor<'a>) -> Read<Box<[TypeId]>> {
    let count = data.count("types", 1)?;
    (0..count).map(|_| tables.type_id(data)).collect()
}

fn shape(data: &mut Cursor<'_>) -> Read<Box<[i64]>> {
    let count = data.count("dimensions", 1)?;
    (0..count).map(|_| data.svarint("a dimension")).collect()
}

fn flags(data: &mut Cursor<'_>) -> Read<Box<[bool]>> {
    let count = data.count("scalable dimensions", 1)?;
    (0..count).map(|_| data.byte("a scalable dimension").map(|byte| byte != 0)).collect()
}
