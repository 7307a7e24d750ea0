use super::*;
use crate::workload::job::Replay;
use crate::workload::parse::parse_flags;
use crate::workload::trace::{Trace, TraceOptions};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const CAPACITY: u64 = 64 << 20;

mod distributions;

fn limits() -> Limits {
    Limits {
        sector_bytes: 512,
        sectors: CAPACITY / 512,
        queue_depth: 32,
        discard_granularity_bytes: 4096,
        volatile_cache: false,
        optimal_io_bytes: 4096,
    }
}

fn job(flags: &str) -> Job {
    let flags: Vec<String> = flags.split_whitespace().map(String::from).collect();
    parse_flags(&flags).unwrap_or_else(|error| panic!("{error}")).jobs.remove(0)
}

fn generator(flags: &str) -> Generator {
    Generator::new(&job(flags), 0, &limits(), 1).unwrap_or_else(|error| panic!("{error}"))
}

fn requests(flags: &str, most: usize) -> Vec<Request> {
    let mut generator = generator(flags);
    std::iter::from_fn(|| generator.next()).map(|planned| planned.request).take(most).collect()
}

/// Requests as (letter, first KiB, KiB).
fn brief(flags: &str) -> Vec<(char, u64, u64)> {
    let letter = |operation| match operation {
        Operation::Read => 'r',
        Operation::Write => 'w',
        Operation::Trim => 't',
        Operation::Flush => 'f',
        Operation::WriteZeroes => 'z',
    };
    let brief = |r: Request| (letter(r.operation), r.lba.0 / 2, u64::from(r.sectors) / 2);
    requests(flags, 100).into_iter().map(brief).collect()
}

fn error(flags: &str) -> String {
    Generator::new(&job(flags), 0, &limits(), 1).expect_err(flags).to_string()
}

/// Sequential jobs go through the region in order, and through again for each loop or more bytes.
#[test]
fn sequential_order() {
    let once = [('w', 1024, 4), ('w', 1028, 4)];
    assert_eq!(brief("--rw=write --bs=4k --offset=1m --size=10k"), once);
    let twice = [once, once].concat();
    assert_eq!(brief("--rw=write --bs=4k --offset=1m --size=8k --loops=2"), twice);
    assert_eq!(brief("--rw=write --bs=4k --offset=1m --size=8k --io_size=16k"), twice);
    assert_eq!(brief("--rw=read --bs=4k --size=16k --number_ios=1"), [('r', 0, 4)]);
}

/// As fio 3.33 logs it: each block trimmed then written; sync after every third write, at the end.
#[test]
fn trims_and_flushes_as_fio_logs_them() {
    let pairs = [('t', 0, 4), ('w', 0, 4), ('t', 4, 4), ('w', 4, 4)];
    assert_eq!(brief("--rw=trimwrite --bs=4k --size=8k"), pairs);
    let (w, f) = (|at| ('w', at, 4), ('f', 0, 0));
    let expected = [w(0), w(4), w(8), f, w(12), w(16), w(20), f, w(24), w(28), f];
    assert_eq!(brief("--rw=write --bs=4k --size=32k --fsync=3 --end_fsync=1"), expected);
    let random = brief("--rw=randtrimwrite --bs=4k --size=64k");
    assert_eq!(random.len(), 32);
    assert!(random.chunks(2).all(|pair| pair[0].0 == 't' && pair[1] == ('w', pair[0].1, 4)));
}

/// With a volatile cache `sync` makes every write durable, `write_barrier` every so many; reads never; and a
/// drive that writes through is asked for nothing.
#[test]
fn synchronous_writes_come_with_fua() {
    let fua = |flags: &str, volatile_cache: bool| {
        let limits = Limits { volatile_cache, ..limits() };
        let requests = Generator::new(&job(flags), 0, &limits, 1).unwrap().map(|planned| planned.request);
        requests.map(|r| (r.operation == Operation::Write, r.fua)).collect::<Vec<_>>()
    };
    for pattern in ["write", "randwrite", "randrw", "trimwrite"] {
        let flags = format!("--rw={pattern} --bs=4k --size=128k");
        let all = fua(&format!("{flags} --sync=dsync"), true);
        assert!(all.iter().all(|&(write, fua)| write == fua), "{pattern}: {all:?}");
        for calm in [fua(&format!("{flags} --sync=dsync"), false), fua(&flags, true)] {
            assert!(calm.iter().all(|&(_, fua)| !fua), "{pattern}");
        }
    }
    let barriers = fua("--rw=write --bs=4k --size=32k --write_barrier=3", true);
    let expected = (1..=8).map(|number| (true, number % 3 == 0));
    assert!(barriers.into_iter().eq(expected));
}

/// In a sequential mix each direction has its own position (fio's log shows the same).
#[test]
fn sequential_mix_keeps_positions_apart() {
    let all = brief("--rw=rw --bs=4k --size=256k");
    for letter in ['r', 'w'] {
        let starts: Vec<u64> = all.iter().filter(|r| r.0 == letter).map(|r| r.1).collect();
        assert!(starts.iter().copied().eq((0..starts.len() as u64).map(|n| 4 * n)));
    }
    assert_eq!(all.len(), 64);
}

/// Reads come with the share of `rwmixread`, within four standard deviations.
#[test]
fn mix_share_holds() {
    let all = requests("--rw=randrw --rwmixread=70 --bs=512", 1 << 17);
    let reads = all.iter().filter(|r| r.operation == Operation::Read).count() as f64;
    let expected = 0.7 * all.len() as f64;
    assert!((reads - expected).abs() < 4.0 * (expected * 0.3).sqrt());
}

/// With the random map a pass meets every block once: by default in the same order as the pass before it, with the
/// same directions and sizes, and in another one without `randrepeat`, with a `randseed` and while only time ends it.
#[test]
fn random_map_meets_every_block_once() {
    let base = "--rw=randrw --bssplit=4k/60:16k/40";
    for (flags, repeats) in [
        ("--loops=2", true),
        ("--io_size=128m", true),
        ("--loops=2 --randrepeat=0", false),
        ("--loops=2 --randseed=7", false),
        ("--time_based --runtime=1", false),
    ] {
        let all: Vec<Request> = generator(&format!("{base} {flags}")).map(|p| p.request).take(30_000).collect();
        let sectors = |pass: &[Request]| pass.iter().map(|r| u64::from(r.sectors)).sum::<u64>();
        let end = (0..all.len()).find(|&end| sectors(&all[..end]) == CAPACITY / 512).unwrap();
        let (first, rest) = all.split_at(end);
        let second = &rest[..first.len().min(rest.len())];
        assert_eq!(first.iter().map(|r| r.lba.0).collect::<BTreeSet<u64>>().len(), first.len(), "{flags}");
        let same = first.iter().zip(second).filter(|(a, b)| a == b).count();
        assert!(if repeats { same == first.len() } else { same < 20 }, "{flags}: {same} of {}", first.len());
    }
}

/// Without a map fio's queued engines repeat the draws of a read, and go on with those of a write up to `io_size`;
/// a skew's draws go on always.
#[test]
fn passes_without_a_map_repeat_where_fio_repeats_them() {
    let repeats = |flags: &str| {
        let all = requests(&format!("--bs=4k --ioengine=libaio --norandommap {flags}"), usize::MAX);
        let (first, second) = all.split_at(all.len() / 2);
        first == second
    };
    assert!(repeats("--rw=randread --io_size=128m"));
    assert!(repeats("--rw=randwrite --loops=2"));
    assert!(!repeats("--rw=randwrite --io_size=128m"));
    assert!(!repeats("--rw=randread --loops=2 --ioengine=psync"));
    assert!(!repeats("--rw=randread --loops=2 --random_distribution=zipf:1.1"));
}

/// With mixed sizes each sector of the region is met once per loop, too.
#[test]
fn mixed_sizes_cover_without_overlap() {
    let all = requests("--rw=randwrite --bssplit=4k/50:16k/30:64k/20 --size=16m", usize::MAX);
    let mut spans: Vec<(u64, u32)> = all.iter().map(|r| (r.lba.0, r.sectors)).collect();
    spans.sort_unstable();
    let mut end = 0;
    for (start, sectors) in spans {
        assert_eq!(start, end);
        end += u64::from(sectors);
    }
    assert_eq!(end * 512, 16 << 20);
}

/// Shares of block sizes hold, within four standard deviations.
#[test]
fn split_shares_hold() {
    let all = requests("--rw=randwrite --bssplit=4k/10:64k/50:32k/40 --norandommap --io_size=4g", 50_000);
    let mut counts = BTreeMap::new();
    for request in &all {
        *counts.entry(request.sectors / 2).or_insert(0.0) += 1.0;
    }
    for (kib, share) in [(4, 0.1), (64, 0.5), (32, 0.4)] {
        let expected = share * all.len() as f64;
        assert!((counts[&kib] - expected).abs() < 4.0 * (expected * (1.0 - share)).sqrt());
    }
}

/// `randread:4` and `percentage_random` go on from the last request of the direction.
#[test]
fn partly_random_jobs_follow_on() {
    let follows = |flags: &str| {
        let all = requests(flags, 16_000);
        let pairs = all.windows(2).filter(|p| p[1].lba.0 == p[0].lba.0 + u64::from(p[0].sectors));
        pairs.count() as f64 / all.len() as f64
    };
    assert!((follows("--rw=randread:4 --norandommap") - 0.75).abs() < 0.02);
    assert!((follows("--rw=randread --percentage_random=30 --norandommap") - 0.7).abs() < 0.02);
}

/// Regions: percentages of the drive, clones apart, offsets in percent rounded up to a block.
#[test]
fn regions_as_fio_means_them() {
    let region = |flags: &str, clone| Generator::new(&job(flags), clone, &limits(), 1).unwrap().region();
    let mib = |n: u64| n << 20;
    assert_eq!(region("--rw=read", 0), (0, mib(64)));
    assert_eq!(region("--rw=read --size=50%", 0), (0, mib(32)));
    assert_eq!(region("--rw=read --offset=75% --size=50%", 0), (mib(48), mib(16)));
    assert_eq!(region("--rw=read --offset=1m --offset_increment=8m --size=8m", 2), (mib(17), mib(8)));
    // As in fio 3.33's log for a file of 64 MiB.
    assert_eq!(region("--rw=read --bs=1m --offset=33%", 0).0, 23_068_672);
    assert_eq!(region("--rw=rw --bs=512k,1m --offset=33%", 0).0, 22_544_384);
    assert_eq!(generator("--rw=read --size=1m --loops=3").total_bytes(), Some(3 << 20));
    assert_eq!(generator("--rw=read --time_based --runtime=1").total_bytes(), None);
}

/// What does not fit the drive is refused with both numbers and a remedy.
#[test]
fn misfits_are_refused() {
    for (flags, expected) in [
        ("--bs=1000 --direct=1", "bs=1000: is not a multiple of the sector\n  the drive's sector has 512 bytes"),
        ("--size=1g", "size=1073741824: reaches beyond the drive: with offset 0 only 67108864"),
        ("--size=40m --offset=40m", "only 25165824 bytes fit"),
        ("--offset=1g", "offset=1073741824: begins beyond the end of the drive"),
        ("--size=4k --bs=8k", "the region holds no block of 8192 bytes"),
        ("--rw=randread --ba=100", "blockalign=100: is not a multiple of the sector"),
    ] {
        assert!(error(flags).contains(expected), "{flags}: {}", error(flags));
    }
}

/// The same seed gives the same requests; another seed, clone or `randseed` gives others.
#[test]
fn seeds_make_the_difference() {
    let first = |flags: &str, clone, seed| {
        let mut generator = Generator::new(&job(flags), clone, &limits(), seed).unwrap();
        [(); 8].map(|()| generator.next().unwrap().request.lba.0)
    };
    let base = first("--rw=randread", 0, 1);
    assert_eq!(base, first("--rw=randread", 0, 1));
    assert_ne!(base, first("--rw=randread", 1, 1));
    assert_ne!(base, first("--rw=randread", 0, 2));
    assert_ne!(base, first("--rw=randread --randseed=5", 0, 1));
    assert_eq!(base, first("--name=other --rw=randread", 0, 1));
    let apart = |name: &str| first(&format!("--name={name} --rw=randread --randrepeat=0"), 0, 1);
    assert_ne!(apart("a"), apart("b"));
}

/// The addresses of writes do not change with what else is drawn: mix and sizes have own streams.
#[test]
fn streams_do_not_disturb_each_other() {
    let starts = |flags: &str| requests(flags, 1000).into_iter().map(|r| r.lba.0).collect::<Vec<_>>();
    let pure = starts("--rw=randwrite --norandommap");
    assert_eq!(pure, starts("--rw=randrw --norandommap"));
}

/// A trace is played with its times, as often as asked; what does not fit is refused.
#[test]
fn traces_are_played() {
    let log = "fio version 3 iolog\n0 f add\n10 f write 4096 4096\n30 f sync 0 0\n40 f read 0 512\n";
    let text = log.to_string() + "50 f close\n";
    let trace = Trace::of_text("x", &text, TraceOptions::default()).unwrap();
    let job = Job { replay: Some(Replay { trace, timed: true }), loops: 2, ..Job::default() };
    let mut generator = Generator::new(&job, 0, &limits(), 1).unwrap();
    let played: Vec<Planned> = std::iter::from_fn(|| generator.next()).collect();
    let times: Vec<u64> = played.iter().map(|p| p.not_before.unwrap().0 / 1000).collect();
    assert_eq!(times, [0, 20, 30, 30, 50, 60]);
    assert_eq!(played[0].request, Request::new(Operation::Write, Lba(8), 8));
    assert_eq!(played[1].request.operation, Operation::Flush);
    let large = Limits { sector_bytes: 4096, ..limits() };
    let error = Generator::new(&job, 0, &large, 1).unwrap_err().to_string();
    assert!(error.contains("request 3: offset 0, length 512: not in whole sectors"), "{error}");
    let small = Limits { sectors: 8, ..limits() };
    let error = Generator::new(&job, 0, &small, 1).unwrap_err().to_string();
    assert!(error.contains("beyond the drive's 4096 bytes"), "{error}");
}

/// A stopped job still flushes at its end, once.
#[test]
fn stopping_leaves_the_closing_flush() {
    let mut generator = generator("--rw=write --end_fsync=1 --fsync=1 --time_based --runtime=1");
    generator.next();
    generator.stop();
    assert_eq!(generator.next().unwrap().request.operation, Operation::Flush);
    assert_eq!(generator.next(), None);
}

/// Requests put into several places at once are those drawn one by one, whether they are all alike or
/// not, to the end of the job and beyond it.
#[test]
fn batches_are_what_is_drawn_one_by_one() {
    for flags in [
        "--rw=randwrite --bs=4k --norandommap",
        "--rw=randread --bs=8k --norandommap --io_size=1m",
        "--rw=randwrite --bs=4k --norandommap --number_ios=37",
        "--rw=randwrite --bs=4k --norandommap --loops=2 --size=1m",
        "--rw=randwrite --bs=4k --norandommap --fsync=3 --end_fsync=1",
        "--rw=randwrite --bs=4k --norandommap --buffer_compress_percentage=40 --number_ios=50",
        "--rw=randtrim --bs=4k --norandommap --number_ios=20",
        "--rw=randrw --bs=4k --norandommap --number_ios=50",
        "--rw=randwrite --bs=4k --number_ios=50",
        "--rw=randwrite --bssplit=4k/50:8k/50 --norandommap --number_ios=50",
        "--rw=write --bs=64k",
    ] {
        let (mut one_by_one, mut batches) = (generator(flags), generator(flags));
        for _ in 0..300 {
            let mut places = [None; 8];
            batches.refill(&mut places);
            for place in places {
                assert_eq!(
                    place.map(|planned| planned.request),
                    one_by_one.next().map(|planned| planned.request),
                    "{flags}"
                );
            }
        }
    }
}

proptest! {
    /// Whatever the job, requests stay in its region, in whole blocks, and end as they should.
    #[test]
    fn requests_stay_in_the_region(
        rw in prop_oneof![
            Just("read"), Just("randwrite"), Just("randrw:3"), Just("rw"), Just("randtrimwrite"),
        ],
        blocks in prop_oneof![
            Just("--bs=4k"), Just("--bs=512,8k"), Just("--bssplit=512/20:4k/:1536/30"),
            Just("--bs=4k --ba=512"), Just("--bs=4k --ba=8k"),
        ],
        shape in prop_oneof![
            Just(""), Just("--norandommap"), Just("--random_distribution=zipf:1.1"),
            Just("--random_distribution=pareto:0.3:0.9"), Just("--random_distribution=normal:40"),
            Just("--random_distribution=zoned:50/30:50/70"), Just("--percentage_random=50"),
        ],
        offset in 0u64..100_000, sectors in 16u64..3000, loops in 1u32..3, seed: u64,
    ) {
        let offset = offset * 512;
        let size = (sectors * 512).min(CAPACITY - offset);
        let flags = format!("--rw={rw} {blocks} {shape} --offset={offset} --size={size} --loops={loops}");
        let Ok(generator) = Generator::new(&job(&flags), 0, &limits(), seed) else {
            prop_assert!(size < 8192 || shape.contains("zoned"), "{flags}");
            return Ok(());
        };
        let (first, bytes) = generator.region();
        prop_assert!(first == offset && bytes <= size);
        let total = generator.total_bytes().unwrap();
        let mut moved = 0;
        for planned in generator {
            let request = planned.request;
            let (start, length) = (request.lba.0 * 512, u64::from(request.sectors) * 512);
            prop_assert!(start >= first && start + length <= first + bytes && length > 0, "{flags}");
            moved += if request.operation == Operation::Trim { 0 } else { length };
        }
        // A sequential mix ends where the first of its directions is at the end, and a run before the drive's end.
        let ends_early = rw == "rw" || rw == "randrw:3" || shape.starts_with("--percentage");
        prop_assert!(moved >= total || ends_early && moved > 0, "{flags}: {moved} of {total}");
        prop_assert!(moved < total + 2 * 8192, "{flags}: {moved} of {total}");
    }
}

/// First blocks of 4 KiB, as fio 3.33 logs them (`write_iolog`) for the same options.
fn blocks(flags: &str) -> String {
    let show = |(letter, start, _): (char, u64, u64)| format!("{letter}{}", start / 4);
    brief(flags).into_iter().map(show).collect::<Vec<_>>().join(" ")
}

/// Holes between sequential requests, forwards to the end of the region, backwards around it.
#[test]
fn sequential_requests_leave_holes() {
    assert_eq!(blocks("--rw=write:4k --bs=4k --size=32k"), "w0 w2 w4 w6");
    // On a whole drive fio begins again at the start.
    assert_eq!(blocks("--rw=write:16m --bs=16m"), "w0 w8192 w0 w8192");
    let backwards = "r0 r14 r13 r12 r11 r10 r9 r8 r7 r6 r5 r4 r3 r2 r1 r0";
    assert_eq!(blocks("--rw=read:-8k --bs=4k --size=64k"), backwards);
    assert!(error("--rw=write:100 --bs=4k --size=64k").contains("sector"));
}

/// A run of requests to the same place, with `rw_sequencer=identical`.
#[test]
fn identical_requests_repeat_their_place() {
    let all = brief("--rw=randread:3 --rw_sequencer=identical --bs=4k --size=48k");
    assert_eq!(all.len(), 12);
    assert!(all.chunks(3).all(|run| run.iter().all(|request| request == &run[0])));
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 4);
    assert_eq!(blocks("--rw=read --rw_sequencer=identical --bs=4k --size=16k"), "r0 r1 r2 r3");
}

/// Strides as fio 3.33 makes them: a stretch, a gap, and so on to the end of the drive; a longer transfer goes through
/// the stretch again.
#[test]
fn strides_leave_gaps() {
    let sequential = blocks("--rw=read --bs=4k --size=32k --zonemode=strided --zonesize=8k --zoneskip=16k");
    assert_eq!(sequential, "r0 r1 r6 r7 r12 r13 r18 r19");
    let again = blocks("--rw=read --bs=4k --size=32k --zonemode=strided --zonesize=16k --zonerange=8k --zoneskip=8k");
    assert_eq!(again, "r0 r1 r0 r1 r4 r5 r4 r5");
    let random = brief("--rw=randread --bs=4k --size=64k --zonemode=strided --zonesize=16k --zoneskip=16k");
    let stretches: Vec<BTreeSet<u64>> = random.chunks(4).map(|zone| zone.iter().map(|r| r.1 / 4).collect()).collect();
    assert_eq!(stretches[0], (0..4).collect());
    assert_eq!(stretches[1], (8..12).collect());
    let around = blocks("--rw=read --bs=8m --zonemode=strided --zonesize=16m --zoneskip=8m --size=64m");
    assert_eq!(around, "r0 r2048 r6144 r8192 r12288 r14336 r0 r2048");
    assert!(error("--rw=read --bs=64k --zonemode=strided --zonesize=4k").contains("holds no block"));
}

/// Files are stretches of the region: in turn, one after the other, several requests each, drawn sizes.
#[test]
fn files_divide_the_region() {
    let in_turn = "w0 w4 w8 w12 w1 w5 w9 w13 w2 w6 w10 w14 w3 w7 w11 w15";
    assert_eq!(blocks("--rw=write --bs=4k --size=64k --nrfiles=4"), in_turn);
    let one_by_one = blocks("--rw=write --bs=4k --size=32k --nrfiles=2 --file_service_type=sequential");
    assert_eq!(one_by_one, "w0 w1 w2 w3 w4 w5 w6 w7");
    let three = blocks("--rw=write --bs=4k --size=32k --nrfiles=2 --file_service_type=roundrobin:3");
    assert_eq!(three, "w0 w1 w2 w4 w5 w6 w3 w7");
    // Where files have a skew, one that is used up begins again.
    for (service, is_skew) in
        [("random", false), ("zipf:1.2", true), ("pareto", true), ("normal:20", true), ("random:4", false)]
    {
        let all = requests(&format!("--rw=randwrite --bs=4k --size=1m --nrfiles=8 --file_service_type={service}"), 999);
        let places: BTreeSet<u64> = all.iter().map(|request| request.lba.0).collect();
        assert_eq!((all.len(), places.len() < 256), (256, is_skew), "{service}");
    }
    let drawn = requests("--rw=write --bs=4k --filesize=16k-64k --nrfiles=16", 999);
    assert!((16 * 4..16 * 16).contains(&drawn.len()), "{}", drawn.len());
    let bytes: u64 = requests("--rw=write --bs=4k --filesize=16k-64k --nrfiles=4 --size=128k", 999)
        .iter()
        .map(|request| u64::from(request.sectors) * 512)
        .sum();
    assert_eq!(bytes, 128 << 10);
    assert!(error("--rw=write --bs=64k --size=128k --nrfiles=4").contains("without room"));
}

/// What is written is read back in its order: at the end of each pass, or after a backlog, as fio 3.33 does.
#[test]
fn verify_reads_what_was_written() {
    let letters = |flags: &str| brief(flags).iter().map(|request| request.0).collect::<String>();
    let common = "--rw=randwrite --bs=4k --size=64k --verify=crc32c";
    let all = brief(common);
    assert_eq!(letters(common), "w".repeat(16) + &"r".repeat(16));
    assert!(all[..16].iter().zip(&all[16..]).all(|(write, read)| write.1 == read.1));
    assert_eq!(letters(&format!("{common} --loops=2")), ("w".repeat(16) + &"r".repeat(16)).repeat(2));
    assert_eq!(letters(&format!("{common} --verify_backlog=4")), "wwwwrrrr".repeat(4));
    let half = letters(&format!("{common} --verify_backlog=4 --verify_backlog_batch=2"));
    assert_eq!(half, "wwwwrr".to_string() + &"wwrr".repeat(6) + "rr");
    assert_eq!(letters(&format!("{common} --number_ios=5")), "wwwwwrrrrr");
    assert_eq!(letters(&format!("{common} --do_verify=0")), "w".repeat(16));
    let mut stopped = generator(common);
    stopped.by_ref().take(5).for_each(drop);
    stopped.stop();
    assert_eq!(stopped.next(), None);
}

/// A share of what is verified is trimmed after each backlog, and each block at most once.
#[test]
fn written_blocks_are_trimmed() {
    let all = requests("--rw=write --bs=4k --size=4m --verify=md5 --trim_percentage=50 --trim_backlog=8", 9999);
    let places = |operation| -> Vec<u64> { all.iter().filter(|r| r.operation == operation).map(|r| r.lba.0).collect() };
    let (writes, trims) = (places(Operation::Write), places(Operation::Trim));
    assert_eq!(writes.len(), 1024);
    assert!((400..620).contains(&trims.len()), "{}", trims.len());
    assert_eq!(trims.iter().collect::<BTreeSet<_>>().len(), trims.len());
    assert_eq!(all.iter().take_while(|r| r.operation == Operation::Write).count(), 8);
}

/// Sizes of a range come as often as fio draws them; sizes by order go with sequential and random requests.
#[test]
fn ranges_of_sizes_are_drawn() {
    let all = requests("--rw=randwrite --bsrange=4k-10k --norandommap --size=32m", 4000);
    let share = |sectors: u32| all.iter().filter(|r| r.sectors == sectors).count() as f64 / all.len() as f64;
    for (sectors, expected) in [(8, 0.4), (16, 0.4), (20, 0.2)] {
        // Four standard deviations of a share of 0.4 over 4000 draws are 0.031.
        assert!((share(sectors) - expected).abs() < 0.031, "{sectors}: {}", share(sectors));
    }
    let mixed = "--rw=randread --bs=64k,4k --bs_is_seq_rand --percentage_random=50 --norandommap --size=32m";
    let sizes: BTreeSet<u32> = requests(mixed, 200).iter().map(|r| r.sectors).collect();
    assert_eq!(sizes, BTreeSet::from([8, 128]));
    let sequential = requests("--rw=write --bs=64k,4k --bs_is_seq_rand --size=1m", 99);
    assert!(sequential.iter().all(|r| r.sectors == 128));
}

/// Nothing is issued where only the layout is wanted.
#[test]
fn create_only_issues_nothing() {
    assert_eq!(blocks("--rw=randwrite --bs=4k --size=1m --create_only=1 --end_fsync=1"), "");
}

/// A share in `size` beside a `filesize` is rounded down to blocks, and all where that leaves none: fio 3.33's counts.
#[test]
fn a_pass_in_percent_is_of_whole_blocks() {
    for (flags, expected) in [
        ("--bs=4k --size=33%", 84),
        ("--bs=64k --size=34%", 5),
        ("--bs=4k --size=1%", 2),
        ("--bs=4k --size=0.2%", 256),
        ("--bs=4k --size=346030", 85),
    ] {
        assert_eq!(requests(&format!("--rw=write --filesize=1m {flags}"), 999).len(), expected, "{flags}");
    }
}
