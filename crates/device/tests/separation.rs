//! What a policy chooses besides victims: streams are kept apart, in time and without, whatever the frontiers; the block
//! that is opened; the data that static wear levelling moves; and times of invalidation, which it may ask for.

use crate::stand::fickle::{Fickle, STREAMS};
use crate::stand::{Stand, config, four_kib};
use ssdlab_device::block::{Device, Operation};
use ssdlab_device::ftl::mapping::Place;
use ssdlab_device::ftl::pool::{Group, Order};
use ssdlab_device::ftl::victim::{Candidates, Leveling, VictimPolicy};
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::{BlockId, Lpn, Nanos};
use ssdlab_policy::Unit;
use std::sync::{Arc, Mutex};

const DRIVE: [(&str, &str); 5] = [
    ("capacity_bytes", "32 MiB"),
    ("over_provisioning", "0.3"),
    ("nand.channels", "1"),
    ("nand.dies_per_channel", "2"),
    ("nand.pages_per_block", "32"),
];

/// Rows of four units, of which a block has 16.
const SEVERAL: [(&str, &str); 4] = [
    ("nand.page_bytes", "16 KiB"),
    ("ftl.mapping_unit_bytes", "4 KiB"),
    ("nand.pages_per_block", "16"),
    ("buffer.bytes", "256 KiB"),
];

/// Greedy, with as many streams as are asked for, by the unit's number; it notes what it sees.
struct Apart {
    streams: u32,
    boundary: u32,
    seen: Arc<Mutex<Vec<Unit>>>,
}

impl VictimPolicy for Apart {
    fn order(&self) -> Order {
        Order::ByValid
    }

    fn pick(&mut self, candidates: &Candidates<'_>, _: &mut Stream) -> Option<Group> {
        candidates.fewest_valid()
    }

    fn streams(&self) -> u32 {
        self.streams
    }

    fn stream(&mut self, unit: &Unit) -> u32 {
        self.seen.lock().unwrap().push(*unit);
        u32::from(unit.unit >= self.boundary) % self.streams
    }
}

fn drive(settings: &[(&str, &str)], policy: Box<dyn VictimPolicy>) -> Stand {
    let config = config("theory", &[&DRIVE[..], settings].concat());
    let ssd = Ssd::with_policy(&config, 7, (), policy).unwrap_or_else(|problem| panic!("{problem:?}"));
    Stand { ssd, now: Nanos::ZERO }
}

/// A filled drive, of which a fifth then takes four of five writes: untimed, and at the end in time.
fn skewed(settings: &[(&str, &str)], policy: Box<dyn VictimPolicy>) -> Stand {
    let mut stand = drive(settings, policy);
    let exported = stand.ssd.ftl.exported;
    stand.fill(exported);
    let mut draws = Stream::new(5, Purpose::Victim);
    let mut next = || {
        let hot = draws.below(5) > 0;
        if hot { draws.below(exported / 5) } else { exported / 5 + draws.below(exported - exported / 5) }
    };
    (0..4 * exported).for_each(|_| assert!(stand.ssd.write_now(Lpn(next()), 0)));
    stand.ssd.flush_now();
    let requests: Vec<_> = (0..exported).map(|_| four_kib(Operation::Write, u64::from(next()))).collect();
    stand.run(8, requests);
    stand
}

/// Blocks that hold units of both sides of a boundary.
fn mixed(stand: &Stand, boundary: u32) -> usize {
    let ftl = &stand.ssd.ftl;
    let slots = ftl.geometry.slots();
    let is_mixed = |block: &u32| {
        let first = ftl.geometry.ppn(BlockId(*block), 0).0;
        let owners = (first..first + slots).filter_map(|slot| ftl.mapping.owner(ssdlab_device::units::Ppn(slot)));
        let mut sides = owners.map(|lpn| lpn.0 >= boundary);
        let first = sides.next();
        sides.any(|side| Some(side) != first)
    };
    (0..ftl.geometry.blocks).filter(is_mixed).count()
}

#[test]
fn streams_are_kept_apart() {
    let ways: [&[(&str, &str)]; 8] = [
        &[("ftl.frontiers", "host-gc")],
        &[("ftl.frontiers", "host-gc"), ("ftl.gc_pace", "smooth")],
        &[("ftl.frontiers", "single")],
        &[("ftl.frontiers", "host-gc"), ("buffer.bytes", "256 KiB")],
        &[("nand.planes", "2"), ("buffer.bytes", "256 KiB"), ("ftl.frontiers", "host-gc")],
        &[&SEVERAL[..], &[("ftl.frontiers", "host-gc")]].concat(),
        &[&SEVERAL[..], &[("ftl.frontiers", "host-gc"), ("ftl.gc_pace", "smooth")]].concat(),
        &[&SEVERAL[..], &[("ftl.frontiers", "single")]].concat(),
    ];
    for settings in ways {
        let rows_of_several = settings[0].0 != "ftl.frontiers";
        let ran = |streams: u32| {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let boundary = 8192 / 5;
            let mut stand = skewed(settings, Box::new(Apart { streams, boundary, seen: seen.clone() }));
            stand.ssd.ftl.check();
            assert_eq!(stand.ssd.ftl.exported, 8192);
            let seen = std::mem::take(&mut *seen.lock().unwrap());
            (mixed(&stand, boundary), stand.ssd.counters(), seen)
        };
        let (together, apart) = (ran(1), ran(2));
        assert!(together.0 > 100 && together.2.is_empty(), "{settings:?}: one stream mixes {} blocks", together.0);
        assert_eq!(apart.0, 0, "{settings:?}: blocks that hold both");
        let filled_up = apart.1.padding_pages_written as f64 / apart.1.nand_pages_written as f64;
        assert!(filled_up < 0.03, "{settings:?}: {filled_up} of the pages are filled up");
        let [one, two] = [&together.1, &apart.1].map(|counters| counters.gc_pages_moved as f64);
        println!("{settings:?}: {two} copies instead of {one}, {filled_up} filled up");
        assert!(two < 0.95 * one, "{settings:?}: {two} copies instead of {one}");
        // A unit is asked for once: with each write that reaches flash, and with each copy.
        let copies = apart.2.iter().filter(|unit| unit.is_copy == 1).count() as u64;
        let writes = apart.2.len() as u64 - copies;
        // Of a row that is gathered the host may overwrite some units, which were asked for.
        let in_vain = copies - apart.1.gc_pages_moved;
        assert!(in_vain <= if rows_of_several { copies / 100 } else { 0 }, "{settings:?}: {in_vain} of {copies}");
        // In the end some lie in the buffer, and one may have been asked for.
        let written = apart.1.host_pages_written - apart.1.buffer_coalesced;
        assert!(writes.abs_diff(written) <= 64, "{settings:?}: asked for {writes} of {written}");
        assert!(apart.2.iter().all(|unit| unit.is_copy == 0 || unit.stream == u32::from(unit.unit >= 8192 / 5)));
    }
}

/// Units that change their streams with every copy, where a row is several units: all of them are kept, whoever waits
/// for a row of its own gets one, and a row that a job leaves behind of each stream is filled up.
#[test]
fn streams_may_change() {
    let no_buffer = [SEVERAL[0], SEVERAL[1], SEVERAL[2], ("ftl.frontiers", "host-gc")];
    let ways: [&[(&str, &str)]; 5] = [
        &SEVERAL,
        &[&SEVERAL[..], &[("ftl.frontiers", "host-gc")]].concat(),
        &[&SEVERAL[..], &[("ftl.frontiers", "host-gc"), ("ftl.gc_pace", "smooth")]].concat(),
        &[&SEVERAL[..], &[("ftl.static_wear_cycles", "2")]].concat(),
        &no_buffer,
    ];
    for settings in ways {
        let mut stand = skewed(settings, Box::new(Fickle::new()));
        stand.ssd.ftl.check();
        let ftl = &stand.ssd.ftl;
        assert!(!ftl.is_read_only(), "{settings:?}");
        assert!((0..ftl.exported).all(|lpn| ftl.place(Lpn(lpn)) != Place::Unmapped), "{settings:?}");
        let counters = stand.ssd.counters();
        let filled_up = counters.padding_pages_written as f64 / counters.nand_pages_written as f64;
        // Of a block of 64 units at most three in the last row of each stream.
        assert!(filled_up < f64::from(STREAMS) * 3.0 / 64.0, "{settings:?}: {filled_up} of the pages are filled up");
        assert_eq!(counters.wear_leveling_pages_moved > 0, settings.contains(&("ftl.static_wear_cycles", "2")));
    }
}

/// As many streams as would leave no spare, and streams on a drive with superblocks or compression, open no drive.
#[test]
fn a_drive_that_cannot_have_them_says_so() {
    for (settings, wrong) in [
        (&[("over_provisioning", "0.03"), ("ftl.spare_counts", "all")][..], "more blocks stay open"),
        (&[("controller.compression", "true")], "compresses, or has superblocks"),
        (&[("ftl.striping", "superblock")], "compresses, or has superblocks"),
    ] {
        let config = config("theory", &[&DRIVE[..], settings].concat());
        let policy = Box::new(Apart { streams: 8, boundary: 5, seen: Arc::default() });
        let problem = Ssd::with_policy(&config, 7, (), policy).err().expect("refused");
        assert!(format!("{problem:?}").contains(wrong), "{settings:?}: {problem:?}");
    }
}

/// Opens the free block of the highest number, moves the data of the block with the fewest erases when asked, and
/// asks for times of invalidation.
struct Chooser {
    moved: Arc<Mutex<(u64, u64)>>,
}

impl VictimPolicy for Chooser {
    fn order(&self) -> Order {
        Order::ByValid
    }

    fn pick(&mut self, candidates: &Candidates<'_>, _: &mut Stream) -> Option<Group> {
        candidates.fewest_valid()
    }

    fn sees_invalidations(&self) -> bool {
        true
    }

    fn level(&mut self, candidates: &Candidates<'_>, _: &mut Stream) -> Leveling {
        self.moved.lock().unwrap().0 += 1;
        candidates.iter().min_by_key(|group| candidates.erases(*group)).map_or(Leveling::Nothing, Leveling::Move)
    }

    fn open(&mut self, _: &Candidates<'_>, is_cold: bool, _: &mut Stream) -> Option<Group> {
        self.moved.lock().unwrap().1 += u64::from(is_cold);
        None
    }
}

/// Static wear levelling moves what the policy names, without a parameter of the drive's own.
#[test]
fn a_policy_levels_wear() {
    let moved = Arc::default();
    let mut stand = skewed(&[], Box::new(Chooser { moved: Arc::clone(&moved) }));
    stand.ssd.ftl.check();
    let (asked, opened) = *moved.lock().unwrap();
    let counters = stand.ssd.counters();
    assert!(asked > 10 && opened > 5, "asked {asked} times, {opened} blocks opened for cold data");
    assert!(counters.wear_leveling_pages_moved > 32, "{}", counters.wear_leveling_pages_moved);
    let mut without = skewed(&[], Box::new(Apart { streams: 1, boundary: 0, seen: Arc::default() }));
    assert_eq!(without.ssd.counters().wear_leveling_pages_moved, 0);
}
