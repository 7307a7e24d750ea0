//! Commands that are not queued: alone in the drive.
//!
//! NCQ carries reads and writes, and since SATA 3.1 trims. A command that it does not carry waits until
//! the queue has drained, and what comes behind it waits for its end. On SATA that is every flush (FLUSH
//! CACHE EXT), and with `link.trim_queued = false` every trim. NVMe queues both.

use crate::nand::contents::Contents;
use crate::ssd::Ssd;

impl<C: Contents> Ssd<C> {
    /// A command has come: whether it is kept back for now.
    pub(super) fn is_held(&mut self, index: u32) -> bool {
        let others = self.front.outstanding - 1 - self.front.held.len() as u32;
        let front = &mut self.front;
        let goes_alone = self.times.goes_alone[front.commands[index as usize].request.operation as usize];
        if front.alone.is_some() || !front.held.is_empty() || goes_alone && others > 0 {
            front.held.push_back(index);
            return true;
        }
        front.alone = goes_alone.then_some(index);
        false
    }

    /// A command has ended: those kept back go on, up to the next that has to be alone.
    pub(super) fn release_held(&mut self, ended: u32) {
        if self.front.alone == Some(ended) {
            self.front.alone = None;
        }
        while self.front.alone.is_none()
            && let Some(&index) = self.front.held.front()
        {
            let request = self.front.commands[index as usize].request;
            let goes_alone = self.times.goes_alone[request.operation as usize];
            if goes_alone && self.front.outstanding > self.front.held.len() as u32 {
                return;
            }
            self.front.held.pop_front();
            self.front.alone = goes_alone.then_some(index);
            self.issue(index, request);
        }
    }
}
