//! Contents that keep the value of every sector, in flash and in RAM.
//!
//! The value of a command's sector is what the host brought under its tag, plus its number in the command; zero
//! stands for zeroes, [`UNREADABLE`] for what was written under a key that is gone.

use ssdlab_device::nand::contents::{Contents, Damaged, Part, Row, Whence};
use ssdlab_device::sim::slots::Slots;
use ssdlab_device::units::{DieId, Lpn, Ppn};
use std::collections::HashMap;
use std::ops::Range;

/// Read from a unit whose key was thrown away.
pub const UNREADABLE: u64 = u64::MAX;

/// What a wrong store does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// A partial unit is completed when it is taken, not when it is put.
    MergesEarly,
    /// A partial unit is not completed.
    NeverMerges,
    /// What a command brings to a buffered unit replaces it.
    OverwritesWhole,
    /// A moved unit stays behind.
    ForgetsMoves,
    /// A newer version of a buffered unit lacks what an older one brought.
    ForgetsOlder,
}

/// Values of sectors, by slot of flash and by number in RAM.
#[derive(Default)]
pub struct Sectors {
    per_unit: usize,
    /// Value of each command's first sector, by tag.
    pub brought: Vec<u64>,
    /// What reads delivered, by tag: the sector's number in the command and its value.
    pub delivered: HashMap<u32, Vec<(u32, u64)>>,
    flash: HashMap<u32, (u32, Vec<u64>)>,
    ram: Slots<Vec<Option<u64>>>,
    /// Slots that held something when they were programmed.
    pub programmed_twice: u64,
    /// Old slots of units that were put, and slots that were copied, since the last row began.
    left: Vec<u32>,
    /// Those of the rows that each die programs.
    programming: HashMap<u16, Vec<u32>>,
    /// Slots that each die erases.
    erasing: HashMap<u16, Range<u32>>,
    /// Erases that began while a row under way superseded or copied a unit of the block.
    pub early_erases: u64,
    /// Erases that ended.
    pub erases: u64,
    mutant: Option<Mutant>,
}

impl Sectors {
    /// Nothing, in units of so many sectors, for so many tags.
    pub fn new(per_unit: usize, tags: usize) -> Sectors {
        Sectors { per_unit, brought: vec![0; tags], ..Sectors::default() }
    }

    /// As [`Sectors::new`], but wrong.
    pub fn wrong(per_unit: usize, tags: usize, mutant: Mutant) -> Sectors {
        Sectors { mutant: Some(mutant), ..Sectors::new(per_unit, tags) }
    }

    /// The unit recorded in a slot, and its sectors.
    pub fn slot(&self, ppn: Ppn) -> Option<(Lpn, &[u64])> {
        self.flash.get(&ppn.0).map(|(lpn, sectors)| (Lpn(*lpn), sectors.as_slice()))
    }

    /// All sectors in flash.
    pub fn in_flash(&self) -> impl Iterator<Item = u64> {
        self.flash.values().flat_map(|(_, sectors)| sectors.iter().copied())
    }

    /// Units held in RAM.
    pub fn units_in_ram(&self) -> usize {
        self.ram.len()
    }

    fn values(&self, part: Part) -> impl Iterator<Item = (usize, u64)> {
        let first = self.brought[part.tag.0 as usize];
        let numbers = part.sectors.0..part.sectors.1;
        numbers.map(move |sector| {
            let number = part.at + sector - part.sectors.0;
            (sector as usize, if part.zeroes { 0 } else { first + u64::from(number) })
        })
    }

    fn sector(&self, from: Whence<Option<u32>>, sector: usize) -> u64 {
        let in_flash = |ppn: Ppn| self.flash[&ppn.0].1[sector];
        match from {
            Whence::Nothing => 0,
            Whence::Flash(ppn) => in_flash(ppn),
            Whence::Ram(held, shadow) => {
                let in_ram = held.and_then(|number| self.ram.get(number)[sector]);
                in_ram.unwrap_or_else(|| shadow.map_or(0, in_flash))
            }
        }
    }

    fn program(&mut self, to: Ppn, lpn: Lpn, sectors: Vec<u64>) {
        // A lane of a superblock that is programmed while another die erases it is empty already.
        let erased: Vec<u16> =
            self.erasing.iter().filter(|(_, slots)| slots.contains(&to.0)).map(|(die, _)| *die).collect();
        erased.into_iter().for_each(|die| self.empty(die));
        self.programmed_twice += u64::from(self.flash.insert(to.0, (lpn.0, sectors)).is_some());
    }

    /// What a die erases is empty.
    fn empty(&mut self, by: u16) {
        for slot in self.erasing.remove(&by).into_iter().flatten() {
            self.flash.remove(&slot);
        }
    }

    /// What the newest slot of a unit holds, as a store would know that looks too early.
    fn newest(&self, lpn: Lpn) -> Option<Vec<u64>> {
        let slots = self.flash.iter().filter(|(_, (held, _))| *held == lpn.0);
        slots.max_by_key(|(_, (_, sectors))| sectors.iter().max().copied()).map(|(_, (_, sectors))| sectors.clone())
    }
}

impl Contents for Sectors {
    type Held = Option<u32>;
    const KEEPS: bool = true;

    fn take(&mut self, part: Part) -> Option<u32> {
        let mut sectors = vec![None; self.per_unit];
        if self.mutant == Some(Mutant::MergesEarly) && part.sectors != (0, self.per_unit as u32) {
            let old = self.newest(part.lpn).unwrap_or_else(|| vec![0; self.per_unit]);
            sectors = old.into_iter().map(Some).collect();
        }
        self.values(part).for_each(|(sector, value)| sectors[sector] = Some(value));
        Some(self.ram.insert(sectors))
    }

    fn take_beside(&mut self, older: Option<u32>, part: Part) -> Option<u32> {
        let older =
            older.filter(|_| self.mutant != Some(Mutant::ForgetsOlder)).map(|number| self.ram.get(number).clone());
        let newer = self.take(part);
        if let (Some(older), Some(number)) = (older, newer) {
            let sectors = self.ram.get_mut(number).iter_mut().zip(older);
            sectors.filter(|(sector, _)| sector.is_none()).for_each(|(sector, below)| *sector = below);
        }
        newer
    }

    fn overwrite(&mut self, held: Option<u32>, part: Part) {
        let number = held.expect("the host's");
        let values: Vec<_> = self.values(part).collect();
        if self.mutant == Some(Mutant::OverwritesWhole) {
            self.ram.get_mut(number).fill(None);
        }
        values.into_iter().for_each(|(sector, value)| self.ram.get_mut(number)[sector] = Some(value));
    }

    fn release(&mut self, held: Option<u32>) {
        if let Some(number) = held {
            self.ram.remove(number);
        }
    }

    fn deliver(&mut self, part: Part, from: Whence<Option<u32>>) -> Result<(), Damaged> {
        let sectors = part.sectors.0..part.sectors.1;
        let values: Vec<_> =
            sectors.map(|sector| (part.at + sector - part.sectors.0, self.sector(from, sector as usize))).collect();
        self.delivered.entry(part.tag.0).or_default().extend(values);
        Ok(())
    }

    fn put(&mut self, to: Ppn, lpn: Lpn, held: Option<u32>, old: Option<Ppn>) {
        let old = old.filter(|_| self.mutant != Some(Mutant::NeverMerges));
        let from = Whence::Ram(held, old);
        let sectors = (0..self.per_unit).map(|sector| self.sector(from, sector)).collect();
        self.left.extend(old.map(|ppn| ppn.0));
        self.release(held);
        self.program(to, lpn, sectors);
    }

    fn copy(&mut self, from: Ppn, to: Ppn) {
        let (lpn, sectors) = self.flash[&from.0].clone();
        let sectors = if self.mutant == Some(Mutant::ForgetsMoves) { vec![0; self.per_unit] } else { sectors };
        self.left.push(from.0);
        self.program(to, Lpn(lpn), sectors);
    }

    fn program_begins(&mut self, by: DieId, _: Row) {
        self.programming.entry(by.0).or_default().append(&mut self.left);
    }

    fn program_ends(&mut self, by: DieId) {
        self.programming.remove(&by.0);
    }

    fn erase_begins(&mut self, by: DieId, slots: Range<u32>) {
        let needed = |left: &Vec<u32>| left.iter().any(|slot| slots.contains(slot));
        self.early_erases += u64::from(self.programming.values().any(needed));
        self.erasing.insert(by.0, slots);
    }

    fn erase_ends(&mut self, by: DieId) {
        self.erases += 1;
        self.empty(by.0);
    }

    fn discard_key(&mut self) {
        self.flash.values_mut().for_each(|(_, sectors)| sectors.fill(UNREADABLE));
    }
}
