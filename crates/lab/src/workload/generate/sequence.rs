//! Blocks in a given order (`random_distribution=sequence:2,0,1`), as fio has it behind its version 3.42.
//!
//! Request number i of a direction, counted through all passes, goes to block bᵢ of the sequence b₀ … bₙ₋₁, over and
//! over; with `random_sequence_stride` to n · ⌊i/n⌋ + b, so that the sequence moves on by its own length. A block beyond
//! the region ends the job.

use crate::workload::addresses::{Direction, Span, active};
use crate::workload::error::{Misfit, Problem};
use crate::workload::job::Job;

/// Gives blocks in their order.
#[derive(Clone, Debug)]
pub struct Sequence {
    blocks: Vec<u64>,
    strides: bool,
    /// Sectors of the region.
    pub sectors: u64,
    /// Of reads, writes and trims.
    lanes: [Lane; 3],
}

#[derive(Clone, Copy, Debug)]
struct Lane {
    /// Distance of two blocks, in sectors.
    unit: u64,
    /// Sectors of a block.
    sectors: u32,
    issued: u64,
}

impl Sequence {
    /// For a region of so many sectors.
    ///
    /// # Errors
    /// A block of the sequence lies beyond the region.
    pub fn new(job: &Job, blocks: &[u64], strides: bool, sectors: u64, sector_bytes: u32) -> Result<Sequence, Misfit> {
        let (sizes, aligns) = (&job.block_sizes, &job.block_align);
        let lane = |bytes: u32, align: u64| Lane {
            unit: if align == 0 { bytes.into() } else { align } / u64::from(sector_bytes),
            sectors: bytes / sector_bytes,
            issued: 0,
        };
        let lanes = [
            lane(sizes.read[0].bytes, aligns.read),
            lane(sizes.write[0].bytes, aligns.write),
            lane(sizes.trim[0].bytes, aligns.trim),
        ];
        for direction in active(job) {
            let beyond = blocks.iter().find(|block| lanes[direction].span(**block, sectors).is_none());
            if let Some(block) = beyond {
                let count = sectors / u64::from(lanes[direction].sectors);
                let message = format!("block {block} lies beyond the region, which has {count}");
                let problem = Problem::new(message, "give a larger size, or blocks that lie there, counted from 0");
                return Err(("random_distribution", String::from("sequence"), problem));
            }
        }
        Ok(Sequence { blocks: blocks.to_vec(), strides, sectors, lanes })
    }

    /// The next request's place; `None` at the end of the region.
    pub fn next(&mut self, direction: Direction) -> Option<Span> {
        let lane = &mut self.lanes[direction];
        let length = self.blocks.len() as u64;
        let base = if self.strides { lane.issued / length * length } else { 0 };
        let span = lane.span(base + self.blocks[(lane.issued % length) as usize], self.sectors)?;
        lane.issued += 1;
        Some(span)
    }
}

impl Lane {
    /// A block's place, if it lies within so many sectors.
    fn span(&self, block: u64, sectors: u64) -> Option<Span> {
        let start = block.checked_mul(self.unit)?;
        let end = start.checked_add(u64::from(self.sectors))?;
        (end <= sectors).then_some((start, self.sectors))
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::workload::job::Distribution;
    use crate::workload::parse::parse_job_file;

    fn blocks(text: &str, count: usize) -> Vec<u64> {
        let text = format!("[a]\nrw=randread\nbs=4k\nrandom_distribution=sequence:2,0,1\n{text}");
        let job = parse_job_file(&text, "-").unwrap().jobs.remove(0);
        let Distribution::Sequence { blocks, strides } = &job.distribution else { panic!("a sequence") };
        let mut sequence = Sequence::new(&job, blocks, *strides, 12 * 8, 512).unwrap();
        std::iter::from_fn(|| sequence.next(0)).map(|(sector, _)| sector / 8).take(count).collect()
    }

    /// As fio's example `sequence-distribution.fio` says of its two jobs.
    #[test]
    fn a_sequence_repeats_or_moves_on() {
        assert_eq!(blocks("", 6), [2, 0, 1, 2, 0, 1]);
        assert_eq!(blocks("random_sequence_stride=1\n", 6), [2, 0, 1, 5, 3, 4]);
    }

    /// One that moves on ends at the end of the region, here of 12 blocks.
    #[test]
    fn it_ends_with_the_region() {
        assert_eq!(blocks("random_sequence_stride=1\n", 100).len(), 12);
    }
}
