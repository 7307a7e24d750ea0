//! Power fails: what was only in RAM is gone, rows under program are whole or undone, and armed faults do what they do.

use super::{Image, Mutant, tell_brought};
use crate::losses::{Taken, What};
use crate::medium::Medium;
use crate::power::{Draws, Fate, Fault};
use crate::undo::{Before, Undone};
use ssdlab_device::nand::contents::Row;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What a loss of power did to the bytes.
#[derive(Debug, Default)]
pub struct Struck {
    /// Sectors of writes that are gone, and sectors that cannot be read.
    pub taken: Vec<Taken>,
    /// Rows that were broken off, so that the lower pages of their cells cannot be read.
    pub broken_off: Vec<Row>,
    /// Sectors that might have fallen back, had what stood there before still been kept.
    pub undo_dropped: Vec<Range<u64>>,
}

impl<M: Medium> Image<M> {
    /// This fault is armed.
    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.armed.as_ref().is_some_and(|armed| armed.faults().has(fault))
    }

    /// What the buffer holds outlives a loss of power.
    pub(super) fn protects(&self) -> bool {
        self.is_protected && !self.has(Fault::Capacitor)
    }

    /// Power fails. `is_broken` tells whether the host was promised more of a sector than that write. Returns what is gone: what RAM
    /// held, what could not be stored, and what is undone. A poisoned medium is left as it is.
    pub fn cut(&mut self, draws: &mut Draws, is_broken: impl Fn(u64, u64) -> bool) -> Struck {
        let mut struck = Struck::default();
        let is_safe = self.protects();
        if !is_safe {
            self.in_ram(&mut struck.taken);
        }
        for (lpn, unit) in self.unstored.take() {
            tell_brought(&unit, self.first_sector(lpn), What::Lost, &mut struck.taken);
        }
        if self.poison.is_some() {
            self.undo.clear();
            self.armed.iter_mut().for_each(|armed| armed.clear());
            return struck;
        }
        let mut whole = BTreeMap::new();
        let is_whole = |die| {
            let drawn = is_safe || draws.is_whole();
            whole.insert(die, drawn);
            drawn
        };
        let (mut undone, mut stands) = self.undo.cut(is_whole, self.mutant == Some(Mutant::OverNewer));
        if self.is(Mutant::OldestFirst) {
            undone.reverse();
        }
        for Undone { lpn, before, is_in_row } in undone {
            if self.is_shorn(lpn, &stands) {
                continue;
            }
            let fate = match &self.armed {
                Some(armed) if is_in_row => armed.fate(&before.unit, draws),
                _ => Fate::Gone,
            };
            self.undo(lpn, before, fate, &mut stands, &mut struck.taken);
        }
        self.fall_back(stands, is_broken, is_safe, draws, &mut struck);
        if let Some(armed) = &mut self.armed {
            struck.broken_off = armed.broken_off(&whole, draws);
        }
        struck
    }

    fn in_ram(&self, taken: &mut Vec<Taken>) {
        for (lpn, unit) in self.ram.numbers().into_iter().map(|number| self.ram.get(number)) {
            tell_brought(unit, self.first_sector(*lpn), What::Lost, taken);
        }
    }

    /// A newer version of a unit is there in part: no older one comes back over it.
    fn is_shorn(&self, lpn: u32, stands: &BTreeSet<u32>) -> bool {
        self.armed.is_some() && stands.contains(&lpn)
    }

    /// A unit whose row is not whole.
    fn undo(&mut self, lpn: u32, before: Before, fate: Fate, stands: &mut BTreeSet<u32>, taken: &mut Vec<Taken>) {
        match fate {
            Fate::Gone => self.take_back(lpn, before, What::Lost, taken),
            Fate::Shorn(at) => {
                let mut before = before;
                let first = self.first_sector(lpn);
                let is_torn = before.unit.brought[..at].iter().any(|write| *write != 0);
                before.unit.brought[..at].fill(0);
                let more = before.more.iter_mut();
                more.for_each(|more| more.mended.retain(|lba| *lba >= first + at as u64));
                self.take_back(lpn, before, if is_torn { What::Torn } else { What::Lost }, taken);
                if is_torn {
                    stands.insert(lpn);
                }
            }
            Fate::Unreadable => {
                let mut brought = Vec::new();
                tell_brought(&before.unit, self.first_sector(lpn), What::Unreadable, &mut brought);
                self.take_back(lpn, before, What::Lost, &mut Vec::new());
                self.spoil_unit(lpn, &brought, taken);
                stands.insert(lpn);
            }
        }
    }

    /// What stood before comes back.
    fn take_back(&mut self, lpn: u32, before: Before, what: What, taken: &mut Vec<Taken>) {
        tell_brought(&before.unit, self.first_sector(lpn), what, taken);
        if let Some(more) = before.more {
            more.mended.into_iter().for_each(|sector| self.bad.spoil(sector..sector + 1));
            let first = self.first_sector(lpn);
            if let Some(armed) = self.armed.as_mut().filter(|_| !more.writes.is_empty()) {
                before.unit.runs().for_each(|run| armed.store(first + run.start as u64, &more.writes[run]));
            }
        }
        if let Err(error) = self.write_unit(lpn, &before.unit) {
            self.fail(&error);
        }
    }

    /// A unit cannot be read any more; of its sectors these writes are known.
    fn spoil_unit(&mut self, lpn: u32, brought: &[Taken], taken: &mut Vec<Taken>) {
        let (first, end) = (self.first_sector(lpn), self.first_sector(lpn + 1));
        let sectors = first..end.min(self.sizes.capacity_bytes / u64::from(self.sizes.sector_bytes));
        self.spoil(sectors.clone());
        taken.extend(sectors.map(|lba| {
            let write = brought.iter().find(|each| each.lba == lba).map_or(0, |each| each.write);
            Taken { lba, write, what: What::Unreadable }
        }));
    }

    /// The write that stands in a sector, 0 for none: known where faults are armed.
    pub(crate) fn stands(&self, lba: u64) -> u64 {
        self.armed.as_ref().map_or(0, |armed| armed.stored(lba, 1)[0])
    }

    /// A unit of the host, if it is one, lies in a page that a loss of power has damaged.
    pub(crate) fn damage(&mut self, lpn: u32, taken: &mut Vec<Taken>) {
        if lpn < self.sizes.units() {
            self.spoil_unit(lpn, &[], taken);
        }
    }

    /// What flash has falls back to what stood before, as armed faults will have it.
    fn fall_back(
        &mut self,
        stands: BTreeSet<u32>,
        is_broken: impl Fn(u64, u64) -> bool,
        is_safe: bool,
        draws: &mut Draws,
        struck: &mut Struck,
    ) {
        let sectors = u64::from(self.sizes.unit_sectors);
        let Some(armed) = &mut self.armed else { return };
        for lpn in armed.dropped() {
            let range = u64::from(lpn) * sectors..u64::from(lpn + 1) * sectors;
            match struck.undo_dropped.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => struck.undo_dropped.push(range),
            }
        }
        let settles = |lpn, before: &Before| is_settled(before, u64::from(lpn) * sectors, &is_broken);
        for ((lpn, _), before, is_rollback) in armed.fall_back(stands, settles, is_safe, draws) {
            let what = if is_rollback { What::RolledBack } else { What::Lost };
            self.take_back(lpn, before, what, &mut struck.taken);
        }
    }

    /// A flush has ended: what it covers does not fall back.
    pub(crate) fn flushed(&mut self, is_broken: impl Fn(u64, u64) -> bool) {
        let sectors = u64::from(self.sizes.unit_sectors);
        let settles = |lpn, before: &Before| is_settled(before, u64::from(lpn) * sectors, &is_broken);
        self.armed.iter_mut().for_each(|armed| armed.flushed(settles, &mut self.pool));
    }
}

/// Without the version that stands now a promise would be broken, also that of a write which a later one went over in the
/// buffer.
fn is_settled(before: &Before, first: u64, is_broken: impl Fn(u64, u64) -> bool) -> bool {
    let Some(more) = &before.more else { return false };
    let sectors = (first..).zip(&before.unit.brought).zip(&more.writes);
    sectors.filter(|((_, brought), _)| **brought != 0).any(|((lba, _), stood)| is_broken(lba, *stood))
}
