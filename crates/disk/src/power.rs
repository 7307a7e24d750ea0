//! Faults of a drive that loses power: how one breaks its word. Armed before the cut, since they need what came before it.
//!
//! | fault | what happens | with a protected buffer |
//! |---|---|---|
//! | shorn | of a unit under program a prefix of its sectors is new, the rest old | none |
//! | unreadable | a unit under program is a media error until it is written | none |
//! | paired | units in the lower pages of the cells of a row under program are media errors, though flushed | as without |
//! | unserialized | of what flash has and no flush covers, any subset of units survives | none |
//! | rollback | a run of units of the newest open block falls back to the versions before, though flushed | as without |
//! | lying | flushes are answered at once, and FUA as if it were not asked for | none |
//! | capacitor | – | it is lost, as if it were volatile |
//!
//! After Zheng, Tucek, Qin and Lillibridge, "Understanding the robustness of SSDs under power fault" (FAST 2013). Faults
//! combine; a stream of their own draws them, so that the rows that are whole are the same with and without.
//!
//! Left out: parity that would mend paired pages; the old version of a unit that lies in such a page while the new one is
//! under program; trims, which stand; what only a volatile buffer holds is lost as ever.

use crate::kept::Kept;
use crate::numbers::Numbers;
use crate::undo::{Before, Key, More};
use crate::unit::{Pool, Unit};
use ssdlab_device::nand::contents::Row;
use ssdlab_device::nand::geometry::Geometry;
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::units::{BlockId, DieId, Ppn};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use thiserror::Error;

/// How a drive breaks its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A prefix of a unit under program is new.
    Shorn,
    /// A unit under program cannot be read.
    Unreadable,
    /// Units that share cells with a row under program cannot be read.
    Paired,
    /// Any subset of unflushed writes survives.
    Unserialized,
    /// Units of the newest open block fall back.
    Rollback,
    /// Flushes and FUA are answered at once.
    Lying,
    /// A protected buffer is lost.
    Capacitor,
}

/// There is no such fault.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("fault {0}: there is none of that name\nchoose among {list}", list = Fault::ALL.map(Fault::name).join(", "))]
pub struct NoFault(String);

impl Fault {
    /// All there are.
    pub const ALL: [Fault; 7] = [
        Fault::Shorn,
        Fault::Unreadable,
        Fault::Paired,
        Fault::Unserialized,
        Fault::Rollback,
        Fault::Lying,
        Fault::Capacitor,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Fault::Shorn => "shorn",
            Fault::Unreadable => "unreadable",
            Fault::Paired => "paired",
            Fault::Unserialized => "unserialized",
            Fault::Rollback => "rollback",
            Fault::Lying => "lying",
            Fault::Capacitor => "capacitor",
        }
    }
}

impl FromStr for Fault {
    type Err = NoFault;
    fn from_str(name: &str) -> Result<Fault, NoFault> {
        Fault::ALL.into_iter().find(|fault| fault.name() == name).ok_or_else(|| NoFault(name.to_string()))
    }
}

/// Some of them, or none.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Faults(u8);

impl Faults {
    /// This one is among them.
    pub fn has(self, fault: Fault) -> bool {
        self.0 & 1 << fault as u8 != 0
    }

    /// These, and another one.
    pub fn and(self, fault: Fault) -> Faults {
        Faults(self.0 | 1 << fault as u8)
    }

    /// There are none.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<Fault> for Faults {
    fn from_iter<I: IntoIterator<Item = Fault>>(faults: I) -> Faults {
        Faults(faults.into_iter().fold(0, |all, fault| all | 1 << fault as u8))
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_set().entries(Fault::ALL.into_iter().filter(|fault| self.has(*fault))).finish()
    }
}

/// What decides a cut: of rows under program, and of faults.
pub struct Draws {
    rows: Stream,
    faults: Stream,
}

impl Draws {
    /// Those of a seed.
    pub fn new(seed: u64) -> Draws {
        Draws { rows: Stream::new(seed, Purpose::PowerCut), faults: Stream::new(seed, Purpose::Faults) }
    }

    /// A row under program is whole.
    pub fn is_whole(&mut self) -> bool {
        self.rows.below(2) == 0
    }

    /// Of two, one.
    pub fn either(&mut self) -> bool {
        self.faults.below(2) == 0
    }
}

/// What becomes of a unit under program that is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is as it was.
    Gone,
    /// Its sectors before this one are new.
    Shorn(usize),
    /// It cannot be read.
    Unreadable,
}

/// What armed faults need to know.
#[derive(Clone, Debug)]
pub struct Armed {
    faults: Faults,
    geometry: Geometry,
    /// What each die programs.
    rows: Vec<Option<Row>>,
    /// Versions before what flash has.
    kept: Kept,
    /// What stood before what a protected buffer holds, by unit, and the writes that had brought it.
    buffered: BTreeMap<u32, (Unit, Vec<u64>)>,
    /// The write that each sector of the medium is of, 0 where it is of none since the faults were armed.
    stored: Numbers,
    /// The block of each die that a unit of the host was put into last.
    open: BTreeMap<DieId, BlockId>,
    /// The last of all.
    newest: Option<BlockId>,
}

impl Armed {
    /// Faults of a drive of that shape.
    pub fn new(faults: Faults, geometry: Geometry) -> Armed {
        let (rows, kept, buffered) = (Vec::new(), Kept::default(), BTreeMap::new());
        let (open, stored) = (BTreeMap::new(), Numbers::default());
        Armed { faults, geometry, rows, kept, buffered, stored, open, newest: None }
    }

    /// Other faults from now on; what was kept for the former ones is of use where they are the same.
    pub fn change(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// Which.
    pub fn faults(&self) -> Faults {
        self.faults
    }

    /// Versions are kept beyond the end of their rows.
    fn keeps(&self) -> bool {
        self.faults.has(Fault::Unserialized) || self.faults.has(Fault::Rollback)
    }

    /// A die programs a row.
    pub fn begin(&mut self, die: DieId, row: Row) {
        let die = usize::from(die.0);
        if self.rows.len() <= die {
            self.rows.resize(die + 1, None);
        }
        self.rows[die] = Some(row);
    }

    /// What a die programs is programmed.
    pub fn end(&mut self, die: DieId) {
        self.rows.get_mut(usize::from(die.0)).map(Option::take);
    }

    /// A unit of the host is put there: what the die's block before had is out of a rollback's reach.
    pub fn put(&mut self, to: Ppn, pool: &mut Pool) {
        let block = self.geometry.block(to);
        self.newest = Some(block);
        let is_new = self.open.insert(self.geometry.die(block), block) != Some(block);
        if is_new && !self.faults.has(Fault::Unserialized) {
            self.settle(|_, _| true, pool);
        }
    }

    /// What is settled is kept for a rollback at most.
    fn settle(&mut self, is_settled: impl Fn(u32, &Before) -> bool, pool: &mut Pool) {
        let (rolls_back, is_serial) = (self.faults.has(Fault::Rollback), !self.faults.has(Fault::Unserialized));
        let (geometry, open) = (&self.geometry, &self.open);
        let is_open = |block| open.get(&geometry.die(block)) == Some(&block);
        let is_needed = |before: &Before| rolls_back && is_open(geometry.block(before.to));
        self.kept.settle(|lpn, before| !is_needed(before) && (is_serial || is_settled(lpn, before)), pool);
    }

    /// The row of a unit has ended: what stood there before is kept, or given back.
    pub fn settle_unit(&mut self, key: Key, before: Before, pool: &mut Pool) {
        if self.keeps() { self.kept.keep(key, before, pool) } else { pool.give_back(before.unit) }
    }

    /// A protected buffer takes sectors: what stands below them has to be known.
    pub fn keeps_below_buffer(&self) -> bool {
        self.faults.has(Fault::Rollback)
    }

    /// What stood below sectors that a protected buffer has taken; what stood there first counts, by the last write.
    pub fn keep_below_buffer(&mut self, lpn: u32, first: u64, mut before: Unit, pool: &mut Pool) {
        let mut stood = self.stored(first, before.brought.len());
        if let Some((oldest, its_writes)) = self.buffered.remove(&lpn) {
            let writes = before.brought.clone();
            before.lay_over(&oldest);
            for sector in 0..writes.len() {
                if oldest.brought[sector] != 0 {
                    stood[sector] = its_writes[sector];
                }
                if writes[sector] != 0 {
                    before.brought[sector] = writes[sector];
                }
            }
            pool.give_back(oldest);
        }
        self.buffered.insert(lpn, (before, stood));
    }

    /// The writes that brought what stands in so many sectors.
    pub fn stored(&self, first: u64, sectors: usize) -> Vec<u64> {
        (first..).take(sectors).map(|lba| self.stored.get(lba)).collect()
    }

    /// Sectors go to the medium: `writes` are theirs.
    pub fn store(&mut self, first: u64, writes: &[u64]) {
        self.stored.change(first..first + writes.len() as u64, |lba, _| writes[(lba - first) as usize]);
    }

    /// A unit of a protected buffer is put: it will not be lost on its way.
    pub fn put_buffered(&mut self, key: Key, to: Ppn, pool: &mut Pool) {
        if let Some((unit, writes)) = self.buffered.remove(&key.0) {
            self.put(to, pool);
            self.settle_unit(key, Before { to, unit, more: More::of(Vec::new(), writes) }, pool);
        }
    }

    /// A unit is trimmed.
    pub fn forget(&mut self, lpn: u32, sectors: Range<u64>, pool: &mut Pool) {
        self.kept.forget(lpn, pool);
        self.buffered.remove(&lpn).into_iter().for_each(|(unit, _)| pool.give_back(unit));
        self.stored.change(sectors, |_, _| 0);
    }

    /// The drive starts over.
    pub fn clear(&mut self) {
        *self = Armed::new(self.faults, self.geometry);
    }

    /// A flush has ended: what it covers does not come back, unless the drive lies.
    pub fn flushed(&mut self, is_settled: impl Fn(u32, &Before) -> bool, pool: &mut Pool) {
        if self.keeps() && !self.faults.has(Fault::Lying) {
            self.settle(is_settled, pool);
        }
    }

    /// Power fails: what becomes of a unit whose row is not whole.
    pub fn fate(&self, unit: &Unit, draws: &mut Draws) -> Fate {
        let shorn = self.faults.has(Fault::Shorn).then_some(Fate::Shorn(0));
        let unreadable = self.faults.has(Fault::Unreadable).then_some(Fate::Unreadable);
        let fates: Vec<Fate> = [Some(Fate::Gone), shorn, unreadable].into_iter().flatten().collect();
        match fates[draws.faults.below(fates.len() as u32) as usize] {
            Fate::Shorn(_) => Fate::Shorn(draws.faults.below(unit.brought.len() as u32 + 1) as usize),
            fate => fate,
        }
    }

    /// Power fails: rows whose program is broken off so that the lower pages of their cells are damaged. Of those with
    /// units of the host it has been drawn whether they are whole.
    pub fn broken_off(&mut self, is_whole: &BTreeMap<DieId, bool>, draws: &mut Draws) -> Vec<Row> {
        let rows = std::mem::take(&mut self.rows).into_iter().enumerate();
        if !self.faults.has(Fault::Paired) {
            return Vec::new();
        }
        let rows = rows.filter_map(|(die, row)| Some((DieId(die as u16), row?)));
        rows.filter(|(die, _)| !is_whole.get(die).copied().unwrap_or_else(|| draws.either()))
            .map(|(_, row)| row)
            .collect()
    }

    /// Power fails: versions to which flash falls back, newest first, and whether by a rollback. `stands` are units of
    /// which a newer version is there; `is_settled` tells what a flush covers, `is_safe` that the buffer is protected.
    pub fn fall_back(
        &mut self,
        mut stands: BTreeSet<u32>,
        is_settled: impl Fn(u32, &Before) -> bool,
        is_safe: bool,
        draws: &mut Draws,
    ) -> Vec<(Key, Before, bool)> {
        stands.extend(self.buffered.keys());
        let run = self.run(draws);
        self.open.clear();
        let is_serial = is_safe || !self.faults.has(Fault::Unserialized);
        let lies = self.faults.has(Fault::Lying);
        let gone = self.kept.cut(|key, before| {
            !stands.contains(&key.0)
                && (run.contains(&key) || !is_serial && (lies || !is_settled(key.0, before)) && draws.either())
        });
        gone.into_iter().map(|(key, before)| (key, before, run.contains(&key))).collect()
    }

    /// A run of what was put into the newest open block.
    fn run(&mut self, draws: &mut Draws) -> BTreeSet<Key> {
        let newest = self.newest.take().filter(|_| self.faults.has(Fault::Rollback));
        let Some(block) = newest else { return BTreeSet::new() };
        let slots = self.kept.in_slots(|to| self.geometry.block(to) == block);
        if slots.is_empty() {
            return BTreeSet::new();
        }
        let start = draws.faults.below(slots.len() as u32) as usize;
        let length = 1 + draws.faults.below((slots.len() - start) as u32) as usize;
        slots[start..start + length].iter().copied().collect()
    }

    /// Units that might have fallen back, if what stood there before had still been kept.
    pub fn dropped(&self) -> Vec<u32> {
        if self.keeps() { self.kept.dropped().collect() } else { Vec::new() }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Every fault has a name of its own, which is told where there is none of that name.
    #[test]
    fn faults_are_named() {
        for fault in Fault::ALL {
            assert_eq!(fault.name().parse(), Ok(fault));
        }
        let told = "torn".parse::<Fault>().unwrap_err().to_string();
        assert_eq!(
            told,
            "fault torn: there is none of that name\n\
             choose among shorn, unreadable, paired, unserialized, rollback, lying, capacitor"
        );
    }

    /// A set has what was put into it.
    #[test]
    fn faults_are_a_set() {
        let some: Faults = [Fault::Lying, Fault::Shorn, Fault::Lying].into_iter().collect();
        assert!(some.has(Fault::Lying) && some.has(Fault::Shorn) && !some.has(Fault::Paired) && !some.is_none());
        assert_eq!(format!("{some:?}"), "{Shorn, Lying}");
        assert!(Faults::default().is_none());
    }
}
