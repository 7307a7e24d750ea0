use super::*;
use crate::null::NullDevice;
use proptest::prelude::*;
use ssdlab_device::block::{Busy, Completion, Traffic};
use ssdlab_device::units::Nanos;
use std::cell::RefCell;
use std::rc::Rc;

const SLOW: Nanos = Nanos(10_000);
const FAST: Nanos = Nanos(100);
/// Sectors of a line in these tests.
const LINE: u64 = 8;

fn config(mode: WriteMode) -> CacheConfig {
    CacheConfig {
        mode,
        line_bytes: Bytes(LINE * 512),
        promote_after: 2,
        bypass_bytes: Bytes(0),
        dirty_share: 0.5,
        idle_ms: Milliseconds(Nanos::from_ms(1.0)),
        destage_depth: 2,
    }
}

/// A slow device of 64 lines and an SSD of `slots`.
fn over_null(config: &CacheConfig, slots: u64) -> Stacked<FlashCache> {
    let device = |lines, latency| Box::new(NullDevice::new(lines * LINE * 512, latency, 64));
    new(config, device(64, SLOW), device(slots, FAST)).unwrap()
}

/// Runs one request to its end; its latency.
fn latency(cache: &mut Stacked<FlashCache>, now: &mut Nanos, operation: Operation, lba: u64, sectors: u32) -> Nanos {
    let begun = *now;
    let mut done = Vec::new();
    while cache.advance(begun, &mut done) < begun {}
    cache.submit(begun, Tag(0), Request::new(operation, Lba(lba), sectors)).unwrap();
    while done.is_empty() {
        *now = cache.advance(Nanos::NEVER, &mut done);
    }
    assert_eq!(done, [Completion { tag: Tag(0), status: Status::Success }]);
    *now - begun
}

fn asked(cache: &mut Stacked<FlashCache>) -> (Traffic, Traffic) {
    let counts = cache.layers();
    (counts.asked[BACKING], counts.asked[SSD])
}

/// A read costs what the device below costs until the second access has copied it, then what the SSD costs;
/// the copy follows behind the read and the host does not wait for it.
#[test]
fn the_second_read_is_copied_and_the_third_hits() {
    let mut cache = over_null(&config(WriteMode::WriteThrough), 4);
    let mut now = Nanos(0);
    let mut read = |cache: &mut _| {
        let latency = latency(cache, &mut now, Operation::Read, 16, 8);
        now += Nanos(1_000);
        latency
    };
    assert_eq!([read(&mut cache), read(&mut cache), read(&mut cache)], [SLOW, SLOW, FAST]);
    let (below, ssd) = asked(&mut cache);
    assert_eq!((below.reads, ssd.writes, ssd.reads), (2, 1, 1));
}

/// A write-back write costs what the SSD costs, a write-through one what the device below costs; either can be
/// read from the SSD afterwards.
#[test]
fn writes_by_mode() {
    for (mode, write, writes_below) in [(WriteMode::WriteBack, FAST, 0), (WriteMode::WriteThrough, SLOW, 1)] {
        let mut cache = over_null(&CacheConfig { promote_after: 1, ..config(mode) }, 4);
        let mut now = Nanos(0);
        assert_eq!(latency(&mut cache, &mut now, Operation::Write, 16, 8), write);
        assert_eq!(latency(&mut cache, &mut now, Operation::Read, 16, 8), FAST);
        assert_eq!(asked(&mut cache).0.writes, writes_below);
    }
}

/// Dirty lines are written back in the order of addresses when the host is idle, once each.
#[test]
fn idle_time_writes_back_in_order() {
    let mut cache = over_null(&CacheConfig { destage_depth: 1, ..config(WriteMode::WriteBack) }, 8);
    let mut now = Nanos(0);
    for line in [5, 1, 3] {
        latency(&mut cache, &mut now, Operation::Write, line * LINE + 2, 4);
    }
    assert_eq!(asked(&mut cache).0.writes, 0);
    while cache.next_event().is_some() {
        cache.advance(Nanos::NEVER, &mut Vec::new());
    }
    let (below, ssd) = asked(&mut cache);
    assert_eq!((below.writes, below.written_bytes, ssd.reads), (3, 3 * 4 * 512, 3));
    assert_eq!(cache.layer.hand, 6);
    assert!(cache.layer.dirty.is_empty());
}

/// A long stream goes past: reads of it are not copied, writes of it not held.
#[test]
fn long_streams_go_past() {
    let bypass = CacheConfig { bypass_bytes: Bytes(2 * LINE * 512), promote_after: 1, ..config(WriteMode::WriteBack) };
    for operation in [Operation::Read, Operation::Write] {
        let mut cache = over_null(&bypass, 32);
        let mut now = Nanos(0);
        let latencies: Vec<Nanos> =
            (0..6).map(|line| latency(&mut cache, &mut now, operation, line * LINE, LINE as u32)).collect();
        let expected = if operation == Operation::Read { SLOW } else { FAST };
        assert_eq!(latencies[..2], [expected; 2]);
        assert_eq!(latencies[2..], [SLOW; 4]);
        assert_eq!(asked(&mut cache).1.written_bytes, 2 * LINE * 512);
    }
}

/// What does not fit is refused with what is allowed.
#[test]
fn impossible_caches_are_refused() {
    let device = |bytes| Box::new(NullDevice::new(bytes, FAST, 1));
    let refused = |line, ssd| {
        let config = CacheConfig { line_bytes: Bytes(line), ..config(WriteMode::WriteBack) };
        new(&config, device(1 << 20), device(ssd)).err().unwrap().message
    };
    assert!(refused(5000, 1 << 20).contains("whole number of sectors of 512 B"));
    assert!(refused(1 << 17, 1 << 20).contains("at most 128"));
    assert!(refused(4096, 2048).contains("no room"));
}

/// What both devices were asked, in order, with the device.
type Log = Rc<RefCell<Vec<(usize, Request)>>>;

/// A device of constant latency that logs what it is asked.
struct Logged {
    device: NullDevice,
    number: usize,
    log: Log,
}

impl Device for Logged {
    fn limits(&self) -> &Limits {
        self.device.limits()
    }
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) -> Result<(), Busy> {
        self.device.submit(now, tag, request)?;
        self.log.borrow_mut().push((self.number, request));
        Ok(())
    }
    fn next_event(&self) -> Option<Nanos> {
        self.device.next_event()
    }
    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        self.device.advance(to, done)
    }
    fn apply_now(&mut self, request: Request) -> Status {
        self.log.borrow_mut().push((self.number, request));
        Status::Success
    }
    fn cut_power(&mut self, now: Nanos) {
        self.device.cut_power(now);
    }
}

/// The cache beside a plain model: of each sector the version that the host wrote last, and the version that
/// each device has. A version of 0 was never written.
struct Plain {
    cache: Stacked<FlashCache>,
    log: Log,
    now: Nanos,
    newest: Vec<u32>,
    below: Vec<u32>,
    ssd: Vec<u32>,
    /// What the last read below brought.
    brought: Vec<u32>,
    /// Trimmed and not written since: any version may be read.
    trimmed: Vec<bool>,
    /// What the host is writing.
    writing: Option<(Request, u32)>,
    version: u32,
}

/// The tag of what the host writes; it has one write under way at most.
const HOST_WRITE: Tag = Tag(1);
const LINES: u64 = 12;
const SLOTS: u64 = 4;

impl Plain {
    fn new(config: &CacheConfig) -> Plain {
        let log = Log::default();
        let device = |number, lines, latency| {
            let device = NullDevice::new(lines * LINE * 512, latency, 64);
            Box::new(Logged { device, number, log: log.clone() })
        };
        let cache = super::new(config, device(BACKING, LINES, SLOW), device(SSD, SLOTS, FAST)).unwrap();
        let all = (LINES * LINE) as usize;
        let (newest, below, brought, trimmed) = (vec![0; all], vec![0; all], vec![0; all], vec![false; all]);
        let ssd = vec![u32::MAX; (SLOTS * LINE) as usize];
        Plain { cache, log, now: Nanos(0), newest, below, ssd, brought, trimmed, writing: None, version: 0 }
    }

    /// Where a sector lies on the SSD, if its line is held.
    fn on_ssd(&self, sector: u64) -> Option<usize> {
        let held = self.cache.layer.lines.get(sector / LINE)?;
        Some((held.slot * LINE + sector % LINE) as usize)
    }

    fn sector_of(&self, on_ssd: u64) -> u64 {
        let held = self.cache.layer.lines.oldest().find(|(_, line)| line.slot == on_ssd / LINE);
        held.expect("writes go into slots in use").0 * LINE + on_ssd % LINE
    }

    fn is_writing(&self, sector: u64) -> Option<u32> {
        let (host, version) = self.writing?;
        (host.lba.0..host.lba.0 + u64::from(host.sectors)).contains(&sector).then_some(version)
    }

    fn is_promoting(&self, sector: u64) -> bool {
        self.cache.layer.lines.get(sector / LINE).is_some_and(|line| line.promoting > 0)
    }

    /// Gives each device the version that was written to it: that of the host where it is writing, else the
    /// copy that the cache makes. A read beside a write brings what was there before.
    fn follow_log(&mut self) {
        for (device, request) in std::mem::take(&mut *self.log.borrow_mut()) {
            let writes = matches!(request.operation, Operation::Write | Operation::WriteZeroes);
            for at in request.lba.0..request.lba.0 + u64::from(request.sectors) {
                let sector = if device == SSD { self.sector_of(at) } else { at };
                let index = sector as usize;
                match (device, writes, self.is_writing(sector)) {
                    (BACKING, true, _) if request.fua => {
                        self.below[index] = self.ssd[self.on_ssd(sector).expect("held")];
                    }
                    (BACKING, true, version) => self.below[index] = version.expect("the host writes"),
                    // Writes of the host wait while a copy goes into their line.
                    (SSD, true, _) if self.is_promoting(sector) => self.ssd[at as usize] = self.brought[index],
                    (SSD, true, version) => self.ssd[at as usize] = version.expect("the host writes"),
                    (BACKING, false, None) => self.brought[index] = self.below[index],
                    (BACKING, false, Some(_)) => self.brought[index] = self.newest[index],
                    _ => {}
                }
            }
        }
    }

    fn begin(&mut self, request: Request) {
        let range = request.lba.0 as usize..request.lba.0 as usize + request.sectors as usize;
        match request.operation {
            Operation::Write | Operation::WriteZeroes => {
                self.version += 1;
                self.writing = Some((request, self.version));
            }
            Operation::Trim => range.for_each(|sector| self.trimmed[sector] = true),
            _ => {}
        }
    }

    fn end(&mut self) {
        if let Some((request, version)) = self.writing.take() {
            for sector in request.lba.0 as usize..request.lba.0 as usize + request.sectors as usize {
                (self.newest[sector], self.trimmed[sector]) = (version, false);
            }
        }
    }

    fn apply_now(&mut self, request: Request) {
        self.begin(request);
        assert_eq!(self.cache.apply_now(request), Status::Success);
        self.follow_log();
        self.end();
    }

    /// Goes on to the next completion; returns how many requests ended.
    fn step(&mut self, to: Nanos) -> usize {
        let mut done = Vec::new();
        self.now = self.cache.advance(to, &mut done);
        self.follow_log();
        if done.iter().any(|completion| completion.tag == HOST_WRITE) {
            self.end();
        }
        done.len()
    }

    fn submit(&mut self, request: Request) {
        self.begin(request);
        let writes = self.writing.is_some_and(|(written, _)| written == request);
        self.cache.submit(self.now, if writes { HOST_WRITE } else { Tag(0) }, request).unwrap();
        self.follow_log();
    }

    /// Does a request to its end, then goes on for a while.
    fn run(&mut self, request: Request, pause: Nanos) {
        self.submit(request);
        while self.step(Nanos::NEVER) == 0 {}
        let until = self.now + pause;
        while self.now < until {
            assert_eq!(self.step(until), 0, "ends once");
        }
    }

    /// Does two requests, one a while after the other, to the end of both.
    fn race(&mut self, first: Request, second: Request, after: Nanos) {
        let begun = self.now;
        let mut open = 0;
        for (request, at) in [(first, begun), (second, begun + after)] {
            while self.now < at {
                open -= self.step(at);
            }
            self.submit(request);
            open += 1;
        }
        while open > 0 {
            open -= self.step(Nanos::NEVER);
        }
    }

    /// The power fails while a request is under way: of its sectors old or new may be there.
    fn cut(&mut self, request: Request, after: Nanos) {
        self.submit(request);
        let until = self.now + after;
        while self.now < until && self.step(until) == 0 {}
        self.cache.cut_power(self.now);
        if let Some((request, _)) = self.writing.take() {
            for sector in request.lba.0 as usize..request.lba.0 as usize + request.sectors as usize {
                self.trimmed[sector] = true;
            }
        }
    }

    /// Where the cache would read a sector there is its newest version; what is clean is on both.
    fn check(&self) {
        for sector in 0..LINES * LINE {
            let index = sector as usize;
            let held = self.cache.layer.lines.get(sector / LINE);
            let bit = 1 << (sector % LINE);
            let has = |set: Mask| set & bit != 0;
            if self.trimmed[index] {
                continue;
            }
            if let Some(line) = held.filter(|line| has(line.valid)) {
                assert_eq!(self.ssd[self.on_ssd(sector).unwrap()], self.newest[index], "SSD, sector {sector}");
                assert!(has(line.dirty | line.destaging) || self.below[index] == self.newest[index], "clean {sector}");
            } else {
                assert_eq!(self.below[index], self.newest[index], "below, sector {sector}");
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Run(Request, u64),
    Apply(Request),
    Cut(Request, u64),
    /// A read and a write of the same, the write first where told so.
    Race(Request, bool, u64),
}

fn step() -> impl Strategy<Value = Step> {
    let operation = prop_oneof![
        4 => Just(Operation::Read),
        4 => Just(Operation::Write),
        1 => Just(Operation::WriteZeroes),
        1 => Just(Operation::Trim),
        1 => Just(Operation::Flush),
    ];
    let request = (operation, 0..LINES * LINE, 1u32..30).prop_map(|(operation, lba, sectors)| {
        let sectors = sectors.min((LINES * LINE - lba) as u32);
        if operation == Operation::Flush {
            Request::new(operation, Lba(0), 0)
        } else {
            Request::new(operation, Lba(lba), sectors)
        }
    });
    (request, 0u64..3_000_000, 0u64..12_000, 0u32..12).prop_map(|(request, pause, after, kind)| match kind {
        0 => Step::Cut(request, after),
        1 => Step::Apply(request),
        2..=4 if request.operation == Operation::Read => Step::Race(request, pause % 2 == 0, after),
        // Most pauses are shorter than the idle time, so that the next request meets what the last one began.
        2..=4 => Step::Run(request, pause),
        _ => Step::Run(request, pause % 300),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// After any sequence of requests, timed, untimed and cut off by power failures, the device that the cache
    /// would read has the newest copy of each sector, and every request has ended once.
    #[test]
    fn the_newest_copy_is_known(
        steps in prop::collection::vec(step(), 1..60),
        write_back: bool,
        promote_after in 1u32..3,
        bypass in prop_oneof![Just(0), Just(LINE * 512 * 3)],
        dirty_share in 0.0..1.0,
    ) {
        let mode = if write_back { WriteMode::WriteBack } else { WriteMode::WriteThrough };
        let bypass_bytes = Bytes(bypass);
        let mut plain = Plain::new(&CacheConfig { promote_after, bypass_bytes, dirty_share, ..config(mode) });
        for step in steps {
            match step {
                Step::Run(request, pause) => plain.run(request, Nanos(pause)),
                Step::Apply(request) if plain.cache.next_event().is_none() => plain.apply_now(request),
                Step::Apply(_) => continue,
                Step::Race(read, write_first, after) => {
                    let write = Request { operation: Operation::Write, ..read };
                    let (first, second) = if write_first { (write, read) } else { (read, write) };
                    plain.race(first, second, Nanos(after));
                }
                Step::Cut(request, after) => plain.cut(request, Nanos(after)),
            }
            plain.check();
        }
        while plain.cache.next_event().is_some() {
            plain.step(Nanos::NEVER);
        }
        plain.check();
        prop_assert!(plain.cache.layer.dirty.is_empty() || !write_back || plain.cache.layer.requests.is_empty());
    }

    /// Bytes are conserved: what is read below and from the SSD is what the host read and what was written back,
    /// what is written below is what went past or through and what was written back.
    #[test]
    fn bytes_are_conserved(steps in prop::collection::vec(step(), 1..60), write_back: bool) {
        let mode = if write_back { WriteMode::WriteBack } else { WriteMode::WriteThrough };
        let mut plain = Plain::new(&config(mode));
        for step in steps {
            if let Step::Run(request, pause) = step {
                plain.run(request, Nanos(pause));
            }
        }
        while plain.cache.next_event().is_some() {
            plain.step(Nanos::NEVER);
        }
        let counts = plain.cache.layers();
        let (taken, below, ssd) = (counts.taken, counts.asked[BACKING], counts.asked[SSD]);
        let count = |wanted: &str| counts.counts.iter().find(|(name, _)| name == wanted).unwrap().1;
        prop_assert_eq!(count("hit_bytes") + count("missed_bytes"), taken.read_bytes);
        prop_assert_eq!(below.read_bytes, count("missed_bytes"));
        prop_assert_eq!(ssd.read_bytes, count("hit_bytes") + count("destaged_bytes"));
        let (written, zeroed) = (taken.written_bytes, taken.zeroed_bytes);
        let into_ssd = ssd.written_bytes + ssd.zeroed_bytes - count("promoted_bytes");
        if write_back {
            prop_assert_eq!(below.written_bytes + below.zeroed_bytes + into_ssd, written + zeroed + count("destaged_bytes"));
        } else {
            prop_assert_eq!((below.written_bytes, below.zeroed_bytes), (written, zeroed));
            prop_assert!(into_ssd <= written + zeroed);
        }
        prop_assert_eq!(below.trimmed_bytes, taken.trimmed_bytes);
    }
}
