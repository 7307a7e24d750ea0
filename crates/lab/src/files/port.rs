//! The way to the device: requests under way, what waits for room, and time.
//!
//! Reads go before writes, as the schedulers of a desktop let them; within each kind first come,
//! first served. Requests that the device has no room for wait here. Left out: merging beyond what
//! the page cache hands over, and sorting; a scheduler layer below does those.

use ssdlab_device::block::{Completion, Device, Limits, Operation, Request, Status, Tag, Traffic};
use ssdlab_device::units::{Lba, Nanos};
use std::collections::{BTreeMap, VecDeque};

/// Largest trim in one request, in bytes.
const TRIM_BYTES: u64 = 1 << 30;

/// A device with requests under way.
pub struct Port<'d> {
    device: &'d mut dyn Device,
    now: Nanos,
    /// Requests so far; a request's number is its tag.
    issued: u32,
    under_way: BTreeMap<u32, Request>,
    writing_bytes: u64,
    waiting_reads: VecDeque<u32>,
    waiting_others: VecDeque<u32>,
    done: Vec<Completion>,
    /// What was asked of the device.
    pub traffic: Traffic,
    /// The first request that did not end well.
    pub failed: Option<(Request, Status)>,
}

impl<'d> Port<'d> {
    /// A way to a device that is idle at `start`.
    pub fn new(device: &'d mut dyn Device, start: Nanos) -> Port<'d> {
        Port {
            device,
            now: start,
            issued: 0,
            under_way: BTreeMap::new(),
            writing_bytes: 0,
            waiting_reads: VecDeque::new(),
            waiting_others: VecDeque::new(),
            done: Vec::new(),
            traffic: Traffic::default(),
            failed: None,
        }
    }

    /// The time.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// What the device tells about itself.
    pub fn limits(&self) -> &Limits {
        self.device.limits()
    }

    /// The device, for what needs no time.
    pub fn device(&mut self) -> &mut dyn Device {
        self.device
    }

    /// Number of the last request handed over; those after it are greater.
    pub fn last(&self) -> u32 {
        self.issued
    }

    /// Bytes of writes under way.
    pub fn writing_bytes(&self) -> u64 {
        self.writing_bytes
    }

    /// Whether anything is under way.
    pub fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Whether no write, flush or trim up to this number is under way.
    pub fn is_written(&self, number: u32) -> bool {
        !self.under_way.range(..=number).any(|(_, request)| request.operation != Operation::Read)
    }

    /// Hands over a request for a stretch of bytes; a long trim becomes several requests.
    pub fn ask(&mut self, operation: Operation, at_bytes: u64, bytes: u64, fua: bool, compress_percent: u8) {
        let sector = u64::from(self.device.limits().sector_bytes);
        let most = if operation == Operation::Trim { TRIM_BYTES } else { u64::MAX };
        let (mut at, mut rest) = (at_bytes, bytes);
        loop {
            let part = rest.min(most);
            let request = Request::new(operation, Lba(at / sector), (part / sector) as u32);
            self.submit(Request { fua, compress_percent, ..request });
            (at, rest) = (at + part, rest - part);
            if rest == 0 {
                break;
            }
        }
    }

    fn submit(&mut self, request: Request) {
        self.issued += 1;
        self.traffic.count(&request, self.device.limits().sector_bytes);
        if request.operation == Operation::Write {
            self.writing_bytes += self.bytes(&request);
        }
        self.under_way.insert(self.issued, request);
        let queue =
            if request.operation == Operation::Read { &mut self.waiting_reads } else { &mut self.waiting_others };
        queue.push_back(self.issued);
        self.submit_waiting();
    }

    fn bytes(&self, request: &Request) -> u64 {
        u64::from(request.sectors) * u64::from(self.device.limits().sector_bytes)
    }

    fn submit_waiting(&mut self) {
        while let Some(&number) = self.waiting_reads.front().or(self.waiting_others.front()) {
            if self.device.submit(self.now, Tag(number), self.under_way[&number]).is_err() {
                break;
            }
            let queue = if self.waiting_reads.is_empty() { &mut self.waiting_others } else { &mut self.waiting_reads };
            queue.pop_front();
        }
    }

    /// Lives on until `to` or until something completes; appends the completed requests.
    pub fn advance(&mut self, to: Nanos, completed: &mut Vec<Request>) {
        self.now = self.device.advance(to, &mut self.done);
        for completion in std::mem::take(&mut self.done) {
            let request = self.under_way.remove(&completion.tag.0).expect("a device completes what it was asked");
            if request.operation == Operation::Write {
                self.writing_bytes -= self.bytes(&request);
            }
            if completion.status != Status::Success {
                self.failed.get_or_insert((request, completion.status));
            }
            completed.push(request);
        }
        self.submit_waiting();
    }
}
