//! What a policy of one's own chooses besides victims: the free block that is opened, and the stream of each unit.

use crate::config::DriveConfig;
use crate::ftl::Ftl;
use crate::ftl::frontier::Purpose;
use crate::ftl::invalidations::Invalidations;
use crate::ftl::job::Reason;
use crate::ftl::mapping::Place;
use crate::ftl::pool::Group;
use crate::ftl::rules::Rules;
use crate::ftl::streams::Streams;
use crate::ftl::victim::Candidates;
use crate::nand::contents::Contents;
use crate::parameter::{Problem, Value as _};
use crate::units::{BlockId, DieId, Lpn, Ppn};
use ssdlab_policy::{NO_STREAM, Unit, VERSION};

impl<C: Contents> Ftl<C> {
    /// Makes room for what the policy keeps apart and wants to see, unless a drive that was read has it already.
    ///
    /// # Errors
    /// The drive cannot have streams, or not so many.
    pub(super) fn begin_policy(&mut self, config: &DriveConfig) -> Result<(), Problem> {
        let (groups, streams) = (self.blocks.all_groups().count() as u32, self.rules.policy.streams());
        self.kind.separates = streams > 1;
        self.kind.notes_invalidations = self.rules.policy.sees_invalidations();
        if self.kind.notes_invalidations && self.blocks.invalidations.times().is_empty() {
            self.blocks.invalidations = Invalidations::new(groups);
        }
        if self.blocks.streams.count() != streams {
            self.check_streams(config, streams)?;
            self.blocks.streams = Streams::new(streams, self.geometry.dies, groups);
        }
        self.find_short_ways();
        Ok(())
    }

    fn check_streams(&self, config: &DriveConfig, streams: u32) -> Result<(), Problem> {
        let problem = |wrong: String| Err(Problem::new("ftl.gc", config.ftl.gc.show(), wrong));
        if self.geometry.packing > 1 || self.blocks.span_dies() {
            return problem(format!(
                "it keeps {streams} streams apart, and this drive compresses, or has superblocks\n\
                 take a drive without compression and with ftl.striping=per-die"
            ));
        }
        let purposes = if self.kind.single_frontier { 1 } else { 2 };
        let needed = i64::from(self.geometry.dies * purposes * (streams - 1));
        let spare = self.spare_blocks();
        if spare < needed {
            return problem(format!(
                "it keeps {streams} streams apart, for which {needed} more blocks stay open, and {spare} are spare\n\
                 raise over_provisioning, or take more and smaller blocks"
            ));
        }
        Ok(())
    }

    /// Asks the policy about a pool.
    pub(super) fn ask<A>(&mut self, pool: usize, question: impl FnOnce(&mut Rules, &Candidates<'_>) -> A) -> A {
        let (groups, array, width) = (&self.blocks.groups, &self.flash.array, self.blocks.width);
        let (invalidations, streams) = (&self.blocks.invalidations, &self.blocks.streams);
        let candidates = Candidates { groups, pool, array, width, invalidations, streams };
        question(&mut self.rules, &candidates)
    }

    /// The free group that the policy opens next, where it chooses and there is one.
    pub(super) fn policy_opens(&mut self, die: DieId, purpose: Purpose) -> Option<Group> {
        let pool = self.blocks.pool_of(die);
        if self.blocks.groups.free(pool) == 0 {
            return None;
        }
        self.ask(pool, |rules, candidates| rules.pick_free(candidates, purpose == Purpose::Leveling))
    }

    /// Streams are kept apart.
    #[inline(always)]
    pub fn separates(&self) -> bool {
        self.kind.separates
    }

    /// Streams are kept apart, and a row is several units: it is to be gathered of one stream.
    #[inline(always)]
    pub fn gathers_streams(&self) -> bool {
        self.kind.separates && !self.kind.one_unit_rows
    }

    /// A unit of the host is to be written to this die next: the die's frontier becomes that of its stream.
    #[inline(always)]
    pub fn meet_unit(&mut self, die: DieId, lpn: Lpn) {
        if self.kind.separates {
            self.separate(die, lpn);
        }
    }

    #[cold]
    fn separate(&mut self, die: DieId, lpn: Lpn) {
        let stream = self.stream_of_write(lpn);
        self.select(die, Purpose::Host, stream);
    }

    /// The stream of a unit of the host that is to be written.
    pub fn stream_of_write(&mut self, lpn: Lpn) -> u32 {
        let unit = self.unit(lpn, false);
        let policy = &mut self.rules.policy;
        // The drive's own units, such as pages of the map's journal, are no policy's business.
        if lpn.0 < self.exported { self.blocks.streams.of_next(lpn, || policy.stream(&unit)) } else { 0 }
    }

    /// The stream of a die's open block; none of one that has no streams.
    pub fn open_stream(&self, die: DieId, purpose: Purpose) -> Option<u32> {
        (purpose == Purpose::Host).then(|| self.blocks.streams.current(die, purpose))
    }

    /// A die's job is to program what it holds: the frontier becomes that of the stream.
    #[cold]
    pub(super) fn meet_copy(&mut self, die: DieId, reason: Reason) {
        if reason == Reason::Leveling {
            return;
        }
        let stream = if self.kind.one_unit_rows {
            let held = Ppn(self.die(die).job().held);
            if self.mapping.owner(held).is_none() {
                return;
            }
            self.stream_of_copy(held)
        } else {
            self.blocks.streams.next_row(die, self.geometry.units_per_row)
        };
        self.select(die, self.destination(), stream);
    }

    /// The stream of a unit that a job moves.
    fn stream_of_copy(&mut self, from: Ppn) -> u32 {
        let Some(lpn) = self.mapping.owner(from).filter(|lpn| lpn.0 < self.exported) else { return 0 };
        let unit = self.unit(lpn, true);
        self.rules.policy.stream(&unit)
    }

    /// Asks for the streams of what a die's job has gathered since; of cold data all go together.
    #[cold]
    pub(super) fn ask_gathered(&mut self, die: DieId) {
        let is_asked = self.die(die).job().reason != Reason::Leveling;
        for place in self.blocks.streams.gathered(die).len()..self.die(die).gathered.slots.len() {
            let slot = Ppn(self.die(die).gathered.slots[place]);
            let stream = if is_asked { self.stream_of_copy(slot) } else { 0 };
            self.blocks.streams.gathered(die).push(stream as u8);
        }
    }

    /// Of what a die's job has gathered the row that comes next goes to the front; returns how many units may be in it.
    #[cold]
    pub(super) fn bring_row_forward(&mut self, die: DieId, slots: &mut Vec<u32>) -> usize {
        let streams = &mut self.blocks.streams;
        let stream = streams.next_row(die, self.geometry.units_per_row);
        streams.bring_forward(die, stream, slots)
    }

    /// What a policy sees of a unit.
    fn unit(&self, lpn: Lpn, is_copy: bool) -> Unit {
        let slot = match self.mapping.place(lpn) {
            Place::Flash(ppn) => Some(ppn),
            Place::Buffer(slot) => self.mapping.shadow(slot),
            Place::Unmapped => None,
        };
        let group = slot.map(|ppn| self.blocks.group_of(self.geometry.block(ppn)));
        let stream = group.map_or(NO_STREAM, |group| self.blocks.streams.of(group));
        Unit {
            version: VERSION,
            unit: lpn.0,
            is_copy: u32::from(is_copy),
            stream,
            written: self.blocks.invalidations.written(),
        }
    }

    fn select(&mut self, die: DieId, purpose: Purpose, stream: u32) {
        let frontier = self.dies[usize::from(die.0)].frontier_mut(purpose);
        self.blocks.streams.select(frontier, die, purpose, stream);
    }

    /// Where no block is free for a stream, the die's open block of another.
    pub(super) fn any_stream(&mut self, die: DieId, purpose: Purpose) -> Option<DieId> {
        let stream = self.blocks.streams.with_room(die, purpose)?;
        self.select(die, purpose, stream);
        Some(die)
    }

    /// Rows left in the parked frontiers of a die; with superblocks there are none.
    pub(super) fn parked_rows(&self, die: DieId, purpose: Purpose) -> u32 {
        if !self.kind.separates {
            return 0;
        }
        self.blocks.streams.parked(die).filter(|(of, _)| *of == purpose).map(|(_, each)| each.rows_left()).sum()
    }

    /// The host has written a unit, whose old slot is invalid by that.
    #[cold]
    pub(super) fn note_write(&mut self, lpn: Lpn, old: Option<Ppn>) {
        self.blocks.invalidations.write();
        self.blocks.streams.written(lpn);
        if let Some(old) = old {
            self.note_invalidation(self.geometry.block(old));
        }
    }

    /// A unit of a block was overwritten or trimmed.
    #[inline(always)]
    pub(super) fn note_invalidation(&mut self, block: BlockId) {
        if self.kind.notes_invalidations {
            self.blocks.invalidations.note(self.blocks.group_of(block));
        }
    }
}
