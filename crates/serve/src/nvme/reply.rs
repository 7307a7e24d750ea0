//! Completions of one queue: 16 bytes, Base Specification 2.0, figure 90.

use super::pdu::{self, Agreed};
use super::status::Status;
use crate::outcome::Outcome;
use crate::request::Request;
use ssdlab_device::ssd::past::Errors;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How completions of a queue are written.
#[derive(Clone, Debug)]
pub struct Completions {
    /// What the connection agreed on.
    pub agreed: Agreed,
    queue: u16,
    /// Up to where commands were taken from the submission queue.
    head: Arc<AtomicU16>,
    entries: u16,
    /// Where commands that fail are kept.
    errors: Arc<Mutex<Errors>>,
    /// Of the namespace, once it is known.
    pub sector_bytes: u32,
}

impl Completions {
    /// Those of a queue of so many entries.
    pub fn new(agreed: Agreed, queue: u16, entries: u16, errors: Arc<Mutex<Errors>>) -> Completions {
        Completions { agreed, queue, head: Arc::default(), entries: entries.max(1), errors, sector_bytes: 0 }
    }

    /// A command failed, which names sectors from this one on.
    pub fn note_failure(&self, command: u16, status: Status, sector: u64) {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.note(self.queue, command, status.field(), sector);
    }

    /// One more command was taken.
    pub fn took(&self) {
        let next = |head: u16| Some((head + 1) % self.entries);
        // The closure never declines.
        let _ = self.head.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    }

    /// A command has ended.
    pub fn end(&self, out: &mut Vec<u8>, command: u16, result: u64, status: Status) {
        let head = self.head.load(Ordering::Relaxed);
        let mut completion = [0; 16];
        let fields = result.to_le_bytes().into_iter().chain(head.to_le_bytes()).chain(self.queue.to_le_bytes());
        let fields = fields.chain(command.to_le_bytes()).chain(status.field().to_le_bytes());
        completion.iter_mut().zip(fields).for_each(|(byte, field)| *byte = field);
        pdu::capsule_response(out, self.agreed, &completion);
    }

    /// Data for a command, and its success.
    pub fn data(&self, out: &mut Vec<u8>, command: u16, data: &[u8]) {
        pdu::data_head(out, self.agreed, command, data.len() as u32);
        out.extend_from_slice(data);
        pdu::data_tail(out, self.agreed, data);
        self.end(out, command, 0, Status::SUCCESS);
    }

    /// What comes before the data of an answer.
    pub fn head(&self, out: &mut Vec<u8>, request: &Request, outcome: &Outcome) {
        if let Outcome::Data(data) = outcome {
            pdu::data_head(out, self.agreed, request.cookie as u16, data.len() as u32);
        }
    }

    /// What comes behind them, or is all of it.
    pub fn tail(&self, out: &mut Vec<u8>, request: &Request, outcome: &Outcome) {
        let status = match outcome {
            Outcome::Done | Outcome::Extents(_) => Status::SUCCESS,
            Outcome::Data(data) => {
                pdu::data_tail(out, self.agreed, data);
                Status::SUCCESS
            }
            Outcome::Failed(fault, _) => {
                let status = Status::of(*fault, request.command);
                self.note_failure(request.cookie as u16, status, request.offset / u64::from(self.sector_bytes.max(1)));
                status
            }
        };
        self.end(out, request.cookie as u16, 0, status);
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::nvme::fields::{u16_at, u64_at};

    /// By hand: result, head, queue, command, status, behind the eight bytes of the PDU's head.
    #[test]
    fn a_completion_by_hand() {
        let completions = Completions::new(Agreed::default(), 3, 4, Arc::default());
        [(); 5].iter().for_each(|()| completions.took());
        let mut out = Vec::new();
        completions.end(&mut out, 0x1234, 0x0908_0706_0504_0302, Status::INVALID_FIELD);
        assert_eq!((out.len(), u64_at(&out, 8)), (24, 0x0908_0706_0504_0302));
        assert_eq!([16, 18, 20, 22].map(|at| u16_at(&out, at)), [1, 3, 0x1234, 0x8004]);
    }
}
