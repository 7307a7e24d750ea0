//! What a session works on: one drive, or a stack of drives and layers.
//!
//! A drive alone keeps its own path: the run loop compiled for it, hints that reach its map, and a
//! layout that knows what is mapped. A stack is asked through the waist only; what can be known of
//! its drives is summed up over them.

use super::SessionError;
use crate::condition::scale_model::{Outcome, season_by_model};
use crate::condition::{Condition, Season, lay_out, lay_out_whole, season};
use crate::derived;
use crate::describe::Wear;
use crate::host::drive::Drive;
use crate::host::registry::LayerPlan;
use crate::host::shared::Shared;
use crate::host::stack::{Stack, build};
use crate::iolog::Logged;
use crate::run::{Observer, Record, RunError, RunOptions, run};
use crate::workload::generate::JobError;
use crate::workload::job::Job;
use serde_json::Value;
use ssdlab_device::block::Device;
use ssdlab_device::ftl::spare::Shortage;
use ssdlab_device::ssd::Ssd;
use std::cell::RefCell;
use std::rc::Rc;

/// Opens the drive of that number: the one at the bottom, or a named one; gives it with its name.
pub type OpenDrive<'a> = dyn FnMut(u64, Option<&str>) -> Result<(Drive, String), SessionError> + 'a;

/// One drive, or a stack.
pub enum Target {
    /// A drive.
    Drive(Drive),
    /// Layers over drives.
    Stack {
        /// What the host sees.
        stack: Stack,
        /// Its drives, the one at the bottom first.
        drives: Vec<Rc<RefCell<Drive>>>,
    },
}

/// From which condition into which, and how.
#[derive(Clone, Copy)]
pub struct Way<'a> {
    /// The condition at the beginning.
    pub from: Condition,
    /// The one at the end.
    pub to: Condition,
    /// Jobs whose writes make steady by the job; of uniform writes they only decide how far they compress.
    pub jobs: &'a [Job],
    /// Share of the exported range.
    pub span: f64,
    /// The source of chance.
    pub seed: u64,
    /// A scale model may be used.
    pub by_scale_model: bool,
}

impl Way<'_> {
    /// The way is one that a scale model can take.
    fn may_be_scaled(&self) -> bool {
        self.by_scale_model && self.to.is_steady() && self.from == Condition::Fresh
    }
}

/// The seed of a drive of a stack; that of the first is the run's, as without layers.
pub fn seed_of(seed: u64, number: u64) -> u64 {
    seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Counts that utilization is divided by.
#[derive(Default)]
pub struct Shape {
    /// Drives.
    pub drives: u32,
    /// Channels of all drives.
    pub channels: u32,
    /// Dies of all drives.
    pub dies: u32,
}

impl Target {
    /// A stack of drives that `open` opens.
    ///
    /// # Errors
    /// A layer that does not fit what lies below it, and what `open` has to say.
    pub fn stack(layers: &[LayerPlan], open: &mut OpenDrive) -> Result<Target, SessionError> {
        let mut drives: Vec<Rc<RefCell<Drive>>> = Vec::new();
        let top = build::<SessionError>(layers, &mut |name| {
            let (drive, name) = open(drives.len() as u64, name)?;
            let (shared, kept) = Shared::new(drive, &name);
            drives.push(kept);
            Ok(Box::new(shared))
        })?;
        let unit_bytes = drives.iter().map(|drive| drive.borrow().unit_bytes()).max().unwrap_or_default();
        Ok(Target::Stack { stack: Stack::new(top, unit_bytes), drives })
    }

    /// What the host sees.
    pub fn device(&self) -> &dyn Device {
        match self {
            Target::Drive(drive) => drive.device(),
            Target::Stack { stack, .. } => stack,
        }
    }

    /// As [`Target::device`], to ask it.
    pub fn device_mut(&mut self) -> &mut dyn Device {
        match self {
            Target::Drive(drive) => drive,
            Target::Stack { stack, .. } => stack,
        }
    }

    /// Looks at the drive, of a stack at the first one.
    pub fn with_first<R>(&self, look: impl FnOnce(&Drive) -> R) -> R {
        match self {
            Target::Drive(drive) => look(drive),
            Target::Stack { drives, .. } => look(&drives[0].borrow()),
        }
    }

    /// As [`Target::with_first`], to change it.
    pub fn with_first_mut<R>(&mut self, change: impl FnOnce(&mut Drive) -> R) -> R {
        match self {
            Target::Drive(drive) => change(drive),
            Target::Stack { drives, .. } => change(&mut drives[0].borrow_mut()),
        }
    }

    /// Looks at every drive.
    pub fn each(&self, mut look: impl FnMut(&Drive)) {
        match self {
            Target::Drive(drive) => look(drive),
            Target::Stack { drives, .. } => drives.iter().for_each(|drive| look(&drive.borrow())),
        }
    }

    /// At least one drive is no hard disk.
    pub fn has_flash(&self) -> bool {
        let mut has_flash = false;
        self.each(|drive| has_flash |= drive.ssd().is_some());
        has_flash
    }

    /// Erase counts and bad blocks of all drives together; null where there is no flash.
    pub fn wear(&self) -> Value {
        let mut wear = Wear::default();
        self.each(|drive| drive.ssd().into_iter().for_each(|ssd| wear.add(ssd)));
        if self.has_flash() { wear.to_json() } else { Value::Null }
    }

    /// Drives, channels and dies.
    pub fn shape(&self) -> Shape {
        let mut shape = Shape::default();
        self.each(|drive| {
            let (channels, dies) = drive.ssd().map_or((0, 0), Ssd::shape);
            shape.drives += 1;
            shape.channels += channels;
            shape.dies += dies;
        });
        shape
    }

    /// What a drive that takes no more writes has too little of.
    pub fn shortage(&self) -> Option<Shortage> {
        let mut shortage = None;
        self.each(|drive| shortage = shortage.or(drive.ssd().and_then(|ssd| ssd.ftl.spare.shortage())));
        shortage
    }

    /// What was wrong with an answer of a drive's victim policy.
    ///
    /// # Errors
    /// That, where something was.
    pub fn check_policies(&self) -> Result<(), SessionError> {
        let mut fault = None;
        self.each(|drive| {
            fault = fault.take().or(drive.ssd().and_then(|ssd| ssd.ftl.policy_fault().map(str::to_string)));
        });
        fault.map_or(Ok(()), |fault| Err(SessionError::Policy(fault)))
    }

    /// What follows from the parameters; of a stack, what its host sees, and then the drive at the bottom.
    pub fn derived(&self) -> Vec<Value> {
        let of_drive = self.with_first(derived::of_drive);
        match self {
            Target::Drive(_) => of_drive,
            Target::Stack { stack, drives } => [derived::of_stack(stack, drives.len()), of_drive].concat(),
        }
    }

    /// Does what setting up the layers writes.
    pub fn prepare(&mut self) {
        if let Target::Stack { stack, .. } = self {
            stack.prepare_now();
        }
    }

    /// Bytes below which a write costs as much as a whole.
    pub fn unit_bytes(&self) -> u32 {
        match self {
            Target::Drive(drive) => drive.unit_bytes(),
            Target::Stack { stack, .. } => stack.unit_bytes(),
        }
    }

    /// Brings it from one condition into a later one.
    ///
    /// # Errors
    /// A job that does not fit.
    pub fn season(&mut self, way: &Way, observer: &mut dyn Observer) -> Result<Season, Box<JobError>> {
        match self {
            Target::Drive(drive) => season_drive(drive, way, observer),
            Target::Stack { drives, .. } if way.to == Condition::SteadyUniform => season_each(drives, way, observer),
            Target::Stack { stack, .. } => {
                let season = season(stack, way.from, way.to, way.jobs, way.span, way.seed, observer)?;
                let refused = way.may_be_scaled().then(|| "layers lie over the drive".into());
                Ok(Season { refused, ..season })
            }
        }
    }

    /// Writes what read jobs will read; returns the bytes.
    pub fn lay_out(&mut self, regions: &[(usize, u64, u64)]) -> u64 {
        match self {
            Target::Drive(Drive::Ssd(ssd)) => lay_out(ssd, regions),
            // All of a disk can be read at any time.
            Target::Drive(Drive::Hdd(_)) => 0,
            Target::Stack { stack, .. } => lay_out_whole(stack, regions),
        }
    }

    /// Runs jobs, and logs the requests where `log` names the device for it.
    ///
    /// # Errors
    /// A job that does not fit.
    pub fn run(
        &mut self,
        jobs: &[Job],
        options: &RunOptions,
        log: Option<&str>,
        observer: &mut dyn Observer,
    ) -> Result<(Record, Option<String>), RunError> {
        match self {
            Target::Drive(Drive::Ssd(ssd)) => run_logged(ssd.as_mut(), jobs, options, log, observer),
            Target::Drive(Drive::Hdd(hdd)) => run_logged(hdd.as_mut(), jobs, options, log, observer),
            Target::Stack { stack, .. } => run_logged(stack, jobs, options, log, observer),
        }
    }
}

/// Brings one drive into a condition: into steady state by a scale model where one is allowed and holds.
fn season_drive(drive: &mut Drive, way: &Way, observer: &mut dyn Observer) -> Result<Season, Box<JobError>> {
    let Drive::Ssd(ssd) = drive else { return Ok(Season::default()) };
    let mut refused = None;
    if way.may_be_scaled() {
        let jobs = if way.to == Condition::SteadyUniform { &[] } else { way.jobs };
        match season_by_model(ssd, jobs, way.span, way.seed, observer)? {
            Outcome::Taken(season) => return Ok(season),
            Outcome::Refused(reason) => refused = Some(reason),
        }
    }
    let season = season(ssd.as_mut(), way.from, way.to, way.jobs, way.span, way.seed, observer)?;
    Ok(Season { refused, ..season })
}

/// Brings each drive of a stack into a condition; tells of the first one how it went, and whether all got there.
fn season_each(drives: &[Rc<RefCell<Drive>>], way: &Way, observer: &mut dyn Observer) -> Result<Season, Box<JobError>> {
    let mut seasons: Vec<Season> = Vec::new();
    for (number, drive) in drives.iter().enumerate().filter(|(_, drive)| drive.borrow().ssd().is_some()) {
        let way = Way { seed: seed_of(way.seed, number as u64), ..*way };
        let season = season_drive(&mut drive.borrow_mut(), &way, observer)?;
        let interrupted = season.interrupted;
        seasons.push(season);
        if interrupted {
            break;
        }
    }
    let interrupted = seasons.iter().any(|season| season.interrupted);
    let reached = seasons.iter().all(|season| season.steady_reached == Some(true));
    // Of drives that differ the one that fell short says why.
    let told = seasons.iter().position(|season| season.steady_reached == Some(false)).unwrap_or(0);
    Ok(Season { interrupted, steady_reached: Some(reached), ..seasons.swap_remove(told) })
}

fn run_logged<D: Device>(
    device: &mut D,
    jobs: &[Job],
    options: &RunOptions,
    log: Option<&str>,
    observer: &mut dyn Observer,
) -> Result<(Record, Option<String>), RunError> {
    let Some(name) = log else { return Ok((run(device, jobs, options, observer)?, None)) };
    let mut logged = Logged::new(device, name);
    let record = run(&mut logged, jobs, options, observer)?;
    Ok((record, Some(logged.into_text())))
}
