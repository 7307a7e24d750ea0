//! What an array cannot be, said with the remedy.

use super::config::{RaidConfig, RaidKind, RaidLevel, ReadAheadPolicy, Scrub};
use super::layout::Layout;
use ssdlab_device::block::Limits;
use ssdlab_device::parameter::{Bytes, Problem, Value};

/// Bytes of a cache line: never more than a chunk, in which it must lie.
pub fn line_bytes(config: &RaidConfig) -> u64 {
    match config.level {
        RaidLevel::Raid1 => config.cache_line_bytes.0,
        _ => config.cache_line_bytes.0.min(config.chunk_bytes.0),
    }
}

/// Checks an array against its members.
///
/// # Errors
/// The first thing that cannot be.
pub fn check(config: &RaidConfig, members: &[Limits]) -> Result<(), Problem> {
    check_members(config, members)?;
    let sector_bytes = members[0].sector_bytes;
    check_sizes(config, u64::from(sector_bytes))?;
    let smallest = members.iter().map(|limits| limits.sectors).min().unwrap_or(0);
    let layout = Layout::new(config, sector_bytes, smallest);
    if layout.sectors == 0 {
        let bytes = Bytes(smallest * u64::from(sector_bytes)).show();
        let message = format!("no chunk fits on the smallest member of {bytes}; give a smaller chunk");
        return Err(Problem::new("raid.chunk_bytes", config.chunk_bytes.show(), message));
    }
    check_lost(config, &layout)?;
    check_cache(config)
}

fn check_members(config: &RaidConfig, members: &[Limits]) -> Result<(), Problem> {
    let (least, why) = match (config.level, config.preset) {
        (RaidLevel::Raid0 | RaidLevel::Raid1, _) => (2, "at least 2 members"),
        (RaidLevel::Raid5, _) => (3, "at least 3 members: two for data and one for parity"),
        (RaidLevel::Raid6, _) => (4, "at least 4 members: two for data and two for parity"),
        (RaidLevel::Raid10, RaidKind::Software) => (3, "at least 3 members; of two make it RAID 1"),
        (RaidLevel::Raid10, RaidKind::Controller) => (4, "at least 4 members"),
    };
    let level = config.level.show();
    if config.disks < least {
        return Err(Problem::new("raid.disks", config.disks, format!("RAID {level} needs {why}")));
    }
    if config.level == RaidLevel::Raid10 && config.preset == RaidKind::Controller && config.disks % 2 == 1 {
        let message = "a controller makes RAID 10 of pairs: give an even number, or preset = software, whose near layout \
                       takes an odd one";
        return Err(Problem::new("raid.disks", config.disks, message));
    }
    if members.len() != config.disks as usize {
        let message = format!("there are {} devices to make it of; give as many disks", members.len());
        return Err(Problem::new("raid.disks", config.disks, message));
    }
    if let Some(other) = members.iter().find(|limits| limits.sector_bytes != members[0].sector_bytes) {
        let message = format!(
            "members have sectors of {} and of {} bytes; take members with equal sectors",
            members[0].sector_bytes, other.sector_bytes
        );
        return Err(Problem::new("raid.disks", config.disks, message));
    }
    Ok(())
}

fn check_sizes(config: &RaidConfig, sector_bytes: u64) -> Result<(), Problem> {
    let multiple = |key: &str, bytes: Bytes, of: u64, what: &str| match bytes.0.is_multiple_of(of) {
        true => Ok(()),
        false => {
            let message = format!("must be a multiple of {what}, {}", Bytes(of).show());
            Err(Problem::new(key, bytes.show(), message))
        }
    };
    multiple("raid.chunk_bytes", config.chunk_bytes, sector_bytes, "the members' sector")?;
    multiple("raid.page_bytes", config.page_bytes, sector_bytes, "the members' sector")?;
    multiple("raid.cache_line_bytes", config.cache_line_bytes, sector_bytes, "the members' sector")?;
    if config.level.parities() > 0 {
        multiple("raid.chunk_bytes", config.chunk_bytes, config.page_bytes.0, "raid.page_bytes")?;
        multiple("raid.cache_line_bytes", Bytes(line_bytes(config)), config.page_bytes.0, "raid.page_bytes")?;
    }
    if config.level == RaidLevel::Raid1 {
        return match (1 << 20) % line_bytes(config) {
            0 => Ok(()),
            _ => {
                let message = "must divide 1 MiB in RAID 1, such as 64 KiB";
                Err(Problem::new("raid.cache_line_bytes", config.cache_line_bytes.show(), message))
            }
        };
    }
    multiple("raid.chunk_bytes", config.chunk_bytes, line_bytes(config), "raid.cache_line_bytes")
}

fn check_lost(config: &RaidConfig, layout: &Layout) -> Result<(), Problem> {
    let (failed, shown) = (&config.failed.0, config.failed.show());
    if let Some(member) = failed.iter().find(|member| **member >= config.disks) {
        let message = format!("there is no member {member}; they are counted from 0 to {}", config.disks - 1);
        return Err(Problem::new("raid.failed", shown, message));
    }
    let lost = |member: u64| failed.contains(&(member as u32));
    let survives = match config.level {
        RaidLevel::Raid0 => failed.is_empty(),
        RaidLevel::Raid1 => failed.len() < config.disks as usize,
        RaidLevel::Raid5 | RaidLevel::Raid6 => failed.len() <= config.level.parities(),
        // Which members share copies repeats after as many stripes as there are members.
        RaidLevel::Raid10 => (0..layout.stripes().min(layout.disks))
            .all(|stripe| layout.places(stripe).iter().any(|place| !lost(place.member as u64))),
    };
    if !survives {
        let message = format!("RAID {} does not survive that; its data are lost", config.level.show());
        return Err(Problem::new("raid.failed", shown, message));
    }
    if config.rebuild && failed.is_empty() {
        return Err(Problem::new("raid.rebuild", true, "nothing has failed; say with raid.failed what is replaced"));
    }
    match config.scrub {
        Scrub::Off => Ok(()),
        _ if config.level == RaidLevel::Raid0 => {
            Err(Problem::new("raid.scrub", config.scrub.show(), "RAID 0 has nothing to compare; leave it out"))
        }
        _ if !failed.is_empty() => {
            Err(Problem::new("raid.scrub", config.scrub.show(), "members have failed; rebuild first, then scrub"))
        }
        _ => Ok(()),
    }
}

fn check_cache(config: &RaidConfig) -> Result<(), Problem> {
    if config.write_back && config.preset == RaidKind::Software {
        let message = "md has no cache that acknowledges writes, so nothing would bound their rate; give \
                       preset = controller, which has one";
        return Err(Problem::new("raid.write_back", "true", message));
    }
    let uses_cache = config.write_back || config.read_ahead != ReadAheadPolicy::Never;
    if uses_cache && config.cache_bytes.0 < line_bytes(config) {
        let message = "write-back and read-ahead need a cache of at least one line; give raid.cache_bytes, or \
                       preset = controller, which has one";
        return Err(Problem::new("raid.cache_bytes", config.cache_bytes.show(), message));
    }
    if config.sync_min_mb_per_s > config.sync_max_mb_per_s {
        let message = format!("must not be above raid.sync_max_mb_per_s, {}", config.sync_max_mb_per_s);
        return Err(Problem::new("raid.sync_min_mb_per_s", config.sync_min_mb_per_s, message));
    }
    Ok(())
}
