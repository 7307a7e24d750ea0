//! The same in, the same out: what a run depends on, and what it must not depend on.

use ssdlab_device::block::{Busy, Completion, Device, Limits, Request, Tag};
use ssdlab_device::counters::Counters;
use ssdlab_device::profile::{Profile, built_in};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::{Lba, Nanos};
use ssdlab_lab::condition::{Condition, season};
use ssdlab_lab::output::{Context, to_json};
use ssdlab_lab::run::{RunOptions, Silent, run};
use ssdlab_lab::workload::job::Job;
use ssdlab_lab::workload::parse::parse_flags;

/// Passes everything on and keeps the requests in the order in which they came.
struct Recorder {
    inner: Ssd,
    requests: Vec<Request>,
}

impl Device for Recorder {
    fn limits(&self) -> &Limits {
        self.inner.limits()
    }
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) -> Result<(), Busy> {
        self.inner.submit(now, tag, request)?;
        self.requests.push(request);
        Ok(())
    }
    fn next_event(&self) -> Option<Nanos> {
        self.inner.next_event()
    }
    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        self.inner.advance(to, done)
    }
    fn hint(&self, lba: Lba) {
        self.inner.hint(lba);
    }

    fn hint_write(&self, lba: Lba) {
        self.inner.hint_write(lba);
    }
    fn counters(&mut self) -> Counters {
        self.inner.counters()
    }
    fn cut_power(&mut self, now: Nanos) {
        self.inner.cut_power(now);
    }
}

/// What a run is made of.
#[derive(Clone, Copy)]
struct Setup {
    profile: &'static str,
    gc: &'static str,
    state: Condition,
    flags: &'static [&'static str],
    seed: u64,
}

const MIXED: &[&str] = &[
    "--name=mixed",
    "--rw=randrw",
    "--rwmixread=40",
    "--bssplit=4k/60:16k/30:512/10",
    "--iodepth=16",
    "--random_distribution=zipf:1.1",
    "--io_size=64m",
    "--fsync=100",
];
const TWO_JOBS: &[&str] = &[
    "--name=writes",
    "--rw=randwrite",
    "--bs=4k",
    "--iodepth=8",
    "--numjobs=3",
    "--io_size=16m",
    "--name=reads",
    "--rw=randread",
    "--bs=8k",
    "--iodepth=4",
    "--io_size=16m",
    "--name=trims",
    "--stonewall",
    "--rw=randtrim",
    "--bs=64k",
    "--io_size=16m",
];

const SETUP: Setup = Setup { profile: "theory", gc: "greedy", state: Condition::Used, flags: MIXED, seed: 1 };

fn jobs(flags: &[&str]) -> Vec<Job> {
    let flags: Vec<String> = flags.iter().map(|flag| flag.to_string()).collect();
    parse_flags(&flags).unwrap_or_else(|error| panic!("{error}")).jobs
}

impl Setup {
    fn drive(&self) -> Ssd {
        let settings = [
            ("capacity_bytes", "128 MiB"),
            ("nand.pages_per_block", "32"),
            ("over_provisioning", "0.8"),
            ("ftl.gc", self.gc),
            // So small a drive has no room for blocks that always hold one bit a cell.
            ("ftl.slc_cache_fixed_bytes", "0"),
        ];
        let settings = settings.map(|(key, value)| (key.to_string(), value.to_string()));
        let profile = Profile::read(self.profile, self.profile, built_in(self.profile).expect("built in"), &settings)
            .unwrap_or_else(|error| panic!("{error}"));
        Ssd::new(profile.ssd().unwrap(), self.seed, ()).unwrap_or_else(|problem| panic!("{problem:?}"))
    }

    /// The result file, and what the drive was asked.
    fn run(&self) -> (String, Vec<Request>) {
        let (mut ssd, jobs) = (self.drive(), jobs(self.flags));
        season(&mut ssd, Condition::Fresh, self.state, &jobs, 1.0, self.seed, &mut Silent)
            .unwrap_or_else(|error| panic!("{error}"));
        let mut device = Recorder { inner: ssd, requests: Vec::new() };
        let options = RunOptions { start: Nanos::ZERO, seed: self.seed };
        let record = run(&mut device, &jobs, &options, &mut Silent).unwrap_or_else(|error| panic!("{error}"));
        let context = Context {
            profile: self.profile.into(),
            seed: self.seed,
            condition: self.state.to_string(),
            ..Context::default()
        };
        (serde_json::to_string(&to_json(&record, &context, true)).expect("plain data"), device.requests)
    }
}

/// Two runs of the same profile, job, condition and seed give the same JSON, byte for byte, on plain and busy drives.
#[test]
fn same_seed_same_bytes() {
    for profile in ["theory", "intel-dc-s3500-80gb", "samsung-870-qvo-1tb"] {
        for (flags, state) in
            [(MIXED, Condition::Used), (TWO_JOBS, Condition::Filled), (TWO_JOBS, Condition::SteadyByJob)]
        {
            let setup = Setup { profile, flags, state, gc: "d-choices:3", ..SETUP };
            let (first, second) = (setup.run(), setup.run());
            assert!(first.0.len() > 10_000, "there is something to compare: {} bytes", first.0.len());
            assert_eq!(first.0, second.0, "{profile}, {state}");
            assert_eq!(first.1, second.1);
        }
    }
}

/// Another seed gives other requests and other bytes.
#[test]
fn another_seed_differs() {
    let (first, second) = (SETUP.run(), Setup { seed: 2, ..SETUP }.run());
    assert_ne!(first.1, second.1);
    assert_ne!(first.0, second.0);
}

/// Another choice of victim changes what the drive does and not what it is asked: draws of the drive leave the workload alone.
#[test]
fn policy_leaves_the_workload_alone() {
    let (expected_json, expected) = SETUP.run();
    assert!(expected.len() > 1_000);
    for gc in ["fifo", "random", "d-choices:5", "cost-benefit"] {
        let (json, requests) = Setup { gc, ..SETUP }.run();
        assert!(requests == expected, "{gc} changes the requests");
        assert_ne!(json, expected_json, "{gc} changes what the drive does");
    }
}

/// The requests depend on the job and the seed alone: a drive of another kind and condition is asked the same.
#[test]
fn drive_leaves_the_workload_alone() {
    let (_, expected) = SETUP.run();
    for (profile, state) in [("theory", Condition::Fresh), ("intel-dc-s3500-80gb", Condition::Filled)] {
        let (_, requests) = Setup { profile, state, ..SETUP }.run();
        assert!(requests == expected, "{profile}, {state} changes the requests");
    }
}
