//! What an array cannot be is said with key, value and remedy; what it costs has a source.

use super::super::config::{RaidConfig, RaidKind};
use super::super::new;
use super::config;
use crate::null::NullDevice;
use ssdlab_device::block::Device;
use ssdlab_device::units::Nanos;

fn refusal(settings: &str) -> String {
    let config = config(settings);
    let member = |_| Box::new(NullDevice::new(1 << 20, Nanos(1), 32)) as Box<dyn Device>;
    match new(&config, (0..config.disks).map(member).collect()) {
        Ok(_) => format!("{settings} was taken"),
        Err(problem) => format!("{} = {}: {}", problem.key, problem.value, problem.message),
    }
}

/// Each impossible array is refused, and the message says what would be possible.
#[test]
fn the_impossible_is_refused_with_its_remedy() {
    for (settings, expected) in [
        ("level=5 disks=2", "raid.disks = 2: RAID 5 needs at least 3 members"),
        ("level=6 disks=3", "raid.disks = 3: RAID 6 needs at least 4 members"),
        ("level=10 disks=2", "raid.disks = 2: RAID 10 needs at least 3 members; of two make it RAID 1"),
        ("level=10 disks=5 preset=controller", "give an even number, or preset = software"),
        (
            "level=0 disks=2 chunk_bytes=1000",
            "raid.chunk_bytes = 1 kB: must be a multiple of the members' sector, 512 B",
        ),
        ("level=5 disks=3 chunk_bytes=6KiB", "raid.chunk_bytes = 6 KiB: must be a multiple of raid.page_bytes, 4 KiB"),
        ("level=0 disks=3 chunk_bytes=96KiB", "must be a multiple of raid.cache_line_bytes, 64 KiB"),
        ("level=1 disks=2 cache_line_bytes=96KiB", "must divide 1 MiB in RAID 1"),
        ("level=5 disks=3 chunk_bytes=2MiB", "no chunk fits on the smallest member of 1 MiB"),
        ("level=5 disks=3 failed=0+1", "raid.failed = 0+1: RAID 5 does not survive that"),
        ("level=10 disks=4 failed=2+3", "RAID 10 does not survive that"),
        ("level=0 disks=4 failed=2", "RAID 0 does not survive that"),
        ("level=5 disks=3 failed=3", "there is no member 3; they are counted from 0 to 2"),
        ("level=5 disks=3 rebuild=true", "nothing has failed"),
        ("level=0 disks=3 scrub=check", "RAID 0 has nothing to compare"),
        ("level=5 disks=3 scrub=check failed=1", "rebuild first, then scrub"),
        ("level=5 disks=3 write_back=true", "raid.write_back = true: md has no cache that acknowledges writes"),
        ("level=5 disks=3 read_ahead=always", "preset = controller, which has one"),
        ("level=5 disks=3 sync_min_mb_per_s=300", "must not be above raid.sync_max_mb_per_s, 204.8"),
    ] {
        let refusal = refusal(settings);
        assert!(refusal.contains(expected), "{settings}\n{refusal}\n{expected}");
    }
}

/// What can be is taken: two of RAID 10 that share no copies may fail, and its near layout takes three.
#[test]
fn the_possible_is_taken() {
    for settings in
        ["level=10 disks=4 failed=1+2", "level=10 disks=3", "level=6 disks=4 failed=0+3", "level=1 disks=3 failed=0+2"]
    {
        assert!(refusal(settings).ends_with("was taken"), "{}", refusal(settings));
    }
}

/// More or fewer devices than disks are refused.
#[test]
fn disks_are_the_devices_there_are() {
    let members = (0..4).map(|_| Box::new(NullDevice::new(1 << 20, Nanos(1), 32)) as Box<dyn Device>).collect();
    let problem = new(&config("level=5 disks=3"), members).err().expect("four are not three");
    assert_eq!(problem.message, "there are 4 devices to make it of; give as many disks");
}

/// Every key has a default of its own or, in both kinds of array, one with a source; but for level and disks.
#[test]
fn every_default_has_its_place() {
    for declaration in RaidConfig::DECLARATIONS {
        for kind in [RaidKind::Software, RaidKind::Controller] {
            let costs = kind.costs().iter().filter(|cost| cost.key == declaration.key);
            let expected = declaration.default.is_none() && !["raid.level", "raid.disks"].contains(&declaration.key);
            assert_eq!(costs.count(), usize::from(expected), "{}", declaration.key);
        }
    }
    let known = |key: &str| RaidConfig::DECLARATIONS.iter().any(|declaration| declaration.key == key);
    for cost in RaidKind::Software.costs().iter().chain(RaidKind::Controller.costs()) {
        assert!(known(cost.key) && ["published", "assumed"].contains(&cost.kind) && !cost.source.is_empty());
    }
    assert_eq!(config("level=5 disks=3 preset=controller").chunk_bytes.0, 64 << 10);
    assert_eq!(config("level=5 disks=3").chunk_bytes.0, 512 << 10);
}
