use super::*;
use crate::null::NullDevice;
use ssdlab_device::block::Completion;

const DRIVE: Nanos = Nanos(10_000);

/// 1000 MB/s is 1 ns a byte: 4 KiB take 4096 ns.
fn config(cores: u32) -> CryptConfig {
    CryptConfig {
        mb_per_s: 1000.0,
        request_us: Microseconds(Nanos(1_000)),
        sector_us: Microseconds(Nanos(10)),
        cores,
        sector_bytes: 512,
        discards: false,
        fill: false,
        driver: CryptDriver::DmCrypt,
        fragment_bytes: Bytes(256 << 10),
    }
}

fn over_null(config: &CryptConfig) -> Stacked<Crypt> {
    new(config, Box::new(NullDevice::new(1 << 20, DRIVE, 32))).unwrap()
}

/// When each request that is submitted at 0 completes, in order of their tags.
fn times<L: Layer>(crypt: &mut Stacked<L>, requests: &[Request]) -> Vec<u64> {
    let mut times = vec![0; requests.len()];
    for (tag, request) in requests.iter().enumerate() {
        crypt.submit(Nanos::ZERO, Tag(tag as u32), *request).unwrap();
    }
    let mut done: Vec<Completion> = Vec::new();
    while crypt.next_event().is_some() {
        let now = crypt.advance(Nanos::NEVER, &mut done);
        done.drain(..).for_each(|completion| times[completion.tag.0 as usize] = now.0);
    }
    times
}

fn four_kib(operation: Operation, number: u64) -> Request {
    Request::new(operation, Lba(number * 8), 8)
}

/// CPU time of 4 KiB by hand: 1 µs for the request, 8 sectors of 10 ns, 4096 ns of data.
const CPU: u64 = 1_000 + 80 + 4_096;

/// A request costs its CPU time and the drive's; on one core the second waits for the first, on two it does not.
#[test]
fn requests_queue_for_cores() {
    for operation in [Operation::Write, Operation::Read] {
        let two = [four_kib(operation, 0), four_kib(operation, 1)];
        assert_eq!(times(&mut over_null(&config(1)), &two), [DRIVE.0 + CPU, DRIVE.0 + 2 * CPU]);
        assert_eq!(times(&mut over_null(&config(2)), &two), [DRIVE.0 + CPU; 2]);
    }
}

/// Without discards a trim is finished at once and never reaches the drive; with them it does.
#[test]
fn a_trim_passes_only_where_it_may() {
    let trim = [four_kib(Operation::Trim, 0)];
    let mut crypt = over_null(&config(1));
    assert_eq!(crypt.limits().discard_granularity_bytes, 0);
    assert_eq!(times(&mut crypt, &trim), [0]);
    assert_eq!((crypt.layers().taken.trims, crypt.layers().asked[0].trims), (1, 0));
    let mut crypt = over_null(&CryptConfig { discards: true, ..config(1) });
    assert_eq!(times(&mut crypt, &trim), [DRIVE.0]);
    assert_eq!(crypt.layers().asked[0].trimmed_bytes, 4096);
}

/// Zeroes and compressible data go down as data that nobody can compress.
#[test]
fn ciphertext_is_incompressible() {
    let crypt = over_null(&config(1)).layer.cipher;
    let data = Request { compress_percent: 90, ..four_kib(Operation::Write, 1) };
    assert_eq!(crypt.below(data), four_kib(Operation::Write, 1));
    assert_eq!(crypt.below(four_kib(Operation::WriteZeroes, 1)), four_kib(Operation::Write, 1));
}

/// Sectors of 4096 bytes over sectors of 512: addresses are scaled, the end is whole, a sector costs once.
#[test]
fn larger_sectors_are_scaled() {
    let mut crypt = over_null(&CryptConfig { sector_bytes: 4096, ..config(1) });
    assert_eq!((crypt.limits().sector_bytes, crypt.limits().sectors), (4096, 256));
    assert_eq!(
        crypt.layer.cipher.below(Request::new(Operation::Read, Lba(3), 2)),
        Request::new(Operation::Read, Lba(24), 16)
    );
    assert_eq!(times(&mut crypt, &[Request::new(Operation::Write, Lba(0), 1)]), [DRIVE.0 + 1_000 + 10 + 4_096]);
    let wrong = |sector_bytes| {
        let drive = Box::new(NullDevice::new(1 << 20, DRIVE, 1));
        new(&CryptConfig { sector_bytes, ..config(1) }, drive).err().unwrap().message
    };
    assert!(wrong(1536).contains("512, 1024, 2048 or 4096"));
}

/// TrueCrypt's threads over a device of constant latency.
fn pipelined() -> Stacked<pipeline::Pipeline> {
    pipeline::new(&config(1), Box::new(NullDevice::new(1 << 20, DRIVE, 32))).unwrap()
}

/// When each request completes, each submitted when the one before is done.
fn one_by_one(crypt: &mut Stacked<pipeline::Pipeline>, requests: &[Request]) -> Vec<u64> {
    let mut now = Nanos::ZERO;
    let mut done: Vec<Completion> = Vec::new();
    let mut complete = |request: &Request| {
        crypt.submit(now, Tag(0), *request).unwrap();
        while done.is_empty() {
            now = crypt.advance(Nanos::NEVER, &mut done);
        }
        done.clear();
        now.0
    };
    requests.iter().map(&mut complete).collect()
}

/// Behind a read as much again is read: a random reader waits for it, one in sequence has its data then.
#[test]
fn a_random_reader_pays_for_what_is_read_ahead() {
    let first = DRIVE.0 + CPU;
    let random = [four_kib(Operation::Read, 0), four_kib(Operation::Read, 9)];
    assert_eq!(one_by_one(&mut pipelined(), &random), [first, 3 * DRIVE.0 + CPU]);
    let mut crypt = pipelined();
    let following = [four_kib(Operation::Read, 0), four_kib(Operation::Read, 1)];
    assert_eq!(one_by_one(&mut crypt, &following), [first, 2 * DRIVE.0 + CPU]);
    assert_eq!(crypt.layers().asked[0].reads, 3);
}

/// A write makes what was read ahead worthless.
#[test]
fn a_write_drops_what_was_read_ahead() {
    let mut crypt = pipelined();
    let (write, next) = (four_kib(Operation::Write, 5), four_kib(Operation::Read, 1));
    one_by_one(&mut crypt, &[four_kib(Operation::Read, 0), write, next]);
    let counts = crypt.layers().counts;
    assert!(counts.contains(&("read_ahead_hits".into(), 0)), "{counts:?}");
}

/// The device has one request at a time; while others wait, nothing is read ahead.
#[test]
fn requests_go_down_in_turn() {
    let mut crypt = pipelined();
    let three: Vec<Request> = (0..3).map(|number| four_kib(Operation::Read, 9 * number)).collect();
    let expected: Vec<u64> = (1..=3).map(|number| number * DRIVE.0 + CPU).collect();
    assert_eq!(times(&mut crypt, &three), expected);
}

/// A request of two fragments: the second is encrypted while the first is written.
#[test]
fn fragments_overlap() {
    let half = 1_000 + 512 * 10 + (256 << 10);
    let write = [Request::new(Operation::Write, Lba(0), 1024)];
    assert_eq!(times(&mut pipelined(), &write), [2 * half + DRIVE.0]);
    let read = [Request::new(Operation::Read, Lba(0), 1024)];
    assert_eq!(times(&mut pipelined(), &read), [DRIVE.0 + 2 * half]);
}

/// A cut of the power leaves nothing behind, and a trim that may not pass never does.
#[test]
fn the_pipeline_starts_over_and_keeps_trims() {
    let mut crypt = pipelined();
    crypt.submit(Nanos::ZERO, Tag(0), four_kib(Operation::Read, 0)).unwrap();
    crypt.cut_power(Nanos(5));
    assert_eq!(crypt.next_event(), None);
    assert_eq!(times(&mut crypt, &[four_kib(Operation::Trim, 0)]).len(), 1);
    assert_eq!(crypt.layers().asked[0].trims, 0);
}
