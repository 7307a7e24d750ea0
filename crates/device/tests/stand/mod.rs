//! A stand for a drive: made from a profile with settings, filled without time, and driven by a
//! host that keeps a number of requests outstanding and takes no time itself.
#![allow(dead_code, reason = "every test file uses a part of it")]

pub mod fickle;
pub mod kinds;
pub mod named;
pub mod sectors;

use ssdlab_device::block::{Completion, Device, Operation, Request, Status, Tag};
use ssdlab_device::config::DriveConfig;
use ssdlab_device::nand::contents::Contents;
use ssdlab_device::profile::{Profile, built_in};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::{Lba, Lpn, Nanos};

/// Sectors of a 4 KiB request.
pub const SECTORS: u32 = 8;

/// The parameters of a profile with settings over them.
pub fn config(profile: &str, settings: &[(&str, &str)]) -> DriveConfig {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let text = built_in(profile).unwrap_or_else(|| panic!("no profile {profile}"));
    let profile = Profile::read(profile, profile, text, &settings).unwrap_or_else(|error| panic!("{error}"));
    profile.ssd().unwrap_or_else(|error| panic!("{error}")).clone()
}

/// A request of 4 KiB at a number of 4 KiB.
pub fn four_kib(operation: Operation, number: u64) -> Request {
    Request::new(operation, Lba(number * u64::from(SECTORS)), SECTORS)
}

/// A request of 128 KiB at a number of 128 KiB.
pub fn large(operation: Operation, number: u64) -> Request {
    Request::new(operation, Lba(number * 256), 256)
}

/// When a request was handed over and when it was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    pub submitted: Nanos,
    pub completed: Nanos,
}

impl Done {
    pub fn latency(self) -> Nanos {
        self.completed - self.submitted
    }
}

/// A drive and its host.
pub struct Stand<C: Contents = ()> {
    pub ssd: Ssd<C>,
    pub now: Nanos,
}

impl Stand {
    /// A fresh drive.
    pub fn new(profile: &str, settings: &[(&str, &str)]) -> Stand {
        Stand::with_contents(profile, settings, ())
    }
}

impl<C: Contents> Stand<C> {
    /// A fresh drive that holds something.
    pub fn with_contents(profile: &str, settings: &[(&str, &str)], contents: C) -> Stand<C> {
        let ssd = Ssd::new(&config(profile, settings), 7, contents).unwrap_or_else(|problem| panic!("{problem:?}"));
        Stand { ssd, now: Nanos::ZERO }
    }

    /// Writes the first units in order, without time; the drive is idle afterwards.
    pub fn fill(&mut self, units: u32) {
        (0..units).for_each(|lpn| assert!(self.ssd.write_now(Lpn(lpn), 0)));
        self.ssd.flush_now();
        self.ssd.ftl.backlog.clear();
    }

    /// Hands a request over now.
    pub fn submit(&mut self, tag: u32, request: Request) {
        self.ssd.submit(self.now, Tag(tag), request).expect("the queue is not full");
    }

    /// Lives on until something completes, at the longest until a time.
    pub fn wait_until(&mut self, to: Nanos) -> Vec<Completion> {
        let mut done = Vec::new();
        self.now = self.ssd.advance(to, &mut done);
        done
    }

    /// Lives on until something completes.
    pub fn wait(&mut self) -> Vec<Completion> {
        let done = self.wait_until(Nanos::NEVER);
        assert!(!done.is_empty(), "a request never completes");
        done
    }

    /// Lets time pass in which nothing may complete.
    pub fn pass(&mut self, length: Nanos) {
        let to = self.now + length;
        let done = self.wait_until(to);
        assert!(done.is_empty() && self.now == to, "{done:?} at {:?}", self.now);
    }

    /// The time that one request takes now.
    pub fn time(&mut self, request: Request) -> Nanos {
        self.run(1, [request])[0].latency()
    }

    /// Keeps up to `depth` requests outstanding; times in the order of the requests.
    pub fn run(&mut self, depth: usize, requests: impl IntoIterator<Item = Request>) -> Vec<Done> {
        let mut requests = requests.into_iter();
        let mut times: Vec<Done> = Vec::new();
        let mut outstanding = 0;
        loop {
            while outstanding < depth
                && let Some(request) = requests.next()
            {
                self.submit(times.len() as u32, request);
                times.push(Done { submitted: self.now, completed: Nanos::NEVER });
                outstanding += 1;
            }
            if outstanding == 0 {
                return times;
            }
            for completion in self.wait() {
                assert_eq!(completion.status, Status::Success);
                times[completion.tag.0 as usize].completed = self.now;
                outstanding -= 1;
            }
        }
    }

    /// MB/s (10⁶ bytes) of 128 KiB requests in order at depth 32.
    pub fn sequential_mb_per_s(&mut self, operation: Operation, count: u64) -> f64 {
        let start = self.now;
        self.run(32, (0..count).map(|number| large(operation, number)));
        (count * (128 << 10)) as f64 / (self.now - start).as_us()
    }
}

/// A figure is what it should be within a share.
#[track_caller]
pub fn assert_within(share: f64, figure: f64, expected: f64, what: &str) {
    assert!((figure / expected - 1.0).abs() <= share, "{what}: {figure:.4}, by hand {expected:.4}");
}
