//! Numbers as Python prints them, without allocating.

use std::fmt::Write;

/// Bytes of the longest natural number: `18446744073709551615`.
pub(super) const NATURAL: usize = 20;

/// Bytes of the longest float: `-2.2250738585072014e-308`.
pub(super) const FLOAT: usize = 24;

/// A natural number's decimal digits.
pub(super) fn natural(number: u64, buffer: &mut [u8; NATURAL]) -> &str {
    let mut rest = number;
    for pair in buffer.as_chunks_mut().0.iter_mut().rev() {
        #[allow(clippy::cast_possible_truncation, reason = "it is below a hundred")]
        let two = (rest % 100) as u8;
        *pair = [b'0' | (two / 10), b'0' | (two % 10)];
        rest /= 100;
        if rest == 0 {
            break;
        }
    }
    ascii(buffer.get(NATURAL.saturating_sub(natural_len(number))..))
}

/// How many bytes [`natural`] gives.
#[inline]
pub(super) fn natural_len(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0).saturating_add(1) as usize
}

/// A finite float as Python's `repr` prints it: the shortest digits that read back as
/// the same float, plain from 1e-4 up to 1e16, otherwise with a signed exponent of at
/// least two digits.
pub(super) fn python_float(number: f64, buffer: &mut [u8; FLOAT]) -> &str {
    if let Some(length) = three_decimals(number, buffer) {
        return ascii(buffer.get(..length));
    }
    let mut text = Fixed::<FLOAT>::default();
    // None of these can fail: the longest float fits.
    let _ = if number == 0.0 || (1e-4..1e16).contains(&number.abs()) {
        write!(text, "{number:?}")
    } else {
        let mut scientific = Fixed::<FLOAT>::default();
        let _ = write!(scientific, "{number:e}");
        let (mantissa, exponent) = scientific.as_str().split_once('e').unwrap_or_default();
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |e| ('-', e));
        write!(text, "{mantissa}e{sign}{exponent:0>2}")
    };
    *buffer = text.bytes;
    ascii(buffer.get(..text.length))
}

/// A float from 0 up to 10^9 that has three decimals at most, as most that people write
/// have; how many bytes it takes. Fewer than sixteen digits that read back as a float are
/// its shortest.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "it is below 10^12, and has to read back as the same float"
)]
fn three_decimals(number: f64, buffer: &mut [u8; FLOAT]) -> Option<usize> {
    let thousandths = (number * 1e3).round();
    if !(0.0..1e12).contains(&thousandths)
        || number.is_sign_negative()
        || thousandths / 1e3 != number
    {
        return None;
    }
    let thousandths = thousandths as u64;
    let mut text = [0; NATURAL];
    let whole = natural(thousandths / 1000, &mut text).as_bytes();
    let decimals = [thousandths / 100, thousandths / 10, thousandths];
    let decimals = decimals.map(|digits| b'0' | (digits % 10) as u8);
    let zeros = decimals.iter().skip(1).rev().take_while(|digit| **digit == b'0').count();
    let (before, behind) = buffer.split_at_mut_checked(whole.len())?;
    before.copy_from_slice(whole);
    let [point, places @ ..] = behind.first_chunk_mut::<4>()?;
    *point = b'.';
    *places = decimals;
    Some(whole.len().saturating_add(4).saturating_sub(zeros))
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
    fn naturals_are_printed_as_rust_prints_them() {
        for number in [0, 9, 10, 99, 100, 7000, 12_345, u64::MAX / 10, u64::MAX] {
            assert_eq!(natural(number, &mut [0; NATURAL]), number.to_string());
            assert_eq!(natural_len(number), number.to_string().len());
        }
    }

    #[test]
    fn floats_are_printed_as_python_prints_them() {
        // Each text is Python's repr of the float that it reads as.
        for text in [
            "0.0",
            "-0.0",
            "0.001",
            "0.01",
            "0.125",
            "999999999.999",
            "1000000000.0",
            "0.0005",
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
