//! Numbers as Python prints them, without allocating.

use std::fmt::Write;

/// Bytes that the longest integers take: `-9223372036854775808`, `18446744073709551615`.
pub(super) const INTEGER: usize = 20;

/// Bytes that the longest float takes: `-2.2250738585072014e-308`.
pub(super) const FLOAT: usize = 24;

/// An integer's decimal digits, with its sign.
pub(super) fn integer(number: i64, buffer: &mut [u8; INTEGER]) -> &str {
    digits(number.unsigned_abs(), number < 0, buffer)
}

/// A natural number's decimal digits.
pub(super) fn natural(number: u64, buffer: &mut [u8; INTEGER]) -> &str {
    digits(number, false, buffer)
}

fn digits(number: u64, negative: bool, buffer: &mut [u8; INTEGER]) -> &str {
    let mut rest = number;
    let mut start = INTEGER;
    for (place, byte) in buffer.iter_mut().enumerate().rev() {
        let sign = rest == 0 && start != INTEGER;
        if sign && !negative {
            break;
        }
        #[allow(clippy::cast_possible_truncation, reason = "a digit is below ten")]
        let digit = b'0' | (rest % 10) as u8;
        *byte = if sign { b'-' } else { digit };
        start = place;
        if sign {
            break;
        }
        rest /= 10;
    }
    ascii(buffer.get(start..))
}

/// How many bytes [`integer`] gives.
pub(super) fn integer_len(number: i64) -> usize {
    usize::from(number < 0).saturating_add(natural_len(number.unsigned_abs()))
}

/// How many bytes [`natural`] gives.
pub(super) fn natural_len(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0).saturating_add(1) as usize
}

/// A finite float as Python's `repr` prints it: the shortest digits that read
/// back as the same float, plain from 1e-4 up to 1e16, otherwise with an
/// exponent of at least two digits.
pub(super) fn python_float(number: f64, buffer: &mut [u8; FLOAT]) -> &str {
    let mut scientific = Fixed::<FLOAT>::default();
    let mut text = Fixed::<FLOAT>::default();
    // Neither can fail: the longest float fits.
    let _ = write!(scientific, "{number:e}");
    let _ = lay_out(scientific.as_str(), &mut text);
    *buffer = text.bytes;
    ascii(buffer.get(..text.length))
}

/// From Rust's `-d.ddde-x` to Python's layout.
fn lay_out(scientific: &str, out: &mut impl Write) -> std::fmt::Result {
    let (sign, unsigned) = match scientific.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", scientific),
    };
    let (mantissa, exponent) = unsigned.split_once('e').unwrap_or((unsigned, "0"));
    let exponent: i16 = exponent.parse().unwrap_or_default();
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    out.write_str(sign)?;
    match usize::try_from(exponent) {
        // Digits before the point: the first, and `exponent` more.
        Ok(before) if exponent < 16 => {
            let (whole, part) = rest.split_at_checked(before).unwrap_or((rest, ""));
            write!(out, "{first}{whole}")?;
            (whole.len()..before).try_for_each(|_| out.write_char('0'))?;
            write!(out, ".{}", if part.is_empty() { "0" } else { part })
        }
        Err(_) if exponent >= -4 => {
            out.write_str("0.")?;
            (1..exponent.unsigned_abs()).try_for_each(|_| out.write_char('0'))?;
            write!(out, "{first}{rest}")
        }
        Ok(_) | Err(_) => {
            let point = if rest.is_empty() { "" } else { "." };
            let sign = if exponent < 0 { '-' } else { '+' };
            write!(out, "{first}{point}{rest}e{sign}{:02}", exponent.unsigned_abs())
        }
    }
}

/// A text of at most `N` bytes.
struct Fixed<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Default for Fixed<N> {
    fn default() -> Self {
        Self { bytes: [0; N], length: 0 }
    }
}

impl<const N: usize> Fixed<N> {
    fn as_str(&self) -> &str {
        ascii(self.bytes.get(..self.length))
    }
}

impl<const N: usize> Write for Fixed<N> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let free = self.bytes.get_mut(self.length..).unwrap_or_default();
        let place = free.get_mut(..text.len()).ok_or(std::fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.length = self.length.saturating_add(text.len());
        Ok(())
    }
}

fn ascii(bytes: Option<&[u8]>) -> &str {
    bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_printed_as_rust_prints_them() {
        for number in [0, 1, -1, 9, 10, -10, 7000, i64::MAX, i64::MIN] {
            assert_eq!(integer(number, &mut [0; INTEGER]), number.to_string());
            assert_eq!(integer_len(number), number.to_string().len());
        }
        for number in [0, 9, 10, u64::MAX] {
            assert_eq!(natural(number, &mut [0; INTEGER]), number.to_string());
            assert_eq!(natural_len(number), number.to_string().len());
        }
    }

    #[test]
    fn floats_are_printed_as_python_prints_them() {
        // Each text is Python's repr of the float that it reads as.
        for text in [
            "0.0",
            "-0.0",
            "1.0",
            "0.1",
            "100.0",
            "2.5",
            "-2.5",
            "0.0001",
            "1e-05",
            "1.5e-05",
            "123456789.125",
            "1234567890123456.0",
            "9999999999999998.0",
            "1e+16",
            "1.2345678901234568e+17",
            "1e+22",
            "1.5e+300",
            "1e+100",
            "5e-324",
            "-2.2250738585072014e-308",
            "1.7976931348623157e+308",
            "0.30000000000000004",
            "0.00012345678901234567",
        ] {
            let number: f64 = text.parse().unwrap_or(f64::NAN);
            assert_eq!(python_float(number, &mut [0; FLOAT]), text);
        }
    }
}
