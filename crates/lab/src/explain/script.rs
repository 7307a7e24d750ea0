//! What the host does to the drive, chapter by chapter, so that every mechanism shows once.
//!
//! Numbers of units follow from the drive's; when collection or wear levelling begins is the drive's own
//! affair: the script writes on until it does, and tells what came before as one step.

use super::recorder::{Happening, Recorder, Records, Step};
use crate::workload::random::{Purpose, Stream};
use ssdlab_device::block::{Operation, Request, Status};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::Lba;

/// Writes told as one step at most.
const TOGETHER: u32 = 64;
/// Writes after which a chapter ends, whatever has happened.
const MOST_WRITES: u32 = 4096;
/// The first writes and overwrites, each a step of its own.
const FIRST_WRITES: u32 = 4;
/// The unit before whose end a misaligned write begins: with eight sectors a unit at sector 63, where
/// the first partition began under DOS.
const BEFORE_BOUNDARY: u32 = 7;

/// The drive under the script, and what was recorded.
pub struct Script {
    recorder: Recorder,
    steps: Vec<Step>,
    units: u32,
    sectors: u32,
    draws: Stream,
}

impl Script {
    /// A script for a drive fresh out of the box.
    pub fn new(drive: Ssd<Records>) -> Script {
        Script {
            units: drive.ftl.exported,
            sectors: drive.unit_bytes() / drive.config().export.sector_bytes,
            recorder: Recorder::new(drive),
            steps: Vec::new(),
            draws: Stream::new(1, Purpose::Address),
        }
    }

    /// All chapters.
    ///
    /// # Errors
    /// How a command ended that the drive refused.
    pub fn perform(mut self) -> Result<Vec<Step>, Status> {
        self.steps.push(self.recorder.here("write", 0));
        self.writes()?;
        self.overwrites()?;
        self.misaligned_writes()?;
        let all = self.units;
        let collects = |happening: &Happening| matches!(happening, Happening::Victim { .. });
        self.write_until("collection", MOST_WRITES, |draws| draws.below(u64::from(all)) as u32, collects)?;
        self.trim()?;
        self.wear()?;
        Ok(self.steps)
    }

    /// Units in order, the first each alone.
    fn writes(&mut self) -> Result<(), Status> {
        for unit in 0..FIRST_WRITES {
            self.tell("write", self.whole(Operation::Write, unit, 1))?;
        }
        let rest = self.units - FIRST_WRITES;
        for unit in FIRST_WRITES..self.units {
            self.recorder.carry_out("write", self.whole(Operation::Write, unit, 1))?;
        }
        self.steps.push(self.recorder.here("write", rest));
        Ok(())
    }

    /// One unit again and again, then another.
    fn overwrites(&mut self) -> Result<(), Status> {
        for unit in [2, 2, self.units / 2] {
            self.tell("overwrite", self.whole(Operation::Write, unit, 1))?;
        }
        Ok(())
    }

    /// One unit's worth of data on a boundary of units, and the same a sector before it.
    fn misaligned_writes(&mut self) -> Result<(), Status> {
        let boundary = u64::from((BEFORE_BOUNDARY + 1) * self.sectors);
        for start in [boundary, boundary - 1] {
            self.tell("misaligned", Request::new(Operation::Write, Lba(start), self.sectors))?;
        }
        Ok(())
    }

    /// A quarter of the units is trimmed; then the rest is written until a block is collected, which may hold
    /// nothing valid any more, and until one that does.
    fn trim(&mut self) -> Result<(), Status> {
        let (first, quarter) = (self.units / 2, self.units / 4);
        self.tell("trim", self.whole(Operation::Trim, first, quarter))?;
        let kept = self.units - quarter;
        let draw = move |draws: &mut Stream| match draws.below(u64::from(kept)) as u32 {
            unit if unit < first => unit,
            unit => unit + quarter,
        };
        let erases = |happening: &Happening| matches!(happening, Happening::Victim { .. } | Happening::Erase { .. });
        self.write_until("trim", MOST_WRITES, draw, erases)?;
        let collects = |happening: &Happening| matches!(happening, Happening::Victim { .. });
        self.write_until("trim", MOST_WRITES, draw, collects).map(drop)
    }

    /// An eighth of the units is written over and over until wear levelling moves what lies still; then on.
    fn wear(&mut self) -> Result<(), Status> {
        let hot = u64::from(self.units / 8);
        let levels = |happening: &Happening| matches!(happening, Happening::Victim { reason: "leveling", .. });
        if self.write_until("wear", MOST_WRITES, |draws| draws.below(hot) as u32, levels)? {
            self.write_until("wear", TOGETHER, |draws| draws.below(hot) as u32, |_| false)?;
        }
        Ok(())
    }

    fn whole(&self, operation: Operation, unit: u32, units: u32) -> Request {
        Request::new(operation, Lba(u64::from(unit) * u64::from(self.sectors)), units * self.sectors)
    }

    /// A command event by event.
    fn tell(&mut self, chapter: &'static str, request: Request) -> Result<(), Status> {
        let told = self.recorder.carry_out(chapter, request)?;
        self.steps.extend(told);
        Ok(())
    }

    /// Writes drawn units, many to a step, until one of them does what is waited for: that one is told
    /// event by event. False where none did.
    fn write_until(
        &mut self,
        chapter: &'static str,
        most: u32,
        mut draw: impl FnMut(&mut Stream) -> u32,
        is_it: impl Fn(&Happening) -> bool,
    ) -> Result<bool, Status> {
        let (mut together, mut summed) = (0, None);
        for _ in 0..most {
            let unit = draw(&mut self.draws);
            let before = self.recorder.here(chapter, together);
            let told = self.recorder.carry_out(chapter, self.whole(Operation::Write, unit, 1))?;
            if told.iter().flat_map(|step| &step.happened).any(&is_it) {
                self.steps.extend((together > 0).then_some(before));
                self.steps.extend(told);
                return Ok(true);
            }
            together += 1;
            summed = Some(self.recorder.here(chapter, together));
            if together == TOGETHER {
                self.steps.extend(summed.take());
                together = 0;
            }
        }
        self.steps.extend(summed);
        Ok(false)
    }
}
