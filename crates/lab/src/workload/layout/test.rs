use super::*;
use crate::workload::generate::Generator;
use crate::workload::parse::{parse_flags, parse_job_file};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

fn limits(bytes: u64) -> Limits {
    Limits {
        sector_bytes: 512,
        sectors: bytes / 512,
        queue_depth: 1,
        discard_granularity_bytes: 512,
        volatile_cache: false,
        optimal_io_bytes: 4096,
    }
}

/// Where the clones of the jobs of a file work on a drive of so many bytes.
fn regions(text: &str, capacity: u64) -> Result<Vec<(u64, u64)>, String> {
    let mut jobs = parse_job_file(text, "jobs").unwrap().jobs;
    let limits = limits(capacity);
    assign_ranges(&mut jobs, &limits).map_err(|error| error.to_string())?;
    let clones = jobs.iter().flat_map(|job| (0..job.num_jobs).map(move |clone| (job, clone)));
    clones
        .map(|(job, clone)| Generator::new(job, clone, &limits, 1).map(|requests| requests.region()))
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())
}

/// As fio gives jobs and clones without `filename` their own files, in order of jobs and clones.
#[test]
fn ranges_follow_one_another() {
    let text = "[global]\nrw=write\nsize=16m\n[a]\n[b]\nnumjobs=2\n[c]\nsize=4m\noffset=1m\n";
    let wanted = [(0, 16 * MIB), (16 * MIB, 16 * MIB), (32 * MIB, 16 * MIB), (49 * MIB, 4 * MIB)];
    assert_eq!(regions(text, 64 * MIB).unwrap(), wanted);
    assert_eq!(
        regions("[a]\nnumjobs=2\nrw=write\nsize=6k\n[b]\nsize=4k\n", MIB).unwrap()[1..],
        [(8192, 4096), (16_384, 4096)]
    );
}

/// One job has the whole drive, with its size and offset as ever; a name, whatever it is, means the drive.
#[test]
fn one_job_and_a_filename_mean_the_drive() {
    assert_eq!(regions("[a]\nrw=write\n", 64 * MIB).unwrap(), [(0, 64 * MIB)]);
    assert_eq!(regions("[a]\nrw=write\nsize=50%\noffset=25%\n", 64 * MIB).unwrap(), [(16 * MIB, 32 * MIB)]);
    let shared = "[global]\nfilename=/dev/nvme0n1\nsize=16m\n[a]\nrw=write\nnumjobs=2\n[b]\nstonewall\n";
    assert_eq!(regions(shared, 64 * MIB).unwrap(), [(0, 16 * MIB); 3]);
    let beside = "[a]\nrw=write\nsize=16m\n[b]\nfilename=x\nsize=8m\n";
    assert_eq!(regions(beside, 64 * MIB).unwrap(), [(0, 16 * MIB), (0, 8 * MIB)]);
}

/// Without a size clones share what those with one leave; shares in percent are of the drive and fit together.
#[test]
fn what_has_no_size_shares_the_rest() {
    let text = "[a]\nrw=write\nsize=16m\n[b]\nrw=write\nnumjobs=2\nstonewall\n";
    let wanted = [(0, 16 * MIB), (16 * MIB, 21 * MIB), (37 * MIB, 21 * MIB)];
    assert_eq!(regions(text, 58 * MIB + 4096).unwrap(), wanted);
    let quarters = regions("[a]\nrw=write\nnumjobs=4\nsize=25%\n", 67 * MIB).unwrap();
    assert_eq!(quarters, [0, 16, 32, 48].map(|start| (start * MIB, 16 * MIB)));
}

/// What does not fit is refused, with the sum and the way to share; nothing is left for the last.
#[test]
fn ranges_beyond_the_drive_are_refused() {
    let error = regions("[a]\nrw=write\nsize=24m\nnumjobs=3\n", 64 * MIB).unwrap_err();
    assert!(error.contains("job a: size") && error.contains("sum to 75497472 bytes"), "{error}");
    assert!(error.contains("has 67108864") && error.contains("filename=/dev/ssd"), "{error}");
    let nothing = regions("[a]\nrw=write\nsize=64m\n[b]\nrw=write\n", 64 * MIB).unwrap_err();
    assert!(nothing.contains("nothing for those without size"), "{nothing}");
    let increments = "[a]\nrw=write\nsize=25%\noffset_increment=25%\nnumjobs=4\n";
    assert!(regions(increments, 64 * MIB).unwrap_err().contains("filename=/dev/ssd"));
}

/// Who works where is told, of many clones the first few, and nothing where all work on the drive.
#[test]
fn ranges_are_told() {
    let told = |flags: &[&str]| {
        let flags: Vec<String> = flags.iter().map(|flag| flag.to_string()).collect();
        let mut jobs = parse_flags(&flags).unwrap().jobs;
        assign_ranges(&mut jobs, &limits(64 * MIB)).unwrap();
        told(&jobs)
    };
    assert_eq!(told(&["--rw=write"]), None);
    let two = told(&["--size=1m", "--name=a", "--rw=write", "--name=b", "--rw=write"]).unwrap();
    assert!(two.contains("a.0 0 to 1048576, b.0 1048576 to 2097152; filename=/dev/ssd"), "{two}");
    let many = told(&["--name=a", "--rw=write", "--numjobs=9"]).unwrap();
    assert!(many.contains("equal shares") && many.contains("a.3 ") && many.contains("and 5 more"), "{many}");
}

proptest! {
    /// Own ranges lie on the drive, one behind the other, or are refused.
    #[test]
    fn own_ranges_never_overlap(
        sizes in proptest::collection::vec((proptest::option::of(1u64..40_000), 1u32..5, 0u64..9), 2..6),
        capacity in 1u64..200_000,
    ) {
        let job = |&(size, num_jobs, offset): &(Option<u64>, u32, u64)| Job {
            size: size.map(|sectors| Extent::Bytes(sectors * 512)),
            offset: Extent::Bytes(offset * 4096),
            num_jobs,
            ..Job::default()
        };
        let mut jobs: Vec<Job> = sizes.iter().map(job).collect();
        if assign_ranges(&mut jobs, &limits(capacity * 512)).is_ok() {
            let mut end = 0;
            for range in jobs.iter().flat_map(|job| &job.own_ranges) {
                prop_assert!(range.offset == end && range.bytes > 0 && range.offset % 4096 == 0);
                end = range.offset + range.bytes;
            }
            prop_assert!(end <= capacity * 512);
            prop_assert!(jobs.iter().all(|job| job.own_ranges.len() == job.num_jobs as usize));
        } else {
            prop_assert!(jobs.iter().all(|job| job.own_ranges.is_empty()));
        }
    }
}
