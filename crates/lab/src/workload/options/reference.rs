//! The table of `docs/reference/fio.md`, made from the options themselves: one row an option, in the order of the
//! chapters of fio's manual.

use super::{Class, find};
use std::fmt::Write as _;

/// What a row says of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Carried out.
    Works,
    /// Accepted without an effect.
    Accepted,
    /// Refused.
    Refused,
}

/// The chapters of fio's manual and their options, as far as they make sense for a block device: those of 3.33, and what
/// works here of later ones.
const CHAPTERS: &[(&str, &str)] = &[
    ("Units, name, repetition", "kb_base unit_base name description loops numjobs"),
    ("Time", "runtime time_based startdelay ramp_time clocksource gtod_reduce gtod_cpu"),
    (
        "Target",
        "directory filename filename_format unique_filename opendir lockfile nrfiles openfiles file_service_type
         ioscheduler create_serialize create_fsync create_on_open create_only allow_file_create
         allow_mounted_write pre_read unlink unlink_each_loop zonemode zonerange zonesize zonecapacity zoneskip
         read_beyond_wp max_open_zones job_max_open_zones ignore_zone_limits zone_reset_threshold
         zone_reset_frequency",
    ),
    (
        "I/O type",
        "direct atomic buffered rw rw_sequencer unified_rw_reporting randrepeat allrandrepeat randseed fallocate
         fadvise_hint write_hint offset offset_align offset_increment number_ios fsync fdatasync write_barrier
         sync_file_range overwrite end_fsync fsync_on_close rwmixread rwmixwrite random_distribution
         random_sequence_stride percentage_random norandommap softrandommap random_generator sprandom
         spr_num_regions spr_op spr_cs",
    ),
    ("Block size", "bs bsrange bssplit bs_unaligned bs_is_seq_rand ba"),
    (
        "Buffers",
        "zero_buffers refill_buffers scramble_buffers buffer_compress_percentage buffer_compress_chunk
         buffer_pattern dedupe_percentage dedupe_mode dedupe_working_set_percentage dedupe_global invalidate sync
         iomem iomem_align hugepage-size lockmem",
    ),
    ("I/O size", "size io_size filesize file_append fill_device"),
    (
        "I/O engine",
        "ioengine cmdprio_percentage cmdprio_class cmdprio cmdprio_bssplit fixedbufs nonvectored force_async
         registerfiles sqthread_poll sqthread_poll_cpu cmd_type hipri userspace_reap hipri_percentage nowait
         readfua writefua sg_write_mode stream_id uri",
    ),
    (
        "I/O depth",
        "iodepth iodepth_batch_submit iodepth_batch_complete_min iodepth_batch_complete_max iodepth_low
         serialize_overlap io_submit_mode",
    ),
    (
        "I/O rate",
        "thinktime thinktime_spin thinktime_blocks thinktime_blocks_type thinktime_iotime rate rate_min rate_iops
         rate_iops_min rate_process rate_ignore_thinktime",
    ),
    ("I/O latency", "latency_target latency_window latency_percentile latency_run max_latency rate_cycle"),
    (
        "I/O replay",
        "write_iolog read_iolog read_iolog_chunked merge_blktrace_file merge_blktrace_scalars
         merge_blktrace_iters replay_no_stall replay_time_scale replay_redirect replay_align replay_scale
         replay_skip",
    ),
    (
        "Threads, processes, synchronization of jobs",
        "thread wait_for nice prio prioclass cpus_allowed cpus_allowed_policy cpumask numa_cpu_nodes
         numa_mem_policy cgroup cgroup_weight cgroup_nodelete flow_id flow flow_sleep stonewall exitall exit_what
         exec_prerun exec_postrun uid gid",
    ),
    (
        "Verification",
        "verify_only do_verify verify verify_offset verify_interval verify_pattern verify_fatal verify_dump
         verify_async verify_async_cpus verify_backlog verify_backlog_batch verify_state_save verify_state_load
         trim_percentage trim_verify_zero trim_backlog trim_backlog_batch experimental_verify",
    ),
    ("Steady state", "steadystate steadystate_duration steadystate_ramp_time"),
    (
        "Measurements and reporting",
        "per_job_logs group_reporting new_group stats write_bw_log write_lat_log write_hist_log write_iops_log
         log_entries log_avg_msec log_hist_msec log_hist_coarseness log_max_value log_offset log_compression
         log_compression_cpus log_store_compressed log_unix_epoch log_alternate_epoch
         log_alternate_epoch_clock_id block_error_percentiles bwavgtime iopsavgtime disk_util disable_lat
         disable_clat disable_slat disable_bw_measurement slat_percentiles clat_percentiles lat_percentiles
         percentile_list significant_figures",
    ),
    ("Errors", "exitall_on_error continue_on_error ignore_error error_dump"),
    ("Profiles", "profile"),
];

/// What there is to say about options that work.
const NOTES: &[(&str, &str)] = &[
    ("filename", "names a drive of the run; a job works on one"),
    ("nrfiles", "the job's region is divided into so many stretches"),
    ("file_service_type", "which stretch is next; `zipf`, `pareto`, `normal` too"),
    ("filesize", "counted from the start of the drive; a range such as `1m-4m` draws the length of each stretch"),
    ("create_only", "writes what reads will need, and runs nothing"),
    ("zonemode", "`strided`; `zbd` is accepted as `none`, for the drives have no zones"),
    ("zonesize", "bytes transferred in a stretch"),
    ("zonerange", "length of a stretch; one that reaches beyond the drive is left out"),
    ("rw", "all patterns; `randread:8`, `write:4k` and `read:-8k` too"),
    ("rw_sequencer", "`sequential` and `identical`"),
    ("randrepeat", "passes repeat the order of the first, as in fio; runs are alike in any case (see --seed)"),
    ("bs", "`bs=4k-8k` and `bs=4k:8k` are read as `bs=4k,8k`, as fio 3.33 reads them"),
    ("bssplit", "shares need not add up to 100: by rising share, the last takes what is missing"),
    ("number_ios", "for each loop, as in fio"),
    (
        "random_distribution",
        "the laws are fio's, its hash included, the draws are not; `zoned_scatter` and `zipf:θ:ranks=N` are ours (docs/explanation/model.md, section 6); `sequence:2,0,1` is newer than fio 3.42",
    ),
    ("random_sequence_stride", "of a `sequence`; newer than fio 3.42"),
    ("sprandom", "of fio 3.41; with `rw=randwrite`, one block size and one pass; what it leaves stands above"),
    ("spr_num_regions", "of `sprandom`"),
    ("spr_op", "of `sprandom`: spare space by exported, above 0 and below 1"),
    ("spr_cs", "of `sprandom`, and of fio 3.42"),
    ("random_generator", "`lfsr` visits every block once, as in fio; the draws are ours"),
    ("bsrange", "drawn by fio's law; at most 65,536 sizes"),
    ("bs_unaligned", "in whole sectors of 512 bytes"),
    ("buffer_pattern", "packs like zeros on drives that compress, unless a percentage is given"),
    ("buffer_compress_percentage", "on drives that compress"),
    ("fill_device", "without a `size` the whole drive is the region"),
    ("ioengine", "of a synchronous engine the depth is 1; engines without block I/O are refused"),
    ("sg_write_mode", "VERIFY commands are reads to the drive, WRITE SAME without data zeroes blocks"),
    ("iodepth_batch_submit", "submission costs no time here, so that batches change no figure"),
    ("iodepth_batch_complete_min", "latency counts until the batch is taken, as in fio"),
    ("iodepth_batch_complete_max", "taking completions costs no time here, so that it changes no figure"),
    ("rate_min", "looked at once in each `rate_cycle`, from two seconds on; ends with error 5"),
    ("rate_iops_min", "as `rate_min`"),
    ("max_latency", "ends with error 110"),
    ("latency_target", "the depth doubles from 1 while it is met, then is halved in"),
    ("replay_no_stall", "without it the recorded times are kept"),
    ("wait_for", "of a job that stands before it"),
    ("flow_sleep", "a job that was ahead asks again after this time"),
    ("verify", "what was written is read back, in its order; nothing is compared, since no bytes are kept"),
    ("trim_percentage", "with `verify` and `trim_backlog`, as in fio; trimmed blocks are read back too"),
    ("percentile_list", "up to 20; reported in rising order"),
    ("continue_on_error", "the error stays in the result"),
    ("exit_what", "`group`, `stonewall`, `all`"),
];

/// How an option stands here; `None` for a name that fio does not know.
pub fn standing(name: &str) -> Option<(Standing, &'static str)> {
    let note = NOTES.iter().find(|(noted, _)| *noted == name).map_or("", |(_, note)| *note);
    match find(name)?.class {
        Class::Supported(_) => Some((Standing::Works, note)),
        Class::Ignored(why) => Some((Standing::Accepted, why)),
        Class::Refused { why, .. } => Some((Standing::Refused, why)),
        Class::CommandLine => None,
    }
}

/// All options of the chapters.
pub fn names() -> impl Iterator<Item = &'static str> {
    CHAPTERS.iter().flat_map(|(_, names)| names.split_whitespace())
}

/// The table as Markdown, with the number of options that work, are accepted, are refused above it.
pub fn markdown() -> String {
    let mut table = String::new();
    let count = |wanted: Standing| names().filter(|name| standing(name).is_some_and(|(s, _)| s == wanted)).count();
    let counts = [Standing::Works, Standing::Accepted, Standing::Refused].map(count);
    let [works, accepted, refused] = counts;
    let all = works + accepted + refused;
    let _ =
        writeln!(table, "{all} options: {works} work, {accepted} are accepted without effect, {refused} are refused.");
    for (chapter, names) in CHAPTERS {
        let _ = writeln!(table, "\n### {chapter}\n\n| option | here | how, or why |\n|---|---|---|");
        for name in names.split_whitespace() {
            let Some((standing, text)) = standing(name) else { continue };
            let here = match standing {
                Standing::Works => "works",
                Standing::Accepted => "accepted, no effect",
                Standing::Refused => "refused",
            };
            let aliases = find(name).map_or(&[][..], |option| option.aliases);
            let aliases: String = aliases.iter().map(|alias| format!(", `{alias}`")).collect();
            let _ = writeln!(table, "| `{name}`{aliases} | {here} | {text} |");
        }
    }
    table
}
