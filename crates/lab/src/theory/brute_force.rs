//! An independent program to hold the closed forms against: plain arrays, nothing shared with the
//! drive model or the formulas, and nothing clever.
//!
//! A block is collected in place, which stands for moving its valid pages to the one erased block and
//! giving that the old one's name. Hence a block's place in the FIFO is its number.

use super::{Point, Policy};

/// Sequences of numbers that depend on the seed alone (SplitMix64 by Vigna).
pub struct Draws(pub u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From `low` up to, and without, `high`.
    pub fn fraction(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// From 0 up to, and without, `end`.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}

const NOWHERE: usize = usize::MAX;

/// A drive of plain arrays.
struct Drive {
    pages: usize,
    place: Vec<usize>,
    unit_at: Vec<usize>,
    valid: Vec<u16>,
    open: usize,
    written: usize,
    programs: u64,
}

impl Drive {
    fn empty(units: usize, blocks: usize, pages: usize) -> Drive {
        Drive {
            pages,
            place: vec![NOWHERE; units],
            unit_at: vec![NOWHERE; blocks * pages],
            valid: vec![0; blocks],
            open: 0,
            written: 0,
            programs: 0,
        }
    }

    fn unmap(&mut self, unit: usize) {
        if self.place[unit] != NOWHERE {
            self.valid[self.place[unit] / self.pages] -= 1;
            self.place[unit] = NOWHERE;
        }
    }

    fn program(&mut self, unit: usize) {
        let page = self.open * self.pages + self.written;
        self.unit_at[page] = unit;
        self.place[unit] = page;
        self.valid[self.open] += 1;
        self.written += 1;
        self.programs += 1;
    }

    fn write(&mut self, unit: usize, policy: Policy, draws: &mut Draws) {
        self.unmap(unit);
        while self.written == self.pages {
            let victim = self.victim(policy, draws);
            self.collect(victim);
        }
        self.program(unit);
    }

    fn victim(&self, policy: Policy, draws: &mut Draws) -> usize {
        let blocks = self.valid.len();
        match policy {
            Policy::Fifo => (self.open + 1) % blocks,
            Policy::Random => draws.below(blocks),
            Policy::DChoices(choices) => {
                let drawn = (0..choices).map(|_| draws.below(blocks));
                drawn.min_by_key(|&block| self.valid[block]).expect("at least one choice")
            }
            Policy::Greedy => {
                let fewest = self.valid.iter().min();
                self.valid.iter().position(|valid| Some(valid) == fewest).expect("a block")
            }
        }
    }

    fn collect(&mut self, victim: usize) {
        self.open = victim;
        self.written = 0;
        self.valid[victim] = 0;
        for page in victim * self.pages..(victim + 1) * self.pages {
            let unit = self.unit_at[page];
            if unit != NOWHERE && self.place[unit] == page {
                self.program(unit);
            }
        }
    }
}

/// Steady write amplification at a point, from `fills` times the exported pages of host writes after
/// twice as many of warm-up.
pub fn simulate(point: &Point, blocks: usize, fills: usize, seed: u64) -> f64 {
    let pages = point.pages_per_block as usize;
    let units = ((blocks * pages) as f64 / (1.0 + point.over_provisioning)).round() as usize;
    let touched = ((1.0 - point.unwritten_share.unwrap_or(0.0)) * units as f64).round() as usize;
    let mut draws = Draws(seed);
    let mut drive = Drive::empty(touched, blocks, pages);
    for unit in 0..touched {
        if drive.written == pages {
            drive.open += 1;
            drive.written = 0;
        }
        drive.program(unit);
    }
    work(&mut drive, point, 2 * fills * units, &mut draws);
    let before = drive.programs;
    let writes = work(&mut drive, point, fills * units, &mut draws);
    (drive.programs - before) as f64 / writes as f64
}

/// Serves so many requests and returns how many were writes.
fn work(drive: &mut Drive, point: &Point, requests: usize, draws: &mut Draws) -> u64 {
    let units = drive.place.len();
    let mut writes = 0;
    for _ in 0..requests {
        if point.trim_share.is_some_and(|share| draws.fraction(0.0, 1.0) < share) {
            trim_a_mapped_unit(drive, draws);
            continue;
        }
        let unit = match point.hot {
            None => draws.below(units),
            Some((space, share)) => {
                let hot = (space * units as f64) as usize;
                let is_hot = draws.fraction(0.0, 1.0) < share;
                if is_hot { draws.below(hot) } else { hot + draws.below(units - hot) }
            }
        };
        drive.write(unit, point.policy, draws);
        writes += 1;
    }
    writes
}

fn trim_a_mapped_unit(drive: &mut Drive, draws: &mut Draws) {
    loop {
        let unit = draws.below(drive.place.len());
        if drive.place[unit] != NOWHERE {
            return drive.unmap(unit);
        }
    }
}
