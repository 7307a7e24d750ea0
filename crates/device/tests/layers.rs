//! Keeps the modules in their order: arrows point down.

use crate::arrows;
use std::path::Path;

/// Lowest first.
const LEVELS: &[&[&str]] = &[
    &["units"],
    &["parameter", "counters"],
    &["config", "sim", "block"],
    &["nand"],
    &["ftl"],
    &["ssd", "hdd"],
    &["profile"],
];

fn source() -> arrows::Crate {
    arrows::Crate::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

/// No module of this crate uses one that lies above it or beside it.
#[test]
fn arrows_point_down() {
    let wrong = source().wrong_arrows(LEVELS);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Parts of the FTL by level, and last the steps.
const FTL: &[&[&str]] = &[
    &["scan"],
    &["table", "pool", "backlog", "superseded", "map_log"],
    &["packing", "frontier", "growth", "job", "invalidations"],
    &["streams"],
    &["mapping", "blocks"],
    &["victim"],
    &["foreign"],
    &["rules"],
    &["layout", "die"],
    &["slc", "spare", "translation"],
    &["saved"],
    &["copy", "empty", "grow", "lose", "plain", "reclaim", "recover", "separate", "view", "write"],
];

/// Parts of the drive by level, and last the steps.
const SSD: &[&[&str]] = &[
    &["past", "signs", "write_pace"],
    &[
        "activity",
        "pieces",
        "endings",
        "idle_ring",
        "link",
        "move_processor",
        "move_runs",
        "health",
        "pending",
        "power_states",
        "program_budget",
        "seasoning_row",
        "write_buffer",
    ],
    &["shape", "journal", "dies", "commands"],
    &[
        "admin",
        "admit",
        "staged",
        "catch_up",
        "copy",
        "cut",
        "flush",
        "job",
        "read",
        "recovery",
        "row",
        "seasoning",
        "trim",
        "work",
        "write",
    ],
];

/// Inside the two folders that have levels of their own, too.
#[test]
fn arrows_point_down_inside_folders() {
    let source = source();
    let wrong = [source.wrong_arrows_in(&["ftl"], FTL), source.wrong_arrows_in(&["ssd"], SSD)].concat();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// No file leads back to itself by those that it names.
#[test]
fn there_is_no_circle() {
    let circles = source().circles();
    assert!(circles.is_empty(), "\n{}", circles.join("\n"));
}
