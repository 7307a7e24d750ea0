//! In which passes a job goes over its region, and when it is done, as fio 3.33 has it.
//!
//! With L = `io_size`, or else `size`:
//!
//! - A pass ends after `size`; one of random writes without a map after the larger of `size` and `io_size`. A
//!   synchronous engine (and fio's own default is one) ends a pass where its places are used up: at the end of the
//!   region, or of the map. Without a map they never are, and all is one pass.
//! - As many passes come as `loops` says. With `io_size` more come while L is further away than the largest block.
//! - All of them together transfer no more than L · `loops`, and make no more requests than `number_ios` · `loops`.
//! - With `randrepeat` (the default, and off with a `randseed`) each pass draws what the first one drew: the same
//!   places in the same order, the same directions and sizes. Draws of a skewed distribution go on.

use crate::workload::job::Job;

/// Where the passes of a job end, in sectors.
#[derive(Clone, Copy, Debug)]
pub struct Passes {
    /// Of each place once.
    pub places: u64,
    /// Each pass draws what the first one drew.
    pub repeat: bool,
    /// When the present pass ends, at the latest, in sectors that were issued.
    pub end: u64,
    /// When it began.
    began: u64,
    /// Of one pass.
    pass: u64,
    /// Of all passes, at most, and as far as one can tell beforehand.
    most: u64,
    expected: u64,
    loops_left: u32,
    /// Behind the loops there are passes until this is issued.
    at_least: u64,
}

impl Passes {
    /// Of a job whose places are used up after so many sectors, of a `size` and a limit; `largest` is its largest
    /// block.
    pub fn new(job: &Job, places: u64, size: u64, limit: u64, largest: u64) -> Passes {
        let loops = u64::from(job.loops.max(1));
        let most = match job.layout_only {
            true => 0,
            false if job.time_based => u64::MAX,
            false => limit.saturating_mul(loops),
        };
        let pattern = job.pattern;
        let is_free = pattern.random && job.no_random_map && !job.full_period;
        let trims_then_writes = pattern.writes && pattern.trims;
        let mut of_queue = if is_free && pattern.writes { size.max(limit) } else { size };
        if trims_then_writes {
            // fio counts trims and writes here, and the limit of all passes on top of one pass.
            of_queue = of_queue.saturating_add(most) / 2;
        }
        // And here a trim and its write are two blocks.
        let least = limit.saturating_sub(largest) / if trims_then_writes { 2 } else { 1 } + 1;
        let at_least = if job.io_size.is_some() && limit >= largest { least } else { 0 };
        let in_one = match is_free {
            true if !job.is_queued_by_engine => most,
            true => of_queue,
            false => of_queue.min(places),
        };
        let in_one = in_one.max(1);
        let expected = in_one.saturating_mul(loops.max(at_least.div_ceil(in_one))).min(most);
        let pass = if job.is_queued_by_engine && !job.time_based { of_queue.max(1) } else { u64::MAX };
        let repeat = job.rand_repeat && job.rand_seed.is_none();
        let end = pass.min(most);
        Passes { places, repeat, end, began: 0, pass, most, expected, loops_left: job.loops.max(1) - 1, at_least }
    }

    /// What the job will transfer; `None` where only time ends it.
    pub fn expected(&self) -> Option<u64> {
        (self.most < u64::MAX).then_some(self.expected)
    }

    /// The places are used up: the pass ends here.
    pub fn end_here(&mut self, issued: u64) {
        self.end = issued;
    }

    /// Begins the next pass, if one comes; none comes after one in which nothing was issued.
    pub fn begin_next(&mut self, issued: u64) -> bool {
        let is_wanted = self.most == u64::MAX || self.loops_left > 0 || issued < self.at_least;
        let comes = issued > self.began && issued < self.most && is_wanted;
        if comes {
            self.loops_left = self.loops_left.saturating_sub(1);
            self.began = issued;
            self.end = issued.saturating_add(self.pass).min(self.most);
        }
        comes
    }

    /// Nothing comes any more.
    pub fn stop(&mut self) {
        (self.end, self.most) = (0, 0);
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::workload::parse::parse_flags;
    use crate::workload::region::in_bytes;

    /// Blocks of 4 KiB of each pass of a job with a region of 64 KiB.
    fn passes(flags: &str) -> Vec<u64> {
        let flags = format!("--rw=randwrite --ioengine=libaio {flags}");
        let flags: Vec<String> = flags.split_whitespace().map(String::from).collect();
        let job = parse_flags(&flags).unwrap().jobs.remove(0);
        let limit = job.io_size.map_or(16, |limit| in_bytes(limit, 65536).div_ceil(4096));
        let mut passes = Passes::new(&job, 16, 16, limit, 1);
        // A pass ends where the map is full.
        let ends = |passes: &Passes| if job.no_random_map { passes.end } else { passes.end.min(passes.began + 16) };
        let mut issued = ends(&passes);
        let mut all = vec![issued];
        while passes.begin_next(issued) {
            all.push(ends(&passes) - issued);
            issued = ends(&passes);
        }
        assert_eq!(passes.expected(), Some(issued), "{flags:?}");
        all
    }

    /// As many requests as fio 3.33 logs, with its null engine at depth 2.
    #[test]
    fn requests_are_as_many_as_fio_logs() {
        assert_eq!(passes("--loops=2"), [16, 16]);
        assert_eq!(passes("--io_size=100k"), [16, 9]);
        assert_eq!(passes("--loops=2 --io_size=24k"), [12]);
        assert_eq!(passes("--loops=2 --io_size=96k"), [16, 16]);
        assert_eq!(passes("--loops=2 --io_size=96k --norandommap"), [24, 24]);
        assert_eq!(passes("--io_size=128k --norandommap --rw=randread"), [16, 16]);
        assert_eq!(passes("--io_size=128k --norandommap"), [32]);
        assert_eq!(passes("--io_size=96k --rw=randtrimwrite"), [16]);
    }

    /// Without a map all is one pass for a synchronous engine.
    #[test]
    fn a_synchronous_engine_goes_on_without_a_map() {
        assert_eq!(passes("--loops=3 --norandommap --ioengine=psync"), [48]);
        assert_eq!(passes("--loops=3 --ioengine=psync"), [16, 16, 16]);
    }

    /// `randrepeat` repeats, and gives way to a `randseed`.
    #[test]
    fn passes_repeat_unless_told_otherwise() {
        let repeat = |job: Job| Passes::new(&job, 8, 8, 8, 8).repeat;
        assert!(repeat(Job::default()));
        assert!(!repeat(Job { rand_repeat: false, ..Job::default() }));
        assert!(!repeat(Job { rand_seed: Some(7), ..Job::default() }));
    }

    /// A job that cannot issue anything ends.
    #[test]
    fn nothing_issued_ends_the_job() {
        let mut passes = Passes::new(&Job { loops: 5, ..Job::default() }, 8, 8, 8, 8);
        passes.end_here(0);
        assert!(!passes.begin_next(0));
    }
}
