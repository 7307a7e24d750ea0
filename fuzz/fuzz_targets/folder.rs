//! No damage to the files of a drive's folder makes the program panic, is served as data, or is not told.
//!
//! The bytes are edits of a sound folder, eight bytes each.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/lab/tests/damaged/mod.rs"]
mod damaged;

fuzz_target!(|edits: &[u8]| damaged::assert_damage_is_told(&edits[..edits.len().min(256)]));
