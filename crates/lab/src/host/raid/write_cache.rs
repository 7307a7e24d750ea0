//! The write-back cache of a controller: what is dirty, what is being destaged, what waits.
//!
//! A cache line holds what was written to it and counts against the cache whole. Destaging begins
//! when more than its share is dirty, when the oldest write has waited its time, or when somebody
//! waits for room or for a flush; it goes through the addresses upwards, round and round, and takes
//! all dirty lines of a stripe together. A line that is written again while it is being destaged is
//! destaged again. Left out: reads that stay in the cache for others.

use super::ranges::Ranges;
use std::collections::{BTreeMap, VecDeque};

/// Lines by number, and what is dirty in each, in sectors of the array.
pub type Lines = BTreeMap<u64, Ranges>;

/// A request that waits until what was dirty when it came has been destaged.
#[derive(Clone, Debug)]
struct Drain {
    request: u32,
    /// How often each line must still be destaged.
    lines: BTreeMap<u64, u32>,
}

/// The cache.
#[derive(Clone, Debug)]
pub struct WriteCache {
    line_sectors: u64,
    lines_per_stripe: u64,
    capacity_lines: usize,
    dirty_lines_high: usize,
    dirty: Lines,
    in_flight: Lines,
    drains: Vec<Drain>,
    stalled: VecDeque<u32>,
    /// Where the next line to destage is looked for.
    hand: u64,
    /// The oldest write has waited its time: destages until nothing is dirty.
    pub overdue: bool,
}

impl WriteCache {
    /// A cache of so many lines, empty.
    pub fn new(line_sectors: u64, lines_per_stripe: u64, capacity_lines: usize, share: f64) -> WriteCache {
        WriteCache {
            line_sectors,
            lines_per_stripe,
            capacity_lines,
            dirty_lines_high: (capacity_lines as f64 * share) as usize,
            dirty: Lines::new(),
            in_flight: Lines::new(),
            drains: Vec::new(),
            stalled: VecDeque::new(),
            hand: 0,
            overdue: false,
        }
    }

    /// Sectors of a line.
    pub fn line_sectors(&self) -> u64 {
        self.line_sectors
    }

    /// Whether nothing is left to be destaged.
    pub fn is_clean(&self) -> bool {
        self.dirty.is_empty() && self.in_flight.is_empty()
    }

    /// Takes a write, unless there is no room for its lines.
    pub fn take(&mut self, lba: u64, sectors: u64) -> bool {
        let lines = self.lines(lba, sectors);
        let new = lines.clone().filter(|line| !self.dirty.contains_key(line)).count();
        if self.dirty.len() + self.in_flight.len() + new > self.capacity_lines {
            return false;
        }
        for line in lines {
            let (from, to) = self.within(line, lba, sectors);
            self.dirty.entry(line).or_default().insert(from, to);
        }
        true
    }

    /// Whether a write could find room in the empty cache.
    pub fn could_take(&self, lba: u64, sectors: u64) -> bool {
        self.lines(lba, sectors).count() <= self.capacity_lines
    }

    /// A write waits for room.
    pub fn stall(&mut self, request: u32) {
        self.stalled.push_back(request);
    }

    /// Whether a write waits for room.
    pub fn is_stalled(&self) -> bool {
        !self.stalled.is_empty()
    }

    /// The write that has waited longest.
    pub fn next_stalled(&mut self) -> Option<u32> {
        self.stalled.pop_front()
    }

    /// It finds no room yet.
    pub fn stall_again(&mut self, request: u32) {
        self.stalled.push_front(request);
    }

    /// Whether all sectors of a stretch are in the cache.
    pub fn holds(&self, lba: u64, sectors: u64) -> bool {
        self.lines(lba, sectors).all(|line| {
            let (from, to) = self.within(line, lba, sectors);
            let mut held = self.dirty.get(&line).cloned().unwrap_or_default();
            self.in_flight.get(&line).into_iter().for_each(|ranges| held.insert_all(ranges));
            held.sectors_within(from, to) == to - from
        })
    }

    /// Forgets what is dirty of a stretch: it was trimmed, or written past the cache.
    pub fn forget(&mut self, lba: u64, sectors: u64) {
        for line in self.lines(lba, sectors) {
            if let Some(ranges) = self.dirty.get_mut(&line) {
                ranges.remove(lba, lba + sectors);
                if ranges.is_empty() {
                    self.dirty.remove(&line);
                }
            }
        }
    }

    /// A request waits until what is dirty now, in the stretch or anywhere, has been destaged;
    /// `false` where nothing is.
    pub fn drain(&mut self, request: u32, stretch: Option<(u64, u64)>) -> bool {
        let wanted = |line: &u64| stretch.is_none_or(|(lba, sectors)| self.lines(lba, sectors).contains(line));
        let mut lines = BTreeMap::new();
        for line in self.dirty.keys().chain(self.in_flight.keys()).filter(|line| wanted(line)) {
            *lines.entry(*line).or_insert(0) += 1;
        }
        let waits = !lines.is_empty();
        if waits {
            self.drains.push(Drain { request, lines });
        }
        waits
    }

    /// The next stripe to destage, if it is time to: its lines, and what is dirty in them.
    pub fn next_to_destage(&mut self) -> Option<Lines> {
        let used = self.dirty.len() + self.in_flight.len();
        let due = self.overdue || !self.drains.is_empty() || self.is_stalled() || used > self.dirty_lines_high;
        let free = |line: &&u64| !self.in_flight.contains_key(*line);
        let from_hand = self.dirty.range(self.hand..).map(|(line, _)| line).find(free);
        let line = *from_hand.or_else(|| self.dirty.keys().find(free)).filter(|_| due)?;
        let start = line / self.lines_per_stripe * self.lines_per_stripe;
        let stripe = start..start + self.lines_per_stripe;
        let lines: Vec<u64> =
            self.dirty.range(stripe.clone()).map(|(line, _)| *line).filter(|line| free(&line)).collect();
        self.hand = stripe.end;
        let taken: Lines = lines.into_iter().filter_map(|line| self.dirty.remove_entry(&line)).collect();
        self.in_flight.extend(taken.clone());
        Some(taken)
    }

    /// Lines have been destaged; returns the requests that waited for them.
    pub fn destaged(&mut self, lines: &[u64]) -> Vec<u32> {
        for line in lines {
            self.in_flight.remove(line);
            for drain in &mut self.drains {
                if let Some(left) = drain.lines.get_mut(line) {
                    *left -= 1;
                    if *left == 0 {
                        drain.lines.remove(line);
                    }
                }
            }
        }
        self.overdue &= !self.is_clean();
        let done = self.drains.iter().filter(|drain| drain.lines.is_empty()).map(|drain| drain.request).collect();
        self.drains.retain(|drain| !drain.lines.is_empty());
        done
    }

    /// The power fails: what a battery keeps is dirty again, else it is lost; returns lost sectors.
    pub fn cut_power(&mut self, battery: bool) -> u64 {
        for (line, ranges) in std::mem::take(&mut self.in_flight) {
            self.dirty.entry(line).or_default().insert_all(&ranges);
        }
        self.drains.clear();
        self.stalled.clear();
        self.overdue = battery && !self.dirty.is_empty();
        if battery { 0 } else { std::mem::take(&mut self.dirty).values().map(Ranges::sectors).sum() }
    }

    fn lines(&self, lba: u64, sectors: u64) -> std::ops::Range<u64> {
        lba / self.line_sectors..(lba + sectors).div_ceil(self.line_sectors)
    }

    /// The part of a stretch that lies in a line.
    fn within(&self, line: u64, lba: u64, sectors: u64) -> (u64, u64) {
        (lba.max(line * self.line_sectors), (lba + sectors).min((line + 1) * self.line_sectors))
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Lines of 8 sectors, four to a stripe, three of them fit.
    fn cache() -> WriteCache {
        WriteCache::new(8, 4, 3, 0.0)
    }

    /// A write that finds no room for its lines is refused; one to a line that is there is not.
    #[test]
    fn a_line_counts_whole() {
        let mut cache = cache();
        assert!(cache.take(0, 1) && cache.take(8, 1) && cache.take(16, 1));
        assert!(!cache.take(24, 1));
        assert!(cache.take(1, 7));
        assert!(cache.holds(0, 9) && !cache.holds(0, 10));
    }

    /// Dirty lines of a stripe are destaged together, and the next stripe upwards follows.
    #[test]
    fn destaging_goes_stripe_by_stripe_upwards() {
        let mut cache = cache();
        assert!(cache.take(40, 2) && cache.take(0, 1) && cache.take(8, 1));
        let numbers = |lines: Option<Lines>| lines.unwrap().into_keys().collect::<Vec<_>>();
        assert_eq!(numbers(cache.next_to_destage()), [0, 1]);
        assert_eq!(numbers(cache.next_to_destage()), [5]);
        assert!(cache.next_to_destage().is_none());
    }

    /// A flush waits for a line that is being destaged and for what was written to it since, and no longer.
    #[test]
    fn a_flush_waits_for_what_was_dirty_when_it_came() {
        let mut cache = cache();
        assert!(cache.take(0, 1));
        cache.next_to_destage().unwrap();
        assert!(cache.take(1, 1));
        assert!(cache.drain(7, None));
        assert!(cache.destaged(&[0]).is_empty());
        cache.next_to_destage().unwrap();
        assert!(cache.take(2, 1));
        assert_eq!(cache.destaged(&[0]), [7]);
    }

    /// Without a battery a power cut loses every sector that is not on the members, with one none.
    #[test]
    fn a_battery_keeps_what_is_dirty() {
        for (battery, lost) in [(true, 0), (false, 3)] {
            let mut cache = cache();
            assert!(cache.take(0, 2));
            cache.next_to_destage().unwrap();
            assert!(cache.take(1, 2));
            assert_eq!(cache.cut_power(battery), lost);
            assert_eq!(cache.holds(0, 3), battery);
        }
    }
}
