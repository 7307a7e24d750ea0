//! Every kind of drive that the configuration can tell apart, as settings over a small drive of the theory profile.
#![allow(dead_code, reason = "tests of other crates use it, too")]

use ssdlab_device::config::DriveConfig;
use ssdlab_device::profile::{Profile, built_in};

/// 16 MiB over 4 dies of blocks of 32 pages.
pub const SMALL: [(&str, &str); 4] = [
    ("capacity_bytes", "16 MiB"),
    ("nand.channels", "2"),
    ("nand.dies_per_channel", "2"),
    ("nand.pages_per_block", "32"),
];

/// The small drive with settings over that.
pub fn config(settings: &[(&str, &str)]) -> DriveConfig {
    let all: Vec<_> = SMALL.iter().chain(settings).map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let profile =
        Profile::read("theory", "theory", built_in("theory").unwrap(), &all).unwrap_or_else(|error| panic!("{error}"));
    profile.ssd().unwrap().clone()
}

/// The drive of that name.
pub fn named(name: &str) -> Vec<(&'static str, &'static str)> {
    drives().into_iter().find(|(other, _)| *other == name).expect("a drive of the list").1
}

/// Every kind of drive, small: what a property of drives is held against.
pub fn drives() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let buffered = [("buffer.bytes", "1 MiB"), ("ftl.frontiers", "host-gc")];
    let with = |more: &[(&'static str, &'static str)]| [&buffered, more].concat();
    vec![
        ("theory", vec![]),
        ("fifo", vec![("ftl.gc", "fifo")]),
        ("random", vec![("ftl.gc", "random")]),
        ("d-choices", vec![("ftl.gc", "d-choices:3"), ("ftl.frontiers", "host-gc")]),
        ("cost-benefit", vec![("ftl.gc", "cost-benefit")]),
        ("buffered", with(&[])),
        ("map journal", with(&[("ftl.map_journal", "true")])),
        ("map journal, no buffer", vec![("ftl.map_journal", "true")]),
        (
            "map journal, superblocks",
            with(&[("ftl.map_journal", "true"), ("ftl.striping", "superblock"), ("over_provisioning", "0.6")]),
        ),
        (
            "map journal, failing programs",
            with(&[
                ("ftl.map_journal", "true"),
                ("reliability.program_fail_share", "0.001"),
                ("over_provisioning", "1.5"),
            ]),
        ),
        ("parity", with(&[("ftl.parity_stripe_pages", "8"), ("over_provisioning", "0.8")])),
        (
            "parity, superblocks, map log",
            with(&[
                ("ftl.parity_stripe_pages", "4"),
                ("ftl.map_log_entry_bytes", "64"),
                ("ftl.striping", "superblock"),
                ("over_provisioning", "1.2"),
            ]),
        ),
        ("power budget", with(&[("power.programs_at_once", "1"), ("nand.suspend", "true")])),
        ("power budget, smooth", with(&[("power.programs_at_once", "2"), ("ftl.gc_pace", "smooth")])),
        (
            "power budget, superblocks, no buffer",
            vec![
                ("power.programs_at_once", "2"),
                ("ftl.striping", "superblock"),
                ("ftl.frontiers", "host-gc"),
                ("over_provisioning", "0.6"),
            ],
        ),
        ("slow move processor", with(&[("controller.move_unit_us", "300"), ("nand.suspend", "true")])),
        (
            "slow move processor, power budget, superblocks, smooth",
            with(&[
                ("controller.move_unit_us", "100"),
                ("power.programs_at_once", "1"),
                ("ftl.striping", "superblock"),
                ("ftl.gc_pace", "smooth"),
                ("over_provisioning", "0.6"),
            ]),
        ),
        ("paced writes", with(&[("controller.paced_write_mb_per_s", "3"), ("ftl.gc_pace", "smooth")])),
        (
            "paced writes, half duplex, no buffer",
            vec![
                ("controller.paced_write_mb_per_s", "3"),
                ("link.protocol", "sata-ncq"),
                ("link.queue_depth", "32"),
                ("link.mb_per_s", "300"),
            ],
        ),
        ("protected buffer", with(&[("buffer.power_loss_protected", "true")])),
        ("small units", with(&[("nand.page_bytes", "16 KiB"), ("ftl.mapping_unit_bytes", "4 KiB")])),
        (
            "small units, no buffer",
            vec![("nand.page_bytes", "16 KiB"), ("ftl.mapping_unit_bytes", "4 KiB"), ("over_provisioning", "0.9")],
        ),
        ("large units", with(&[("ftl.mapping_unit_bytes", "16 KiB"), ("over_provisioning", "0.6")])),
        ("planes", with(&[("nand.planes", "2"), ("ftl.mapping_unit_bytes", "4 KiB"), ("over_provisioning", "0.6")])),
        ("superblocks", with(&[("ftl.striping", "superblock"), ("over_provisioning", "0.6")])),
        (
            "superblocks of two dies",
            with(&[("ftl.striping", "superblock"), ("ftl.superblock_dies", "2"), ("over_provisioning", "0.6")]),
        ),
        (
            "superblocks of two dies, failing programs, power budget",
            with(&[
                ("ftl.striping", "superblock"),
                ("ftl.superblock_dies", "2"),
                ("power.programs_at_once", "2"),
                ("reliability.program_fail_share", "0.001"),
                ("reliability.factory_bad_share", "0.02"),
                ("over_provisioning", "2"),
            ]),
        ),
        (
            "superblocks of two dies, smooth, static slc cache",
            with(&[
                ("ftl.striping", "superblock"),
                ("ftl.superblock_dies", "2"),
                ("ftl.gc_pace", "smooth"),
                ("nand.cell", "tlc"),
                ("nand.pages_per_block", "48"),
                ("ftl.slc_cache", "static"),
                ("ftl.slc_cache_bytes", "1 MiB"),
                ("ftl.slc_fold_at", "0.5"),
                ("over_provisioning", "1.5"),
                ("ftl.idle_gc_after_ms", "1"),
            ]),
        ),
        ("smooth", with(&[("ftl.gc_pace", "smooth")])),
        ("wear levelling", with(&[("ftl.static_wear_cycles", "2"), ("ftl.dynamic_wear_leveling", "true")])),
        (
            "static slc cache",
            with(&[
                ("nand.cell", "tlc"),
                ("nand.pages_per_block", "48"),
                ("ftl.slc_cache", "static"),
                ("ftl.slc_cache_bytes", "1 MiB"),
                ("over_provisioning", "1.5"),
                ("ftl.idle_gc_after_ms", "1"),
            ]),
        ),
        (
            "read errors",
            with(&[
                ("reliability.rber_fresh", "0.003"),
                ("reliability.correctable_bits", "25"),
                ("reliability.retry_gain", "0.8"),
                ("reliability.retries", "8"),
            ]),
        ),
        (
            // More blocks are kept free than the programs of one job are likely to fail on.
            "failing programs",
            with(&[
                ("reliability.program_fail_share", "0.001"),
                ("over_provisioning", "1.5"),
                ("ftl.gc_low_blocks", "4"),
                ("ftl.gc_high_blocks", "5"),
            ]),
        ),
        ("cached map", with(&[("ftl.mapping_cache_bytes", "8 KiB"), ("over_provisioning", "0.5")])),
        (
            "slc cache",
            with(&[
                ("nand.cell", "tlc"),
                ("nand.pages_per_block", "48"),
                ("ftl.slc_cache", "dynamic"),
                ("ftl.slc_cache_bytes", "4 MiB"),
                ("over_provisioning", "0.8"),
                ("ftl.idle_gc_after_ms", "1"),
            ]),
        ),
        (
            "slc cache folded under load",
            with(&[
                ("nand.cell", "tlc"),
                ("nand.pages_per_block", "48"),
                ("ftl.slc_cache", "dynamic"),
                ("ftl.slc_cache_bytes", "4 MiB"),
                ("ftl.slc_fold_at", "0.3"),
                ("over_provisioning", "0.8"),
            ]),
        ),
        (
            "slc cache with a fixed part",
            with(&[
                ("nand.cell", "tlc"),
                ("nand.pages_per_block", "48"),
                ("ftl.slc_cache", "dynamic"),
                ("ftl.slc_cache_bytes", "4 MiB"),
                ("ftl.slc_cache_fixed_bytes", "1 MiB"),
                ("over_provisioning", "1.5"),
                ("ftl.idle_gc_after_ms", "1"),
            ]),
        ),
        (
            "compression",
            with(&[
                ("controller.compression", "true"),
                ("nand.page_bytes", "8 KiB"),
                ("ftl.mapping_unit_bytes", "4 KiB"),
                ("over_provisioning", "0.5"),
            ]),
        ),
        ("compression, a unit a row", with(&[("controller.compression", "true"), ("over_provisioning", "0.5")])),
        (
            "compression, superblocks",
            with(&[
                ("controller.compression", "true"),
                ("nand.page_bytes", "8 KiB"),
                ("ftl.mapping_unit_bytes", "4 KiB"),
                ("ftl.striping", "superblock"),
                ("over_provisioning", "1.2"),
            ]),
        ),
        (
            "compression, large units",
            with(&[
                ("controller.compression", "true"),
                ("ftl.mapping_unit_bytes", "16 KiB"),
                ("over_provisioning", "0.6"),
            ]),
        ),
        (
            "compression, failing programs",
            with(&[
                ("controller.compression", "true"),
                ("nand.page_bytes", "8 KiB"),
                ("ftl.mapping_unit_bytes", "4 KiB"),
                ("reliability.program_fail_share", "0.001"),
                ("over_provisioning", "2.5"),
            ]),
        ),
        ("suspend", with(&[("nand.suspend", "true")])),
        ("half duplex", with(&[("link.protocol", "sata-ncq"), ("link.queue_depth", "32"), ("link.mb_per_s", "300")])),
        ("joins nothing", with(&[("buffer.join_bytes", "0")])),
        (
            "fua past the slc cache",
            with(&[
                ("nand.cell", "tlc"),
                ("nand.pages_per_block", "48"),
                ("ftl.slc_cache", "dynamic"),
                ("ftl.slc_cache_bytes", "4 MiB"),
                ("ftl.frontiers", "host-gc"),
                ("ftl.map_journal", "true"),
                ("buffer.fua_past_slc", "true"),
                ("over_provisioning", "0.8"),
            ]),
        ),
        (
            "joins nothing, large units",
            with(&[
                ("buffer.join_bytes", "0"),
                ("ftl.mapping_unit_bytes", "16 KiB"),
                ("nand.suspend", "true"),
                ("over_provisioning", "0.6"),
            ]),
        ),
        (
            "joins the newest, small units, protected buffer",
            with(&[
                ("buffer.join_bytes", "32 KiB"),
                ("buffer.power_loss_protected", "true"),
                ("nand.page_bytes", "16 KiB"),
                ("ftl.mapping_unit_bytes", "4 KiB"),
            ]),
        ),
        (
            "joins the newest, map journal, superblocks",
            with(&[
                ("buffer.join_bytes", "64 KiB"),
                ("ftl.map_journal", "true"),
                ("ftl.striping", "superblock"),
                ("nand.page_bytes", "16 KiB"),
                ("ftl.mapping_unit_bytes", "8 KiB"),
                ("over_provisioning", "1.2"),
            ]),
        ),
    ]
}
