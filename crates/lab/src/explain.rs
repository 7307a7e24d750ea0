//! A small drive, command by command: what `ssdlab explain` draws.
//!
//! The drive is that of the theory profile with few blocks of few pages. A script ([`script`]) hands it one
//! command after another, in virtual time; after every event that changes what flash holds or what the map
//! says, the recorder ([`recorder`]) writes down the state of every block and page, the map and the
//! counters. Nothing is drawn by hand: each figure is read from the drive.
//!
//! Exported units = flash pages / (1 + over-provisioning), rounded; a mapping unit is a page.
//!
//! Left out: units that are no page, compression, policies of one's own, layers, other profiles; timing beyond the
//! order of events.

mod recorder;
mod script;
#[cfg(test)]
mod test;

use crate::explain::recorder::{Records, Step};
use crate::explain::script::Script;
use serde::Serialize;
use ssdlab_device::block::Status;
use ssdlab_device::config::DriveConfig;
use ssdlab_device::parameter::{Bytes, Problem, Value as _};
use ssdlab_device::profile::{Profile, ProfileError, built_in};
use ssdlab_device::ssd::Ssd;
use std::collections::BTreeMap;
use thiserror::Error;

/// The profile that the small drive is made from.
const PROFILE: &str = "theory";
/// What is different in it: few blocks, two frontiers as in most drives, and wear levelling.
const SMALL: [(&str, &str); 10] = [
    ("over_provisioning", "0.5"),
    ("nand.channels", "1"),
    ("nand.dies_per_channel", "1"),
    ("nand.blocks_per_plane", "12"),
    ("nand.pages_per_block", "8"),
    ("ftl.frontiers", "host-gc"),
    ("ftl.gc_low_blocks", "1"),
    ("ftl.gc_high_blocks", "2"),
    ("ftl.dynamic_wear_leveling", "true"),
    ("ftl.static_wear_cycles", "4"),
];
/// Pages that a picture has room for, and units that the script needs.
const MOST_PAGES: u64 = 512;
const LEAST_UNITS: u64 = 24;

/// Why nothing was recorded.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ExplainError {
    /// A setting.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A drive that cannot be drawn.
    #[error("{0}")]
    Refused(String),
}

/// The drive's shape, and what was set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shape {
    /// Name of the profile.
    pub profile: &'static str,
    /// Keys and values that were set over it.
    pub settings: BTreeMap<String, String>,
    /// Buses.
    pub channels: u32,
    /// Dies in all.
    pub dies: u32,
    /// Blocks in all.
    pub blocks: u32,
    /// Pages of a block, with those of all planes that work together.
    pub pages_per_block: u32,
    /// Bytes of a page, which is also a mapping unit.
    pub page_bytes: u32,
    /// Bytes of a sector.
    pub sector_bytes: u32,
    /// Units that the host sees.
    pub units: u32,
    /// The victim policy.
    pub victim_policy: String,
    /// Difference in erases beyond which static wear levelling moves cold data; none where there is none.
    pub static_wear_cycles: Option<u32>,
}

/// What happened to the drive, step by step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recording {
    /// The drive.
    pub drive: Shape,
    /// Its state at the beginning and after each change.
    pub steps: Vec<Step>,
}

/// Runs the script on a drive with these settings, and records it.
///
/// # Errors
/// A setting that is wrong, a drive that cannot be drawn, or one that refuses a command.
pub fn record(settings: &[(String, String)]) -> Result<Recording, ExplainError> {
    refuse_capacity(settings)?;
    let small = SMALL.iter().map(|(key, value)| (key.to_string(), value.to_string()));
    let settings: BTreeMap<String, String> = small.chain(settings.iter().cloned()).collect();
    // Of the two the profile keeps the one that comes last.
    let flash = read(&settings, "over_provisioning")?;
    let over_provisioning = read(&settings, "nand.blocks_per_plane")?.ssd()?.export.over_provisioning;
    let config = sized(flash.ssd()?, over_provisioning).map_err(|problem| flash.locate(&problem))?;
    let drive = Ssd::new(&config, 1, Records::default()).map_err(|problem| flash.locate(&problem))?;
    let shape = shape(&drive, settings);
    let steps = Script::new(drive).perform().map_err(refused)?;
    Ok(Recording { drive: shape, steps })
}

/// The profile with all settings but one.
fn read(settings: &BTreeMap<String, String>, without: &str) -> Result<Profile, ProfileError> {
    let text = built_in(PROFILE).expect("comes along");
    let settings = settings.iter().filter(|(key, _)| *key != without);
    let settings: Vec<_> = settings.map(|(key, value)| (key.clone(), value.clone())).collect();
    Profile::read(PROFILE, &format!("profile {PROFILE}"), text, &settings)
}

fn refuse_capacity(settings: &[(String, String)]) -> Result<(), ExplainError> {
    match settings.iter().find(|(key, _)| key == "capacity_bytes") {
        None => Ok(()),
        Some((key, value)) => Err(ExplainError::Refused(format!(
            "--set {key}={value}: here the capacity follows from nand.blocks_per_plane, nand.pages_per_block and \
             over_provisioning\nset these in its place"
        ))),
    }
}

/// The configuration with the capacity that fits its flash.
fn sized(config: &DriveConfig, over_provisioning: Option<f64>) -> Result<DriveConfig, Problem> {
    let mut config = config.clone();
    let page_bytes = config.nand.page_bytes.0;
    if config.unit_bytes() != page_bytes {
        let message = format!("a page is drawn for each mapping unit; it must be nand.page_bytes, {page_bytes} B");
        return Err(Problem::new("ftl.mapping_unit_bytes", config.unit_bytes(), message));
    }
    if config.ftl.gc.is_foreign() {
        return Err(Problem::new("ftl.gc", config.ftl.gc.show(), "only policies that come along are drawn"));
    }
    if config.controller.compression {
        return Err(Problem::new("controller.compression", true, "compressed pages are not drawn; leave it false"));
    }
    if page_bytes <= u64::from(config.export.sector_bytes) {
        return Err(Problem::new(
            "nand.page_bytes",
            page_bytes,
            "no write of a sector is misaligned; give larger pages",
        ));
    }
    let missing = |key: &'static str| Problem::new(key, "none", "must be given for this drive");
    let blocks = config.nand.blocks_per_plane.ok_or_else(|| missing("nand.blocks_per_plane"))?;
    let over_provisioning = over_provisioning.ok_or_else(|| missing("over_provisioning"))?;
    let nand = &config.nand;
    let dies = u64::from(nand.channels) * u64::from(nand.dies_per_channel) * u64::from(nand.planes);
    let pages = dies * u64::from(blocks) * u64::from(nand.pages_per_block);
    if pages > MOST_PAGES {
        let message =
            format!("makes {pages} pages, and {MOST_PAGES} can be drawn; set fewer, or less nand.pages_per_block");
        return Err(Problem::new("nand.blocks_per_plane", blocks, message));
    }
    let units = libm::round(pages as f64 / (1.0 + over_provisioning)) as u64;
    if units < LEAST_UNITS {
        let message = format!(
            "makes {units} logical units, and at least {LEAST_UNITS} are needed; set more, or more nand.pages_per_block"
        );
        return Err(Problem::new("nand.blocks_per_plane", blocks, message));
    }
    config.export.capacity_bytes = Bytes(units * page_bytes);
    Ok(config)
}

fn shape(drive: &Ssd<Records>, settings: BTreeMap<String, String>) -> Shape {
    let (channels, dies) = drive.shape();
    let geometry = &drive.ftl.geometry;
    Shape {
        profile: PROFILE,
        settings,
        channels,
        dies,
        blocks: geometry.blocks,
        pages_per_block: geometry.slots(),
        page_bytes: geometry.unit_bytes,
        sector_bytes: drive.config().export.sector_bytes,
        units: drive.ftl.exported,
        victim_policy: drive.config().ftl.gc.show(),
        static_wear_cycles: drive.config().ftl.static_wear_cycles,
    }
}

fn refused(status: Status) -> ExplainError {
    ExplainError::Refused(format!(
        "the drive refuses a command of the script ({status:?}): it has too little spare area, or blocks have failed\n\
         set a larger over_provisioning or more nand.blocks_per_plane"
    ))
}
