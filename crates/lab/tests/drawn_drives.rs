//! Drawn drives and arrays, from the smallest legal spare on: every one takes its condition and its job,
//! or says which resource it is short of; none programs more than its writes warrant, and none hangs.
//!
//! 200 draws by default; `SSDLAB_DRAWS=FROM..TO` says which, for `make test-long PART=drawn-drives`.

use ssdlab_device::profile::built_in;
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_lab::condition::Condition;
use ssdlab_lab::host::text::LayerText;
use ssdlab_lab::run::Silent;
use ssdlab_lab::session::{DriveSource, Plan, Session, SessionError};
use ssdlab_lab::workload::job::Job;
use ssdlab_lab::workload::parse::parse_flags;
use std::ops::Range;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// A draw that takes longer hangs, however slow the machine.
const HANG: Duration = Duration::from_secs(300);
/// Pages programmed for each page of a drive that the host writes at most: collection stops where a
/// victim gains less than a 1024th, and every array writes a few pages for one of its own.
const MOST_WRITE_AMPLIFICATION: u64 = 1100;

/// A drive, what lies over it, and what is done with it.
#[derive(Clone, Debug)]
struct Draw {
    settings: Vec<(String, String)>,
    layers: Vec<String>,
    condition: Condition,
    flags: Vec<String>,
}

/// A stream that chooses.
struct Chooser(Stream);

impl Chooser {
    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.0.below(choices.len() as u32) as usize]
    }

    fn number(&mut self, range: Range<u32>) -> u32 {
        range.start + self.0.below(range.end - range.start)
    }
}

impl Draw {
    fn new(number: u64) -> Draw {
        let mut choose = Chooser(Stream::new(number, Purpose::Victim));
        let striping = choose.of(&["per-die", "per-die", "superblock"]);
        let slc = choose.of(&["none", "none", "dynamic", "static"]);
        let pages = [8, 16, 32, 48, 96, 128][choose.number(0..6) as usize];
        let settings = [
            ("capacity_bytes", format!("{} MiB", choose.number(4..48))),
            ("nand.channels", choose.number(1..4).to_string()),
            ("nand.dies_per_channel", choose.number(1..4).to_string()),
            ("nand.pages_per_block", pages.to_string()),
            ("nand.page_bytes", choose.of(&["4 KiB", "8 KiB", "16 KiB"]).into()),
            ("nand.planes", choose.of(&["1", "1", "2"]).into()),
            ("nand.cell", if slc == "none" { choose.of(&["slc", "mlc", "tlc"]) } else { "tlc" }.into()),
            ("nand.read_us", "75".into()),
            ("nand.program_us", "750".into()),
            ("reliability.rated_cycles", "10000000".into()),
            ("ftl.mapping_unit_bytes", "4 KiB".into()),
            ("ftl.striping", striping.into()),
            ("ftl.gc", choose.of(&["greedy", "greedy", "fifo", "random", "d-choices:4", "cost-benefit"]).into()),
            ("ftl.frontiers", choose.of(&["single", "host-gc", "host-gc"]).into()),
            ("ftl.gc_pace", choose.of(&["batch", "smooth"]).into()),
            ("ftl.spare_counts", choose.of(&["all", "collected"]).into()),
            ("ftl.slc_cache", slc.into()),
            ("ftl.idle_gc_after_ms", if slc == "none" { "none" } else { "1" }.into()),
            ("ftl.slc_cache_bytes", if slc == "none" { "0".into() } else { format!("{} MiB", choose.number(1..4)) }),
            ("buffer.bytes", choose.of(&["0", "256 KiB", "1 MiB"]).into()),
            ("buffer.power_loss_protected", choose.of(&["true", "false"]).into()),
            ("reliability.factory_bad_share", choose.of(&["0", "0", "0.01"]).into()),
        ];
        let layers = match choose.number(0..8) {
            0 => vec![format!("raid:level=0,disks={}", choose.number(2..5))],
            1 => vec!["raid:level=1,disks=2".into()],
            2 => vec![format!("raid:level=5,disks={},preset=controller", choose.number(3..6))],
            3 => vec![format!("raid:level=5,disks={}", choose.number(3..6))],
            4 => vec!["raid:level=6,disks=4".into()],
            5 => vec!["raid:level=10,disks=4".into()],
            _ => vec![],
        };
        let flags = [
            format!("--rw={}", choose.of(&["randwrite", "randrw", "write", "randtrim", "trimwrite"])),
            format!("--bs={}", choose.of(&["4k", "4k", "8k", "64k"])),
            format!("--iodepth={}", choose.of(&["1", "4", "32"])),
            format!("--number_ios={}", choose.number(500..4000)),
            "--norandommap".into(),
        ];
        let condition = Condition::ALL[choose.number(0..4) as usize];
        let mut settings: Vec<_> = settings.map(|(key, value)| (key.to_string(), value)).to_vec();
        let spare = least_spare(&settings, choose.0.unit() * 0.6) + [0.0, 0.01, 0.1, 0.4][choose.number(0..4) as usize];
        settings.push(("over_provisioning".into(), spare.to_string()));
        Draw { settings, layers, condition, flags: flags.to_vec() }
    }

    fn jobs(&self) -> Vec<Job> {
        parse_flags(&self.flags).unwrap_or_else(|error| panic!("{error}: {self:?}")).jobs
    }

    fn open(&self) -> Result<Session, SessionError> {
        let layers = self.layers.iter().map(|layer| LayerText::parse(layer).expect("a layer"));
        Session::open_stack(&theory(), &self.settings, layers.collect(), 1, &mut |_| unreachable!("one drive"))
    }

    /// Whether the drive took all of it, or what it said.
    fn carried_out(&self) -> Result<Session, SessionError> {
        let mut session = self.open()?;
        session.bring_to(self.condition, &self.jobs(), 1.0, 1, &mut Silent)?;
        session.run(&self.jobs(), &Plan { seed: 1, layout: false, timeline: None }, &mut Silent)?;
        Ok(session)
    }
}

fn theory() -> DriveSource {
    let text = built_in("theory").expect("built in").into();
    DriveSource::Profile { name: "theory".into(), file: "theory.toml".into(), text, scale: None }
}

/// The smallest over-provisioning that a shape is accepted with, as the refusal of a smaller one names it.
fn least_spare(settings: &[(String, String)], otherwise: f64) -> f64 {
    let settings = [settings, &[("over_provisioning".to_string(), "0.0001".to_string())]].concat();
    let Err(refused) = Session::open(&theory(), &settings, 1) else { return 0.0001 };
    let text = refused.to_string();
    let named = text.split("over-provisioning of ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
    named.map_or(otherwise, |least| least + 0.0001)
}

/// Which draws: `SSDLAB_DRAWS=FROM..TO`, else the first 200.
fn wanted() -> Range<u64> {
    let text = std::env::var("SSDLAB_DRAWS").unwrap_or_else(|_| "0..200".into());
    let (from, to) = text.split_once("..").unwrap_or_else(|| panic!("SSDLAB_DRAWS={text}: give FROM..TO"));
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("SSDLAB_DRAWS: {text} is no number"));
    number(from)..number(to)
}

/// One draw; what it was is told beforehand, so that one that hangs has a name.
fn carry_out(number: u64, tell: &Sender<String>) -> Result<&'static str, String> {
    let draw = Draw::new(number);
    tell.send(format!("{number}: {draw:?}")).expect("somebody listens");
    match draw.carried_out() {
        Ok(mut session) => {
            let counters = session.counters();
            let count = |name: &str| counters[name].as_u64().expect("a counter");
            let (host, nand) = (count("host_pages_written"), count("nand_pages_written"));
            let is_warranted = nand <= MOST_WRITE_AMPLIFICATION * host.max(1);
            is_warranted.then_some("carried out").ok_or(format!("{nand} pages for {host}: {number}: {draw:?}"))
        }
        Err(error) => {
            let text = error.to_string();
            let named = [
                "out of free blocks",
                "out of good blocks",
                "spare blocks",
                "exported",
                "too small",
                "larger",
                "over_provisioning=",
            ];
            let is_named = named.iter().any(|resource| text.contains(resource));
            is_named.then_some("refused").ok_or(format!("{text}: {number}: {draw:?}"))
        }
    }
}

/// Every drawn drive ends, with its job done or with what it is short of.
#[test]
fn every_drawn_drive_ends() {
    let (tell, told) = channel();
    let worker = std::thread::spawn(move || {
        let outcomes: Vec<_> = wanted().map(|number| carry_out(number, &tell)).collect();
        let failures: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
        assert!(failures.is_empty(), "{} failures: {failures:#?}", failures.len());
        outcomes.iter().filter(|outcome| **outcome == Ok("refused")).count()
    });
    let mut last = String::new();
    loop {
        match told.recv_timeout(HANG) {
            Ok(draw) => last = draw,
            Err(RecvTimeoutError::Timeout) => panic!("hangs: {last}"),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let refused = worker.join().expect("no draw failed");
    let draws = wanted().count();
    println!("{draws} draws, {refused} of them refused");
    assert!(refused * 2 < draws, "most draws are legal drives: {refused} of {draws} were refused");
}
