//! Storage below the drive that misbehaves: a host that loses power with writes unsynced, and a call that fails.

use crate::history::{History, disk_over, seen};
use crate::kinds::named;
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_disk::Durable;
use ssdlab_disk::image::Mutant;
use ssdlab_disk::medium::{Medium, Ram};
use std::io;

/// A host's storage with a cache: what was not synced may be lost, each write by itself.
#[derive(Clone)]
struct Unsynced {
    now: Ram,
    synced: Ram,
    since: Vec<(u64, Option<Vec<u8>>, u64)>,
}

impl Unsynced {
    fn new(bytes: u64) -> Unsynced {
        Unsynced { now: Ram::new(bytes), synced: Ram::new(bytes), since: Vec::new() }
    }

    fn apply(&mut self, mut survives: impl FnMut() -> bool) {
        for (offset, bytes, length) in std::mem::take(&mut self.since) {
            if survives() {
                match bytes {
                    Some(bytes) => self.synced.write(offset, &bytes),
                    None => self.synced.zero(offset, length),
                }
                .expect("RAM does not fail");
            }
        }
    }

    /// The host's power fails: each unsynced write is there afterwards or not.
    fn lose(mut self, seed: u64) -> Ram {
        let mut draws = Stream::new(seed, Purpose::Errors);
        self.apply(|| draws.below(2) == 0);
        self.synced
    }
}

impl Medium for Unsynced {
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.now.read(offset, into)
    }
    fn write(&mut self, offset: u64, from: &[u8]) -> io::Result<()> {
        self.since.push((offset, Some(from.to_vec()), from.len() as u64));
        self.now.write(offset, from)
    }
    fn zero(&mut self, offset: u64, length: u64) -> io::Result<()> {
        self.since.push((offset, None, length));
        self.now.zero(offset, length)
    }
    fn sync(&mut self) -> io::Result<()> {
        self.apply(|| true);
        Ok(())
    }
}

/// Storage of which one call fails, that of the number.
pub struct Failing {
    pub ram: Ram,
    pub calls: u64,
    pub fails: u64,
}

impl Failing {
    /// Of which none fails so far.
    pub fn new(bytes: u64) -> Failing {
        Failing { ram: Ram::new(bytes), calls: 0, fails: 0 }
    }

    fn call(&mut self) -> io::Result<()> {
        self.calls += 1;
        if self.calls == self.fails { Err(io::Error::other("no space left")) } else { Ok(()) }
    }
}

impl Medium for Failing {
    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.ram.read(offset, into)
    }
    fn write(&mut self, offset: u64, from: &[u8]) -> io::Result<()> {
        self.call()?;
        self.ram.write(offset, from)
    }
    fn zero(&mut self, offset: u64, length: u64) -> io::Result<()> {
        self.call()?;
        self.ram.zero(offset, length)
    }
    fn sync(&mut self) -> io::Result<()> {
        self.call()
    }
}

/// What is wrong after any of many losses of the host's power in a history.
fn lose_power(name: &str, mutant: Option<Mutant>, seed: u64) -> Option<String> {
    let disk = disk_over(Unsynced::new, &named(name), mutant).durable(Durable::Host);
    let mut history = History::new(disk, seed, 512);
    for loss in 0..300 {
        history.submit();
        for _ in 0..history.draw(8) {
            history.step();
        }
        let mut left = history.disk.ssd().ftl.flash.contents.medium().clone().lose(loss);
        let wrong = history.oracle.judge(&seen(&mut left, &history.oracle));
        if wrong.is_some() {
            return wrong;
        }
    }
    None
}

const KINDS: [&str; 5] = ["theory", "buffered", "map journal", "protected buffer", "small units"];

/// With `Durable::Host` what was promised outlives the host's power; where the answer comes before the sync it does not.
#[test]
fn promises_outlive_the_host() {
    for name in KINDS {
        for seed in 0..5 {
            assert_eq!(lose_power(name, None, seed), None, "{name}");
        }
        assert!(lose_power(name, Some(Mutant::SyncAfterAnswer), 1).is_some(), "{name}: a late sync is not found");
    }
}

/// What is wrong after the process died in a history in which the storage failed once.
fn fail_once(name: &str, mutant: Option<Mutant>, seed: u64) -> Option<String> {
    let mut draws = Stream::new(seed, Purpose::Victim);
    let fails = 1 + u64::from(draws.below(100));
    let medium = |bytes| Failing { fails, ..Failing::new(bytes) };
    let mut history = History::new(disk_over(medium, &named(name), mutant).durable(Durable::Host), seed, 512);
    for _ in 0..300 {
        history.submit();
        history.step();
    }
    history.drain();
    assert!(mutant.is_some() || history.disk.poison().is_some(), "the storage did not fail");
    let left = &mut history.disk.ssd().ftl.flash.contents.medium().ram.clone();
    history.oracle.judge(&seen(left, &history.oracle))
}

/// After the first failed write nothing is promised that does not lie in storage; a drive that goes on as if nothing
/// had been is found out.
#[test]
fn a_failed_write_poisons_the_drive() {
    for name in KINDS {
        for seed in 0..20 {
            assert_eq!(fail_once(name, None, seed), None, "{name}, {seed}");
        }
        let finds = |seed| std::panic::catch_unwind(|| fail_once(name, Some(Mutant::NeverPoisoned), seed));
        let found = (0..20).any(|seed| !matches!(finds(seed), Ok(None)));
        assert!(found, "{name}: a failed write that is passed over is not found");
    }
}
