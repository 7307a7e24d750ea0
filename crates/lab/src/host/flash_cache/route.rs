//! Where each part of a request goes, and what it changes in the cache.

use super::lines::{Line, Mask, mask, stretches};
use super::{BACKING, FlashCache, SSD, UnderWay, WriteMode};
use ssdlab_device::block::{Operation, Request, Status};
use ssdlab_device::units::Lba;

/// Requests for the devices below, while they are put together.
struct Pieces {
    request: Request,
    all: Vec<(usize, Request)>,
}

impl Pieces {
    fn add(&mut self, device: usize, lba: u64, sectors: u64) {
        let piece = Request { lba: Lba(lba), sectors: sectors as u32, ..self.request };
        // What is missing in neighbouring lines is one request below.
        let continued =
            self.all.iter_mut().find(|(to, last)| *to == device && last.lba.0 + u64::from(last.sectors) == lba);
        match continued {
            Some((_, last)) => last.sectors += piece.sectors,
            None => self.all.push((device, piece)),
        }
    }
}

impl FlashCache {
    /// Splits a request; its effect on the cache comes with [`FlashCache::take_effect`].
    pub(super) fn route(&mut self, request: Request) -> (UnderWay, Vec<(usize, Request)>) {
        let mut under_way = UnderWay {
            request,
            open: 0,
            status: Status::Success,
            fills: Vec::new(),
            dirties: self.config.mode == WriteMode::WriteBack,
            uses: Vec::new(),
            promotes: Vec::new(),
        };
        let mut pieces = Pieces { request, all: Vec::new() };
        match request.operation {
            Operation::Flush => pieces.all = vec![(BACKING, request), (SSD, request)],
            _ if request.sectors == 0 => pieces.all = vec![(BACKING, request)],
            Operation::Read => self.route_read(&mut under_way, &mut pieces),
            Operation::Write | Operation::WriteZeroes => self.route_write(&mut under_way, &mut pieces),
            Operation::Trim => {
                self.drop_sectors(&request);
                pieces.all = vec![(BACKING, request)];
            }
        }
        under_way.open = pieces.all.len() as u32;
        (under_way, pieces.all)
    }

    /// The sectors of a line that a request touches.
    fn wanted(&self, request: &Request, line: u64) -> Mask {
        let begin = line * self.line_sectors;
        let first = request.lba.0.max(begin);
        let end = (request.lba.0 + u64::from(request.sectors)).min(begin + self.line_sectors);
        mask(first - begin, end - first)
    }

    fn add_pieces(&self, pieces: &mut Pieces, device: usize, line: u64, set: Mask) {
        let slot = self.lines.get(line).map_or(0, |line| line.slot);
        let begin = if device == SSD { slot * self.line_sectors } else { line * self.line_sectors };
        stretches(set).for_each(|(first, sectors)| pieces.add(device, begin + first, sectors));
    }

    fn route_read(&mut self, read: &mut UnderWay, pieces: &mut Pieces) {
        let long = self.streams.is_long(&read.request);
        for line in self.lines_of(&read.request) {
            let wanted = self.wanted(&read.request, line);
            let held = self.lines.get(line).map(|line| line.valid);
            let (hit, missing) = (wanted & held.unwrap_or(0), wanted & !held.unwrap_or(0));
            self.lines.touch(line);
            self.add_pieces(pieces, SSD, line, hit);
            self.add_pieces(pieces, BACKING, line, missing);
            if hit != 0 {
                self.use_line(line, read);
            }
            self.counts.hit_sectors += u64::from(hit.count_ones());
            self.counts.missed_sectors += u64::from(missing.count_ones());
            if missing != 0 && !long && !self.is_being_written(line) && (held.is_some() || self.is_worth_it(line)) {
                read.promotes.extend(stretches(missing).map(|(first, sectors)| (line, mask(first, sectors))));
            }
        }
    }

    fn route_write(&mut self, write: &mut UnderWay, pieces: &mut Pieces) {
        let long = self.streams.is_long(&write.request);
        self.cancel_copies(&write.request);
        for line in self.lines_of(&write.request) {
            let wanted = self.wanted(&write.request, line);
            let is_newer = self.lines.get(line).is_some_and(|line| line.dirty | line.destaging != 0);
            if long && !is_newer {
                self.counts.bypassed_sectors += u64::from(wanted.count_ones());
                self.forget(line, wanted);
                self.add_pieces(pieces, BACKING, line, wanted);
                continue;
            }
            let held = match self.config.mode {
                WriteMode::WriteBack => self.hold(line),
                WriteMode::WriteThrough => {
                    self.forget(line, wanted);
                    (self.lines.get(line).is_some() || self.is_worth_it(line)) && self.hold(line)
                }
            };
            if held {
                self.add_pieces(pieces, SSD, line, wanted);
                self.use_line(line, write);
                write.fills.push((line, wanted));
            }
            if !held || self.config.mode == WriteMode::WriteThrough {
                self.add_pieces(pieces, BACKING, line, wanted);
            }
        }
    }

    /// From here to the end of the request the line stays, also while the request needs room for others.
    fn use_line(&mut self, line: u64, request: &mut UnderWay) {
        if let Some(held) = self.lines.get_mut(line) {
            held.users += 1;
            request.uses.push(line);
        }
    }

    /// Sectors of which the device below has, or will have, the only copy.
    fn forget(&mut self, line: u64, sectors: Mask) {
        if let Some(held) = self.lines.get_mut(line) {
            held.valid &= !sectors;
        }
    }

    /// Takes trimmed sectors out; a line of which nothing is left goes.
    fn drop_sectors(&mut self, request: &Request) {
        self.cancel_copies(request);
        for line in self.lines_of(request) {
            let wanted = self.wanted(request, line);
            let Some(held) = self.lines.get_mut(line) else { continue };
            held.valid &= !wanted;
            held.dirty &= !wanted;
            let Line { slot, valid, dirty, .. } = *held;
            if dirty == 0 {
                self.dirty.remove(&line);
            }
            if valid == 0 && held.can_go() {
                self.lines.remove(line);
                self.free.push(slot);
            }
        }
    }

    /// What reads under way bring of these lines is old by the time it is here.
    fn cancel_copies(&mut self, request: &Request) {
        let lines = self.lines_of(request);
        for read in self.requests.values_mut() {
            read.promotes.retain(|(line, _)| !lines.contains(line));
        }
    }

    fn is_being_written(&self, line: u64) -> bool {
        let writes = |operation| matches!(operation, Operation::Write | Operation::WriteZeroes);
        self.requests
            .values()
            .any(|other| writes(other.request.operation) && self.lines_of(&other.request).contains(&line))
    }

    /// Counts an access of a line that is not held; whether it has had enough of them.
    fn is_worth_it(&mut self, line: u64) -> bool {
        let seen = self.seen.get(line).copied().unwrap_or(0) + 1;
        if seen >= self.config.promote_after {
            self.seen.remove(line);
            return true;
        }
        match self.seen.get_mut(line) {
            Some(count) => *count = seen,
            None => self.seen.insert(line, seen),
        }
        self.seen.touch(line);
        if self.seen.len() as u64 > self.slots {
            let oldest = self.seen.oldest().next().map(|(line, _)| line);
            oldest.and_then(|line| self.seen.remove(line));
        }
        false
    }

    /// Sees to it that a line is held, as the one used last; `false` where nothing can make room.
    pub(super) fn hold(&mut self, line: u64) -> bool {
        if self.lines.get(line).is_some() {
            self.lines.touch(line);
            return true;
        }
        let Some(slot) = self.free_slot() else { return false };
        self.lines.insert(line, Line::new(slot));
        true
    }

    fn free_slot(&mut self) -> Option<u64> {
        if let Some(slot) = self.free.pop() {
            return Some(slot);
        }
        if self.unused < self.slots {
            self.unused += 1;
            return Some(self.unused - 1);
        }
        let (oldest, slot) = self
            .lines
            .oldest()
            .take(LOOKED_AT)
            .find(|(_, line)| line.can_go())
            .map(|(number, line)| (number, line.slot))?;
        self.lines.remove(oldest);
        self.counts.evicted_lines += 1;
        Some(slot)
    }

    /// What a request that is done has changed in the cache.
    pub(super) fn take_effect(&mut self, done: &UnderWay) {
        for &line in &done.uses {
            self.lines.get_mut(line).expect("in use").users -= 1;
        }
        if done.status != Status::Success {
            return;
        }
        for &(line, filled) in &done.fills {
            let held = self.lines.get_mut(line).expect("was in use");
            held.valid |= filled;
            if done.dirties {
                held.dirty |= filled;
                self.dirty.insert(line);
            }
        }
    }
}

/// Old lines that are looked at for one that can go.
const LOOKED_AT: usize = 64;
