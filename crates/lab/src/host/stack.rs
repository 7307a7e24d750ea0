//! A stack: drives and the layers over them, as one device.
//!
//! Layers are one linear list, bottom up. A layer that spreads over several devices, such as a
//! RAID, has all that lies below it as many times as it has members; one that takes a second drive
//! names it. So any tree of equal branches is one line.
//!
//! What the host wrote without time is counted here: the drives' own counters hold copies and
//! parity as well.

use super::registry::LayerPlan;
use super::text::StackError;
use ssdlab_device::block::{Busy, Completion, Device, LayerCounts, Limits, Operation, Request, Status, Tag};
use ssdlab_device::counters::Counters;
use ssdlab_device::units::{Lba, Nanos};

/// Makes the next drive of a stack: that at the bottom, or a named one.
pub type NextDrive<'a, E> = dyn FnMut(Option<&str>) -> Result<Box<dyn Device>, E> + 'a;

/// Builds the devices of a stack.
///
/// # Errors
/// A layer that does not fit what lies below it, and whatever `drive` has to say.
pub fn build<E: From<StackError>>(layers: &[LayerPlan], drive: &mut NextDrive<E>) -> Result<Box<dyn Device>, E> {
    let Some((top, rest)) = layers.split_last() else { return drive(None) };
    check_order(top, rest)?;
    let mut below = Vec::new();
    for _ in 0..top.config.copies() {
        below.push(build(rest, drive)?);
    }
    if let Some(name) = &top.drive {
        below.push(drive(Some(name))?);
    }
    Ok(top.config.build(below).map_err(|problem| top.locate(&problem))?)
}

/// Two of the same directly over each other do nothing but cost twice, unless they cut up what lies below.
fn check_order(top: &LayerPlan, rest: &[LayerPlan]) -> Result<(), StackError> {
    match rest.last() {
        Some(below) if below.kind.name == top.kind.name && !top.kind.repeats => {
            let message =
                format!("{0} lies directly over {0}, which makes no sense; take one of the two away", top.kind.name);
            Err(StackError::new(&top.place, message))
        }
        _ => Ok(()),
    }
}

/// A stack as the host sees it.
pub struct Stack {
    top: Box<dyn Device>,
    unit_bytes: u32,
    written_units: u64,
    read_only: bool,
}

impl Stack {
    /// A stack under its top device; `unit_bytes` is the largest mapping unit of its drives.
    pub fn new(top: Box<dyn Device>, unit_bytes: u32) -> Stack {
        let unit_bytes = unit_bytes.next_multiple_of(top.limits().sector_bytes);
        Stack { top, unit_bytes, written_units: 0, read_only: false }
    }

    /// Bytes of a mapping unit.
    pub fn unit_bytes(&self) -> u32 {
        self.unit_bytes
    }

    /// Units that the host touched by writes without time, one per unit and request.
    pub fn written_units(&self) -> u64 {
        self.written_units
    }

    /// A write without time was refused.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }
}

impl Device for Stack {
    fn limits(&self) -> &Limits {
        self.top.limits()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) -> Result<(), Busy> {
        self.top.submit(now, tag, request)
    }

    fn next_event(&self) -> Option<Nanos> {
        self.top.next_event()
    }

    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        self.top.advance(to, done)
    }

    fn hint(&self, lba: Lba) {
        self.top.hint(lba);
    }

    fn hint_write(&self, lba: Lba) {
        self.top.hint_write(lba);
    }

    fn counters(&mut self) -> Counters {
        self.top.counters()
    }

    fn is_faulty(&self) -> bool {
        self.top.is_faulty()
    }

    fn apply_now(&mut self, request: Request) -> Status {
        if request.operation == Operation::Write {
            let unit = u64::from(self.unit_bytes / self.limits().sector_bytes);
            let end = request.lba.0 + u64::from(request.sectors);
            self.written_units += end.div_ceil(unit) - request.lba.0 / unit;
        }
        let status = self.top.apply_now(request);
        self.read_only |= status == Status::WriteProtected;
        status
    }

    fn prepare_now(&mut self) {
        self.top.prepare_now();
    }

    fn layers(&mut self) -> LayerCounts {
        self.top.layers()
    }

    fn cut_power(&mut self, now: Nanos) {
        self.top.cut_power(now);
    }
}
