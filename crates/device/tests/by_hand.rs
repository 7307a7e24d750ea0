//! Single commands on an idle drive against arithmetic, to the nanosecond.
//!
//! Every expected time is put together from the parameters of the drive at hand, as the model says:
//! link command, controller, flash command, array, channel, link.

use crate::stand::{SECTORS, Stand, four_kib};
use ssdlab_device::block::{Busy, Device, Operation, Request, Tag};
use ssdlab_device::config::DriveConfig;
use ssdlab_device::units::{Lba, Lpn, Nanos};

/// A drive without a buffer, one with SATA, planes and spare bytes, one with NVMe and TLC.
const PROFILES: [&str; 3] = ["theory", "intel-dc-s3500-80gb", "micron-7450-pro-960gb"];
/// Small enough to be made in no time, and nothing left to chance.
const SMALL: [(&str, &str); 3] =
    [("capacity_bytes", "4 GiB"), ("nand.pages_per_block", "96"), ("controller.latency_jitter_us", "0")];
/// One die; the program time is longer than everything before it.
const ONE_DIE: [(&str, &str); 4] = [
    ("capacity_bytes", "16 MiB"),
    ("nand.channels", "1"),
    ("nand.dies_per_channel", "1"),
    ("nand.pages_per_block", "32"),
];

/// The parts of which times are put together; a command's with its latency, which comes at the end.
struct Parts {
    read_command: Nanos,
    write_command: Nanos,
    flash_command: Nanos,
    read: Nanos,
    program: Nanos,
    config: DriveConfig,
}

impl Parts {
    /// The parts of a drive, for rows of the first page kind.
    fn of(config: &DriveConfig) -> Parts {
        let link = config.link.command_us.0;
        Parts {
            read_command: link + config.controller.read_command_us.0 + config.controller.read_latency_us.0,
            write_command: link + config.controller.write_command_us.0 + config.controller.write_latency_us.0,
            flash_command: config.nand.command_us.0,
            read: config.nand.read_us.0[0],
            program: config.nand.program_us.0[0],
            config: config.clone(),
        }
    }

    /// Data and its share of the spare bytes over the channel.
    fn channel(&self, bytes: u64) -> Nanos {
        let (page, spare) = (self.config.nand.page_bytes.0, self.config.nand.spare_bytes.0);
        assert_eq!(bytes * spare % page, 0, "whole bytes, so that rounding has one meaning");
        Nanos::of_transfer(bytes + bytes * spare / page, self.config.nand.channel_mb_per_s)
    }

    fn link(&self, bytes: u64) -> Nanos {
        Nanos::of_transfer(bytes, self.config.link.mb_per_s)
    }

    fn idle_read(&self) -> Nanos {
        self.read_command + self.flash_command + self.read + self.channel(4096) + self.link(4096)
    }

    /// From the controller to the end of the program, of a row that holds one unit of 4 KiB.
    fn idle_unbuffered_write(&self) -> Nanos {
        self.write_command + self.link(4096) + self.flash_command + self.channel(4096) + self.program
    }
}

/// An idle 4 KiB read takes link command + controller + flash command + tR + channel + link + latency.
#[test]
fn idle_read() {
    for profile in PROFILES {
        let mut stand = Stand::new(profile, &SMALL);
        stand.fill(4096);
        let expected = Parts::of(stand.ssd.config()).idle_read();
        for number in [0, 1, 777, 4095] {
            assert_eq!(stand.time(four_kib(Operation::Read, number)), expected, "{profile}, unit {number}");
        }
    }
    // The same once more from the bare numbers of the theory profile: 1 µs + 75 µs + 4096 B at 333 and at 3500 MB/s.
    let mut stand = Stand::new("theory", &SMALL);
    stand.fill(1);
    assert_eq!(stand.time(four_kib(Operation::Read, 0)), Nanos(1_000 + 75_000 + 12_301 + 1_171));
}

/// Command and address cycles of the flash and the host's own frames are part of the time of a read and of a write.
#[test]
fn command_cycles_cost_time() {
    let mut stand = Stand::new("theory", &[SMALL[0], ("nand.command_us", "0.3"), ("link.command_us", "0.7")]);
    stand.fill(8);
    let read = stand.time(four_kib(Operation::Read, 3));
    assert_eq!(read, Nanos(700 + 1_000 + 300 + 75_000 + 12_301 + 1_171));
    let write = stand.time(four_kib(Operation::Write, 3));
    assert_eq!(write, Nanos(700 + 1_000 + 1_171 + 300 + 12_301 + 750_000));
}

/// A read of what was never written takes no flash time, and is counted as having hit nothing.
#[test]
fn unwritten_unit_costs_no_flash() {
    for profile in PROFILES {
        let mut stand = Stand::new(profile, &SMALL);
        let parts = Parts::of(stand.ssd.config());
        assert_eq!(stand.time(four_kib(Operation::Read, 5)), parts.read_command + parts.link(4096), "{profile}");
        let counters = stand.ssd.counters();
        assert_eq!((counters.unmapped_reads, counters.nand_pages_read, counters.die_host_read_ns), (1, 0, 0));
    }
}

/// A trimmed unit reads like one never written; the trim itself takes link command + controller.
#[test]
fn trim_then_read_costs_no_flash() {
    for profile in PROFILES {
        let mut stand = Stand::new(profile, &SMALL);
        stand.fill(64);
        let parts = Parts::of(stand.ssd.config());
        let trim = parts.config.link.command_us.0 + parts.config.controller.trim_command_us.0;
        assert_eq!(stand.time(four_kib(Operation::Trim, 5)), trim, "{profile}");
        assert_eq!(stand.time(four_kib(Operation::Read, 5)), parts.read_command + parts.link(4096), "{profile}");
        assert_eq!(
            stand.time(four_kib(Operation::Read, 6)),
            parts.idle_read(),
            "{profile}: its neighbour is still there"
        );
        let counters = stand.ssd.counters();
        assert_eq!((counters.unmapped_reads, counters.nand_pages_read, counters.host_bytes_trimmed), (1, 1, 4096));
    }
}

/// Without a buffer a write is done when it is programmed: controller + link + channel + tPROG.
#[test]
fn unbuffered_write() {
    let mut stand = Stand::new("theory", &SMALL);
    let expected = Parts::of(stand.ssd.config()).idle_unbuffered_write();
    assert_eq!(expected, Nanos(1_000 + 1_171 + 12_301 + 750_000));
    for number in 0..100 {
        assert_eq!(stand.time(four_kib(Operation::Write, number % 10)), expected, "write {number}");
    }
}

/// With a buffer a write is done when it has crossed the link: link command + controller + link + latency.
#[test]
fn buffered_write() {
    for profile in &PROFILES[1..] {
        let mut stand = Stand::new(profile, &SMALL);
        let parts = Parts::of(stand.ssd.config());
        for number in 0..100 {
            let expected = parts.write_command + parts.link(4096);
            assert_eq!(stand.time(four_kib(Operation::Write, number)), expected, "{profile}, write {number}");
        }
    }
}

/// A write that covers half of a unit reads the other half first: tR and the unit over the channel come on top.
#[test]
fn partial_write_reads_first() {
    let mut stand = Stand::new("theory", &SMALL);
    stand.fill(64);
    let parts = Parts::of(stand.ssd.config());
    let half = |number: u64| Request::new(Operation::Write, Lba(number * u64::from(SECTORS) + 4), 4);
    let read_first = parts.flash_command + parts.read + parts.channel(4096);
    let row = parts.flash_command + parts.channel(4096) + parts.program;
    let before = stand.ssd.counters();
    assert_eq!(stand.time(half(9)), parts.write_command + parts.link(2048) + read_first + row);
    let counters = stand.ssd.counters() - before;
    assert_eq!((counters.read_modify_writes, counters.host_pages_written, counters.nand_pages_written), (1, 1, 1));
    assert_eq!(stand.time(half(1_000)), parts.write_command + parts.link(2048) + row, "nothing to be kept: no read");
    assert_eq!((stand.ssd.counters() - before).read_modify_writes, 1);
}

/// A misaligned 4 KiB write touches two units: two reads first, two programs; aligned it is one program and no read.
#[test]
fn misaligned_write_costs_two_units() {
    for profile in PROFILES {
        let mut stand = Stand::new(profile, &SMALL);
        stand.fill(4096);
        let before = stand.ssd.counters();
        for number in 0..64 {
            stand.time(Request::new(Operation::Write, Lba(number * 2 * u64::from(SECTORS) + 1), SECTORS));
        }
        stand.time(Request::new(Operation::Flush, Lba(0), 0));
        stand.pass(Nanos::from_ms(50.0));
        let counters = stand.ssd.counters() - before;
        assert_eq!((counters.host_pages_written, counters.read_modify_writes), (128, 128), "{profile}");
        let before = stand.ssd.counters();
        stand.run(1, (0..64).map(|number| four_kib(Operation::Write, number)));
        let counters = stand.ssd.counters() - before;
        assert_eq!((counters.host_pages_written, counters.read_modify_writes), (64, 0), "{profile}");
    }
}

/// Write amplification is in bytes: a 4 KiB write that crosses a unit's boundary programs two units, 8 KiB, and
/// one of 512 B a whole unit, eight times its bytes; per unit that they touch both are 1.
#[test]
fn misaligned_and_small_writes_wear_by_their_bytes() {
    for (offset, sectors, factor) in [(0, SECTORS, 1.0), (1, SECTORS, 2.0), (0, 1, 8.0)] {
        let mut stand = Stand::new("theory", &SMALL);
        stand.fill(4096);
        let before = stand.ssd.counters();
        for number in 0..64 {
            let lba = Lba(number * 2 * u64::from(SECTORS) + offset);
            stand.time(Request::new(Operation::Write, lba, sectors));
        }
        let counters = stand.ssd.counters() - before;
        assert_eq!(counters.write_amplification(), Some(factor), "{sectors} sectors at {offset}");
        assert_eq!(counters.unit_write_amplification(), Some(1.0));
    }
}

/// Each page kind of TLC reads with its own tR, so that a whole block reads with their average.
#[test]
fn page_kinds_have_their_times() {
    let settings = [SMALL[0], SMALL[1], ("nand.cell", "tlc"), ("nand.read_us", "[50, 75, 100]")];
    let mut stand = Stand::new("theory", &settings);
    let dies = 32;
    stand.fill(dies * 96);
    let parts = Parts::of(stand.ssd.config());
    let around = parts.idle_read() - parts.read;
    let mut sum = 0;
    for number in 0..dies * 96 {
        // Consecutive units lie on consecutive dies, so a die's next row comes one round later.
        let array = [50_000, 75_000, 100_000][(number / dies % 3) as usize];
        let time = stand.time(four_kib(Operation::Read, u64::from(number)));
        assert_eq!(time, around + Nanos(array), "unit {number}");
        sum += time.0;
    }
    assert_eq!(sum, u64::from(dies * 96) * (around.0 + 75_000));
}

/// A drive of one die that is about to erase: the next write reaches it, finds no room, and erases first.
/// Unit 0 is mapped, in a block that is not erased.
fn before_an_erase(settings: &[(&str, &str)]) -> Stand {
    let mut stand = Stand::new("theory", &[&ONE_DIE[..], settings].concat());
    // Blocks in order: one full of units to be trimmed, one beginning with unit 0, and on until one is free.
    let blocks = stand.ssd.ftl.geometry.blocks;
    let rewritten = (0..32).map(|number| 32 + number);
    let all = rewritten.clone().chain((0..(blocks - 2) * 32).map(|number| number % 32));
    all.for_each(|lpn| assert!(stand.ssd.write_now(Lpn(lpn), 0)));
    rewritten.for_each(|lpn| stand.ssd.trim_now(Lpn(lpn)));
    assert_eq!((stand.ssd.counters().blocks_erased, stand.ssd.ftl.free_groups(ssdlab_device::units::DieId(0))), (0, 1));
    stand
}

/// A read that comes while its die erases waits for the end of it; a write waits for the erase and is programmed after both.
#[test]
fn read_waits_for_an_erase() {
    let mut stand = before_an_erase(&[]);
    let parts = Parts::of(stand.ssd.config());
    let (erase, delay) = (parts.config.nand.erase_us.0, Nanos(1_000_000));
    stand.submit(0, four_kib(Operation::Write, 40));
    stand.pass(delay);
    assert_eq!(stand.ssd.counters().blocks_erased, 1, "the erase is under way");
    stand.submit(1, four_kib(Operation::Read, 0));
    let erased = parts.write_command + parts.link(4096) + parts.flash_command + erase;
    let sensed = erased + parts.flash_command + parts.read + parts.channel(4096);
    assert_eq!((stand.wait()[0].tag, stand.now), (Tag(1), sensed + parts.link(4096)));
    let programmed = sensed + parts.flash_command + parts.channel(4096) + parts.program;
    assert_eq!((stand.wait()[0].tag, stand.now), (Tag(0), programmed));
}

/// A flash that can suspend lets the read in: suspend + tR + transfer instead of the rest of the erase, which ends later by
/// the interruption.
#[test]
fn read_suspends_an_erase() {
    let mut stand = before_an_erase(&[("nand.suspend", "true"), ("nand.suspend_us", "20")]);
    let parts = Parts::of(stand.ssd.config());
    let (erase, delay, suspend) = (parts.config.nand.erase_us.0, Nanos(1_000_000), Nanos(20_000));
    stand.submit(0, four_kib(Operation::Write, 40));
    stand.pass(delay);
    stand.submit(1, four_kib(Operation::Read, 0));
    assert_eq!(stand.wait()[0].tag, Tag(1));
    assert_eq!(stand.now, delay + parts.idle_read() + suspend);
    let interruption = suspend + parts.flash_command + parts.read + parts.channel(4096) + suspend;
    let erased = parts.write_command + parts.link(4096) + parts.flash_command + erase + interruption;
    assert_eq!(stand.wait()[0].tag, Tag(0));
    assert_eq!(stand.now, erased + parts.flash_command + parts.channel(4096) + parts.program);
}

/// A program is suspended in the same way: the read does not wait for it, and the write ends later by the interruption.
#[test]
fn read_suspends_a_program() {
    let mut stand =
        Stand::new("theory", &[&ONE_DIE[..], &[("nand.suspend", "true"), ("nand.suspend_us", "15")]].concat());
    stand.fill(8);
    let parts = Parts::of(stand.ssd.config());
    let (delay, suspend) = (Nanos(300_000), Nanos(15_000));
    stand.submit(0, four_kib(Operation::Write, 40));
    stand.pass(delay);
    stand.submit(1, four_kib(Operation::Read, 0));
    assert_eq!((stand.wait()[0].tag, stand.now), (Tag(1), delay + parts.idle_read() + suspend));
    let interruption = suspend + parts.flash_command + parts.read + parts.channel(4096) + suspend;
    assert_eq!((stand.wait()[0].tag, stand.now), (Tag(0), parts.idle_unbuffered_write() + interruption));
}

/// A read that comes while a move's source is sensed does not wait for the program behind it: it suspends that as it begins.
#[test]
fn read_suspends_a_move_that_begins() {
    let mut stand =
        Stand::new("theory", &[&ONE_DIE[..], &[("nand.suspend", "true"), ("nand.suspend_us", "20")]].concat());
    // Block 5 keeps one unit, the others more; one block is free.
    let (blocks, filled) = (stand.ssd.ftl.geometry.blocks, 128);
    let spread = (0..).map(|number: u32| (6 + number % 122) * 32 + number / 122);
    let rewritten = (161..192).chain(spread).take(((blocks - 1 - filled) * 32) as usize);
    (0..filled * 32).chain(rewritten).for_each(|lpn| assert!(stand.ssd.write_now(Lpn(lpn), 0)));
    let parts = Parts::of(stand.ssd.config());
    stand.submit(0, four_kib(Operation::Write, 40));
    stand.pass(Nanos(30_000));
    stand.submit(1, four_kib(Operation::Read, 0));
    let gathered = parts.write_command + parts.link(4096) + parts.flash_command + parts.read;
    let read = Nanos(20_000) + parts.flash_command + parts.read + parts.channel(4096) + parts.link(4096);
    assert_eq!((stand.wait()[0].tag, stand.now), (Tag(1), gathered + read));
    stand.wait();
    assert_eq!(stand.ssd.counters().gc_pages_moved, 1);
}

/// SATA in IDE mode takes one command at a time: the second is refused until the first is done.
#[test]
fn ide_takes_one_command() {
    let mut stand = Stand::new("theory", &[SMALL[0], ("link.protocol", "sata-ide"), ("link.queue_depth", "1")]);
    stand.fill(8);
    assert_eq!(stand.ssd.limits().queue_depth, 1);
    stand.submit(0, four_kib(Operation::Read, 0));
    assert_eq!(stand.ssd.submit(stand.now, Tag(1), four_kib(Operation::Read, 1)), Err(Busy));
    stand.wait();
    let expected = Parts::of(stand.ssd.config()).idle_read();
    assert_eq!(stand.time(four_kib(Operation::Read, 1)), expected);
}

/// Two dies on one channel that have sensed at the same time send one right behind the other.
#[test]
fn transfers_follow_each_other() {
    let settings = [SMALL[0], ("nand.channels", "1"), ("nand.dies_per_channel", "2")];
    let mut stand = Stand::new("theory", &settings);
    stand.fill(2);
    let parts = Parts::of(stand.ssd.config());
    let done = stand.run(2, [four_kib(Operation::Read, 0), four_kib(Operation::Read, 1)]);
    assert_eq!(done[0].latency(), parts.idle_read());
    assert_eq!(done[1].latency(), parts.idle_read() + parts.channel(4096));
}

/// A channel is not booked before it is needed: while one die senses for an earlier read, a write to the other die
/// crosses at once, and neither is later than on an idle drive.
#[test]
fn channel_is_reserved_late() {
    let settings = [SMALL[0], ("nand.channels", "1"), ("nand.dies_per_channel", "2")];
    let mut stand = Stand::new("theory", &settings);
    stand.fill(2);
    let parts = Parts::of(stand.ssd.config());
    stand.submit(0, four_kib(Operation::Read, 1));
    stand.pass(Nanos(5_000));
    stand.submit(1, four_kib(Operation::Write, 0));
    assert_eq!((stand.wait()[0].tag, stand.now), (Tag(0), parts.idle_read()));
    assert_eq!((stand.wait()[0].tag, stand.now), (Tag(1), Nanos(5_000) + parts.idle_unbuffered_write()));
}
