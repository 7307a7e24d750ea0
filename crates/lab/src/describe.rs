//! What a drive is made of, as JSON: parameters with their sources, what follows from them, wear;
//! and the parameters of layers over it.

use crate::host::drive::Drive;
use crate::host::registry::{KINDS, Kind, LayerPlan};
use crate::mapping_ram::Mapped;
use serde_json::{Value, json};
use ssdlab_device::block::Device;
use ssdlab_device::ftl::layout::memory_bytes;
use ssdlab_device::hdd::Hdd;
use ssdlab_device::parameter::{Declaration, Raw};
use ssdlab_device::profile::{self, Model, Profile};
use ssdlab_device::ssd::Ssd;
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
    let physical = Ssd::new(config, 1, ()).map(|ssd| ssd.ftl.geometry.physical_bytes()).unwrap_or_default();
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

fn line(key: &str, text: String, about: &str) -> Value {
    json!({ "key": key, "text": text, "about": about })
}

/// What follows from the parameters.
pub fn derived(drive: &Drive) -> Value {
    match drive {
        Drive::Ssd(ssd) => derived_of_flash(ssd),
        Drive::Hdd(hdd) => derived_of_disk(hdd),
    }
}

/// Layout and times.
fn derived_of_disk(hdd: &Hdd) -> Value {
    let (cylinders, heads, revolution) = hdd.shape();
    let ms = |us: f64| format!("{:.3} ms", us / 1e3);
    let mean_seek = hdd.config().hdd.average_seek_ms.0;
    let idle_read = hdd.config().hdd.command_us.0.as_us() + mean_seek.as_us() + revolution.as_us() / 2.0;
    let last = hdd.limits().sectors - 1;
    let per_track = format!("{} outermost, {} innermost", hdd.sectors_per_track(0), hdd.sectors_per_track(last));
    json!([
        line("tracks", format!("{} in {cylinders} cylinders", cylinders * heads), "in use"),
        line("sectors of a track", per_track, "logical ones, from rate and revolution"),
        line("revolution", ms(revolution.as_us()), "60 s / rpm"),
        line("random read", ms(idle_read), "command + mean seek + half a revolution, without data and link"),
    ])
}

/// Sizes, counts, memory.
fn derived_of_flash(ssd: &Ssd) -> Value {
    let geometry = ssd.ftl.geometry;
    let exported = u64::from(ssd.ftl.exported) * u64::from(geometry.unit_bytes);
    let physical = geometry.physical_bytes();
    let block = u64::from(geometry.rows) * u64::from(geometry.row_bytes);
    let mut lines = json!([
        line("physical", format!("{physical} B"), "all blocks, factory bad ones included"),
        line(
            "spare",
            format!(
                "{} B, {:.2} % of the exported capacity",
                physical - exported,
                (physical as f64 / exported as f64 - 1.0) * 100.0
            ),
            "physical − exported"
        ),
        line(
            "blocks",
            format!("{} of {block} B, {} a die", geometry.blocks, geometry.blocks / geometry.dies),
            "erased at once, all planes of a multi-plane group together"
        ),
        line(
            "row",
            format!("{} B, {} mapping units", geometry.row_bytes, geometry.units_per_row),
            "programmed at once"
        ),
        line("bad blocks", ssd.ftl.flash.array.bad_blocks().to_string(), "from the factory and grown"),
        line(
            "available spare",
            ssd.ftl.spare_blocks().max(0).to_string(),
            "blocks that can fail before the drive goes read-only"
        ),
    ]);
    if let Ok(bytes) = memory_bytes(ssd.config()) {
        let about = "what the simulation takes at most: all flash written, and the drive being saved";
        lines.as_array_mut().expect("a list").push(line("memory", format!("{bytes} B"), about));
    }
    let lines_of_ram = map_ram(ssd, exported, block);
    lines.as_array_mut().expect("a list").extend(lines_of_ram);
    lines
}

/// Log blocks of a hybrid map: 3 %, as in the evaluation of FAST (Lee et al. 2007).
const LOG_SHARE: f64 = 0.03;

/// RAM for page states and map, as this drive has it and as other schemes would.
fn map_ram(ssd: &Ssd, bytes: u64, block_bytes: u64) -> [Value; 5] {
    let mapped = Mapped { bytes, unit_bytes: u64::from(ssd.unit_bytes()), block_bytes };
    let line = |key: &str, bytes: u64, about: &str| json!({ "key": key, "text": format!("{bytes} B"), "about": about });
    let cached = match ssd.config().ftl.mapping_cache_bytes {
        Some(cache) => (cache.0, "ftl.mapping_cache_bytes and the directory of translation pages: this drive"),
        None => (mapped.page_map() / 100, "a cache of 1 % of the page map, and the directory"),
    };
    let own = match ssd.config().ftl.mapping_cache_bytes {
        Some(_) => "4 B an exported mapping unit, all in RAM",
        None => "4 B an exported mapping unit: this drive",
    };
    [
        line("page states", mapped.page_states(1), "RAM at 1 bit a mapping unit, in use or not"),
        line("map", mapped.page_map(), own),
        line("map by block", mapped.block_map(), "4 B a block, as the simplest early drives"),
        line("map, hybrid", mapped.hybrid_log_block(LOG_SHARE), "by block, and by unit in 3 % log blocks"),
        line("map, cached", mapped.demand_cached(cached.0), cached.1),
    ]
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
    pub fn add(&mut self, ssd: &Ssd) {
        ssd.ftl.flash.array.erase_counts().for_each(|count| *self.histogram.entry(count).or_default() += 1);
        let geometry = ssd.ftl.geometry;
        let block_bytes = u64::from(geometry.rows) * u64::from(geometry.row_bytes);
        self.exported_bytes += u64::from(ssd.ftl.exported) * u64::from(geometry.unit_bytes);
        self.flash_bytes += ssd.ftl.flash.array.erase_counts().count() as u64 * block_bytes;
        self.bad_blocks += ssd.ftl.flash.array.bad_blocks();
        self.spare_blocks += ssd.ftl.spare_blocks();
        let rated = ssd.config().reliability.rated_cycles;
        self.rated_cycles = Some(self.rated_cycles.map_or(rated, |known| known.min(rated)));
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        let blocks: u64 = self.histogram.values().sum();
        let erases: u64 = self.histogram.iter().map(|(count, blocks)| u64::from(*count) * blocks).sum();
        json!({
            "exported_bytes": self.exported_bytes,
            "flash_bytes": self.flash_bytes,
            "erase_counts": {
                "min": self.histogram.keys().next(),
                "mean": erases as f64 / blocks.max(1) as f64,
                "max": self.histogram.keys().next_back(),
                "histogram": self.histogram.iter().collect::<Vec<_>>(),
            },
            "bad_blocks": self.bad_blocks,
            "rated_cycles": self.rated_cycles,
            "spare_blocks": self.spare_blocks,
        })
    }
}
