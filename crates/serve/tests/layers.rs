//! Keeps the modules in their order: arrows point down.

#[path = "../../device/tests/arrows/mod.rs"]
mod arrows;

use std::path::Path;

/// The protocol's modules, lowest first.
const NBD: &[&[&str]] = &[&["wire"], &["export", "violation"], &["command", "handshake"], &["reply"], &["session"]];

/// The crate's modules, lowest first: the protocol; what stands alone; a drive and its users; sockets and threads.
const LEVELS: &[&[&str]] = &[
    &["request"],
    &["nbd"],
    &["outcome"],
    &["nvme"],
    &["replies"],
    &["budget", "clock", "counts", "latency", "limits", "offer", "socket", "steps"],
    &["brake", "input", "outbox", "sanitize"],
    &["drive", "output"],
    &["served"],
    &["target"],
    &["house"],
    &["client"],
    &["connection", "queue"],
    &["listener"],
    &["server"],
];

fn source() -> arrows::Crate {
    arrows::Crate::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

/// No module uses one that lies above it or beside it.
#[test]
fn arrows_point_down() {
    let source = source();
    let wrong = [source.wrong_arrows(LEVELS), source.wrong_arrows_in(&["nbd"], NBD)].concat();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// No file leads back to itself by those that it names.
#[test]
fn there_is_no_circle() {
    let circles = source().circles();
    assert!(circles.is_empty(), "\n{}", circles.join("\n"));
}
