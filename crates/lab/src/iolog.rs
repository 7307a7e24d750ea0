//! A device over a device that writes down what it is asked: fio's `write_iolog`.

use crate::workload::job::Job;
use crate::workload::trace::{iolog_end, iolog_line, iolog_start};
use ssdlab_device::block::{Busy, Completion, Device, LayerCounts, Limits, Request, Tag};
use ssdlab_device::counters::Counters;
use ssdlab_device::units::{Lba, Nanos};

/// Passes everything on and keeps it as an iolog of version 3.
pub struct Logged<'a, D: Device> {
    device: &'a mut D,
    name: String,
    text: String,
    last: Nanos,
}

impl<'a, D: Device> Logged<'a, D> {
    /// A log in which the device is called `name`.
    pub fn new(device: &'a mut D, name: &str) -> Logged<'a, D> {
        Logged { device, name: name.to_string(), text: iolog_start(name), last: Nanos::ZERO }
    }

    /// The whole log.
    pub fn into_text(self) -> String {
        self.text + &iolog_end(self.last, &self.name)
    }
}

impl<D: Device> Device for Logged<'_, D> {
    fn limits(&self) -> &Limits {
        self.device.limits()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) -> Result<(), Busy> {
        self.device.submit(now, tag, request)?;
        let sector = u64::from(self.device.limits().sector_bytes);
        let (offset, bytes) = (request.lba.0 * sector, u64::from(request.sectors) * sector);
        self.text.push_str(&iolog_line(now, &self.name, request.operation, offset, bytes));
        self.last = now;
        Ok(())
    }

    fn next_event(&self) -> Option<Nanos> {
        self.device.next_event()
    }

    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        self.device.advance(to, done)
    }

    fn hint(&self, lba: Lba) {
        self.device.hint(lba);
    }

    fn hint_write(&self, lba: Lba) {
        self.device.hint_write(lba);
    }

    fn counters(&mut self) -> Counters {
        self.device.counters()
    }

    fn is_faulty(&self) -> bool {
        self.device.is_faulty()
    }

    fn layers(&mut self) -> LayerCounts {
        self.device.layers()
    }

    fn cut_power(&mut self, now: Nanos) {
        self.device.cut_power(now);
    }
}

/// The file that the jobs' requests are to be written to, if any.
///
/// # Errors
/// Several files, or jobs with and without one: the log is of the drive, which they share.
pub fn file_of(jobs: &[Job]) -> Result<Option<&str>, String> {
    let mut files = jobs.iter().map(|job| job.write_iolog.as_deref());
    let first = files.next().flatten();
    if files.all(|file| file == first) {
        return Ok(first);
    }
    Err("write_iolog: the log holds what all jobs of a run ask the drive\ngive every job the same file, for example in [global]".into())
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::null::NullDevice;
    use crate::run::{RunOptions, Silent, run};
    use crate::workload::parse::parse_flags;
    use crate::workload::trace::parse_trace;
    use ssdlab_device::block::Operation;

    /// What was logged can be replayed: the same requests in the same order.
    #[test]
    fn a_log_can_be_read_back() {
        let flags = ["--rw=randrw", "--bs=4k", "--size=64k", "--norandommap"].map(String::from);
        let jobs = parse_flags(&flags).unwrap().jobs;
        let mut device = NullDevice::new(1 << 20, Nanos(10_000), 4);
        let mut logged = Logged::new(&mut device, "drive");
        run(&mut logged, &jobs, &RunOptions { start: Nanos::ZERO, seed: 1 }, &mut Silent).unwrap();
        let entries = parse_trace(&logged.into_text(), "log").unwrap();
        assert_eq!(entries.len(), 16);
        assert!(entries.iter().all(|entry| entry.bytes == 4096 && entry.offset < 65_536));
        assert!(entries.iter().any(|entry| entry.operation == Operation::Read));
        assert!(entries.iter().any(|entry| entry.operation == Operation::Write));
        assert!(entries.windows(2).all(|pair| pair[0].at <= pair[1].at));
    }
}
