//! Scenarios as data: sets of files, and what is done with them, step by step.
//!
//! ```toml
//! title = "Copy a large file"
//! about = "what it stands for, and what it leaves out"
//! system = "linux-2.6.32-ext4"
//! state = "fresh"
//! cpu_s = { value = 0.5, kind = "assumed", source = "…" }
//!
//! [files.photos]
//! exists = true
//! directories = { value = 4, kind = "assumed", source = "…" }
//! count = { value = 100, kind = "assumed", source = "…" }
//! mean_bytes = { value = "2 MB", kind = "assumed", source = "…" }
//!
//! [[step]]
//! do = "read"
//! files = "photos"
//! cpu = 1.0
//! ```
//! CPU time of the scenario is spread over its steps by `cpu`, and within a step over its files.
//! Every scenario is a file in `scenarios/`; any of its values can be set by its dotted key, such as
//! `files.photos.count` or `step.0.do`; keys that begin with `system.` go to the system.

use super::age::State;
use super::sourced::{Kind, ScenarioError, Size, Sourced, set};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A set of files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSet {
    /// They are there before the scenario begins.
    pub exists: bool,
    /// Directories over which they are spread.
    pub directories: Sourced<u64>,
    /// How many.
    pub count: Sourced<u64>,
    /// Mean size.
    pub mean_bytes: Sourced<Size>,
    /// Standard deviation of the logarithm of the sizes; without it all are alike.
    pub sigma: Option<Sourced<f64>>,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verb {
    /// Opens each file and reads it.
    Read,
    /// Opens each file, reads it and writes each part back as soon as it is read.
    Rewrite,
    /// Opens each file and touches pages of it, as programs and libraries are loaded.
    Map,
    /// Looks each file up.
    LookUp,
    /// Writes each file anew.
    Write,
    /// Writes blocks at random places of existing files.
    Overwrite,
    /// Writes blocks at random places past the cache (O_DIRECT).
    OverwriteDirect,
    /// Reads blocks at random places past the cache (O_DIRECT).
    ReadDirect,
    /// Copies each file to a new one of the set `to`.
    Copy,
    /// Removes each file.
    Delete,
    /// Makes everything durable.
    Sync,
    /// Tells the drive of all free space, if the file system is set to.
    Trim,
    /// Nothing to read is in memory any more.
    Restart,
    /// Does nothing for `seconds`.
    Idle,
    /// Trims the bare device.
    Erase,
    /// Writes the bare device in order, in requests of `block_bytes`.
    Fill,
    /// Writes back every sector in use by files, in requests of `block_bytes`: a restored image.
    Restore,
}

/// In which order files are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// As they were made.
    #[default]
    Listed,
    /// At random.
    Random,
}

/// When written data is made durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durable {
    /// When the system sees fit.
    #[default]
    Later,
    /// After each file or block.
    Each,
    /// After the last one.
    End,
}

/// One step.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What is done.
    #[serde(rename = "do")]
    pub verb: Verb,
    /// With which set.
    #[serde(default)]
    pub files: String,
    /// The set that a copy makes.
    #[serde(default)]
    pub to: String,
    /// Share of the scenario's CPU time.
    #[serde(default)]
    pub cpu: f64,
    /// Order of the files.
    #[serde(default)]
    pub order: Order,
    /// Share of the set's files that are taken; without it all.
    pub portion: Option<Sourced<f64>>,
    /// Share of each file that a `map` touches.
    pub share: Option<Sourced<f64>>,
    /// Bytes of one call.
    pub block_bytes: Option<Sourced<Size>>,
    /// Blocks that are written at random.
    pub blocks: Option<Sourced<u64>>,
    /// Length of idleness.
    pub seconds: Option<Sourced<f64>>,
    /// When it is made durable.
    #[serde(default)]
    pub durable: Durable,
    /// How often, each with a time of its own.
    pub repeat: Option<Sourced<u64>>,
    /// It prepares: its time and traffic do not count.
    #[serde(default)]
    pub preparation: bool,
}

/// A scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name of its file.
    #[serde(skip)]
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// What it stands for, where its numbers come from, what it leaves out.
    pub about: String,
    /// The operating system.
    pub system: String,
    /// How the file system came to be.
    pub state: State,
    /// Space of the file system; without it the whole device.
    pub capacity_bytes: Option<Sourced<Size>>,
    /// By how many percent the data can be compressed.
    pub compress_percent: Sourced<u8>,
    /// CPU time of all steps.
    pub cpu_s: Sourced<f64>,
    /// Sets of files.
    pub files: BTreeMap<String, FileSet>,
    /// The steps.
    pub step: Vec<Step>,
    /// What differs from the system, by its own keys in quotes.
    #[serde(default)]
    pub system_set: BTreeMap<String, Sourced<toml::Value>>,
    /// Settings for the system, by its own keys: those of the scenario, then the user's.
    #[serde(skip)]
    pub system_settings: Vec<(String, String)>,
}

macro_rules! built_in {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("scenarios/", $name, ".toml")))),*] };
}

const BUILT_IN: &[(&str, &str)] = built_in![
    "dd-ufs",
    "boot",
    "build-package",
    "start-firefox",
    "search-packages",
    "install-package",
    "purge-package",
    "copy-files",
    "desktop-mix",
    "sync-writes",
    "restore-image",
    "scattered-file",
    "bonnie",
];

/// Names of the scenarios that come along.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

impl Scenario {
    /// A scenario that comes along, with settings by dotted key over it.
    ///
    /// # Errors
    /// An unknown name or key, a value that is not allowed.
    pub fn named(name: &str, settings: &[(String, String)]) -> Result<Scenario, ScenarioError> {
        let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = names().collect();
            return Err(ScenarioError::new(name, format!("there is no such scenario; there are {}", known.join(", "))));
        };
        Scenario::read(name, text, settings)
    }

    /// Reads a scenario, with settings over it.
    ///
    /// # Errors
    /// What is wrong with text or settings, with its place.
    pub fn read(name: &str, text: &str, settings: &[(String, String)]) -> Result<Scenario, ScenarioError> {
        let fail = |error: toml::de::Error| ScenarioError::new(name, error.to_string());
        // Read as it stands first: errors of the text then name its line.
        toml::from_str::<Scenario>(text).map_err(fail)?;
        let mut table: toml::Table = toml::from_str(text).map_err(fail)?;
        let mut system_settings = Vec::new();
        for (key, value) in settings {
            match key.strip_prefix("system.") {
                Some(rest) => system_settings.push((rest.to_string(), value.clone())),
                None => set(&mut table, key, value)?,
            }
        }
        let mut scenario: Scenario = table.try_into().map_err(fail)?;
        scenario.name = name.to_string();
        let own = scenario.system_set.iter().map(|(key, given)| (key.clone(), given.value.to_string()));
        scenario.system_settings = own.chain(system_settings).collect();
        scenario.check()?;
        Ok(scenario)
    }

    fn check(&self) -> Result<(), ScenarioError> {
        let cpu: f64 = self.step.iter().map(|step| step.cpu).sum();
        if self.cpu_s.value > 0.0 && (cpu - 1.0).abs() > 1e-6 {
            return Err(ScenarioError::new(&self.name, format!("the steps' cpu adds up to {cpu}; it must be 1")));
        }
        for (number, step) in self.step.iter().enumerate() {
            let place = format!("{}, step {number}", self.name);
            self.check_step(step).map_err(|message| ScenarioError::new(&place, message))?;
        }
        self.check_files()
    }

    fn check_step(&self, step: &Step) -> Result<(), String> {
        let mut shares = [&step.share, &step.portion].into_iter().flatten().map(|given| given.value).chain([step.cpu]);
        if !shares.all(|share| (0.0..=1.0).contains(&share)) {
            return Err("cpu, share and portion must be 0 to 1".into());
        }
        if step.block_bytes.as_ref().is_some_and(|given| given.value.0 == 0) {
            return Err("block_bytes must be at least 1".into());
        }
        if step.seconds.as_ref().is_some_and(|given| !(0.0..1e9).contains(&given.value)) {
            return Err("seconds must be 0 to 10⁹".into());
        }
        let unknown = [&step.files, &step.to].into_iter().find(|set| !set.is_empty() && !self.files.contains_key(*set));
        if let Some(set) = unknown {
            let known: Vec<&str> = self.files.keys().map(String::as_str).collect();
            return Err(format!("there is no set of files \"{set}\"; there are {}", known.join(", ")));
        }
        step.missing().map_or(Ok(()), |missing| Err(format!("{missing} is needed to do this")))
    }

    fn check_files(&self) -> Result<(), ScenarioError> {
        if !(0.0..1e6).contains(&self.cpu_s.value) || self.compress_percent.value > 100 {
            return Err(ScenarioError::new(&self.name, "cpu_s must be 0 to 10⁶, and compress_percent 0 to 100"));
        }
        for (name, set) in &self.files {
            let sigma = set.sigma.as_ref().map_or(0.0, |sigma| sigma.value);
            let allowed = set.count.value <= 10_000_000 && set.directories.value >= 1 && (0.0..=5.0).contains(&sigma);
            if !allowed || set.mean_bytes.value.0 == 0 {
                let message = "count must be at most 10⁷, directories and mean_bytes at least 1, and sigma 0 to 5";
                return Err(ScenarioError::new(&format!("{}, files.{name}", self.name), message));
            }
        }
        Ok(())
    }

    /// What the CPU time was fitted to, if it was: no result may be judged by it.
    pub fn fitted_to(&self) -> Option<&str> {
        (self.cpu_s.kind == Kind::Fitted).then_some(self.cpu_s.source.as_str())
    }
}

impl Step {
    /// What this verb needs and has not got.
    fn missing(&self) -> Option<&'static str> {
        let needs_files = !matches!(
            self.verb,
            Verb::Sync | Verb::Trim | Verb::Restart | Verb::Idle | Verb::Erase | Verb::Fill | Verb::Restore
        );
        let needs_blocks = matches!(self.verb, Verb::Overwrite | Verb::OverwriteDirect | Verb::ReadDirect);
        let needs_size = needs_blocks || matches!(self.verb, Verb::Write | Verb::Copy | Verb::Fill | Verb::Restore);
        match self.verb {
            _ if needs_files && self.files.is_empty() => Some("files"),
            Verb::Copy if self.to.is_empty() => Some("to"),
            Verb::Map if self.share.is_none() => Some("share"),
            Verb::Idle if self.seconds.is_none() => Some("seconds"),
            _ if needs_blocks && self.blocks.is_none() => Some("blocks"),
            _ if needs_size && self.block_bytes.is_none() => Some("block_bytes"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn message(settings: &[(&str, &str)]) -> String {
        let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Scenario::named("dd-ufs", &settings).unwrap_err().to_string()
    }

    /// The scenarios that come along can be read, and their numbers have sources.
    #[test]
    fn built_in_scenarios_are_whole() {
        for name in names() {
            let scenario = Scenario::named(name, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert!(!scenario.about.is_empty() && !scenario.cpu_s.source.is_empty(), "{name}");
        }
    }

    /// A setting replaces a value; what is unknown, of another type or out of range is refused by name.
    #[test]
    fn settings_are_read_strictly() {
        let size = [("files.rand.mean_bytes".to_string(), "\"1 MiB\"".to_string())];
        let scenario = Scenario::named("dd-ufs", &size).unwrap();
        assert_eq!(scenario.files["rand"].mean_bytes.value, Size(1 << 20));
        assert_eq!(scenario.files["rand"].mean_bytes.kind, Kind::Set);
        assert!(message(&[("file.rand.count", "1")]).contains("here are"));
        assert!(message(&[("files.rand.count", "many")]).contains("invalid type"));
        assert!(message(&[("step.1.files", "\"sand\"")]).contains("no set of files \"sand\"; there are rand"));
        assert!(message(&[("files.rand.count", "99999999")]).contains("at most 10"));
        assert!(message(&[("step.7.do", "sync")]).contains("no such part"));
    }
}
