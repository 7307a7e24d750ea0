use super::*;
use crate::condition::{Condition, season};
use crate::run::Silent;
use crate::session::{DriveSource, Session};
use ssdlab_device::profile::built_in;
use ssdlab_device::ssd::Ssd;

fn pairs(settings: &str) -> Vec<(String, String)> {
    let pairs = settings.split_whitespace().filter_map(|pair| pair.split_once('='));
    pairs.map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

fn read_built_in(name: &str, settings: &str) -> Result<(Profile, Settings), ProfileError> {
    read(name, name, built_in(name).unwrap(), &pairs(settings))
}

/// What follows from settings.
fn follows(name: &str, settings: &str) -> Vec<String> {
    let (_, all) = read_built_in(name, settings).unwrap();
    all.into_iter().skip(pairs(settings).len()).map(|(key, _)| key).collect()
}

/// A built-in drive as a profile of two dies, of a sixteenth of the pages a block, all of them good, and its capacity.
fn of_two_dies(name: &str) -> (String, u64) {
    let (own, _) = read_built_in(name, "").unwrap();
    let config = own.ssd().unwrap();
    let shrink = dies(config) / 2.0 * 16.0;
    let capacity = (config.export.capacity_bytes.0 as f64 / shrink) as u64 / 4096 * 4096;
    let numbers = [
        ("capacity_bytes", capacity),
        ("channels", 1),
        ("dies_per_channel", 2),
        ("pages_per_block", u64::from(config.nand.pages_per_block / 16)),
        ("factory_bad_share", 0),
        ("slc_cache_bytes", (config.ftl.slc_cache_bytes.0 as f64 / shrink) as u64),
        ("slc_cache_fixed_bytes", (config.ftl.slc_cache_fixed_bytes.0 as f64 / shrink) as u64),
    ];
    let line = |line: &str| {
        let key = line.split(" = ").next().unwrap();
        let number = numbers.iter().find(|(known, _)| *known == key);
        number.map_or(line.to_string(), |(key, value)| {
            format!("{key} = {{ value = {value}, kind = \"assumed\", source = \"test\" }}")
        })
    };
    let text = built_in(name).unwrap();
    (text.lines().map(line).collect::<Vec<_>>().join("\n"), capacity)
}

/// In steady state.
fn amplification(text: &str, capacity: u64) -> f64 {
    seeded(text, capacity, 1)
}

fn seeded(text: &str, capacity: u64, seed: u64) -> f64 {
    let settings = [(CAPACITY.to_string(), capacity.to_string())];
    let (profile, _) = read("small", "small", text, &settings).unwrap();
    let mut ssd = Ssd::new(profile.ssd().unwrap(), seed, ()).unwrap();
    let season = season(&mut ssd, Condition::Fresh, Condition::SteadyByJob, &[], 1.0, seed, &mut Silent).unwrap();
    let last = &season.rounds[season.rounds.len() - 8..];
    last.iter().sum::<f64>() / 8.0
}

/// A drive of an eighth of the capacity, on the same dies, has the write amplification of its profile within 2 %: smooth
/// and in batches, with an SLC cache, and where only collected blocks count as spare. With the spare as it is the Micron
/// has 9.2 at a fifteenth, where the profile has 4.57.
#[test]
fn write_amplification_stays() {
    for name in ["intel-dc-s3500-80gb", "intel-x25-m-g2-80gb", "samsung-pm9a3-960gb", "micron-7450-pro-960gb"] {
        let (text, capacity) = of_two_dies(name);
        let (whole, eighth) = (amplification(&text, capacity), amplification(&text, capacity / 8 / 4096 * 4096));
        assert!((eighth / whole - 1.0).abs() < 0.02, "{name}: {eighth:.3} for {whole:.3}");
    }
}

/// Too few blocks a die are refused, with key, value and the least capacity, and that is taken.
#[test]
fn too_small_is_refused_and_says_what_would_do() {
    for name in ["micron-7450-pro-960gb", "samsung-870-qvo-1tb", "ocz-vertex-2-90gb", "solidigm-d5-p5336-15tb"] {
        let message = read_built_in(name, "capacity_bytes=1GB").unwrap_err().to_string();
        assert!(message.starts_with("--set capacity_bytes=1GB: leaves each die"), "{message}");
        let least = message.split("at least ").nth(1).unwrap().split(',').next().unwrap();
        assert_eq!(follows(name, least)[0], "over_provisioning", "{least}");
        assert!(
            follows(name, &format!("capacity_bytes=1GB ftl.spare_counts=all {}", "over_provisioning=3")).is_empty()
        );
    }
}

/// Nothing follows from the profile's own capacity or a larger one, from a slice of dies, from spare that is stated, on
/// the drive of the closed forms, of which all that counts as spare is collected, and on a hard disk.
#[test]
fn what_is_stated_stays() {
    for (name, settings) in [
        ("intel-dc-s3500-80gb", "over_provisioning=0.3"),
        ("intel-dc-s3500-80gb", "capacity_bytes=80GB"),
        ("intel-dc-s3500-80gb", "capacity_bytes=160GB"),
        ("intel-dc-s3500-80gb", "capacity_bytes=20GB nand.channels=2"),
        ("intel-dc-s3500-80gb", "capacity_bytes=20GB ftl.spare_counts=all"),
        ("intel-dc-s3500-80gb", "capacity_bytes=40GB nand.blocks_per_plane=2816"),
        ("theory", "capacity_bytes=64MiB"),
        ("theory", "capacity_bytes=64MiB ftl.frontiers=host-gc"),
        ("hitachi-deskstar-7k1000c-1tb", "capacity_bytes=10GB"),
    ] {
        assert!(follows(name, settings).is_empty(), "{name} {settings}");
    }
}

/// What is said of a drive of the closed forms that is to become steady.
fn refused_steady(text: &str, settings: &str) -> Option<String> {
    let (name, settings) = ("theory", pairs(settings));
    let source = DriveSource::Profile { name: name.into(), file: name.into(), text: text.into(), scale: None };
    let session = Session::open(&source, &settings, 1).unwrap();
    check_steady(&session.label).err().map(|error| error.to_string())
}

/// A drive of the closed forms with few spare blocks a die does not become steady; the least capacity is told, and that does,
/// as do drives of fewer dies or smaller blocks, and one whose spare is stated. By hand: 64 MiB are 128 blocks of 512 KiB, so
/// 35.84 are spare on 32 dies, 1.12 each; 0.17 of a block on 31.875 dies are 15 % of that.
#[test]
fn steady_state_of_few_spare_blocks_is_refused() {
    let text = built_in("theory").unwrap();
    let message = refused_steady(text, "capacity_bytes=64MiB").unwrap();
    assert!(message.starts_with("--set capacity_bytes=64MiB: leaves 1.1 spare blocks a die"), "{message}");
    assert!(message.contains("would be 15 % above"), "{message}");
    let least = message.split("at least ").nth(1).unwrap().split(',').next().unwrap();
    assert_eq!(least, "capacity_bytes=472MiB");
    for settings in [
        least,
        "capacity_bytes=1GiB",
        "over_provisioning=0.07",
        "capacity_bytes=64MiB nand.channels=1 nand.dies_per_channel=2",
        "capacity_bytes=64MiB nand.pages_per_block=16",
        "capacity_bytes=64MiB ftl.spare_counts=collected",
    ] {
        assert_eq!(refused_steady(text, settings), None, "{settings}");
    }
    for settings in ["capacity_bytes=471MiB", "capacity_bytes=1GiB over_provisioning=0.07"] {
        assert!(refused_steady(text, settings).is_some(), "{settings}");
    }
    let source = built_in("intel-dc-s3500-80gb").unwrap();
    assert_eq!(refused_steady(source, "capacity_bytes=8GB"), None);
}

/// On two of its dies: at the least capacity that is taken write amplification is that of the profile within 2 %, and 1 % more
/// for what eight seeds scatter; at half of it, it is not.
#[test]
fn at_the_least_capacity_write_amplification_is_that_of_the_closed_forms() {
    let mut text = built_in("theory").unwrap().to_string();
    for (of_32_dies, of_two) in [
        ("\nchannels = { value = 8", "\nchannels = { value = 1"),
        ("dies_per_channel = { value = 4", "dies_per_channel = { value = 2"),
        ("\"16 GiB\"", "\"1 GiB\""),
    ] {
        assert!(text.contains(of_32_dies));
        text = text.replace(of_32_dies, of_two);
    }
    let mean = |capacity: u64| (1..=8).map(|seed| seeded(&text, capacity, seed)).sum::<f64>() / 8.0;
    // Below, the drive has no room for what it keeps free.
    let is_taken = |bytes: &u64| refused_steady(&text, &format!("capacity_bytes={bytes}")).is_none();
    let least = (16..).map(|mebibytes| mebibytes << 20).find(is_taken).unwrap();
    let [whole, taken, refused] = [1 << 28, least, least / 2].map(mean);
    assert!((taken / whole - 1.0).abs() < 0.03, "{least}: {taken:.3} for {whole:.3}");
    assert!(refused / whole > 1.03, "{refused:.3} for {whole:.3}");
}

/// Bad blocks that are given are taken from the whole drive, once: the smaller one has their share less, and none itself.
#[test]
fn bad_blocks_are_those_of_the_whole_drive() {
    let of = |bad: &str| {
        let settings = format!("capacity_bytes=8GB reliability.factory_bad_share={bad}");
        let (profile, _) = read_built_in("intel-dc-s3500-80gb", &settings).unwrap();
        let config = profile.ssd().unwrap();
        assert_eq!(config.reliability.factory_bad_share, 0.0);
        layout(config).unwrap().0.blocks
    };
    let (whole, _) = read_built_in("intel-dc-s3500-80gb", "").unwrap();
    let fewer = 0.02 * f64::from(layout(whole.ssd().unwrap()).unwrap().0.blocks) / 10.0;
    // Blocks are whole ones, and each die has as many.
    let dies = dies(whole.ssd().unwrap());
    assert!((f64::from(of("0") - of("0.02")) - fewer).abs() <= dies, "{} of {}, {fewer}", of("0.02"), of("0"));
}

/// What follows says so where parameters are shown; what the user sets of it stays.
#[test]
fn what_follows_says_so() {
    let (profile, _) = read_built_in("samsung-870-qvo-1tb", "capacity_bytes=125GB ftl.slc_cache_bytes=9GB").unwrap();
    assert_eq!(profile.provenance("over_provisioning"), ("set", SOURCE));
    assert_eq!(profile.provenance("ftl.slc_cache_bytes"), ("set", "command line"));
    assert_eq!(profile.ssd().unwrap().ftl.slc_cache_fixed_bytes, Bytes(750_000_000));
}
