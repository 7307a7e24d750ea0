//! No text makes the readers of traces panic; what they accept is in the order of time, from zero.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_device::units::Nanos;
use ssdlab_lab::workload::trace::parse_trace;

fuzz_target!(|text: &str| {
    if let Ok(entries) = parse_trace(text, "trace") {
        assert_eq!(entries[0].at, Nanos::ZERO);
        assert!(entries.is_sorted_by_key(|entry| entry.at));
    }
});
