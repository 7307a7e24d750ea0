//! What a profile is fitted to comes out again: each parameter of the kind `fitted`, and the published figure that it
//! was fitted to, measured on a drive fresh out of the box. Left out: what is fitted to a drive in use (`IN_USE`).

use crate::stand;
use crate::stand::{Stand, assert_within, four_kib};
use ssdlab_device::block::{Device, Operation, Request};
use ssdlab_device::profile::{Profile, built_in, names};
use ssdlab_device::units::{Lba, Nanos};
use std::collections::BTreeSet;

/// How near a figure has to come: values are given with three or four digits.
const WITHIN: f64 = 0.02;

/// A published figure.
#[derive(Clone, Copy, Debug)]
enum Figure {
    /// 4 KiB random reads, IOPS.
    RandomRead(f64),
    /// The most that the controller takes, where the flash of this capacity may give less: of what was never written.
    ControllerRead(f64),
    /// 4 KiB random writes, IOPS; of data that compress well, where the drive compresses.
    RandomWrite(f64),
    /// 128 KiB, MB/s.
    SequentialRead(f64),
    SequentialWrite(f64),
    /// The same behind an SLC cache.
    BeyondCache(f64),
    /// 4 KiB at depth 1, µs, in the mean.
    ReadLatency(f64),
    WriteLatency(f64),
    /// The 99th percentile of such writes.
    WriteTail(f64),
}

use Figure::*;

const READ: &str = "controller.read_command_us";
const WRITE: &str = "controller.write_command_us";
const WRITE_LATENCY: &str = "controller.write_latency_us";
const LINK: &str = "link.mb_per_s";
const PROGRAM: &str = "nand.program_us";
const SENSE: &str = "nand.read_us";
const SLC_PROGRAM: &str = "nand.slc_program_us";
const READ_LATENCY: &str = "controller.read_latency_us";
const JITTER: &str = "controller.latency_jitter_us";

/// Every fitted parameter. The text that each profile gives as source names the same figure.
const FITTED: &[(&str, &str, Figure)] = &[
    ("intel-dc-s3500-80gb", PROGRAM, SequentialWrite(100.0)),
    ("intel-dc-s3500-80gb", READ, ControllerRead(75_000.0)),
    ("intel-dc-s3500-80gb", LINK, SequentialRead(340.0)),
    ("intel-dc-s3500-480gb", READ, ControllerRead(75_000.0)),
    ("intel-dc-s3500-480gb", LINK, SequentialRead(500.0)),
    ("intel-dc-s3500-800gb", READ, ControllerRead(75_000.0)),
    ("intel-dc-s3500-800gb", LINK, SequentialRead(500.0)),
    ("intel-dc-s3700-200gb", READ, RandomRead(75_000.0)),
    ("intel-dc-s3700-200gb", LINK, SequentialRead(500.0)),
    ("intel-dc-s3700-800gb", PROGRAM, SequentialWrite(460.0)),
    ("intel-dc-s3700-800gb", READ, RandomRead(75_000.0)),
    ("intel-dc-s3700-800gb", LINK, SequentialRead(500.0)),
    ("intel-x25-m-g1-80gb", PROGRAM, SequentialWrite(70.0)),
    ("intel-x25-m-g1-80gb", READ, RandomRead(35_000.0)),
    ("intel-x25-m-g1-80gb", WRITE, WriteLatency(115.0)),
    ("intel-x25-m-g1-80gb", LINK, SequentialRead(250.0)),
    ("intel-x25-m-g2-80gb", PROGRAM, SequentialWrite(70.0)),
    ("intel-x25-m-g2-80gb", READ, RandomRead(35_000.0)),
    ("intel-x25-m-g2-80gb", WRITE, WriteLatency(85.0)),
    ("intel-x25-m-g2-80gb", LINK, SequentialRead(250.0)),
    ("intel-x25-m-g2-160gb", PROGRAM, SequentialWrite(100.0)),
    ("intel-x25-m-g2-160gb", READ, RandomRead(35_000.0)),
    ("intel-x25-m-g2-160gb", WRITE, WriteLatency(85.0)),
    ("intel-x25-m-g2-160gb", LINK, SequentialRead(250.0)),
    ("micron-7450-max-800gb", SENSE, ReadLatency(80.0)),
    ("micron-7450-max-800gb", PROGRAM, SequentialWrite(1400.0)),
    ("micron-7450-max-800gb", READ, ControllerRead(1_000_000.0)),
    ("micron-7450-max-800gb", WRITE_LATENCY, WriteLatency(15.0)),
    ("micron-7450-max-800gb", LINK, SequentialRead(6800.0)),
    ("micron-7450-pro-960gb", SENSE, ReadLatency(80.0)),
    ("micron-7450-pro-960gb", PROGRAM, SequentialWrite(1400.0)),
    ("micron-7450-pro-960gb", READ, ControllerRead(1_000_000.0)),
    ("micron-7450-pro-960gb", WRITE_LATENCY, WriteLatency(15.0)),
    ("micron-7450-pro-960gb", LINK, SequentialRead(6800.0)),
    ("ocz-vertex-2-90gb", WRITE, RandomWrite(50_000.0)),
    ("ocz-vertex-2-90gb", LINK, SequentialRead(285.0)),
    ("samsung-870-qvo-1tb", PROGRAM, BeyondCache(80.0)),
    ("samsung-870-qvo-1tb", SLC_PROGRAM, SequentialWrite(530.0)),
    ("samsung-870-qvo-1tb", READ, RandomRead(98_000.0)),
    ("samsung-870-qvo-1tb", WRITE, RandomWrite(88_000.0)),
    ("samsung-870-qvo-1tb", LINK, SequentialRead(560.0)),
    ("samsung-990-pro-1tb", SLC_PROGRAM, SequentialWrite(6900.0)),
    ("samsung-990-pro-1tb", READ, RandomRead(1_200_000.0)),
    ("samsung-990-pro-1tb", WRITE, RandomWrite(1_550_000.0)),
    ("samsung-990-pro-1tb", LINK, SequentialRead(7450.0)),
    ("samsung-pm9a3-960gb", READ_LATENCY, ReadLatency(64.0)),
    ("samsung-pm9a3-960gb", PROGRAM, RandomWrite(368_896.0)),
    ("samsung-pm9a3-960gb", READ, RandomRead(580_000.0)),
    ("samsung-pm9a3-960gb", LINK, SequentialRead(6500.0)),
    ("samsung-pm9a3-960gb", WRITE_LATENCY, WriteLatency(11.4)),
    ("samsung-pm9a3-960gb", JITTER, WriteTail(14.0)),
    ("sk-hynix-pe8110-960gb", SENSE, ReadLatency(56.0)),
    ("sk-hynix-pe8110-960gb", PROGRAM, RandomWrite(435_968.0)),
    ("sk-hynix-pe8110-960gb", READ, RandomRead(900_000.0)),
    ("sk-hynix-pe8110-960gb", LINK, SequentialRead(6500.0)),
    ("sk-hynix-pe8110-960gb", WRITE_LATENCY, WriteLatency(10.1)),
    ("sk-hynix-pe8110-960gb", JITTER, WriteTail(12.0)),
    ("solidigm-d5-p5336-15tb", PROGRAM, SequentialWrite(3300.0)),
    ("solidigm-d5-p5336-15tb", READ, ControllerRead(1_005_000.0)),
    ("solidigm-d5-p5336-15tb", LINK, SequentialRead(7000.0)),
    ("super-talent-ultradrive-gx-256gb", PROGRAM, SequentialWrite(180.0)),
    ("super-talent-ultradrive-gx-256gb", LINK, SequentialRead(250.0)),
    ("wd-dc-960gb", SENSE, ReadLatency(84.0)),
    ("wd-dc-960gb", PROGRAM, RandomWrite(263_680.0)),
    ("wd-dc-960gb", READ, RandomRead(434_000.0)),
    ("wd-dc-960gb", LINK, SequentialRead(3330.0)),
    ("wd-dc-960gb", WRITE_LATENCY, WriteLatency(13.1)),
    ("wd-dc-960gb", JITTER, WriteTail(16.5)),
];

/// Parameters that are fitted to a drive in use, and so held by the long tests (`make test-long PART=measured`, `PART=datasheets`, `PART=coverage`).
const IN_USE: &[(&str, &[&str])] = &[
    ("intel-dc-s3700-800gb", &["controller.move_unit_us"]),
    ("ocz-vertex-2-90gb", &["buffer.join_bytes"]),
    ("samsung-pm9a3-960gb", &["nand.read_us", "nand.suspend_us", "ftl.gc"]),
    ("sk-hynix-pe8110-960gb", &["ftl.move_unit_us", "nand.suspend_us", "ftl.gc", "buffer.join_bytes"]),
    ("wd-dc-960gb", &["ftl.move_unit_us", "nand.suspend_us", "ftl.gc"]),
];

/// Units of the part of the drive that is used: 1 GiB.
const UNITS: u32 = 256 << 10;

fn scattered(units: u64) -> impl FnMut(u64) -> u64 {
    let mut draw = 1u64;
    move |_| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) % units
    }
}

/// Requests a second at the greatest depth of the link, 1024 at most.
fn iops(stand: &mut Stand, operation: Operation, count: u64) -> f64 {
    let depth = stand.ssd.limits().queue_depth.min(1024);
    // Reads find data; few writes fall on what is still in the buffer.
    let units = match operation {
        Operation::Write => stand.ssd.config().export.capacity_bytes.0 >> 12,
        _ => u64::from(UNITS),
    };
    let start = stand.now;
    let request = |number| Request { compress_percent: 100, ..four_kib(operation, number) };
    stand.run(depth as usize, (0..count).map(scattered(units)).map(request));
    count as f64 / (stand.now - start).as_s()
}

fn measured(profile: &str, figure: Figure) -> f64 {
    let mut stand = Stand::new(profile, &[]);
    match figure {
        RandomRead(_) => {
            stand.fill(UNITS);
            iops(&mut stand, Operation::Read, 200_000)
        }
        ControllerRead(_) => iops(&mut stand, Operation::Read, 200_000),
        RandomWrite(_) => {
            let in_buffer = stand.ssd.config().buffer.bytes.0 / (4 << 10);
            iops(&mut stand, Operation::Write, in_buffer * 2);
            iops(&mut stand, Operation::Write, 200_000)
        }
        SequentialRead(_) => {
            stand.fill(UNITS);
            stand.sequential_mb_per_s(Operation::Read, 8_000)
        }
        SequentialWrite(_) => sequential_write(&mut stand),
        BeyondCache(_) => {
            sequential_write(&mut Stand::new(profile, &[("ftl.slc_cache", "none"), ("ftl.slc_cache_fixed_bytes", "0")]))
        }
        ReadLatency(_) => {
            stand.fill(UNITS);
            mean(&times(&mut stand, Operation::Read, 200))
        }
        WriteLatency(_) => mean(&times(&mut stand, Operation::Write, 200)),
        WriteTail(_) => {
            let mut times = times(&mut stand, Operation::Write, 10_000);
            times.sort_by(f64::total_cmp);
            times[times.len() * 99 / 100]
        }
    }
}

/// Of requests that find the drive idle, µs.
fn times(stand: &mut Stand, operation: Operation, count: u64) -> Vec<f64> {
    let time = |number| {
        let time = stand.time(four_kib(operation, number));
        stand.pass(Nanos::from_ms(20.0));
        time.as_us()
    };
    (0..count).map(time).collect()
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

/// MB/s once the buffer is full.
fn sequential_write(stand: &mut Stand) -> f64 {
    let large = |number: u64| Request { lba: Lba(number * 256), ..stand::large(Operation::Write, 0) };
    let in_buffer = stand.ssd.config().buffer.bytes.0 / (128 << 10) * 2;
    stand.run(32, (0..in_buffer).map(large));
    let start = stand.now;
    stand.run(32, (in_buffer..in_buffer + 16_000).map(large));
    16_000.0 * 131_072.0 / (stand.now - start).as_us()
}

/// Each figure comes out.
#[test]
fn fitted_figures_come_out() {
    for &(profile, key, figure) in FITTED {
        let (RandomRead(published)
        | ControllerRead(published)
        | RandomWrite(published)
        | SequentialRead(published)
        | SequentialWrite(published)
        | BeyondCache(published)
        | ReadLatency(published)
        | WriteLatency(published)
        | WriteTail(published)) = figure;
        assert_within(WITHIN, measured(profile, figure), published, &format!("{profile}, {key}: {figure:?}"));
    }
}

/// No profile has a fitted parameter that is not in the table.
#[test]
fn every_fitted_parameter_is_held() {
    let in_use = IN_USE.iter().flat_map(|(profile, keys)| keys.iter().map(move |&key| (*profile, key)));
    let held: BTreeSet<(&str, &str)> = FITTED.iter().map(|&(profile, key, _)| (profile, key)).chain(in_use).collect();
    let fitted: BTreeSet<(&str, &str)> = names()
        .flat_map(|name| {
            let profile = Profile::read(name, name, built_in(name).unwrap(), &[]).unwrap();
            let is_fitted = |key: &&'static str| profile.provenance(key).0 == "fitted";
            let keys: Vec<&'static str> =
                profile.model.show().into_iter().map(|(key, _)| key).filter(is_fitted).collect();
            keys.into_iter().map(move |key| (name, key))
        })
        .collect();
    assert_eq!(held, fitted);
}
