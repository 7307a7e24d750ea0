//! Every option fio knows, in one table: its names and what becomes of it here.
//!
//! An option is carried out, or accepted because it changes no I/O here, or refused because it
//! would change the I/O and is not modelled. Nothing is dropped in silence: what is accepted without
//! an effect and what is refused have their reason here, from which notices, errors and the table of
//! `docs/reference/fio.md` are made. A refused option is let through with a value that asks for nothing
//! (`serialize_overlap=0`).

use super::apply;
use super::draft::Draft;
use super::error::Problem;
use super::value::{DefaultUnit, Value};
use ssdlab_device::units::Nanos;

pub mod reference;

/// Puts a value into the job under construction.
pub type Apply = fn(&mut Draft, Value<'_>) -> Result<(), Problem>;

/// What becomes of an option.
#[derive(Clone, Copy, Debug)]
pub enum Class {
    /// Carried out by this function.
    Supported(Apply),
    /// Has no effect here, for this reason: accepted, and named once.
    Ignored(&'static str),
    /// Would change the I/O and is not modelled.
    Refused {
        /// Values that ask for nothing and pass (`0|none`).
        idle: &'static str,
        /// Why it is not modelled.
        why: &'static str,
    },
    /// An option of fio's own command line, which no job can hold.
    CommandLine,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// fio's main name, as its JSON shows it.
    pub name: &'static str,
    /// Other names of the same option.
    pub aliases: &'static [&'static str],
    /// May stand without a value.
    pub bare: bool,
    /// What becomes of it.
    pub class: Class,
}

const fn value(name: &'static str, aliases: &'static [&'static str], apply: Apply) -> OptionSpec {
    OptionSpec { name, aliases, bare: false, class: Class::Supported(apply) }
}

const fn switch(name: &'static str, aliases: &'static [&'static str], apply: Apply) -> OptionSpec {
    OptionSpec { name, aliases, bare: true, class: Class::Supported(apply) }
}

/// The longest queue NVMe knows.
const MOST_DEPTH: u64 = 65_536;
/// fio's own limit.
const MOST_JOBS: u64 = 4096;
/// Each file of a job has a place of its own to go on from.
const MOST_FILES: u64 = 65_536;

/// The options that are carried out.
const SUPPORTED: &[OptionSpec] = &[
    value("name", &[], apply::name),
    value("rw", &["readwrite"], apply::pattern),
    value("bs", &["blocksize"], apply::block_bytes),
    value("bssplit", &[], apply::block_split),
    value("bsrange", &["blocksize_range"], apply::block_range),
    switch("bs_unaligned", &["blocksize_unaligned"], |d, v| v.boolean().map(|on| d.bs_unaligned = on)),
    switch("bs_is_seq_rand", &[], |d, v| v.boolean().map(|on| d.job.sizes_by_order = on)),
    value("ba", &["blockalign"], |d, v| v.per_direction(&mut d.job.block_align, |v| v.bytes(1))),
    value("rwmixread", &[], |d, v| v.percent().map(|percent| d.job.read_percent = percent)),
    value("rwmixwrite", &[], |d, v| v.percent().map(|percent| d.job.read_percent = 100 - percent)),
    value("rw_sequencer", &[], apply::sequencer),
    value("iodepth", &[], |d, v| v.count(1, MOST_DEPTH).map(|depth| d.job.io_depth = depth as u32)),
    value("iodepth_low", &[], |d, v| v.count(0, MOST_DEPTH).map(|depth| d.job.depth_low = depth as u32)),
    value("iodepth_batch_submit", &["iodepth_batch"], |_, v| v.count(0, MOST_DEPTH).map(drop)),
    value("iodepth_batch_complete_min", &["iodepth_batch_complete"], |d, v| {
        v.count(0, MOST_DEPTH).map(|batch| d.job.reap = batch.max(1) as u32)
    }),
    value("iodepth_batch_complete_max", &[], |_, v| v.count(0, MOST_DEPTH).map(drop)),
    value("ioengine", &[], apply::engine),
    value("numjobs", &[], |d, v| v.count(1, MOST_JOBS).map(|jobs| d.job.num_jobs = jobs as u32)),
    value("size", &[], |d, v| v.extent().map(|size| d.job.size = Some(size))),
    value("filesize", &[], apply::file_size),
    value("nrfiles", &["nr_files"], |d, v| v.count(1, MOST_FILES).map(|files| d.job.files.count = files as u32)),
    value("file_service_type", &[], apply::file_service),
    switch("fill_device", &["fill_fs"], |d, v| v.boolean().map(|on| d.fill_device = on)),
    switch("create_only", &[], |d, v| v.boolean().map(|on| d.job.layout_only = on)),
    value("io_size", &["io_limit"], |d, v| v.extent().map(|size| d.job.io_size = Some(size))),
    value("offset", &["fileoffset"], |d, v| v.extent().map(|offset| d.job.offset = offset)),
    value("offset_align", &[], |d, v| v.bytes(0).map(|bytes| d.job.offset_align = bytes)),
    value("zonemode", &[], apply::zone_mode),
    value("zonesize", &[], |d, v| v.bytes(0).map(|bytes| d.zone.size_bytes = bytes)),
    value("zonerange", &[], |d, v| v.bytes(0).map(|bytes| d.zone.range_bytes = bytes)),
    value("zoneskip", &[], |d, v| v.bytes(0).map(|bytes| d.zone.skip_bytes = bytes)),
    value("offset_increment", &[], |d, v| v.extent().map(|step| d.job.offset_increment = step)),
    value("runtime", &["timeout"], apply::runtime),
    switch("time_based", &[], |d, v| v.boolean().map(|on| d.job.time_based = on)),
    value("ramp_time", &[], apply::ramp_time),
    value("startdelay", &[], apply::start_delay),
    value("wait_for", &[], apply::wait_for),
    switch("exitall", &[], |d, v| v.boolean().map(|on| d.exit_all = on)),
    value("exit_what", &[], apply::exit_what),
    switch("exitall_on_error", &[], |d, v| v.boolean().map(|on| d.job.exit_all_on_error = on)),
    value("continue_on_error", &[], apply::continue_on_error),
    value("flow", &[], |d, v| v.count_u32(0).map(|weight| d.job.flow.weight = weight)),
    value("flow_id", &[], |d, v| v.bytes(0).map(|id| d.job.flow.id = id)),
    value("flow_sleep", &[], |d, v| v.time(DefaultUnit::Microseconds).map(|time| d.job.flow.sleep = time)),
    value("loops", &[], |d, v| v.count_u32(0).map(|loops| d.job.loops = loops.max(1))),
    value("number_ios", &[], apply::number_ios),
    switch("stonewall", &["wait_for_previous"], |d, v| v.boolean().map(|on| d.job.stonewall = on)),
    switch("group_reporting", &[], |d, v| v.boolean().map(|on| d.job.group_reporting = on)),
    switch("new_group", &[], |d, v| v.boolean().map(|on| d.job.new_group = on)),
    value("rate", &[], |d, v| v.per_direction(&mut d.job.rate, apply::cap)),
    value("rate_iops", &[], |d, v| v.per_direction(&mut d.job.rate_iops, apply::cap)),
    value("rate_min", &["ratemin"], |d, v| v.per_direction(&mut d.job.rate_min, apply::cap)),
    value("rate_iops_min", &[], |d, v| v.per_direction(&mut d.job.rate_iops_min, apply::cap)),
    value("rate_cycle", &["ratecycle"], |d, v| {
        v.count_u32(1).map(|ms| d.job.rate_cycle = Nanos(u64::from(ms) * 1_000_000))
    }),
    value("rate_process", &[], apply::rate_process),
    switch("rate_ignore_thinktime", &[], |d, v| v.boolean().map(|on| d.job.rate_ignores_thinking = on)),
    value("max_latency", &[], |d, v| v.per_direction(&mut d.job.max_latency, apply::latency)),
    value("latency_target", &[], |d, v| apply::latency(v).map(|time| d.latency_target = time)),
    value("latency_window", &[], |d, v| apply::latency(v).map(|time| d.latency_window = time)),
    value("latency_percentile", &[], apply::latency_percentile),
    switch("latency_run", &[], |d, v| v.boolean().map(|on| d.latency_run = on)),
    value("thinktime", &[], apply::think_time),
    value("thinktime_blocks_type", &[], apply::think_blocks_type),
    value("thinktime_iotime", &[], |d, v| v.time(DefaultUnit::Seconds).map(|time| d.job.think_io_time = time)),
    value("thinktime_blocks", &[], |d, v| v.count_u32(1).map(|n| d.job.think_blocks = n)),
    switch("randrepeat", &[], |d, v| v.boolean().map(|on| d.job.rand_repeat = on)),
    value("randseed", &[], |d, v| v.bytes(0).map(|seed| d.job.rand_seed = Some(seed))),
    switch("norandommap", &[], |d, v| v.boolean().map(|on| (d.job.no_random_map, d.order.wants_map) = (on, !on))),
    switch("sprandom", &[], |d, v| v.boolean().map(|on| d.order.sprandom = on)),
    value("spr_num_regions", &[], |d, v| v.count_u32(1).map(|regions| d.order.shape.regions = regions)),
    value("spr_op", &[], apply::over_provisioning),
    value("spr_cs", &[], |d, v| v.bytes(0).map(|bytes| d.order.shape.cache_bytes = bytes)),
    value("random_generator", &[], apply::random_generator),
    value("random_distribution", &[], apply::distribution),
    switch("random_sequence_stride", &[], |d, v| v.boolean().map(|on| d.order.strides = on)),
    value("percentage_random", &[], |d, v| v.per_direction(&mut d.job.percent_random, |v| v.percent())),
    switch("refill_buffers", &[], |d, v| v.boolean().map(|on| d.job.refill_buffers = on)),
    switch("zero_buffers", &[], |d, v| v.boolean().map(|on| d.zero_buffers = on)),
    value("buffer_compress_percentage", &[], apply::compress_percent),
    value("buffer_pattern", &[], |d, _| {
        d.has_pattern = true;
        Ok(())
    }),
    value("verify", &[], apply::verify),
    switch("do_verify", &[], |d, v| v.boolean().map(|on| d.do_verify = on)),
    switch("verify_only", &[], |d, v| v.boolean().map(|on| d.verify_only = on)),
    value("verify_backlog", &[], |d, v| v.bytes(0).map(|writes| d.verify_backlog = writes)),
    value("verify_backlog_batch", &[], |d, v| v.bytes(0).map(|reads| d.verify_batch = reads)),
    value("trim_percentage", &[], |d, v| v.percent().map(|percent| d.job.trim_written.percent = percent)),
    value("trim_backlog", &[], |d, v| v.bytes(0).map(|writes| d.job.trim_written.backlog = writes)),
    value("trim_backlog_batch", &[], |d, v| v.bytes(0).map(|trims| d.job.trim_written.batch = trims)),
    value("sg_write_mode", &[], apply::sg_write_mode),
    value("percentile_list", &[], apply::percentiles),
    switch("direct", &[], |d, v| v.boolean().map(|on| d.job.direct = on)),
    switch("buffered", &[], |d, v| v.boolean().map(|on| d.job.direct = !on)),
    value("fsync", &[], |d, v| v.count_u32(0).map(|every| d.job.fsync = every)),
    value("fdatasync", &[], |d, v| v.count_u32(0).map(|every| d.job.fdatasync = every)),
    value("sync", &[], apply::synchronous_writes),
    switch("writefua", &[], |d, v| v.boolean().map(|on| d.job.synchronous_writes |= on)),
    value("write_barrier", &[], |d, v| v.count_u32(0).map(|every| d.job.barrier_every = every)),
    switch("end_fsync", &[], |d, v| v.boolean().map(|on| d.job.end_fsync = on)),
    switch("fsync_on_close", &[], |d, v| v.boolean().map(|on| d.fsync_on_close = on)),
    value("filename", &[], apply::file_name),
    value("libblkio_path", &[], apply::path),
    value("read_iolog", &[], |d, v| {
        d.read_iolog = Some(v.text.to_string());
        Ok(())
    }),
    value("write_iolog", &[], |d, v| {
        d.job.write_iolog = Some(v.text.to_string());
        Ok(())
    }),
    switch("write_bw_log", &[], |d, v| log_prefix(&mut d.job.logs.bandwidth, v)),
    switch("write_lat_log", &[], |d, v| log_prefix(&mut d.job.logs.latency, v)),
    switch("write_iops_log", &[], |d, v| log_prefix(&mut d.job.logs.iops, v)),
    value("log_avg_msec", &[], |d, v| v.milliseconds(0).map(|window| d.job.logs.window = window)),
    switch("log_max_value", &[], |d, v| v.boolean().map(|on| d.job.logs.maximum = on)),
    switch("log_offset", &[], |d, v| v.boolean().map(|on| d.job.logs.offset = on)),
    switch("per_job_logs", &[], |d, v| v.boolean().map(|on| d.job.logs.per_job = on)),
    value("bwavgtime", &[], |d, v| v.milliseconds(1).map(|interval| d.job.bandwidth_interval = interval)),
    value("iopsavgtime", &[], |d, v| v.milliseconds(1).map(|interval| d.job.iops_interval = interval)),
    switch("replay_no_stall", &[], |d, v| v.boolean().map(|on| d.replay_timed = !on)),
    value("replay_time_scale", &[], |d, v| {
        v.count_u32(1).map(|percent| d.replay.adjust.time_percent = u64::from(percent))
    }),
    value("replay_scale", &[], apply::replay_scale),
    value("replay_device", &[], |d, v| {
        d.replay.device = Some(v.text.to_string());
        Ok(())
    }),
    value("replay_skip", &[], apply::replay_skip),
    value("replay_align", &[], |d, v| v.bytes(1).map(|bytes| d.replay.adjust.align = bytes)),
    value("steadystate", &["ss"], apply::steady_state),
    value("steadystate_duration", &["ss_dur"], apply::steady_window),
    value("steadystate_ramp_time", &["ss_ramp"], apply::steady_ramp),
    value("steadystate_check_interval", &["ss_interval"], apply::steady_interval),
    value("kb_base", &[], |_, v| match v.text {
        "1000" | "1024" => Ok(()),
        _ => Err(Problem::new("expected 1000 or 1024", "")),
    }),
];

/// A log's prefix; empty where the option stands bare, and the log is named after the job.
fn log_prefix(prefix: &mut Option<String>, value: Value<'_>) -> Result<(), Problem> {
    *prefix = Some(value.text.to_string());
    Ok(())
}

/// Options that are accepted without an effect: the reason, and the options it holds for.
const IGNORED: &[(&str, &str)] = &[
    (
        "the simulated host works in no virtual time, on no processor and from no memory of its own",
        "thread threads nice cpumask cpus_allowed cpus_allowed_policy numa_cpu_nodes
         numa_mem_policy mem iomem iomem_align mem_align hugepage-size lockmem uid gid cgroup
         cgroup_weight cgroup_nodelete clocksource job_start_clock_id gtod_reduce gtod_cpu
         thinktime_spin io_submit_mode userspace_reap hipri hipri_percentage fixedbufs
         registerfiles sqthread_poll sqthread_poll_cpu nonvectored libaio_vectored uncached
         nowait force_async cmd_type uri comm mem_prefault",
    ),
    (
        "a job works on the blocks of a drive, not on files",
        "directory filename_format unique_filename filetype lockfile openfiles fallocate
         fadvise_hint overwrite create_serialize create_fsync create_on_open allow_file_create
         allow_mounted_write unlink unlink_each_loop file_append",
    ),
    ("no page cache lies between the job and the drive", "invalidate pre_read sync_file_range"),
    (
        "the drives serve commands of every priority and every life time alike",
        "prio prioclass priohint cmdprio_percentage cmdprio_class cmdprio_hint cmdprio
         cmdprio_bssplit write_hint stream_id",
    ),
    (
        "the drives do not find equal blocks",
        "dedupe_percentage dedupe_mode dedupe_working_set_percentage dedupe_global",
    ),
    (
        "a simulated drive keeps no bytes, so that no contents are compared",
        "verify_interval verify_offset verify_pattern verify_pattern_interval verify_policy
         verify_fatal verify_dump verify_async verify_async_cpus verify_state_save
         verify_state_load experimental_verify verify_write_sequence verify_header_seed
         verifysort verifysort_nr trim_verify_zero scramble_buffers buffer_compress_chunk",
    ),
    ("a read gives the newest data in any case, from the buffer or from flash", "readfua"),
    (
        "the drives keep no metadata beside their sectors: protection information is neither written nor checked",
        "md_per_io_size pi_act pi_chk apptag apptag_mask",
    ),
    (
        "the drive is a simulated one, by whatever way its engine would reach it",
        "libblkio_driver libblkio_pre_connect_props libblkio_num_entries libblkio_queue_size
         libblkio_pre_start_props libblkio_vectored libblkio_wait_mode
         libblkio_force_enable_completion_eventfd xnvme_async xnvme_sync xnvme_admin xnvme_dev_nsid
         xnvme_dev_subnqn xnvme_mem xnvme_iovec",
    ),
    ("no write is torn, since a run has no loss of power", "atomic"),
    (
        "the drives have no zones of their own, and on such a drive fio sets none either",
        "zonecapacity read_beyond_wp max_open_zones job_max_open_zones ignore_zone_limits
         zone_reset_threshold zone_reset_frequency",
    ),
    ("the same seed always gives the same requests (see --seed)", "allrandrepeat"),
    ("a place is always found for a request, with an exact map", "softrandommap"),
    ("a trace is replayed on the drive of the run, and read as it is replayed", "replay_redirect read_iolog_chunked"),
    ("an error is counted and named in the result in any case", "ignore_error error_dump"),
    ("no log of this kind is written", "log_hist_msec log_hist_coarseness"),
    (
        "it would change the form of logs only",
        "log_entries log_prio log_compression log_compression_cpus
         log_store_compressed log_unix_epoch log_alternate_epoch log_alternate_epoch_clock_id",
    ),
    (
        "it would change the form of the report only",
        "description block_error_percentiles stats disk_util disable_lat disable_clat
         disable_slat disable_bw_measurement disable_bw clat_percentiles lat_percentiles
         slat_percentiles significant_figures unified_rw_reporting unit_base",
    ),
];

/// Options that change the I/O and are not modelled: the reason, and the options with the values
/// that ask for nothing.
const REFUSED: &[(&str, &str)] = &[
    ("a job works on one drive, and a drive has no folders", "opendir"),
    ("the scheduler is a layer here; add --layer scheduler:…", "ioscheduler=0|none"),
    ("requests that overlap are not held back", "serialize_overlap=0"),
    (
        "traces are not merged here; merge them with fio --merge-blktrace-only",
        "merge_blktrace_file merge_blktrace_scalars merge_blktrace_iters",
    ),
    ("no program is started for a simulated run", "exec_prerun exec_postrun"),
    ("fio's built-in profiles are no job files; write the job out", "profile"),
    (
        "fio 3.33 does not know it, and it is not modelled",
        "ramp_size=0 thinkcycles=0 latency_run_time recover_zbd_write_error=0 write_zone_remainders=0 end_syncfs=0",
    ),
    (
        "the drives have no placement handles, and without them write amplification is another one",
        "fdp=0 dataplacement=0|none plid_select fdp_pli_select plids fdp_pli dp_scheme",
    ),
    (
        "a request is one read, write or trim of one range",
        "num_range=1 write_mode=write read_mode=read verify_mode libblkio_write_zeroes_on_trim=0",
    ),
    ("no log of histograms is written; json+ has them", "write_hist_log"),
    ("logs hold means, and times of completion", "log_window_value=avg|average log_issue_time=0"),
    (
        "it belongs to an engine that does no I/O on a block device",
        "cpuload cpuchunks cpumode exit_on_io_done hostname port protocol proto interface listen
         pingpong window_size mss ttl nodelay rbdname clientname clustername pool conf busy_poll
         touch_objects rbd_encryption_format rbd_encryption_passphrase nfs_url program arguments
         grace_time std_redirect cdb_len namenode donorname inplace cont chunk_size object_class
         skip_bad hdfsdirectory verb bindname stat_type verify_bytchk http_host http_user
         http_pass https http_mode http_s3_region http_s3_key http_s3_keyid
         http_s3_security_token http_s3_sse_customer_key http_s3_sse_customer_algorithm
         http_s3_storage_class http_swift_auth_token http_verbose http_object_mode gpu_dev_ids
         gpu_dev_id cuda_io rocm_io serverip direct_write_to_pmem busy_wait_polling volume brick
         no_completion_thread",
    ),
];

/// Options of the fio program itself.
const COMMAND_LINE: &str = "
    debug parse-only merge-blktrace-only output output-format bandwidth-log minimal append-terse
    terse-version version help cpuclock-test crctest cmdhelp enghelp showcmd readonly eta
    eta-interval eta-newline status-interval section alloc-size warnings-fatal max-jobs server
    daemonize client remote-config idle-prof inflate-log trigger-file trigger-timeout trigger
    trigger-remote aux-path
";

/// The whole table, row by row.
pub fn all() -> impl Iterator<Item = OptionSpec> {
    let plain = |name, class| OptionSpec { name, aliases: &[], bare: true, class };
    let words = |&(why, names): &(&'static str, &'static str)| names.split_whitespace().map(move |name| (why, name));
    SUPPORTED
        .iter()
        .copied()
        .chain(IGNORED.iter().flat_map(words).map(move |(why, name)| plain(name, Class::Ignored(why))))
        .chain(REFUSED.iter().flat_map(words).map(move |(why, row)| {
            let (name, idle) = row.split_once('=').unwrap_or((row, ""));
            plain(name, Class::Refused { idle, why })
        }))
        .chain(COMMAND_LINE.split_whitespace().map(move |name| plain(name, Class::CommandLine)))
}

/// The option of this name or alias.
pub fn find(name: &str) -> Option<OptionSpec> {
    all().find(|option| option.name == name || option.aliases.contains(&name))
}

/// The known name most like an unknown one, if any is alike enough.
pub fn nearest(unknown: &str) -> Option<&'static str> {
    let likeness = |name: &str| strsim::jaro_winkler(unknown, name);
    all()
        .filter(|option| !matches!(option.class, Class::CommandLine))
        .flat_map(|option| std::iter::once(option.name).chain(option.aliases.iter().copied()))
        .map(|name| (likeness(name), name))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod test {
    use super::*;
    use std::collections::BTreeSet;

    /// No name stands twice in the table.
    #[test]
    fn names_are_unique() {
        let mut seen = BTreeSet::new();
        for option in all() {
            for name in std::iter::once(&option.name).chain(option.aliases) {
                assert!(seen.insert(*name), "{name} stands twice");
            }
        }
        assert!(seen.len() > 250);
    }

    /// A misspelled option brings up the right one; nonsense brings up none.
    #[test]
    fn typos_find_their_option() {
        let pairs = [("iodepht", "iodepth"), ("blocksze", "blocksize"), ("run_time", "runtime")];
        for (typo, right) in pairs {
            assert_eq!(nearest(typo), Some(right), "{typo}");
        }
        assert_eq!(nearest("xyzzy"), None);
    }
}
