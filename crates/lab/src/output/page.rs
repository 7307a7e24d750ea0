//! A page of text, and how a field of the JSON is read for it.

use serde_json::Value;
use std::fmt::{Arguments, Write};

/// Text under construction; writing to a string cannot fail.
pub struct Page(pub String);

impl Page {
    /// Adds a line.
    pub fn line(&mut self, text: Arguments<'_>) {
        self.0.write_fmt(text).expect("writing to a string does not fail");
        self.0.push('\n');
    }
}

/// A string, empty where there is none.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A number, 0 where there is none.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

/// A whole number; a fraction is cut off, as fio does.
pub fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| number(value) as u64)
}
