//! No log makes its replay panic; played twice, it comes to the same.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/disk/tests/logs/mod.rs"]
mod logs;

fuzz_target!(|log: &[u8]| logs::assert_replay_is_the_same(log));
