//! What each request comes to, and what is offered.

use crate::client::*;
use crate::{PACES, connected, disk, disk_over, serve};
use ssdlab_disk::medium::{Medium, Ram};
use ssdlab_serve::clock::Pace;
use ssdlab_serve::offer::Name;
use ssdlab_serve::server::Options;
use ssdlab_serve::socket::Address;
use std::io;

/// What is written is read, trims and zeroes read as zeroes, at each pace and over both kinds of sockets.
#[test]
fn bytes_come_back() {
    let tcp = Address::Tcp(([127, 0, 0, 1], 0).into());
    for pace in PACES {
        let server = serve(
            disk("buffered"),
            Options { addresses: vec![tcp.clone(), crate::address()], pace, ..Options::default() },
        );
        let [mut one, mut other] = [0, 1].map(|place| Client::new(&server.addresses()[place]).expect("a client"));
        assert_eq!(one.size, 16 << 20);
        one.write(4096, &[7; 16384]).unwrap();
        assert_eq!(other.read(8192, 512), Ok(vec![7; 512]));
        other.ask(FUA, WRITE, (1 << 20, 512), &[9; 512]).unwrap();
        one.flush().unwrap();
        other.ask(0, ZEROES, (4096, 512), &[]).unwrap();
        other.ask(NO_HOLE | FUA, ZEROES, (8192, 4096), &[]).unwrap();
        other.ask(FUA, TRIM, (12288, 4096), &[]).unwrap();
        let mut expected = vec![7; 16384];
        expected[..512].fill(0);
        expected[4096..12288].fill(0);
        assert_eq!(one.read(4096, 16384), Ok(expected));
        assert_eq!(one.read(1 << 20, 1024), Ok([[9; 512], [0; 512]].concat()));
        let mut disk = server.stop().expect("the drive");
        let mut stored = [0; 512];
        disk.ssd().ftl.flash.contents.medium().read(1 << 20, &mut stored).unwrap();
        assert_eq!(stored, [9; 512]);
    }
}

/// Zeroes without a hole are written to flash; others only unmap.
#[test]
fn no_hole_is_obeyed() {
    let server = serve(disk("theory"), Options::default());
    let mut client = connected(&server);
    let mapped = || server.with_disk(|disk| disk.ssd().ftl.mapped_units()).unwrap();
    client.ask(NO_HOLE, ZEROES, (0, 4 << 20), &[]).unwrap();
    assert_eq!(mapped(), 1024);
    client.ask(0, ZEROES, (0, 2 << 20), &[]).unwrap();
    assert_eq!(mapped(), 512);
    client.ask(0, TRIM, (2 << 20, 1 << 20), &[]).unwrap();
    assert_eq!(mapped(), 256);
    let counts = server.stats().counts;
    assert_eq!((counts.zeroes, counts.zeroed_bytes, counts.trims, counts.trimmed_bytes), (2, 6 << 20, 1, 1 << 20));
}

/// A drive offers what it has: no trim without TRIM, no writes where nothing may be written, never a cache.
#[test]
fn offers() {
    const WRITES: u16 = 1 << 5 | 1 << 6 | 1 << 11;
    let flags = |name, read_only| {
        let server = serve(disk(name), Options { name: Name { read_only, ..Name::default() }, ..Options::default() });
        connected(&server).flags
    };
    let has_all = flags("theory", false);
    assert_eq!(has_all, 0b1001_0110_1101, "fast zeroes, multi-conn, zeroes, trim, FUA, flush, flags");
    assert_eq!(flags("theory", true), has_all & !WRITES | 1 << 1);
    let config = crate::kinds::config(&[("ftl.trim", "false")]);
    let without =
        ssdlab_disk::Disk::new(&config, 7, Ram::new(16 << 20)).unwrap_or_else(|problem| panic!("{problem:?}"));
    assert_eq!(connected(&serve(without, Options::default())).flags, has_all & !(1 << 5 | 1 << 11));
}

/// Each fault has the error that the protocol names for it.
#[test]
fn errors_by_hand() {
    let server = serve(disk("theory"), Options::default());
    let mut one = connected(&server);
    assert_eq!(one.write(16 << 20, &[1; 512]), Err(ENOSPC));
    assert_eq!(one.read((16 << 20) - 512, 1024), Err(EINVAL));
    assert_eq!(one.read(1, 512), Err(EINVAL));
    assert_eq!(one.ask(0, 5, (0, 512), &[]), Err(EINVAL), "cache is not offered");
    let shown = Name { read_only: true, ..Name::default() };
    let read_only = serve(disk("theory"), Options { name: shown, ..Options::default() });
    let mut other = connected(&read_only);
    assert_eq!(other.write(0, &[1; 512]), Err(EPERM));
    assert_eq!(other.read(0, 512), Ok(vec![0; 512]));
    assert_eq!(one.read(0, 512), Ok(vec![0; 512]));
}

/// Storage that takes nothing any more.
struct Full;

impl Medium for Full {
    fn read(&mut self, _: u64, into: &mut [u8]) -> io::Result<()> {
        into.fill(0);
        Ok(())
    }
    fn write(&mut self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(io::Error::other("no space left"))
    }
    fn zero(&mut self, _: u64, _: u64) -> io::Result<()> {
        Err(io::Error::other("no space left"))
    }
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where the storage fails, no promise is given any more, and the drive that comes back says why.
#[test]
fn poison_is_an_error() {
    let server = serve(disk_over("buffered", |_| Full), Options::default());
    let mut client = connected(&server);
    // The buffer takes it; the storage does not.
    let _ = client.write(0, &[5; 512]);
    assert_eq!(client.flush(), Err(EIO));
    assert_eq!(client.write(0, &[5; 512]), Err(EIO));
    assert_eq!(client.read(0, 512), Ok(vec![5; 512]), "it is still held");
    assert!(server.stats().counts.failed >= 2);
    assert_eq!(server.stop().expect("the drive").poison(), Some("no space left"));
}

/// A drive whose spare is used up says so, and who comes later is told that it is read-only.
#[test]
fn worn_out_is_read_only() {
    let mut settings = crate::named("theory");
    settings.extend([("reliability.program_fail_share", "0.01"), ("over_provisioning", "1.5")]);
    let config = crate::kinds::config(&settings);
    let disk = ssdlab_disk::Disk::new(&config, 7, Ram::new(16 << 20)).unwrap_or_else(|problem| panic!("{problem:?}"));
    let server = serve(disk, Options::default());
    let mut one = connected(&server);
    let error = (0..100_000).find_map(|count| one.write(count % 4096 * 4096, &[1; 4096]).err());
    assert_eq!(error, Some(EPERM));
    assert_eq!(connected(&server).flags >> 1 & 1, 1);
    assert!(one.read(0, 512).is_ok());
}

/// Requests that a drive's queue has no room for wait, and all are answered.
#[test]
fn a_short_queue_is_enough() {
    for pace in [Pace::Factor(1000.0), Pace::Off] {
        let config = crate::kinds::config(&[("link.queue_depth", "2")]);
        let disk =
            ssdlab_disk::Disk::new(&config, 7, Ram::new(16 << 20)).unwrap_or_else(|problem| panic!("{problem:?}"));
        let server = serve(disk, Options { pace, ..Options::default() });
        let mut client = connected(&server);
        (0..100).for_each(|count| client.send(0, WRITE, count, (count * 512, 512), &[count as u8; 512]));
        let mut replies: Vec<_> = (0..100).map(|_| client.receive(|_| 0).expect("a reply")).collect();
        replies.sort_unstable();
        assert!(replies.iter().map(|reply| (reply.0, reply.1)).eq((0..100).map(|count| (count, 0))));
        let expected: Vec<u8> = (0..100).flat_map(|count| [count; 512]).collect();
        assert_eq!(client.read(0, 51200), Ok(expected));
    }
}
