//! Values of fio options: numbers with units, percentages, times, lists per direction.
//!
//! Units are read as fio's program reads them: with `kb_base=1024` (the default) `k`, `kb` and
//! `ki` are 1024 and `kib` is 1000; with `kb_base=1000` `k`, `kb` and `ki` are 1000 and `kib` is
//! 1024. (fio's manual gives `ki` the other meaning; its parser has never done so.)
//! Stricter than fio in one way: text that fio would drop in silence (`4x`, `1.5k`) is an error.
//! What begins with a parenthesis is computed ([`arithmetic`]).

pub mod arithmetic;

use super::error::Problem;
use super::job::{Extent, PerDirection};
use ssdlab_device::units::Nanos;
use std::str::FromStr;

/// An option's value with what is needed to understand it.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    /// The text after `=`, trimmed; empty for a bare option.
    pub text: &'a str,
    /// 1024 or 1000.
    pub kb_base: u64,
}

/// The unit of a time without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultUnit {
    /// `runtime=10` is ten seconds.
    Seconds,
    /// `thinktime=10` is ten microseconds.
    Microseconds,
}

impl<'a> Value<'a> {
    /// The same reading rules for another piece of text.
    pub fn part(&self, text: &'a str) -> Value<'a> {
        Value { text: text.trim(), kb_base: self.kb_base }
    }

    /// A quantity of data or a plain number with a data suffix, from `least` up.
    pub fn bytes(&self, least: u64) -> Result<u64, Problem> {
        if self.is_expression() {
            return at_least(self.expression(&|unit| self.byte_factor(unit))?, least);
        }
        let (number, suffix) = self.number("a size such as 4096, 4k or 1g")?;
        let factor = self.byte_factor(&suffix)?;
        let bytes = number.checked_mul(factor).ok_or_else(|| too_large(u64::MAX))?;
        at_least(bytes, least)
    }

    /// A block size: as [`Value::bytes`], within 32 bits.
    pub fn block_bytes(&self) -> Result<u32, Problem> {
        let bytes = self.bytes(1)?;
        u32::try_from(bytes).map_err(|_| too_large(u64::from(u32::MAX)))
    }

    /// A count between two limits.
    pub fn count(&self, least: u64, most: u64) -> Result<u64, Problem> {
        let count = self.bytes(least)?;
        if count > most { Err(too_large(most)) } else { Ok(count) }
    }

    /// A count that fits 32 bits.
    pub fn count_u32(&self, least: u32) -> Result<u32, Problem> {
        Ok(self.count(u64::from(least), u64::from(u32::MAX))? as u32)
    }

    /// A whole percentage, 0 to 100, with or without the sign.
    pub fn percent(&self) -> Result<u32, Problem> {
        let part = self.part(self.text.strip_suffix('%').unwrap_or(self.text));
        if !part.is_expression() {
            part.number("a percentage such as 50%")?;
        }
        Ok(part.count(0, 100)? as u32)
    }

    /// A size in bytes or in percent of the target.
    pub fn extent(&self) -> Result<Extent, Problem> {
        let Some(text) = self.text.strip_suffix('%') else {
            return Ok(Extent::Bytes(self.bytes(0)?));
        };
        let percent = self.part(text).real("a percentage such as 50%")?;
        if (0.0..=100.0).contains(&percent) {
            Ok(Extent::Percent(percent))
        } else {
            Err(Problem::new("a share lies between 0% and 100%", ""))
        }
    }

    /// A time; only seconds and microseconds serve as the unit left out.
    pub fn time(&self, default: DefaultUnit) -> Result<Nanos, Problem> {
        let plain = if default == DefaultUnit::Seconds { "s" } else { "us" };
        let (number, suffix) = if self.is_expression() {
            let unit = |unit: &str| time_factor(unit);
            let nanos = if self.text.contains(|c: char| c.is_ascii_alphabetic()) { 1 } else { time_factor(plain)? };
            let time = self.expression(&unit)?.checked_mul(nanos).filter(|time| *time < Nanos::NEVER.0);
            return time.map(Nanos).ok_or_else(|| Problem::new("too long a time", "584 years is the most"));
        } else {
            self.number("a time such as 10, 500ms or 1m")?
        };
        let nanos = time_factor(if suffix.is_empty() { plain } else { &suffix })?;
        let time = number.checked_mul(nanos).filter(|time| *time < Nanos::NEVER.0);
        time.map(Nanos).ok_or_else(|| Problem::new("too long a time", "584 years is the most"))
    }

    /// A time that is a plain number of milliseconds, `least` of them at least.
    pub fn milliseconds(&self, least: u64) -> Result<Nanos, Problem> {
        Ok(Nanos(self.count(least, 1 << 40)? * 1_000_000))
    }

    /// The two ends of a range, with a dash or a colon between them.
    pub fn range(&self) -> Result<(Value<'a>, Value<'a>), Problem> {
        match self.text.split_once(['-', ':']) {
            Some((least, most)) => Ok((self.part(least), self.part(most))),
            None => Ok((*self, *self)),
        }
    }

    fn is_expression(&self) -> bool {
        self.text.starts_with('(')
    }

    fn expression(&self, unit: &dyn Fn(&str) -> Result<u64, Problem>) -> Result<u64, Problem> {
        let value = arithmetic::evaluate(self.text, unit)?;
        if value < 0.0 {
            return Err(Problem::new(format!("is {value}: below 0"), ""));
        }
        if value >= u64::MAX as f64 { Err(too_large(u64::MAX)) } else { Ok(value as u64) }
    }

    /// fio's truth values: a bare option is true, 0 is false, 1 is true.
    pub fn boolean(&self) -> Result<bool, Problem> {
        match self.text {
            "" | "1" => Ok(true),
            "0" => Ok(false),
            _ => Err(Problem::new("expected 0 or 1", "")),
        }
    }

    /// A finite decimal number.
    pub fn real(&self, expected: &str) -> Result<f64, Problem> {
        let number = f64::from_str(self.text).ok().filter(|number| number.is_finite());
        number.ok_or_else(|| Problem::new(format!("expected {expected}"), ""))
    }

    /// One value for all directions, or up to three for reads, writes and trims, read by `one`.
    /// A missing trim value follows the writes; an empty one leaves `into` as it was.
    pub fn per_direction<T: Clone>(
        &self,
        into: &mut PerDirection<T>,
        one: impl Fn(Value<'a>) -> Result<T, Problem>,
    ) -> Result<(), Problem> {
        let parts: Vec<&str> = self.text.split(',').collect();
        if parts.len() > 3 {
            return Err(Problem::new("more than three values", "give reads,writes,trims"));
        }
        if parts.iter().all(|part| part.trim().is_empty()) {
            return Err(Problem::new("a value is missing", ""));
        }
        let value = |index: usize| match parts.get(index).map(|part| part.trim()) {
            None | Some("") => Ok(None),
            Some(part) => one(self.part(part)).map(Some),
        };
        let read = value(0)?;
        let write = if parts.len() > 1 { value(1)? } else { read.clone() };
        let trim = if parts.len() > 2 { value(2)? } else { write.clone() };
        for (place, given) in [(&mut into.read, read), (&mut into.write, write), (&mut into.trim, trim)] {
            if let Some(given) = given {
                *place = given;
            }
        }
        Ok(())
    }

    /// Splits the leading number, decimal or `0x` hexadecimal, from its suffix in lower case.
    fn number(&self, expected: &str) -> Result<(u64, String), Problem> {
        let wrong = || Problem::new(format!("expected {expected}"), "");
        let text = self.text.to_ascii_lowercase();
        let (digits, radix) = match text.strip_prefix("0x") {
            Some(digits) => (digits, 16),
            None => (text.as_str(), 10),
        };
        let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
        let (digits, suffix) = digits.split_at(end);
        if digits.is_empty() {
            return Err(wrong());
        }
        let number = u64::from_str_radix(digits, radix).map_err(|_| too_large(u64::MAX))?;
        if suffix.starts_with(['.', ',', '-', ':']) {
            return Err(wrong());
        }
        Ok((number, suffix.to_string()))
    }

    fn byte_factor(&self, suffix: &str) -> Result<u64, Problem> {
        let other_base = if self.kb_base == 1024 { 1000 } else { 1024 };
        if suffix.is_empty() || suffix == "b" {
            return Ok(1);
        }
        let power = "kmgtp".find(&suffix[..suffix.chars().next().map_or(0, char::len_utf8)]);
        let base = match suffix.get(1..) {
            Some("" | "b" | "i") => Some(self.kb_base),
            Some("ib") => Some(other_base),
            _ => None,
        };
        match (power, base) {
            (Some(power), Some(base)) => Ok(u64::pow(base, power as u32 + 1)),
            _ => {
                Err(Problem::new(format!("'{suffix}' is not a unit"), "units are k, m, g, t and p, with or without b"))
            }
        }
    }
}

/// Nanoseconds of a unit of time.
fn time_factor(unit: &str) -> Result<u64, Problem> {
    match unit {
        "us" | "usec" => Ok(1_000),
        "ms" | "msec" => Ok(1_000_000),
        "s" | "sec" => Ok(1_000_000_000),
        "m" => Ok(60_000_000_000),
        "h" => Ok(3_600_000_000_000),
        "d" => Ok(86_400_000_000_000),
        _ => Err(Problem::new(format!("'{unit}' is not a unit of time"), "units are us, ms, s, m, h and d")),
    }
}

fn at_least(value: u64, least: u64) -> Result<u64, Problem> {
    if value < least { Err(Problem::new(format!("must be at least {least}"), "")) } else { Ok(value) }
}

fn too_large(most: u64) -> Problem {
    Problem::new(format!("too large: the most is {most}"), "")
}

#[cfg(test)]
mod test {
    use super::*;

    fn value(text: &str) -> Value<'_> {
        Value { text, kb_base: 1024 }
    }

    /// Sizes come out as fio 3.33's own parser reads them, with either base.
    #[test]
    fn sizes_as_fio_reads_them() {
        let golden = [
            ("4096", 4096, 4096),
            ("4096B", 4096, 4096),
            ("4k", 4096, 4000),
            ("4KB", 4096, 4000),
            ("4ki", 4096, 4000),
            ("4KiB", 4000, 4096),
            ("0x1000", 4096, 4096),
            ("1m", 1 << 20, 1_000_000),
            ("1gib", 1_000_000_000, 1 << 30),
            ("2t", 2 << 40, 2_000_000_000_000),
            ("(4*1k)", 4096, 4000),
            ("((1m+1)/2)", 524_288, 500_000),
        ];
        for (text, compatible, true_units) in golden {
            assert_eq!(value(text).bytes(0), Ok(compatible), "{text}");
            assert_eq!(Value { text, kb_base: 1000 }.bytes(0), Ok(true_units), "{text}");
        }
        for text in ["", "k", "4x", "1.5k", "4 k", "-1", "4kx", "(4*1024", "99999999999999999999"] {
            assert!(value(text).bytes(0).is_err(), "{text}");
        }
    }

    /// A time without unit takes the option's own unit; others are fio's.
    #[test]
    fn times_have_units() {
        assert_eq!(value("10").time(DefaultUnit::Seconds), Ok(Nanos(10_000_000_000)));
        assert_eq!(value("10").time(DefaultUnit::Microseconds), Ok(Nanos(10_000)));
        assert_eq!(value("1m").time(DefaultUnit::Microseconds), Ok(Nanos(60_000_000_000)));
        assert_eq!(value("500ms").time(DefaultUnit::Seconds), Ok(Nanos(500_000_000)));
        assert_eq!(value("(2*30)").time(DefaultUnit::Seconds), Ok(Nanos(60_000_000_000)));
        assert_eq!(value("(2*30s)").time(DefaultUnit::Microseconds), Ok(Nanos(60_000_000_000)));
        assert!(value("5x").time(DefaultUnit::Seconds).is_err());
    }

    /// Commas give reads, writes, trims; what is left out follows fio: trims the writes, blanks stay.
    #[test]
    fn directions_are_split_at_commas() {
        let read = |text| {
            let mut sizes = PerDirection { read: 1, write: 2, trim: 3 };
            value(text).per_direction(&mut sizes, |v| v.bytes(0)).map(|()| sizes)
        };
        assert_eq!(read("4"), Ok(PerDirection { read: 4, write: 4, trim: 4 }));
        assert_eq!(read("4,5"), Ok(PerDirection { read: 4, write: 5, trim: 5 }));
        assert_eq!(read(",5"), Ok(PerDirection { read: 1, write: 5, trim: 5 }));
        assert_eq!(read("4,"), Ok(PerDirection { read: 4, write: 2, trim: 3 }));
        assert_eq!(read("4,5,6"), Ok(PerDirection { read: 4, write: 5, trim: 6 }));
        assert!(read("1,2,3,4").is_err() && read(",").is_err());
    }
}
