//! Every option fio knows, in one table: its names and what becomes of it here.
//!
//! An option is carried out, or accepted because it changes no I/O here, or refused because it
//! would change the I/O and is not modelled. Nothing is dropped in silence. A refused option is
//! let through with a value that asks for nothing (`verify=0`).

use super::apply;
use super::draft::Draft;
use super::error::Problem;
use super::value::Value;

/// Puts a value into the job under construction.
pub type Apply = fn(&mut Draft, Value<'_>) -> Result<(), Problem>;

/// What becomes of an option.
#[derive(Clone, Copy, Debug)]
pub enum Class {
    /// Carried out by this function.
    Supported(Apply),
    /// Changes no I/O here: accepted, and named once.
    Ignored,
    /// Would change the I/O and is not modelled, unless its value is one of these (`0|none`).
    Refused(&'static str),
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

/// The options that are carried out.
const SUPPORTED: &[OptionSpec] = &[
    value("name", &[], apply::name),
    value("rw", &["readwrite"], apply::pattern),
    value("bs", &["blocksize"], |d, v| v.per_direction(&mut d.block_bytes, |v| v.block_bytes())),
    value("bssplit", &[], apply::block_split),
    value("ba", &["blockalign"], |d, v| v.per_direction(&mut d.job.block_align, |v| v.bytes(1))),
    value("rwmixread", &[], |d, v| v.percent().map(|percent| d.job.read_percent = percent)),
    value("rwmixwrite", &[], |d, v| v.percent().map(|percent| d.job.read_percent = 100 - percent)),
    value("rw_sequencer", &[], apply::sequencer),
    value("iodepth", &[], |d, v| v.count(1, MOST_DEPTH).map(|depth| d.job.io_depth = depth as u32)),
    value("ioengine", &[], apply::engine),
    value("numjobs", &[], |d, v| v.count(1, MOST_JOBS).map(|jobs| d.job.num_jobs = jobs as u32)),
    value("size", &[], |d, v| v.extent().map(|size| d.job.size = Some(size))),
    value("filesize", &[], |d, v| v.extent().map(|size| d.file_size = Some(size))),
    value("io_size", &["io_limit"], |d, v| v.extent().map(|size| d.job.io_size = Some(size))),
    value("offset", &["fileoffset"], |d, v| v.extent().map(|offset| d.job.offset = offset)),
    value("offset_increment", &[], |d, v| v.extent().map(|step| d.job.offset_increment = step)),
    value("runtime", &["timeout"], apply::runtime),
    switch("time_based", &[], |d, v| v.boolean().map(|on| d.job.time_based = on)),
    value("ramp_time", &[], apply::ramp_time),
    value("loops", &[], |d, v| v.count_u32(0).map(|loops| d.job.loops = loops.max(1))),
    value("number_ios", &[], apply::number_ios),
    switch("stonewall", &["wait_for_previous"], |d, v| v.boolean().map(|on| d.job.stonewall = on)),
    switch("group_reporting", &[], |d, v| v.boolean().map(|on| d.job.group_reporting = on)),
    switch("new_group", &[], |d, v| v.boolean().map(|on| d.job.new_group = on)),
    value("rate", &[], |d, v| v.per_direction(&mut d.job.rate, apply::cap)),
    value("rate_iops", &[], |d, v| v.per_direction(&mut d.job.rate_iops, apply::cap)),
    value("thinktime", &[], apply::think_time),
    value("thinktime_blocks", &[], |d, v| v.count_u32(1).map(|n| d.job.think_blocks = n)),
    switch("randrepeat", &[], |d, v| v.boolean().map(|on| d.job.rand_repeat = on)),
    value("randseed", &[], |d, v| v.bytes(0).map(|seed| d.job.rand_seed = Some(seed))),
    switch("norandommap", &[], |d, v| v.boolean().map(|on| d.job.no_random_map = on)),
    value("random_generator", &[], apply::random_generator),
    value("random_distribution", &[], apply::distribution),
    value("percentage_random", &[], |d, v| v.per_direction(&mut d.job.percent_random, |v| v.percent())),
    switch("refill_buffers", &[], |d, v| v.boolean().map(|on| d.job.refill_buffers = on)),
    switch("zero_buffers", &[], |d, v| v.boolean().map(|on| d.zero_buffers = on)),
    value("buffer_compress_percentage", &[], apply::compress_percent),
    switch("direct", &[], |d, v| v.boolean().map(|on| d.job.direct = on)),
    switch("buffered", &[], |d, v| v.boolean().map(|on| d.job.direct = !on)),
    value("fsync", &[], |d, v| v.count_u32(0).map(|every| d.job.fsync = every)),
    value("fdatasync", &[], |d, v| v.count_u32(0).map(|every| d.job.fdatasync = every)),
    value("sync", &[], apply::synchronous_writes),
    value("write_barrier", &[], |d, v| v.count_u32(0).map(|every| d.job.barrier_every = every)),
    switch("end_fsync", &[], |d, v| v.boolean().map(|on| d.job.end_fsync = on)),
    switch("fsync_on_close", &[], |d, v| v.boolean().map(|on| d.fsync_on_close = on)),
    value("filename", &[], apply::file_name),
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
    value("replay_time_scale", &[], |d, v| v.count_u32(1).map(|percent| d.replay_time_percent = u64::from(percent))),
    value("replay_scale", &[], |d, v| v.bytes(1).map(|divisor| d.replay_scale = divisor)),
    value("replay_align", &[], |d, v| v.bytes(1).map(|bytes| d.replay_align = bytes)),
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

/// Options without an effect on the I/O of a simulated drive: host memory and processors, files
/// and directories, clocks, logs and the form of reports, priorities.
const IGNORED: &str = "
    description directory filename_format unique_filename filetype lockfile openfiles
    file_service_type fallocate fadvise_hint overwrite invalidate create_serialize create_fsync
    create_on_open sync_file_range allow_file_create allow_mounted_write unlink unlink_each_loop thread nice prio
    prioclass priohint cpumask cpus_allowed cpus_allowed_policy numa_cpu_nodes numa_mem_policy mem
    iomem iomem_align mem_align hugepage-size lockmem uid gid comm cgroup cgroup_weight
    cgroup_nodelete clocksource job_start_clock_id gtod_reduce gtod_cpu allrandrepeat softrandommap
    scramble_buffers buffer_compress_chunk thinktime_spin rate_cycle ratecycle io_submit_mode
    write_hint replay_redirect read_iolog_chunked log_entries log_hist_msec
    log_hist_coarseness log_prio log_compression log_compression_cpus log_store_compressed log_unix_epoch log_alternate_epoch
    log_alternate_epoch_clock_id block_error_percentiles stats disk_util disable_lat disable_clat
    disable_slat disable_bw_measurement disable_bw clat_percentiles lat_percentiles slat_percentiles
    percentile_list significant_figures unified_rw_reporting unit_base continue_on_error
    ignore_error error_dump exitall_on_error userspace_reap hipri hipri_percentage fixedbufs
    registerfiles sqthread_poll sqthread_poll_cpu nonvectored libaio_vectored uncached nowait
    force_async cmd_type uri
";

/// Options that change the I/O and are not modelled, with the values that ask for nothing.
const REFUSED: &str = "
    wait_for startdelay=0 ramp_size=0 nrfiles=1 nr_files=1 opendir ioscheduler=0|none
    create_only=0 pre_read=0 file_append=0 fill_device=0 fill_fs=0 bsrange blocksize_range
    bs_unaligned=0 blocksize_unaligned=0 bs_is_seq_rand=0 offset_align=0 random_sequence_stride=0
    sprandom=0 spr_num_regions spr_op spr_cs iodepth_batch=1 iodepth_batch_submit=1
    iodepth_batch_complete_min=1 iodepth_batch_complete=1 iodepth_batch_complete_max=1
    iodepth_low=0 serialize_overlap=0 atomic=0
    end_syncfs=0 buffer_pattern dedupe_percentage=0 dedupe_mode=repeat
    dedupe_working_set_percentage dedupe_global=0 zonemode=0|none zonerange=0 zonesize=0
    zonecapacity=0 zoneskip=0 read_beyond_wp=0 max_open_zones=0 job_max_open_zones=0
    ignore_zone_limits=0 zone_reset_threshold=0 zone_reset_frequency=0 recover_zbd_write_error=0
    write_zone_remainders=0 thinktime_blocks_type=complete thinktime_iotime=0 thinkcycles=0
    rate_min=0 ratemin=0 rate_iops_min=0 rate_process=linear rate_ignore_thinktime=0 max_latency=0
    latency_target=0 latency_window=0 latency_percentile=100|100.0 latency_run=0 replay_skip
    write_hist_log log_window_value=avg|average log_issue_time=0
    merge_blktrace_file merge_blktrace_scalars merge_blktrace_iters exec_prerun exec_postrun
    exitall=0 exit_what flow=0 flow_id flow_sleep=0 profile verify=0|none verify_only=0
    do_verify=0 verify_interval=0 verify_offset=0 verify_pattern verify_pattern_interval=0
    verify_policy verify_fatal=0 verify_dump=0 verify_async=0 verify_async_cpus verify_backlog=0
    verify_backlog_batch=0 verify_state_save=0 verify_state_load=0 experimental_verify=0
    verify_write_sequence=0 verify_header_seed=0 trim_percentage=0 trim_verify_zero=0
    trim_backlog=0 trim_backlog_batch=0 cmdprio_percentage=0 cmdprio_class cmdprio_hint cmdprio=0
    cmdprio_bssplit fdp=0 dataplacement=0|none plid_select fdp_pli_select plids fdp_pli dp_scheme
    md_per_io_size=0 pi_act pi_chk apptag apptag_mask num_range=1 readfua=0 writefua=0
    write_mode=write read_mode=read verify_mode sg_write_mode=write stream_id=0 cpuload cpuchunks
    hostname port protocol rbdname clientname clustername pool nfs_url program arguments cdb_len
    cpumode exit_on_io_done namenode ttl nodelay proto interface listen pingpong window_size mss
    donorname inplace conf busy_poll touch_objects rbd_encryption_format rbd_encryption_passphrase
    cont chunk_size object_class skip_bad hdfsdirectory verb bindname stat_type verify_bytchk
    http_host http_user http_pass https http_mode http_s3_region http_s3_key http_s3_keyid
    http_s3_security_token http_s3_sse_customer_key http_s3_sse_customer_algorithm
    http_s3_storage_class http_swift_auth_token http_verbose http_object_mode gpu_dev_ids cuda_io
    rocm_io grace_time std_redirect xnvme_async xnvme_sync xnvme_admin xnvme_dev_nsid
    xnvme_dev_subnqn xnvme_mem xnvme_iovec libblkio_driver libblkio_path
    libblkio_pre_connect_props libblkio_num_entries libblkio_queue_size libblkio_pre_start_props
    libblkio_vectored libblkio_write_zeroes_on_trim libblkio_wait_mode
    libblkio_force_enable_completion_eventfd no_completion_thread
";

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
    SUPPORTED
        .iter()
        .copied()
        .chain(IGNORED.split_whitespace().map(move |name| plain(name, Class::Ignored)))
        .chain(REFUSED.split_whitespace().map(move |row| {
            let (name, idle) = row.split_once('=').unwrap_or((row, ""));
            plain(name, Class::Refused(idle))
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
