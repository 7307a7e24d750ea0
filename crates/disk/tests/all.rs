//! All tests that span modules of the crate, in one program.

#[path = "../../device/tests/arrows/mod.rs"]
mod arrows;
mod commands;
mod folder;
mod history;
#[path = "../../device/tests/stand/kinds.rs"]
mod kinds;
mod layers;
mod mediums;
mod named_commands;
mod oracle;
mod power_cuts;
mod same_times;
mod write_ahead_log;
