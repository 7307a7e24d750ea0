//! Fields of JSON objects, for all that put some together.

use serde_json::{Map, Value};

/// The fields of a `json!({…})`.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
