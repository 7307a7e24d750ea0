//! Arithmetic in the values of fio options: `(4*1024)`, `(1m+64k)/2` with the option's own units.
//!
//! As in fio: `+ - * / % ^`, signs, parentheses, numbers with a unit. Computed in 64-bit reals.

use crate::workload::error::Problem;

/// Parentheses within each other; more is no honest job.
const MOST_DEPTH: u32 = 32;

/// The value of an expression; `unit` gives the factor of a unit's name.
pub fn evaluate(text: &str, unit: &dyn Fn(&str) -> Result<u64, Problem>) -> Result<f64, Problem> {
    let mut reader = Reader { text, rest: text, unit, depth: 0 };
    let value = reader.sum()?;
    if !reader.rest.trim().is_empty() {
        return Err(reader.wrong());
    }
    if value.is_finite() { Ok(value) } else { Err(Problem::new("the expression has no finite value", "")) }
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    unit: &'a dyn Fn(&str) -> Result<u64, Problem>,
    depth: u32,
}

impl Reader<'_> {
    fn sum(&mut self) -> Result<f64, Problem> {
        let mut value = self.product()?;
        while let Some(sign) = self.take(&['+', '-']) {
            let other = self.product()?;
            value = if sign == '+' { value + other } else { value - other };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, Problem> {
        let mut value = self.power()?;
        while let Some(sign) = self.take(&['*', '/', '%']) {
            let other = self.power()?;
            value = match sign {
                '*' => value * other,
                '/' => value / other,
                _ => value % other,
            };
        }
        Ok(value)
    }

    fn power(&mut self) -> Result<f64, Problem> {
        let base = self.term()?;
        match self.take(&['^']) {
            None => Ok(base),
            Some(_) => Ok(libm::pow(base, self.nested(Reader::power)?)),
        }
    }

    fn term(&mut self) -> Result<f64, Problem> {
        if self.take(&['-']).is_some() {
            return Ok(-self.nested(Reader::term)?);
        }
        if self.take(&['(']).is_none() {
            return self.number();
        }
        let value = self.nested(Reader::sum)?;
        if self.take(&[')']).is_some() { Ok(value) } else { Err(self.wrong()) }
    }

    fn nested(&mut self, inner: fn(&mut Self) -> Result<f64, Problem>) -> Result<f64, Problem> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err(Problem::new("the expression is nested too deeply", ""));
        }
        let value = inner(self);
        self.depth -= 1;
        value
    }

    fn number(&mut self) -> Result<f64, Problem> {
        let digits = self.word(|c| c.is_ascii_digit() || c == '.');
        let number: f64 = digits.parse().map_err(|_| self.wrong())?;
        let name = self.word(|c| c.is_ascii_alphabetic()).to_ascii_lowercase();
        if name.is_empty() { Ok(number) } else { Ok(number * (self.unit)(&name)? as f64) }
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &str {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn take(&mut self, signs: &[char]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let sign = self.rest.chars().next().filter(|sign| signs.contains(sign))?;
        self.rest = &self.rest[sign.len_utf8()..];
        Some(sign)
    }

    fn wrong(&self) -> Problem {
        let place = self.text.len() - self.rest.len() + 1;
        Problem::new(format!("'{}' is no expression from its character {place} on", self.text), "write it as (4*1024)")
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn value(text: &str) -> Result<f64, Problem> {
        evaluate(text, &|unit| if unit == "k" { Ok(1024) } else { Err(Problem::new("no unit", "")) })
    }

    /// Products come before sums, powers before both, and units belong to their number.
    #[test]
    fn the_usual_order() {
        for (text, expected) in
            [("(1+2*3)", 7.0), ("2^3^1*2", 16.0), ("(4k + 2) / 2", 2049.0), ("-(3-5)", 2.0), ("7 % 4", 3.0)]
        {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    /// What is no expression is an error, however deep.
    #[test]
    fn nonsense_is_refused() {
        let deep = "(".repeat(100_000);
        let minus = "-".repeat(100_000);
        for text in
            ["", "(", "(1", "1)", "1+", "1 2", "4q", "1/0", deep.as_str(), minus.as_str(), "1^".repeat(9999).as_str()]
        {
            assert!(value(text).is_err());
        }
    }
}
