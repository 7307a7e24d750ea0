//! The array and its cache: writes acknowledged from it and destaged, lines read ahead.

use super::Event;
use super::Raid;
use super::jobs::{Job, What};
use super::ranges::Ranges;
use super::read_ahead::Found;
use super::requests::{Owner, Pending};
use crate::host::stacked::Work;
use ssdlab_device::block::{Operation, Request, Status};
use ssdlab_device::sim::slots::Slots;
use ssdlab_device::units::Lba;

/// The stretch that a request covers.
fn stretch(requests: &mut Slots<Pending>, number: u32) -> (u64, u64) {
    let request = requests.get(number).request;
    (request.lba.0, u64::from(request.sectors))
}

impl Raid {
    /// Reads from the cache, from what was read ahead, or from the members.
    pub(super) fn read(&mut self, number: u32, work: &mut Work) {
        let (lba, sectors) = stretch(&mut self.requests, number);
        if self.cache.as_ref().is_some_and(|cache| cache.holds(lba, sectors)) {
            self.counts.cache_hits += 1;
            return self.part_done(number, Status::Success, work);
        }
        let Some(ahead) = &mut self.ahead else {
            return self.read_members(number, work);
        };
        let goes_on = ahead.note(lba, sectors);
        let found = ahead.find(lba, sectors);
        if found == Found::Arriving {
            ahead.wait(number, lba, sectors);
        }
        let lines = if goes_on { ahead.fetch(lba + sectors, self.layout.sectors) } else { Vec::new() };
        self.counts.read_ahead_hits += u64::from(found != Found::Missing);
        match found {
            Found::Ready => self.part_done(number, Status::Success, work),
            Found::Arriving => {}
            Found::Missing => self.read_members(number, work),
        }
        for line in lines {
            self.fetch_line(line, work);
        }
    }

    fn fetch_line(&mut self, line: u64, work: &mut Work) {
        self.counts.lines_read_ahead += 1;
        let sectors = self.line_sectors();
        let request = Request::new(Operation::Read, Lba(line * sectors), sectors as u32);
        let number = self.requests.insert(Pending::new(Owner::Line(line), request));
        self.read_members(number, work);
    }

    fn line_sectors(&self) -> u64 {
        super::check::line_bytes(&self.config) / u64::from(self.sector_bytes)
    }

    /// A line that was read ahead is there.
    pub(super) fn line_arrived(&mut self, line: u64, work: &mut Work) {
        let (ready, missing) = self.ahead.as_mut().map(|ahead| ahead.arrived(line)).unwrap_or_default();
        for number in ready {
            self.part_done(number, Status::Success, work);
        }
        for number in missing {
            self.read_members(number, work);
        }
    }

    /// Writes to the cache, or to the members.
    pub(super) fn write(&mut self, number: u32, work: &mut Work) {
        let (lba, sectors) = stretch(&mut self.requests, number);
        self.ahead.iter_mut().for_each(|ahead| ahead.forget(lba, sectors));
        let Some(cache) = &mut self.cache else {
            return self.write_members(number, work);
        };
        if !cache.could_take(lba, sectors) {
            cache.forget(lba, sectors);
            return self.write_members(number, work);
        }
        if cache.is_stalled() || !cache.take(lba, sectors) {
            self.counts.cache_stalls += 1;
            cache.stall(number);
            return self.destage(work);
        }
        self.acknowledge(number, work);
        self.destage(work);
    }

    /// A write is in the cache: done, unless it must be on the members and no battery stands in.
    fn acknowledge(&mut self, number: u32, work: &mut Work) {
        let (lba, sectors) = stretch(&mut self.requests, number);
        let must_reach_members = self.requests.get(number).request.fua && !self.config.battery;
        let Some(cache) = &mut self.cache else { return };
        if !self.flush_is_set && !cache.overdue {
            self.flush_is_set = true;
            work.wake_at(work.now() + self.config.flush_ms.0, Event::Flush.token());
        }
        if !(must_reach_members && cache.drain(number, Some((lba, sectors)))) {
            self.part_done(number, Status::Success, work);
        }
    }

    /// A flush: the battery stands in for what the cache holds, else it is emptied; then for the members.
    pub(super) fn flush(&mut self, number: u32, work: &mut Work) {
        let Some(cache) = &mut self.cache else {
            return self.flush_members(number, work);
        };
        if self.config.battery {
            // What was destaged may still lie in the caches of the members.
            self.flush_volatile_members(number, work);
        } else if cache.drain(number, None) {
            self.destage(work);
        } else {
            self.flush_members(number, work);
        }
    }

    /// The oldest write has waited its time.
    pub(super) fn flush_is_due(&mut self, work: &mut Work) {
        self.flush_is_set = false;
        self.cache.iter_mut().for_each(|cache| cache.overdue = !cache.is_clean());
        self.destage(work);
    }

    /// Begins to destage as many stripes as may be destaged at a time.
    pub(super) fn destage(&mut self, work: &mut Work) {
        while self.destaging < self.config.destages
            && let Some(lines) = self.cache.as_mut().and_then(|cache| cache.next_to_destage())
        {
            let first = lines.values().filter_map(|ranges| ranges.iter().next()).next().unwrap_or_default().0;
            let stripe = first / self.layout.stripe_sectors();
            let start = stripe * self.layout.stripe_sectors();
            let mut ranges = Ranges::default();
            for (from, to) in lines.values().flat_map(Ranges::iter) {
                ranges.insert(from - start, to - start);
            }
            self.destaging += 1;
            self.counts.destages += 1;
            let request = Request::new(Operation::Write, Lba(first), 0);
            let page = self.line_sectors();
            self.submit(Job::new(What::Destage(lines.into_keys().collect()), stripe, ranges, page, &request), work);
        }
    }

    /// Lines are on the members: who waited for them goes on.
    pub(super) fn lines_destaged(&mut self, lines: &[u64], work: &mut Work) {
        self.destaging -= 1;
        let done = self.cache.as_mut().map(|cache| cache.destaged(lines)).unwrap_or_default();
        for number in done {
            match self.requests.get(number).request.operation {
                Operation::Flush => self.flush_members(number, work),
                _ => self.flush_volatile_members(number, work),
            }
        }
        self.take_stalled(work);
        self.destage(work);
    }

    fn take_stalled(&mut self, work: &mut Work) {
        while let Some(number) = self.cache.as_mut().and_then(|cache| cache.next_stalled()) {
            let (lba, sectors) = stretch(&mut self.requests, number);
            let Some(cache) = &mut self.cache else { return };
            if !cache.take(lba, sectors) {
                return cache.stall_again(number);
            }
            self.acknowledge(number, work);
        }
    }
}
