use super::*;
use crate::files::file_system::FileId;
use crate::null::NullDevice;
use proptest::prelude::*;
use ssdlab_device::block::{Busy, Completion, Limits, Tag};
use std::collections::BTreeMap;

/// A device that keeps what it is asked.
struct Recorder {
    device: NullDevice,
    requests: Vec<Request>,
}

impl Recorder {
    fn new(latency: Nanos, depth: u32) -> Recorder {
        Recorder { device: NullDevice::new(2 << 30, latency, depth), requests: Vec::new() }
    }

    fn of(&self, operation: Operation) -> Vec<u64> {
        let asked = self.requests.iter().filter(|request| request.operation == operation);
        asked.map(|request| u64::from(request.sectors) * 512).collect()
    }
}

impl Device for Recorder {
    fn limits(&self) -> &Limits {
        self.device.limits()
    }
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) -> Result<(), Busy> {
        self.device.submit(now, tag, request)?;
        self.requests.push(request);
        Ok(())
    }
    fn next_event(&self) -> Option<Nanos> {
        self.device.next_event()
    }
    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        self.device.advance(to, done)
    }
    fn cut_power(&mut self, now: Nanos) {
        self.device.cut_power(now);
    }
}

const LINUX: &str = "linux-2.6.32-ext4";
const BSD: &str = "freebsd-8-ufs";

/// A kernel with one empty file, which is durable; what was asked until then is forgotten.
fn with_file<R>(
    device: &mut Recorder,
    system: &str,
    settings: &[(&str, &str)],
    act: impl FnOnce(&mut Kernel, FileId) -> R,
) -> R {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let (system, _) = System::read(system, &settings).unwrap();
    let mut files = FileSystem::new(&system.file_system, 1 << 30).unwrap();
    let directory = files.make_directory().unwrap();
    let mut kernel = Kernel::new(&system, files, device, Nanos::ZERO);
    let id = kernel.create(directory).unwrap();
    kernel.sync();
    act(&mut kernel, id)
}

/// Sequential writing through write-behind goes at the device's rate: with one request at a time, a
/// cluster of 128 KiB each millisecond. What is still under way at the end (1 MiB) is not waited for.
#[test]
fn write_behind_goes_at_the_devices_rate() {
    let mut device = Recorder::new(Nanos::from_ms(1.0), 1);
    let elapsed = with_file(&mut device, BSD, &[], |kernel, id| {
        let start = kernel.now();
        (0..64).for_each(|mib| assert!(kernel.write(id, mib << 20, 1 << 20)));
        kernel.now() - start
    });
    let clusters = 64.0 * 8.0;
    assert!((clusters - 9.0..clusters + 6.0).contains(&(elapsed.as_s() * 1e3)), "{elapsed:?}");
    assert!(device.of(Operation::Write).iter().filter(|&&bytes| bytes == 128 << 10).count() > 490);
}

/// Linux takes what fits below the limit at the speed of memory, and lets the writer wait beyond it.
#[test]
fn a_writer_waits_only_beyond_the_limit() {
    let settings = [("page_cache.memory_bytes", "\"100 MiB\"")];
    let mut device = Recorder::new(Nanos::from_ms(10.0), 1);
    with_file(&mut device, LINUX, &settings, |kernel, id| {
        let start = kernel.now();
        (0..16).for_each(|mib| assert!(kernel.write(id, mib << 20, 1 << 20)));
        let below = kernel.now() - start;
        assert!(below.as_s() < 0.03, "16 MiB at 2 GB/s and one bitmap: {below:?}");
        (16..64).for_each(|mib| assert!(kernel.write(id, mib << 20, 1 << 20)));
        // 48 MiB more in requests of 512 KiB, 10 ms each, of which 20 MiB may stay dirty and 16 under way.
        let rest = (kernel.now() - start).as_s();
        assert!(rest > 0.3, "{rest}");
        assert!(kernel.cache.dirty_units() <= kernel.share(20.0));
    });
}

/// A durable write of one block is the block, then descriptor, inode block and commit record.
#[test]
fn a_durable_write_is_four_blocks() {
    let mut device = Recorder::new(Nanos::from_us(100.0), 32);
    let (data, journal, elapsed) = with_file(&mut device, LINUX, &[], |kernel, id| {
        assert!(kernel.write(id, 0, 4096));
        kernel.fsync(id);
        let (written, journal, start) = (kernel.traffic().written_bytes, kernel.journal_bytes(), kernel.now());
        assert!(kernel.write(id, 0, 4096));
        kernel.fsync(id);
        (kernel.traffic().written_bytes - written, kernel.journal_bytes() - journal, kernel.now() - start)
    });
    assert_eq!((data, journal), (4 * 4096, 3 * 4096));
    // Data, journal and record one after the other, and some microseconds of calls and copying.
    assert!((300.0..320.0).contains(&elapsed.as_us()), "{elapsed:?}");
}

/// Read-ahead doubles from 16 to 128 KiB, and a file that was read is not read again.
#[test]
fn read_ahead_doubles() {
    let mut device = Recorder::new(Nanos::from_us(100.0), 32);
    with_file(&mut device, LINUX, &[], |kernel, id| {
        assert!(kernel.write(id, 0, 1 << 20));
        kernel.restart();
        let before = kernel.traffic();
        kernel.read(id);
        assert_eq!((kernel.traffic() - before).read_bytes, 1 << 20);
        let before = kernel.traffic();
        kernel.read(id);
        assert_eq!((kernel.traffic() - before).reads, 0);
    });
    let reads = device.of(Operation::Read);
    let kib: Vec<u64> = reads[reads.len() - 11..].iter().map(|bytes| bytes >> 10).collect();
    assert_eq!(kib, [16, 32, 64, 128, 128, 128, 128, 128, 128, 128, 16]);
}

/// Dirty data goes out by itself: the journal after 5 s, data after 30 s; deleted data never.
#[test]
fn old_data_is_written_by_itself() {
    for (deleted, expected) in [(false, 40 << 10), (true, 0)] {
        let mut device = Recorder::new(Nanos::from_us(100.0), 32);
        let data = with_file(&mut device, LINUX, &[], |kernel, id| {
            assert!(kernel.write(id, 0, 40 << 10));
            let extents = kernel.files.file(id).extents.clone();
            if deleted {
                kernel.delete(id);
            }
            kernel.idle(Nanos::from_s(20.0));
            assert!(kernel.journal_bytes() > 0 && kernel.cache.dirty_units() > 0);
            kernel.idle(Nanos::from_s(60.0));
            assert_eq!(kernel.cache.dirty_units(), 0);
            extents
        });
        let sectors = data[0].start * 8..data[0].end() * 8;
        let written = device.requests.iter().filter(|request| request.operation == Operation::Write);
        let data: u64 = written
            .filter(|request| sectors.contains(&request.lba.0))
            .map(|request| u64::from(request.sectors) * 512)
            .sum();
        assert_eq!(data, expected);
    }
}

/// Deleted space is trimmed with the commit, on request, or never, as the file system is set.
#[test]
fn trims_follow_the_setting() {
    for (mode, after_delete, after_trim) in
        [("none", 0, 0), ("continuous", 1 << 20, 1 << 20), ("batched", 0, 512 << 20)]
    {
        let mut device = Recorder::new(Nanos::from_us(100.0), 32);
        with_file(&mut device, LINUX, &[("file_system.discard", mode)], |kernel, id| {
            assert!(kernel.write(id, 0, 1 << 20));
            kernel.delete(id);
            kernel.idle(Nanos::from_s(6.0));
            assert_eq!(kernel.traffic().trimmed_bytes, after_delete, "{mode}");
            assert_eq!(kernel.trim(), mode != "none");
            assert!(kernel.traffic().trimmed_bytes >= after_trim, "{mode}");
        });
    }
}

/// O_DIRECT neither fills the cache nor reads from it, and the caller waits for each request.
#[test]
fn direct_passes_the_cache() {
    let mut device = Recorder::new(Nanos::from_us(100.0), 32);
    with_file(&mut device, LINUX, &[], |kernel, id| {
        assert!(kernel.write(id, 0, 1 << 20));
        kernel.sync();
        let (before, start) = (kernel.traffic(), kernel.now());
        (0..10).for_each(|block| kernel.read_direct(id, block * 4096, 4096));
        (0..10).for_each(|block| kernel.write_direct(id, block * 4096, 4096));
        let asked = kernel.traffic() - before;
        assert_eq!((asked.read_bytes, asked.written_bytes), (40960, 40960));
        assert!((kernel.now() - start).as_us() >= 2000.0);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever was written: after a sync each unit of the file has gone to the device, none more often
    /// than it was changed, and nothing is dirty.
    #[test]
    fn every_dirty_unit_is_written(
        writes in prop::collection::vec((0u64..2_000_000, 1u64..300_000), 1..25),
        bsd in any::<bool>(),
        pause_s in 0.0..20.0f64,
    ) {
        let mut device = Recorder::new(Nanos::from_us(50.0), 8);
        let mut changes: BTreeMap<u64, u32> = BTreeMap::new();
        let mut end = 0;
        let unit = if bsd { 2048 } else { 4096 };
        let extents = with_file(&mut device, if bsd { BSD } else { LINUX }, &[], |kernel, id| {
            for &(at, bytes) in &writes {
                // No holes: a write begins at the end of the file at most.
                let at = at.min(end);
                assert!(kernel.write(id, at, bytes));
                end = end.max(at + bytes);
                (at / unit..(at + bytes).div_ceil(unit)).for_each(|unit| *changes.entry(unit).or_default() += 1);
                kernel.idle(Nanos::from_s(pause_s));
            }
            kernel.sync();
            assert_eq!(kernel.cache.dirty_units(), 0);
            kernel.files.file(id).extents.clone()
        });
        let places: BTreeMap<u64, u64> = extents.iter().flat_map(|extent| extent.start..extent.end()).zip(0..).collect();
        let mut written: BTreeMap<u64, u32> = BTreeMap::new();
        for request in device.requests.iter().filter(|request| request.operation == Operation::Write) {
            let first = request.lba.0 * 512 / unit;
            for place in first..first + u64::from(request.sectors) * 512 / unit {
                if let Some(&number) = places.get(&place) {
                    *written.entry(number).or_default() += 1;
                }
            }
        }
        for (number, changed) in changes {
            let times = written.get(&number).copied().unwrap_or(0);
            prop_assert!((1..=changed).contains(&times), "unit {}: changed {}, written {}", number, changed, times);
        }
    }
}
