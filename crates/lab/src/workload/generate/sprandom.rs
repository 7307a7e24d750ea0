//! fio's `sprandom`: one pass of writes that leaves blocks about as valid as long random writes would leave them.
//!
//! A drive that was written at random for long has blocks of every validity between that of the block that is collected
//! next and 1, the more of a validity the lower it is (i · f(i) is constant: P. Desnoyers, "Analytic models of SSD write
//! performance", ACM Transactions on Storage 8(2), 2012). A pass imitates this in the order of writing, as fio 3.41 does:
//!
//! - The writes are (1 + p) times the exported blocks, p = `spr_op`, in R equal regions, one after the other.
//! - Write amplification is taken as 0.5/p + 0.7, the least validity as v₀ = 1 − 1/that. Validities of the regions rise
//!   from v₀ to 1, spaced so that each stands for as much space: close to v₀^(1 − x) at the share x of the pass.
//! - New blocks come in random order, each once. Of what a region writes, each is drawn with the probability
//!   1 − validity to be written once more at the start of the next region, which makes its first copy invalid; with a
//!   cache (`spr_cs`) at the end of the next region.
//! - The pass ends when all blocks were written, or with the last region.
//!
//! Left out: what fio's table holds behind its last region, which a pass may meet for a few writes. There none is written
//! again here.

use crate::workload::addresses::Span;
use crate::workload::error::{Misfit, Problem};
use crate::workload::job::{Job, Sprandom};
use crate::workload::permutation::Cover;
use crate::workload::random::{Purpose, Stream};
use std::collections::VecDeque;

/// Probabilities have this many steps.
const STEPS: f64 = 10_000.0;

/// The writes of a pass.
#[derive(Clone, Debug)]
pub struct Pass {
    /// Sectors of a block.
    block_sectors: u32,
    /// Writes of the pass, and of each region.
    writes: u64,
    region_writes: u64,
    /// Of each region: steps up to which a draw lets a block be written again.
    again: Vec<u64>,
    /// What is written again waits for the end of the next region.
    waits: bool,
    order: Cover,
    draws: [Stream; 2],
    /// The draws as they were at the start.
    start: [Stream; 2],
    region: usize,
    /// New blocks that the region still writes.
    left: u64,
    /// Blocks to be written again: of the region before, and of this one.
    due: VecDeque<u64>,
    next_due: Vec<u64>,
}

impl Pass {
    /// For a region of the drive of so many sectors.
    ///
    /// # Errors
    /// More regions than blocks, and regions smaller than the cache.
    pub fn new(job: &Job, shape: Sprandom, sectors: u64, sector_bytes: u32, seed: u64) -> Result<Pass, Misfit> {
        let block_sectors = job.block_sizes.write[0].bytes / sector_bytes;
        let block_bytes = u64::from(block_sectors) * u64::from(sector_bytes);
        let bytes = sectors * u64::from(sector_bytes);
        let all_bytes = bytes + (bytes as f64 * shape.over_provisioning).ceil() as u64;
        let writes = all_bytes / block_bytes;
        let region_bytes = writes * block_bytes / u64::from(shape.regions);
        let region_writes = region_bytes / block_bytes;
        if region_writes == 0 {
            let problem = Problem::new(format!("are more regions than the {writes} writes"), "give fewer regions");
            return Err(("spr_num_regions", shape.regions.to_string(), problem));
        }
        if shape.cache_bytes > region_bytes {
            let most = writes * block_bytes / shape.cache_bytes;
            let message = format!("is larger than a region, which has {region_bytes} bytes");
            let problem = Problem::new(message, format!("give spr_num_regions={most}, or fewer"));
            return Err(("spr_cs", shape.cache_bytes.to_string(), problem));
        }
        let steps = |validity: f64| ((1.0 - validity) * STEPS).round() as u64;
        let start = [Stream::new(seed, Purpose::Address), Stream::new(seed, Purpose::Again)];
        let mut draws = start.clone();
        Ok(Pass {
            block_sectors,
            writes,
            region_writes,
            again: validities(shape.regions, shape.over_provisioning).into_iter().map(steps).collect(),
            waits: shape.cache_bytes > 0,
            order: Cover::new(sectors / u64::from(block_sectors), &mut draws[0]),
            draws,
            start,
            region: 0,
            left: region_writes,
            due: VecDeque::new(),
            next_due: Vec::new(),
        })
    }

    /// Sectors that the pass writes at most.
    pub fn sectors(&self) -> u64 {
        self.writes * u64::from(self.block_sectors)
    }

    /// Starts over.
    pub fn restart(&mut self, repeat: bool) {
        if repeat {
            self.draws = self.start.clone();
        }
        self.order.restart(&mut self.draws[0]);
        (self.region, self.left) = (0, self.region_writes);
        self.due.clear();
        self.next_due.clear();
    }

    /// The next write's place; `None` at the end of the pass.
    pub fn next(&mut self) -> Option<Span> {
        let block = self.next_block()?;
        Some((block * u64::from(self.block_sectors), self.block_sectors))
    }

    fn next_block(&mut self) -> Option<u64> {
        if (!self.waits || self.left == 0)
            && let Some(block) = self.due.pop_front()
        {
            return Some(self.drawn(block));
        }
        if self.left == 0 {
            if self.region == self.again.len() {
                return None;
            }
            self.region += 1;
            self.left = self.region_writes.saturating_sub(self.next_due.len() as u64);
            self.due.extend(self.next_due.drain(..));
        }
        match self.order.next_in_round() {
            Some(block) => {
                self.left = self.left.saturating_sub(1);
                Some(self.drawn(block))
            }
            // What waited for the end of the region is written still.
            None => self.due.pop_front(),
        }
    }

    /// The block, which may be drawn to be written again.
    fn drawn(&mut self, block: u64) -> u64 {
        let draw = self.draws[1].below(STEPS as u64 + 1);
        if self.again.get(self.region).is_some_and(|again| draw <= *again) {
            self.next_due.push(block);
        }
        block
    }
}

/// The validity that each region is left with, rising to 1.
fn validities(regions: u32, over_provisioning: f64) -> Vec<f64> {
    let write_amplification = 0.5 / over_provisioning + 0.7;
    let least = 1.0 - 1.0 / write_amplification;
    let last = (regions - 1).max(1);
    // Validities in equal steps down from 1, and the space up to each.
    let mut space = 0.0;
    let curve: Vec<(f64, f64)> = (0..regions)
        .map(|step| {
            let validity = 1.0 + (least - 1.0) * f64::from(step) / f64::from(last);
            space += 1.0 / validity;
            (space, validity)
        })
        .collect();
    let (first, width) = (curve[0].0, (space - curve[0].0) / f64::from(last));
    let mut even: Vec<f64> = (0..regions).map(|step| interpolated(&curve, first + width * f64::from(step))).collect();
    even.reverse();
    even
}

/// The height of a rising curve's line at a place on it.
fn interpolated(curve: &[(f64, f64)], at: f64) -> f64 {
    let next = curve.partition_point(|(x, _)| *x < at).min(curve.len() - 1);
    let (from, to) = (curve[next.saturating_sub(1)], curve[next]);
    let share = if to.0 > from.0 { ((at - from.0) / (to.0 - from.0)).clamp(0.0, 1.0) } else { 0.0 };
    from.1 + (to.1 - from.1) * share
}

#[cfg(test)]
mod test;
