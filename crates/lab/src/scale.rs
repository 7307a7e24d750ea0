//! A smaller drive in place of a large one: fewer blocks a die, or fewer dies.
//!
//! **Fewer blocks**, `blocks:N`. A die has at most N erase groups (a block of each plane); channels, dies, times and the
//! share of spare blocks stay, and with them rates and write amplification. But a die keeps a few blocks free for
//! collection; of the whole drive's spare they are next to nothing, of a small one's a part. So they come on top
//! (`ftl.spare_counts = collected`), and what parity takes of the spare goes off:
//!
//! ```text
//!   capacity = ⌊capacity of the whole · N / its blocks a die⌋, in whole MiB
//!   over-provisioning = (1 + that of the whole) · (1 − parity's share of a block) − 1
//! ```
//! Where write amplification alone has to stay, a smaller `capacity_bytes` does it (`session/smaller.rs`).
//!
//! **Fewer dies**, `dies:N`. With per-die blocks each die collects by itself, so 1/N of the dies, with 1/N of the
//! capacity, of the link's and the controller's rate, of the buffer and its reach, of the map's cache and an SLC cache,
//! does 1/N of the work in the same virtual time: blocks a die, pages a block and all times of the flash stay as they
//! are. Rates are multiplied by N afterwards. With `dies:N,whole-link` link and controller stay as fast, so that a
//! request takes as long as on the whole drive while they are far from busy. Left out: what depends on the number of
//! dies that are busy at once, which is why latencies are taken on the whole drive.

use serde::{Deserialize, Serialize};
use ssdlab_device::config::DriveConfig;
use ssdlab_device::config::ftl::SpareCounts;
use ssdlab_device::ftl::layout::layout;
use ssdlab_device::parameter::Value;
use ssdlab_device::profile::{Model, Profile, ProfileError};
use std::fmt;
use thiserror::Error;

/// The capacity of a drive with fewer blocks is a whole number of these: 1 MiB.
const GRAIN_BYTES: u64 = 1 << 20;
/// The capacity of a slice is a whole number of these.
const PAGE_BYTES: u64 = 4096;
const WHOLE_LINK: &str = "whole-link";

/// How a drive is made smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DriveScale {
    /// At most so many erase groups a die.
    Blocks(u32),
    /// A part of the dies.
    Dies {
        /// So many equal parts are the whole drive.
        parts: u32,
        /// Link and controller stay as fast as they are.
        whole_link: bool,
    },
}

/// A text that is no scale.
#[derive(Debug, Error, PartialEq)]
#[error(
    "expected blocks:N (at most N blocks per die), dies:N (1/N of the dies, the link and the controller) or \
     dies:N,{WHOLE_LINK} (1/N of the dies, with the whole link and controller)"
)]
pub struct NoScale;

impl fmt::Display for DriveScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DriveScale::Blocks(most) => write!(f, "blocks:{most}"),
            DriveScale::Dies { parts, whole_link: false } => write!(f, "dies:{parts}"),
            DriveScale::Dies { parts, whole_link: true } => write!(f, "dies:{parts},{WHOLE_LINK}"),
        }
    }
}

impl TryFrom<String> for DriveScale {
    type Error = NoScale;

    fn try_from(text: String) -> Result<DriveScale, NoScale> {
        let (form, given) = text.split_once(':').ok_or(NoScale)?;
        let (number, more) = given.split_once(',').map_or((given, None), |(number, more)| (number, Some(more)));
        let digits = number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok().filter(|number| digits && *number > 0).ok_or(NoScale)?;
        match (form, more) {
            ("blocks", None) => Ok(DriveScale::Blocks(number)),
            ("dies", None) => Ok(DriveScale::Dies { parts: number, whole_link: false }),
            ("dies", Some(WHOLE_LINK)) => Ok(DriveScale::Dies { parts: number, whole_link: true }),
            _ => Err(NoScale),
        }
    }
}

impl From<DriveScale> for String {
    fn from(scale: DriveScale) -> String {
        scale.to_string()
    }
}

type Follows = Vec<(&'static str, String)>;

impl DriveScale {
    /// What differs from a drive's parameters at this scale; nothing of one that is small already.
    ///
    /// # Errors
    /// There is no such drive: it is a hard disk, states its blocks, or has dies that do not come in so many parts.
    pub fn follows(self, profile: &Profile) -> Result<Follows, ProfileError> {
        let Model::Ssd(config) = &profile.model else {
            let message = "a hard disk has no flash blocks or dies; omit the scale, or name an SSD";
            return Err(self.refused(&profile.name, message));
        };
        match self {
            DriveScale::Blocks(most) => self.fewer_blocks(profile, config, most),
            DriveScale::Dies { parts, whole_link } => self.fewer_dies(profile, config, parts, whole_link),
        }
    }

    /// What is wrong with this scale of a drive.
    pub fn refused(self, drive: &str, message: impl fmt::Display) -> ProfileError {
        ProfileError { place: format!("scale {self}"), message: format!("{drive}: {message}") }
    }

    fn fewer_blocks(self, profile: &Profile, config: &DriveConfig, most: u32) -> Result<Follows, ProfileError> {
        let (geometry, _) = layout(config).map_err(|problem| profile.locate(&problem))?;
        let blocks = geometry.blocks / geometry.dies;
        if blocks <= most {
            return Ok(Vec::new());
        }
        if let Some(stated) = config.nand.blocks_per_plane {
            let message = format!(
                "nand.blocks_per_plane = {stated} already fixes the blocks per die; set that, or over_provisioning instead"
            );
            return Err(self.refused(&profile.name, message));
        }
        let capacity = u128::from(config.export.capacity_bytes.0) * u128::from(most) / u128::from(blocks);
        // It is less than the whole drive's.
        let capacity = capacity as u64 / GRAIN_BYTES * GRAIN_BYTES;
        let mut follows =
            vec![("capacity_bytes", capacity.to_string()), ("ftl.spare_counts", SpareCounts::Collected.show())];
        if let Some(share) = data_share(config) {
            let key = "over_provisioning";
            follows.push((key, six_digits((1.0 + number(profile, key)) * share - 1.0)));
        }
        Ok(follows)
    }

    fn fewer_dies(
        self,
        profile: &Profile,
        config: &DriveConfig,
        parts: u32,
        whole_link: bool,
    ) -> Result<Follows, ProfileError> {
        let (whole, dies) = (config.nand.channels, config.nand.channels * config.nand.dies_per_channel);
        let Some((channels, dies_per_channel)) = part_of(whole, dies, parts) else {
            let found = (1..=dies).filter(|parts| part_of(whole, dies, *parts).is_some());
            let found: Vec<String> = found.map(|parts| parts.to_string()).collect();
            let message = format!(
                "{dies} dies on {whole} channels cannot be split into {parts} equal parts\nchoose one of {}",
                found.join(", ")
            );
            return Err(self.refused(&profile.name, message));
        };
        let capacity = config.export.capacity_bytes.0 / PAGE_BYTES / u64::from(parts) * PAGE_BYTES;
        let mut follows = vec![
            ("capacity_bytes", capacity.to_string()),
            ("nand.channels", channels.to_string()),
            ("nand.dies_per_channel", dies_per_channel.to_string()),
        ];
        let of_the_whole = [
            ("buffer.bytes", Some(config.buffer.bytes)),
            ("buffer.join_bytes", Some(config.buffer.join_bytes)),
            ("ftl.mapping_cache_bytes", config.ftl.mapping_cache_bytes),
            ("ftl.slc_cache_bytes", Some(config.ftl.slc_cache_bytes)),
            ("ftl.slc_cache_fixed_bytes", Some(config.ftl.slc_cache_fixed_bytes)),
        ];
        let there = of_the_whole.into_iter().filter_map(|(key, bytes)| Some((key, bytes.filter(|bytes| bytes.0 > 0)?)));
        follows.extend(there.map(|(key, bytes)| (key, (bytes.0 / u64::from(parts)).to_string())));
        if !whole_link {
            let parts = f64::from(parts);
            follows.push(("link.mb_per_s", shortest(number(profile, "link.mb_per_s") / parts)));
            for key in ["controller.read_command_us", "controller.write_command_us", "controller.move_unit_us"] {
                follows.push((key, shortest(number(profile, key) * parts)));
            }
        }
        Ok(follows)
    }
}

/// Channels of one of so many parts, and dies on each; none where the parts would not be alike.
fn part_of(channels: u32, dies: u32, parts: u32) -> Option<(u32, u32)> {
    let channels = (channels / parts).max(1);
    let dies = dies.is_multiple_of(parts).then_some(dies / parts)?;
    dies.is_multiple_of(channels).then_some((channels, dies / channels))
}

/// The share of the pages that parity leaves, where it is part of the spare.
fn data_share(config: &DriveConfig) -> Option<f64> {
    let stripe = config.ftl.parity_stripe_pages.filter(|_| config.ftl.spare_counts == SpareCounts::All)?;
    let pages = config.nand.pages_per_block;
    Some(1.0 - f64::from((pages / stripe).max(1)) / f64::from(pages))
}

/// A parameter as it is given: a time may be given to less than a nanosecond. 0 of one that is no number.
fn number(profile: &Profile, key: &str) -> f64 {
    let given = profile.entries.get(key).and_then(|entry| f64::read(&entry.raw));
    let shown = || profile.model.show().into_iter().find(|(known, _)| *known == key)?.1.parse().ok();
    given.or_else(shown).unwrap_or_default()
}

fn shortest(number: f64) -> String {
    format!("{number:?}")
}

/// A number of six significant digits.
fn six_digits(number: f64) -> String {
    let rounded = format!("{number:.5e}");
    rounded.parse().map_or(rounded, shortest)
}

#[cfg(test)]
mod test;
