//! NVMe over TCP, by a host of our own, honest and hostile.

use crate::initiator::{Command, Queue};
use crate::{connected, disk, serve, wait_until};
use ssdlab_disk::medium::Ram;
use ssdlab_serve::clock::Pace;
use ssdlab_serve::limits::Limits;
use ssdlab_serve::nvme::fabric::DISCOVERY;
use ssdlab_serve::nvme::facts::Identity;
use ssdlab_serve::nvme::fields::{u8_at, u16_at, u64_at};
use ssdlab_serve::nvme::pdu::{Fatal, HOST_DATA, IC_REQUEST};
use ssdlab_serve::nvme::status::Status;
use ssdlab_serve::server::{Nvme, Options, Server};
use ssdlab_serve::socket::Address;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

const NAME: &str = "nqn.2014-08.org.nvmexpress:uuid:drive";
const OTHER: &str = "nqn.2014-08.org.nvmexpress:uuid:other";
const WRITE: u8 = 1;
const READ: u8 = 2;

/// A drive that is served over NVMe, too, and where.
fn served(options: Options) -> (Server<Ram>, SocketAddr) {
    served_in(None, options)
}

/// The same of a drive that remembers in a folder.
fn served_in(folder: Option<&Path>, options: Options) -> (Server<Ram>, SocketAddr) {
    let identity = Identity { qualified_name: NAME.into(), ..Identity::default() };
    let folder = folder.map(Path::to_path_buf);
    let nvme = Some(Nvme { addresses: vec![([127, 0, 0, 1], 0).into()], identity, folder });
    let server = serve(disk("smooth"), Options { nvme, ..options });
    let Address::Tcp(address) = server.nvme_addresses()[0] else { panic!("over TCP") };
    (server, address)
}

/// An admin and an I/O queue.
fn host(address: SocketAddr, with_digests: bool) -> (Queue, Queue) {
    let admin = Queue::admin(address, NAME, with_digests).expect("an admin queue");
    let io = admin.io(address, NAME).expect("an I/O queue");
    (admin, io)
}

fn noise(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|place| (place * 7 + place / 512) as u8).collect()
}

/// The server lives: another host writes and reads.
fn assert_lives(address: SocketAddr) {
    let (_admin, mut io) = host(address, false);
    let data = noise(4096);
    assert!(io.ask(&Command::of(WRITE, 0, 8), &data).expect("an answer").0.is(Status::SUCCESS));
    assert_eq!(io.ask(&Command::of(READ, 0, 8), &[]).expect("an answer").1, data);
}

/// In the capsule and asked for, short and long, with digests and without, and NBD sees the same bytes.
#[test]
fn what_is_written_is_read() {
    for (pace, with_digests) in crate::PACES.into_iter().flat_map(|pace| [(pace, false), (pace, true)]) {
        let (server, address) = served(Options { pace, ..Options::default() });
        let (_admin, mut io) = host(address, with_digests);
        for (first, sectors, in_capsule) in [(0u64, 1u32, true), (8, 16, true), (64, 8, false), (512, 2048, false)] {
            let data = noise(sectors as usize * 512);
            let write = Command { in_capsule, ..Command::of(WRITE, first, sectors) };
            assert!(io.ask(&write, &data).expect("an answer").0.is(Status::SUCCESS));
            let (done, read) = io.ask(&Command::of(READ, first, sectors), &[]).expect("an answer");
            assert!(done.is(Status::SUCCESS) && read == data, "{first} {sectors}");
            let mut other = connected(&server);
            assert_eq!(other.read(first * 512, sectors * 512).expect("it is there"), data);
        }
    }
}

/// Many commands at once end in any order, each with its own number.
#[test]
fn commands_overlap() {
    let (_server, address) = served(Options::default());
    let (_admin, mut io) = host(address, false);
    let sent: Vec<u16> = (0..100).map(|place| io.send(&Command::of(READ, place * 8, 8), &[]).unwrap()).collect();
    let mut ended: Vec<u16> = sent.iter().map(|_| io.end(&[]).unwrap().0.id).collect();
    ended.sort_unstable();
    assert_eq!(ended, sent);
}

/// Other commands wait while the data of one are on their way, and end behind it.
#[test]
fn others_wait_for_data() {
    let (_server, address) = served(Options::default());
    let (_admin, mut io) = host(address, false);
    let data = noise(64 << 10);
    let write = io.send(&Command::of(WRITE, 0, 128), &[]).unwrap();
    let read = io.send(&Command::of(READ, 0, 8), &[]).unwrap();
    // The drive may end them in any order.
    let mut ended = [(); 2].map(|()| io.end(&data).unwrap().0.id);
    ended.sort_unstable();
    assert_eq!(ended, [write, read]);
    assert_eq!(io.ask(&Command::of(READ, 0, 128), &[]).unwrap().1, data);
}

/// Who comes to the wrong door, or too early, has the status that says so, and where the wrong parameter lies: bit 16 is
/// set for the data.
#[test]
fn wrong_connects() {
    let (_server, address) = served(Options::default());
    let answer = |host, number, name: &str, controller| {
        let mut queue = Queue::open(address, false).unwrap();
        (queue.host, queue.controller) = (host, controller);
        let done = queue.connect(number, name, 0).unwrap();
        (done.status, done.result)
    };
    let here = Queue::open(address, false).unwrap().host;
    let wrong = |at| (Status::CONNECT_PARAMETERS.field(), at);
    assert_eq!(answer(here, 0, "nqn.other", 0xFFFF), wrong(1 << 16 | 256));
    assert_eq!(answer(here, 0, NAME, 5), wrong(1 << 16 | 16));
    assert_eq!(answer(here, 1, NAME, 5), wrong(1 << 16 | 16));
    let mut admin = Queue::open(address, false).unwrap();
    let controller = admin.connect(0, NAME, 0).unwrap().result as u16;
    assert_eq!(answer(OTHER, 1, NAME, controller), wrong(1 << 16 | 512));
    assert_eq!(answer(here, 33, NAME, controller), wrong(42));
    let early = (Status::SEQUENCE_ERROR.field(), 0);
    assert_eq!(answer(here, 1, NAME, controller), early, "it is not enabled yet");
    assert!(Queue::admin(address, DISCOVERY, false).is_ok());
    assert_lives(address);
}

/// What breaks the transport's rules ends the connection, which is told why at any pace; others go on.
#[test]
fn broken_rules() {
    crate::PACES.into_iter().for_each(break_rules);
}

fn break_rules(pace: Pace) {
    let (server, address) = served(Options { pace, ..Options::default() });
    let fatal = |break_it: &dyn Fn(&mut Queue)| {
        let (_admin, mut io) = host(address, true);
        break_it(&mut io);
        let told = io.end(&[]).expect_err("it ends").to_string();
        assert_lives(address);
        told
    };
    let told = |fatal: Fatal| format!("terminated: {}", fatal as u16);
    let head = |kind: u8, hlen: u8, plen: u32| [&[kind, 0, hlen, hlen + 4][..], &plen.to_le_bytes()].concat();
    assert_eq!(fatal(&|io| io.raw(&head(0xFF, 24, 24)).unwrap()), told(Fatal::InvalidHeader));
    assert_eq!(fatal(&|io| io.raw(&head(HOST_DATA, 24, u32::MAX)).unwrap()), told(Fatal::Limit));
    assert_eq!(fatal(&|io| io.raw(&[head(4, 72, 76), vec![1; 68]].concat()).unwrap()), told(Fatal::HeaderDigest));
    assert_eq!(fatal(&|io| io.send_data(1, 1, 0, &[0; 512]).unwrap()), told(Fatal::Sequence), "not asked for");
    let again = [head(IC_REQUEST, 128, 128), vec![0; 120]].concat();
    assert_eq!(fatal(&|io| io.raw(&again).unwrap()), told(Fatal::Sequence));
    let far = |io: &mut Queue| {
        let id = io.send(&Command::of(WRITE, 0, 64), &[]).unwrap();
        io.receive().unwrap();
        io.send_data(id, id, 512, &[0; 512]).unwrap();
    };
    assert_eq!(fatal(&far), told(Fatal::Sequence), "not where it was asked for");
    let many = |io: &mut Queue| {
        io.send(&Command::of(WRITE, 0, 64), &[]).unwrap();
        (0..200).for_each(|_| drop(io.send(&Command::of(READ, 0, 1), &[])));
        io.receive().unwrap();
    };
    assert_eq!(fatal(&many), told(Fatal::Limit), "more commands than the queue has entries");
    wait_until(|| server.stats().visits.broke_protocol >= 7);
}

/// Data whose digest is wrong, in the capsule or asked for, end the command; nothing is written, and the queue goes on.
#[test]
fn wrong_data() {
    let (_server, address) = served(Options::default());
    let (_admin, mut io) = host(address, true);
    for in_capsule in [true, false] {
        let write = Command { in_capsule, ..Command::of(WRITE, 0, 8) };
        assert!(io.ask(&write, &noise(4096)).unwrap().0.is(Status::SUCCESS));
        io.spoils_data = true;
        assert!(io.ask(&write, &[0; 4096]).unwrap().0.is(Status::TRANSPORT));
        io.spoils_data = false;
        assert_eq!(io.ask(&Command::of(READ, 0, 8), &[]).unwrap().1, noise(4096));
    }
}

/// A capsule with fewer data than its command names writes nothing.
#[test]
fn too_few_data() {
    let (_server, address) = served(Options::default());
    let (_admin, mut io) = host(address, true);
    let write = Command { in_capsule: true, ..Command::of(WRITE, 0, 1) };
    assert!(io.ask(&write, &noise(512)).unwrap().0.is(Status::SUCCESS));
    let short = Command { in_capsule: true, length: 1024, ..Command::of(WRITE, 0, 2) };
    assert!(io.ask(&short, &noise(512)).unwrap().0.is(Status::SGL_LENGTH), "less than it names");
    assert_eq!(io.ask(&Command::of(READ, 0, 1), &[]).unwrap().1, noise(512));
}

/// Half a PDU, a write without data and a queue that is never read are given up, and harm no other.
#[test]
fn who_stalls_is_left() {
    let limits =
        Limits { to_ask: Duration::from_millis(200), to_take: Duration::from_millis(200), ..Limits::default() };
    let (server, address) = served(Options { limits, ..Options::default() });
    let (_first, mut half) = host(address, false);
    half.raw(&[4, 0, 72]).unwrap();
    let (_second, mut without) = host(address, false);
    without.send(&Command::of(WRITE, 0, 64), &[]).unwrap();
    let (_third, mut unread) = host(address, false);
    (0..120).for_each(|_| drop(unread.send(&Command::of(READ, 0, 2048), &[])));
    assert_lives(address);
    wait_until(|| server.stats().visits.too_slow >= 3);
    assert_lives(address);
}

/// A thousand connects, each left at once: the server has room for the next.
#[test]
fn a_thousand_connects() {
    let (server, address) = served(Options::default());
    for number in 0..1000 {
        // One that finds no room is hung up on.
        if let Ok(mut queue) = Queue::open(address, number % 2 == 0) {
            drop(queue.connect(0, NAME, 0));
        }
    }
    wait_until(|| server.stats().visits.open < 8);
    assert_lives(address);
}

/// A host keeps a thousand connects open: it has as many controllers as it may, and another is served.
#[test]
fn a_thousand_connects_that_stay() {
    let (_server, address) = served(Options::default());
    let mut kept = Vec::new();
    let mut taken = 0;
    for _ in 0..1000 {
        if let Ok(mut queue) = Queue::open(address, false) {
            let done = queue.connect(0, NAME, 0).expect("an answer");
            assert!(done.is(Status::SUCCESS) || done.is(Status::CONNECT_BUSY), "{done:?}");
            taken += usize::from(done.is(Status::SUCCESS));
            kept.push(queue);
        }
    }
    assert_eq!(taken, Limits::default().controllers);
    let mut admin = Queue::admin_of(OTHER, address, NAME).expect("a controller");
    let mut io = admin.io(address, NAME).expect("a queue");
    assert!(io.ask(&Command::of(READ, 0, 1), &[]).unwrap().0.is(Status::SUCCESS));
    assert!(admin.ask(&Command { opcode: 0x18, ..Command::default() }, &[]).unwrap().0.is(Status::SUCCESS));
}

/// Two hosts on one drive: each reads what the other wrote, and one that leaves takes nothing away from the other.
#[test]
fn two_hosts_share_a_drive() {
    let (_server, address) = served(Options::default());
    let (first_admin, mut first) = host(address, true);
    let second_admin = Queue::admin_of(OTHER, address, NAME).expect("a controller");
    assert_ne!(first_admin.controller, second_admin.controller);
    let mut second = second_admin.io(address, NAME).expect("a queue");
    let data = noise(4096);
    for round in 0..8u64 {
        let (place, other) = (round * 8, 1024 + round * 8);
        assert!(first.ask(&Command::of(WRITE, place, 8), &data).unwrap().0.is(Status::SUCCESS));
        assert!(second.ask(&Command::of(WRITE, other, 8), &data).unwrap().0.is(Status::SUCCESS));
        assert_eq!(second.ask(&Command::of(READ, place, 8), &[]).unwrap().1, data);
        assert_eq!(first.ask(&Command::of(READ, other, 8), &[]).unwrap().1, data);
    }
    drop((first, first_admin));
    assert_eq!(second.ask(&Command::of(READ, 0, 8), &[]).unwrap().1, data);
}

/// The OCP log by the drive itself: what its flash takes is all its good blocks times their rating, and a full drive has
/// fewer free blocks than an empty one.
#[test]
fn free_blocks_and_endurance_are_the_drives_own() {
    let config = crate::config(&crate::named("smooth"));
    let rated_bytes = config.export.capacity_bytes.0 * u64::from(config.reliability.rated_cycles);
    let (_server, address) = served(Options::default());
    let (mut admin, mut io) = host(address, false);
    let log = Command { opcode: 2, dwords: [0xC0 | 127 << 16, 0, 0, 0, 0, 0], length: 512, ..Command::default() };
    let empty = admin.ask(&log, &[]).unwrap().1;
    assert!((rated_bytes..2 * rated_bytes).contains(&u64_at(&empty, 176)), "{} {rated_bytes}", u64_at(&empty, 176));
    let is_written = |first| io.ask(&Command::of(WRITE, first, 256), &noise(256 * 512)).unwrap().0.is(Status::SUCCESS);
    let written = (0..).step_by(256).map(is_written).take_while(|is_written| *is_written).count();
    let full = admin.ask(&log, &[]).unwrap().1;
    let (before, after) = (u8_at(&empty, 120), u8_at(&full, 120));
    assert!(written > 0 && before > 90 && after < before / 2, "{written}: {before} {after}");
}

/// A host that does not show in time that it is alive has gone, with all its queues.
#[test]
fn who_is_silent_is_gone() {
    let (server, address) = served(Options::default());
    let mut admin = Queue::open(address, false).unwrap();
    admin.controller = admin.connect(0, NAME, 50).unwrap().result as u16;
    let enable = Command { opcode: 0x7F, dwords: [0, 0x14, 0x46_0001, 0, 0, 0], ..Command::default() };
    assert!(admin.ask(&enable, &[]).unwrap().0.is(Status::SUCCESS));
    let mut io = admin.io(address, NAME).unwrap();
    assert!(io.ask(&Command::of(READ, 0, 1), &[]).unwrap().0.is(Status::SUCCESS));
    assert!(admin.end(&[]).is_err() && io.end(&[]).is_err());
    wait_until(|| server.stats().visits.open == 0);
}

/// A cut ends all queues, and none is taken until the power is back.
#[test]
fn a_cut_ends_all_queues() {
    let (server, address) = served(Options::default());
    let (mut admin, mut io) = host(address, false);
    server.power_cut(1).expect("the drive is there");
    assert!(admin.end(&[]).is_err() && io.end(&[]).is_err());
    assert!(Queue::open(address, false).is_err());
    server.power_on().expect("the drive is there");
    assert_lives(address);
}

/// A format erases what two hosts see, and is counted.
#[test]
fn a_format_erases() {
    let (server, address) = served(Options::default());
    let (mut admin, mut io) = host(address, false);
    assert!(io.ask(&Command::of(WRITE, 0, 8), &noise(4096)).unwrap().0.is(Status::SUCCESS));
    let format = Command { opcode: 0x80, namespace: 1, dwords: [1 << 9, 0, 0, 0, 0, 0], ..Command::default() };
    assert!(admin.ask(&format, &[]).unwrap().0.is(Status::SUCCESS));
    assert_eq!(io.ask(&Command::of(READ, 0, 8), &[]).unwrap().1, [0; 4096]);
    assert_eq!(server.with_disk(|disk| disk.counters().secure_erases), Ok(1));
}

fn sanitize(action: u32) -> Command {
    Command { opcode: 0x84, dwords: [action, 0, 0, 0, 0, 0], ..Command::default() }
}

/// A page of a log.
fn log(admin: &mut Queue, number: u32, bytes: u32) -> Vec<u8> {
    let dwords = [number | (bytes / 4 - 1) << 16, 0, 0, 0, 0, 0];
    let log = Command { opcode: 2, dwords, length: bytes, ..Command::default() };
    let (done, page) = admin.ask(&log, &[]).expect("an answer");
    assert!(done.is(Status::SUCCESS));
    page
}

/// Progress and state of the sanitize log.
fn sanitize_log(admin: &mut Queue) -> (u16, u16) {
    let page = log(admin, 0x81, 512);
    (u16_at(&page, 0), u16_at(&page, 2))
}

/// A sanitize takes the drive's time; meanwhile no data are read or written, and a loss of power only delays it.
#[test]
fn a_sanitize_goes_on_over_a_cut() {
    const UNDER_WAY: u16 = 2;
    // The drive takes a second and more: a minute here.
    let (server, address) = served(Options { pace: Pace::Factor(0.02), ..Options::default() });
    let (mut admin, mut io) = host(address, false);
    assert!(io.ask(&Command::of(WRITE, 0, 8), &noise(4096)).unwrap().0.is(Status::SUCCESS));
    assert!(admin.ask(&sanitize(2), &[]).unwrap().0.is(Status::SUCCESS));
    assert!(io.ask(&Command::of(READ, 0, 8), &[]).unwrap().0.is(Status::SANITIZE_IN_PROGRESS));
    assert!(admin.ask(&sanitize(4), &[]).unwrap().0.is(Status::SANITIZE_IN_PROGRESS));
    let (before, state) = sanitize_log(&mut admin);
    assert_eq!(state, UNDER_WAY);
    server.power_cut(1).expect("the drive is there");
    server.power_on().expect("the drive is there");
    let (mut admin, mut io) = host(address, false);
    let (after, state) = sanitize_log(&mut admin);
    assert!(state == UNDER_WAY && after >= before, "{before} {after}");
    assert!(io.ask(&Command::of(READ, 0, 8), &[]).unwrap().0.is(Status::SANITIZE_IN_PROGRESS));
}

/// What hosts have been told the drive remembers when its process has ended, however that was; a sanitize goes on.
#[test]
fn what_was_told_is_remembered() {
    const ERRORS: u32 = 1;
    const SELF_TESTS: u32 = 6;
    let folder = tempfile::tempdir().expect("a folder");
    let options = || Options { pace: Pace::Factor(0.02), ..Options::default() };
    let logs = |admin: &mut Queue| (log(admin, ERRORS, 256), log(admin, SELF_TESTS, 64));
    let (server, address) = served_in(Some(folder.path()), options());
    let (mut admin, mut io) = host(address, false);
    assert!(!io.ask(&Command::of(READ, u64::MAX, 8), &[]).unwrap().0.is(Status::SUCCESS));
    let self_test = Command { opcode: 0x14, dwords: [1, 0, 0, 0, 0, 0], ..Command::default() };
    assert!(admin.ask(&self_test, &[]).unwrap().0.is(Status::SUCCESS));
    assert!(admin.ask(&sanitize(2), &[]).unwrap().0.is(Status::SUCCESS));
    let (told, (progress, _)) = (logs(&mut admin), sanitize_log(&mut admin));
    drop(server);
    let (server, address) = served_in(Some(folder.path()), options());
    let (mut admin, mut io) = host(address, false);
    assert_eq!(logs(&mut admin), told);
    let (after, state) = sanitize_log(&mut admin);
    assert!(state == 2 && after >= progress && u64_at(&told.0, 0) == 1, "{progress} {after} {state}");
    assert!(io.ask(&Command::of(READ, 0, 8), &[]).unwrap().0.is(Status::SANITIZE_IN_PROGRESS));
    // A copy that is put back brings its own past.
    std::fs::remove_file(folder.path().join("nvme-logs.json")).expect("it is there");
    server.power_cut(1).expect("the drive is there");
    server.recall_past().expect("nothing is there");
    server.power_on().expect("the drive is there");
    let (mut admin, _io) = host(address, false);
    assert_eq!((sanitize_log(&mut admin), u64_at(&logs(&mut admin).0, 0)), ((0xFFFF, 0), 0));
}

/// What cannot be kept is not told; what cannot be read is no past.
#[test]
fn a_past_that_cannot_be_kept_is_not_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_server, address) = served_in(Some(folder.path()), Options::default());
    let (mut admin, _io) = host(address, false);
    std::fs::create_dir(folder.path().join("nvme-logs.json.new")).expect("there is room");
    let self_test = Command { opcode: 0x14, dwords: [1, 0, 0, 0, 0, 0], ..Command::default() };
    assert!(admin.ask(&self_test, &[]).unwrap().0.is(Status::INTERNAL_ERROR));
    std::fs::write(folder.path().join("nvme-logs.json"), "{\"errors\": 7}").expect("there is room");
    let nvme = Some(Nvme { folder: Some(folder.path().into()), ..Nvme::default() });
    let refused = Server::start(disk("smooth"), Options { nvme, ..Options::default() }).err().expect("it is damaged");
    assert!(refused.to_string().contains("nvme-logs.json"), "{refused}");
}

/// When its time is over the data are gone, and the drive is used again.
#[test]
fn a_sanitize_ends() {
    const TWO_PASSES: u32 = 3 | 2 << 4;
    for (pace, action) in [(Pace::Factor(10.0), 2), (Pace::Off, 2), (Pace::Off, TWO_PASSES)] {
        let (_server, address) = served(Options { pace, ..Options::default() });
        let (mut admin, mut io) = host(address, false);
        assert!(io.ask(&Command::of(WRITE, 0, 8), &noise(4096)).unwrap().0.is(Status::SUCCESS));
        assert!(admin.ask(&sanitize(action), &[]).unwrap().0.is(Status::SUCCESS));
        wait_until(|| sanitize_log(&mut admin) == (0xFFFF, 1));
        let (done, read) = io.ask(&Command::of(READ, 0, 8), &[]).unwrap();
        assert!(done.is(Status::SUCCESS) && read == [0; 4096]);
    }
}
