//! The memory that requests in flight take, asked for before a run begins.
//!
//! Every clone of a job can have `iodepth` requests in flight, and a place is kept for each. What a
//! few figures on the command line multiply to may be more than the machine has; an allocation that
//! fails would end the process.

use super::{RunError, worker};
use crate::workload::job::Job;
use std::ops::Range;

/// All requests in flight together may take so much.
const BYTES_AT_MOST: u64 = 1 << 30;

/// A group of jobs that run together has room for its requests.
pub fn check(jobs: &[Job], group: Range<usize>, bytes_per_request: usize) -> Result<(), RunError> {
    let requests: u64 = jobs[group]
        .iter()
        .map(|job| u64::from(job.num_jobs.max(1)) * (u64::from(worker::depth(job)) + 1))
        .fold(0, u64::saturating_add);
    let bytes = requests.saturating_mul(bytes_per_request as u64);
    if bytes <= BYTES_AT_MOST && is_free(bytes as usize) {
        return Ok(());
    }
    Err(RunError::Memory { requests, mebibytes: bytes.div_ceil(1 << 20) })
}

/// The allocator would give so many bytes now.
pub fn is_free(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::workload::parse::parse_flags;

    fn refused(flags: &[&str]) -> Option<String> {
        let flags: Vec<String> = flags.iter().map(|flag| flag.to_string()).collect();
        let jobs = parse_flags(&flags).unwrap().jobs;
        check(&jobs, 0..jobs.len(), 64).err().map(|error| error.to_string())
    }

    /// Clones times depth is what counts; the answer names the requests and the memory.
    #[test]
    fn requests_that_do_not_fit_into_memory_are_refused() {
        assert_eq!(refused(&["--rw=randread", "--numjobs=4096", "--iodepth=256"]), None);
        let answer = refused(&["--rw=randread", "--numjobs=4096", "--iodepth=65536"]).unwrap();
        // 4096 clones, each with 65,536 requests and a flush, at 64 bytes.
        assert!(answer.contains("268439552 requests") && answer.contains("16385 MiB"), "{answer}");
    }
}
