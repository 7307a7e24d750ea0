//! The bytes of a drive by address: a sector lies at its offset of the medium, whichever flash page the model gives it.
//!
//! The medium alone is the truth about data; the map says what the drive is like. So moves, erases and a map that is
//! behind lose nothing. What RAM holds, and when bytes reach the medium:
//!
//! | | volatile buffer, or none | protected buffer |
//! |---|---|---|
//! | a write is taken | RAM | the medium, before the command completes |
//! | its unit is put, programming begins | the medium; what stood there is kept ([`Undo`]) | – |
//! | the program ends | what was kept is dropped | – |
//! | power fails | RAM is gone; a row under program is whole or undone, as drawn | nothing is gone |
//!
//! A write up to the drive's atomic size is undone as a whole, whichever of its units stand ([`Groups`]). A trim is
//! zeroes; adjacent trims reach the medium as one. The first error of the medium *poisons* the image: it is
//! not written any more, what could not be stored is kept apart ([`Unstored`]) and read from there until power fails,
//! and no command that promises anything succeeds until the drive is opened again.
//!
//! [`Groups`]: crate::groups::Groups
//!
//! With a fault ([`Armed`]) a protected buffer may be in RAM as a volatile one is, and more is kept of what stood before.
//!
//! Left out: errors that the model's flash draws lose no bytes here; the command that met them fails.

pub mod cut;

use crate::bad::BadSectors;
use crate::losses::{Taken, What};
use crate::medium::{Medium, Note};
use crate::power::Armed;
use crate::since::{Mark, Since};
use crate::undo::{Before, More, Undo};
use crate::unit::{Pool, Unit};
use crate::unstored::Unstored;
use rangemap::RangeSet;
use ssdlab_device::block::Tag;
use ssdlab_device::counters::Counters;
use ssdlab_device::nand::contents::{Contents, Damaged, Part, Row, Whence};
use ssdlab_device::sim::slots::Slots;
use ssdlab_device::units::{DieId, Lpn, Ppn};
use std::collections::BTreeSet;
use std::io;
use std::ops::Range;

/// Sizes of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of a sector.
    pub sector_bytes: u32,
    /// Sectors of a mapping unit.
    pub unit_sectors: u32,
    /// Exported bytes.
    pub capacity_bytes: u64,
}

impl Sizes {
    /// Bytes of a mapping unit.
    pub fn unit_bytes(&self) -> u64 {
        u64::from(self.sector_bytes) * u64::from(self.unit_sectors)
    }

    /// Mapping units, the last of which may reach beyond the end.
    pub fn units(&self) -> u32 {
        self.capacity_bytes.div_ceil(self.unit_bytes()) as u32
    }
}

/// The bytes that a command brings or wants, and its number among those that write.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    /// What a write brings, what a read fills.
    pub bytes: Vec<u8>,
    /// The number of the write, 0 of a read.
    pub write: u64,
}

/// A unit that RAM holds, by number; none of the host's otherwise, or in the medium already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held(Option<u32>);

impl Held {
    /// RAM has bytes of it that the medium has not.
    pub(crate) fn is_in_ram(self) -> bool {
        self.0.is_some()
    }
}

/// Bugs that tests must find, built in on purpose.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// A protected buffer is in RAM only.
    ProtectedInRam,
    /// A trim leaves the bytes.
    TrimLeavesBytes,
    /// A trim of a unit that only the buffer holds is ignored.
    TrimOfBufferedIgnored,
    /// A partial write is taken for a whole one.
    PartialAsWhole,
    /// What is undone comes back oldest first.
    OldestFirst,
    /// What is undone comes back over a newer version.
    OverNewer,
    /// A flush succeeds after a failed put.
    NeverPoisoned,
    /// A flush is answered at once.
    FlushAtOnce,
    /// Force unit access is ignored.
    FuaIgnored,
    /// The host's storage is synced after the answer.
    SyncAfterAnswer,
    /// Units of a write up to the atomic size are undone one by one.
    GroupsIgnored,
}

/// The bytes of a drive.
#[derive(Clone, Debug)]
pub struct Image<M> {
    /// Where they lie.
    medium: M,
    sizes: Sizes,
    /// The buffer outlives a loss of power.
    is_protected: bool,
    /// Of commands under way, by tag.
    payloads: Vec<Payload>,
    /// Units that have not been put, each with its number.
    ram: Slots<(u32, Unit)>,
    pool: Pool,
    undo: Undo,
    /// What was written and trimmed since the checkpoint.
    since: Since,
    /// Units trimmed whose zeroes have not reached the medium.
    trimmed: Range<u32>,
    /// Sectors that cannot be read.
    bad: BadSectors,
    /// Why the medium is no longer written.
    poison: Option<String>,
    unstored: Unstored,
    /// Faults that are armed, and what they need to know.
    armed: Option<Box<Armed>>,
    mutant: Option<Mutant>,
    /// What one mutant needs to know.
    put: BTreeSet<u32>,
}

impl<M: Medium> Image<M> {
    /// An image over a medium, with a buffer that outlives a loss of power or not.
    pub fn new(medium: M, sizes: Sizes, is_protected: bool) -> Image<M> {
        Image {
            medium,
            is_protected,
            payloads: Vec::new(),
            ram: Slots::default(),
            pool: Pool::new(sizes.unit_sectors as usize, sizes.sector_bytes as usize),
            undo: Undo::default(),
            since: Since::new(sizes.units()),
            trimmed: 0..0,
            bad: BadSectors::default(),
            poison: None,
            unstored: Unstored::default(),
            armed: None,
            mutant: None,
            put: BTreeSet::new(),
            sizes,
        }
    }

    /// The same, but wrong: for tests of tests.
    #[doc(hidden)]
    pub fn wrong(self, mutant: Mutant) -> Image<M> {
        let is_protected = self.is_protected && mutant != Mutant::ProtectedInRam;
        Image { mutant: Some(mutant), is_protected, ..self }
    }

    /// It has this bug.
    pub(crate) fn is(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    /// How it breaks its word when power fails.
    pub(crate) fn arm(&mut self, armed: Option<Box<Armed>>) {
        self.undo.end_groups(&mut self.pool);
        self.armed = armed;
    }

    /// What is armed.
    pub(crate) fn armed(&mut self) -> Option<&mut Armed> {
        self.armed.as_deref_mut()
    }

    /// Where the bytes lie, with all trims in it.
    pub fn medium(&mut self) -> &mut M {
        self.settle_or_fail();
        &mut self.medium
    }

    /// Sizes of the drive.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// What was written and trimmed since the checkpoint.
    pub fn since(&self) -> &Since {
        &self.since
    }

    /// Goes on with the account of an earlier life of the drive.
    pub(crate) fn resume(&mut self, since: Since) {
        self.since = since;
    }

    /// Goes on with the sectors that cannot be read: the medium knows of them.
    pub(crate) fn resume_bad(&mut self, sectors: RangeSet<u64>) {
        self.bad = BadSectors::known(sectors);
    }

    /// Begins a new account of what is written and trimmed: a checkpoint has been made.
    pub fn clear_since(&mut self) {
        self.since.clear();
    }

    /// Why nothing is promised any more.
    pub fn poison(&self) -> Option<&str> {
        self.poison.as_deref()
    }

    /// A command comes, with its bytes.
    pub fn begin(&mut self, tag: Tag, payload: Payload) {
        let tag = tag.0 as usize;
        if self.payloads.len() <= tag {
            self.payloads.resize_with(tag + 1, Payload::default);
        }
        self.payloads[tag] = payload;
    }

    /// A write of so many sectors comes that power takes whole or not at all. A drive with a fault keeps no such word.
    pub(crate) fn begin_atomic(&mut self, write: u64, first: u64, sectors: u32) {
        if self.armed.is_none() && !self.is(Mutant::GroupsIgnored) {
            let unit = |lba: u64| (lba / u64::from(self.sizes.unit_sectors)) as u32;
            self.undo.begin_group(write, unit(first)..unit(first + u64::from(sectors) - 1) + 1);
        }
    }

    /// A write has failed.
    pub(crate) fn failed(&mut self, write: u64) {
        self.undo.end_group(write, &mut self.pool);
    }

    /// A command has ended; its bytes are given back.
    pub fn end(&mut self, tag: Tag) -> Payload {
        self.payloads.get_mut(tag.0 as usize).map(std::mem::take).unwrap_or_default()
    }

    /// Sectors that cannot be read from now on, until they are written.
    pub fn spoil(&mut self, sectors: Range<u64>) {
        self.bad.spoil(sectors);
    }

    /// Sectors that cannot be read.
    pub fn bad_sectors(&self) -> &RangeSet<u64> {
        self.bad.all()
    }

    /// Makes what the medium has survive a loss of the host's power.
    pub fn sync(&mut self) {
        if self.poison.is_none()
            && let Err(error) = self.settle().and_then(|()| self.medium.sync())
        {
            self.fail(&error);
        }
    }

    /// The whole drive reads as zeroes from now on; it is unmapped, too, where `is_unmapped`. Nothing may be under way.
    pub fn wipe(&mut self, is_unmapped: bool) {
        self.undo.clear();
        self.armed.iter_mut().for_each(|armed| armed.clear());
        self.bad.clear();
        if is_unmapped {
            self.since.mark(0..self.sizes.units(), Mark::Trimmed);
        }
        self.trimmed = 0..self.sizes.units();
        self.settle_or_fail();
    }

    /// Trims reach the medium: called before it is used, and when the drive has done what there was to do.
    pub fn settle_or_fail(&mut self) {
        if let Err(error) = self.settle() {
            self.fail(&error);
        }
    }

    /// What is known beside the bytes is kept with them. It is about what the drive is like, not about data.
    pub fn keep_account(&mut self) {
        if self.poison.is_some() {
            return;
        }
        let medium = &mut self.medium;
        let told = self.since.tell_changed(|from, marks| medium.note(Note::Marks(from, marks)));
        let told = told.and_then(|()| self.bad.take_changed().map_or(Ok(()), |bad| medium.note(Note::Bad(bad))));
        if let Err(error) = told {
            self.fail(&error);
        }
    }

    /// What the drive has counted is kept, too.
    pub(crate) fn keep_counters(&mut self, counters: &Counters) {
        if self.poison.is_none()
            && let Err(error) = self.medium.note(Note::Counters(counters))
        {
            self.fail(&error);
        }
    }

    /// Units in RAM.
    pub fn units_in_ram(&self) -> usize {
        self.ram.len()
    }

    /// The first error of the medium.
    fn fail(&mut self, error: &io::Error) {
        if !self.is(Mutant::NeverPoisoned) && self.poison.is_none() {
            self.poison = Some(error.to_string());
        }
    }

    fn settle(&mut self) -> io::Result<()> {
        let units = std::mem::replace(&mut self.trimmed, 0..0);
        if units.is_empty() || self.poison.is_some() {
            return Ok(());
        }
        let (offset, end) = (self.offset(units.start, 0), self.offset(units.end, 0).min(self.sizes.capacity_bytes));
        self.medium.zero(offset, end - offset).inspect_err(|_| self.unstored.trim(units))
    }

    fn first_sector(&self, lpn: u32) -> u64 {
        u64::from(lpn) * u64::from(self.sizes.unit_sectors)
    }

    fn offset(&self, lpn: u32, sector: usize) -> u64 {
        u64::from(lpn) * self.sizes.unit_bytes() + sector as u64 * u64::from(self.sizes.sector_bytes)
    }

    /// The sectors of a unit that writes brought go to the medium.
    fn write_unit(&mut self, lpn: u32, unit: &Unit) -> io::Result<()> {
        self.settle()?;
        for run in unit.runs() {
            self.medium.write(self.offset(lpn, run.start), unit.of(&run))?;
        }
        Ok(())
    }

    /// What the medium has where the sectors of a unit will go.
    fn read_below(&mut self, lpn: u32, unit: &Unit) -> io::Result<Unit> {
        self.settle()?;
        let mut below = self.pool.take();
        below.brought.copy_from_slice(&unit.brought);
        below.groups.clone_from(&unit.groups);
        for run in unit.runs() {
            self.medium.read(self.offset(lpn, run.start), below.of_mut(&run))?;
        }
        Ok(below)
    }

    /// A unit of the host goes to the medium; where it is put, what stood there is kept until its program ends.
    fn store(&mut self, lpn: u32, unit: &Unit, to: Option<Ppn>, mended: Vec<u64>) -> io::Result<()> {
        if let Some(to) = to {
            let before = self.read_below(lpn, unit)?;
            let first = self.first_sector(lpn);
            let writes = self.armed.as_ref().map_or_else(Vec::new, |armed| armed.stored(first, unit.brought.len()));
            self.undo.keep(lpn, Before { to, unit: before, more: More::of(mended, writes) });
        } else if self.undo.is_of_group(lpn, unit) {
            let unit = self.read_below(lpn, unit)?;
            // It stands in RAM, in no slot yet.
            let before = Before { to: Ppn(0), unit, more: More::of(mended, Vec::new()) };
            self.undo.keep_standing(lpn, before, &mut self.pool);
        } else if self.armed.as_ref().is_some_and(|armed| armed.keeps_below_buffer()) {
            let before = self.read_below(lpn, unit)?;
            let first = self.first_sector(lpn);
            if let Some(armed) = &mut self.armed {
                armed.keep_below_buffer(lpn, first, before, &mut self.pool);
            }
        }
        if let Some(armed) = &mut self.armed {
            let first = u64::from(lpn) * u64::from(self.sizes.unit_sectors);
            unit.runs().for_each(|run| armed.store(first + run.start as u64, &unit.brought[run]));
        }
        self.write_unit(lpn, unit)
    }

    /// What is written can be read again, and stands in the account; returns what could not be read.
    fn note_written(&mut self, lpn: u32, unit: &Unit) -> Vec<u64> {
        self.since.mark(lpn..lpn + 1, Mark::Written);
        let first = self.first_sector(lpn);
        if self.bad.all().is_empty() {
            return Vec::new();
        }
        unit.runs().flat_map(|run| self.bad.mend(first + run.start as u64..first + run.end as u64)).collect()
    }

    /// Stores a unit that is put into a slot, or that a protected buffer takes; or keeps it apart.
    fn keep(&mut self, lpn: u32, unit: &Unit, to: Option<Ppn>) {
        let mended = self.note_written(lpn, unit);
        if self.poison.is_none() {
            match self.store(lpn, unit, to, mended) {
                Ok(()) => return,
                Err(error) => self.fail(&error),
            }
        }
        self.unstored.write(lpn, unit, &mut self.pool);
    }

    /// Puts what a command brings of a unit over what is there.
    fn bring(&self, unit: &mut Unit, part: &Part) {
        let payload = &self.payloads[part.tag.0 as usize];
        let run = part.sectors.0 as usize..part.sectors.1 as usize;
        let first = part.at as usize * self.sizes.sector_bytes as usize;
        let bytes = (!part.zeroes).then(|| &payload.bytes[first..first + run.len() * self.sizes.sector_bytes as usize]);
        if self.undo.is_group(payload.write) {
            unit.bring_over(&run, payload.write, bytes);
        } else {
            unit.bring(&run, payload.write, bytes);
        }
        if self.is(Mutant::PartialAsWhole) {
            unit.brought.fill(payload.write);
        }
    }

    /// A protected buffer takes a part: it lies in the medium at once.
    fn protect(&mut self, part: Part) {
        let mut unit = self.pool.take();
        self.bring(&mut unit, &part);
        self.keep(part.lpn.0, &unit, None);
        self.pool.give_back(unit);
    }

    /// A part as it is now, into the bytes of its command: RAM over what could not be stored over the medium.
    fn fill(&mut self, part: &Part, held: Held, into: &mut [u8]) -> io::Result<()> {
        let run = part.sectors.0 as usize..part.sectors.1 as usize;
        let is_whole_in_ram =
            held.0.is_some_and(|number| self.ram.get(number).1.brought[run.clone()].iter().all(|write| *write != 0));
        if !is_whole_in_ram {
            self.settle_or_fail();
            self.medium.read(self.offset(part.lpn.0, run.start), into)?;
            self.unstored.lay_into(part.lpn.0, &run, into);
        }
        if let Some(number) = held.0 {
            self.ram.get(number).1.lay_into(&run, into);
        }
        Ok(())
    }

    /// A sector of a part is bad, and RAM does not hold it.
    fn is_bad(&self, part: &Part, held: Held) -> bool {
        let first = self.first_sector(part.lpn.0);
        let sectors = first + u64::from(part.sectors.0)..first + u64::from(part.sectors.1);
        let in_ram =
            |lba: u64| held.0.is_some_and(|number| self.ram.get(number).1.brought[(lba - first) as usize] != 0);
        self.bad.within(sectors).flatten().any(|lba| !in_ram(lba))
    }
}

/// Adds the sectors that writes brought.
fn tell_brought(unit: &Unit, first: u64, what: What, taken: &mut Vec<Taken>) {
    let brought = (first..).zip(&unit.brought).filter(|(_, write)| **write != 0);
    taken.extend(brought.map(|(lba, write)| Taken { lba, write: *write, what }));
}

impl<M: Medium> Contents for Image<M> {
    type Held = Held;
    const KEEPS: bool = true;

    fn take(&mut self, part: Part) -> Held {
        let is_empty = part.sectors.0 == part.sectors.1;
        if !is_empty && self.protects() {
            self.protect(part);
            return Held(None);
        }
        let mut unit = self.pool.take();
        if !is_empty {
            self.bring(&mut unit, &part);
        }
        Held(Some(self.ram.insert((part.lpn.0, unit))))
    }

    fn take_beside(&mut self, older: Held, part: Part) -> Held {
        let Some(number) = older.0 else { return self.take(part) };
        let mut unit = self.pool.take();
        unit.clone_from(&self.ram.get(number).1);
        self.bring(&mut unit, &part);
        Held(Some(self.ram.insert((part.lpn.0, unit))))
    }

    fn overwrite(&mut self, held: Held, part: Part) {
        let Some(number) = held.0 else {
            if self.is_protected {
                self.protect(part);
            }
            return;
        };
        let mut unit = std::mem::replace(&mut self.ram.get_mut(number).1, Unit::new(0, 0));
        self.bring(&mut unit, &part);
        self.ram.get_mut(number).1 = unit;
    }

    fn release(&mut self, held: Held) {
        if let Some(number) = held.0 {
            let (_, unit) = self.ram.remove(number);
            self.pool.give_back(unit);
        }
    }

    fn deliver(&mut self, part: Part, from: Whence<Held>) -> Result<(), Damaged> {
        let held = if let Whence::Ram(held, _) = from { held } else { Held(None) };
        if self.is_bad(&part, held) {
            return Err(Damaged);
        }
        let sector_bytes = self.sizes.sector_bytes as usize;
        let tag = part.tag.0 as usize;
        let mut bytes = std::mem::take(&mut self.payloads[tag].bytes);
        let first = part.at as usize * sector_bytes;
        let into = &mut bytes[first..first + (part.sectors.1 - part.sectors.0) as usize * sector_bytes];
        let filled = self.fill(&part, held, into);
        self.payloads[tag].bytes = bytes;
        filled.map_err(|_| Damaged)
    }

    fn put(&mut self, to: Ppn, lpn: Lpn, held: Held, _: Option<Ppn>) {
        if self.is(Mutant::TrimOfBufferedIgnored) {
            self.put.insert(lpn.0);
        }
        let Some(number) = held.0 else {
            if let Some(armed) = &mut self.armed {
                armed.put_buffered(self.undo.next(lpn.0), to, &mut self.pool);
            }
            return;
        };
        let (_, unit) = self.ram.remove(number);
        if !unit.is_empty() {
            self.armed.iter_mut().for_each(|armed| armed.put(to, &mut self.pool));
            self.keep(lpn.0, &unit, Some(to));
        }
        self.pool.give_back(unit);
    }

    fn program_begins(&mut self, by: DieId, row: Row) {
        self.undo.begin(by);
        self.armed.iter_mut().for_each(|armed| armed.begin(by, row.clone()));
    }

    fn program_ends(&mut self, by: DieId) {
        let (pool, armed) = (&mut self.pool, &mut self.armed);
        match armed {
            None => self.undo.end(by, |_, before| pool.give_back(before.unit)),
            Some(armed) => {
                armed.end(by);
                self.undo.end(by, |key, before| armed.settle_unit(key, before, pool));
            }
        }
    }

    fn trim(&mut self, lpn: Lpn) {
        let ignores_buffered = self.is(Mutant::TrimOfBufferedIgnored) && !self.put.contains(&lpn.0);
        if lpn.0 >= self.sizes.units() || self.is(Mutant::TrimLeavesBytes) || ignores_buffered {
            return;
        }
        self.put.remove(&lpn.0);
        self.undo.forget(lpn.0, &mut self.pool);
        let first = self.first_sector(lpn.0);
        let sectors = first..first + u64::from(self.sizes.unit_sectors);
        self.armed.iter_mut().for_each(|armed| armed.forget(lpn.0, sectors.clone(), &mut self.pool));
        self.since.mark(lpn.0..lpn.0 + 1, Mark::Trimmed);
        self.bad.mend(sectors);
        if self.poison.is_some() {
            return self.unstored.trim(lpn.0..lpn.0 + 1);
        }
        if self.trimmed.end == lpn.0 && !self.trimmed.is_empty() {
            self.trimmed.end += 1;
        } else {
            self.settle_or_fail();
            self.trimmed = lpn.0..lpn.0 + 1;
        }
    }
}
