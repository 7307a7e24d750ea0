//! What the host was promised, sector by sector: kept where faults are armed, so that a loss can be told from a lie.
//!
//! ```text
//! acknowledged ─► a flush that was submitted afterwards ends ─► promised
//!            └──► at once: FUA, or a drive that is not volatile
//! ```
//! It is the host's view: a flush that ended counts, whatever the drive did. A trim leaves a sector without a last write.
//! Numbers of writes are in the order of submission; of writes to one sector under way together the greatest counts.

use crate::numbers::Numbers;
use ssdlab_device::block::{Limits, Operation, Request, Tag};
use std::collections::BTreeMap;
use std::ops::Range;

/// A write that was acknowledged and not promised.
#[derive(Clone, Debug)]
struct Open {
    acknowledged_at: u64,
    sectors: Range<u64>,
    write: u64,
}

/// A write or a trim that is under way; the number of a trim is 0.
#[derive(Clone, Debug)]
struct UnderWay {
    sectors: Range<u64>,
    write: u64,
    /// Writes that were under way meanwhile, and meet it.
    met: Vec<u64>,
}

impl UnderWay {
    /// One that nothing is known of but its sectors.
    fn of(sectors: Range<u64>) -> UnderWay {
        UnderWay { sectors, write: 0, met: Vec::new() }
    }
}

/// The last acknowledged and the last promised write of each sector.
#[derive(Clone, Debug)]
pub struct Promises {
    is_volatile: bool,
    sector_bytes: u64,
    trim_bytes: u64,
    clock: u64,
    acknowledged: Numbers,
    promised: Numbers,
    open: Vec<Open>,
    /// When the flushes under way were submitted.
    flushes: BTreeMap<u32, u64>,
    under_way: BTreeMap<u32, UnderWay>,
    /// Writes that may stand though another was promised, and where: the two were under way together. 0 is no write, or
    /// zeroes.
    unordered: BTreeMap<(u64, u64), Vec<Range<u64>>>,
}

impl Promises {
    /// Of a drive with these limits: nothing is known of what was written before.
    pub fn new(limits: &Limits) -> Promises {
        Promises {
            is_volatile: limits.volatile_cache,
            sector_bytes: u64::from(limits.sector_bytes),
            trim_bytes: u64::from(limits.discard_granularity_bytes),
            clock: 0,
            acknowledged: Numbers::default(),
            promised: Numbers::default(),
            open: Vec::new(),
            flushes: BTreeMap::new(),
            under_way: BTreeMap::new(),
            unordered: BTreeMap::new(),
        }
    }

    /// The last acknowledged write of a sector.
    pub fn acknowledged(&self, lba: u64) -> Option<u64> {
        Some(self.acknowledged.get(lba)).filter(|write| *write != 0)
    }

    /// The last promised write of a sector.
    pub fn promised(&self, lba: u64) -> Option<u64> {
        Some(self.promised.get(lba)).filter(|write| *write != 0)
    }

    /// A sector with that write, 0 for none, is older than what was promised.
    pub fn is_broken(&self, lba: u64, stands: u64) -> bool {
        let promised = self.promised.get(lba);
        let may_stand =
            || self.unordered.get(&(stands, promised)).is_some_and(|at| at.iter().any(|at| at.contains(&lba)));
        promised > stands && !may_stand()
    }

    /// A command is handed over.
    pub fn submit(&mut self, tag: Tag, request: &Request, write: u64) {
        self.clock += 1;
        match request.operation {
            Operation::Flush => {
                self.flushes.insert(tag.0, self.clock);
            }
            Operation::Write | Operation::WriteZeroes => self.begin(tag, sectors_of(request), write),
            Operation::Trim => self.begin(tag, self.trimmed(request), 0),
            Operation::Read => {}
        }
        if request.operation == Operation::WriteZeroes {
            // The map may know them as zeroes, which no write brings.
            self.unordered.entry((0, write)).or_default().push(sectors_of(request));
        }
    }

    fn begin(&mut self, tag: Tag, sectors: Range<u64>, write: u64) {
        let mut met = Vec::new();
        for other in self.under_way.values_mut() {
            let both = other.sectors.start.max(sectors.start)..other.sectors.end.min(sectors.end);
            if !both.is_empty() {
                self.unordered.entry((other.write.min(write), other.write.max(write))).or_default().push(both);
                other.met.push(write);
                met.push(other.write);
            }
        }
        self.under_way.insert(tag.0, UnderWay { sectors, write, met });
    }

    /// Sectors of the whole units that a trim covers.
    fn trimmed(&self, request: &Request) -> Range<u64> {
        let Range { start, end } = sectors_of(request);
        let granule = (self.trim_bytes / self.sector_bytes).max(1);
        let first = start.div_ceil(granule) * granule;
        if self.trim_bytes == 0 { 0..0 } else { first..(end / granule * granule).max(first) }
    }

    /// A command has ended, and well or not.
    pub fn complete(&mut self, tag: Tag, request: &Request, write: u64, is_done: bool) {
        self.clock += 1;
        let under_way = self.under_way.remove(&tag.0);
        if !is_done {
            self.flushes.remove(&tag.0);
            return;
        }
        let sectors = sectors_of(request);
        match request.operation {
            Operation::Write | Operation::WriteZeroes => {
                self.acknowledged.change(sectors.clone(), |_, last| last.max(write));
                if !self.is_volatile || request.fua {
                    return self.promise(sectors, write);
                }
                self.open.push(Open { acknowledged_at: self.clock, sectors, write });
            }
            Operation::Flush => {
                let submitted = self.flushes.remove(&tag.0).unwrap_or(0);
                let open = std::mem::take(&mut self.open);
                let (covered, left) = open.into_iter().partition(|open| open.acknowledged_at < submitted);
                self.open = left;
                let covered: Vec<Open> = covered;
                covered.into_iter().for_each(|open| self.promise(open.sectors, open.write));
            }
            Operation::Trim => {
                let UnderWay { sectors, met, .. } = under_way.unwrap_or_else(|| UnderWay::of(self.trimmed(request)));
                let left = |_, last| if met.contains(&last) { last } else { 0 };
                self.acknowledged.change(sectors.clone(), left);
                self.promised.change(sectors, left);
            }
            Operation::Read => {}
        }
    }

    /// What was trimmed since has no last write.
    fn promise(&mut self, sectors: Range<u64>, write: u64) {
        let acknowledged = &self.acknowledged;
        self.promised.change(sectors, |lba, last| if acknowledged.get(lba) < write { last } else { last.max(write) });
    }

    /// Power has failed and come back: what stands, stands; in these sectors it is another write than the last.
    pub fn cut(&mut self, lost: impl Iterator<Item = (u64, u64)>) {
        self.flushes.clear();
        self.under_way.clear();
        for open in std::mem::take(&mut self.open) {
            self.promise(open.sectors, open.write);
        }
        for (lba, stands) in lost {
            self.acknowledged.change(lba..lba + 1, |_, _| stands);
            self.promised.change(lba..lba + 1, |_, _| stands);
        }
    }
}

fn sectors_of(request: &Request) -> Range<u64> {
    request.lba.0..request.lba.0 + u64::from(request.sectors)
}

#[cfg(test)]
mod test {
    use super::*;
    use ssdlab_device::units::Lba;

    fn promises(volatile_cache: bool) -> Promises {
        let limits = Limits {
            sector_bytes: 512,
            sectors: 1024,
            queue_depth: 8,
            discard_granularity_bytes: 4096,
            volatile_cache,
            optimal_io_bytes: 4096,
        };
        Promises::new(&limits)
    }

    fn write(fua: bool) -> Request {
        Request { fua, ..Request::new(Operation::Write, Lba(4), 2) }
    }

    fn flush() -> Request {
        Request::new(Operation::Flush, Lba(0), 0)
    }

    /// By hand: a flush covers what was acknowledged before it was submitted, and nothing that came meanwhile.
    #[test]
    fn a_flush_covers_what_came_before() {
        let mut promises = promises(true);
        promises.complete(Tag(0), &write(false), 1, true);
        promises.submit(Tag(1), &flush(), 0);
        promises.complete(Tag(0), &write(false), 2, true);
        assert_eq!((promises.acknowledged(5), promises.promised(5)), (Some(2), None));
        promises.complete(Tag(1), &flush(), 0, true);
        assert_eq!((promises.acknowledged(5), promises.promised(5)), (Some(2), Some(1)));
        assert_eq!((promises.acknowledged(6), promises.promised(6)), (None, None), "it was not written");
    }

    /// By hand: FUA and a drive that is not volatile promise at once; a trim leaves nothing to promise, of whole units.
    #[test]
    fn some_promise_at_once() {
        let mut volatile = promises(true);
        volatile.complete(Tag(0), &write(true), 1, true);
        assert_eq!(volatile.promised(4), Some(1));
        let mut safe = promises(false);
        safe.complete(Tag(0), &write(false), 1, true);
        assert_eq!(safe.promised(4), Some(1));
        safe.complete(Tag(0), &Request::new(Operation::Trim, Lba(1), 8), 0, true);
        assert_eq!(safe.promised(4), Some(1), "no whole unit");
        safe.complete(Tag(0), &Request::new(Operation::Trim, Lba(0), 8), 0, true);
        assert_eq!((safe.promised(4), safe.acknowledged(4)), (None, None));
        volatile.complete(Tag(0), &write(false), 2, true);
        volatile.complete(Tag(0), &Request::new(Operation::Trim, Lba(0), 8), 0, true);
        volatile.submit(Tag(1), &flush(), 0);
        volatile.complete(Tag(1), &flush(), 0, true);
        assert_eq!(volatile.promised(4), None, "it was trimmed since");
    }

    /// By hand: of two writes under way together either may stand, whichever was promised; one of before may not.
    #[test]
    fn together_there_is_no_order() {
        let mut promises = promises(false);
        promises.complete(Tag(0), &write(false), 1, true);
        promises.submit(Tag(0), &write(false), 2);
        promises.submit(Tag(1), &write(false), 3);
        promises.complete(Tag(0), &write(false), 2, true);
        promises.complete(Tag(1), &write(false), 3, true);
        assert_eq!([0, 1, 2, 3].map(|stands| promises.is_broken(4, stands)), [true, true, false, false]);
        promises.cut(std::iter::empty());
        assert!(!promises.is_broken(4, 2), "nor does a cut order them");
        promises.complete(Tag(0), &write(false), 4, false);
        assert!(!promises.is_broken(4, 3), "a write that failed promises nothing");
    }

    /// By hand: a write that meets a trim under way may stand or not; one of before may not.
    #[test]
    fn a_trim_takes_what_came_before() {
        let (mut promises, trim) = (promises(false), Request::new(Operation::Trim, Lba(0), 8));
        promises.complete(Tag(0), &write(false), 1, true);
        promises.submit(Tag(1), &trim, 0);
        promises.submit(Tag(0), &write(false), 2);
        promises.complete(Tag(0), &write(false), 2, true);
        promises.complete(Tag(1), &trim, 0, true);
        assert_eq!(promises.promised(4), Some(2));
        assert_eq!([0, 1, 2].map(|stands| promises.is_broken(4, stands)), [false, true, false]);
    }

    /// By hand: what survives a loss of power is promised then, and what is lost is not.
    #[test]
    fn what_survives_stands() {
        let mut promises = promises(true);
        promises.complete(Tag(0), &write(false), 1, true);
        promises.cut(std::iter::once((5, 0)));
        assert_eq!((promises.promised(4), promises.promised(5), promises.acknowledged(5)), (Some(1), None, None));
    }
}
