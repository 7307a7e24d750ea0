//! Keeps the modules in their order: arrows point down.

mod arrows;

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

/// No module of this crate uses one that lies above it or beside it.
#[test]
fn arrows_point_down() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let wrong = arrows::wrong_arrows(&source, LEVELS);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
