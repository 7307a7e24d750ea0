//! No profile and no setting makes the reader, or the layout of the drive, panic.
//!
//! The text is read as a profile, and its lines `KEY=VALUE` as settings over the theory drive.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_device::ftl::layout::layout;
use ssdlab_device::profile::{Profile, built_in};

fuzz_target!(|text: &str| {
    let settings: Vec<(String, String)> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.trim().to_string(), value.trim().to_string()))
        .collect();
    let theory = built_in("theory").expect("the theory profile comes along");
    let profiles =
        [Profile::read("fuzz", "fuzz.toml", text, &[]), Profile::read("theory", "theory.toml", theory, &settings)];
    for profile in profiles.into_iter().flatten() {
        if let Ok(config) = profile.ssd() {
            let _ = layout(config);
        }
    }
});
