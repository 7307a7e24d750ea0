//! Values with kind and source, as system and scenario files write them:
//! `{ value = …, kind = "…", source = "…" }`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use ssdlab_device::parameter::{Bytes, Declaration, Problem, Raw, Source, Value};
use std::collections::BTreeMap;
use thiserror::Error;

/// What is wrong with a system, a scenario or a setting, or what went wrong while it ran.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{place}: {message}")]
pub struct ScenarioError {
    /// File, setting or step.
    pub place: String,
    /// What is wrong and the remedy.
    pub message: String,
}

impl ScenarioError {
    /// An error at a place.
    pub fn new(place: &str, message: impl Into<String>) -> ScenarioError {
        ScenarioError { place: place.to_string(), message: message.into() }
    }
}

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A vendor's own figure.
    Datasheet,
    /// Measured by a document's author.
    Measured,
    /// Said in public.
    Published,
    /// Chosen here.
    Assumed,
    /// Chosen so that a figure comes out.
    Fitted,
    /// Given by the user.
    Set,
}

/// A value with its source.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// What kind of source.
    pub kind: Kind,
    /// Who says so.
    pub source: String,
}

/// A number of bytes: a whole number, or a text such as "16 KiB".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Size, D::Error> {
        let value = toml::Value::deserialize(deserializer)?;
        let bytes = raw(&value).and_then(|raw| Bytes::read(&raw));
        bytes.map(|bytes| Size(bytes.0)).ok_or_else(|| D::Error::custom(format!("expected {}", Bytes::EXPECTS)))
    }
}

/// A table of parameters by dotted key, from which sections are read.
#[derive(Clone, Debug, Default)]
pub struct Entries(pub BTreeMap<String, Sourced<toml::Value>>);

impl Source for Entries {
    fn get(&mut self, declaration: &Declaration) -> Result<Raw, Problem> {
        let Some(entry) = self.0.get(declaration.key) else {
            let message = format!("is missing; expected {}", declaration.expects);
            return Err(Problem::new(declaration.key, "", message));
        };
        raw(&entry.value)
            .ok_or_else(|| Problem::new(declaration.key, &entry.value, format!("expected {}", declaration.expects)))
    }
}

fn raw(value: &toml::Value) -> Option<Raw> {
    Some(match value {
        toml::Value::String(text) => Raw::Text(text.clone()),
        toml::Value::Integer(number) => Raw::Integer(*number),
        toml::Value::Float(number) => Raw::Float(*number),
        toml::Value::Boolean(flag) => Raw::Flag(*flag),
        _ => return None,
    })
}

/// Puts a setting over a value of a file: the dotted key leads to `{ value = … }` or to a plain value.
///
/// # Errors
/// A key that leads nowhere, with what is there.
pub fn set(table: &mut toml::Table, key: &str, text: &str) -> Result<(), ScenarioError> {
    let place = format!("{key}={text}");
    let value = toml::from_str::<toml::Table>(&format!("value = {text}"))
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| toml::Value::String(text.to_string()));
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let known: Vec<String> = table.keys().cloned().collect();
    let Some(found) = table.get_mut(first) else {
        let message = format!("there is no \"{first}\"; here are {}", known.join(", "));
        return Err(ScenarioError::new(&place, message));
    };
    match put(found, rest, &value) {
        true => Ok(()),
        false => {
            Err(ScenarioError::new(&place, format!("{first} has no such part; name a value, such as files.SET.count")))
        }
    }
}

/// Replaces the value that a dotted key leads to; false where it leads nowhere.
fn put(at: &mut toml::Value, key: Option<&str>, value: &toml::Value) -> bool {
    match (at, key) {
        (toml::Value::Table(inner), None) if inner.contains_key("value") => {
            let given = [("value", value.clone()), ("kind", "set".into()), ("source", "given by the user".into())];
            given.into_iter().for_each(|(name, value)| drop(inner.insert(name.to_string(), value)));
            true
        }
        (toml::Value::Table(_) | toml::Value::Array(_), None) => false,
        (plain, None) => {
            *plain = value.clone();
            true
        }
        (outer, Some(key)) => {
            let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
            let next = match outer {
                toml::Value::Table(inner) => inner.get_mut(first),
                toml::Value::Array(items) => first.parse().ok().and_then(|index: usize| items.get_mut(index)),
                _ => None,
            };
            next.is_some_and(|next| put(next, rest, value))
        }
    }
}
