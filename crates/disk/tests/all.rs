//! All tests that span modules of the crate, in one program.

#[path = "../../device/tests/arrows/mod.rs"]
mod arrows;
mod atomic;
mod commands;
mod drawn_logs;
mod faults;
mod folder;
mod history;
#[path = "../../device/tests/stand/kinds.rs"]
mod kinds;
mod layers;
mod logs;
mod mediums;
#[path = "../../device/tests/stand/named.rs"]
mod named;
mod named_commands;
mod oracle;
mod power_cuts;
mod same_times;
mod write_ahead_log;

/// No file of tests is forgotten here, where it would not be run.
#[test]
fn every_file_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    named::assert_every_file_is_named(&folder, include_str!("all.rs"));
}
