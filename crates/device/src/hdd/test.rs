use super::*;
use crate::block::Device;
use crate::parameter::{Declaration, Problem, Raw, Source};
use crate::units::Lba;
use std::collections::BTreeMap;

/// A disk of round numbers.
const PLAIN: [(&str, &str); 12] = [
    ("capacity_bytes", "1024000000"),
    ("hdd.rpm", "6000"),
    ("hdd.heads", "2"),
    ("hdd.outer_mb_per_s", "100"),
    ("hdd.inner_mb_per_s", "100"),
    ("hdd.track_to_track_ms", "1"),
    ("hdd.head_switch_ms", "0.5"),
    ("hdd.average_seek_ms", "8"),
    ("hdd.full_stroke_ms", "16"),
    ("hdd.command_us", "100"),
    ("hdd.link_mb_per_s", "300"),
    ("hdd.cache_bytes", "8388608"),
];

/// Values by key, as they are written in a profile.
struct Values<'a>(BTreeMap<&'a str, &'a str>);

impl Source for Values<'_> {
    fn get(&mut self, declaration: &Declaration) -> Result<Raw, Problem> {
        let text = self.0.get(declaration.key).copied().or(declaration.default);
        let text = text.ok_or_else(|| Problem::new(declaration.key, "", "is missing"))?.trim_matches('"');
        let number = text.parse().map(Raw::Integer).or_else(|_| text.parse().map(Raw::Float));
        let flag = text.parse().map(Raw::Flag);
        Ok(number.ok().or(flag.ok()).unwrap_or_else(|| Raw::Text(text.into())))
    }
}

fn read(settings: &[(&str, &str)]) -> Result<HddConfig, Problem> {
    HddConfig::read(&mut Values(PLAIN.iter().chain(settings).copied().collect()))
}

/// The parameters of the plain disk with settings over it.
pub fn config(settings: &[(&str, &str)]) -> HddConfig {
    read(settings).unwrap_or_else(|problem| panic!("{problem:?}"))
}

/// Revolution of the plain disk.
const TURN_MS: f64 = 10.0;

fn disk(settings: &[(&str, &str)]) -> Hdd {
    Hdd::new(&config(settings), 1)
}

/// Keeps `depth` of the requests outstanding; returns the latency of each, in the order in which they end, in ms.
fn run(disk: &mut Hdd, depth: usize, requests: impl IntoIterator<Item = Request>) -> Vec<f64> {
    let mut requests = requests.into_iter();
    let (mut now, mut begun, mut latencies, mut done) = (disk.now, Vec::new(), Vec::new(), Vec::new());
    loop {
        while begun.len() - latencies.len() < depth {
            let Some(request) = requests.next() else { break };
            disk.submit(now, Tag(begun.len() as u32), request).expect("the queue has room");
            begun.push(now);
        }
        if begun.len() == latencies.len() {
            return latencies;
        }
        now = disk.advance(Nanos::NEVER, &mut done);
        for Completion { tag, status } in done.drain(..) {
            assert_eq!(status, Status::Success);
            latencies.push((now - begun[tag.0 as usize]).0 as f64 / 1e6);
        }
    }
}

/// Random requests of 4 KiB, aligned but for `shift` sectors.
fn random(operation: Operation, count: u32, shift: u64) -> impl Iterator<Item = Request> {
    let mut stream = Stream::new(7, Purpose::Victim);
    (0..count).map(move |_| Request::new(operation, Lba(u64::from(stream.below(244_000)) * 8 + shift), 8))
}

/// Requests one after the other from a sector on.
fn sequential(operation: Operation, from: u64, count: u64, sectors: u32) -> impl Iterator<Item = Request> {
    (0..count).map(move |i| Request::new(operation, Lba(from + i * u64::from(sectors)), sectors))
}

fn mean(latencies: &[f64]) -> f64 {
    latencies.iter().sum::<f64>() / latencies.len() as f64
}

fn mb_per_s(disk: &Hdd, bytes: u64) -> f64 {
    bytes as f64 / 1e6 / disk.now.as_s()
}

/// A random read takes command + mean seek + half a revolution + transfer + link, within a percent.
#[test]
fn a_random_read_by_hand() {
    let mut disk = disk(&[]);
    let latencies = run(&mut disk, 1, random(Operation::Read, 40_000, 0));
    let by_hand = 0.1 + 8.0 + TURN_MS / 2.0 + 4096.0 / 100e3 + 4096.0 / 300e3;
    assert!((mean(&latencies) / by_hand - 1.0).abs() < 0.01, "{} {by_hand}", mean(&latencies));
}

/// A seek for a write takes longer by the settling.
#[test]
fn a_random_write_settles() {
    let settled = |ms| {
        let mut disk = disk(&[("hdd.write_cache", "false"), ("hdd.write_settle_ms", ms)]);
        mean(&run(&mut disk, 1, random(Operation::Write, 20_000, 0)))
    };
    assert!((settled("1") - settled("0") - 1.0).abs() < 0.1, "{} {}", settled("1"), settled("0"));
}

/// One request after the other streams at the rates of its zones: a disk that reads ahead loses nothing.
#[test]
fn sequential_reads_stream() {
    for (from, rate) in [(0, 100.0), (1_680_000, 50.0)] {
        let mut disk = disk(&[("hdd.inner_mb_per_s", "50"), ("hdd.zones", "4")]);
        run(&mut disk, 1, sequential(Operation::Read, from, 1200, 256));
        let measured = mb_per_s(&disk, 1200 * 256 * 512);
        assert!((measured / rate - 1.0).abs() < 0.015, "{measured} {rate}");
    }
}

/// Without reading ahead the next sector has just passed: a revolution for each request.
#[test]
fn without_reading_ahead_a_revolution_is_lost() {
    let mut disk = disk(&[("hdd.read_ahead", "false")]);
    let latencies = run(&mut disk, 1, sequential(Operation::Read, 0, 100, 8));
    assert!(latencies[1..].iter().all(|ms| (ms - TURN_MS).abs() < 0.05 * TURN_MS), "{latencies:?}");
}

/// A cached write takes command and link; written one by one in order, the stream goes at the disk's rate.
/// Without the cache each request waits for a revolution.
#[test]
fn write_cache_on_and_off() {
    let mut cached = disk(&[]);
    let latencies = run(&mut cached, 1, sequential(Operation::Write, 0, 20, 8));
    let by_hand = 0.1 + 4096.0 / 300e3;
    assert!(latencies.iter().all(|ms| (ms - by_hand).abs() < 1e-4), "{latencies:?}");
    run(&mut cached, 1, sequential(Operation::Write, 160, 1600, 256));
    let measured = mb_per_s(&cached, (20 * 8 + 1600 * 256) * 512);
    // The last 4 MiB, half of the cache, are not written yet.
    assert!((measured / 102.0 - 1.0).abs() < 0.015, "{measured}");
    let mut uncached = disk(&[("hdd.write_cache", "false")]);
    let latencies = run(&mut uncached, 1, sequential(Operation::Write, 0, 100, 8));
    assert!(latencies[1..].iter().all(|ms| (ms - TURN_MS).abs() < 0.05 * TURN_MS), "{latencies:?}");
}

/// A queue lets the arm choose: 32 outstanding reads give well over 1.5 times the rate of one; the sooner
/// requests age, the shorter the slowest waits.
#[test]
fn a_queue_shortens_positioning() {
    let rate = |depth, aging| {
        let mut disk = disk(&[("hdd.aging_ms", aging)]);
        let slowest = run(&mut disk, depth, random(Operation::Read, 8000, 0)).into_iter().fold(0.0, f64::max);
        (8000.0 / disk.now.as_s(), slowest)
    };
    let ((one, _), (four, _), (many, slowest)) = (rate(1, "500"), rate(4, "500"), rate(32, "500"));
    assert!(four > 1.15 * one && many > 1.6 * one, "{one} {four} {many}");
    let (_, ageless) = rate(32, "1000000");
    assert!(slowest < 0.7 * ageless, "{slowest} {ageless}");
}

/// The write cache is a queue too: random writes one by one go at well over the rate of reads, also when all
/// of them have waited for long.
#[test]
fn cached_random_writes_are_reordered() {
    let rate = |operation| {
        let mut disk = disk(&[("hdd.aging_ms", "100")]);
        run(&mut disk, 1, random(operation, 8000, 0));
        8000.0 / disk.now.as_s()
    };
    let (reads, writes) = (rate(Operation::Read), rate(Operation::Write));
    assert!(writes > 1.6 * reads, "{reads} {writes}");
}

/// A write that covers physical sectors in part reads them first and loses a revolution; a whole one does not.
#[test]
fn an_unaligned_write_loses_a_revolution() {
    let settings = [("hdd.write_cache", "false"), ("hdd.physical_sector_bytes", "4096")];
    let latency = |shift| {
        let mut disk = disk(&settings);
        let latency = mean(&run(&mut disk, 1, random(Operation::Write, 4000, shift)));
        (latency, disk.counters().read_modify_writes)
    };
    let ((aligned, none), (unaligned, both)) = (latency(0), latency(63));
    assert_eq!((none, both), (0, 8000));
    assert!((unaligned - aligned - TURN_MS).abs() < 0.3, "{aligned} {unaligned}");
}

/// A flush ends when all is written; what was flushed survives a power cut, what was only cached is lost.
#[test]
fn a_flush_makes_durable() {
    let mut disk = disk(&[]);
    run(&mut disk, 4, random(Operation::Write, 40, 0));
    run(&mut disk, 1, [Request { sectors: 0, ..Request::new(Operation::Flush, Lba(0), 0) }]);
    disk.cut_power(disk.now);
    assert_eq!(disk.counters().units_lost_at_power_cut, 0);
    run(&mut disk, 1, [Request::new(Operation::Write, Lba(800), 8)]);
    disk.cut_power(disk.now);
    assert_eq!((disk.counters().units_lost_at_power_cut, disk.counters().unsafe_shutdowns), (8, 1));
    let forced = Request { fua: true, ..Request::new(Operation::Write, Lba(800), 8) };
    run(&mut disk, 1, [forced]);
    disk.cut_power(disk.now);
    assert_eq!(disk.counters().units_lost_at_power_cut, 8);
}

/// Energy is time at work times active power and the rest times idle power.
#[test]
fn energy_by_hand() {
    let mut disk = disk(&[("hdd.active_w", "2"), ("hdd.idle_w", "0.5"), ("hdd.read_ahead", "false")]);
    run(&mut disk, 1, random(Operation::Read, 100, 0));
    let busy = disk.now.as_s() - 100.0 * (0.1e-3 + 4096.0 / 300e6);
    disk.advance(Nanos::from_s(10.0), &mut Vec::new());
    let by_hand = 2.0 * busy + 0.5 * (10.0 - busy);
    let energy = disk.layers().counts.into_iter().find(|(name, _)| name == "energy_mj").unwrap().1;
    assert!((energy as f64 / 1e3 / by_hand - 1.0).abs() < 1e-3, "{energy} {by_hand}");
}

/// What cannot be is refused with key, value and what is allowed.
#[test]
fn impossible_disks_are_refused() {
    let refused = |key: &str, value: &str| {
        let problem = read(&[(key, value)]).unwrap_err();
        assert_eq!((problem.key.as_str(), problem.value.as_str()), (key, value));
        problem.message
    };
    assert!(refused("hdd.inner_mb_per_s", "101").contains("at most outer_mb_per_s = 100"));
    assert!(refused("hdd.full_stroke_ms", "40").contains("three times"));
    assert!(refused("hdd.average_seek_ms", "0.5").contains("longer than track_to_track_ms = 1"));
    assert!(refused("hdd.protocol", "nvme").contains("sata-ncq"));
    let problem = read(&[("hdd.protocol", "sata-ide")]).unwrap_err();
    assert!(problem.key == "hdd.queue_depth" && problem.message.contains("at most 1"));
}

mod any_requests {
    use super::*;
    use proptest::prelude::*;

    fn request() -> impl Strategy<Value = (u64, Request)> {
        let operation = prop_oneof![
            4 => Just(Operation::Read),
            4 => Just(Operation::Write),
            1 => Just(Operation::Trim),
            1 => Just(Operation::WriteZeroes),
            1 => Just(Operation::Flush),
        ];
        // Near each other, so that hits, joined writes and reading ahead come up, or anywhere.
        let lba = prop_oneof![0u64..4000, 0u64..1_953_000];
        (0u64..20_000_000, operation, lba, 1u32..3000, any::<bool>()).prop_map(
            |(pause, operation, lba, sectors, fua)| {
                let sectors = sectors.min(1_953_125 - lba as u32);
                (pause, Request { fua, ..Request::new(operation, Lba(lba), sectors) })
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Every request ends once, whatever comes when; nothing is faster than the link and the media, time
        /// never runs backwards, and after a flush nothing waits to be written.
        #[test]
        fn every_request_ends_once(requests in prop::collection::vec(request(), 1..80), cached: bool, ahead: bool) {
            let flag = |set| if set { "true" } else { "false" };
            let mut disk = disk(&[("hdd.write_cache", flag(cached)), ("hdd.read_ahead", flag(ahead))]);
            let mut open = std::collections::BTreeMap::new();
            let mut done = Vec::new();
            let mut now = Nanos::ZERO;
            let total = requests.len();
            let mut ended = 0;
            let mut end = |disk: &mut Hdd, to: Nanos, open: &mut std::collections::BTreeMap<u32, Nanos>| {
                let at = disk.advance(to, &mut done);
                for completion in done.drain(..) {
                    let begun = open.remove(&completion.tag.0).expect("ends once");
                    assert!(at >= begun + Nanos::from_us(100.0) && completion.status == Status::Success);
                    ended += 1;
                }
                at
            };
            for (tag, (pause, request)) in requests.into_iter().enumerate() {
                let until = now + Nanos(pause);
                while now < until {
                    now = end(&mut disk, until, &mut open);
                }
                while disk.submit(now, Tag(tag as u32), request).is_err() {
                    now = end(&mut disk, Nanos::NEVER, &mut open);
                }
                open.insert(tag as u32, now);
            }
            while disk.next_event().is_some() {
                end(&mut disk, Nanos::NEVER, &mut open);
            }
            prop_assert!(open.is_empty());
            prop_assert_eq!(ended, total);
            prop_assert!(disk.dirty.is_empty() && disk.taken == 0 && disk.incoming == 0);
        }
    }
}
