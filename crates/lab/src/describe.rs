//! What a drive is made of, as JSON: parameters with their sources, what follows from them, wear.

use serde_json::{Value, json};
use ssdlab_device::config::DriveConfig;
use ssdlab_device::parameter::Raw;
use ssdlab_device::profile::{self, Profile};
use ssdlab_device::ssd::Ssd;
use std::collections::BTreeMap;

/// Every profile that comes along, one object each.
pub fn profiles() -> Value {
    let one = |name: &str| {
        let text = profile::built_in(name).expect("listed");
        let profile = Profile::read(name, name, text, &[]).expect("built-in profiles are tested");
        let ssd = Ssd::new(&profile.config, 1, ());
        let physical = ssd.map(|ssd| ssd.ftl.geometry.physical_bytes()).unwrap_or_default();
        let capacity = profile.config.export.capacity_bytes.0;
        json!({
            "name": name,
            "title": profile.title,
            "summary": profile.summary,
            "capacity_bytes": capacity,
            "over_provisioning": physical as f64 / capacity as f64 - 1.0,
            "cell": text_of(&profile, "nand.cell"),
            "link": text_of(&profile, "link.protocol"),
        })
    };
    Value::Array(profile::names().map(one).collect())
}

fn text_of(profile: &Profile, key: &str) -> String {
    profile.config.show().into_iter().find(|(known, _)| *known == key).map(|(_, text)| text).unwrap_or_default()
}

/// Every parameter with value, unit, kind and source.
pub fn parameters(profile: &Profile) -> Value {
    let texts = profile.config.show();
    let entries = DriveConfig::declarations().zip(texts).map(|(declaration, (key, text))| {
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

/// What follows from the parameters: sizes, counts, memory.
pub fn derived(ssd: &Ssd) -> Value {
    let geometry = ssd.ftl.geometry;
    let exported = u64::from(ssd.ftl.exported) * u64::from(geometry.unit_bytes);
    let physical = geometry.physical_bytes();
    let block = u64::from(geometry.rows) * u64::from(geometry.row_bytes);
    let line = |key: &str, text: String, about: &str| json!({ "key": key, "text": text, "about": about });
    json!([
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
        line("bad blocks", ssd.ftl.array.bad_blocks().to_string(), "from the factory and grown"),
        line("blocks to lose", ssd.ftl.spare_blocks().max(0).to_string(), "until the drive goes read-only"),
        line("map", format!("{} B", 4 * u64::from(ssd.ftl.exported)), "4 B an exported mapping unit"),
    ])
}

/// Erase counts of the blocks in use, and the bad ones.
pub fn wear(ssd: &Ssd) -> Value {
    let mut histogram: BTreeMap<u32, u64> = BTreeMap::new();
    ssd.ftl.array.erase_counts().for_each(|count| *histogram.entry(count).or_default() += 1);
    let blocks: u64 = histogram.values().sum();
    let erases: u64 = histogram.iter().map(|(count, blocks)| u64::from(*count) * blocks).sum();
    json!({
        "erase_counts": {
            "min": histogram.keys().next(),
            "mean": erases as f64 / blocks.max(1) as f64,
            "max": histogram.keys().next_back(),
            "histogram": histogram.into_iter().collect::<Vec<_>>(),
        },
        "bad_blocks": ssd.ftl.array.bad_blocks(),
        "rated_cycles": ssd.config().reliability.rated_cycles,
        "spare_blocks": ssd.ftl.spare_blocks(),
    })
}
