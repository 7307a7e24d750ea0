//! The one event loop of all layers: what a layer decides, and what makes it a device.
//!
//! A layer is told of a request that arrives, of an answer from below and of a time that has come;
//! it answers by asking the devices below, by setting a time, or by finishing the request. Queueing
//! below (a device that is full), slots, traffic counts and the order of events are here, once.
//!
//! At an instant answers from below come first, in order of the devices, then times that were set,
//! in the order in which they were set.

use ssdlab_device::block::{Busy, Completion, Device, LayerCounts, Limits, Operation, Request, Status, Tag, Traffic};
use ssdlab_device::counters::Counters;
use ssdlab_device::sim::slots::Slots;
use ssdlab_device::units::{Lba, Nanos};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What a layer does with requests.
pub trait Layer {
    /// What it is called in results.
    fn name(&self) -> String;

    /// What it tells about itself, given what the devices below tell.
    fn limits(&self, below: &[Limits]) -> Limits;

    /// A request arrives; it lies within the limits.
    fn begin(&mut self, tag: Tag, request: Request, work: &mut Work);

    /// A request that was asked of a device below is done.
    fn answered(&mut self, answer: Answer, work: &mut Work);

    /// A time that was set with [`Work::wake_at`] has come.
    fn woken(&mut self, token: u64, work: &mut Work) {
        let _ = (token, work);
    }

    /// Does a request without time, as [`Device::apply_now`].
    fn apply_now(&mut self, request: Request, work: &mut Work) -> Status;

    /// What setting the layer up writes once, without time, as [`Device::prepare_now`].
    fn prepare_now(&mut self, work: &mut Work) {
        let _ = work;
    }

    /// The power fails: forgets what is under way, and what does not survive.
    fn lose_power(&mut self) {}

    /// What it counted besides its traffic.
    fn counts(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// The device and address behind an address, where that is cheap to tell: for [`Device::hint`].
    fn below_of(&self, lba: Lba) -> Option<(usize, Lba)> {
        let _ = lba;
        None
    }
}

/// A request asked of a device below is done.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Which device.
    pub device: usize,
    /// What was asked.
    pub request: Request,
    /// The layer's own name for it.
    pub token: u64,
    /// How it ended.
    pub status: Status,
}

#[derive(Clone, Copy)]
struct Ask {
    device: u32,
    token: u64,
    request: Request,
}

struct Below {
    device: Box<dyn Device>,
    /// Asked, but the device is full.
    waiting: VecDeque<u32>,
    asked: Traffic,
}

/// The devices below, what was asked of them, and the times that were set.
pub struct Work {
    now: Nanos,
    below: Vec<Below>,
    asks: Slots<Ask>,
    timers: BinaryHeap<Reverse<(Nanos, u64, u64)>>,
    timers_set: u64,
    finished: Vec<Completion>,
    outstanding: u32,
}

impl Work {
    fn new(devices: Vec<Box<dyn Device>>) -> Work {
        let below = |device| Below { device, waiting: VecDeque::new(), asked: Traffic::default() };
        Work {
            now: Nanos::ZERO,
            below: devices.into_iter().map(below).collect(),
            asks: Slots::default(),
            timers: BinaryHeap::new(),
            timers_set: 0,
            finished: Vec::new(),
            outstanding: 0,
        }
    }

    /// The time.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// Number of devices below.
    pub fn devices(&self) -> usize {
        self.below.len()
    }

    /// What a device below tells about itself.
    pub fn limits_of(&self, device: usize) -> &Limits {
        self.below[device].device.limits()
    }

    /// Asks a device below; it queues where that is full. The answer carries `token`.
    pub fn ask(&mut self, device: usize, request: Request, token: u64) {
        let index = self.asks.insert(Ask { device: device as u32, token, request });
        let below = &mut self.below[device];
        below.asked.count(&request, below.device.limits().sector_bytes);
        below.waiting.push_back(index);
        self.submit_waiting(device);
    }

    /// Wakes the layer at a time, with `token`.
    pub fn wake_at(&mut self, time: Nanos, token: u64) {
        self.timers.push(Reverse((time.max(self.now), self.timers_set, token)));
        self.timers_set += 1;
    }

    /// Ends a request that arrived.
    pub fn finish(&mut self, tag: Tag, status: Status) {
        self.outstanding -= 1;
        self.finished.push(Completion { tag, status });
    }

    /// Does a request on a device below without time.
    pub fn apply_now(&mut self, device: usize, request: Request) -> Status {
        self.below[device].device.apply_now(request)
    }

    fn submit_waiting(&mut self, device: usize) {
        let below = &mut self.below[device];
        while let Some(&index) = below.waiting.front() {
            let request = self.asks.get(index).request;
            if below.device.submit(self.now, Tag(index), request).is_err() {
                break;
            }
            below.waiting.pop_front();
        }
    }

    fn next_event(&self) -> Option<Nanos> {
        if !self.finished.is_empty() {
            return Some(self.now);
        }
        let timer = self.timers.peek().map(|Reverse((time, _, _))| *time);
        self.below.iter().filter_map(|below| below.device.next_event()).chain(timer).min()
    }

    /// Brings the devices, which have no answer before this instant, up to it: their counters tell of what each
    /// has lived to.
    fn catch_up_below(&mut self) {
        let mut done = Vec::new();
        self.below.iter_mut().for_each(|below| {
            below.device.advance(self.now, &mut done);
        });
        debug_assert!(done.is_empty(), "answers are collected when they come");
    }

    /// Answers that are there at this instant, in order of the devices.
    fn collect(&mut self, answers: &mut Vec<Answer>) {
        let mut done = Vec::new();
        for device in 0..self.below.len() {
            if self.below[device].device.next_event().is_none_or(|time| time > self.now) {
                continue;
            }
            self.below[device].device.advance(self.now, &mut done);
            for completion in done.drain(..) {
                let Ask { device, token, request } = self.asks.remove(completion.tag.0);
                answers.push(Answer { device: device as usize, request, token, status: completion.status });
            }
            self.submit_waiting(device);
        }
    }

    fn lose_power(&mut self, now: Nanos) {
        self.now = now;
        for below in &mut self.below {
            below.device.cut_power(now);
            below.waiting.clear();
        }
        self.asks.clear();
        self.timers.clear();
        self.finished.clear();
        self.outstanding = 0;
    }
}

/// A layer over devices: itself a device.
pub struct Stacked<L: Layer> {
    /// The layer.
    pub layer: L,
    limits: Limits,
    work: Work,
    answers: Vec<Answer>,
    taken: Traffic,
}

impl<L: Layer> Stacked<L> {
    /// Puts a layer over devices; the layer has checked that they fit.
    pub fn new(layer: L, devices: Vec<Box<dyn Device>>) -> Stacked<L> {
        let below: Vec<Limits> = devices.iter().map(|device| device.limits().clone()).collect();
        let limits = layer.limits(&below);
        Stacked { layer, limits, work: Work::new(devices), answers: Vec::new(), taken: Traffic::default() }
    }

    /// One instant: answers, then times that have come.
    fn step(&mut self) {
        let mut answers = std::mem::take(&mut self.answers);
        self.work.collect(&mut answers);
        for answer in answers.drain(..) {
            self.layer.answered(answer, &mut self.work);
        }
        self.answers = answers;
        while let Some(&Reverse((time, _, token))) = self.work.timers.peek() {
            if time > self.work.now {
                break;
            }
            self.work.timers.pop();
            self.layer.woken(token, &mut self.work);
        }
    }

    fn is_within(&self, request: &Request) -> bool {
        let end = request.lba.0.checked_add(u64::from(request.sectors));
        request.operation == Operation::Flush || end.is_some_and(|end| end <= self.limits.sectors)
    }
}

impl<L: Layer> Device for Stacked<L> {
    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) -> Result<(), Busy> {
        if self.work.outstanding >= self.limits.queue_depth {
            return Err(Busy);
        }
        self.work.now = now;
        self.work.outstanding += 1;
        if !self.is_within(&request) {
            self.work.finish(tag, Status::OutOfRange);
            return Ok(());
        }
        self.taken.count(&request, self.limits.sector_bytes);
        self.layer.begin(tag, request, &mut self.work);
        Ok(())
    }

    fn next_event(&self) -> Option<Nanos> {
        self.work.next_event()
    }

    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        loop {
            match self.work.next_event() {
                Some(time) if time <= to => self.work.now = time,
                _ => {
                    let now = self.work.now;
                    self.work.now = if to == Nanos::NEVER { now } else { now.max(to) };
                    return self.work.now;
                }
            }
            self.step();
            let finished = !self.work.finished.is_empty();
            done.append(&mut self.work.finished);
            if finished && self.work.next_event().is_none_or(|time| time > self.work.now) {
                return self.work.now;
            }
        }
    }

    fn hint(&self, lba: Lba) {
        if let Some((device, lba)) = self.layer.below_of(lba) {
            self.work.below[device].device.hint(lba);
        }
    }

    fn hint_write(&self, lba: Lba) {
        if let Some((device, lba)) = self.layer.below_of(lba) {
            self.work.below[device].device.hint_write(lba);
        }
    }

    fn counters(&mut self) -> Counters {
        self.work.catch_up_below();
        self.work.below.iter_mut().fold(Counters::default(), |sum, below| sum + below.device.counters())
    }

    fn is_faulty(&self) -> bool {
        self.work.below.iter().any(|below| below.device.is_faulty())
    }

    fn cut_power(&mut self, now: Nanos) {
        self.layer.lose_power();
        self.work.lose_power(now);
    }

    fn apply_now(&mut self, request: Request) -> Status {
        if !self.is_within(&request) {
            return Status::OutOfRange;
        }
        self.layer.apply_now(request, &mut self.work)
    }

    fn prepare_now(&mut self) {
        self.work.below.iter_mut().for_each(|below| below.device.prepare_now());
        self.layer.prepare_now(&mut self.work);
    }

    fn layers(&mut self) -> LayerCounts {
        self.work.catch_up_below();
        LayerCounts {
            name: self.layer.name(),
            taken: self.taken,
            asked: self.work.below.iter().map(|below| below.asked).collect(),
            counts: self.layer.counts().into_iter().map(|(name, value)| (name.to_string(), value)).collect(),
            below: self.work.below.iter_mut().map(|below| below.device.layers()).collect(),
        }
    }
}
