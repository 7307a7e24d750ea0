//! Writing dirty lines back, in the order of addresses.

use super::lines::stretches;
use super::{BACKING, Destage, FlashCache, Job, SSD};
use crate::host::stacked::Work;
use ssdlab_device::block::{Operation, Request, Status};
use ssdlab_device::units::Lba;

impl FlashCache {
    fn dirty_limit(&self) -> usize {
        (self.config.dirty_share * self.slots as f64) as usize
    }

    /// Begins to write back what has to be.
    pub(super) fn destage(&mut self, work: &mut Work) {
        while self.destaging.len() < self.config.destage_depth as usize
            && (self.idle || self.dirty.len() > self.dirty_limit())
        {
            let Some(line) = self.next_dirty() else { return };
            let held = self.lines.get_mut(line).expect("dirty lines are held");
            held.destaging = std::mem::take(&mut held.dirty);
            self.dirty.remove(&line);
            self.hand = line + 1;
            self.ask_all(line, false, work);
        }
    }

    /// The next dirty line upwards that is not being written back, or the first one.
    fn next_dirty(&self) -> Option<u64> {
        let from_hand = self.dirty.range(self.hand..).chain(self.dirty.range(..self.hand));
        from_hand.copied().find(|line| !self.destaging.contains_key(line))
    }

    /// Reads the sectors from the SSD, or writes them below, durably: then they are clean.
    fn ask_all(&mut self, line: u64, writing: bool, work: &mut Work) {
        let held = *self.lines.get(line).expect("a line being written back is held");
        let (device, base) = if writing { (BACKING, line) } else { (SSD, held.slot) };
        let operation = if writing { Operation::Write } else { Operation::Read };
        let parts: Vec<(u64, u64)> = stretches(held.destaging).collect();
        self.destaging.insert(line, Destage { open: parts.len() as u32, writing });
        for (first, sectors) in parts {
            let lba = Lba(base * self.line_sectors + first);
            let request = Request { fua: writing, ..Request::new(operation, lba, sectors as u32) };
            self.ask(device, request, Job::Destage { line }, work);
        }
    }

    pub(super) fn destage_answered(&mut self, line: u64, status: Status, work: &mut Work) {
        self.counts.failed_destages += u64::from(status != Status::Success);
        let Some(destage) = self.destaging.get_mut(&line) else { return };
        destage.open -= 1;
        if destage.open > 0 {
            return;
        }
        if !destage.writing {
            return self.ask_all(line, true, work);
        }
        self.destaging.remove(&line);
        let held = self.lines.get_mut(line).expect("a line being written back is held");
        self.counts.destaged_sectors += u64::from(held.destaging.count_ones());
        held.destaging = 0;
    }

    /// Writes back without time, down to the limit.
    pub(super) fn destage_now(&mut self, work: &mut Work) {
        while self.dirty.len() > self.dirty_limit() {
            let Some(line) = self.next_dirty() else { return };
            self.dirty.remove(&line);
            self.hand = line + 1;
            let held = self.lines.get_mut(line).expect("dirty lines are held");
            let dirty = std::mem::take(&mut held.dirty);
            self.counts.destaged_sectors += u64::from(dirty.count_ones());
            for (first, sectors) in stretches(dirty) {
                let lba = Lba(line * self.line_sectors + first);
                let request = Request { fua: true, ..Request::new(Operation::Write, lba, sectors as u32) };
                work.apply_now(BACKING, request);
            }
        }
    }
}
