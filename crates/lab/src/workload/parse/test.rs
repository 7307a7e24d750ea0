use super::*;
use crate::workload::job::{Distribution, ExitWhat, Extent, FileService, Pattern, PerDirection, SizeShare, Verify};
use crate::workload::trace::Open;
use proptest::prelude::*;
use ssdlab_device::units::Nanos;
use std::io::Cursor;
use std::sync::Arc;

fn flags(text: &str) -> Vec<String> {
    text.split_whitespace().map(String::from).collect()
}

fn one(text: &str) -> Job {
    parse_flags(&flags(text)).unwrap_or_else(|error| panic!("{text}: {error}")).jobs.remove(0)
}

fn error(text: &str) -> String {
    parse_flags(&flags(text)).expect_err(text).to_string()
}

/// Global sections add up and hold for what follows; a job's own options win; comments vanish.
#[test]
fn sections_inherit_as_in_fio() {
    let text = "; a comment\n[global]\nbs=8k ; eight\niodepth = 4\ndirect=1\n\n[one]\nrw=randwrite\n\
                iodepth=2\n[global]\nbs=16k\n# another\n[two]\nreadwrite=read\nnorandommap\n";
    let file = parse_job_file(text, "a.fio").unwrap();
    let [one, two] = file.jobs.as_slice() else { panic!("two jobs") };
    assert_eq!((one.name.as_str(), one.io_depth, two.io_depth), ("one", 2, 4));
    assert_eq!((one.block_sizes.write[0].bytes, two.block_sizes.read[0].bytes), (8192, 16384));
    assert!(one.direct && two.no_random_map && !one.no_random_map);
    assert_eq!(one.pattern, Pattern { reads: false, writes: true, trims: false, random: true });
    let own = |name: &str, value: &str| (name.to_string(), value.to_string());
    assert_eq!(two.options, [own("rw", "read"), own("norandommap", "")]);
    assert_eq!(file.global_options[0], own("bs", "16k"));
    assert!(file.notices.is_empty());
}

/// A map of blocks, a trace or an end by its own figures makes a stretch of a job unlike the next.
#[test]
fn a_job_that_uses_nothing_up_is_stationary() {
    for alike in ["rw=randwrite --norandommap", "rw=write", "rw=rw", "rw=randrw --norandommap --rate_iops=100"] {
        assert!(one(&format!("--name=a --{alike}")).is_stationary(), "{alike}");
    }
    for unlike in [
        "rw=randwrite",
        "rw=randread --norandommap --number_ios=7",
        "rw=randwrite --norandommap --steadystate=iops:2% --ss_dur=60",
        "rw=write --zonemode=strided --zonesize=1m --zonerange=2m",
        "rw=write --verify=crc32c",
    ] {
        assert!(!one(&format!("--name=a --{unlike}")).is_stationary(), "{unlike}");
    }
}

#[test]
fn a_job_without_bytes_scales() {
    for same in ["rw=randwrite", "rw=write --size=50%", "rw=randrw --size=20% --offset=80% --bs=16k"] {
        assert!(one(&format!("--name=a --{same}")).scales(), "{same}");
    }
    for other in [
        "rw=write --size=1g",
        "rw=randwrite --size=50% --offset=1m",
        "rw=randwrite --random_distribution=zipf:1.2",
        "rw=write:8k",
        "rw=randwrite --nrfiles=4 --filesize=1g",
    ] {
        assert!(!one(&format!("--name=a --{other}")).scales(), "{other}");
    }
}

/// Every error tells file, line, option, value and remedy.
#[test]
fn errors_name_line_and_remedy() {
    let error = |text: &str| parse_job_file(text, "uniform.fio").unwrap_err().to_string();
    let typo = error("[uniform]\nrw=randwrite\nbs=4k\niodepht=16\n");
    let expected = "uniform.fio, line 4: iodepht=16: fio has no such option\n  did you mean iodepth?";
    assert_eq!(typo, expected);
    for (text, expected) in [
        ("rw=read\n", "line 1: rw=read: stands outside of a job"),
        ("[a\n", "line 1: [a: is not a heading"),
        ("[a]\nbs=4x\n", "line 2: bs=4x: 'x' is not a unit"),
        ("[a]\nsize=${SIZE}\n", "line 2: size=${SIZE}: SIZE is not set in the environment"),
        ("[a]\nsize=2*$ncpus\n", "line 2: size=2*$ncpus: $ncpus is not known here"),
        ("[a]\ninclude b.fio\n", "line 2: include b.fio: b.fio cannot be read here"),
        ("[a]\nbs\n", "line 2: bs: needs a value"),
        ("[a]\nserialize_overlap=1\n", "line 2: serialize_overlap=1: is not supported: requests that overlap"),
        ("[a]\nverify=crc33\n", "line 2: verify=crc33: fio has no such check"),
        ("[a]\noutput=x\n", "line 2: output=x: is an option of the fio program, not of a job"),
        ("[global]\nbs=4k\n", "uniform.fio: holds no job"),
        ("[a]\ntime_based\n", "line 2: time_based: needs a runtime"),
        ("[a]\nrw=write:8q\n", "line 2: rw=write:8q: 'q' is not a unit"),
        ("[a]\nwait_for=b\n[b]\n", "line 2: wait_for=b: no job before it is called b"),
        ("[a]\nzonemode=strided\n", "line 2: zonemode=strided: needs zonesize"),
        ("[a]\nzonesize=1m\n", "line 2: zonesize=1m: needs zonemode=strided"),
        ("[a]\nlatency_target=10ms\n", "line 2: latency_target=10ms: needs latency_window"),
        ("[a]\nioengine=rdma\n", "line 2: ioengine=rdma: this engine does no plain I/O"),
    ] {
        assert!(error(text).contains(expected), "{text}: {}", error(text));
    }
}

/// On a command line a missing pair of dashes is pointed out, and typos are suggested with them.
#[test]
fn flag_errors_have_dashes() {
    assert!(error("--rw=read direct=1").ends_with("did you mean --direct=1?"));
    let expected = "command line: --iodepht=16: fio has no such option\n  did you mean --iodepth?";
    assert_eq!(error("--iodepht=16"), expected);
    assert!(error("--bs").contains("--bs: needs a value"));
    assert!(!error("--xyzzyplugh=1").contains("did you mean"));
}

/// Flags before the first name are global; each name starts a job; values may stand apart.
#[test]
fn flags_make_jobs() {
    let file = parse_flags(&flags("--bs=8k --direct --name=a --rw=write --name b --rw randread"));
    let file = file.unwrap();
    let names: Vec<&str> = file.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(file.jobs.iter().all(|job| job.direct && job.block_sizes.read[0].bytes == 8192));
    assert!(file.jobs[1].pattern.random && file.jobs[0].pattern.writes);
    let unnamed = one("--rw=randwrite --bs=4k --iodepth=16");
    assert_eq!((unnamed.name.as_str(), unnamed.io_depth), ("job", 16));
    assert_eq!(unnamed.options.len(), 3);
}

/// Flags beside a job file win over every section of it.
#[test]
fn flags_override_a_file() {
    let text = "[a]\niodepth=1\nbs=4k\n[b]\niodepth=2\n";
    let file = parse(Some((text, "f")), &flags("--iodepth=32"), Surroundings::files(&mut no_files)).unwrap();
    assert!(file.jobs.iter().all(|job| job.io_depth == 32));
    assert_eq!(file.jobs.len(), 2);
}

/// A synchronous engine caps the depth and is told once, as is each option without effect.
#[test]
fn notices_are_given_once() {
    let text = "[global]\nioengine=psync\niodepth=8\nthread\nnice=5\n[a]\n[b]\nthread=1\n";
    let file = parse_job_file(text, "f").unwrap();
    assert!(file.jobs.iter().all(|job| job.io_depth == 1 && job.synchronous_engine.is_some()));
    let expected = [
        "thread has no effect: the simulated host works in no virtual time, on no processor and from no memory of its own",
        "nice has no effect: the simulated host works in no virtual time, on no processor and from no memory of its own",
        "ioengine=psync is synchronous: depth 1",
    ];
    assert_eq!(file.notices, expected);
    let asynchronous = one("--ioengine=libaio --iodepth=8");
    assert_eq!((asynchronous.io_depth, asynchronous.synchronous_engine), (8, None));
}

/// A refused option passes with the value that asks for nothing.
#[test]
fn idle_values_pass() {
    assert_eq!(one("--verify=0 --ioscheduler=none --nrfiles=1 --startdelay=0").io_depth, 1);
    assert!(error("--size=$mb_memory").contains("is not known here"));
    assert_eq!(one("--directory=${HOME} --numjobs=2").num_jobs, 2);
    assert!(error("--numjobs=5000").contains("too large: the most is 4096"));
}

/// The five jobs of the e-book, as fio 3.33 reads them.
#[test]
fn e_book_jobs() {
    let jobs = [
        ("readtp", "read", "5g", "1024k", 1 << 20, 5u64 << 30),
        ("writetp", "write", "5g", "1024k", 1 << 20, 5 << 30),
        ("readiops", "randread", "1g", "4k", 4096, 1 << 30),
        ("writeiops", "randwrite", "1g", "4k", 4096, 1 << 30),
        ("mixediops", "randrw", "1g", "4k", 4096, 1 << 30),
    ];
    for (name, rw, size, bs, bytes, region) in jobs {
        let job = one(&format!(
            "--rw={rw} --name={name} --size={size} --bs={bs} --direct=1 --refill_buffers \
             --ioengine=libaio --iodepth=16"
        ));
        assert_eq!(job.block_sizes.read, [SizeShare { bytes, percent: 100.0 }]);
        assert_eq!((job.size, job.io_depth), (Some(Extent::Bytes(region)), 16));
        assert_eq!((job.name.as_str(), job.read_percent), (name, 50));
        assert!(job.direct && job.refill_buffers);
    }
}

/// Splits, as fio 3.33 draws them: by rising share, blanks share what is left, the last takes what is missing, and
/// what is beyond 100 is not drawn. Commas part directions; one without a split keeps its block size.
#[test]
fn block_splits() {
    let split = |text: &str| one(&format!("--bssplit={text}")).block_sizes;
    let share = |bytes, percent| SizeShare { bytes, percent };
    let blanks = split("4k/50:1k/:32k/").read;
    assert_eq!(blanks, [share(1024, 25.0), share(32768, 25.0), share(4096, 50.0)]);
    assert_eq!(split("4k:8k").trim, [share(4096, 50.0), share(8192, 50.0)]);
    let parted = split("2k/50:4k/50,4k/90:8k/10");
    assert_eq!(parted.read, [share(2048, 50.0), share(4096, 50.0)]);
    assert_eq!(parted.write, [share(8192, 10.0), share(4096, 90.0)]);
    assert_eq!(parted.trim, parted.write);
    let background = split(",4k/81:8k/10:16k/2:32k/1:64k/2:128k/1:1024k/1,");
    assert_eq!(background.read, [share(4096, 100.0)]);
    assert_eq!(background.write.last(), Some(&share(4096, 83.0)));
    assert_eq!(split("4k/60:8k/60").read, [share(4096, 60.0), share(8192, 40.0)]);
    assert_eq!(split("4k/60:6k/").read, [share(4096, 40.0), share(4096, 60.0)]);
    assert_eq!(one("--bs=16k --bssplit=,4k/50:8k/50").block_sizes.read, [share(16384, 100.0)]);
    assert_eq!(one("--bssplit=4k/50:8k/50 --bs=64k").block_sizes.read.len(), 2);
    for wrong in ["4k/60:8k/60:16k:32k", "4k/200", ":", ","] {
        assert!(parse_flags(&[format!("--bssplit={wrong}")]).is_err(), "{wrong}");
    }
    for either_way in ["--bs_unaligned --bssplit=4k/50:6k/50", "--bssplit=4k/50:6k/50 --bs_unaligned"] {
        assert_eq!(one(either_way).block_sizes.read, [share(4096, 50.0), share(6144, 50.0)]);
    }
}

/// The random distributions with their inputs, defaults and limits.
#[test]
fn distributions() {
    let kind = |text: &str| one(&format!("--random_distribution={text}")).distribution;
    assert_eq!(kind("random"), Distribution::Uniform);
    assert_eq!(kind("zipf"), Distribution::Zipf { theta: 1.1, center: None, ranks: None });
    assert_eq!(kind("zipf:1.2:0.25"), Distribution::Zipf { theta: 1.2, center: Some(0.25), ranks: None });
    assert_eq!(kind("zipf:0.8:ranks=1m"), Distribution::Zipf { theta: 0.8, center: None, ranks: Some(1 << 20) });
    assert_eq!(kind("pareto"), Distribution::Pareto { h: 0.2, center: None });
    assert_eq!(kind("normal:10"), Distribution::Normal { deviation_percent: 10.0, center: None });
    assert_eq!(kind("normal"), Distribution::Normal { deviation_percent: 0.0, center: None });
    let Distribution::Zoned(zones) = kind("zoned:60/10:30/20:10/70,50/50:50/") else { panic!() };
    assert_eq!((zones.read.len(), zones.write.len()), (3, 2));
    assert_eq!(zones.write[1].size, Extent::Percent(50.0));
    let Distribution::Zoned(zones) = kind("zoned_abs:95/1g:5/2g") else { panic!() };
    assert_eq!(zones.trim[1].size, Extent::Bytes(2 << 30));
    let Distribution::Scattered(zones) = kind("zoned_scatter:100/80") else { panic!() };
    assert_eq!(zones.write[0].size, Extent::Percent(80.0));
    assert!(one("--random_distribution=zipf:1.2").no_random_map);
    for wrong in [
        "zipf:1",
        "pareto:1",
        "normal:",
        "zipf:",
        "zoned:60/10",
        "zoned:",
        "gauss:2",
        "zipf:1:2",
        "zipf:2:ranks=",
        "zipf:2:ranks=0",
        "zoned_scatter:60/10",
    ] {
        assert!(parse_flags(&[format!("--random_distribution={wrong}")]).is_err(), "{wrong}");
    }
}

/// Steady state takes its limit in percent or in the metric's unit, and needs a window.
#[test]
fn steady_state_rules() {
    let rule = one("--ss=iops_slope:0.3% --ss_dur=10m --ss_ramp=5s --ss_interval=30");
    let rule = rule.steady_state.unwrap();
    assert!(rule.slope && rule.limit_is_percent && rule.limit == 0.3);
    assert_eq!((rule.window, rule.ramp), (Nanos(600_000_000_000), Nanos(5_000_000_000)));
    let rule = one("--steadystate=bw:1m --steadystate_duration=60").steady_state.unwrap();
    assert!(!rule.slope && !rule.limit_is_percent && rule.limit == 1_048_576.0);
    assert!(error("--ss=iops:5%").contains("ss_dur"));
    assert!(error("--ss=iops:5% --ss_dur=45 --ss_interval=30").contains("ss_interval"));
    assert!(error("--ss=speed:5% --ss_dur=45").contains("criteria are"));
}

/// Options of one kind each: amounts, times, rates, mixes, flushes, seeds.
#[test]
fn plain_options() {
    let job = one("--rw=randrw:8 --rwmixwrite=30 --size=50% --io_limit=2g --offset=10% --offset_increment=1g \
         --numjobs=4 --runtime=1m --time_based --ramp_time=500ms --loops=3 --number_ios=1k \
         --stonewall --group_reporting --new_group --rate=,10m --rate_iops=0 --thinktime=50 \
         --thinktime_blocks=4 --randrepeat=0 --randseed=9 --percentage_random=50,20 \
         --buffer_compress_percentage=40 --fsync=32 --fdatasync=8 --end_fsync=1 --ba=512 \
         --filename=/dev/nvme0n1");
    assert_eq!((job.sequential_run, job.read_percent, job.num_jobs, job.loops), (8, 70, 4, 3));
    assert_eq!((job.size, job.offset), (Some(Extent::Percent(50.0)), Extent::Percent(10.0)));
    assert_eq!((job.io_size, job.number_ios), (Some(Extent::Bytes(2 << 30)), Some(1024)));
    assert_eq!((job.runtime, job.ramp_time), (Some(Nanos(60_000_000_000)), Nanos(500_000_000)));
    let rate = PerDirection { read: None, write: Some(10 << 20), trim: Some(10 << 20) };
    assert_eq!((job.rate, job.rate_iops), (rate, PerDirection::default()));
    assert_eq!((job.think_time, job.think_blocks), (Nanos(50_000), 4));
    assert_eq!(job.percent_random, PerDirection { read: 50, write: 20, trim: 20 });
    assert_eq!((job.compress_percent, job.fsync, job.fdatasync), (40, 32, 8));
    assert!(job.stonewall && job.group_reporting && job.new_group && job.time_based);
    assert!(job.end_fsync && !job.rand_repeat && job.no_random_map);
    assert_eq!((job.rand_seed, job.filename.as_deref()), (Some(9), Some("/dev/nvme0n1")));
    assert_eq!(one("--zero_buffers").compress_percent, 100);
    assert_eq!(one("--kb_base=1000 --bs=512k").block_sizes.read[0].bytes, 512_000);
    assert_eq!(one("--bs=512k --kb_base=1000").block_sizes.read[0].bytes, 512_000);
}

/// `sync` has fio's five words; each but `none` and `0` makes writes synchronous. `sync_file_range` is accepted.
#[test]
fn synchronous_writes() {
    for (word, expected) in [("none", false), ("0", false), ("sync", true), ("1", true), ("dsync", true)] {
        assert_eq!(one(&format!("--sync={word}")).synchronous_writes, expected, "{word}");
    }
    assert!(error("--sync=always").contains("expected none, sync or dsync"));
    assert_eq!(one("--write_barrier=16").barrier_every, 16);
    assert!(one("--fsync_on_close=1").end_fsync);
    let file = parse_flags(&flags("--rw=write --sync_file_range=write:8")).unwrap();
    assert_eq!(file.notices, ["sync_file_range has no effect: no page cache lies between the job and the drive"]);
}

/// A block that is no whole number of sectors goes through the page cache, in whole pages, and a notice says so;
/// past it (`direct`) the size stays, for the drive to refuse.
#[test]
fn odd_blocks_go_through_the_page_cache() {
    let etcd = "--rw=write --ioengine=sync --fdatasync=1 --size=22m --bs=2300";
    let file = parse_flags(&flags(etcd)).unwrap();
    assert_eq!(file.jobs[0].block_sizes.write[0].bytes, 4096);
    assert!(file.notices.iter().any(|notice| notice.starts_with("bs=2300 is no whole number of sectors")));
    assert_eq!(one("--bs=5000").block_sizes.read[0].bytes, 8192);
    assert_eq!(one(&format!("{etcd} --direct=1")).block_sizes.write[0].bytes, 2300);
    assert_eq!(one("--bs=512").block_sizes.read[0].bytes, 512);
    assert_eq!(one("--ioengine=io_uring_cmd --bs=4160").block_sizes.read[0].bytes, 4160);
    assert_eq!(one("--ioengine=io_uring_cmd --bs=4160 --ioengine=io_uring").block_sizes.read[0].bytes, 8192);
}

/// Engines that reach the drive their own way: their path is a file name, so that jobs share the drive; how they reach
/// it, and metadata beside the sectors, is accepted and named. Placement handles and several ranges are refused.
#[test]
fn engines_that_send_commands_themselves() {
    let blkio = "--ioengine=libblkio --libblkio_driver=io_uring --libblkio_path=/dev/nvme0n1 --rw=randread";
    let file = parse_flags(&flags(blkio)).unwrap();
    assert_eq!(file.jobs[0].filename.as_deref(), Some("/dev/nvme0n1"));
    assert_eq!(one("--libblkio_path=/sys/bus/pci/devices/0000:00:01.0").filename.as_deref().map(str::len), Some(33));
    assert!(file.notices[0].starts_with("libblkio_driver has no effect: the drive is a simulated one"));
    let checked = "--ioengine=io_uring_cmd --md_per_io_size=64 --pi_act=0 --pi_chk=GUARD,REFTAG --apptag=0x0888";
    let file = parse_flags(&flags(checked)).unwrap();
    assert!(file.notices[0].contains("protection information is neither written nor checked"), "{:?}", file.notices);
    assert!(error("--fdp=1").contains("no placement handles"));
    assert!(error("--rw=trim --num_range=8").contains("one range"));
}

/// `filesize` is the region from its start to the offset, and `size` then a pass; `size=0` is the whole drive.
#[test]
fn file_size_and_size() {
    let job = one("--filesize=1g --size=4g");
    assert_eq!((job.size, job.pass_size), (Some(Extent::Bytes(1 << 30)), Some(Extent::Bytes(4 << 30))));
    assert_eq!(one("--filesize=1g --offset=256m").size, Some(Extent::Bytes(768 << 20)));
    assert!(error("--filesize=1m --offset=1m").contains("larger filesize"));
    assert_eq!(one("--size=0").size, None);
}

fn opener(text: &str) -> Open {
    let bytes: Arc<[u8]> = text.as_bytes().into();
    Arc::new(move || Ok(Box::new(Cursor::new(Arc::clone(&bytes)))))
}

/// A trace is read through the caller, scaled as asked, and its faults are passed on.
#[test]
fn traces_are_read_through_the_caller() {
    let log = "fio version 3 iolog\n0 f add\n100 f write 10240 512\n300 f read 4096 512\n9 f close\n";
    let open = |path: &str| match path {
        "x.log" => Ok(opener(log)),
        "cut" => Ok(opener(&log[..45])),
        _ => Err("no such file".to_string()),
    };
    let parse_with = |command: &str| {
        let mut no_files = |_: &str| Err("no such file".to_string());
        parse(None, &flags(command), Surroundings { find_trace: &open, ..Surroundings::files(&mut no_files) })
    };
    let command = "--read_iolog=x.log --replay_time_scale=50 --replay_align=4k --replay_no_stall=0";
    let replay = parse_with(command).unwrap().jobs.remove(0).replay.unwrap();
    assert!(replay.timed);
    let mut requests = replay.trace.requests(u64::MAX).unwrap();
    let entries = [requests.next_entry().unwrap().unwrap(), requests.next_entry().unwrap().unwrap()];
    assert_eq!((entries[0].offset, entries[1].at), (8192, Nanos(100_000)));
    let missing = parse_with("--read_iolog=y").unwrap_err();
    assert!(missing.to_string().starts_with("command line: --read_iolog=y: no such file\n"), "{missing}");
    let cut = parse_with("--read_iolog=cut").unwrap_err().to_string();
    assert!(cut.starts_with("command line: --read_iolog=cut: line 3: "), "{cut}");
}

proptest! {
    /// No job file makes the parser panic.
    #[test]
    fn no_text_panics(text in "\\PC{0,200}", lines in proptest::collection::vec(
        "(\\[(global|a)\\]|(bs|bssplit|rw|size|ss|random_distribution|rate|runtime|iodepth)=[ -~]{0,16}|[a-z_]{1,12}(=[0-9a-z%:/,.]{0,12})?)", 0..10))
    {
        let _ = parse_job_file(&text, "f");
        let _ = parse_job_file(&format!("[a]\n{}", lines.join("\n")), "f");
        let lines: Vec<String> = lines.iter().map(|line| format!("--{line}")).collect();
        let _ = parse_flags(&lines);
    }
}

/// All that is wrong is told at once, each with its line, and what holds for several jobs only once.
#[test]
fn all_errors_at_once() {
    let text = "[global]\nbs=4q\nfoo=1\n[a]\nbar=2\niodepht=3\n[b]\nrate=x\nexec_prerun=x\n";
    let error = parse_job_file(text, "x.fio").unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().filter(|line| line.starts_with("x.fio")).collect();
    let starts = [
        "line 3: foo=1",
        "line 5: bar=2",
        "line 6: iodepht=3",
        "line 9: exec_prerun=x",
        "line 2: bs=4q",
        "line 8: rate=x",
    ];
    assert_eq!(lines.len(), starts.len(), "{error}");
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(&format!("x.fio, {start}: ")), "{line}");
    }
    assert!(error.contains("did you mean iodepth?"));
    let flags = parse_flags(&flags("--foo=1 --bs=4k --iodepht=3 plain")).unwrap_err().to_string();
    assert_eq!(flags.lines().filter(|line| line.starts_with("command line: ")).count(), 3, "{flags}");
}

/// Variables, keywords with arithmetic, and included files; what is included is found beside the file.
#[test]
fn surroundings_are_put_in() {
    let mut files = |path: &str| match path {
        "jobs/base.fio" => Ok("[global]\niodepth=${DEPTH}\n".to_string()),
        "jobs/circle.fio" => Ok("include circle.fio\n".to_string()),
        other => Err(format!("{other}: no such file")),
    };
    let variable = |name: &str| (name == "DEPTH").then(|| String::from("32"));
    let machine = Some(Machine { page_bytes: 4096, memory_mb: 1000, processors: 4 });
    let mut read = |text: &str| {
        let around = Surroundings { variable: &variable, machine, ..Surroundings::files(&mut files) };
        parse(Some((text, "jobs/a.fio")), &[], around)
    };
    let text = "include base.fio\n[${DEPTH}]\nbs=$pagesize\nsize=8*$mb_memory\nnumjobs=$ncpus\noffset=(1m+4*1k)\nstartdelay=1-${DEPTH}\n";
    let job = read(text).unwrap().jobs.remove(0);
    assert_eq!((job.io_depth, job.block_sizes.read[0].bytes, job.num_jobs), (32, 4096, 4));
    assert_eq!((job.size, job.offset), (Some(Extent::Bytes(8000)), Extent::Bytes((1 << 20) + 4096)));
    assert_eq!(job.start_delay, (Nanos(1_000_000_000), Nanos(32_000_000_000)));
    let circle = read("include circle.fio\n[a]\n").unwrap_err().to_string();
    assert!(circle.contains("without end"), "{circle}");
    assert!(read("[a]\nbs=${NONE}\ndirectory=${NONE}\n").unwrap_err().to_string().contains("NONE is not set"));
}

/// `--section` leaves the named jobs of a file.
#[test]
fn sections_can_be_picked() {
    let text = "[a]\n[b]\nbs=8k\n[c]\n";
    let pick = |picks: &str| parse(Some((text, "f")), &flags(picks), Surroundings::files(&mut no_files));
    let names: Vec<String> = pick("--section=c --section=b").unwrap().jobs.into_iter().map(|job| job.name).collect();
    assert_eq!(names, ["b", "c"]);
    assert!(pick("--section=d").unwrap_err().to_string().contains("its jobs are a, b, c"));
}

/// Percentiles come in rising order, each once; a wrong list is refused.
#[test]
fn percentile_lists() {
    assert_eq!(one("--percentile_list=99.9:50:50").percentiles, [50.0, 99.9]);
    assert!(one("--bs=4k").percentiles.is_empty());
    let many = vec!["1"; 1].into_iter().map(String::from).chain((2..30).map(|n| n.to_string())).collect::<Vec<_>>();
    for wrong in ["nonsense", "50:101", "0", "-1", "50::99", "50,99", many.join(":").as_str()] {
        assert!(parse_flags(&[format!("--percentile_list={wrong}")]).is_err(), "{wrong}");
    }
}

/// A range has fio's shares: from the smallest size in steps of it, and what is left for the largest.
#[test]
fn block_ranges() {
    let sizes = |text: &str| one(text).block_sizes;
    let range = sizes("--bsrange=4k-16k,8k-8k");
    let expected = [4096, 8192, 12_288, 16_384].map(|bytes| SizeShare { bytes, percent: 25.0 });
    assert_eq!(range.read, expected);
    assert_eq!(range.write, [SizeShare { bytes: 8192, percent: 100.0 }]);
    let odd = sizes("--bsrange=4k-10k").read;
    assert_eq!(odd.iter().map(|share| share.bytes).collect::<Vec<_>>(), [4096, 8192, 10_240]);
    assert!(odd.iter().zip([40.0, 40.0, 20.0]).all(|(share, percent)| (share.percent - percent).abs() < 1e-9));
    let unaligned = one("--bsrange=4k-8k --bs_unaligned");
    assert_eq!((unaligned.block_sizes.read.len(), unaligned.no_random_map), (9, false));
    assert_eq!(sizes("--bsrange=8k-4k"), sizes("--bsrange=4k-8k"));
    // What fio 3.33 prints of each: dashes and colons part directions, too, and a comma begins the next one anew.
    for (given, read_as) in [
        ("4k-8k", "4k,8k"),
        ("4k:8k", "4k,8k"),
        ("4k:8k:16k", "4k,8k,16k"),
        ("4k-8k,16k", "4k,16k"),
        ("4k,8k:16k", "4k,8k,16k"),
    ] {
        assert_eq!(sizes(&format!("--bs={given}")), sizes(&format!("--bs={read_as}")), "{given}");
    }
    assert!(error("--bssplit=4k/-1").contains("expected a percentage such as 50%"));
    assert!(parse_flags(&[String::from("--bs=-8k")]).is_err());
    assert!(error("--bsrange=1-1m").contains("at most 65536"));
}

/// What a job does beside its pattern: files, zones, checks, ends, flows, limits.
#[test]
fn jobs_beside_their_pattern() {
    let job =
        one("--rw=write:-8k --nrfiles=4 --filesize=1m-4m --size=2m --file_service_type=random:8 --verify=crc32c \
         --verify_backlog=16 --trim_percentage=50 --trim_backlog=8 --buffer_pattern=0xab --exitall --exit_what=all \
         --flow=3 --flow_id=2 --max_latency=5ms,10ms --rate_min=1m --thinktime_iotime=2 --iodepth_low=4 \
         --latency_target=500 --latency_window=1s --latency_percentile=99 --continue_on_error=read --replay_skip=trim");
    assert_eq!((job.hole_bytes, job.files.count, job.files.sizes), (-8192, 4, Some((1 << 20, 4 << 20))));
    assert_eq!((job.size, job.pass_size), (Some(Extent::Bytes(16 << 20)), Some(Extent::Bytes(2 << 20))));
    assert_eq!((job.files.service, job.files.stay), (FileService::Random, 8));
    assert_eq!(job.verify, Some(Verify { backlog: 16, batch: 0 }));
    assert_eq!((job.trim_written.percent, job.compress_percent), (50, 100));
    assert_eq!((job.exit_all, job.flow.weight, job.flow.id), (Some(ExitWhat::All), 3, 2));
    assert_eq!(job.max_latency.write, Some(Nanos(10_000_000)));
    let target = job.latency_target.unwrap();
    assert_eq!((target.target, target.percentile), (Nanos(500_000), 99.0));
    assert!(job.continue_on_error.read && !job.continue_on_error.write);
    // Only what is written is read back, and only what is verified is trimmed.
    assert_eq!(one("--rw=read --verify=md5").verify, None);
    assert_eq!(one("--rw=write --trim_percentage=50 --trim_backlog=8").trim_written.percent, 0);
    assert!(one("--rw=write --verify=md5 --verify_only").pattern.reads);
    assert!(one("--ioengine=sg --rw=write --sg_write_mode=verify_bytchk_01").pattern.reads);
    assert!(one("--ioengine=sg --rw=write --sg_write_mode=write_same_ndob").zeroes);
}
