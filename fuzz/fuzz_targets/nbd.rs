//! No bytes of a client make the machines of NBD panic or break what they promise, in whatever portions they come.
//!
//! The first two bytes say how long the portions are; the rest is the client's stream.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/serve/tests/stream/mod.rs"]
mod stream;

fuzz_target!(|bytes: &[u8]| {
    if let Some(([first, second], client)) = bytes.split_first_chunk() {
        stream::assert_portions_do_not_matter(client, &[usize::from(*first) + 1, usize::from(*second) + 1]);
    }
});
