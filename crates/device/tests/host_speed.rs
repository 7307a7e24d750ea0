//! Preconditioning knows how fast the host can be: dies that wait for it collect in the meantime.

use crate::stand::{SECTORS, Stand, four_kib};
use ssdlab_device::block::{Device, Operation, Request};
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::{DieId, Lba};

const UNITS: u32 = 4096;

/// A drive that was filled and overwritten at random, commands taking so long.
fn overwritten(write_command_us: &str) -> Stand<()> {
    let settings = [
        ("capacity_bytes", "16 MiB"),
        ("over_provisioning", "0.4"),
        ("nand.channels", "2"),
        ("nand.dies_per_channel", "2"),
        ("nand.pages_per_block", "16"),
        ("ftl.frontiers", "host-gc"),
        ("ftl.gc_pace", "smooth"),
        ("ftl.gc_low_blocks", "8"),
        ("ftl.gc_high_blocks", "9"),
        ("buffer.bytes", "256 KiB"),
        ("controller.write_command_us", write_command_us),
    ];
    let mut stand = Stand::new("theory", &settings);
    let mut draws = Stream::new(5, Purpose::Victim);
    let random = (0..4 * UNITS).map(|_| draws.below(UNITS));
    for unit in (0..UNITS).chain(random) {
        let lba = Lba(u64::from(unit) * u64::from(SECTORS));
        stand.ssd.apply_now(Request::new(Operation::Write, lba, SECTORS));
    }
    stand
}

fn free_blocks(write_command_us: &str) -> Vec<u32> {
    let stand = overwritten(write_command_us);
    (0..4).map(|die| stand.ssd.ftl.free_groups(DieId(die))).collect()
}

/// With a host that is slower than the flash, collection that goes on in spare time keeps every die above its
/// low watermark; with one that is faster, collection keeps pace with writes, and dies lie at it or below.
#[test]
fn dies_that_wait_for_the_host_collect() {
    let (slow, fast) = (free_blocks("10000"), free_blocks("1"));
    assert!(slow.iter().all(|free| *free > 8), "slow host: {slow:?}");
    assert!(fast.iter().any(|free| *free <= 8), "fast host: {fast:?}");
}

/// A drive that is put away after preconditioning, as for its drive file, begins like one that is not, however
/// often: the first write finds its buffer as full.
#[test]
fn putting_away_keeps_what_the_buffer_holds_under_load() {
    let [mut stays, mut put_away, mut twice] = [(); 3].map(|()| overwritten("1"));
    stays.ssd.flush_now();
    put_away.ssd.put_away();
    twice.ssd.put_away();
    twice.ssd = Ssd::around(&twice.ssd.config().clone(), twice.ssd.ftl);
    twice.ssd.put_away();
    let writes = || (0..200).map(|number| four_kib(Operation::Write, number * 17));
    let times = stays.run(8, writes());
    assert_eq!(put_away.run(8, writes()), times);
    assert_eq!(twice.run(8, writes()), times, "read from its file and put away again");
    let mut empty = overwritten("1");
    empty.ssd.put_away();
    empty.ssd.ftl.backlog.clear();
    assert_ne!(empty.run(8, writes()), times, "else nothing is judged here");
}
