//! A partition: a stretch of the device below.
//!
//! Modelled: every address is moved by the start of the partition; what lies beyond its end is out
//! of range. So a start that no page boundary of the drive divides makes aligned requests unaligned,
//! and what no partition covers is never written. Left out: the table itself.

use super::layer::{DefaultSource, LayerConfig};
use super::stacked::{Answer, Layer, Stacked, Work};
use ssdlab_device::block::{Device, Limits, Request, Status, Tag};
use ssdlab_device::parameter::{Bytes, Problem};
use ssdlab_device::section;
use ssdlab_device::units::Lba;

section! {
    /// Where a partition begins and ends.
    pub struct PartitionConfig in "partition." {
        start_sector: u64 ["sectors"] {0 .. 1e18} = "2048", "First sector, in sectors of the device below.";
        size_bytes: Option<Bytes> ["B"] {512 .. 1e18} = "\"none\"", "Size; none reaches to the end of the device below.";
        share: Option<f64> [""] {0.000001 .. 1} = "\"none\"", "Size as a share of the space from the first sector on, in place of size_bytes.";
    }
}

/// Where the defaults come from.
const SOURCES: &[DefaultSource] = &[(
    "partition.start_sector",
    "published",
    "1 MiB: the default of Windows since Vista, of parted since 2.2 and fdisk since 2.17.1",
)];

impl LayerConfig for PartitionConfig {
    fn sources(&self) -> Vec<DefaultSource> {
        SOURCES.to_vec()
    }

    fn build(&self, mut below: Vec<Box<dyn Device>>) -> Result<Box<dyn Device>, Problem> {
        Ok(Box::new(new(self, below.remove(0))?))
    }
}

/// A partition of a device.
///
/// # Errors
/// A partition that is no whole number of sectors, or does not lie on the device.
pub fn new(config: &PartitionConfig, below: Box<dyn Device>) -> Result<Stacked<Partition>, Problem> {
    let limits = below.limits();
    let (start, all) = (config.start_sector, limits.sectors);
    if start >= all {
        let message = format!("the device below has {all} sectors; begin before its end");
        return Err(Problem::new("partition.start_sector", start, message));
    }
    let sectors = sectors_of(config, limits, all - start)?;
    Ok(Stacked::new(Partition { start, sectors }, vec![below]))
}

fn sectors_of(config: &PartitionConfig, limits: &Limits, rest: u64) -> Result<u64, Problem> {
    let sector = u64::from(limits.sector_bytes);
    let (key, given, sectors) = match (config.size_bytes, config.share) {
        (Some(size), Some(_)) => {
            return Err(Problem::new("partition.size_bytes", size.0, "and share say the same; give one of them"));
        }
        (Some(Bytes(size)), None) if !size.is_multiple_of(sector) => {
            let message = format!("a partition is a whole number of sectors of {sector} B");
            return Err(Problem::new("partition.size_bytes", size, message));
        }
        (Some(Bytes(size)), None) => ("partition.size_bytes", size.to_string(), size / sector),
        (None, Some(share)) => ("partition.share", share.to_string(), (rest as f64 * share) as u64),
        (None, None) => return Ok(rest),
    };
    if sectors == 0 || sectors > rest {
        let message = format!(
            "the partition has {sectors} sectors, and behind its first one the device below has {rest} ({} B)",
            rest * sector
        );
        return Err(Problem::new(key, given, message));
    }
    Ok(sectors)
}

/// Which stretch of the device below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// First sector, in sectors of the device below.
    pub start: u64,
    /// Number of sectors.
    pub sectors: u64,
}

impl Partition {
    fn below(&self, request: Request) -> Request {
        Request { lba: Lba(request.lba.0 + self.start), ..request }
    }
}

impl Layer for Partition {
    fn name(&self) -> String {
        "partition".into()
    }

    fn limits(&self, below: &[Limits]) -> Limits {
        Limits { sectors: self.sectors, ..below[0].clone() }
    }

    fn begin(&mut self, tag: Tag, request: Request, work: &mut Work) {
        work.ask(0, self.below(request), u64::from(tag.0));
    }

    fn answered(&mut self, answer: Answer, work: &mut Work) {
        work.finish(Tag(answer.token as u32), answer.status);
    }

    fn apply_now(&mut self, request: Request, work: &mut Work) -> Status {
        work.apply_now(0, self.below(request))
    }

    fn below_of(&self, lba: Lba) -> Option<(usize, Lba)> {
        Some((0, Lba(lba.0 + self.start)))
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::null::NullDevice;
    use ssdlab_device::block::{Completion, Operation};
    use ssdlab_device::units::Nanos;

    fn partition() -> Stacked<Partition> {
        let drive = NullDevice::new(1 << 20, Nanos(100), 2);
        Stacked::new(Partition { start: 63, sectors: 1000 }, vec![Box::new(drive)])
    }

    /// A request goes through unchanged but for its address, and its bytes are counted on both sides.
    #[test]
    fn bytes_in_are_bytes_out() {
        let mut partition = partition();
        assert_eq!(partition.limits().sectors, 1000);
        partition.submit(Nanos(5), Tag(3), Request::new(Operation::Write, Lba(0), 8)).unwrap();
        let mut done = Vec::new();
        assert_eq!(partition.advance(Nanos::NEVER, &mut done), Nanos(105));
        assert_eq!(done, [Completion { tag: Tag(3), status: Status::Success }]);
        let counts = partition.layers();
        assert_eq!(counts.taken.written_bytes, 4096);
        assert_eq!(counts.asked, [counts.taken]);
    }

    /// What lies beyond the end is refused, at once, and never reaches the drive.
    #[test]
    fn beyond_the_end_is_out_of_range() {
        let mut partition = partition();
        partition.submit(Nanos(5), Tag(3), Request::new(Operation::Read, Lba(993), 8)).unwrap();
        let mut done = Vec::new();
        assert_eq!(partition.next_event(), Some(Nanos(5)));
        assert_eq!(partition.advance(Nanos::NEVER, &mut done), Nanos(5));
        assert_eq!(done, [Completion { tag: Tag(3), status: Status::OutOfRange }]);
        assert_eq!(partition.counters().host_reads, 0);
    }

    fn of(start_sector: u64, size_bytes: Option<u64>, share: Option<f64>) -> Result<u64, String> {
        let config = PartitionConfig { start_sector, size_bytes: size_bytes.map(Bytes), share };
        let drive = NullDevice::new(1 << 20, Nanos(100), 2);
        new(&config, Box::new(drive)).map(|partition| partition.limits().sectors).map_err(|problem| problem.message)
    }

    /// A size in bytes, as a share, or to the end; what does not lie on the device below is refused.
    #[test]
    fn sizes_are_checked_against_the_device() {
        assert_eq!(of(48, None, None), Ok(2000));
        assert_eq!(of(48, Some(512_000), None), Ok(1000));
        assert_eq!(of(48, None, Some(0.25)), Ok(500));
        assert!(of(2048, None, None).unwrap_err().contains("2048 sectors; begin before its end"));
        assert!(of(48, Some(1 << 20), None).unwrap_err().contains("has 2000 (1024000 B)"));
        assert!(of(48, Some(1000), None).unwrap_err().contains("whole number of sectors of 512 B"));
        assert!(of(48, Some(512), Some(0.5)).unwrap_err().contains("give one of them"));
    }
}
