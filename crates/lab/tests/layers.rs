//! Keeps the modules in their order: arrows point down.

#[path = "../../device/tests/arrows/mod.rs"]
mod arrows;

use std::path::Path;

/// Lowest first.
const LEVELS: &[&[&str]] = &[
    &["theory", "workload", "null", "mapping_ram"],
    &["bare_loop", "explain", "files", "host", "run"],
    &["condition", "describe", "iolog", "output"],
    &["drive_file"],
    &["session"],
];

/// No module of this crate uses one that lies above it or beside it.
#[test]
fn arrows_point_down() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let wrong = arrows::wrong_arrows(&source, LEVELS);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
