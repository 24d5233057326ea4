//! Element types of memrefs, and how many bits they take where.

use crate::error::words;

words! {
    /// The element type of a memref (JAX's dtypes, `float0` and strings left out).
    ///
    /// Every one of them can be written in a kernel; not every chip, space or
    /// operation takes every one. New ones come with new versions of JAX.
    ///
    /// ```
    /// use mosaic_memspace::Dtype;
    ///
    /// assert_eq!("float8_e4m3fn".parse(), Ok(Dtype::Float8E4m3fn));
    /// assert_eq!(Dtype::Bfloat16.as_str(), "bfloat16");
    /// assert_eq!(Dtype::Bfloat16.as_mosaic(), "bf16");
    /// assert_eq!(Dtype::Int4.bits(), 4);
    /// ```
    #[non_exhaustive]
    #[repr(u8)]
    pub enum Dtype {
        /// `bool`: 32 bits in a memref, 8 wherever JAX counts tiles.
        Bool,
        /// `int1`
        Int1,
        /// `int2`
        Int2,
        /// `int4`
        Int4,
        /// `int8`
        Int8,
        /// `int16`
        Int16,
        /// `int32`
        Int32,
        /// `int64`
        Int64,
        /// `uint1`
        Uint1,
        /// `uint2`
        Uint2,
        /// `uint4`
        Uint4,
        /// `uint8`
        Uint8,
        /// `uint16`
        Uint16,
        /// `uint32`
        Uint32,
        /// `uint64`
        Uint64,
        /// `float4_e2m1fn`
        Float4E2m1fn,
        /// `float6_e2m3fn`
        Float6E2m3fn,
        /// `float6_e3m2fn`
        Float6E3m2fn,
        /// `float8_e3m4`
        Float8E3m4,
        /// `float8_e4m3`
        Float8E4m3,
        /// `float8_e4m3b11fnuz`
        Float8E4m3b11fnuz,
        /// `float8_e4m3fn`
        Float8E4m3fn,
        /// `float8_e4m3fnuz`
        Float8E4m3fnuz,
        /// `float8_e5m2`
        Float8E5m2,
        /// `float8_e5m2fnuz`
        Float8E5m2fnuz,
        /// `float8_e8m0fnu`
        Float8E8m0fnu,
        /// `bfloat16`
        Bfloat16,
        /// `float16`
        Float16,
        /// `float32`
        Float32,
        /// `float64`
        Float64,
        /// `complex64`: two float32.
        Complex64,
        /// `complex128`: two float64.
        Complex128,
    }
    path: "Dtype",
    all: 32 "Every element type",
    as_str: Uint8 "uint8" "JAX's word",
    expecting: "an element type, as JAX spells it",
    unknown: UnknownDtype "unknown dtype" helped by jaxs_word,
}

impl Dtype {
    /// The element type that Mosaic writes in a memref, e.g. `bf16`.
    ///
    /// Integers have no sign there, and a bool is stored as `i32`, so this word
    /// does not tell the dtype (JAX: `_dtype_to_ir_type` at a kernel's boundary).
    ///
    /// ```
    /// use mosaic_memspace::Dtype;
    /// assert_eq!(Dtype::Uint8.as_mosaic(), "i8");
    /// assert_eq!(Dtype::Bool.as_mosaic(), "i32");
    /// assert_eq!(Dtype::Float8E5m2.as_mosaic(), "f8E5M2");
    /// ```
    pub const fn as_mosaic(self) -> &'static str {
        match self {
            Self::Int1 | Self::Uint1 => "i1",
            Self::Int2 | Self::Uint2 => "i2",
            Self::Int4 | Self::Uint4 => "i4",
            Self::Int8 | Self::Uint8 => "i8",
            Self::Int16 | Self::Uint16 => "i16",
            Self::Bool | Self::Int32 | Self::Uint32 => "i32",
            Self::Int64 | Self::Uint64 => "i64",
            Self::Float4E2m1fn => "f4E2M1FN",
            Self::Float6E2m3fn => "f6E2M3FN",
            Self::Float6E3m2fn => "f6E3M2FN",
            Self::Float8E3m4 => "f8E3M4",
            Self::Float8E4m3 => "f8E4M3",
            Self::Float8E4m3b11fnuz => "f8E4M3B11FNUZ",
            Self::Float8E4m3fn => "f8E4M3FN",
            Self::Float8E4m3fnuz => "f8E4M3FNUZ",
            Self::Float8E5m2 => "f8E5M2",
            Self::Float8E5m2fnuz => "f8E5M2FNUZ",
            Self::Float8E8m0fnu => "f8E8M0FNU",
            Self::Bfloat16 => "bf16",
            Self::Float16 => "f16",
            Self::Float32 => "f32",
            Self::Float64 => "f64",
            Self::Complex64 => "complex<f32>",
            Self::Complex128 => "complex<f64>",
        }
    }

    /// The element type that StableHLO writes in a tensor, e.g. `ui8`: outside of a
    /// kernel, unsigned integers and bools are told apart (JAX: `dtype_to_ir_type`).
    ///
    /// ```
    /// use mosaic_memspace::Dtype;
    /// assert_eq!(Dtype::Uint8.as_stablehlo(), "ui8");
    /// assert_eq!(Dtype::Bool.as_stablehlo(), "i1");
    /// assert_eq!(Dtype::Bfloat16.as_stablehlo(), "bf16");
    /// ```
    pub const fn as_stablehlo(self) -> &'static str {
        match self {
            Self::Bool => "i1",
            Self::Uint1 => "ui1",
            Self::Uint2 => "ui2",
            Self::Uint4 => "ui4",
            Self::Uint8 => "ui8",
            Self::Uint16 => "ui16",
            Self::Uint32 => "ui32",
            Self::Uint64 => "ui64",
            Self::Int1
            | Self::Int2
            | Self::Int4
            | Self::Int8
            | Self::Int16
            | Self::Int32
            | Self::Int64
            | Self::Float4E2m1fn
            | Self::Float6E2m3fn
            | Self::Float6E3m2fn
            | Self::Float8E3m4
            | Self::Float8E4m3
            | Self::Float8E4m3b11fnuz
            | Self::Float8E4m3fn
            | Self::Float8E4m3fnuz
            | Self::Float8E5m2
            | Self::Float8E5m2fnuz
            | Self::Float8E8m0fnu
            | Self::Bfloat16
            | Self::Float16
            | Self::Float32
            | Self::Float64
            | Self::Complex64
            | Self::Complex128 => self.as_mosaic(),
        }
    }

    /// Bits of one element, 8 for a bool (JAX: `itemsize_bits`).
    ///
    /// This is the width that tilings go by; in a memref a bool is wider, see
    /// [`memref_bits`](Self::memref_bits).
    ///
    /// ```
    /// use mosaic_memspace::Dtype;
    /// assert_eq!(Dtype::Bool.bits(), 8);
    /// assert_eq!(Dtype::Uint2.bits(), 2);
    /// ```
    pub const fn bits(self) -> u32 {
        match self {
            Self::Int1 | Self::Uint1 => 1,
            Self::Int2 | Self::Uint2 => 2,
            Self::Int4 | Self::Uint4 | Self::Float4E2m1fn => 4,
            Self::Float6E2m3fn | Self::Float6E3m2fn => 6,
            Self::Bool | Self::Int8 | Self::Uint8 => 8,
            Self::Float8E3m4
            | Self::Float8E4m3
            | Self::Float8E4m3b11fnuz
            | Self::Float8E4m3fn
            | Self::Float8E4m3fnuz
            | Self::Float8E5m2
            | Self::Float8E5m2fnuz
            | Self::Float8E8m0fnu => 8,
            Self::Int16 | Self::Uint16 | Self::Bfloat16 | Self::Float16 => 16,
            Self::Int32 | Self::Uint32 | Self::Float32 => 32,
            Self::Int64 | Self::Uint64 | Self::Float64 | Self::Complex64 => 64,
            Self::Complex128 => 128,
        }
    }

    /// Bits of one element in a memref: 32 for a bool, else [`bits`](Self::bits).
    ///
    /// ```
    /// use mosaic_memspace::Dtype;
    /// assert_eq!(Dtype::Bool.memref_bits(), 32);
    /// assert_eq!(Dtype::Int8.memref_bits(), 8);
    /// ```
    pub const fn memref_bits(self) -> u32 {
        if self.is(Self::Bool) { 32 } else { self.bits() }
    }

    /// Bytes of one element as NumPy and JAX store it outside a kernel: a
    /// sub-byte type takes one (`dtype.itemsize`).
    ///
    /// ```
    /// use mosaic_memspace::Dtype;
    /// assert_eq!(Dtype::Int4.itemsize_bytes(), 1);
    /// assert_eq!(Dtype::Float64.itemsize_bytes(), 8);
    /// ```
    pub const fn itemsize_bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Elements that one 32-bit word holds, or `None` when a word does not hold
    /// a whole number of them: types wider than 32 bits, and `float6`.
    ///
    /// ```
    /// use mosaic_memspace::Dtype;
    /// const PACKED: Option<u32> = Dtype::Bfloat16.packing();
    /// assert_eq!(PACKED, Some(2));
    /// assert_eq!(Dtype::Bool.packing(), Some(4));
    /// assert_eq!(Dtype::Float64.packing(), None);
    /// ```
    pub const fn packing(self) -> Option<u32> {
        in_a_word(self.bits())
    }

    /// Elements of a memref that one 32-bit word holds: 1 for a bool, else
    /// [`packing`](Self::packing).
    ///
    /// ```
    /// use mosaic_memspace::Dtype;
    /// assert_eq!(Dtype::Bool.memref_packing(), Some(1));
    /// assert_eq!(Dtype::Int4.memref_packing(), Some(8));
    /// ```
    pub const fn memref_packing(self) -> Option<u32> {
        in_a_word(self.memref_bits())
    }

    /// `==`, known at compile time.
    pub(crate) const fn is(self, other: Self) -> bool {
        self as u8 == other as u8
    }
}

const fn in_a_word(bits: u32) -> Option<u32> {
    match (32_u32.checked_div(bits), 32_u32.checked_rem(bits)) {
        (Some(elements), Some(0)) => Some(elements),
        (_, _) => None,
    }
}

/// For Mosaic's words, JAX's.
fn jaxs_word(word: &str) -> Option<String> {
    let mosaic = |dtype: &&Dtype| dtype.as_mosaic() == word;
    let meant = Dtype::ALL.iter().filter(mosaic).map(|dtype| dtype.as_str());
    let meant: Vec<_> = meant.collect();
    let words = meant.join(" or ");
    (!words.is_empty()).then(|| format!("write JAX's word, not Mosaic's: {words}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Code, Fault};

    #[test]
    fn words_are_jaxs() {
        let words = "bool int1 int2 int4 int8 int16 int32 int64 uint1 uint2 uint4 uint8 uint16 \
                     uint32 uint64 float4_e2m1fn float6_e2m3fn float6_e3m2fn float8_e3m4 \
                     float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 \
                     float8_e5m2fnuz float8_e8m0fnu bfloat16 float16 float32 float64 complex64 \
                     complex128";
        let ours: Vec<_> = Dtype::ALL.iter().map(|dtype| dtype.as_str()).collect();
        assert_eq!(ours.join(" "), words);
        for dtype in Dtype::ALL {
            assert_eq!(dtype.as_str().parse(), Ok(*dtype));
        }
    }

    #[test]
    fn a_word_holds_whole_elements_or_has_no_packing() {
        for dtype in Dtype::ALL {
            for (packing, bits) in
                [(dtype.packing(), dtype.bits()), (dtype.memref_packing(), dtype.memref_bits())]
            {
                match packing {
                    Some(elements) => assert_eq!(elements.checked_mul(bits), Some(32), "{dtype}"),
                    None => assert!(bits > 32 || 32 % bits != 0, "{dtype}"),
                }
            }
        }
    }

    #[test]
    fn mosaics_word_is_answered_with_jaxs() {
        let help = |word| Dtype::unknown(word).help();
        assert_eq!(help("bf16"), "write JAX's word, not Mosaic's: bfloat16");
        assert_eq!(help("i8"), "write JAX's word, not Mosaic's: int8 or uint8");
        assert_eq!(help("gpu"), Code::UnknownDtype.mend());
    }
}
