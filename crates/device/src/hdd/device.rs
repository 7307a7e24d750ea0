//! The hard disk at the waist: submission, the order of events, power cuts, what it counts.

use super::{Command, Counts, Event, Hdd};
use crate::block::{Busy, Completion, Device, LayerCounts, Limits, Request, Status, Tag};
use crate::counters::Counters;
use crate::sim::timeline::Timeline;
use crate::units::Nanos;
use std::cmp::Reverse;

impl Device for Hdd {
    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) -> Result<(), Busy> {
        if self.outstanding() >= self.limits.queue_depth as usize {
            return Err(Busy);
        }
        self.now = now;
        let within = self.is_within(&request);
        let status = if within { Status::Success } else { Status::OutOfRange };
        let slot = self.take_slot(Command { tag, request, arrived: now, status });
        let command = self.config.hdd.command_us.0;
        self.counters.controller_ns += command.0;
        let decoded = self.controller.reserve(now, command);
        self.at(decoded, if within { Event::Ready(slot) } else { Event::Ends(slot) });
        Ok(())
    }

    fn next_event(&self) -> Option<Nanos> {
        self.events.peek().map(|Reverse((time, _, _))| *time)
    }

    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        while let Some(time) = self.next_event().filter(|time| *time <= to) {
            self.now = time;
            while let Some(&Reverse((_, _, event))) = self.events.peek().filter(|Reverse((at, _, _))| *at == time) {
                self.events.pop();
                self.handle(event);
            }
            self.start_next();
            if !self.finished.is_empty() && self.next_event() != Some(time) {
                done.append(&mut self.finished);
                return time;
            }
        }
        if to != Nanos::NEVER {
            self.now = self.now.max(to);
        }
        self.now
    }

    fn counters(&mut self) -> Counters {
        self.counters
    }

    fn apply_now(&mut self, request: Request) -> Status {
        if self.is_within(&request) { Status::Success } else { Status::OutOfRange }
    }

    fn layers(&mut self) -> LayerCounts {
        let Counts { accesses, seek_ns, rotation_ns, rewrite_ns, transfer_ns, cache_hits, cached_writes } = self.counts;
        let own = [
            ("accesses", accesses),
            ("seek_ns", seek_ns),
            ("rotation_ns", rotation_ns),
            ("rewrite_ns", rewrite_ns),
            ("transfer_ns", transfer_ns),
            ("cache_hits", cache_hits),
            ("cached_writes", cached_writes),
        ];
        let energy = self.energy_mj().map(|energy| ("energy_mj", energy));
        let counts = self.counters.entries().chain(own).chain(energy);
        let counts = counts.map(|(name, value)| (name.to_string(), value)).collect();
        LayerCounts { name: "hard disk".into(), counts, ..LayerCounts::default() }
    }

    fn cut_power(&mut self, now: Nanos) {
        self.now = now;
        let writing =
            self.job.take().filter(|job| job.command.is_none()).map_or(0, |job| job.sectors.end - job.sectors.start);
        let lost = self.dirty.clear() + writing;
        self.counters.unsafe_shutdowns += u64::from(lost > 0);
        self.counters.units_lost_at_power_cut += lost;
        self.events.clear();
        self.commands.clear();
        self.free.clear();
        self.finished.clear();
        self.queue.clear();
        self.waiting.clear();
        self.flushes.clear();
        self.read_ahead = None;
        self.read_cache.clear();
        (self.taken, self.incoming) = (0, 0);
        (self.controller, self.link) = (Timeline::default(), Timeline::default());
    }
}
