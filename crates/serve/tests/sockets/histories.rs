//! Drawn histories over several connections, with an oracle beside them.
//!
//! One thread is all clients: it sends a request to a connection that is drawn, or takes a reply, and so knows what came
//! before what. The server has a thread for each.

use crate::client::{self, Client};
use crate::oracle::Oracle;
use crate::{PACES, connected, disk, serve};
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_disk::medium::{Medium, Ram};
use ssdlab_disk::{Disk, Lba, Operation, Request};
use ssdlab_serve::clock::Pace;
use ssdlab_serve::server::{Options, Server};
use std::collections::{BTreeMap, VecDeque};

/// Requests of a connection at once.
const DEPTH: usize = 16;

/// The clients, and what they know.
pub struct History {
    clients: Vec<Client>,
    /// What each awaits, oldest first.
    awaited: Vec<VecDeque<u32>>,
    under_way: BTreeMap<u32, Request>,
    pub oracle: Oracle,
    draws: Stream,
    next: u32,
    /// Sectors that requests lie in: a few make them meet.
    span: u32,
    pub completed: u64,
    pub failed: u64,
}

/// The bytes of a sector of that value.
fn sector_of(value: u64) -> Vec<u8> {
    value.to_le_bytes().repeat(64)
}

/// The value of a sector, all of whose words are alike.
pub fn value_of(bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
    let first = words.next().expect("a sector has bytes");
    assert!(words.all(|word| word == first), "a sector is torn");
    first
}

impl History {
    pub fn new(server: &Server<Ram>, connections: usize, seed: u64) -> History {
        let drive = |disk: &mut Disk<Ram>| {
            let unit_sectors = disk.ssd().unit_bytes() / disk.limits().sector_bytes;
            Oracle::new(disk.limits().volatile_cache, unit_sectors, disk.ssd().config().ftl.trim)
        };
        History {
            clients: (0..connections).map(|_| connected(server)).collect(),
            awaited: vec![VecDeque::new(); connections],
            under_way: BTreeMap::new(),
            oracle: server.with_disk(drive).expect("it is served"),
            draws: Stream::new(seed, Purpose::Errors),
            next: 1,
            span: 512,
            completed: 0,
            failed: 0,
        }
    }

    fn request(&mut self) -> Request {
        let operation = match self.draws.below(20) {
            0..=9 => Operation::Write,
            10..=14 => Operation::Read,
            15..=16 => Operation::Trim,
            17 => Operation::WriteZeroes,
            _ => return Request::new(Operation::Flush, Lba(0), 0),
        };
        let lba = self.draws.below(self.span - 8);
        let lba = if self.draws.below(2) == 0 { lba / 8 * 8 } else { lba };
        let fua = operation == Operation::Write && self.draws.below(8) == 0;
        let sectors = if self.draws.below(2) == 0 { 8 } else { 1 + self.draws.below(8) };
        Request { fua, ..Request::new(operation, Lba(lba.into()), sectors) }
    }

    /// One more request, over a connection that is drawn, or a reply where that has its fill.
    pub fn step(&mut self) {
        let connection = self.draws.below(self.clients.len() as u32) as usize;
        let depth = self.awaited[connection].len();
        if depth == DEPTH || depth > 0 && self.draws.below(5) == 0 {
            return self.receive(connection);
        }
        let (request, tag) = (self.request(), self.next);
        self.next += 1;
        let payload = match request.operation {
            Operation::Write => sector_of(tag.into()).repeat(request.sectors as usize),
            _ => Vec::new(),
        };
        let command = match request.operation {
            Operation::Read => client::READ,
            Operation::Write => client::WRITE,
            Operation::Flush => client::FLUSH,
            Operation::Trim => client::TRIM,
            Operation::WriteZeroes => client::ZEROES,
        };
        let value = if request.operation == Operation::Write { tag.into() } else { 0 };
        self.oracle.submit(tag, request, value);
        self.under_way.insert(tag, request);
        self.awaited[connection].push_back(tag);
        let place = (request.lba.0 * 512, request.sectors * 512);
        self.clients[connection].send(u16::from(request.fua), command, tag.into(), place, &payload);
    }

    /// Takes a reply.
    fn receive(&mut self, connection: usize) {
        let under_way = &self.under_way;
        let length = |cookie: u64| match under_way[&(cookie as u32)] {
            Request { operation: Operation::Read, sectors, .. } => sectors as usize * 512,
            _ => 0,
        };
        let (cookie, error, bytes) = self.clients[connection].receive(length).expect("a reply");
        let tag = cookie as u32;
        let place = self.awaited[connection].iter().position(|awaited| *awaited == tag);
        self.awaited[connection].remove(place.expect("it was asked there"));
        let request = self.under_way.remove(&tag).expect("it was not answered before");
        if error != 0 {
            assert_eq!(error, client::EIO);
            self.failed += 1;
            return;
        }
        self.completed += 1;
        let submitted = self.oracle.submitted(tag);
        self.oracle.complete(tag);
        if request.operation == Operation::Read
            && let Some(wrong) = self.oracle.judge_read(&request, submitted, bytes.chunks(512).map(value_of))
        {
            panic!("a read: {wrong}");
        }
    }

    /// Takes all replies that are still to come.
    pub fn drain(&mut self) {
        for connection in 0..self.clients.len() {
            while !self.awaited[connection].is_empty() {
                self.receive(connection);
            }
        }
    }

    /// Every client leaves; as many come anew.
    pub fn reconnect(&mut self, server: &Server<Ram>) {
        self.clients = (0..self.clients.len()).map(|_| connected(server)).collect();
    }

    /// What a client reads in the sectors that were touched.
    pub fn seen(&mut self) -> BTreeMap<u64, u64> {
        let touched: Vec<u64> = self.oracle.touched().collect();
        let client = &mut self.clients[0];
        touched.into_iter().map(|lba| (lba, value_of(&client.read(lba * 512, 512).expect("it can be read")))).collect()
    }
}

/// What four connections read, write, trim and flush at once is what a drive may show, at each pace.
#[test]
fn four_connections_at_once() {
    for (pace, name) in PACES.into_iter().flat_map(|pace| [(pace, "buffered"), (pace, "theory")]) {
        let server = serve(disk(name), Options { pace, ..Options::default() });
        let mut history = History::new(&server, 4, 5);
        let steps = if pace == Pace::Off { 20_000 } else { 2_000 };
        (0..steps).for_each(|_| history.step());
        history.drain();
        assert_eq!(history.failed, 0);
        let seen = history.seen();
        let mut disk = server.stop().expect("the drive");
        let medium = disk.ssd().ftl.flash.contents.medium();
        for (lba, value) in seen {
            let mut sector = [0; 512];
            medium.read(lba * 512, &mut sector).expect("RAM");
            assert_eq!(value_of(&sector), value, "the medium of a drive that was stopped has all of it");
        }
    }
}
