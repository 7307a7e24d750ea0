//! A profile with less capacity that writes as much to flash as the profile itself.
//!
//! A die keeps some blocks empty whatever its size: those that stay free, and what open ones have still to take. With a
//! smaller capacity on the same dies they would be a larger share of the spare, and write amplification would be that
//! of another drive. So they come on top of the smaller drive's share:
//!
//! ```text
//!   blocks = good blocks of the profile · s + e · (dies − dies of the profile · s),   s = capacity / that of the profile
//! ```
//! with e blocks of a die ([`unwritten_per_die`], [`kept_free`], and the SLC cache's own). An SLC cache and the cache of
//! a map shrink by s, too. The smaller drive has no bad blocks, of which chance decides the number among few: a share of
//! them that is given is that of the whole drive, as over-provisioning that is given is. A slice of
//! fewer dies by s stays as it is, and so does a drive where `ftl.spare_counts` or `nand.blocks_per_plane` is given: what
//! is spare is stated then.
//!
//! Left out: fewer blocks than [`LEAST_BLOCKS`] a die, by which write amplification differs by more than 2 %.
//!
//! A drive of the closed forms stays as it is, too, since its over-provisioning states what is collected, and formulas are
//! compared with it. But what its open blocks have still to take is missing from that, and write amplification goes as
//! 1 / spare:
//!
//! ```text
//!   write amplification is off by e · (dies − dies of the profile · s) / spare blocks,   e without the free blocks
//! ```
//! Measured on `theory` of 64, 128, 256, 512 MiB and 1 GiB (`ssdlab run --state steady --exact` with
//! `ftl.spare_counts=collected`, three seeds each): 14, 7.2, 4.0, 1.8 and 0.9 % for 15, 7.6, 3.7, 1.8 and 0.9. Where that
//! is more than 2 %, the drive does not come into steady state ([`check_steady`]).

use crate::drive_file::Label;
use ssdlab_device::config::DriveConfig;
use ssdlab_device::config::ftl::{Frontiers, SlcCache, SpareCounts};
use ssdlab_device::ftl::layout::{kept_free, layout, reserved_for_slc, unwritten_per_die};
use ssdlab_device::nand::geometry::Geometry;
use ssdlab_device::parameter::{Bytes, Value as _};
use ssdlab_device::profile::{Model, Profile, ProfileError};
use std::collections::BTreeSet;

/// Blocks that a die collects at least.
const LEAST_BLOCKS: f64 = 32.0;
/// With less than so many blocks on top nothing is done.
const LEAST_CHANGE: f64 = 0.5;
/// What write amplification in steady state is off by at most.
const MOST_OFF: f64 = 0.02;
/// The least capacity of a drive of the closed forms is rounded up to whole ones of these: 1 MiB.
const TOLD_BYTES: u64 = 1 << 20;
/// Where the least capacity is told it is rounded up to whole ones of so many sectors: 1 GB of 512 bytes.
const TOLD_SECTORS: u64 = 1_953_125;

const CAPACITY: &str = "capacity_bytes";
const SPARE_COUNTS: &str = "ftl.spare_counts";
/// What is given of these is of the whole drive.
const OF_THE_WHOLE: [&str; 2] = ["over_provisioning", "reliability.factory_bad_share"];
/// Who says so.
const SOURCE: &str = "follows from capacity_bytes: write amplification stays that of the profile";

type Settings = Vec<(String, String)>;

/// A profile with settings, and with what follows from a smaller capacity; and these settings in all.
///
/// # Errors
/// What is wrong with profile or settings; a capacity that leaves too few blocks.
pub fn read(
    name: &str,
    file: &str,
    text: &str,
    given: &[(String, String)],
) -> Result<(Profile, Settings), ProfileError> {
    let profile = Profile::read(name, file, text, given)?;
    let mut settings = given.to_vec();
    let Model::Ssd(config) = &profile.model else { return Ok((profile, settings)) };
    let own = Profile::read(name, file, text, &[])?;
    let smaller = Smaller::of(config, own.ssd()?, given).filter(|_| own.ssd().is_ok_and(|own| !is_of_theory(own)));
    let Some(smaller) = smaller else { return Ok((profile, settings)) };
    smaller.check()?;
    let keys = keys(given);
    let follows = smaller.settings().into_iter().filter(|(key, _)| OF_THE_WHOLE.contains(key) || !keys.contains(key));
    let follows: Vec<_> = follows.map(|(key, value)| (key.to_string(), value)).collect();
    settings.extend(follows.iter().cloned());
    let mut profile = Profile::read(name, file, text, &settings)?;
    for (key, _) in &follows {
        if let Some(entry) = profile.entries.get_mut(key) {
            entry.source = SOURCE.into();
        }
    }
    Ok((profile, settings))
}

/// Refuses steady state where a smaller capacity would have another write amplification than the profile.
///
/// # Errors
/// The capacity of a drive of the closed forms is too small, with the least that is not.
pub fn check_steady(label: &Label) -> Result<(), ProfileError> {
    let read = |settings: &[(String, String)]| Profile::read(&label.name, &label.file, &label.profile, settings);
    let (profile, own) = (read(&label.settings)?, read(&[])?);
    let (Model::Ssd(config), Model::Ssd(own)) = (&profile.model, &own.model) else { return Ok(()) };
    let smaller = Smaller::of(config, own, &label.settings).filter(|_| is_of_theory(own));
    smaller.map_or(Ok(()), |smaller| smaller.check_steady())
}

/// The profile is one of the closed forms: it counts only what is collected, in drives of a single frontier, at every size.
fn is_of_theory(own: &DriveConfig) -> bool {
    own.ftl.spare_counts == SpareCounts::Collected && own.ftl.frontiers == Frontiers::Single
}

fn keys(given: &[(String, String)]) -> BTreeSet<&str> {
    given.iter().map(|(key, _)| key.as_str()).collect()
}

/// A drive, and what it has of the one that its profile describes.
struct Smaller<'a> {
    config: &'a DriveConfig,
    /// The drive of the profile, with what else is set.
    whole: DriveConfig,
    share: f64,
    /// Good blocks of the whole drive.
    good: f64,
    /// Blocks of each of its dies that are not collected.
    empty: f64,
}

impl Smaller<'_> {
    /// None where no smaller capacity is given, or its spare is stated with it, or blocks shrink by nothing but dies.
    fn of<'a>(config: &'a DriveConfig, own: &DriveConfig, given: &[(String, String)]) -> Option<Smaller<'a>> {
        let keys = keys(given);
        if !keys.contains(CAPACITY) || keys.contains(SPARE_COUNTS) || config.nand.blocks_per_plane.is_some() {
            return None;
        }
        let mut whole = config.clone();
        whole.export.capacity_bytes = own.export.capacity_bytes;
        (whole.nand.channels, whole.nand.dies_per_channel) = (own.nand.channels, own.nand.dies_per_channel);
        let share = config.export.capacity_bytes.0 as f64 / own.export.capacity_bytes.0 as f64;
        let (geometry, _) = layout(&whole).ok()?;
        let good = f64::from(geometry.blocks) * (1.0 - config.reliability.factory_bad_share);
        let empty = f64::from(kept_free(config)) + unwritten_per_die(config);
        let smaller = Smaller { config, whole, share, good, empty };
        (share < 1.0 && smaller.dies_on_top() * empty >= LEAST_CHANGE).then_some(smaller)
    }

    /// Dies beyond those that a slice of the drive would have.
    fn dies_on_top(&self) -> f64 {
        dies(self.config) - dies(&self.whole) * self.share
    }

    /// Blocks of all dies that are collected.
    fn collected(&self) -> f64 {
        (self.good - dies(&self.whole) * (self.empty + self.reserved(&self.whole))) * self.share
    }

    /// Blocks of a die that only the SLC cache may use.
    fn reserved(&self, config: &DriveConfig) -> f64 {
        layout(&self.whole).map_or(0.0, |(geometry, _)| {
            let geometry = Geometry { dies: config.nand.channels * config.nand.dies_per_channel, ..geometry };
            f64::from(reserved_for_slc(config, &geometry))
        })
    }

    fn check(&self) -> Result<(), ProfileError> {
        let a_die = self.collected() / dies(self.config);
        if a_die >= LEAST_BLOCKS {
            return Ok(());
        }
        let capacity = self.config.export.capacity_bytes;
        let least = capacity.0 as f64 * LEAST_BLOCKS / a_die.max(f64::MIN_POSITIVE);
        let step = TOLD_SECTORS * u64::from(self.config.export.sector_bytes);
        let least = Bytes((least / step as f64).ceil() as u64 * step).min(self.whole.export.capacity_bytes);
        let message = format!(
            "leaves each die {a_die:.0} blocks to collect, and with fewer than {LEAST_BLOCKS} its write amplification is \
             no longer that of the profile\ngive at least {CAPACITY}={}, or fewer dies; \
             {SPARE_COUNTS}={} takes the capacity and its spare as they are",
            told(least),
            self.config.ftl.spare_counts.show()
        );
        Err(ProfileError { place: format!("--set {CAPACITY}={}", told(capacity)), message })
    }

    fn check_steady(&self) -> Result<(), ProfileError> {
        let (unwritten, spare) = (unwritten_per_die(self.config), self.spare());
        let off = unwritten * self.dies_on_top() / spare;
        if off <= MOST_OFF {
            return Ok(());
        }
        // Where it is just so far off: `off` by the share, solved for that.
        let least = unwritten * dies(self.config) / (MOST_OFF * spare / self.share + unwritten * dies(&self.whole));
        let least = least * self.whole.export.capacity_bytes.0 as f64 / TOLD_BYTES as f64;
        let least = Bytes(least.ceil() as u64 * TOLD_BYTES).min(self.whole.export.capacity_bytes);
        let capacity = self.config.export.capacity_bytes;
        let message = format!(
            "leaves {:.1} spare blocks a die, of which {unwritten} is never written, and its write amplification in \
             steady state would be {:.0} % above that of the profile\ngive at least {CAPACITY}={}, fewer dies or smaller \
             blocks; {SPARE_COUNTS}={} takes the capacity and its spare as they are",
            spare / dies(self.config),
            off * 100.0,
            told(least),
            self.config.ftl.spare_counts.show()
        );
        Err(ProfileError { place: format!("--set {CAPACITY}={}", told(capacity)), message })
    }

    /// Blocks of a drive of the closed forms that are collected, beyond those that its data fill.
    fn spare(&self) -> f64 {
        let (geometry, _) = layout(&self.whole).expect("it was made before");
        let units = self.config.export.capacity_bytes.0 as f64 / self.config.unit_bytes() as f64;
        units * self.config.export.over_provisioning.unwrap_or(0.0) / f64::from(geometry.units_per_block())
    }

    /// What the smaller drive has of its own.
    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut small = self.config.clone();
        let shrunk = |bytes: Bytes| Bytes((bytes.0 as f64 * self.share) as u64);
        let ftl = &mut small.ftl;
        (ftl.slc_cache_bytes, ftl.slc_cache_fixed_bytes) =
            (shrunk(ftl.slc_cache_bytes), shrunk(ftl.slc_cache_fixed_bytes));
        let mut settings = vec![
            (OF_THE_WHOLE[0], format!("{:.7}", self.over_provisioning(&small))),
            (OF_THE_WHOLE[1], "0".to_string()),
        ];
        if small.ftl.slc_cache != SlcCache::None {
            settings.push(("ftl.slc_cache_bytes", small.ftl.slc_cache_bytes.0.to_string()));
            settings.push(("ftl.slc_cache_fixed_bytes", small.ftl.slc_cache_fixed_bytes.0.to_string()));
        }
        if let Some(cache) = small.ftl.mapping_cache_bytes {
            settings.push(("ftl.mapping_cache_bytes", shrunk(cache).0.max(1).to_string()));
        }
        settings
    }

    /// That of a drive with as many blocks as it needs.
    fn over_provisioning(&self, small: &DriveConfig) -> f64 {
        let (geometry, _) = layout(&self.whole).expect("it was made before");
        let dies = dies(small);
        let blocks = (self.collected() + dies * (self.empty + self.reserved(small))).round();
        let units = small.export.capacity_bytes.0.div_ceil(small.unit_bytes()) as f64;
        match small.ftl.spare_counts {
            // Half a block more, so that no rounding takes one away.
            SpareCounts::All => (blocks + 0.5) * f64::from(geometry.physical_units_per_block()) / units - 1.0,
            SpareCounts::Collected => {
                let on_top = dies * f64::from(kept_free(small)) + f64::from(u8::from(small.journals_map()));
                (blocks - on_top) * f64::from(geometry.units_per_block()) / units - 1.0
            }
        }
    }
}

/// As it is typed.
fn told(bytes: Bytes) -> String {
    bytes.show().replace(' ', "")
}

fn dies(config: &DriveConfig) -> f64 {
    f64::from(config.nand.channels * config.nand.dies_per_channel)
}

#[cfg(test)]
mod test;
