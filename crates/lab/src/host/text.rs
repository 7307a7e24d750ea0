//! Layers as people write them: one linear list, bottom up, on the command line or in a file.
//!
//! ```text
//! --layer partition:start_sector=63 --layer crypt:mb_per_s=145,cores=2
//! ```
//! ```toml
//! drive = "intel-dc-s3500-80gb"
//! [set]
//! capacity_bytes = "8 GiB"
//! [[layer]]
//! kind = "partition"
//! start_sector = 63
//! ```
//! Here only the writing is understood; what a kind of layer is and which keys it has, the registry knows.

use ssdlab_device::parameter::Raw;
use ssdlab_device::profile::{line_of, parse_setting, raw};
use std::fmt;
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// What is wrong with a stack, and where.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{place}: {message}")]
pub struct StackError {
    /// File and line, or the option.
    pub place: String,
    /// What is wrong and the remedy.
    pub message: String,
}

impl StackError {
    /// An error at a place.
    pub fn new(place: impl fmt::Display, message: impl Into<String>) -> StackError {
        StackError { place: place.to_string(), message: message.into() }
    }
}

/// A value that was given, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The key, without the kind of the layer.
    pub key: String,
    /// The value as written.
    pub raw: Raw,
    /// File and line, or the option.
    pub place: String,
}

/// A layer as written.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerText {
    /// Name of its kind.
    pub kind: String,
    /// File and line, or the option.
    pub place: String,
    /// What was given for it.
    pub given: Vec<Given>,
}

/// A stack as written in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct StackText {
    /// The drive at the bottom.
    pub drive: String,
    /// Settings over its parameters.
    pub settings: Vec<(String, String)>,
    /// The layers, bottom up.
    pub layers: Vec<LayerText>,
}

impl LayerText {
    /// A layer of the command line: `kind` or `kind:key=value,key=value`.
    ///
    /// # Errors
    /// What is not `key=value`.
    pub fn parse(text: &str) -> Result<LayerText, StackError> {
        let place = format!("--layer {text}");
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let mut given: Vec<Given> = Vec::new();
        for pair in split_at_commas(rest) {
            let Some((key, value)) = pair.split_once('=').filter(|(key, _)| !key.trim().is_empty()) else {
                let message = format!("\"{pair}\": expected KEY=VALUE; write {kind}:KEY=VALUE,KEY=VALUE");
                return Err(StackError::new(place, message));
            };
            let key = key.trim().to_string();
            if given.iter().any(|earlier| earlier.key == key) {
                return Err(StackError::new(place, format!("{key} is given twice; give it once")));
            }
            given.push(Given { key, raw: parse_setting(value.trim()), place: place.clone() });
        }
        Ok(LayerText { kind: kind.trim().to_string(), place, given })
    }
}

/// Parts between commas that stand in no list.
fn split_at_commas(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (at, character) in text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

impl StackText {
    /// A text that names a drive or layers is a stack; anything else may be a profile.
    pub fn is_stack(text: &str) -> bool {
        let table = DeTable::parse(text);
        table.is_ok_and(|table| table.get_ref().keys().any(|key| ["drive", "layer"].contains(&key.get_ref().as_ref())))
    }

    /// Reads a stack's file.
    ///
    /// # Errors
    /// [`StackError`] with file and line.
    pub fn parse(file: &str, text: &str) -> Result<StackText, StackError> {
        let reader = Reader { file, text };
        let table = DeTable::parse(text).map_err(|error| {
            let place = error.span().map_or_else(|| file.to_string(), |span| reader.place(span.start));
            StackError::new(place, error.message())
        })?;
        let (mut drive, mut settings, mut layers) = (None, Vec::new(), Vec::new());
        for (key, value) in table.get_ref() {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("drive", DeValue::String(name)) => drive = Some(name.to_string()),
                ("set", DeValue::Table(table)) => reader.settings("", table, &mut settings)?,
                ("layer", DeValue::Array(tables)) => layers = reader.layers(tables)?,
                (key @ ("drive" | "set" | "layer"), _) => {
                    let expected = "write drive = \"NAME\", [set] and [[layer]]";
                    return Err(reader.error(value, format!("{key}: {expected}")));
                }
                (other, _) => {
                    return Err(reader
                        .error(value, format!("there is no \"{other}\" in a stack; there are drive, set and layer")));
                }
            }
        }
        let Some(drive) = drive else {
            return Err(StackError::new(file, "a stack without a drive; begin with drive = \"NAME\""));
        };
        Ok(StackText { drive, settings, layers })
    }
}

/// A file's text, for places.
struct Reader<'a> {
    file: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    fn place(&self, offset: usize) -> String {
        format!("{}, line {}", self.file, line_of(self.text, offset))
    }

    fn error(&self, value: &Spanned<DeValue>, message: impl Into<String>) -> StackError {
        StackError::new(self.place(value.span().start), message)
    }

    fn value(&self, key: &str, value: &Spanned<DeValue>) -> Result<Raw, StackError> {
        raw(value.get_ref())
            .ok_or_else(|| self.error(value, format!("{key}: expected a number, a text, true, false or a list")))
    }

    /// Settings with their dotted keys, whether written as such or as tables.
    fn settings(&self, before: &str, table: &DeTable, found: &mut Vec<(String, String)>) -> Result<(), StackError> {
        for (key, value) in table {
            let key = format!("{before}{}", key.get_ref());
            match value.get_ref() {
                DeValue::Table(table) => self.settings(&format!("{key}."), table, found)?,
                _ => found.push((key.clone(), self.value(&key, value)?.to_string())),
            }
        }
        Ok(())
    }

    fn layers(&self, tables: &DeArray) -> Result<Vec<LayerText>, StackError> {
        tables.iter().map(|table| self.layer(table)).collect()
    }

    fn layer(&self, layer: &Spanned<DeValue>) -> Result<LayerText, StackError> {
        let DeValue::Table(table) = layer.get_ref() else {
            return Err(self.error(layer, "a layer is a table; write [[layer]] and below it kind = \"…\""));
        };
        let place = self.place(layer.span().start);
        let mut text = LayerText { kind: String::new(), place, given: Vec::new() };
        for (key, value) in table {
            let key = key.get_ref().to_string();
            match (key.as_str(), self.value(&key, value)?) {
                ("kind", Raw::Text(kind)) => text.kind = kind,
                ("kind", _) => return Err(self.error(value, "kind: expected a layer's name in quotes")),
                (_, raw) => text.given.push(Given { key, raw, place: self.place(value.span().start) }),
            }
        }
        if text.kind.is_empty() {
            return Err(self.error(layer, "a layer without a kind; write kind = \"…\""));
        }
        Ok(text)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// A layer of the command line has the same keys and values as one of a file.
    #[test]
    fn both_writings_say_the_same() {
        let line = LayerText::parse("raid:level=5,chunk_bytes=64 KiB,degraded=[0,2]").unwrap();
        let text = "drive = \"theory\"\n[set]\nftl.gc = \"fifo\"\n\"nand.planes\" = 2\n\
                    [[layer]]\nkind = \"raid\"\nlevel = 5\nchunk_bytes = \"64 KiB\"\ndegraded = [0, 2]\n";
        let file = StackText::parse("host.toml", text).unwrap();
        let values = |layer: &LayerText| -> Vec<(String, Raw)> {
            let mut values: Vec<_> = layer.given.iter().map(|given| (given.key.clone(), given.raw.clone())).collect();
            values.sort_by(|a, b| a.0.cmp(&b.0));
            values
        };
        assert_eq!(file.drive, "theory");
        let pair = |key: &str, value: &str| (key.to_string(), value.to_string());
        assert_eq!(file.settings, [pair("ftl.gc", "\"fifo\""), pair("nand.planes", "2")]);
        assert_eq!(values(&file.layers[0]), values(&line));
        assert_eq!(line.given.len(), 3);
        assert_eq!(file.layers[0].given.iter().find(|given| given.key == "level").unwrap().place, "host.toml, line 7");
    }

    /// What cannot be understood is named with its place and a remedy.
    #[test]
    fn errors_name_the_place() {
        let line = |text: &str| LayerText::parse(text).unwrap_err().to_string();
        assert!(line("crypt:cores").contains("--layer crypt:cores: \"cores\": expected KEY=VALUE"));
        assert!(line("crypt:cores=1,cores=2").contains("given twice"));
        let file = |text: &str| StackText::parse("host.toml", text).unwrap_err().to_string();
        assert!(file("[[layer]]\nkind = \"crypt\"\n").contains("begin with drive"));
        assert!(
            file("drive = \"theory\"\n[[layer]]\ncores = 2\n").starts_with("host.toml, line 2: a layer without a kind")
        );
        assert!(file("drive = \"theory\"\nlayers = 3\n").contains("there is no \"layers\" in a stack"));
        assert!(file("drive = \n").starts_with("host.toml, line 1"));
    }

    /// A profile is not taken for a stack.
    #[test]
    fn a_profile_is_no_stack() {
        assert!(!StackText::is_stack(ssdlab_device::profile::built_in("theory").unwrap()));
        assert!(StackText::is_stack("drive = \"theory\"\n"));
    }
}
