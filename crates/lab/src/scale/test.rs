use super::*;
use ssdlab_device::profile::built_in;

fn scale(text: &str) -> DriveScale {
    text.to_string().try_into().unwrap()
}

fn pairs(settings: &str) -> Vec<(String, String)> {
    let pairs = settings.split_whitespace().filter_map(|pair| pair.split_once('='));
    pairs.map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

/// What follows from a scale of a built-in drive, as `key=value`.
fn follows(drive: &str, settings: &str, text: &str) -> Result<Vec<String>, String> {
    let profile = Profile::read(drive, drive, built_in(drive).unwrap(), &pairs(settings)).unwrap();
    let follows = scale(text).follows(&profile).map_err(|error| error.to_string())?;
    Ok(follows.into_iter().map(|(key, value)| format!("{key}={value}")).collect())
}

/// Each form is read and told as it was given; everything else is refused, and the forms are named.
#[test]
fn forms_are_read() {
    for text in ["blocks:96", "dies:64", "dies:4,whole-link", "dies:4294967295"] {
        assert_eq!(scale(text).to_string(), text);
    }
    let wrong = ["", "96", "blocks", "blocks:", "blocks:0", "blocks:+1", "dies:-1", "dies:4294967296", "dies:1.5"];
    for text in wrong.into_iter().chain(["blocks:9,whole-link", "dies:4,", "dies:4,whole", "Dies:4", "dies: 4"]) {
        let told = DriveScale::try_from(text.to_string()).unwrap_err().to_string();
        for form in ["blocks:N", "dies:N", "dies:N,whole-link"] {
            assert!(told.contains(form), "{text}: {told}");
        }
    }
}

/// 8 GiB in blocks of 4 MiB on 4 dies, a quarter spare: 2560 blocks, 640 a die.
const BY_HAND: &str = "capacity_bytes=8GiB over_provisioning=0.25 ftl.spare_counts=all nand.channels=2 \
    nand.dies_per_channel=2 nand.page_bytes=65536 nand.pages_per_block=64";

/// By hand: 8192 MiB · 99 / 640 = 1267.2 MiB, of which the whole ones stay.
#[test]
fn fewer_blocks_by_hand() {
    let expected = ["capacity_bytes=1328545792", "ftl.spare_counts=collected"];
    assert_eq!(follows("theory", BY_HAND, "blocks:99").unwrap(), expected);
    for enough in ["blocks:640", "blocks:4294967295"] {
        assert!(follows("theory", BY_HAND, enough).unwrap().is_empty());
    }
    assert_eq!(follows("theory", BY_HAND, "blocks:639").unwrap().len(), 2);
}

/// By hand, of 64 pages: a stripe of 10 has 6 of parity, and 1.25 · 58 / 64 − 1 = 0.1328125, a tie that goes to the even
/// digit; of 24, 2, and 0.2109375, a tie again; of 100, at least one, 0.23046875. Parity is no part of collected spare.
#[test]
fn parity_by_hand() {
    for (stripe, left) in [(10, "0.132812"), (24, "0.210938"), (100, "0.230469")] {
        let found = follows("theory", &format!("{BY_HAND} ftl.parity_stripe_pages={stripe}"), "blocks:99").unwrap();
        assert_eq!(found[2..], [format!("over_provisioning={left}")]);
    }
    let collected = format!("{BY_HAND} ftl.parity_stripe_pages=10 ftl.spare_counts=collected");
    assert_eq!(follows("theory", &collected, "blocks:99").unwrap().len(), 2);
}

/// By hand, of a profile and of what was set: 80 GB are 19 531 250 pages, and of 64 GiB a half are 32 GiB.
#[test]
fn fewer_dies_by_hand() {
    let half = [
        "capacity_bytes=40000000000",
        "nand.channels=5",
        "nand.dies_per_channel=2",
        "buffer.bytes=131072",
        "buffer.join_bytes=34359738368",
    ];
    let slower = [
        "link.mb_per_s=125.5",
        "controller.read_command_us=53.14",
        "controller.write_command_us=133.4",
        "controller.move_unit_us=0.0",
    ];
    let x25 = |text| follows("intel-x25-m-g2-80gb", "", text).unwrap();
    assert_eq!(x25("dies:2"), [&half[..], &slower[..]].concat());
    assert_eq!(x25("dies:2,whole-link"), half);
    let settings = "ftl.mapping_cache_bytes=1234567 buffer.bytes=0 link.mb_per_s=333.3 controller.write_command_us=2.7";
    let expected = [
        "capacity_bytes=124999999488",
        "nand.channels=1",
        "nand.dies_per_channel=2",
        "buffer.join_bytes=8589934592",
        "ftl.mapping_cache_bytes=154320",
        "ftl.slc_cache_bytes=5250000000",
        "ftl.slc_cache_fixed_bytes=750000000",
        "link.mb_per_s=41.6625",
        "controller.read_command_us=73.6",
        "controller.write_command_us=21.6",
        "controller.move_unit_us=0.0",
    ];
    assert_eq!(follows("samsung-870-qvo-1tb", settings, "dies:8").unwrap(), expected);
}

/// Of ten channels with two dies each, a fifth has two channels; of eight with eight each a 64th has one, with one die.
#[test]
fn a_slice_has_all_of_its_dies() {
    for (drive, parts, channels, each) in [("intel-x25-m-g2-80gb", 5, 2, 2), ("micron-7450-pro-960gb", 64, 1, 1)] {
        let found = follows(drive, "", &format!("dies:{parts}")).unwrap();
        assert_eq!(found[1..3], [format!("nand.channels={channels}"), format!("nand.dies_per_channel={each}")]);
    }
}

/// What has no such scale is refused with the scale, the drive and a remedy.
#[test]
fn what_makes_no_sense_is_refused() {
    let cases = [
        (
            "theory",
            "",
            "dies:3",
            "scale dies:3: theory: 32 dies on 8 channels cannot be split into 3 equal parts\nchoose one of 1, 2, 4, 8, 16, 32",
        ),
        ("theory", "", "dies:64", "scale dies:64: theory: 32 dies on 8 channels cannot be split into 64 equal parts"),
        // Five dies on the two channels of ten would be four.
        (
            "intel-x25-m-g2-80gb",
            "",
            "dies:4",
            "scale dies:4: intel-x25-m-g2-80gb: 20 dies on 10 channels cannot be split into 4 equal parts\nchoose one of 1, 2, 5, 10, 20",
        ),
        (
            "theory",
            "nand.blocks_per_plane=2000",
            "blocks:9",
            "scale blocks:9: theory: nand.blocks_per_plane = 2000 already fixes",
        ),
        ("fujitsu-mhz2250bh", "", "blocks:9", "scale blocks:9: fujitsu-mhz2250bh: a hard disk has no flash blocks or"),
        ("fujitsu-mhz2250bh", "", "dies:2", "scale dies:2: fujitsu-mhz2250bh: a hard disk has no flash blocks or dies"),
    ];
    for (drive, settings, text, message) in cases {
        let told = follows(drive, settings, text).unwrap_err();
        assert!(told.starts_with(message), "{told}");
    }
}
