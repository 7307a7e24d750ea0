//! Orders that a job gives its blocks itself (`sprandom`, `random_distribution=sequence`), and what goes with them.

use super::{Blame, Draft};
use crate::workload::error::Problem;
use crate::workload::job::{Distribution, Files, Sprandom};

/// What the options said.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order {
    /// `sprandom`.
    pub sprandom: bool,
    /// `spr_num_regions`, `spr_op`, `spr_cs`.
    pub shape: Sprandom,
    /// `random_sequence_stride`.
    pub strides: bool,
    /// `norandommap=0` is given.
    pub wants_map: bool,
    /// `random_generator` is given, and not `lfsr`.
    pub wants_draws: bool,
}

/// An option that does not go with an order, what is wrong, and the remedy.
type Obstacle = (bool, &'static str, &'static str, &'static str);

impl Draft {
    /// Sets the order, where the job has one of its own and nothing contradicts it.
    pub(super) fn complete_order(&mut self) -> Result<(), Blame> {
        let is_sequence = matches!(self.job.distribution, Distribution::Sequence { .. }) && self.job.pattern.random;
        let obstacles: Vec<Obstacle> = match (self.order.sprandom, is_sequence) {
            (true, _) => self.against_sprandom().into_iter().chain(self.against_order("sprandom")).collect(),
            (false, true) => self.against_order("random_distribution").into(),
            (false, false) => Vec::new(),
        };
        if let Some((_, option, message, remedy)) = obstacles.into_iter().find(|(applies, ..)| *applies) {
            return Err((option, Problem::new(message, remedy)));
        }
        if let Distribution::Sequence { strides, .. } = &mut self.job.distribution {
            *strides = self.order.strides;
        }
        if self.order.sprandom {
            self.job.sprandom = Some(self.order.shape);
            // fio sets both where they are not given.
            (self.job.no_random_map, self.job.full_period) = (true, true);
        }
        Ok(())
    }

    /// What no order of its own goes with; `order` is the option that asks for one.
    fn against_order(&self, order: &'static str) -> [Obstacle; 4] {
        let job = &self.job;
        let sizes = [&job.block_sizes.read, &job.block_sizes.write, &job.block_sizes.trim];
        let shares = [job.percent_random.read, job.percent_random.write, job.percent_random.trim];
        let mixed = sizes.iter().any(|sizes| sizes.len() > 1) || job.sizes_by_order;
        [
            (mixed, order, "places blocks of one size", "give bs alone, without bssplit, bsrange and bs_is_seq_rand"),
            (
                job.sequential_run > 1 || shares.iter().any(|share| *share < 100),
                order,
                "places every request itself",
                "leave percentage_random, and the number behind rw, out",
            ),
            (job.files != Files::default(), order, "works on one file", "leave nrfiles, and a range of filesize, out"),
            (job.strides.is_some(), "zonemode", "does not go with an order of its own", "leave zonemode out"),
        ]
    }

    fn against_sprandom(&self) -> [Obstacle; 8] {
        let (job, pattern) = (&self.job, self.job.pattern);
        let only_random_writes = pattern.random && pattern.writes && !pattern.reads && !pattern.trims;
        let block = job.block_sizes.write.first().map_or(0, |share| u64::from(share.bytes));
        let align = job.block_align.write;
        let alone = "leave it out: sprandom goes over the blocks in its own order";
        [
            (!only_random_writes, "sprandom", "goes with random writes alone", "use rw=randwrite"),
            (self.order.wants_map, "norandommap", "sprandom goes without a random map", "leave it out, or give 1"),
            (
                self.order.wants_draws,
                "random_generator",
                "sprandom goes by a generator that meets each block once",
                "leave it out, or give lfsr",
            ),
            (job.distribution != Distribution::Uniform, "random_distribution", "does not go with sprandom", alone),
            (align != 0 && align != block, "ba", "is not the block, by which sprandom counts", "give the same as bs"),
            (
                job.io_size.is_some(),
                "io_size",
                "is set by sprandom, to the spare space more than size",
                "leave it out, or give size",
            ),
            (job.loops > 1, "loops", "sprandom ends after one pass", "leave it out"),
            (job.time_based, "time_based", "sprandom ends after one pass", "leave it out; runtime still cuts it short"),
        ]
    }
}
