//! Keeps the modules in their order: arrows point down.

use crate::arrows;
use std::path::Path;

/// Lowest first.
const LEVELS: &[&[&str]] = &[
    &["aging", "bad", "groups", "losses", "medium", "numbers", "since", "storage", "unit"],
    &["account", "file", "promises", "undo", "unstored"],
    &["kept"],
    &["power"],
    &["image", "log"],
    &["copying", "nvme_logs"],
    &["folder", "disk"],
    &["commands", "look", "replay"],
];

/// No module of this crate uses one that lies above it or beside it.
#[test]
fn arrows_point_down() {
    let source = arrows::Crate::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let wrong = source.wrong_arrows(LEVELS);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
