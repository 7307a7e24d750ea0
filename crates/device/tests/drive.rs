//! Single behaviours of a drive, each on the smallest drive that shows it.

use crate::stand::kinds::SMALL;
use ssdlab_device::block::{Busy, Device, Operation, Request, Status, Tag};
use ssdlab_device::counters::Counters;
use ssdlab_device::ftl::mapping::Place;
use ssdlab_device::profile::{Profile, built_in};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::{BlockId, DieId, Lba, Lpn, Nanos};

type Settings<'a> = &'a [(&'a str, &'a str)];

/// A small drive of the theory profile with settings over it, or the key that makes it impossible.
fn try_drive(settings: Settings) -> Result<Ssd, String> {
    let all: Vec<_> = SMALL.iter().chain(settings).map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let profile =
        Profile::read("theory", "theory", built_in("theory").unwrap(), &all).map_err(|error| error.to_string())?;
    Ssd::new(profile.ssd().map_err(|error| error.to_string())?, 7, ())
        .map_err(|problem| format!("{} {}", problem.key, problem.message))
}

fn drive(settings: Settings) -> Ssd {
    try_drive(settings).unwrap_or_else(|problem| panic!("{problem}"))
}

/// Submits one request at `at`, waits for it, and returns how long it took and how it ended.
fn ask_at(ssd: &mut Ssd, at: Nanos, operation: Operation, lba: u64, sectors: u32) -> (Nanos, Status) {
    ssd.submit(at, Tag(1), Request::new(operation, Lba(lba), sectors)).unwrap();
    let mut done = Vec::new();
    let mut now = at;
    while done.is_empty() {
        assert!(ssd.next_event().is_some(), "{operation:?} at {lba} never completes");
        now = ssd.advance(Nanos::NEVER, &mut done);
    }
    (now - at, done[0].status)
}

/// Requests one after the other, each a second after the last so that the drive is idle.
struct Host {
    ssd: Ssd,
    now: Nanos,
}

impl Host {
    fn new(ssd: Ssd) -> Host {
        Host { ssd, now: Nanos::ZERO }
    }

    fn ask(&mut self, operation: Operation, lba: u64, sectors: u32) -> (Nanos, Status) {
        self.rest(Nanos::from_s(1.0));
        let answer = ask_at(&mut self.ssd, self.now, operation, lba, sectors);
        self.now += answer.0;
        answer
    }

    fn rest(&mut self, length: Nanos) {
        self.now += length;
        while self.ssd.advance(self.now, &mut Vec::new()) < self.now {}
    }

    fn time(&mut self, operation: Operation, lba: u64, sectors: u32) -> Nanos {
        let (time, status) = self.ask(operation, lba, sectors);
        assert_eq!(status, Status::Success);
        time
    }
}

/// Numbers without order (SplitMix64's output function).
fn scattered(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 31)
}

/// Overwrites units of 8 sectors in a scattered order, one at a time; returns what was counted.
fn overwrite(settings: Settings, writes: u64) -> Counters {
    let mut ssd = drive(settings);
    let units = ssd.limits().sectors / 8;
    (0..ssd.ftl.exported).for_each(|lpn| assert!(ssd.write_now(Lpn(lpn), 0)));
    ssd.flush_now();
    let (before, mut now) = (ssd.counters(), Nanos::ZERO);
    for number in 0..writes {
        let (time, _) = ask_at(&mut ssd, now, Operation::Write, scattered(number) % units * 8, 8);
        now += time;
    }
    ssd.counters() - before
}

/// A grain of TRIM that ends inside a mapping unit is refused: it would unmap what was not named.
#[test]
fn trim_grain_is_whole_units() {
    let problem = try_drive(&[("ftl.trim_granularity_bytes", "6 KiB")]).err().expect("refused");
    assert!(
        problem.contains("trim_granularity_bytes") && problem.contains("6144") && problem.contains("4096"),
        "{problem}"
    );
    assert!(try_drive(&[("ftl.trim_granularity_bytes", "8 KiB")]).is_ok());
}

/// Idle-time collection does not begin while a command is under way, however the pauses lie.
#[test]
fn a_command_cancels_the_idle_timer() {
    let mut ssd = drive(&[("ftl.idle_gc_after_ms", "1"), ("ftl.idle_gc_blocks", "100")]);
    (0..ssd.ftl.exported).for_each(|lpn| assert!(ssd.write_now(Lpn(lpn), 0)));
    (0..1000).for_each(|lpn| assert!(ssd.write_now(Lpn(lpn * 3), 0)));
    let mut host = Host::new(ssd);
    host.rest(Nanos::from_us(100.0));
    let before = host.ssd.counters().blocks_erased;
    for _ in 0..4 {
        // The write takes 0.8 ms, so a timer of 1 ms from the last completion would ring during it.
        host.now += ask_at(&mut host.ssd, host.now, Operation::Write, 0, 8).0;
        host.rest(Nanos::from_us(900.0));
    }
    assert_eq!(host.ssd.counters().gc_pages_moved, 0);
    host.rest(Nanos::from_ms(50.0));
    assert!(host.ssd.counters().blocks_erased > before, "left alone it collects");
}

/// A unit of four rows takes a tR for each of them that is read: all, one, or two.
#[test]
fn large_units_are_sensed_row_by_row() {
    let times = |read_us: &str| {
        let large = [("ftl.mapping_unit_bytes", "16 KiB"), ("over_provisioning", "0.6"), ("nand.read_us", read_us)];
        let mut host = Host::new(drive(&large));
        host.time(Operation::Write, 0, 32);
        [(0, 32), (8, 8), (12, 8)].map(|(lba, sectors)| host.time(Operation::Read, lba, sectors))
    };
    let (slow, fast) = (times("75"), times("0"));
    assert_eq!([0, 1, 2].map(|i| slow[i] - fast[i]), [4, 1, 2].map(|rows| Nanos(rows * 75_000)));
}

const ONE_DIE: [(&str, &str); 3] =
    [("nand.channels", "1"), ("nand.dies_per_channel", "1"), ("capacity_bytes", "4 MiB")];

/// Moving a unit of four rows senses all of them: 4·tR a move.
#[test]
fn moves_sense_every_row() {
    let moves = |read_us: &str| {
        let large = [("ftl.mapping_unit_bytes", "16 KiB"), ("over_provisioning", "0.6"), ("nand.read_us", read_us)];
        overwrite(&[&ONE_DIE[..], &large].concat(), 500)
    };
    let (slow, fast) = (moves("75"), moves("0"));
    assert!(slow.gc_pages_moved > 100);
    // A partial write reads first as well, but that is the host's time.
    assert_eq!(slow.die_move_ns - fast.die_move_ns, slow.gc_pages_moved * 4 * 75_000);
}

/// Every read attempt of a move takes its tR: three retries, three times tR more.
#[test]
fn retries_of_moves_take_time() {
    let with = |rate: &str| {
        let errors = [
            ("reliability.rber_fresh", rate),
            ("reliability.correctable_bits", "1"),
            ("reliability.retry_gain", "1"),
            ("reliability.retries", "3"),
        ];
        overwrite(&[&ONE_DIE[..], &errors].concat(), 2000)
    };
    let (failing, clean) = (with("0.1"), with("0"));
    assert!(clean.gc_pages_moved > 500);
    assert_eq!(failing.die_move_ns - clean.die_move_ns, clean.gc_pages_moved * 3 * 75_000);
}

/// With copyback no moved byte crosses the channel, and none is counted.
#[test]
fn copyback_leaves_the_channel_alone() {
    let counters = overwrite(
        &[
            &ONE_DIE[..],
            &[
                ("nand.copyback", "true"),
                ("nand.page_bytes", "16 KiB"),
                ("ftl.mapping_unit_bytes", "4 KiB"),
                ("over_provisioning", "0.9"),
            ],
        ]
        .concat(),
        2000,
    );
    assert!(counters.gc_pages_moved > 100);
    assert_eq!(counters.channel_move_ns, 0);
}

/// A move with copyback takes tR and tPROG, however long its channel is busy with other dies' data.
#[test]
fn copyback_waits_for_no_transfer() {
    let counters = overwrite(
        &[
            ("nand.copyback", "true"),
            ("nand.channels", "1"),
            ("nand.dies_per_channel", "4"),
            ("nand.channel_mb_per_s", "4"),
        ],
        8000,
    );
    assert!(counters.gc_pages_moved > 1000);
    let (each, dies) = (75_000 + 750_000, 4);
    let moves = counters.gc_pages_moved * each;
    // Each die may have a move under way at the end.
    assert!(counters.die_move_ns.abs_diff(moves) <= dies * each, "{} of {moves} ns", counters.die_move_ns);
}

/// A move has two sets of command cycles, one to sense and one to program, with copyback and without.
#[test]
fn moves_take_two_commands() {
    for copyback in ["true", "false"] {
        let with = |command_us: &str| {
            let settings = [("nand.copyback", copyback), ("nand.command_us", command_us)];
            overwrite(&[&ONE_DIE[..], &settings].concat(), 2000)
        };
        let (slow, fast) = (with("10"), with("0"));
        assert!(slow.gc_pages_moved > 500);
        assert_eq!(slow.die_move_ns - fast.die_move_ns, slow.gc_pages_moved * 2 * 10_000, "copyback {copyback}");
    }
}

const STATIC_SLC: [(&str, &str); 6] = [
    ("nand.cell", "tlc"),
    ("nand.pages_per_block", "48"),
    ("ftl.frontiers", "host-gc"),
    ("ftl.slc_cache", "static"),
    ("ftl.slc_cache_bytes", "1 MiB"),
    ("ftl.idle_gc_after_ms", "1"),
];

/// A static SLC cache and the pages of a demand-cached map need blocks of their own: a drive whose
/// spare does not hold them is refused, and the same drive without them is not.
#[test]
fn spare_counts_what_the_drive_keeps_for_itself() {
    let spare = [("over_provisioning", "0.3"), ("ftl.spare_counts", "all")];
    assert!(try_drive(&[&STATIC_SLC[..3], &spare].concat()).is_ok());
    // 1 MiB over 4 dies in blocks of 16 SLC pages: 4 blocks a die.
    let refused = try_drive(&[&STATIC_SLC[..], &spare].concat()).err().expect("refused");
    assert!(refused.contains("32"), "4 dies need 4 + 4 blocks each: {refused}");
    let map = [
        ("nand.pages_per_block", "2"),
        ("capacity_bytes", "64 MiB"),
        ("over_provisioning", "0.001"),
        ("ftl.spare_counts", "all"),
    ];
    assert!(try_drive(&map).is_ok());
    assert!(try_drive(&[&map[..], &[("ftl.mapping_cache_bytes", "4 KiB")]].concat()).is_err());
}

/// The blocks of a static SLC cache stay its own: a drive that is full and collecting takes a burst
/// after a pause at the speed of SLC, as far as the cache goes.
#[test]
fn a_static_slc_cache_survives_a_full_drive() {
    let mut ssd = drive(
        &[
            &STATIC_SLC[..],
            &[
                ("over_provisioning", "0.6"),
                ("ftl.spare_counts", "all"),
                ("ftl.idle_gc_blocks", "3"),
                ("nand.slc_program_us", "200"),
                ("nand.program_us", "900"),
            ],
        ]
        .concat(),
    );
    (0..4096).for_each(|lpn| assert!(ssd.write_now(Lpn(lpn), 0)));
    (0..2 * 4096).for_each(|number| assert!(ssd.write_now(Lpn((scattered(number) % 4096) as u32), 0)));
    ssd.flush_now();
    let mut host = Host::new(ssd);
    host.time(Operation::Read, 0, 8);
    let slow = Nanos::from_us(900.0);
    // 4 dies × 4 blocks × 16 rows are the cache, less what the open blocks hold from before.
    let fast = (0..192).filter(|number| ask_at_once(&mut host, number * 8) < slow).count();
    assert_eq!(fast, 192);
    assert!((0..192).any(|number| ask_at_once(&mut host, 8 + number * 8) > slow), "then it is full");
}

/// A dynamic cache with a fixed part takes the fixed part's burst when the drive is full, as a static one of that size
/// does, and as much as the whole cache when it is empty; a dynamic one alone has nothing left on a full drive.
#[test]
fn the_fixed_part_of_an_slc_cache_stays() {
    let fast_writes = |cache: &[(&str, &str)], full: bool| {
        let spare = [("over_provisioning", "0.6"), ("ftl.spare_counts", "all"), ("ftl.idle_gc_blocks", "3")];
        let times = [("nand.slc_program_us", "200"), ("nand.program_us", "900")];
        let mut ssd = drive(&[&STATIC_SLC[..], &spare, &times, cache].concat());
        if full {
            (0..4096).for_each(|lpn| assert!(ssd.write_now(Lpn(lpn), 0)));
            (0..2 * 4096).for_each(|number| assert!(ssd.write_now(Lpn((scattered(number) % 4096) as u32), 0)));
            ssd.flush_now();
        }
        let mut host = Host::new(ssd);
        host.time(Operation::Read, 0, 8);
        let slow = Nanos::from_us(900.0);
        (0..1024).take_while(|number| ask_at_once(&mut host, number * 8) < slow).count()
    };
    let dynamic = [("ftl.slc_cache", "dynamic"), ("ftl.slc_cache_bytes", "3 MiB")];
    let mixed = [&dynamic[..], &[("ftl.slc_cache_fixed_bytes", "1 MiB")]].concat();
    // 1 MiB in blocks of 16 SLC pages over 4 dies is 4 blocks a die, and so on.
    let on_full = [&[][..], &dynamic, &mixed].map(|cache| fast_writes(cache, true));
    assert!(on_full[1] < 16, "{on_full:?}");
    assert!(on_full[2] >= 192 && on_full[2] == on_full[0], "{on_full:?}");
    let on_empty = [&dynamic[..], &mixed].map(|cache| fast_writes(cache, false));
    assert!(on_empty.iter().all(|fast| (768..=768 + 64).contains(fast)), "{on_empty:?}");
}

/// A fixed part without a dynamic cache, larger than it, or without idle time to empty it in is refused.
#[test]
fn impossible_fixed_parts_are_refused() {
    let refused = |cache: &[(&str, &str)]| try_drive(&[&STATIC_SLC[..], cache].concat()).err().expect("refused");
    assert!(refused(&[("ftl.slc_cache_fixed_bytes", "1 MiB")]).contains("of a dynamic cache"));
    let dynamic = ("ftl.slc_cache", "dynamic");
    assert!(refused(&[dynamic, ("ftl.slc_cache_fixed_bytes", "2 MiB")]).contains("at most the ftl.slc_cache_bytes"));
    let never_idle = [dynamic, ("ftl.slc_cache_fixed_bytes", "1 MiB"), ("ftl.idle_gc_after_ms", "none")];
    assert!(refused(&never_idle).contains("idle_gc_after_ms"));
}

fn ask_at_once(host: &mut Host, lba: u64) -> Nanos {
    if lba == 0 {
        host.rest(Nanos::from_s(5.0));
    }
    let (time, _) = ask_at(&mut host.ssd, host.now, Operation::Write, lba, 8);
    host.now += time;
    time
}

/// A read that misses the map's cache waits for its translation page: one flash read more.
#[test]
fn a_map_miss_delays_the_read() {
    let mut host = Host::new(drive(&[("ftl.mapping_cache_bytes", "4 KiB"), ("over_provisioning", "0.5")]));
    for lba in [0, 16_384, 0, 16_384] {
        host.time(Operation::Write, lba, 8);
    }
    host.rest(Nanos::from_s(1.0));
    let (miss, hit) = (host.time(Operation::Read, 0, 8), host.time(Operation::Read, 0, 8));
    assert_eq!(miss - hit, Nanos(75_000) + Nanos::of_transfer(4096, 333.0));
}

/// Write Zeroes unmaps the units that it covers whole and writes those that it covers in part, as far
/// as they hold data; a trim leaves those alone.
#[test]
fn zeroes_on_a_part_are_written() {
    for buffer in ["0", "1 MiB"] {
        let mut host = Host::new(drive(&[("buffer.bytes", buffer)]));
        host.time(Operation::Write, 0, 24);
        let before = host.ssd.counters();
        host.time(Operation::Trim, 3, 18);
        assert_eq!(host.ssd.counters().host_pages_written, before.host_pages_written);
        // Units 0 and 2 in part, 1 was just unmapped, 3 was never written.
        host.time(Operation::WriteZeroes, 3, 18);
        host.time(Operation::WriteZeroes, 25, 3);
        host.time(Operation::Flush, 0, 0);
        let counted = host.ssd.counters() - before;
        assert_eq!((counted.host_pages_written, counted.read_modify_writes), (2, 2), "buffer {buffer}");
        let places = [0, 1, 2, 3].map(|lpn| host.ssd.ftl.place(Lpn(lpn)) == Place::Unmapped);
        assert_eq!(places, [false, true, false, true]);
    }
}

/// A trim grain larger than a unit is no excuse for Write Zeroes.
#[test]
fn zeroes_ignore_the_trim_grain() {
    let mut host = Host::new(drive(&[("ftl.trim_granularity_bytes", "64 KiB")]));
    host.time(Operation::Write, 0, 8);
    host.time(Operation::Trim, 0, 8);
    assert_ne!(host.ssd.ftl.place(Lpn(0)), Place::Unmapped);
    host.time(Operation::WriteZeroes, 0, 8);
    assert_eq!(host.ssd.ftl.place(Lpn(0)), Place::Unmapped);
}

/// When the rest of a partly written unit cannot be read, the write says so; behind a buffer, where
/// it was acknowledged before, the count of uncorrectable reads does.
#[test]
fn a_lost_rest_fails_the_write() {
    for (buffer, expected) in [("0", Status::MediaError), ("1 MiB", Status::Success)] {
        let mut host = Host::new(drive(&[
            ("buffer.bytes", buffer),
            ("reliability.rber_fresh", "0.1"),
            ("reliability.correctable_bits", "1"),
            ("reliability.retry_gain", "1"),
            ("reliability.retries", "0"),
        ]));
        host.time(Operation::Write, 0, 8);
        host.time(Operation::Flush, 0, 0);
        let (_, status) = host.ask(Operation::Write, 0, 1);
        host.time(Operation::Flush, 0, 0);
        assert_eq!((status, host.ssd.counters().uncorrectable_reads), (expected, 1), "buffer {buffer}");
    }
}

/// Data that has lain for a year in worn blocks has more raw bit errors, by rate times days times wear.
#[test]
fn retention_adds_bit_errors() {
    let rate = |days: &str| {
        let mut ssd = drive(&[
            ("reliability.rber_per_day", "1e-6"),
            ("reliability.retention_days", days),
            ("reliability.rated_cycles", "10"),
        ]);
        (0..4 * 4096).for_each(|lpn| assert!(ssd.write_now(Lpn(lpn * 7 % 4096), 0)));
        let erases = ssd.ftl.flash.array.erases(BlockId(0));
        (ssd.ftl.flash.array.raw_bit_error_rate(BlockId(0)), erases)
    };
    let (kept, erases) = rate("365");
    assert!(erases > 0);
    assert!((kept - 1e-6 * 365.0 * f64::from(erases) / 10.0).abs() < 1e-12);
    assert_eq!(rate("0").0, 0.0);
}

/// The error rate of a fresh block holds from its first read on, not only after an erase.
#[test]
fn fresh_blocks_have_their_errors() {
    let mut host = Host::new(drive(&[("reliability.rber_fresh", "0.1"), ("reliability.correctable_bits", "1")]));
    host.time(Operation::Write, 0, 8);
    host.ask(Operation::Read, 0, 8);
    assert!(host.ssd.counters().read_retries > 0);
}

/// A drive without TRIM says so, completes trims, and keeps the data.
#[test]
fn without_trim_nothing_is_unmapped() {
    let mut host = Host::new(drive(&[("ftl.trim", "false")]));
    assert_eq!(host.ssd.limits().discard_granularity_bytes, 0);
    host.time(Operation::Write, 0, 8);
    host.time(Operation::Trim, 0, 8);
    host.ssd.trim_now(Lpn(0));
    assert_ne!(host.ssd.ftl.place(Lpn(0)), Place::Unmapped);
    assert_eq!(host.ssd.counters().host_trims, 1);
}

/// A drive that was preconditioned has as many free blocks as one that goes on running under load.
#[test]
fn preconditioning_ends_with_the_free_blocks_of_a_run() {
    let free = |ssd: &Ssd| (0..4).map(|die| ssd.ftl.free_groups(DieId(die))).collect::<Vec<_>>();
    let mut ssd = drive(&[
        ("ftl.frontiers", "host-gc"),
        ("ftl.gc_pace", "smooth"),
        ("ftl.gc_low_blocks", "3"),
        ("ftl.gc_high_blocks", "5"),
    ]);
    (0..4096).for_each(|lpn| assert!(ssd.write_now(Lpn(lpn), 0)));
    (0..4 * 4096).for_each(|number| assert!(ssd.write_now(Lpn((scattered(number) % 4096) as u32), 0)));
    assert!(ssd.counters().gc_pages_moved > 0);
    let preconditioned = free(&ssd);
    let mut now = Nanos::ZERO;
    for number in 0..4 * 4096 {
        now += ask_at(&mut ssd, now, Operation::Write, scattered(number + 77) % 4096 * 8, 8).0;
    }
    let sums = [preconditioned, free(&ssd)].map(|free| free.iter().sum::<u32>());
    assert!(sums[0].abs_diff(sums[1]) <= 4, "one block a die at most: {sums:?}");
}

/// Preconditioning may follow a timed run at any instant: jobs half done go on.
#[test]
fn seasoning_goes_on_from_a_running_drive() {
    let mut ssd = drive(&[]);
    (0..4096).for_each(|lpn| assert!(ssd.write_now(Lpn(lpn), 0)));
    ssd.flush_now();
    let mut now = Nanos::ZERO;
    for number in 0..4096 {
        now += ask_at(&mut ssd, now, Operation::Write, scattered(number) % 4096 * 8, 8).0;
        if number % 64 == 63 {
            (0..64).for_each(|more| assert!(ssd.write_now(Lpn((scattered(number + more) % 4096) as u32), 0)));
        }
    }
    ssd.ftl.check();
}

/// Requests without sectors complete, and touch nothing.
#[test]
fn empty_requests_complete() {
    for buffer in ["0", "1 MiB"] {
        let mut host = Host::new(drive(&[("buffer.bytes", buffer)]));
        for operation in [Operation::Write, Operation::Read, Operation::Trim, Operation::WriteZeroes] {
            host.time(operation, 8, 0);
        }
        assert_eq!(host.ssd.counters().host_pages_written, 0);
    }
}

/// Beyond the end every operation on every path is refused with the same status.
#[test]
fn beyond_the_end_is_out_of_range() {
    let paths: [Settings; 3] =
        [&[], &[("buffer.bytes", "1 MiB")], &[("link.protocol", "sata-ncq"), ("link.queue_depth", "32")]];
    for settings in paths {
        let mut host = Host::new(drive(settings));
        for operation in [Operation::Write, Operation::Read, Operation::Trim, Operation::WriteZeroes] {
            for (lba, sectors) in [(32_768, 1), (32_767, 2), (u64::MAX, 1)] {
                assert_eq!(host.ask(operation, lba, sectors).1, Status::OutOfRange, "{operation:?} {lba} {settings:?}");
            }
        }
    }
}

/// One command more than the queue holds is refused until another completes.
#[test]
fn a_full_queue_is_busy() {
    let mut ssd = drive(&[("link.queue_depth", "2")]);
    let read = Request::new(Operation::Read, Lba(0), 8);
    assert!([0, 1].iter().all(|&tag| ssd.submit(Nanos::ZERO, Tag(tag), read).is_ok()));
    assert_eq!(ssd.submit(Nanos::ZERO, Tag(2), read), Err(Busy));
    let now = ssd.advance(Nanos::NEVER, &mut Vec::new());
    assert!(ssd.submit(now, Tag(2), read).is_ok());
}

/// Written to death with 16 writes outstanding, a drive goes read-only, answers everything, and
/// every acknowledged unit is found in flash or, if it could not be programmed any more, the buffer.
#[test]
fn a_dead_drive_keeps_what_it_acknowledged() {
    for buffer in ["0", "256 KiB"] {
        for share in ["0.01", "0.003"] {
            let mut ssd = drive(&[
                ("buffer.bytes", buffer),
                ("ftl.frontiers", "host-gc"),
                ("reliability.program_fail_share", share),
                ("over_provisioning", "0.5"),
            ]);
            let acknowledged = write_to_death(&mut ssd);
            ssd.ftl.check();
            assert!(ssd.ftl.is_read_only());
            let found = |lpn: u32| ssd.ftl.place(Lpn(lpn)) != Place::Unmapped;
            assert!((0..4096).all(|lpn| !acknowledged[lpn as usize] || found(lpn)), "buffer {buffer}, {share}");
        }
    }
}

fn write_to_death(ssd: &mut Ssd) -> Vec<bool> {
    let mut acknowledged = vec![false; 4096];
    let (mut now, mut outstanding, mut refused, mut number) = (Nanos::ZERO, 0, 0, 0u32);
    while refused < 100 {
        while outstanding < 16 {
            let lpn = number * 1_103 % 4096;
            number += 1;
            ssd.submit(now, Tag(lpn), Request::new(Operation::Write, Lba(u64::from(lpn) * 8), 8)).unwrap();
            outstanding += 1;
        }
        assert!(ssd.next_event().is_some(), "outstanding writes are answered");
        let mut done = Vec::new();
        now = ssd.advance(Nanos::NEVER, &mut done);
        outstanding -= done.len();
        refused += done.iter().filter(|completion| completion.status == Status::WriteProtected).count();
        done.iter()
            .filter(|completion| completion.status == Status::Success)
            .for_each(|one| acknowledged[one.tag.0 as usize] = true);
    }
    acknowledged
}
