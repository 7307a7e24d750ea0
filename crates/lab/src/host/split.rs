//! A small SSD for the system beside a disk for data: one device after the other.
//!
//! Modelled: the first `first_bytes` lie on the device below, what follows on the second drive; a
//! request over the border is two. As a partition for the system and one for data, or LVM's linear
//! mapping. Left out: what decides which file lies where; that is the workload's.

use super::layer::LayerConfig;
use super::stacked::{Answer, Layer, Stacked, Work};
use ssdlab_device::block::{Device, Limits, Operation, Request, Status, Tag};
use ssdlab_device::parameter::{Bytes, Problem};
use ssdlab_device::section;
use ssdlab_device::units::Lba;
use std::collections::BTreeMap;

section! {
    /// How much lies on the first device.
    pub struct SplitConfig in "split." {
        first_bytes: Option<Bytes> ["B"] {512 .. 1e18} = "\"none\"", "Bytes on the device below, with the rest on the second drive; none means all of the device below, then all of the second.";
    }
}

impl LayerConfig for SplitConfig {
    fn build(&self, mut below: Vec<Box<dyn Device>>) -> Result<Box<dyn Device>, Problem> {
        let second = below.remove(1);
        Ok(Box::new(new(self, below.remove(0), second)?))
    }
}

/// Two devices, one after the other.
///
/// # Errors
/// Sectors that differ, and a first part that is no whole number of sectors or larger than its device.
pub fn new(config: &SplitConfig, first: Box<dyn Device>, second: Box<dyn Device>) -> Result<Stacked<Split>, Problem> {
    let (sector, sectors) = (u64::from(first.limits().sector_bytes), first.limits().sectors);
    if u64::from(second.limits().sector_bytes) != sector {
        let message = format!(
            "the device below has sectors of {sector} B and the second drive of {}; take drives with the same",
            second.limits().sector_bytes
        );
        return Err(Problem::new("split.drive", "", message));
    }
    let bytes = config.first_bytes.map_or(sectors * sector, |Bytes(bytes)| bytes);
    if !bytes.is_multiple_of(sector) || bytes > sectors * sector {
        let message = format!("a whole number of sectors of {sector} B, at most {} B", sectors * sector);
        return Err(Problem::new("split.first_bytes", bytes, message));
    }
    Ok(Stacked::new(Split { border: bytes / sector, open: BTreeMap::new() }, vec![first, second]))
}

/// Where one device ends and the other begins.
#[derive(Debug)]
pub struct Split {
    border: u64,
    /// Answers that are to come, and the worst so far.
    open: BTreeMap<Tag, (u32, Status)>,
}

impl Split {
    fn pieces(&self, request: Request) -> Vec<(usize, Request)> {
        let (start, end) = (request.lba.0, request.lba.0 + u64::from(request.sectors));
        if request.operation == Operation::Flush {
            return vec![(0, request), (1, request)];
        }
        if end <= self.border {
            return vec![(0, request)];
        }
        let second = |start: u64| Request { lba: Lba(start - self.border), sectors: (end - start) as u32, ..request };
        if start >= self.border {
            return vec![(1, second(start))];
        }
        let first = Request { sectors: (self.border - start) as u32, ..request };
        vec![(0, first), (1, second(self.border))]
    }
}

impl Layer for Split {
    fn name(&self) -> String {
        "split".into()
    }

    fn limits(&self, below: &[Limits]) -> Limits {
        Limits {
            sectors: self.border + below[1].sectors,
            queue_depth: below[0].queue_depth.max(below[1].queue_depth),
            discard_granularity_bytes: below[0].discard_granularity_bytes.max(below[1].discard_granularity_bytes),
            volatile_cache: below.iter().any(|device| device.volatile_cache),
            optimal_io_bytes: below[0].optimal_io_bytes.max(below[1].optimal_io_bytes),
            ..below[0].clone()
        }
    }

    fn begin(&mut self, tag: Tag, request: Request, work: &mut Work) {
        let pieces = self.pieces(request);
        self.open.insert(tag, (pieces.len() as u32, Status::Success));
        for (device, piece) in pieces {
            work.ask(device, piece, u64::from(tag.0));
        }
    }

    fn answered(&mut self, answer: Answer, work: &mut Work) {
        let tag = Tag(answer.token as u32);
        let Some((open, worst)) = self.open.get_mut(&tag) else { return };
        *open -= 1;
        if answer.status != Status::Success {
            *worst = answer.status;
        }
        let (open, status) = (*open, *worst);
        if open == 0 {
            self.open.remove(&tag);
            work.finish(tag, status);
        }
    }

    fn apply_now(&mut self, request: Request, work: &mut Work) -> Status {
        let pieces = self.pieces(request).into_iter();
        let all = pieces.map(|(device, piece)| work.apply_now(device, piece));
        all.fold(Status::Success, Status::or)
    }

    fn lose_power(&mut self) {
        self.open.clear();
    }

    fn below_of(&self, lba: Lba) -> Option<(usize, Lba)> {
        Some(if lba.0 < self.border { (0, lba) } else { (1, Lba(lba.0 - self.border)) })
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::null::NullDevice;
    use proptest::prelude::*;
    use ssdlab_device::units::Nanos;

    fn split(first_bytes: Option<u64>) -> Result<Stacked<Split>, Problem> {
        let device = |latency| Box::new(NullDevice::new(1 << 20, Nanos(latency), 4));
        new(&SplitConfig { first_bytes: first_bytes.map(Bytes) }, device(100), device(900))
    }

    proptest! {
        /// The bytes of a request are those of its parts, each sector lies where the border says, and the
        /// request ends once, with the slower part.
        #[test]
        fn parts_make_up_the_request(start in 0u64..3000, sectors in 1u32..900) {
            let mut split = split(Some(512 * 1000)).unwrap();
            let request = Request::new(Operation::Write, Lba(start), sectors);
            split.submit(Nanos(0), Tag(5), request).unwrap();
            let mut done = Vec::new();
            let ended = split.advance(Nanos::NEVER, &mut done);
            prop_assert_eq!(done.len(), 1);
            let within = start + u64::from(sectors) <= 1000 + 2048;
            prop_assert_eq!(done[0].status == Status::Success, within);
            let counts = split.layers();
            let first = 1000u64.saturating_sub(start).min(u64::from(sectors)) * 512;
            if within {
                prop_assert_eq!(counts.asked[0].written_bytes, first);
                prop_assert_eq!(counts.asked[1].written_bytes, u64::from(sectors) * 512 - first);
                prop_assert_eq!(ended, Nanos(if first == u64::from(sectors) * 512 { 100 } else { 900 }));
            }
        }
    }

    /// A first part that does not fit its device is refused.
    #[test]
    fn impossible_borders_are_refused() {
        assert!(split(Some(1 << 21)).err().unwrap().message.contains("at most 1048576 B"));
        assert!(split(Some(700)).err().unwrap().message.contains("whole number of sectors"));
        assert_eq!(split(None).ok().unwrap().limits().sectors, 4096);
    }
}
