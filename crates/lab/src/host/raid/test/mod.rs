//! What the tests of the array share: settings, members that write down what they are asked.

mod by_hand;
mod bytes;
mod cached;
mod interleaved;
mod lost;
mod refused;

use super::config::{self, RaidConfig};
use super::{Raid, new};
use crate::host::stacked::Stacked;
use crate::null::NullDevice;
use ssdlab_device::block::{Busy, Completion, Device, Limits, Operation, Request, Status, Tag};
use ssdlab_device::parameter::{Declaration, Problem, Raw, Source};
use ssdlab_device::units::Nanos;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Settings as `key=value`, with defaults for the rest.
struct Settings<'a>(&'a str);

impl Source for Settings<'_> {
    fn get(&mut self, declaration: &Declaration) -> Result<Raw, Problem> {
        let given = self.0.split_whitespace().filter_map(|setting| setting.split_once('='));
        let given = given.filter(|(key, _)| declaration.key == format!("raid.{key}")).map(|(_, value)| value).next();
        let text = given.or(declaration.default);
        let text = text.ok_or_else(|| Problem::new(declaration.key, "", "must be given"))?.trim_matches('"');
        Ok(match (text.parse(), text.parse(), text) {
            (Ok(number), _, _) => Raw::Integer(number),
            (_, Ok(number), _) => Raw::Float(number),
            (_, _, "true" | "false") => Raw::Flag(text == "true"),
            _ => Raw::Text(text.into()),
        })
    }
}

/// An array's parameters from `key=value` settings.
pub fn config(settings: &str) -> RaidConfig {
    for (key, _) in settings.split_whitespace().filter_map(|setting| setting.split_once('=')) {
        let key = format!("raid.{key}");
        assert!(RaidConfig::DECLARATIONS.iter().any(|declaration| declaration.key == key), "there is no {key}");
    }
    config::read(&mut Settings(settings)).expect("settings that are in range")
}

/// What a member was asked, and when; untimed requests begin and end at zero.
#[derive(Clone, Copy, Debug)]
struct Seen {
    member: usize,
    request: Request,
    begin: Nanos,
    end: Nanos,
}

type Log = Rc<RefCell<Vec<Seen>>>;

/// A member of constant latency that writes down what it is asked.
struct Recorder {
    inner: NullDevice,
    member: usize,
    log: Log,
    under_way: HashMap<Tag, usize>,
}

impl Recorder {
    fn note(&mut self, request: Request, begin: Nanos) -> usize {
        let mut log = self.log.borrow_mut();
        log.push(Seen { member: self.member, request, begin, end: begin });
        log.len() - 1
    }
}

impl Device for Recorder {
    fn limits(&self) -> &Limits {
        self.inner.limits()
    }
    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) -> Result<(), Busy> {
        self.inner.submit(now, tag, request)?;
        let number = self.note(request, now);
        self.under_way.insert(tag, number);
        Ok(())
    }
    fn next_event(&self) -> Option<Nanos> {
        self.inner.next_event()
    }
    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        let now = self.inner.advance(to, done);
        for completion in done.iter() {
            if let Some(number) = self.under_way.remove(&completion.tag) {
                self.log.borrow_mut()[number].end = now;
            }
        }
        now
    }
    fn apply_now(&mut self, request: Request) -> Status {
        self.note(request, Nanos::ZERO);
        Status::Success
    }
    fn cut_power(&mut self, now: Nanos) {
        self.inner.cut_power(now);
        self.under_way.clear();
    }
}

/// An array over members that write down what they are asked, with these latencies in turn.
fn recorded(settings: &str, member_bytes: u64, latencies_ns: &[u64]) -> (Stacked<Raid>, Log) {
    let config = config(settings);
    let log = Log::default();
    let member = |member: usize| {
        let inner = NullDevice::new(member_bytes, Nanos(latencies_ns[member % latencies_ns.len()]), 1 << 20);
        Box::new(Recorder { inner, member, log: log.clone(), under_way: HashMap::new() }) as Box<dyn Device>
    };
    let members = (0..config.disks as usize).map(member).collect();
    (new(&config, members).expect("an array that can be"), log)
}

/// Does requests, so many at a time, from `now` on; returns when each completed.
fn run_from(array: &mut dyn Device, mut now: Nanos, requests: &[Request], depth: usize) -> Vec<Nanos> {
    let mut times = vec![None; requests.len()];
    let (mut next, mut under_way, mut done) = (0, 0, Vec::new());
    while times.contains(&None) {
        while next < requests.len() && under_way < depth {
            array.submit(now, Tag(next as u32), requests[next]).expect("room for a request");
            (next, under_way) = (next + 1, under_way + 1);
        }
        assert!(array.next_event().is_some(), "requests are under way, and nothing happens");
        now = array.advance(Nanos::NEVER, &mut done);
        for completion in done.drain(..) {
            assert_eq!(completion.status, Status::Success);
            assert_eq!(times[completion.tag.0 as usize].replace(now), None, "completed twice");
            under_way -= 1;
        }
    }
    times.into_iter().flatten().collect()
}

/// Does requests from zero on.
fn run_all(array: &mut dyn Device, requests: &[Request], depth: usize) -> Vec<Nanos> {
    run_from(array, Nanos::ZERO, requests, depth)
}

/// Lets everything happen that will without further requests, until `to`.
fn idle(array: &mut dyn Device, to: Nanos) {
    let mut done = Vec::new();
    while array.next_event().is_some_and(|time| time <= to) {
        array.advance(to, &mut done);
    }
    assert!(done.is_empty(), "nothing was asked");
}

/// Sectors of members that were written.
fn sectors_written(log: &[Seen]) -> BTreeSet<(usize, u64)> {
    let writes = log.iter().filter(|seen| seen.request.operation == Operation::Write);
    writes
        .flat_map(|seen| (0..u64::from(seen.request.sectors)).map(|at| (seen.member, seen.request.lba.0 + at)))
        .collect()
}

fn count(array: &mut dyn Device, name: &str) -> u64 {
    array.layers().counts.iter().find(|(known, _)| known == name).expect("a count of that name").1
}
