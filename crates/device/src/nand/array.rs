//! The flash array: executes what the FTL decides, enforces the rules of flash, counts wear.
//!
//! Rules, checked at every operation: a block is erased whole, its rows are programmed in order and
//! once, a bad block is not used. Breaking one is a bug of the FTL and panics.
//!
//! Times: read tR of the row's page kind; program tPROG of its page kind; erase
//!   tBERS·(1 + growth·w),  w = erases / endurance of the block (linear beyond 1, too).

use crate::config::nand::{NandConfig, ReliabilityConfig};
use crate::nand::geometry::Geometry;
use crate::nand::reliability::{ReadOutcome, failure_probability, raw_bit_error_rate};
use crate::sim::random::{Chance, Purpose, Stream};
use crate::units::{BlockId, Nanos};
use serde::{Deserialize, Serialize};
use std::mem::offset_of;

/// An operation of the array failed; the block must be retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

/// One block's state.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Block {
    /// Next row to be programmed.
    next_row: u32,
    /// Erases so far.
    erases: u32,
    /// Erases that this very block endures.
    endurance: u32,
    /// Reads since the last erase.
    reads: u32,
    /// Probability of a failing first read attempt, in 2⁻³².
    retry_threshold: u32,
    /// Programmed with one bit a cell.
    slc: bool,
    /// Not to be used any more.
    bad: bool,
}

/// All blocks of a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Array {
    geometry: Geometry,
    blocks: Vec<Block>,
    /// Some block was programmed with one bit a cell; else no read has to look at its block.
    has_slc: bool,
    errors: Stream,
    #[serde(skip)]
    times: Times,
    #[serde(skip)]
    has_errors: bool,
}

/// Array times from the configuration, by row so that none is looked up by division.
#[derive(Clone, Debug, Default)]
struct Times {
    read: ByRow,
    program: ByRow,
    slc_read: Nanos,
    slc_program: Nanos,
    erase: Nanos,
    erase_growth: f64,
    erase_limit: Option<Nanos>,
    program_fails: Chance,
    reliability: Option<ReliabilityConfig>,
}

/// A time by row, so that none is looked up by division.
#[derive(Clone, Debug, Default)]
struct ByRow {
    /// Where all rows are alike.
    only: Option<Nanos>,
    times: Vec<Nanos>,
}

impl ByRow {
    fn new(by_kind: &[Nanos], geometry: &Geometry) -> ByRow {
        if by_kind.iter().all(|time| *time == by_kind[0]) {
            return ByRow { only: Some(by_kind[0]), times: Vec::new() };
        }
        let kind = |row: u32| ((row % geometry.page_kinds) as usize).min(by_kind.len() - 1);
        ByRow { only: None, times: (0..geometry.rows).map(|row| by_kind[kind(row)]).collect() }
    }

    fn least(&self) -> Nanos {
        self.only.or_else(|| self.times.iter().copied().min()).unwrap_or_default()
    }

    #[inline]
    fn of(&self, row: u32) -> Nanos {
        match self.only {
            Some(time) => time,
            None => self.times[row as usize],
        }
    }
}

/// Reads of a block after which its error probability is worked out anew.
const READS_PER_UPDATE: u32 = 1024;

impl Array {
    /// A factory-new array; `seed` decides bad blocks and each block's endurance.
    pub fn new(geometry: Geometry, nand: &NandConfig, reliability: &ReliabilityConfig, seed: u64) -> Array {
        let mut manufacture = Stream::new(seed, Purpose::Manufacture);
        let rated = f64::from(reliability.rated_cycles);
        let blocks = (0..geometry.blocks)
            .map(|_| Block {
                next_row: 0,
                erases: 0,
                endurance: (rated * (1.0 + reliability.cycles_spread * manufacture.normal())).max(1.0) as u32,
                reads: 0,
                retry_threshold: 0,
                slc: false,
                bad: manufacture.unit() < reliability.factory_bad_share,
            })
            .collect();
        let mut array = Array {
            geometry,
            blocks,
            has_slc: false,
            errors: Stream::new(seed, Purpose::Errors),
            times: Times::default(),
            has_errors: false,
        };
        array.configure(nand, reliability);
        array
    }

    /// Sets times and rates: at creation, and after a saved array was read back.
    pub fn configure(&mut self, nand: &NandConfig, reliability: &ReliabilityConfig) {
        self.times = Times {
            read: ByRow::new(&nand.read_us.0, &self.geometry),
            program: ByRow::new(&nand.program_us.0, &self.geometry),
            slc_read: nand.slc_read_us.0,
            slc_program: nand.slc_program_us.0,
            erase: nand.erase_us.0,
            erase_growth: nand.erase_growth,
            erase_limit: nand.erase_limit_us.map(|limit| limit.0),
            program_fails: Chance::new(reliability.program_fail_share),
            reliability: Some(reliability.clone()),
        };
        self.has_errors = raw_bit_error_rate(reliability, 1.0, 1_000_000) > 0.0;
        (0..self.geometry.blocks).for_each(|block| self.update_errors(BlockId(block)));
    }

    /// tR of `rows` rows, one after the other.
    #[inline(always)]
    pub fn read_time(&self, block: BlockId, row: u32, rows: u32) -> Nanos {
        if self.has_slc && self.blocks[block.0 as usize].slc {
            return Nanos(self.times.slc_read.0 * u64::from(rows));
        }
        if rows == 1 {
            return self.times.read.of(row);
        }
        (row..row + rows).fold(Nanos::ZERO, |sum, row| sum + self.times.read.of(row))
    }

    /// tR of a row with its bits a cell.
    #[inline(always)]
    pub fn native_read_time(&self, row: u32) -> Nanos {
        self.times.read.of(row)
    }

    /// tPROG of a row.
    #[inline]
    fn program_time(&self, slc: bool, row: u32) -> Nanos {
        if slc { self.times.slc_program } else { self.times.program.of(row) }
    }

    /// Programs the next `count` rows of a block; returns the array time.
    ///
    /// # Errors
    /// The time it took to fail, when a program failed.
    #[inline(always)]
    pub fn program(&mut self, block: BlockId, count: u32) -> (Nanos, Result<(), Failed>) {
        let state = &mut self.blocks[block.0 as usize];
        assert!(
            !state.bad && state.next_row + count <= self.geometry.rows,
            "flash rule: rows in order, once, in a good block"
        );
        let (first, slc) = (state.next_row, state.slc);
        state.next_row += count;
        let mut time = self.program_time(slc, first);
        for row in first + 1..first + count {
            time += self.program_time(slc, row);
        }
        let fails = self.times.program_fails.is_possible() && self.errors.happens(self.times.program_fails);
        (time, if fails { Err(Failed) } else { Ok(()) })
    }

    /// The least array time of a move: tPROG and tR of the fastest rows.
    pub fn least_move(&self) -> Nanos {
        self.times.program.least() + self.times.read.least()
    }

    /// tPROG of a row with its bits a cell.
    #[inline(always)]
    pub fn native_program_time(&self, row: u32) -> Nanos {
        self.times.program.of(row)
    }

    /// tPROG and tR with the bits a cell, one after the other, where all rows are alike.
    #[inline(always)]
    pub fn native_move(&self) -> Option<Nanos> {
        Some(self.times.program.only? + self.times.read.only?)
    }

    /// Programs the next row of a block with its bits a cell, where neither programs nor reads fail.
    #[inline(always)]
    pub fn program_row(&mut self, block: BlockId) -> Nanos {
        let row = self.program_rows(block, 1);
        self.times.program.of(row)
    }

    /// Programs the next rows of a block, as [`Array::program_row`] does one; returns the first of them.
    #[inline(always)]
    pub fn program_rows(&mut self, block: BlockId, count: u32) -> u32 {
        let state = &mut self.blocks[block.0 as usize];
        let row = state.next_row;
        assert!(!state.bad && row + count <= self.geometry.rows, "flash rule: rows in order, once, in a good block");
        state.next_row += count;
        row
    }

    /// Neither a program nor a read can go wrong.
    pub fn is_reliable(&self) -> bool {
        !self.has_errors && !self.times.program_fails.is_possible()
    }

    /// Erases a block; `slc` decides how it is programmed next. Returns the array time.
    ///
    /// # Errors
    /// [`Failed`] when the erase takes longer than its limit.
    pub fn erase(&mut self, block: BlockId, slc: bool) -> (Nanos, Result<(), Failed>) {
        let state = &mut self.blocks[block.0 as usize];
        assert!(!state.bad, "flash rule: a bad block is not erased");
        let wear = f64::from(state.erases) / f64::from(state.endurance);
        let time = Nanos((self.times.erase.0 as f64 * (1.0 + self.times.erase_growth * wear)).round() as u64);
        state.erases += 1;
        state.next_row = 0;
        state.reads = 0;
        state.slc = slc;
        self.update_errors(block);
        let fails = self.times.erase_limit.is_some_and(|limit| time > limit);
        (time, if fails { Err(Failed) } else { Ok(()) })
    }

    /// Chooses how an erased block is programmed: with one bit a cell or natively.
    pub fn set_slc(&mut self, block: BlockId, slc: bool) {
        let state = &mut self.blocks[block.0 as usize];
        assert!(state.next_row == 0, "flash rule: the mode is chosen before the first program");
        state.slc = slc;
        self.has_slc |= slc;
    }

    /// A read of a block by the host or for a move: disturbs it and may go wrong.
    #[inline(always)]
    pub fn read(&mut self, block: BlockId) -> ReadOutcome {
        if !self.has_errors {
            return ReadOutcome::default();
        }
        let state = &mut self.blocks[block.0 as usize];
        state.reads += 1;
        if state.reads.is_multiple_of(READS_PER_UPDATE) {
            self.update_errors(block);
        }
        let threshold = self.blocks[block.0 as usize].retry_threshold;
        if threshold == 0 || self.errors.below(u32::MAX) >= threshold {
            return ReadOutcome::default();
        }
        self.retry(block)
    }

    /// The first attempt failed: further ones at shifted thresholds.
    #[cold]
    fn retry(&mut self, block: BlockId) -> ReadOutcome {
        let config = self.times.reliability.clone().expect("configured");
        let mut rate = self.raw_bit_error_rate(block);
        let mut first = self.failure(&config, rate);
        for attempt in 1..=config.retries {
            rate *= config.retry_gain;
            // Given that the attempt before failed, this one fails with the ratio of the two.
            let next = self.failure(&config, rate);
            if self.errors.unit() * first >= next {
                return ReadOutcome { retries: attempt, uncorrectable: false };
            }
            first = next;
        }
        ReadOutcome { retries: config.retries, uncorrectable: true }
    }

    fn failure(&self, config: &ReliabilityConfig, rate: f64) -> f64 {
        let codewords = (u64::from(self.geometry.unit_bytes)).div_ceil(config.codeword_bytes.0) as u32;
        failure_probability(config, rate, codewords)
    }

    /// The block's raw bit error rate now.
    pub fn raw_bit_error_rate(&self, block: BlockId) -> f64 {
        let state = &self.blocks[block.0 as usize];
        let wear = f64::from(state.erases) / f64::from(state.endurance);
        let config = self.times.reliability.as_ref().expect("configured");
        // In steps, so that a restored array goes on with the same rates.
        let reads = state.reads / READS_PER_UPDATE * READS_PER_UPDATE;
        raw_bit_error_rate(config, wear, reads)
    }

    fn update_errors(&mut self, block: BlockId) {
        if !self.has_errors {
            return;
        }
        let config = self.times.reliability.clone().expect("configured");
        let failure = self.failure(&config, self.raw_bit_error_rate(block));
        self.blocks[block.0 as usize].retry_threshold = (failure * 4_294_967_295.0) as u32;
    }

    /// A block of a drive that is made out of another: so many rows are programmed, after so many erases.
    pub(crate) fn set_used(&mut self, block: BlockId, rows: u32, erases: u32) {
        let state = &mut self.blocks[block.0 as usize];
        (state.next_row, state.erases) = (rows, erases);
        self.update_errors(block);
    }

    /// Marks a block bad for ever.
    pub fn retire(&mut self, block: BlockId) {
        self.blocks[block.0 as usize].bad = true;
    }

    /// The block must not be used.
    #[inline]
    pub fn is_bad(&self, block: BlockId) -> bool {
        self.blocks[block.0 as usize].bad
    }

    /// The block is programmed with one bit a cell.
    #[inline]
    pub fn is_slc(&self, block: BlockId) -> bool {
        self.blocks[block.0 as usize].slc
    }

    /// Erases of a block so far.
    #[inline]
    pub fn erases(&self, block: BlockId) -> u32 {
        self.blocks[block.0 as usize].erases
    }

    /// All good blocks have been erased so many times more, as in a life before. Those beyond their endurance go bad when
    /// they are erased next.
    pub fn age(&mut self, cycles: u32) {
        let good = self.blocks.iter_mut().filter(|block| !block.bad);
        good.for_each(|block| block.erases = block.erases.saturating_add(cycles));
    }

    /// Where the erases of a block and of every so many further ones lie: the first, and the bytes to the next.
    pub fn erases_by_step(&self, first: BlockId, step: u32) -> (*const u32, u64) {
        let erases = self.blocks[first.0 as usize..].as_ptr().wrapping_byte_add(offset_of!(Block, erases));
        (erases.cast(), u64::from(step) * size_of::<Block>() as u64)
    }

    /// Rows of a block that are programmed.
    pub fn programmed_rows(&self, block: BlockId) -> u32 {
        self.blocks[block.0 as usize].next_row
    }

    /// Erase counts of all blocks that are not bad.
    pub fn erase_counts(&self) -> impl Iterator<Item = u32> {
        self.blocks.iter().filter(|block| !block.bad).map(|block| block.erases)
    }

    /// Blocks that must not be used.
    pub fn bad_blocks(&self) -> usize {
        self.blocks.iter().filter(|block| block.bad).count()
    }
}
