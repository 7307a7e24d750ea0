//! Drawn histories of a drive: commands of every kind, up to 16 at once, with an oracle beside it.

use crate::kinds::config;
use crate::oracle::Oracle;
use ssdlab_device::block::Tag;
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::ssd::Ssd;
use ssdlab_disk::disk::{image, sizes};
use ssdlab_disk::image::Mutant;
use ssdlab_disk::medium::{Medium, Ram};
use ssdlab_disk::{Disk, Done, Lba, Operation, Request};
use std::collections::BTreeMap;

/// Commands under way at most.
const DEPTH: usize = 16;

/// A drive of 16 MiB in RAM with settings, right or wrong.
pub fn disk(settings: &[(&str, &str)], mutant: Option<Mutant>) -> Disk<Ram> {
    disk_over(Ram::new, settings, mutant)
}

/// The same over a medium that is made for so many bytes.
pub fn disk_over<M: Medium>(medium: impl Fn(u64) -> M, settings: &[(&str, &str)], mutant: Option<Mutant>) -> Disk<M> {
    let config = config(settings);
    let image = image(&config, medium(sizes(&config).capacity_bytes));
    let image = match mutant {
        Some(mutant) => image.wrong(mutant),
        None => image,
    };
    Disk::of(Ssd::new(&config, 7, image).unwrap_or_else(|problem| panic!("{problem:?}")))
}

/// A drive, what is known of it, and what comes next.
pub struct History<M: Medium> {
    pub disk: Disk<M>,
    pub oracle: Oracle,
    draws: Stream,
    done: Vec<Done>,
    /// Sectors that commands lie in: a few make them meet.
    span: u32,
    /// Where the last one lay.
    last: (u32, u32),
}

impl<M: Medium> History<M> {
    pub fn new(mut disk: Disk<M>, seed: u64, span: u32) -> History<M> {
        let unit_sectors = disk.ssd().unit_bytes() / disk.limits().sector_bytes;
        let config = disk.ssd().config().clone();
        let oracle = Oracle::new(disk.limits().volatile_cache, unit_sectors, config.ftl.trim)
            .atomic(config.export.atomic_write_bytes.0 / 512);
        let draws = Stream::new(seed, Purpose::Errors);
        History { disk, oracle, draws, done: Vec::new(), span, last: (0, 8) }
    }

    fn request(&mut self) -> Request {
        let operation = match self.draws.below(20) {
            0..=10 => Operation::Write,
            11..=13 => Operation::Read,
            14..=15 => Operation::Trim,
            16 => Operation::WriteZeroes,
            _ => return Request::new(Operation::Flush, Lba(0), 0),
        };
        let mut lba = self.draws.below(self.span);
        let mut sectors = 1 + self.draws.below(32);
        if self.draws.below(2) == 0 {
            (lba, sectors) = (lba / 8 * 8, 8 * (1 + sectors / 8));
        }
        if self.draws.below(4) == 0 {
            (lba, sectors) = self.last;
        }
        let sectors = sectors.min(self.span - lba);
        self.last = (lba, sectors);
        let fua = operation == Operation::Write && self.draws.below(8) == 0;
        Request { fua, ..Request::new(operation, Lba(u64::from(lba)), sectors) }
    }

    /// Submits one more command.
    pub fn submit(&mut self) {
        while self.disk.outstanding() >= DEPTH {
            self.step();
        }
        let request = self.request();
        let length = match request.operation {
            Operation::Read | Operation::Write => request.sectors as usize * 512,
            _ => 0,
        };
        let is_write = matches!(request.operation, Operation::Write);
        let value = if is_write { self.disk.last_write() + 1 } else { 0 };
        let bytes = if is_write { sector_of(value).repeat(request.sectors as usize) } else { vec![0; length] };
        let now = self.disk.now();
        let Tag(tag) = self.disk.submit(now, request, bytes).expect("the queue has room");
        self.oracle.submit(tag, request, value);
    }

    /// Lives on to the next event.
    pub fn step(&mut self) {
        let Some(next) = self.disk.next_event() else { return };
        let mut done = std::mem::take(&mut self.done);
        self.disk.advance(next, &mut done);
        for Done { tag, request, outcome, bytes } in done.drain(..) {
            if outcome.is_err() {
                // Only where the medium fails, or a sector cannot be read: nothing was promised.
                continue;
            }
            let submitted = self.oracle.submitted(tag.0);
            self.oracle.complete(tag.0);
            if request.operation == Operation::Read {
                let seen = bytes.chunks(512).map(value_of);
                if let Some(wrong) = self.oracle.judge_read(&request, submitted, seen) {
                    panic!("a read: {wrong}");
                }
            }
        }
        self.done = done;
    }

    /// Ends what is under way.
    pub fn drain(&mut self) {
        while self.disk.outstanding() > 0 {
            self.step();
        }
    }

    /// A number from the history's own draws.
    pub fn draw(&mut self, bound: u32) -> u32 {
        self.draws.below(bound)
    }
}

impl History<Ram> {
    /// Whether a cut here, of a copy of the drive, leaves what it must.
    pub fn judge_cut_of_copy(&self, seed: u64) -> Option<String> {
        let mut copy = self.disk.copy().expect("a built-in policy");
        copy.power_cut(seed);
        self.oracle.judge_cut(&seen_of(&mut copy, &self.oracle))
    }

    /// The process dies: the history goes on with a drive of fresh flash over what lies in the medium.
    pub fn kill(&mut self, settings: &[(&str, &str)], seed: u64) -> Option<String> {
        let image = &mut self.disk.ssd().ftl.flash.contents;
        let (medium, since) = (image.medium().clone(), image.since().clone());
        let fresh = Disk::new(&config(settings), seed, medium).expect("a drive of the list");
        self.disk = fresh.recovered(seed, since);
        let seen = seen_of(&mut self.disk, &self.oracle);
        let wrong = self.oracle.judge(&seen);
        self.oracle.recovered(&seen);
        wrong
    }

    /// Cuts the drive itself, and goes on with it.
    pub fn cut(&mut self, seed: u64) -> Option<String> {
        self.disk.power_cut(seed);
        let seen = seen_of(&mut self.disk, &self.oracle);
        let wrong = self.oracle.judge_cut(&seen);
        self.oracle.recovered(&seen);
        wrong
    }
}

/// What the touched sectors of a drive's medium are.
fn seen_of<M: Medium>(disk: &mut Disk<M>, oracle: &Oracle) -> BTreeMap<u64, u64> {
    seen(disk.ssd().ftl.flash.contents.medium(), oracle)
}

/// What the touched sectors of a medium are.
pub fn seen(medium: &mut impl Medium, oracle: &Oracle) -> BTreeMap<u64, u64> {
    let mut bytes = [0; 512];
    let touched = oracle.touched();
    touched
        .map(|lba| {
            medium.read(lba * 512, &mut bytes).expect("it can be read");
            (lba, value_of(&bytes))
        })
        .collect()
}

/// The bytes of a sector of that value.
pub fn sector_of(value: u64) -> Vec<u8> {
    value.to_le_bytes().repeat(64)
}

/// The value of a sector, all of whose words are alike.
pub fn value_of(bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
    let first = words.next().expect("a sector has bytes");
    assert!(words.all(|word| word == first), "a sector is torn");
    first
}
