//! What a die works on: its open blocks, its job, and the units that the job has still to move.

use crate::ftl::frontier::{Frontier, Purpose};
use crate::ftl::job::{Gathered, Job, Reason};
use crate::ftl::mapping::Mapping;
use crate::ftl::pool::Counter;
use crate::ftl::table::NONE;
use crate::nand::geometry::Geometry;
use crate::units::{BlockId, Lpn, Ppn};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Lines of the map that are fetched together: their way through the address tables overlaps.
pub(super) const BATCH: usize = 8;

/// Moves by which the map's lines of the units to be moved are fetched ahead at least, where moves follow
/// each other at once.
pub(super) const MOVES_AHEAD: usize = 6;

/// Where units move one after the other, lines of the map are fetched so many batches ahead.
const BATCHES_AHEAD: usize = 2;

/// A slot of a victim that was valid when its job began, and the unit in it.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The slot.
    pub slot: u32,
    /// The unit.
    pub lpn: u32,
}

/// What a die works on. In this order what a host write touches lies in one cache line, and what each
/// move touches in that one and the next.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct DieState {
    /// Its open blocks, by [`Purpose`].
    pub(super) frontiers: [Frontier; 4],
    /// Which of the `sources` comes next.
    #[serde(skip)]
    next_source: u32,
    /// Where the victim's counter of valid units is.
    #[serde(skip)]
    pub(super) victim_counter: Counter,
    /// Collections since static wear levelling looked last.
    pub(super) jobs_since_leveling: u32,
    /// A block failed and took the reserve of a single frontier: the host waits until it is back.
    pub(super) short: bool,
    /// Between the watermarks: collection goes on until there are `gc_high_blocks`.
    pub(super) collecting: bool,
    /// Where a row is one unit: the victim's slots that were valid when its job began. Not saved: it
    /// follows from the job.
    #[serde(skip)]
    sources: Vec<Source>,
    /// The collection under way.
    pub(super) job: Option<Job>,
    /// Where a row is several units: those of the job.
    pub(super) gathered: Gathered,
    /// Blocks in which a program failed: collected first, then retired.
    pub(super) doomed: Vec<BlockId>,
    /// Smooth pace: rows of the job owed before the next host row, and what each host row adds while
    /// the present job lasts.
    owed: f64,
    pub(super) owed_per_row: f64,
}

impl DieState {
    /// An open block.
    #[inline(always)]
    pub fn frontier(&self, purpose: Purpose) -> &Frontier {
        &self.frontiers[purpose as usize]
    }

    /// As [`DieState::frontier`], to be written.
    #[inline(always)]
    pub fn frontier_mut(&mut self, purpose: Purpose) -> &mut Frontier {
        &mut self.frontiers[purpose as usize]
    }

    /// The job under way.
    ///
    /// # Panics
    /// Where there is none.
    #[inline(always)]
    pub fn job(&self) -> &Job {
        self.job.as_ref().expect("a job is under way")
    }

    /// A job begins; of packed units a row takes so many on average.
    pub fn begin_job(&mut self, job: Job, packed: Option<f64>) {
        self.sources.clear();
        self.next_source = 0;
        self.gathered.begin(packed);
        self.job = Some(job);
    }

    /// The job is given up: what it has read stays where it is.
    pub fn abandon_job(&mut self) {
        self.job = None;
        self.gathered.slots.clear();
    }

    /// The die's open blocks and what it owes, without its job and what failed: for a die that is made like it.
    pub(super) fn without_job(&self) -> DieState {
        DieState {
            job: None,
            sources: Vec::new(),
            next_source: 0,
            gathered: Gathered::default(),
            doomed: Vec::new(),
            ..self.clone()
        }
    }

    /// A job begins that is the restarted one of a die that this one is made like: units are packed as there.
    pub(super) fn restart_job(&mut self, job: Job, like: &DieState) {
        self.gathered.begin_like(&like.gathered);
        self.job = Some(job);
    }

    /// Blocks that are failing, the one that a job is emptying with them; the die forgets them.
    pub fn take_failing(&mut self) -> Vec<BlockId> {
        let retiring = self.job.as_ref().filter(|job| job.reason == Reason::Retiring).map(Job::victim);
        self.doomed.drain(..).chain(retiring).collect()
    }

    /// Smooth pace: a host row was written, and a job is due or under way: it gets its share of rows.
    pub fn owe(&mut self) {
        self.owed += self.owed_per_row;
    }

    /// Smooth pace: a row of the die's job was programmed.
    pub fn pay(&mut self) {
        self.owed = (self.owed - 1.0).max(0.0);
    }

    /// Smooth pace: the host has to wait for a row of the die's job.
    pub fn owes(&self) -> bool {
        self.owed >= 1.0
    }

    /// The victim's slots were listed; true where none is left to be moved, too.
    #[inline(always)]
    pub fn has_sources(&self) -> bool {
        !self.sources.is_empty()
    }

    /// Lists the slots of a victim that are valid, without a branch, which would be mispredicted at about
    /// every second slot. Lines of the map are fetched for the first `ahead`.
    pub fn list_sources(&mut self, mapping: &Mapping, slots: Range<u32>, ahead: usize) {
        self.sources.resize(slots.len(), Source { slot: NONE, lpn: NONE });
        let list = self.sources.as_mut_slice();
        let mut count = 0;
        for (slot, lpn) in slots.clone().zip(mapping.owners(slots)) {
            list[count] = Source { slot, lpn };
            count += usize::from(lpn != NONE);
        }
        self.sources.truncate(count);
        self.sources.iter().take(ahead + BATCH).for_each(|source| mapping.prefetch(Lpn(source.lpn)));
    }

    /// Units listed that come after the one that the job holds.
    #[inline(always)]
    pub fn sources_left(&self) -> usize {
        self.sources.len() - self.next_source as usize
    }

    /// The unit that the job holds, where it was listed.
    #[inline(always)]
    pub fn held_source(&self) -> Option<Source> {
        self.sources.get(self.next_source.wrapping_sub(1) as usize).copied()
    }

    /// The slot of the unit behind the one that the job holds and so many others.
    pub fn source_behind(&self, ahead: u32) -> Ppn {
        Ppn(self.sources[(self.next_source + ahead) as usize].slot)
    }

    /// The unit that the job holds and those behind it, so many in all, move; the job holds the one behind them. All
    /// are valid and lie in flash alone.
    #[inline(always)]
    pub fn move_sources(&mut self, mapping: &mut Mapping, count: u32, first: Ppn) {
        let held = self.next_source as usize - 1;
        let (moved, behind) = self.sources[held..].split_at(count as usize);
        let mut later = self.sources[held..].chunks(BATCH).skip(BATCHES_AHEAD);
        for (units, to) in moved.chunks(BATCH).zip((first.0..).step_by(BATCH)) {
            later.next().into_iter().flatten().for_each(|source| mapping.prefetch(Lpn(source.lpn)));
            units.iter().zip(to..).for_each(|(source, to)| mapping.move_unit(Lpn(source.lpn), Ppn(to)));
        }
        self.next_source += count;
        self.job.as_mut().expect("a job is under way").held = behind[0].slot;
    }

    /// The die's job has moved what was in a slot, whose record stays until the erase.
    pub fn has_moved(&self, geometry: &Geometry, ppn: Ppn) -> bool {
        let is_victim = |job: &Job| job.victim() == geometry.block(ppn) && job.held != ppn.0;
        let left = &self.sources[(self.next_source as usize).min(self.sources.len())..];
        let is_listed = left.len() < self.sources.len();
        is_listed && self.job.as_ref().is_some_and(is_victim) && left.iter().all(|source| source.slot != ppn.0)
    }

    /// Finds the next unit of the victim that is still valid, as all are while `all_valid`; the job holds
    /// it from then on. Lines of the map are fetched `ahead` moves ahead at least. Returns its slot.
    #[inline(always)]
    pub fn next_source(&mut self, mapping: &Mapping, ahead: usize, all_valid: bool) -> Option<Ppn> {
        while let Some(&Source { slot, lpn }) = self.sources.get(self.next_source as usize) {
            self.next_source += 1;
            if self.next_source.is_multiple_of(BATCH as u32) {
                let first = (self.next_source as usize + ahead).min(self.sources.len());
                let later = &self.sources[first..(first + BATCH).min(self.sources.len())];
                later.iter().for_each(|source| mapping.prefetch(Lpn(source.lpn)));
            }
            // The host may have overwritten it meanwhile. Of a unit in the buffer the map does not tell.
            if all_valid || mapping.leads_to(Lpn(lpn), Ppn(slot)) || mapping.owner(Ppn(slot)).is_some() {
                self.job.as_mut().expect("a job is under way").held = slot;
                return Some(Ppn(slot));
            }
        }
        None
    }
}
