//! Encryption as TrueCrypt's driver for Windows does it: in turn, in fragments, reading ahead.
//!
//! Three threads work one behind the other. The first takes requests in order, cuts them into
//! fragments and encrypts those that write; it stops while both fragment buffers are in use. The
//! second asks the device below, one fragment after the other, so that the device never has two.
//! The third decrypts what was read. Behind the last fragment of a read, if no other waits, the
//! second reads as much again, and begins with the next request when it has that: a guess that
//! costs a random reader a second read each time.
//!
//! A fragment is spread over all cores, so that there is one cipher, as fast as all of them.
//!
//! Left out: CPU time to pass a request from thread to thread, beyond `request_us` a fragment.

use super::{Cipher, CryptConfig};
use crate::host::stacked::{Answer, Layer, Stacked, Work};
use ssdlab_device::block::{Device, Limits, Operation, Request, Status, Tag};
use ssdlab_device::parameter::Problem;
use ssdlab_device::sim::slots::Slots;
use ssdlab_device::units::{Lba, Nanos};
use std::collections::VecDeque;

/// Fragments that are encrypted, or on their way to or from the device, at a time: the driver's two buffers.
const BUFFERS: u32 = 2;

/// Token of what is read ahead.
const AHEAD: u64 = u64::MAX;

/// Encryption in three threads over a device.
///
/// # Errors
/// A sector that does not fit the device below, or of which no whole number makes a fragment.
pub fn new(config: &CryptConfig, below: Box<dyn Device>) -> Result<Stacked<Pipeline>, Problem> {
    let cipher = Cipher::new(config, below.limits())?;
    if !config.fragment_bytes.0.is_multiple_of(u64::from(config.sector_bytes)) {
        let message = format!("give a multiple of the encrypted sector, {} B", config.sector_bytes);
        return Err(Problem::new("crypt.fragment_bytes", config.fragment_bytes.0, message));
    }
    Ok(Stacked::new(Pipeline::new(cipher), vec![below]))
}

/// A request on its way.
struct Item {
    tag: Tag,
    /// Fragments that are not done.
    left: u32,
    status: Status,
}

/// A piece of a request, as it goes down.
#[derive(Clone, Copy)]
struct Fragment {
    item: u32,
    request: Request,
    is_last: bool,
}

/// A stretch by its first sector and its length.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stretch {
    lba: Lba,
    sectors: u32,
}

/// The three threads.
pub struct Pipeline {
    cipher: Cipher,
    items: Slots<Item>,
    fragments: Slots<Fragment>,
    /// Waits for the first thread.
    arrived: VecDeque<u32>,
    encrypting: bool,
    buffers_free: u32,
    /// Waits for the second thread.
    ready: VecDeque<u32>,
    asking: bool,
    /// What was read ahead, and whether it is there.
    ahead: Option<Stretch>,
    ahead_under_way: Option<Stretch>,
    /// When the cipher is through with what it has.
    cipher_free: Nanos,
    cpu: Nanos,
    ahead_bytes: u64,
    ahead_hits: u64,
    kept: u64,
}

impl Pipeline {
    fn new(cipher: Cipher) -> Pipeline {
        Pipeline {
            cipher,
            items: Slots::default(),
            fragments: Slots::default(),
            arrived: VecDeque::new(),
            encrypting: false,
            buffers_free: BUFFERS,
            ready: VecDeque::new(),
            asking: false,
            ahead: None,
            ahead_under_way: None,
            cipher_free: Nanos::ZERO,
            cpu: Nanos::ZERO,
            ahead_bytes: 0,
            ahead_hits: 0,
            kept: 0,
        }
    }

    /// Cuts a request, as it goes down, into fragments for the first thread.
    fn cut(&mut self, tag: Tag, request: Request, limits: &Limits) {
        let most = (self.cipher.config.fragment_bytes.0 / u64::from(limits.sector_bytes)) as u32;
        let count = request.sectors.div_ceil(most);
        let item = self.items.insert(Item { tag, left: count, status: Status::Success });
        for number in 0..count {
            let done = number * most;
            let sectors = most.min(request.sectors - done);
            let lba = Lba(request.lba.0 + u64::from(done));
            let piece = Request { lba, sectors, ..request };
            let fragment = Fragment { item, request: piece, is_last: number + 1 == count };
            self.arrived.push_back(self.fragments.insert(fragment));
        }
    }

    /// Takes the cipher for a fragment; `woken` follows when it is through.
    fn use_cipher(&mut self, number: u32, work: &mut Work) {
        let bytes = u64::from(self.fragments.get(number).request.sectors) * u64::from(work.limits_of(0).sector_bytes);
        let time = self.cipher.time(bytes, self.cipher.config.cores);
        self.cpu += time;
        self.cipher_free = self.cipher_free.max(work.now()) + time;
        work.wake_at(self.cipher_free, u64::from(number));
    }

    /// The first thread: what reads goes on at once, what writes is encrypted first.
    fn take_arrived(&mut self, work: &mut Work) {
        while !self.encrypting
            && self.buffers_free > 0
            && let Some(number) = self.arrived.pop_front()
        {
            self.buffers_free -= 1;
            if self.fragments.get(number).request.operation == Operation::Read {
                self.ready.push_back(number);
            } else {
                self.encrypting = true;
                self.use_cipher(number, work);
            }
        }
        self.ask_next(work);
    }

    /// The second thread, if it is idle.
    fn ask_next(&mut self, work: &mut Work) {
        while !self.asking
            && let Some(number) = self.ready.pop_front()
        {
            let request = self.fragments.get(number).request;
            self.asking = true;
            if request.operation == Operation::Read && self.was_read_ahead(&request) {
                self.ahead_hits += 1;
                self.asked(number, Status::Success, work);
            } else {
                work.ask(0, request, u64::from(number));
            }
        }
    }

    fn was_read_ahead(&self, request: &Request) -> bool {
        self.ahead.is_some_and(|ahead| ahead.lba == request.lba && ahead.sectors >= request.sectors)
    }

    /// The second thread has a fragment's answer.
    fn asked(&mut self, number: u32, status: Status, work: &mut Work) {
        let Fragment { item, request, is_last } = *self.fragments.get(number);
        self.buffers_free += 1;
        self.asking = false;
        if status != Status::Success {
            self.items.get_mut(item).status = status;
        }
        if request.operation == Operation::Read {
            self.use_cipher(number, work);
            if is_last && status == Status::Success && self.nothing_waits() {
                self.read_ahead(&request, work);
            }
        } else {
            self.ahead = None;
            self.done(number, work);
        }
        self.take_arrived(work);
    }

    fn nothing_waits(&self) -> bool {
        self.arrived.is_empty() && self.ready.is_empty() && !self.encrypting
    }

    /// Reads as much again behind a read, within the device.
    fn read_ahead(&mut self, request: &Request, work: &mut Work) {
        let next = Stretch { lba: Lba(request.lba.0 + u64::from(request.sectors)), sectors: request.sectors };
        self.ahead = None;
        let limits = work.limits_of(0);
        if next.lba.0 + u64::from(next.sectors) > limits.sectors {
            return;
        }
        self.ahead_bytes += u64::from(next.sectors) * u64::from(limits.sector_bytes);
        self.ahead_under_way = Some(next);
        self.asking = true;
        work.ask(0, Request { lba: next.lba, ..*request }, AHEAD);
    }

    /// A fragment is through all it has to go through.
    fn done(&mut self, number: u32, work: &mut Work) {
        let item = self.fragments.remove(number).item;
        let under_way = self.items.get_mut(item);
        under_way.left -= 1;
        if under_way.left == 0 {
            let Item { tag, status, .. } = self.items.remove(item);
            work.finish(tag, status);
        }
    }
}

impl Layer for Pipeline {
    fn name(&self) -> String {
        "crypt".into()
    }

    fn limits(&self, below: &[Limits]) -> Limits {
        self.cipher.limits(&below[0])
    }

    fn begin(&mut self, tag: Tag, request: Request, work: &mut Work) {
        if self.cipher.keeps(&request) {
            self.kept += self.cipher.bytes(&request);
            return work.finish(tag, Status::Success);
        }
        let request = self.cipher.below(request);
        match request.operation {
            Operation::Read | Operation::Write if request.sectors > 0 => {
                let limits = work.limits_of(0).clone();
                self.cut(tag, request, &limits);
                self.take_arrived(work);
            }
            // The driver passes on what carries no data as it comes.
            _ => {
                let item = self.items.insert(Item { tag, left: 1, status: Status::Success });
                let number = self.fragments.insert(Fragment { item, request, is_last: true });
                work.ask(0, request, u64::from(number));
            }
        }
    }

    fn answered(&mut self, answer: Answer, work: &mut Work) {
        if answer.token == AHEAD {
            self.asking = false;
            let read = self.ahead_under_way.take();
            self.ahead = read.filter(|_| answer.status == Status::Success);
            return self.ask_next(work);
        }
        let number = answer.token as u32;
        if matches!(answer.request.operation, Operation::Read | Operation::Write) {
            return self.asked(number, answer.status, work);
        }
        let item = self.fragments.get(number).item;
        self.items.get_mut(item).status = answer.status;
        self.done(number, work);
    }

    fn woken(&mut self, token: u64, work: &mut Work) {
        let number = token as u32;
        if self.fragments.get(number).request.operation == Operation::Read {
            return self.done(number, work);
        }
        self.encrypting = false;
        self.ready.push_back(number);
        self.take_arrived(work);
    }

    fn apply_now(&mut self, request: Request, work: &mut Work) -> Status {
        self.cipher.apply_now(request, work)
    }

    fn prepare_now(&mut self, work: &mut Work) {
        self.cipher.prepare_now(work);
    }

    fn lose_power(&mut self) {
        let empty = Pipeline::new(self.cipher.clone());
        *self = Pipeline {
            cpu: self.cpu,
            ahead_bytes: self.ahead_bytes,
            ahead_hits: self.ahead_hits,
            kept: self.kept,
            ..empty
        };
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("cpu_ns", self.cpu.0),
            ("trimmed_bytes_kept", self.kept),
            ("read_ahead_bytes", self.ahead_bytes),
            ("read_ahead_hits", self.ahead_hits),
        ]
    }

    fn below_of(&self, lba: Lba) -> Option<(usize, Lba)> {
        Some((0, self.cipher.below_lba(lba)))
    }
}
