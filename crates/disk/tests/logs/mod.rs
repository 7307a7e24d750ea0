//! A log of strangers, played on a small drive: for the tests, and for fuzzing.

use ssdlab_device::profile::{Profile, built_in};
use ssdlab_disk::disk::Disk;
use ssdlab_disk::medium::NoBytes;
use ssdlab_disk::replay::replay;

/// A buffered drive of 16 MiB.
fn drive() -> Disk<NoBytes> {
    let text = built_in("theory").expect("it comes along");
    let settings = [
        ("capacity_bytes", "16MiB"),
        ("nand.channels", "2"),
        ("nand.dies_per_channel", "2"),
        ("nand.pages_per_block", "32"),
        ("buffer.bytes", "1MiB"),
    ];
    let settings = settings.map(|(key, value)| (key.to_string(), value.to_string()));
    let profile = Profile::read("theory", "theory", text, &settings).expect("it is small");
    Disk::new(profile.ssd().expect("it is a drive"), 1, NoBytes).expect("it is small")
}

/// Whatever a log says: it is played, or the line that differs is named, and the next time it is the same.
pub fn assert_replay_is_the_same(log: &[u8]) {
    let [first, second] = [0, 1].map(|_| format!("{:?}", replay(&mut drive(), log)));
    assert_eq!(first, second);
}
