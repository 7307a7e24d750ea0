//! The same drive once more, with all that is under way: to try several ends of one history.

use crate::nand::contents::Contents;
use crate::ssd::Ssd;

impl<C: Contents + Clone> Ssd<C> {
    /// A copy; `None` where the victim policy is somebody else's and cannot be copied.
    pub fn copy(&self) -> Option<Ssd<C>> {
        Some(Ssd {
            ftl: self.ftl.copy()?,
            shape: self.shape.clone(),
            now: self.now,
            arrivals: self.arrivals.clone(),
            commands: self.commands.clone(),
            link: self.link.clone(),
            buffer: self.buffer.clone(),
            pending: self.pending.clone(),
            journal: self.journal.clone(),
            dies: self.dies.clone(),
            power: self.power.clone(),
            row: self.row.clone(),
            idle_work: self.idle_work,
            rests: self.rests,
        })
    }
}
