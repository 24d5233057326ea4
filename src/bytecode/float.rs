//! Floats as MLIR prints them.

use super::types::FloatKind;
use std::cmp::Ordering;
use std::fmt::{self, Write};

/// How a kind of float is made up.
struct Format {
    exponent: u32,
    fraction: u32,
    bias: i32,
    specials: Specials,
}

/// What the patterns that are no numbers look like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Specials {
    /// Infinities and NaNs have the highest exponent.
    Ieee,
    /// All ones are NaN, there is no infinity.
    AllOnes,
    /// Minus zero is NaN, there is no infinity.
    MinusZero,
    /// Every pattern is a number.
    None,
}

/// How `kind` is made up; `None` for those wider than 64 bits, and for the one that is
/// an exponent only.
const fn format(kind: FloatKind) -> Option<Format> {
    use FloatKind::{
        Bf16, F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ,
        F8E5M2, F8E5M2FNUZ, F8E8M0FNU, F16, F32, F64, F80, F128, Tf32,
    };
    use Specials::{AllOnes, Ieee, MinusZero, None as NoSpecials};
    let (exponent, fraction, bias, specials) = match kind {
        Bf16 => (8, 7, 127, Ieee),
        F16 => (5, 10, 15, Ieee),
        F32 => (8, 23, 127, Ieee),
        F64 => (11, 52, 1023, Ieee),
        Tf32 => (8, 10, 127, Ieee),
        F8E5M2 => (5, 2, 15, Ieee),
        F8E4M3 => (4, 3, 7, Ieee),
        F8E4M3FN => (4, 3, 7, AllOnes),
        F8E5M2FNUZ => (5, 2, 16, MinusZero),
        F8E4M3FNUZ => (4, 3, 8, MinusZero),
        F8E4M3B11FNUZ => (4, 3, 11, MinusZero),
        F8E3M4 => (3, 4, 3, Ieee),
        F4E2M1FN => (2, 1, 1, NoSpecials),
        F6E2M3FN => (2, 3, 1, NoSpecials),
        F6E3M2FN => (3, 2, 3, NoSpecials),
        F80 | F128 | F8E8M0FNU => return None,
    };
    Some(Format { exponent, fraction, bias, specials })
}

/// The number that the bits of a float say, if they say a finite one.
pub(super) fn value(kind: FloatKind, bits: u64) -> Option<f64> {
    if kind == FloatKind::F8E8M0FNU {
        let exponent = i32::try_from(bits & 0xff).ok()?;
        return (exponent != 0xff).then(|| 2_f64.powi(exponent.saturating_sub(127)));
    }
    let Format { exponent: width, fraction: places, bias, specials } = format(kind)?;
    let ones = |width: u32| (1_u64 << width).saturating_sub(1);
    let fraction = bits & ones(places);
    let exponent = bits >> places & ones(width);
    let sign = bits >> width.saturating_add(places) & 1;
    let is_number = match specials {
        Specials::Ieee => exponent != ones(width),
        Specials::AllOnes => exponent != ones(width) || fraction != ones(places),
        Specials::MinusZero => sign == 0 || exponent != 0 || fraction != 0,
        Specials::None => true,
    };
    if !is_number {
        return None;
    }
    // A subnormal has the exponent of the smallest normal, and no leading one.
    let leading = if exponent == 0 { 0 } else { 1_u64 << places };
    let exponent = i32::try_from(exponent.max(1)).ok()?;
    let places = i32::try_from(places).ok()?;
    let scale = exponent.saturating_sub(bias).saturating_sub(places);
    #[allow(clippy::cast_precision_loss, reason = "53 bits at most")]
    let magnitude = (leading | fraction) as f64;
    // Twice, since the smallest doubles have no scale of their own.
    let half = scale.div_euclid(2);
    let magnitude = magnitude * 2_f64.powi(half) * 2_f64.powi(scale.saturating_sub(half));
    Some(if sign == 0 { magnitude } else { -magnitude })
}

/// Writes a float: with six digits where those say it, else with as many as its kind
/// has, else its bits.
pub(super) fn write(out: &mut dyn Write, kind: FloatKind, bits: u64) -> fmt::Result {
    let width = kind.bits().min(64);
    let bits = bits & (u64::MAX >> 64_u32.saturating_sub(width));
    let Some(number) = value(kind, bits) else { return write!(out, "0x{bits:X}") };
    let digits = Digits::of(number, 6);
    let text = digits.with_six();
    if text.parse().is_ok_and(|parsed| rounds_to(kind, bits, number, parsed)) {
        return out.write_str(&text);
    }
    let precision = format(kind).map_or(1, |format| format.fraction.saturating_add(1));
    let most = precision.saturating_mul(59) / 196;
    let text = Digits::of(number, most.saturating_add(2) as usize).plain(most.saturating_add(2));
    if text.contains('.') { out.write_str(&text) } else { write!(out, "0x{bits:X}") }
}

/// Whether `parsed` is nearest, of all floats of this kind, to the one of these bits.
fn rounds_to(kind: FloatKind, bits: u64, number: f64, parsed: f64) -> bool {
    if parsed.to_bits() == number.to_bits() {
        return true;
    }
    if kind == FloatKind::F64 || parsed.is_sign_negative() != number.is_sign_negative() {
        return false;
    }
    // The neighbours away from zero and towards it: magnitudes are in the bits' order.
    let away = parsed.abs() > number.abs();
    let magnitude = bits & (u64::MAX >> 65_u32.saturating_sub(kind.bits()));
    let neighbour = if away {
        if magnitude == u64::MAX >> 65_u32.saturating_sub(kind.bits()) {
            None
        } else {
            value(kind, bits.saturating_add(1))
        }
    } else {
        magnitude.checked_sub(1).and_then(|_| value(kind, bits.saturating_sub(1)))
    };
    let Some(neighbour) = neighbour else { return away };
    let to_neighbour = (parsed - neighbour).abs();
    let to_number = (parsed - number).abs();
    match to_number.total_cmp(&to_neighbour) {
        Ordering::Less => true,
        Ordering::Equal => bits & 1 == 0,
        Ordering::Greater => false,
    }
}

/// A number as decimal digits: `0.d1 d2 d3… × 10^point`.
struct Digits {
    negative: bool,
    /// Without zeros at the end; empty for zero.
    all: Vec<u8>,
    /// The power of ten of the first digit.
    power: i32,
}

impl Digits {
    /// The `count` first digits of a number, the last one rounded, halves away from zero.
    fn of(number: f64, count: usize) -> Self {
        // No float has so many digits that these do not tell a half from more.
        const EXACT: usize = 60;
        let negative = number.is_sign_negative();
        let exact = format!("{:.*e}", EXACT, number.abs());
        let (mantissa, power) = exact.split_once('e').unwrap_or((&exact, "0"));
        let mut power = power.parse().unwrap_or(0_i32);
        let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
        let up = digits.get(count).is_some_and(|digit| *digit >= b'5');
        digits.truncate(count);
        if up {
            while digits.last() == Some(&b'9') {
                digits.pop();
            }
            if let Some(last) = digits.last_mut() {
                *last = last.saturating_add(1);
            } else {
                digits.push(b'1');
                power = power.saturating_add(1);
            }
        }
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        Self { negative, all: digits, power }
    }

    fn sign(&self) -> &'static str {
        if self.negative { "-" } else { "" }
    }

    /// `1.250000e+00`
    fn with_six(&self) -> String {
        let (first, rest) = self.all.split_first().unwrap_or((&b'0', &[]));
        let power = if self.all.is_empty() { 0 } else { self.power };
        let sign = if power < 0 { '-' } else { '+' };
        let rest = text(rest);
        let first = char::from(*first);
        format!("{}{first}.{rest:0<6}e{sign}{:02}", self.sign(), power.unsigned_abs())
    }

    /// `0.125`, `1.0E+30`: with no more digits than it takes.
    fn plain(&self, precision: u32) -> String {
        /// A number of more zeros than this is written with a power of ten.
        const ZEROS: i32 = 3;
        let sign = self.sign();
        if self.all.is_empty() {
            return format!("{sign}0.0");
        }
        let count = i32::try_from(self.all.len()).unwrap_or(i32::MAX);
        let precision = i32::try_from(precision).unwrap_or(i32::MAX);
        // The power of ten of the last digit.
        let last = self.power.saturating_sub(count.saturating_sub(1));
        let scientific = if last >= 0 {
            last > ZEROS || count.saturating_add(last) > precision
        } else {
            self.power < -ZEROS
        };
        if scientific {
            let (first, rest) = self.all.split_first().unwrap_or((&b'0', &[]));
            let rest = if rest.is_empty() { "0".to_owned() } else { text(rest) };
            let first = char::from(*first);
            return format!("{sign}{first}.{rest}E{:+}", self.power);
        }
        if last >= 0 {
            let zeros = "0".repeat(usize::try_from(last).unwrap_or(0));
            return format!("{sign}{}{zeros}", text(&self.all));
        }
        let whole = usize::try_from(self.power.saturating_add(1)).unwrap_or(0);
        if whole > 0 {
            let (whole, rest) = self.all.split_at_checked(whole).unwrap_or_default();
            return format!("{sign}{}.{}", text(whole), text(rest));
        }
        let zeros = self.power.saturating_add(1).unsigned_abs() as usize;
        format!("{sign}0.{}{}", "0".repeat(zeros), text(&self.all))
    }
}

fn text(digits: &[u8]) -> String {
    digits.iter().map(|digit| char::from(*digit)).collect()
}
