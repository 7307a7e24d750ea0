//! The short ways of the common write and the common move end where the general steps do, which a drive that keeps
//! contents takes, and one that is told to.

use crate::stand::sectors::Sectors;
use ssdlab_device::block::{Completion, Device, Operation, Request, Tag};
use ssdlab_device::counters::Counters;
use ssdlab_device::nand::contents::Contents;
use ssdlab_device::profile::{Profile, built_in};
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::{Lba, Nanos};

type Setting = (&'static str, &'static str);

/// A small drive on which blocks are collected all the time.
const SMALL: [Setting; 5] = [
    ("capacity_bytes", "8 MiB"),
    ("over_provisioning", "0.3"),
    ("nand.channels", "2"),
    ("nand.dies_per_channel", "2"),
    ("nand.pages_per_block", "16"),
];

/// With units of 4 KiB: rows of four.
const ROWS: Setting = ("nand.page_bytes", "16 KiB");
const UNITS: Setting = ("ftl.mapping_unit_bytes", "4 KiB");
const FAILS: Setting = ("reliability.program_fail_share", "0.0002");
/// Some reads need a second attempt.
const RETRIES: Setting = ("reliability.rber_fresh", "0.004");

fn drive<C: Contents>(settings: &[Setting], contents: C) -> Ssd<C> {
    let settings: Vec<_> =
        SMALL.iter().chain(settings).map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let profile = Profile::read("theory", "theory", built_in("theory").unwrap(), &settings).unwrap();
    Ssd::new(profile.ssd().unwrap(), 1, contents).unwrap()
}

/// Mostly writes of whole units; some of a part, some of several, some reads and trims.
fn request(stream: &mut Stream, sectors: u64) -> Request {
    let unit = 8;
    let lba = u64::from(stream.below((sectors / unit - 4) as u32)) * unit;
    match stream.below(20) {
        0 => Request::new(Operation::Trim, Lba(lba), 16),
        1 => Request::new(Operation::Read, Lba(lba), 8),
        2 => Request::new(Operation::Write, Lba(lba + 3), 4),
        3 => Request::new(Operation::Write, Lba(lba), 24),
        _ => Request::new(Operation::Write, Lba(lba), 8),
    }
}

/// Power cuts, and requests that are completed before each.
const LIVES: usize = 10;
const REQUESTS: u32 = 2_000;

/// What was completed when.
type Completions = Vec<(Nanos, Completion)>;

/// Keeps 16 requests outstanding from `now` on, until so many are completed.
fn load<C: Contents>(ssd: &mut Ssd<C>, stream: &mut Stream, now: Nanos, requests: u32) -> Completions {
    let sectors = ssd.limits().sectors;
    let (mut all, mut done, mut now, mut submitted) = (Vec::new(), Vec::new(), now, 0);
    while all.len() < requests as usize {
        while submitted as usize - all.len() < 16 {
            ssd.submit(now, Tag(submitted), request(stream, sectors)).unwrap();
            submitted += 1;
        }
        now = ssd.advance(Nanos::NEVER, &mut done);
        all.extend(done.drain(..).map(|completion| (now, completion)));
    }
    all
}

/// What was completed when, and what was counted, from one power cut under load to the next. Nobody asks for counters
/// before a cut, which would bring the drive up to date.
fn lives<C: Contents>(mut ssd: Ssd<C>) -> Vec<(Completions, Counters)> {
    let (mut stream, mut now) = (Stream::new(7, Purpose::Errors), Nanos::ZERO);
    let mut life = || {
        let completed = load(&mut ssd, &mut stream, now, REQUESTS);
        now = completed.last().expect("some were completed").0;
        ssd.cut_power(now);
        let counted = ssd.counters();
        ssd.ftl.check();
        (completed, counted)
    };
    (0..LIVES).map(|_| life()).collect()
}

/// Each completion comes at the same nanosecond and each counter is the same, with one frontier and
/// with two, in batches and smoothly, with a buffer, copyback, command cycles and suspension, on flash that fails, in
/// rows of one unit and of four.
#[test]
fn the_short_way_ends_where_the_long_one_does() {
    let kinds: [&[Setting]; 11] = [
        &[],
        &[("ftl.frontiers", "host-gc")],
        &[("ftl.frontiers", "host-gc"), ("ftl.gc_pace", "smooth")],
        &[("buffer.bytes", "128 KiB")],
        &[("nand.copyback", "true")],
        &[("nand.command_us", "2")],
        &[("nand.suspend", "true"), ("nand.suspend_us", "20")],
        &[("buffer.bytes", "128 KiB"), FAILS, RETRIES, ("ftl.frontiers", "host-gc")],
        &[
            ("buffer.bytes", "128 KiB"),
            FAILS,
            RETRIES,
            ROWS,
            UNITS,
            ("ftl.frontiers", "host-gc"),
            ("ftl.gc_pace", "smooth"),
        ],
        &[("buffer.bytes", "128 KiB"), RETRIES, ROWS, UNITS],
        &[ROWS, UNITS, FAILS],
    ];
    for settings in kinds {
        let contents = Sectors::new(8, REQUESTS as usize + 16);
        let mut general = drive(settings, contents);
        general.ftl.leave_short_ways();
        let (short, long) = (lives(drive(settings, ())), lives(general));
        let counted = &short[LIVES - 1].1;
        let moved = counted.gc_pages_moved;
        assert!(moved > 5_000, "{settings:?}: {moved} moves");
        assert_eq!(counted.program_failures > 0, settings.contains(&FAILS), "{settings:?}");
        assert_eq!(counted.read_retries > 0, settings.contains(&RETRIES), "{settings:?}");
        for (life, (short, long)) in short.iter().zip(&long).enumerate() {
            assert_eq!(short.1, long.1, "{settings:?}, life {life}");
            assert_eq!(short.0, long.0, "{settings:?}, life {life}");
        }
    }
}
