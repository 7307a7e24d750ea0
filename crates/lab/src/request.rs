//! What a run is asked for, strictly from JSON: an option is a field here, one in Python
//! (`ssdlab/engine/request.py`), and one on the command line.
//!
//! Defaults are Python's: only an optional field may be null or left out. What is no field is refused,
//! and so is a value of another type, by name.

use crate::condition::Condition;
use crate::scale::DriveScale;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use ssdlab_device::parameter::{Raw, Value as _};
use ssdlab_device::profile::built_in;
use ssdlab_device::ssd::admin::StartOver;
use thiserror::Error;

/// Signs of a wrong value that are told.
const SIGNS_TOLD: usize = 60;

/// What is run, on what, in which condition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// A profile's name, a profile or a stack (TOML), or a drive file.
    pub drive: String,
    /// Dotted keys and values that differ from the profile.
    pub settings: Vec<(String, String)>,
    /// A smaller drive is taken in place of the profile's.
    pub scale: Option<DriveScale>,
    /// What lies over the drive, bottom up.
    pub layers: Vec<String>,
    /// The drive is started over first.
    #[serde(default, deserialize_with = "way_named")]
    pub start_over: Option<StartOver>,
    /// The drive is then preconditioned to it; none leaves the drive as it is.
    pub condition: Option<Condition>,
    /// Share of the exported range that preconditioning uses.
    pub span: f64,
    /// The whole drive is preconditioned, even where a scale model can be used.
    pub exact: bool,
    /// The one source of chance.
    pub seed: u64,
    /// The text of a fio job file; none where the flags alone make the job.
    pub job_text: Option<String>,
    /// Where the text came from, for messages.
    pub job_name: String,
    /// fio options, each as `--name=value` or `--name`.
    pub flags: Vec<String>,
    /// A read job on a fresh drive first writes what it will read.
    pub layout: bool,
    /// Start and length, in nanoseconds, of the stretch whose single operations are recorded.
    pub timeline: Option<(u64, u64)>,
    /// The result keeps the latency histograms.
    pub json_plus: bool,
    /// Where the drive is kept afterwards.
    pub save: Option<String>,
    /// A file that appears there meanwhile is not replaced.
    pub must_be_new: bool,
}

/// Why a request is none.
#[derive(Debug, Error, PartialEq)]
pub enum RequestError {
    /// One field.
    #[error("{field} {value}: {reason}")]
    Field {
        /// Its name.
        field: String,
        /// What was given, as JSON, cut where it is long.
        value: String,
        /// What is wrong, and what is expected.
        reason: String,
    },
    /// All of it: no JSON, or a field is missing or there twice.
    #[error("the request cannot be read: {0}")]
    Whole(String),
}

impl RunRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// The first field that is unknown, missing or of another type.
    pub fn from_json(text: &str) -> Result<RunRequest, RequestError> {
        let request: RunRequest = serde_json::from_str(text).map_err(|error| {
            let given: Option<Map<String, Value>> = serde_json::from_str(text).ok();
            let wrong = given.and_then(|given| given.into_iter().find_map(wrong_field));
            wrong.unwrap_or_else(|| RequestError::Whole(error.to_string()))
        })?;
        request.check_save()?;
        Ok(request)
    }

    /// A drive file that is called like a profile would never be opened: its name means the profile.
    fn check_save(&self) -> Result<(), RequestError> {
        match &self.save {
            Some(place) if built_in(place).is_some() => Err(RequestError::Field {
                field: "drive file".into(),
                value: place.clone(),
                reason: format!("is the name of a profile, which would be opened in its place; name it {place}.ssd"),
            }),
            _ => Ok(()),
        }
    }
}

/// What is wrong with a field, found by putting it into a request that is right: serde does not tell where.
fn wrong_field((field, value): (String, Value)) -> Option<RequestError> {
    let mut request = serde_json::to_value(RunRequest::default()).expect("has a form in JSON");
    let text = value.to_string();
    request[&field] = value;
    let reason = serde_json::from_value::<RunRequest>(request).err()?.to_string();
    let cut = text.chars().count() > SIGNS_TOLD;
    let value = if cut { text.chars().take(SIGNS_TOLD).chain(['…']).collect() } else { text };
    Some(RequestError::Field { field, value, reason })
}

fn way_named<'de, D: Deserializer<'de>>(from: D) -> Result<Option<StartOver>, D::Error> {
    let Some(name) = Option::<String>::deserialize(from)? else { return Ok(None) };
    let way = StartOver::read(&Raw::Text(name));
    way.map(Some).ok_or_else(|| D::Error::custom(format!("expected {}", StartOver::EXPECTS)))
}

#[cfg(test)]
mod test {
    use super::*;
    use serde_json::json;

    /// A request with every field, some of them replaced.
    fn read(changes: &[(&str, Value)]) -> Result<RunRequest, RequestError> {
        let mut given = serde_json::to_value(RunRequest::default()).unwrap();
        changes.iter().for_each(|(field, value)| given[*field] = value.clone());
        RunRequest::from_json(&given.to_string())
    }

    /// Names become what they name; an optional field may be null.
    #[test]
    fn fields_are_read() {
        let request = read(&[
            ("drive", json!("theory")),
            ("settings", json!([["ftl.gc", "fifo"]])),
            ("scale", json!("dies:4,whole-link")),
            ("start_over", json!("crypto-erase")),
            ("condition", json!("steady")),
            ("timeline", json!([5, 7])),
        ]);
        let expected = RunRequest {
            drive: "theory".into(),
            settings: vec![("ftl.gc".into(), "fifo".into())],
            scale: Some(DriveScale::Dies { parts: 4, whole_link: true }),
            start_over: Some(StartOver::CryptoErase),
            condition: Some(Condition::SteadyUniform),
            timeline: Some((5, 7)),
            ..RunRequest::default()
        };
        assert_eq!(request, Ok(expected));
    }

    /// A number arrives to its last digit: 1 − 0.07 as Python writes it is not 0.93.
    #[test]
    fn numbers_keep_their_last_digit() {
        assert_eq!(read(&[("span", json!(1.0 - 0.07))]).unwrap().span.to_bits(), (1.0f64 - 0.07).to_bits());
        assert_ne!((1.0f64 - 0.07).to_bits(), 0.93f64.to_bits());
    }

    /// What is wrong is said with the field, its value and what is expected.
    #[test]
    fn errors_name_field_and_value() {
        let cases = [
            ("spann", json!(0.5), "spann 0.5: unknown field `spann`, expected one of `drive`, `settings`"),
            ("span", json!("half"), "span \"half\": invalid type: string \"half\", expected f64"),
            ("seed", json!(-1), "seed -1: invalid value: integer `-1`, expected u64"),
            ("condition", json!("stedy"), "condition \"stedy\": unknown variant `stedy`, expected one of `fresh`"),
            ("start_over", json!("format"), "start_over \"format\": expected one of \"secure-erase\""),
            ("scale", json!("half"), "scale \"half\": expected blocks:N (at most N blocks per die), dies:N"),
            ("settings", json!([["ftl.gc"]]), "settings [[\"ftl.gc\"]]: invalid length 1"),
            ("save", json!("theory"), "drive file theory: is the name of a profile"),
            ("drive", json!(vec![0; 99]), "drive [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0…: "),
        ];
        for (field, value, message) in cases {
            let told = read(&[(field, value)]).unwrap_err().to_string();
            assert!(told.starts_with(message), "{told}");
        }
    }

    /// What may be null may be left out.
    #[test]
    fn optional_fields_may_be_left_out() {
        let mut given = serde_json::to_value(RunRequest::default()).unwrap();
        given.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        assert_eq!(RunRequest::from_json(&given.to_string()), Ok(RunRequest::default()));
    }

    /// A field that is left out or stands twice is refused, and so is what is no JSON.
    #[test]
    fn a_request_is_whole() {
        let whole = serde_json::to_string(&RunRequest::default()).unwrap();
        let cases = [
            (whole.replace("\"seed\":0,", ""), "missing field `seed`"),
            (whole.replace("\"seed\":0", "\"seed\":0,\"seed\":1"), "duplicate field `seed`"),
            ("{".to_string(), "EOF while parsing"),
        ];
        for (text, message) in cases {
            let told = RunRequest::from_json(&text).unwrap_err().to_string();
            assert!(told.starts_with(&format!("the request cannot be read: {message}")), "{told}");
        }
    }
}
