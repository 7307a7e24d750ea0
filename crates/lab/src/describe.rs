//! What a drive is made of, as JSON: parameters with their sources, and wear; and the parameters of
//! layers over it.

use crate::host::registry::{KINDS, Kind, LayerPlan};
use serde_json::{Value, json};
use ssdlab_device::block::Device as _;
use ssdlab_device::counters::Counters;
use ssdlab_device::ftl::Ftl;
use ssdlab_device::ftl::layout::layout;
use ssdlab_device::ftl::view::BlockState;
use ssdlab_device::nand::contents::Contents;
use ssdlab_device::parameter::{Declaration, Raw};
use ssdlab_device::profile::{self, Model, Profile};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::ssd::health::{SPARE_THRESHOLD_PERCENT, TOO_HOT_KELVIN};
use ssdlab_device::ssd::signs::Signs;
use ssdlab_device::units::BlockId;
use std::collections::BTreeMap;

/// Every profile that comes along, one object each.
pub fn profiles() -> Value {
    let one = |name: &str| {
        let text = profile::built_in(name).expect("listed");
        let profile = Profile::read(name, name, text, &[]).expect("built-in profiles are tested");
        let link = match &profile.model {
            Model::Ssd(_) => "link.protocol",
            Model::Hdd(_) => "hdd.protocol",
        };
        json!({
            "name": name,
            "title": profile.title,
            "summary": profile.summary,
            "capacity_bytes": profile.model.capacity_bytes(),
            "over_provisioning": over_provisioning(&profile.model),
            "cell": text_of(&profile, "nand.cell"),
            "link": text_of(&profile, link),
        })
    };
    Value::Array(profile::names().map(one).collect())
}

/// (physical − exported) / exported; none for a hard disk.
fn over_provisioning(model: &Model) -> Option<f64> {
    let Model::Ssd(config) = model else { return None };
    let physical = layout(config).map(|(geometry, _)| geometry.physical_bytes()).unwrap_or_default();
    Some(physical as f64 / config.export.capacity_bytes.0 as f64 - 1.0)
}

/// The text of a parameter; empty where the drive has no such parameter.
fn text_of(profile: &Profile, key: &str) -> String {
    profile.model.show().into_iter().find(|(known, _)| *known == key).map(|(_, text)| text).unwrap_or_default()
}

/// Every parameter with value, unit, kind and source.
pub fn parameters(profile: &Profile) -> Value {
    let texts = profile.model.show();
    let entries = profile.model.declarations().into_iter().zip(texts).map(|(declaration, (key, text))| {
        let (kind, source) = profile.provenance(key);
        let value = profile.entries.get(key).map_or_else(|| json!(text), |entry| json_of(&entry.raw));
        json!({ "key": key, "value": value, "text": text, "unit": declaration.unit, "kind": kind, "source": source, "about": declaration.about })
    });
    Value::Array(entries.collect())
}

fn json_of(raw: &Raw) -> Value {
    match raw {
        Raw::Text(text) => json!(text),
        Raw::Integer(number) => json!(number),
        Raw::Float(number) => json!(number),
        Raw::Flag(flag) => json!(flag),
        Raw::List(items) => items.iter().map(json_of).collect(),
    }
}

/// Counters by name.
pub fn counters(counters: &Counters) -> Value {
    Value::Object(counters.entries().map(|(name, value)| (name.to_string(), json!(value))).collect())
}

/// What a drive's health log says, over its whole life, as JSON.
pub fn health<C: Contents>(ssd: &mut Ssd<C>, signs: &Signs) -> Value {
    let (health, all) = (ssd.health(), ssd.counters());
    json!({
        "used_percent": health.used_percent,
        "spare_percent": health.spare_percent,
        "spare_threshold_percent": SPARE_THRESHOLD_PERCENT,
        "critical_warning": health.critical_warning(signs, false, TOO_HOT_KELVIN),
        "read_only": health.is_read_only,
        "blocks_lost": ssd.ftl.blocks_lost(),
        "average_erases": health.average_erases,
        "rated_erases": ssd.config().reliability.rated_cycles,
        "counters": counters(&all),
        "celsius": signs.celsius,
        "power_on_hours": signs.power_on_hours,
        "power_cycles": signs.power_cycles,
        "capacitor_failed": signs.capacitor_failed,
    })
}

/// Every kind of layer with its parameters.
pub fn layer_kinds() -> Value {
    let parameter = |declaration: &Declaration| {
        let Declaration { key, unit, about, default, expects } = declaration;
        let default = default.map(|text| text.trim_matches('"'));
        json!({ "key": key, "default": default, "unit": unit, "expects": expects, "about": about })
    };
    let kind = |kind: &Kind| {
        json!({
            "name": kind.name,
            "about": kind.about,
            "example": kind.example,
            "second_drive": kind.second_drive,
            "parameters": kind.declarations.iter().map(parameter).collect::<Vec<_>>(),
        })
    };
    KINDS.iter().map(kind).collect()
}

/// Parameters of the layers over a drive, as [`parameters`]. Of several layers of a kind those from
/// the second on are numbered.
pub fn layer_parameters(layers: &[LayerPlan]) -> Value {
    let mut entries = Vec::new();
    for (index, layer) in layers.iter().enumerate() {
        let kind = layer.kind.name;
        let number = layers[..=index].iter().filter(|other| other.kind.name == kind).count();
        let prefix = if number > 1 { format!("{kind}#{number}") } else { kind.to_string() };
        entries.extend(layer.parameters().into_iter().map(|shown| {
            let Declaration { key, unit, about, .. } = shown.declaration;
            let key = key.replacen(kind, &prefix, 1);
            json!({ "key": key, "value": shown.text, "text": shown.text, "unit": unit, "kind": shown.kind, "source": shown.source, "about": about })
        }));
    }
    Value::Array(entries)
}

/// So many blocks at most are shown one by one.
const MOST_BLOCKS: u32 = 960;

/// Free room for data, in groups of blocks; and `each`, of every block or of each `every`-th one a letter: `f`ree, `o`pen,
/// open for `m`oves, a `v`ictim, `b`ad, or in full ones the tenths that are valid, 0 to 9.
pub fn blocks<C: Contents>(ftl: &Ftl<C>) -> Value {
    let (supply, count) = (ftl.supply(), ftl.geometry.blocks);
    let every = count.div_ceil(MOST_BLOCKS).max(1);
    let each: String = (0..count).step_by(every as usize).map(|block| letter(ftl, BlockId(block))).collect();
    json!({ "free": supply.free, "total": supply.all, "low_water": supply.low, "every": every, "each": each })
}

fn letter<C: Contents>(ftl: &Ftl<C>, block: BlockId) -> char {
    match ftl.block_state(block) {
        BlockState::Free => 'f',
        BlockState::Open => 'o',
        BlockState::OpenForMoves => 'm',
        BlockState::Collecting => 'v',
        BlockState::Bad => 'b',
        BlockState::Sealed => {
            let tenths = (10.0 * ftl.valid_share(block)).min(9.0) as u32;
            char::from_digit(tenths, 10).unwrap_or('9')
        }
    }
}

/// Erase counts of the blocks in use, and the bad ones, of one drive or several together.
#[derive(Default)]
pub struct Wear {
    histogram: BTreeMap<u32, u64>,
    bad_blocks: usize,
    spare_blocks: i64,
    rated_cycles: Option<u32>,
    exported_bytes: u64,
    flash_bytes: u64,
}

impl Wear {
    /// Adds a drive. Of different ones the fewest rated cycles count.
    pub fn add<C: Contents>(&mut self, ssd: &Ssd<C>) {
        ssd.ftl.flash.array.erase_counts().for_each(|count| *self.histogram.entry(count).or_default() += 1);
        let geometry = ssd.ftl.geometry;
        self.exported_bytes += u64::from(ssd.ftl.exported) * u64::from(geometry.unit_bytes);
        self.flash_bytes += ssd.ftl.flash.array.erase_counts().count() as u64 * geometry.block_bytes();
        self.bad_blocks += ssd.ftl.flash.array.bad_blocks();
        self.spare_blocks += ssd.ftl.spare_blocks();
        let rated = ssd.config().reliability.rated_cycles;
        self.rated_cycles = Some(self.rated_cycles.map_or(rated, |known| known.min(rated)));
    }

    /// Erases of the block with the fewest, on average, and with the most, and what it is rated for, as JSON.
    pub fn summary(&self) -> Value {
        json!({
            "least": self.histogram.keys().next(),
            "mean": self.mean_erases(),
            "most": self.histogram.keys().next_back(),
            "rated": self.rated_cycles,
        })
    }

    fn mean_erases(&self) -> f64 {
        let blocks: u64 = self.histogram.values().sum();
        let erases: u64 = self.histogram.iter().map(|(count, blocks)| u64::from(*count) * blocks).sum();
        erases as f64 / blocks.max(1) as f64
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "exported_bytes": self.exported_bytes,
            "flash_bytes": self.flash_bytes,
            "erase_counts": {
                "min": self.histogram.keys().next(),
                "mean": self.mean_erases(),
                "max": self.histogram.keys().next_back(),
                "histogram": self.histogram.iter().collect::<Vec<_>>(),
            },
            "bad_blocks": self.bad_blocks,
            "rated_cycles": self.rated_cycles,
            "spare_blocks": self.spare_blocks,
        })
    }
}
