mod with_bytes;

use super::*;
use crate::output::to_json;
use crate::run::Silent;
use crate::workload::parse::parse_flags;
use ssdlab_device::profile::built_in;

fn open() -> Session {
    Session::open(&theory(), &settings(), 3).unwrap()
}

fn settings() -> Vec<(String, String)> {
    let settings = [("capacity_bytes", "64 MiB"), ("nand.pages_per_block", "32"), ("nand.dies_per_channel", "1")];
    settings.map(|(key, value)| (key.to_string(), value.to_string())).to_vec()
}

fn theory() -> DriveSource {
    DriveSource::Profile {
        name: "theory".into(),
        file: "theory.toml".into(),
        text: built_in("theory").unwrap().into(),
        scale: None,
    }
}

fn saved(bytes: &[u8], settings: &[(String, String)]) -> Result<Session, SessionError> {
    Session::open(&DriveSource::File { file: "old.ssd".into(), bytes: bytes.to_vec() }, settings, 3)
}

fn jobs() -> Vec<Job> {
    let flags = ["--rw=randrw", "--bs=4k", "--iodepth=8", "--io_size=32m", "--norandommap"].map(String::from);
    parse_flags(&flags).unwrap().jobs
}

fn plan() -> Plan {
    Plan { seed: 3, layout: true, timeline: None }
}

/// A run from a drive file gives the same bytes of result as the run that seasoned the drive itself.
#[test]
fn a_drive_file_continues_where_it_was_saved() {
    let mut first = open();
    first.bring_to(Condition::SteadyByJob, &jobs(), 1.0, 3, &mut Silent).unwrap();
    let mut second = saved(&first.to_bytes().unwrap(), &[]).unwrap();
    let result = |session: &mut Session| {
        let (record, context) = session.run(&jobs(), &plan(), &mut Silent).unwrap();
        to_json(&record, &context, true).to_string()
    };
    assert_eq!(result(&mut first), result(&mut second));
}

/// The next run begins at the instant at which the one before ended, and finds the drive as that left it.
#[test]
fn runs_follow_each_other_without_a_pause() {
    let mut session = open();
    let (first, _) = session.run(&jobs(), &plan(), &mut Silent).unwrap();
    let (second, _) = session.run(&jobs(), &plan(), &mut Silent).unwrap();
    assert!(first.end > first.start);
    assert_eq!((second.start, second.groups[0].start), (first.end, first.end));
    assert_eq!(second.groups[0].counters_at_start, first.groups[0].counters_at_end);
}

/// A secure erase makes a drive fresh, wear aside; after a trim it is what it was but can be filled again; after a
/// crypto erase it is what it was. The drive file keeps it.
#[test]
fn conditions_after_starting_over() {
    let mut used = open();
    used.bring_to(Condition::Used, &[], 1.0, 3, &mut Silent).unwrap();
    let kept = used.to_bytes().unwrap();
    let started_over = |how: StartOver| {
        let mut session = saved(&kept, &[]).unwrap();
        session.start_over(how).unwrap();
        let mut session = saved(&session.to_bytes().unwrap(), &[]).unwrap();
        assert_eq!(session.started_over(), Some(how));
        let condition = session.condition();
        let refilled = session.bring_to(Condition::Filled, &[], 1.0, 3, &mut Silent);
        (condition, refilled.is_ok().then(|| session.started_over()))
    };
    assert_eq!(started_over(StartOver::SecureErase), (Condition::Fresh, Some(None)));
    assert_eq!(started_over(StartOver::Overwrite), (Condition::Fresh, Some(None)));
    assert_eq!(started_over(StartOver::Trim), (Condition::Used, Some(None)));
    assert_eq!(started_over(StartOver::CryptoErase), (Condition::Used, None));
    used.start_over(StartOver::Trim).unwrap();
    let refused = used.bring_to(Condition::Fresh, &[], 1.0, 3, &mut Silent).unwrap_err().to_string();
    assert!(refused.contains("used already") && refused.contains("secure erase"), "{refused}");
}

/// That jobs wrote to a drive since it came into its condition is told by what goes on with it, and not by the run that
/// wrote; reads leave nothing to tell. It lies at the end of the drive file, whose rest is as before.
#[test]
fn writes_of_earlier_jobs_are_told() {
    const FILL: &str = "sequential 128 KiB writes over the whole drive, once";
    let run = |session: &mut Session, rw: &str| {
        let flags = [format!("--rw={rw}"), "--number_ios=10".into()];
        session.run(&parse_flags(&flags).unwrap().jobs, &plan(), &mut Silent).unwrap().1.conditioned_by
    };
    for (condition, own, since) in [
        (Condition::Fresh, None, "the writes of earlier jobs alone".to_string()),
        (Condition::Filled, Some(FILL), format!("{FILL}; since then the writes of earlier jobs")),
    ] {
        let mut session = open();
        session.bring_to(condition, &[], 1.0, 3, &mut Silent).unwrap();
        assert_eq!(run(&mut session, "randread").as_deref(), own);
        let mut session = saved(&session.to_bytes().unwrap(), &[]).unwrap();
        assert_eq!(run(&mut session, "randwrite").as_deref(), own);
        let kept = session.to_bytes().unwrap();
        let mut session = saved(&kept, &[]).unwrap();
        assert_eq!(session.show()["conditioned_by"], since);
        // What is asked for is there already, so nothing is written that would make it true again.
        session.bring_to(condition, &[], 1.0, 3, &mut Silent).unwrap();
        assert_eq!(run(&mut session, "randread"), Some(since));
        // Where it does not lie in the file, the drive is as those that were kept before it was told.
        let mut session = saved(&kept, &[]).unwrap();
        session.label.written_since = false;
        let before = session.to_bytes().unwrap();
        assert_eq!(kept[..before.len() - 4], before[..before.len() - 4]);
        assert_eq!(saved(&before, &[]).unwrap().conditioned_by().as_deref(), own);
    }
}

/// A drive that comes into another condition, or is erased, leaves the writes of earlier jobs behind; a crypto erase
/// leaves its blocks full of them.
#[test]
fn another_condition_leaves_earlier_writes_behind() {
    let written = || {
        let mut session = open();
        session.bring_to(Condition::Filled, &[], 1.0, 3, &mut Silent).unwrap();
        session.run(&jobs(), &plan(), &mut Silent).unwrap();
        session
    };
    let mut session = written();
    session.bring_to(Condition::Used, &[], 1.0, 3, &mut Silent).unwrap();
    assert!(session.conditioned_by().unwrap().ends_with("of as many bytes"));
    let purged = |how: StartOver| {
        let mut session = written();
        session.start_over(how).unwrap();
        session.conditioned_by()
    };
    assert_eq!(purged(StartOver::SecureErase), None);
    let told = purged(StartOver::CryptoErase).unwrap();
    assert!(told.ends_with("; since then the writes of earlier jobs; since then purged: crypto-erase"), "{told}");
}

/// A trimmed drive is laid out for a read job like a fresh one; a crypto-erased one holds something everywhere.
#[test]
fn reads_after_starting_over() {
    let flags = ["--rw=randread", "--bs=4k", "--size=8m"].map(String::from);
    let reads = parse_flags(&flags).unwrap().jobs;
    for how in StartOver::ALL {
        let mut session = open();
        session.bring_to(Condition::Filled, &[], 1.0, 3, &mut Silent).unwrap();
        session.start_over(how).unwrap();
        let (record, context) = session.run(&reads, &plan(), &mut Silent).unwrap();
        assert_eq!(record.groups[0].counters().unmapped_reads, 0);
        assert_eq!(context.extra["started_over"], how.show());
        assert_eq!(context.extra["laid_out_bytes"], if how.empties() { 8 << 20 } else { 0 });
    }
}

/// Energy by hand: a read a second for ten seconds, at 2 W awake and 0.1 W in slumber, which begins after 0.4 s.
#[test]
fn energy_is_time_in_a_state_times_its_power() {
    let power = ["active_mw=2000", "idle_mw=500", "slumber_mw=100", "slumber_after_ms=400", "slumber_wake_us=1000"];
    let split = |setting: &str| setting.split_once('=').map(|(key, value)| (format!("power.{key}"), value.into()));
    let mut settings: Vec<(String, String)> = power.iter().filter_map(|setting| split(setting)).collect();
    settings.push(("capacity_bytes".into(), "64 MiB".into()));
    let mut session = Session::open(&theory(), &settings, 3).unwrap();
    let flags = ["--rw=randread", "--bs=4k", "--thinktime=1s", "--number_ios=10"].map(String::from);
    let (record, context) = session.run(&parse_flags(&flags).unwrap().jobs, &plan(), &mut Silent).unwrap();
    let power = &to_json(&record, &context, false)["jobs"][0]["ssdlab"]["power"];
    let near = |key: &str, expected: f64| {
        let found = power[key].as_f64().unwrap();
        assert!((found - expected).abs() < 0.01 * expected, "{key}: {found}, by hand {expected}");
    };
    // Nine pauses between ten reads; each read takes 90 µs, nine of them 1 ms of waking as well.
    near("active_mj", 2000.0 * (10.0 * 90e-6 + 9.0 * 1e-3));
    near("idle_mj", 500.0 * 9.0 * 0.4);
    near("slumber_mj", 100.0 * 9.0 * 0.6);
    near("average_mw", (19.8 + 1800.0 + 540.0) / 9.0);
    assert_eq!(power["wake_ups"], 9);
}

/// What is still in the write buffer when a drive is put away is programmed, and there afterwards.
#[test]
fn a_drive_is_kept_with_what_its_buffer_holds() {
    let mut buffered = settings();
    buffered.push(("buffer.bytes".into(), "1 MiB".into()));
    let mut session = Session::open(&theory(), &buffered, 3).unwrap();
    let flags = ["--rw=randwrite", "--bs=4k", "--size=512k"].map(String::from);
    session.run(&parse_flags(&flags).unwrap().jobs, &plan(), &mut Silent).unwrap();
    let again = saved(&session.to_bytes().unwrap(), &[]).unwrap();
    assert_eq!(again.target.with_first(|drive| drive.ssd().unwrap().ftl.mapped_units()), 128);
}

/// A cut, damaged or foreign file is refused by name, and so are settings over a seasoned drive.
#[test]
fn broken_drive_files_are_refused() {
    let bytes = open().to_bytes().unwrap();
    let refused = |bytes: &[u8]| saved(bytes, &[]).err().unwrap().to_string();
    assert!(refused(b"hello").contains("not a drive file"));
    let older = [b"ssdlab drive 1\n", &bytes[15..]].concat();
    assert!(refused(&older).contains("another version"));
    assert!(refused(&bytes[..bytes.len() / 2]).contains("truncated or damaged"));
    let mut damaged = bytes.clone();
    damaged[100] ^= 1;
    assert!(refused(&damaged).contains("truncated or damaged"));
    let settings = [("ftl.gc".to_string(), "fifo".to_string())];
    assert!(saved(&bytes, &settings).err().unwrap().to_string().contains("keeps its parameters"));
}

/// A read job on a fresh drive hits what was laid out; without that every read hits nothing, and is counted.
#[test]
fn reads_on_a_fresh_drive_are_laid_out() {
    let flags = ["--rw=randread", "--bs=4k", "--size=8m"].map(String::from);
    let reads = parse_flags(&flags).unwrap().jobs;
    for (layout, unmapped) in [(true, 0), (false, 2048)] {
        let (record, _) = open().run(&reads, &Plan { layout, ..plan() }, &mut Silent).unwrap();
        assert_eq!(record.groups[0].counters().unmapped_reads, unmapped);
    }
}

fn stack(source: &DriveSource, layers: &[&str]) -> Result<Session, SessionError> {
    let settings: &[_] = match source {
        DriveSource::Profile { .. } => &settings(),
        DriveSource::File { .. } | DriveSource::Folder { .. } => &[],
    };
    let layers = layers.iter().map(|layer| LayerText::parse(layer)).collect::<Result<_, _>>()?;
    Session::open_stack(source, settings, layers, 3, &mut |name| Err(SessionError::Drive(name.into())))
}

/// Half of the drive under a partition: seasoning writes that half and no more, and so the steady
/// write amplification is that of a drive which the host uses by half.
#[test]
fn a_stack_is_seasoned_through_its_layers() {
    let last_round = |session: &mut Session, span| {
        session.bring_to(Condition::SteadyByJob, &[], span, 3, &mut Silent).unwrap();
        session.target.each(|drive| assert_eq!(drive.ssd().unwrap().ftl.mapped_units(), 8_192));
        *session.season().rounds.last().unwrap()
    };
    let mut half = stack(&theory(), &["partition:start_sector=0,share=0.5"]).unwrap();
    let through_layers = last_round(&mut half, 1.0);
    assert_eq!(through_layers, last_round(&mut open(), 0.5));
}

/// Under uniform writes each drive of a stack is made steady alone and whole, as it is without layers; members differ.
#[test]
fn drives_of_a_stack_are_made_steady_alone() {
    let mut alone = open();
    alone.bring_to(Condition::SteadyUniform, &[], 1.0, 3, &mut Silent).unwrap();
    for (layer, drives) in [("partition:start_sector=0,share=0.5", 1), ("raid:level=0,disks=2", 2)] {
        let mut session = stack(&theory(), &[layer]).unwrap();
        session.bring_to(Condition::SteadyUniform, &jobs(), 1.0, 3, &mut Silent).unwrap();
        assert_eq!(session.season().rounds, alone.season().rounds, "{layer}");
        let mut erased = Vec::new();
        session.target.each(|drive| {
            assert_eq!(drive.ssd().unwrap().ftl.mapped_units(), 16_384);
            erased.push(drive.ssd().unwrap().ftl.counters.blocks_erased);
        });
        assert_eq!((erased.len(), erased[0]), (drives, alone.blocks_erased()));
        assert!(drives == 1 || erased[0] != erased[1]);
        let whole = if drives == 1 { "the whole drive" } else { "the whole of each drive" };
        let told = format!("uniform random 4 KiB writes over {whole}");
        assert_eq!(session.conditioned_by(), Some(told));
    }
}

/// A drive file keeps under which writes its drive is steady, and a run says it; one that was made before that was
/// kept says that it does not know. Uniform writes are done once; a job's writes are done for each job.
#[test]
fn a_drive_file_keeps_what_it_is_steady_under() {
    let mut first = open();
    first.bring_to(Condition::SteadyByJob, &jobs(), 1.0, 3, &mut Silent).unwrap();
    let bytes = first.to_bytes().unwrap();
    let mut second = saved(&bytes, &[]).unwrap();
    let (record, context) = second.run(&jobs(), &plan(), &mut Silent).unwrap();
    let lab = &to_json(&record, &context, false)["jobs"][0]["ssdlab"];
    assert_eq!(lab["condition"], "steady:job");
    assert_eq!(lab["conditioned_by"], "the writes of job job: random, 4 KiB, over 64 MiB");
    assert_eq!(lab["steady_reached"], true);
    assert!(second.notices.is_empty(), "{:?}", second.notices);
    first.label.season.writes = None;
    let old = saved(&first.to_bytes().unwrap(), &[]).unwrap();
    assert!(old.conditioned_by().unwrap().contains("which the drive file does not name"));
    let written = |session: &mut Session, to| {
        let before = session.host_pages_written();
        session.bring_to(to, &[], 1.0, 3, &mut Silent).unwrap();
        session.host_pages_written() - before
    };
    assert!(written(&mut second, Condition::SteadyUniform) >= 3 * 16_384);
    assert_eq!(written(&mut second, Condition::SteadyUniform), 0);
    assert_eq!(second.season().steady_reached, Some(true));
}

/// A job that covers a part of a drive that is steady under uniform writes is told that it has a steady state of its own.
#[test]
fn a_job_with_another_steady_state_is_told_so() {
    let mut session = open();
    session.bring_to(Condition::SteadyUniform, &[], 1.0, 3, &mut Silent).unwrap();
    let mut notices = |flags: &str| {
        let flags: Vec<String> = flags.split_whitespace().map(String::from).collect();
        session.run(&parse_flags(&flags).unwrap().jobs, &plan(), &mut Silent).unwrap();
        session.notices.join("\n")
    };
    let told = notices("--rw=randwrite --bs=4k --size=16m");
    assert!(told.contains("it covers 16 MiB of 64 MiB") && told.contains("--state steady:job"), "{told}");
    assert_eq!(notices("--rw=randwrite --bs=4k --io_size=4m"), "");
}

/// A drive that does not come to rest says so, with what it does instead.
#[test]
fn a_condition_that_was_not_reached_says_why() {
    let season = Season { rounds: vec![3.0, 3.5, 4.0, 4.5], steady_reached: Some(false), ..Season::default() };
    let told = season.shortfall().unwrap();
    assert_eq!(told, "write amplification went from 3.250 to 4.250 at the end of 4 rounds");
    assert_eq!(Season { steady_reached: Some(true), ..season }.shortfall(), None);
}

/// Encryption that filled the drive leaves nothing unmapped beneath it, whatever lies above.
#[test]
fn filling_encryption_maps_the_whole_drive() {
    let layers = ["crypt:fill=true", "partition:start_sector=0,share=0.5"];
    let mut session = stack(&theory(), &layers).unwrap();
    session.bring_to(Condition::Filled, &[], 1.0, 3, &mut Silent).unwrap();
    session.target.each(|drive| assert_eq!(drive.ssd().unwrap().ftl.mapped_units(), 16_384));
}

/// Each member of a stack over a drive file begins in the file's condition.
#[test]
fn a_drive_file_lies_below_layers() {
    let mut used = open();
    used.bring_to(Condition::Used, &[], 1.0, 3, &mut Silent).unwrap();
    let file = DriveSource::File { file: "old.ssd".into(), bytes: used.to_bytes().unwrap() };
    let mut session = stack(&file, &["partition:start_sector=63"]).unwrap();
    assert_eq!(session.condition(), Condition::Used);
    session.target.each(|drive| assert_eq!(drive.ssd().unwrap().ftl.mapped_units(), 16_384));
    assert!(session.to_bytes().unwrap_err().to_string().contains("without layers"));
    let error = session.bring_to(Condition::Filled, &[], 1.0, 3, &mut Silent).unwrap_err().to_string();
    assert!(error.contains("used already"));
}

/// What no stack can be is refused with the place and the remedy.
#[test]
fn impossible_stacks_are_refused() {
    let error = |layers: &[&str]| stack(&theory(), layers).err().unwrap().to_string();
    assert!(error(&["partition:start_sector=200000"]).contains("--layer partition:start_sector=200000: start_sector"));
    assert!(error(&["crypt", "crypt"]).contains("crypt lies directly over crypt"));
    assert!(error(&["crypto"]).contains("did you mean crypt?"));
}

/// A read job over layers hits what was laid out through them.
#[test]
fn reads_over_layers_are_laid_out() {
    let flags = ["--rw=randread", "--bs=4k", "--size=8m"].map(String::from);
    let reads = parse_flags(&flags).unwrap().jobs;
    let mut session = stack(&theory(), &["partition:start_sector=63", "crypt"]).unwrap();
    let (record, _) = session.run(&reads, &plan(), &mut Silent).unwrap();
    assert_eq!(record.groups[0].counters().unmapped_reads, 0);
    assert_eq!(record.groups[0].layers.taken.read_bytes, 8 << 20);
}

fn disk() -> DriveSource {
    let name = "fujitsu-mhz2250bh";
    DriveSource::Profile { name: name.into(), file: name.into(), text: built_in(name).unwrap().into(), scale: None }
}

/// A hard disk runs where a drive is named, fresh only; its mechanics are counted in its layer, and it
/// has no wear.
#[test]
fn a_hard_disk_runs() {
    let mut session = Session::open(&disk(), &[], 3).unwrap();
    let flags = ["--rw=randread", "--bs=4k", "--number_ios=500"].map(String::from);
    let reads = parse_flags(&flags).unwrap().jobs;
    let (record, context) = session.run(&reads, &plan(), &mut Silent).unwrap();
    let result = to_json(&record, &context, false);
    let lab = &result["jobs"][0]["ssdlab"];
    assert_eq!(lab["layers"]["counters"]["accesses"], json!(500));
    assert_eq!((&lab["wear"], &lab["write_amplification"]), (&Value::Null, &Value::Null));
    // Command, mean seek and half a revolution are 17.8 ms; three standard errors of 500 draws are 0.6 ms.
    let ms = result["jobs"][0]["read"]["lat_ns"]["mean"].as_f64().unwrap() / 1e6;
    assert!((ms - 17.8).abs() < 0.7, "{ms}");
}

/// What only flash has is refused for a hard disk, by name.
#[test]
fn a_hard_disk_has_no_condition() {
    let mut session = Session::open(&disk(), &[], 3).unwrap();
    session.bring_to(Condition::Fresh, &[], 1.0, 3, &mut Silent).unwrap();
    let refused = session.bring_to(Condition::Used, &[], 1.0, 3, &mut Silent).unwrap_err().to_string();
    assert!(refused.contains("no condition used"), "{refused}");
    assert!(session.to_bytes().unwrap_err().to_string().contains("name its profile"));
    let timeline = Plan { timeline: Some((Nanos(0), Nanos(1))), ..plan() };
    assert!(session.run(&jobs(), &timeline, &mut Silent).err().unwrap().to_string().contains("timeline"));
}

/// Another kind of cell takes times and endurance of its own; the profile's own kind is no change.
#[test]
fn another_cell_needs_its_times() {
    let open = |settings: &[(&str, &str)]| {
        let given: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Session::open(&theory(), &given, 1).map(drop).map_err(|error| error.to_string())
    };
    let times = [("nand.cell", "tlc"), ("nand.read_us", "75"), ("nand.program_us", "750")];
    assert!(
        open(&times[..1]).unwrap_err().contains("give them too: --set nand.read_us=… --set nand.program_us=… --set")
    );
    assert!(open(&times).unwrap_err().ends_with("give them too: --set reliability.rated_cycles=…"));
    assert_eq!(open(&[&times[..], &[("reliability.rated_cycles", "100000")]].concat()), Ok(()));
    assert_eq!(open(&[("nand.cell", "slc")]), Ok(()));
}
