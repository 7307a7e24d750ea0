//! A JSON text read without some of its fields, wherever they stand, so that they take no memory.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// Reads `text` and leaves out fields of these names.
///
/// # Errors
/// It is not JSON.
pub fn read_without(text: &str, names: &[&str]) -> serde_json::Result<Value> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Without(names).deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Names of what is left out.
#[derive(Clone, Copy)]
struct Without<'a>(&'a [&'a str]);

impl<'de> DeserializeSeed<'de> for Without<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Without<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if self.0.contains(&name.as_str()) {
                entries.next_value::<IgnoredAny>()?;
            } else {
                fields.insert(name, entries.next_value_seed(self)?);
            }
        }
        Ok(Value::Object(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = entries.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use serde_json::json;

    /// What is named is gone at every depth, the rest is as it was, and what is no JSON is an error.
    #[test]
    fn named_fields_are_gone() {
        let text = r#"{"a": {"bins": {"x": 1}, "b": [1, -2, 2.5, null, true, {"bins": 3, "c": "d"}]}, "bins": []}"#;
        let wanted = json!({ "a": { "b": [1, -2, 2.5, null, true, { "c": "d" }] } });
        assert_eq!(read_without(text, &["bins"]).unwrap(), wanted);
        assert_eq!(read_without(text, &[]).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        assert!(read_without("{\"a\": 1} x", &[]).is_err() && read_without("", &[]).is_err());
    }
}
