//! Keeps the modules in their order: arrows point down.

use crate::arrows;
use std::path::Path;

/// Lowest first.
const LEVELS: &[&[&str]] = &[
    &["theory", "workload", "null", "mapping_ram", "scale"],
    &["bare_loop", "explain", "files", "host", "run"],
    &["condition", "derived", "describe", "iolog", "output"],
    &["drive_file", "request"],
    &["with_bytes"],
    &["in_folder"],
    &["folder_check", "session"],
    &["log_folder"],
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

/// No file leads back to itself by those that it names.
#[test]
fn there_is_no_circle() {
    let circles = source().circles();
    assert!(circles.is_empty(), "\n{}", circles.join("\n"));
}
