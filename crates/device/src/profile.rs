//! Profiles: a drive as one TOML file in which every number has a kind and a source.
//!
//! ```toml
//! title = "Example 80 GB"
//! summary = "one line for the list of drives"
//! capacity_bytes = { value = "80 GB", kind = "datasheet", source = "product brief" }
//!
//! [nand]
//! read_us = { value = 50, kind = "assumed", source = "typical 20 nm MLC" }
//! ```
//!
//! A profile with a table `[hdd]` is a hard disk, any other a solid-state drive.
//!
//! Kinds: `datasheet`, `measured`, `published`, `assumed`, `fitted`; what is given on the command
//! line is `set`. Reading is strict: an unknown key or kind is an error that names the place.

use crate::config::DriveConfig;
use crate::config::hdd::HddConfig;
use crate::parameter::{Declaration, Problem, Raw, Source};
use std::collections::BTreeMap;
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Kinds of provenance that a profile may state.
pub const KINDS: [&str; 5] = ["datasheet", "measured", "published", "assumed", "fitted"];

include!(concat!(env!("OUT_DIR"), "/profiles.rs"));

/// A parameter's value and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The value as written.
    pub raw: Raw,
    /// `datasheet`, `measured`, `published`, `assumed`, `fitted` or `set`.
    pub kind: String,
    /// Who says so.
    pub source: String,
    /// Line in the profile; 0 for settings.
    pub line: usize,
}

/// A drive fresh out of the box.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Short name, such as `intel-dc-s3500-80gb`.
    pub name: String,
    /// Where it was read from, for messages.
    pub file: String,
    /// Full name.
    pub title: String,
    /// One line.
    pub summary: String,
    /// What was given, by dotted key.
    pub entries: BTreeMap<String, Entry>,
    /// The parameters, checked.
    pub model: Model,
}

/// What a profile describes.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// A solid-state drive.
    Ssd(Box<DriveConfig>),
    /// A hard disk.
    Hdd(HddConfig),
}

impl Model {
    /// Key and text of every parameter.
    pub fn show(&self) -> Vec<(&'static str, String)> {
        match self {
            Model::Ssd(config) => config.show(),
            Model::Hdd(config) => config.show(),
        }
    }

    /// Every parameter, in the order of [`show`](Model::show).
    pub fn declarations(&self) -> Vec<&'static Declaration> {
        declarations(matches!(self, Model::Hdd(_)))
    }

    /// Exported bytes.
    pub fn capacity_bytes(&self) -> u64 {
        match self {
            Model::Ssd(config) => config.export.capacity_bytes.0,
            Model::Hdd(config) => config.export.capacity_bytes.0,
        }
    }
}

fn declarations(is_hdd: bool) -> Vec<&'static Declaration> {
    if is_hdd { HddConfig::declarations().collect() } else { DriveConfig::declarations().collect() }
}

/// What is wrong with a profile or a setting, and where.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{place}: {message}")]
pub struct ProfileError {
    /// File and line, or the setting.
    pub place: String,
    /// What is wrong and the remedy.
    pub message: String,
}

/// The names of the profiles that come with ssdlab.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// The text of a profile that comes with ssdlab.
pub fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Up to three known names that are nearest to a mistyped one.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut ranked: Vec<(f64, &str)> = known
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(score, _)| *score > 0.7)
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

impl Profile {
    /// Reads a profile and puts settings (`KEY=VALUE` of the command line) over it.
    ///
    /// # Errors
    /// [`ProfileError`] with file, line, key, value and what is allowed.
    pub fn read(name: &str, file: &str, text: &str, settings: &[(String, String)]) -> Result<Profile, ProfileError> {
        let mut profile_text = Text::parse(file, text)?;
        for (key, value) in settings {
            profile_text.set(key, value)?;
        }
        let model = match profile_text.is_hdd {
            true => HddConfig::read(&mut profile_text).map(Model::Hdd),
            false => DriveConfig::read(&mut profile_text).map(|config| Model::Ssd(Box::new(config))),
        };
        let model = model.and_then(without_code(&profile_text.entries));
        let model = model.map_err(|problem| locate(file, &profile_text.entries, &problem))?;
        let Text { file, title, summary, entries, .. } = profile_text;
        Ok(Profile { name: name.to_string(), file, title, summary, entries, model })
    }

    /// The parameters of a solid-state drive.
    ///
    /// # Errors
    /// The profile is that of a hard disk.
    pub fn ssd(&self) -> Result<&DriveConfig, ProfileError> {
        match &self.model {
            Model::Ssd(config) => Ok(config),
            Model::Hdd(_) => {
                let message = "is a hard disk; name a solid-state drive: `ssdlab drives` lists them".to_string();
                Err(ProfileError { place: self.file.clone(), message })
            }
        }
    }

    /// A problem that shows only when the drive is made, with its place.
    pub fn locate(&self, problem: &Problem) -> ProfileError {
        locate(&self.file, &self.entries, problem)
    }

    /// Kind and source of a parameter; what is not given is an assumed default.
    pub fn provenance(&self, key: &str) -> (&str, &str) {
        self.entries.get(key).map_or(("assumed", "default"), |entry| (entry.kind.as_str(), entry.source.as_str()))
    }
}

/// A profile's entries while they are read.
struct Text {
    file: String,
    title: String,
    summary: String,
    is_hdd: bool,
    entries: BTreeMap<String, Entry>,
}

impl Source for Text {
    fn get(&mut self, declaration: &Declaration) -> Result<Raw, Problem> {
        if let Some(entry) = self.entries.get(declaration.key) {
            return Ok(entry.raw.clone());
        }
        let Some(default) = declaration.default else {
            let message = format!("is missing; expected {}", declaration.expects);
            return Err(Problem::new(declaration.key, "", message));
        };
        Ok(parse_setting(default))
    }
}

impl Text {
    fn parse(file: &str, text: &str) -> Result<Text, ProfileError> {
        let table = DeTable::parse(text).map_err(|error| ProfileError {
            place: error.span().map_or_else(|| file.to_string(), |span| place(file, line_of(text, span.start))),
            message: error.message().to_string(),
        })?;
        let mut profile = Text {
            file: file.to_string(),
            title: String::new(),
            summary: String::new(),
            is_hdd: table.get_ref().contains_key("hdd"),
            entries: BTreeMap::new(),
        };
        for (key, value) in table.get_ref() {
            profile.take(text, key.get_ref(), value)?;
        }
        Ok(profile)
    }

    /// Takes one top-level key: metadata, a parameter, or a section of parameters.
    fn take(&mut self, text: &str, key: &str, value: &Spanned<DeValue>) -> Result<(), ProfileError> {
        let line = line_of(text, value.span().start);
        match (key, value.get_ref()) {
            ("title", DeValue::String(title)) => self.title = title.to_string(),
            ("summary", DeValue::String(summary)) => self.summary = summary.to_string(),
            (_, DeValue::Table(table)) if !table.iter().any(|(name, _)| name.get_ref() == "value") => {
                let within = format!("{key}.");
                let is_known = |declared: &&Declaration| declared.key.starts_with(&within);
                if table.is_empty() && !declarations(self.is_hdd).iter().any(is_known) {
                    let message = format!("there is no section \"{key}\"; `ssdlab show` lists those that there are");
                    return Err(ProfileError { place: place(&self.file, line), message });
                }
                for (name, value) in table {
                    self.take_parameter(text, &format!("{key}.{}", name.get_ref()), value)?;
                }
            }
            _ => {
                return self
                    .take_parameter(text, key, value)
                    .map_err(|error| ProfileError { place: place(&self.file, line), ..error });
            }
        }
        Ok(())
    }

    fn take_parameter(&mut self, text: &str, key: &str, value: &Spanned<DeValue>) -> Result<(), ProfileError> {
        let line = line_of(text, value.span().start);
        let fail = |message: String| ProfileError { place: place(&self.file, line), message };
        known_key(key, self.is_hdd).map_err(&fail)?;
        let DeValue::Table(table) = value.get_ref() else {
            return Err(fail(format!(
                "{key}: write {{ value = …, kind = \"…\", source = \"…\" }}: every number has a source"
            )));
        };
        let mut entry = Entry { raw: Raw::Flag(false), kind: String::new(), source: String::new(), line };
        let mut has_value = false;
        for (name, value) in table {
            match (name.get_ref().as_ref(), raw(value.get_ref())) {
                ("value", Some(given)) => {
                    entry.raw = given;
                    has_value = true;
                }
                ("kind", Some(Raw::Text(kind))) if KINDS.contains(&kind.as_str()) => entry.kind = kind,
                ("source", Some(Raw::Text(source))) => entry.source = source,
                ("kind", _) => return Err(fail(format!("{key}: kind must be one of {}", KINDS.join(", ")))),
                (other, _) => {
                    return Err(fail(format!(
                        "{key}: unknown or unreadable \"{other}\"; it must be value, kind or source"
                    )));
                }
            }
        }
        if !has_value || entry.kind.is_empty() || entry.source.is_empty() {
            return Err(fail(format!("{key}: value, kind and source are all needed")));
        }
        self.entries.insert(key.to_string(), entry);
        Ok(())
    }

    /// Puts a setting of the command line over the profile. Physical size and over-provisioning
    /// say the same, so that setting one takes back the other.
    fn set(&mut self, key: &str, value: &str) -> Result<(), ProfileError> {
        known_key(key, self.is_hdd)
            .map_err(|message| ProfileError { place: format!("--set {key}={value}"), message })?;
        match key {
            "over_provisioning" => self.entries.remove("nand.blocks_per_plane"),
            "nand.blocks_per_plane" => self.entries.remove("over_provisioning"),
            _ => None,
        };
        let entry = Entry { raw: parse_setting(value), kind: "set".into(), source: "command line".into(), line: 0 };
        self.entries.insert(key.to_string(), entry);
        Ok(())
    }
}

/// Refuses a policy that a file names: what strangers send does not say which code is run.
fn without_code(entries: &BTreeMap<String, Entry>) -> impl FnOnce(Model) -> Result<Model, Problem> {
    move |model| match (&model, entries.get("ftl.gc")) {
        (Model::Ssd(config), Some(entry)) if entry.line > 0 && config.ftl.gc.is_foreign() => {
            let message = "a file names no code that is run; leave it out, and give it as --set ftl.gc=…";
            Err(Problem::new("ftl.gc", &entry.raw, message))
        }
        _ => Ok(model),
    }
}

/// A problem with its place: the line of the profile or the setting. A line of the profile that does not go with
/// settings is not to blame, so they are named beside it.
fn locate(file: &str, entries: &BTreeMap<String, Entry>, problem: &Problem) -> ProfileError {
    let shown =
        if problem.value.is_empty() { problem.key.clone() } else { format!("{} = {}", problem.key, problem.value) };
    let settings = entries.iter().filter(|(_, entry)| entry.line == 0);
    let given: String = settings.map(|(key, entry)| format!(", with --set {key}={}", entry.raw.as_given())).collect();
    let (place, message) = match entries.get(&problem.key) {
        Some(entry) if entry.line > 0 => {
            (format!("{}{given}", place(file, entry.line)), format!("{shown}: {}", problem.message))
        }
        Some(_) => (format!("--set {}={}", problem.key, problem.value), problem.message.clone()),
        None => (file.to_string(), format!("{shown}: {}", problem.message)),
    };
    ProfileError { place, message }
}

fn place(file: &str, line: usize) -> String {
    format!("{file}, line {line}")
}

/// The line of a byte of a text, from 1.
pub fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|&&byte| byte == b'\n').count() + 1
}

fn known_key(key: &str, is_hdd: bool) -> Result<(), String> {
    let keys = |is_hdd| declarations(is_hdd).into_iter().map(|declaration| declaration.key);
    if keys(is_hdd).any(|known| known == key) {
        return Ok(());
    }
    if keys(!is_hdd).any(|known| known == key) {
        let kind = if is_hdd { "hard disk" } else { "solid-state drive" };
        return Err(format!("a {kind} has no parameter \"{key}\"; `ssdlab show` lists those that it has"));
    }
    let near = nearest(key, keys(is_hdd));
    let hint = match near.is_empty() {
        true => "`ssdlab show` lists those that there are".to_string(),
        false => format!("did you mean {}?", near.join(", ")),
    };
    Err(format!("there is no parameter \"{key}\"; {hint}"))
}

/// A value of the command line: as in TOML where it reads as such, else a string.
pub fn parse_setting(text: &str) -> Raw {
    let line = format!("value = {text}");
    DeTable::parse(&line)
        .ok()
        .and_then(|table| table.get_ref().get("value").and_then(|value| raw(value.get_ref())))
        .unwrap_or_else(|| Raw::Text(text.trim().to_string()))
}

/// A TOML value as it is before it is understood; `None` for tables and dates.
pub fn raw(value: &DeValue) -> Option<Raw> {
    Some(match value {
        DeValue::String(text) => Raw::Text(text.to_string()),
        DeValue::Integer(integer) => Raw::Integer(i64::from_str_radix(integer.as_str(), integer.radix()).ok()?),
        DeValue::Float(float) => Raw::Float(float.as_str().parse().ok()?),
        DeValue::Boolean(flag) => Raw::Flag(*flag),
        DeValue::Array(items) => Raw::List(items.iter().map(|item| raw(item.get_ref())).collect::<Option<_>>()?),
        _ => return None,
    })
}

#[cfg(test)]
mod test {
    use super::*;

    fn theory(settings: &[(&str, &str)]) -> Result<Profile, ProfileError> {
        let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Profile::read("theory", "theory.toml", built_in("theory").unwrap(), &settings)
    }

    /// Every profile that comes along is readable, has a title, and each of its numbers has a source.
    #[test]
    fn built_in_profiles_are_whole() {
        for name in names() {
            let profile =
                Profile::read(name, name, built_in(name).unwrap(), &[]).unwrap_or_else(|error| panic!("{error}"));
            assert!(!profile.title.is_empty() && !profile.summary.is_empty(), "{name} has no title or summary");
        }
    }

    /// A setting replaces a value and says so in its provenance; sizes take units.
    #[test]
    fn settings_go_over_the_profile() {
        let profile = theory(&[("capacity_bytes", "4GiB"), ("ftl.gc", "d-choices:3")]).unwrap();
        assert_eq!(profile.model.capacity_bytes(), 4 << 30);
        assert_eq!(profile.provenance("ftl.gc"), ("set", "command line"));
        assert_eq!(profile.provenance("nand.suspend_us"), ("assumed", "default"));
    }

    /// An error names the place, the key, the value and what is allowed, and suggests the likely key.
    #[test]
    fn errors_name_place_and_remedy() {
        let message = |settings| theory(settings).unwrap_err().to_string();
        assert_eq!(message(&[("nand.planes", "0")]), "--set nand.planes=0: must be 1 to 8");
        assert!(message(&[("nand.plane", "1")]).contains("did you mean nand.planes"));
        assert!(message(&[("ftl.gc", "greedier")]).contains("\"d-choices:N\""));
        assert!(message(&[("nand.page_bytes", "4 parsecs")]).contains("expected a size"));
    }

    /// A section that no drive has is refused even where it is empty, with its line.
    #[test]
    fn an_empty_section_is_refused() {
        let text = format!("{}\n[frobnication]\n", built_in("theory").unwrap());
        let error = Profile::read("x", "x.toml", &text, &[]).unwrap_err();
        assert!(error.message.contains("no section \"frobnication\""), "{}", error.message);
        assert_eq!(error.place, format!("x.toml, line {}", text.lines().count()));
    }

    /// A line of the profile that does not go with a setting is not blamed alone.
    #[test]
    fn errors_name_the_settings_too() {
        let error = theory(&[("link.protocol", "sata-ide")]).unwrap_err().to_string();
        let (place, message) = error.split_once(": ").unwrap();
        assert!(place.starts_with("theory.toml, line ") && place.ends_with(", with --set link.protocol=sata-ide"));
        assert_eq!(
            message,
            "link.queue_depth = 65536: must be at most 1 with sata-ide; give --set link.queue_depth=1 too"
        );
    }

    /// A disk's queue has a key of its own, which its error names.
    #[test]
    fn errors_name_the_settings_of_disks_too() {
        let (name, settings) = ("wd-velociraptor-300gb", [("hdd.protocol".to_string(), "sata-ide".to_string())]);
        let refused = Profile::read(name, "disk.toml", built_in(name).unwrap(), &settings).unwrap_err();
        assert!(refused.to_string().ends_with("with sata-ide; give --set hdd.queue_depth=1 too"), "{refused}");
    }

    /// A percentage is not taken for a share.
    #[test]
    fn over_provisioning_is_a_share() {
        let message = |value| theory(&[("over_provisioning", value)]).map_err(|error| error.message);
        assert_eq!(message("7").unwrap_err(), "must be at most 4: it is a share, so 7 % is 0.07");
        assert!(message("1.5").is_ok());
    }

    /// A hard disk has parameters of its own; those of flash are refused for what they are.
    #[test]
    fn a_disk_is_told_from_a_drive() {
        let name = "fujitsu-mhz2250bh";
        let disk = |key: &str| {
            let settings = [(key.to_string(), "1".to_string())];
            Profile::read(name, name, built_in(name).unwrap(), &settings).unwrap_err().message
        };
        assert!(disk("ftl.gc").contains("a hard disk has no parameter"));
        assert!(disk("hdd.rpn").contains("did you mean hdd.rpm"));
        assert!(theory(&[("hdd.rpm", "7200")]).unwrap_err().message.contains("a solid-state drive has no parameter"));
        let profile = Profile::read(name, name, built_in(name).unwrap(), &[]).unwrap();
        assert!(
            matches!(profile.model, Model::Hdd(_)) && profile.ssd().unwrap_err().message.contains("is a hard disk")
        );
    }

    /// A library is loaded where the user names it, and not where a file does.
    #[test]
    fn a_file_names_no_code() {
        let text = format!("{}\n", built_in("theory").unwrap());
        let given = text.lines().find(|line| line.starts_with("gc =")).expect("the profile names a policy");
        let text = text.replace(given, "gc = { value = \"/tmp/mine.so\", kind = \"assumed\", source = \"me\" }");
        assert!(Profile::read("x", "x.toml", &text, &[]).unwrap_err().message.contains("a file names no code"));
        assert!(theory(&[("ftl.gc", "/tmp/mine.so:window=3")]).is_ok());
    }

    /// A profile's own mistakes are reported with their line.
    #[test]
    fn errors_name_the_line() {
        let text = built_in("theory").unwrap().replace("channels = { value = 8", "channels = { value = 0");
        let line = text.lines().position(|line| line.starts_with("channels")).unwrap() + 1;
        let error = Profile::read("x", "x.toml", &text, &[]).unwrap_err();
        assert_eq!(error.place, format!("x.toml, line {line}"));
    }
}
