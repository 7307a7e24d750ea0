//! The kinds of layers: name, parameters, and what makes one. A new kind is one entry in [`KINDS`]
//! and one `impl` of [`LayerConfig`] in a file of its own; all else (command line, files, `show`,
//! errors, results) follows from these.

use super::crypt::CryptConfig;
use super::flash_cache::CacheConfig;
use super::layer::LayerConfig;
use super::partition::PartitionConfig;
use super::raid::config::{self as raid_config, RaidConfig};
use super::scheduler::SchedulerConfig;
use super::split::SplitConfig;
use super::text::{Given, LayerText, StackError};
use ssdlab_device::parameter::{Declaration, Problem, Raw, Source};
use ssdlab_device::profile::{nearest, parse_setting};

/// Every kind of layer.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "partition",
        about: "a part of what lies below",
        second_drive: false,
        repeats: true,
        declarations: PartitionConfig::DECLARATIONS,
        example: "partition:start_sector=63",
        read: |source| boxed(PartitionConfig::read(source)),
    },
    Kind {
        name: "crypt",
        about: "encryption by the host's CPU",
        second_drive: false,
        repeats: false,
        declarations: CryptConfig::DECLARATIONS,
        example: "crypt:mb_per_s=145,cores=2",
        read: |source| boxed(CryptConfig::read(source)),
    },
    Kind {
        name: "scheduler",
        about: "an I/O scheduler: orders, merges and splits requests",
        second_drive: false,
        repeats: false,
        declarations: SchedulerConfig::DECLARATIONS,
        example: "scheduler:policy=deadline",
        read: |source| boxed(SchedulerConfig::read(source)),
    },
    Kind {
        name: "raid",
        about: "an array over copies of what lies below, as many as disks says",
        second_drive: false,
        repeats: true,
        declarations: RaidConfig::DECLARATIONS,
        example: "raid:level=5,disks=4",
        read: |source| boxed(raid_config::read(source)),
    },
    Kind {
        name: "cache",
        about: "an SSD as cache in front",
        second_drive: true,
        repeats: false,
        declarations: CacheConfig::DECLARATIONS,
        example: "cache:drive=intel-dc-s3700-200gb",
        read: |source| boxed(CacheConfig::read(source)),
    },
    Kind {
        name: "split",
        about: "another drive that begins where what lies below ends",
        second_drive: true,
        repeats: true,
        declarations: SplitConfig::DECLARATIONS,
        example: "split:drive=fujitsu-mhz2250bh",
        read: |source| boxed(SplitConfig::read(source)),
    },
];

/// A kind of layer.
pub struct Kind {
    /// What it is called; its parameters' keys begin with it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Beside what lies below it takes a second drive, which `drive` names.
    pub second_drive: bool,
    /// Directly over another of its kind it makes sense.
    pub repeats: bool,
    /// Its parameters.
    pub declarations: &'static [Declaration],
    /// One as people write it.
    pub example: &'static str,
    read: fn(&mut dyn Source) -> Read,
}

type Read = Result<Box<dyn LayerConfig>, Problem>;

fn boxed<C: LayerConfig + 'static>(config: Result<C, Problem>) -> Read {
    config.map(|config| Box::new(config) as Box<dyn LayerConfig>)
}

/// A layer that was understood.
pub struct LayerPlan {
    /// Its kind.
    pub kind: &'static Kind,
    /// Its parameters.
    pub config: Box<dyn LayerConfig>,
    /// The second drive's name, where the kind takes one.
    pub drive: Option<String>,
    given: Vec<Given>,
    /// File and line, or the option.
    pub place: String,
}

/// A parameter of a layer, for people.
pub struct Shown {
    /// How it is declared.
    pub declaration: &'static Declaration,
    /// Its value.
    pub text: String,
    /// `set`, or the kind of the default's source.
    pub kind: String,
    /// Who says so.
    pub source: String,
}

impl LayerPlan {
    /// Reads what was written for a layer.
    ///
    /// # Errors
    /// An unknown kind or key, a value that is missing, of the wrong type or out of range.
    pub fn read(text: LayerText) -> Result<LayerPlan, StackError> {
        let kind = kind_named(&text)?;
        let mut drive = None;
        let mut given = Vec::new();
        for value in text.given {
            match &value.raw {
                Raw::Text(name) if kind.second_drive && value.key == "drive" => drive = Some(name.clone()),
                _ => given.push(known(kind, value)?),
            }
        }
        if kind.second_drive && drive.is_none() {
            let message = format!("{} takes a second drive; give drive, such as drive=intel-dc-s3700-200gb", kind.name);
            return Err(StackError::new(text.place, message));
        }
        let config = (kind.read)(&mut Values { kind, given: &given })
            .map_err(|problem| locate(kind, &given, &text.place, &problem))?;
        Ok(LayerPlan { kind, config, drive, given, place: text.place })
    }

    /// A problem that shows only over the devices below, with its place.
    pub fn locate(&self, problem: &Problem) -> StackError {
        locate(self.kind, &self.given, &self.place, problem)
    }

    /// Every parameter with its value and where that comes from.
    pub fn parameters(&self) -> Vec<Shown> {
        let sources = self.config.sources();
        let one = |(declaration, (key, text)): (&'static Declaration, (&str, String))| {
            let name = without_kind(self.kind, key);
            let default = sources.iter().find(|(known, _, _)| *known == key).copied();
            let (kind, source) = match self.given.iter().find(|given| given.key == name) {
                Some(given) => ("set", given.place.as_str()),
                None => default.map_or(("assumed", "default"), |(_, kind, source)| (kind, source)),
            };
            Shown { declaration, text, kind: kind.to_string(), source: source.to_string() }
        };
        self.kind.declarations.iter().zip(self.config.show()).map(one).collect()
    }
}

fn kind_named(text: &LayerText) -> Result<&'static Kind, StackError> {
    KINDS.iter().find(|kind| kind.name == text.kind).ok_or_else(|| {
        let names = || KINDS.iter().map(|kind| kind.name);
        let near = nearest(&text.kind, names());
        let hint = near.first().map_or(String::new(), |near| format!("; did you mean {near}?"));
        let list: Vec<&str> = names().collect();
        let message = format!("there is no layer \"{}\"{hint}\nlayers are {}", text.kind, list.join(", "));
        StackError::new(&text.place, message)
    })
}

fn known(kind: &'static Kind, given: Given) -> Result<Given, StackError> {
    let names = || kind.declarations.iter().map(|declaration| without_kind(kind, declaration.key));
    if names().any(|name| name == given.key) {
        return Ok(given);
    }
    let near = nearest(&given.key, names());
    let hint = near.first().map_or(String::new(), |near| format!("; did you mean {near}?"));
    let list: Vec<&str> = names().chain(kind.second_drive.then_some("drive")).collect();
    let message = format!("{} has no \"{}\"{hint}\nit has {}", kind.name, given.key, list.join(", "));
    Err(StackError::new(given.place, message))
}

fn without_kind<'a>(kind: &Kind, key: &'a str) -> &'a str {
    key.strip_prefix(kind.name).and_then(|rest| rest.strip_prefix('.')).unwrap_or(key)
}

fn locate(kind: &Kind, given: &[Given], layer: &str, problem: &Problem) -> StackError {
    let key = without_kind(kind, &problem.key);
    let place = given.iter().find(|given| given.key == key).map_or(layer, |given| given.place.as_str());
    let value = if problem.value.is_empty() { String::new() } else { format!(" = {}", problem.value) };
    StackError::new(place, format!("{key}{value}: {}", problem.message))
}

/// What was given for a layer, and its defaults.
struct Values<'a> {
    kind: &'static Kind,
    given: &'a [Given],
}

impl Source for Values<'_> {
    fn get(&mut self, declaration: &Declaration) -> Result<Raw, Problem> {
        let name = without_kind(self.kind, declaration.key);
        if let Some(given) = self.given.iter().find(|given| given.key == name) {
            return Ok(given.raw.clone());
        }
        let missing = || {
            let message = format!("is missing; expected {}, such as {}", declaration.expects, self.kind.example);
            Problem::new(declaration.key, "", message)
        };
        declaration.default.map(parse_setting).ok_or_else(missing)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn error(text: &str) -> String {
        LayerText::parse(text).and_then(LayerPlan::read).err().unwrap().to_string()
    }

    /// Every kind's example can be read, its keys begin with its name, and every default says where it comes from.
    #[test]
    fn kinds_are_whole() {
        for kind in KINDS {
            assert!(
                kind.declarations.iter().all(|declaration| declaration.key.starts_with(kind.name)),
                "{}",
                kind.name
            );
            let plan = LayerText::parse(kind.example).and_then(LayerPlan::read).unwrap();
            assert!(plan.parameters().len() == kind.declarations.len() && plan.kind.name == kind.name);
            let kinds = [&ssdlab_device::profile::KINDS[..], &["set"]].concat();
            assert!(plan.parameters().iter().all(|shown| kinds.contains(&shown.kind.as_str())), "{}", kind.name);
        }
    }

    /// Each source of a default belongs to a key of its layer.
    #[test]
    fn sources_belong_to_keys() {
        for kind in KINDS {
            let plan = LayerText::parse(kind.example).and_then(LayerPlan::read).unwrap();
            let known = |key: &str| kind.declarations.iter().any(|declaration| declaration.key == key);
            assert!(plan.config.sources().iter().all(|(key, _, _)| known(key)), "{}", kind.name);
        }
    }

    /// Unknown kinds and keys are answered with the nearest known one, wrong values with what is allowed.
    #[test]
    fn errors_name_place_and_remedy() {
        assert!(error("partion").contains("did you mean partition?"));
        assert!(error("crypt:core=2").contains("did you mean cores?"));
        assert!(error("crypt:cores=0").starts_with("--layer crypt:cores=0: cores = 0: must be 1 to"));
        assert!(error("partition:start_sector=early").contains("expected a whole number"));
    }

    /// What is given is shown as set, what is not with the source of its default.
    #[test]
    fn parameters_have_sources() {
        let plan = LayerPlan::read(LayerText::parse("crypt:cores=2").unwrap()).unwrap();
        let shown = |key: &str| {
            let all = plan.parameters();
            all.into_iter().find(|shown| shown.declaration.key == key).map(|shown| (shown.text, shown.kind)).unwrap()
        };
        assert_eq!(shown("crypt.cores"), ("2".into(), "set".into()));
        assert_ne!(shown("crypt.mb_per_s").1, "set");
    }
}
