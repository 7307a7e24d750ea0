//! The end, at rest and under load, and panics.

use crate::client::{Client, ESHUTDOWN, READ, WRITE, head};
use crate::histories::value_of;
use crate::{PACES, connected, disk, serve, wait_until};
use ssdlab_disk::medium::{Medium, Ram};
use ssdlab_disk::{Lba, Operation, Request};
use ssdlab_serve::clock::Pace;
use ssdlab_serve::server::{Gone, Options, Server};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes ever greater values to a sector of its own until the server ends; the last that was acknowledged.
fn write_on(mut client: Client, sector: u64, acknowledged: &AtomicU64) -> u64 {
    for value in 1.. {
        let request = [head(0, WRITE, value, sector * 512, 512), value.to_le_bytes().repeat(64)].concat();
        if client.stream.write_all(&request).is_err() {
            return value - 1;
        }
        match client.receive(|_| 0) {
            Ok((cookie, 0, _)) => assert_eq!(cookie, value),
            Ok((_, error, _)) => {
                assert_eq!(error, ESHUTDOWN);
                return value - 1;
            }
            Err(_) => return value - 1,
        }
        acknowledged.fetch_add(1, Ordering::Relaxed);
    }
    unreachable!("the server ends");
}

/// A server that is stopped under load answers or hangs up, and the medium has every write that was acknowledged.
#[test]
fn stop_while_busy() {
    for pace in PACES {
        let server = serve(disk("buffered"), Options { pace, ..Options::default() });
        let acknowledged = AtomicU64::new(0);
        let (mut disk, lasts) = std::thread::scope(|scope| {
            let clients = (0..4).map(|sector| {
                let client = connected(&server);
                let acknowledged = &acknowledged;
                scope.spawn(move || write_on(client, sector, acknowledged))
            });
            let clients: Vec<_> = clients.collect();
            wait_until(|| acknowledged.load(Ordering::Relaxed) > 200);
            let disk = server.stop().expect("the drive");
            (disk, clients.into_iter().map(|client| client.join().expect("no panic")).collect::<Vec<u64>>())
        });
        for (sector, last) in (0..).zip(lasts) {
            let mut bytes = [0; 512];
            disk.ssd().ftl.flash.contents.medium().read(sector * 512, &mut bytes).expect("RAM");
            let stored = value_of(&bytes);
            // One more may have been written whose answer was not taken.
            assert!((last..=last + 1).contains(&stored), "sector {sector} has {stored}, acknowledged was {last}");
        }
        assert!(server.stop().is_none(), "a second stop does nothing");
        assert_eq!(server.with_disk(|_| ()), Err(Gone::Stopped));
        assert_eq!(server.stats().visits.open, 0);
    }
}

/// What is under way at a pace that would take years is ended at once, and answered.
#[test]
fn stop_does_not_wait_for_the_pace() {
    let server = serve(disk("theory"), Options { pace: Pace::Factor(1e-9), ..Options::default() });
    let mut client = connected(&server);
    (0..10).for_each(|cookie| client.send(0, READ, cookie, (0, 4096), &[]));
    wait_until(|| server.with_disk(|disk| disk.outstanding()).unwrap() == 10);
    assert!(server.stop().is_some());
    (0..10).for_each(|_| assert_eq!(client.receive(|_| 4096).expect("a reply").1, 0));
    assert!(client.is_hung_up_on());
}

/// A server that is dropped ends, and its socket is gone.
#[test]
fn dropped_is_stopped() {
    let server = serve(disk("theory"), Options::default());
    let (mut client, address) = (connected(&server), server.addresses()[0].clone());
    drop(server);
    assert!(client.is_hung_up_on() && Client::new(&address).is_err());
}

/// Commands by hand, between those of clients, take no answers away.
#[test]
fn commands_by_hand_come_between() {
    for pace in PACES {
        let server = serve(disk("buffered"), Options { pace, ..Options::default() });
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..3)
                .map(|sector| {
                    let mut client = connected(&server);
                    scope.spawn(move || {
                        for round in 0..100 {
                            (0..8).for_each(|cookie| client.send(0, READ, cookie, (sector * 512, 512), &[]));
                            client.send(0, WRITE, 8, (sector * 512, 512), &[round; 512]);
                            (0..9).for_each(|_| {
                                let (_, error, _) =
                                    client.receive(|cookie| if cookie < 8 { 512 } else { 0 }).expect("a reply");
                                assert_eq!(error, 0);
                            });
                        }
                    })
                })
                .collect();
            let flush = Request::new(Operation::Flush, Lba(0), 0);
            wait_until(|| {
                server.with_disk(|disk| disk.perform(flush, Vec::new())).unwrap().unwrap();
                workers.iter().all(|worker| worker.is_finished())
            });
        });
    }
}

/// A panic with the drive in hand is the end of the drive: clients get errors, and the server can be stopped.
#[test]
fn a_panic_ends_the_drive_alone() {
    for pace in PACES {
        let server = serve(disk("buffered"), Options { pace, ..Options::default() });
        let mut client = connected(&server);
        client.write(0, &[1; 512]).unwrap();
        let panics = || server.with_disk(|_| panic!("on purpose"));
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert_eq!(client.read(0, 512), Err(5));
        assert_eq!(server.with_disk(|_| ()), Err(Gone::Broken));
        assert_eq!(server.power_on(), Err(Gone::Broken));
        assert!(server.stop().is_none());
    }
}

/// The medium panics when it is told to: what is under way then is answered, though the drive is gone.
#[test]
fn a_panic_in_the_simulation_is_answered() {
    struct Fuse(Ram, u32);
    impl Medium for Fuse {
        fn read(&mut self, offset: u64, into: &mut [u8]) -> std::io::Result<()> {
            self.1 -= 1;
            assert!(self.1 > 0, "on purpose");
            self.0.read(offset, into)
        }
        fn write(&mut self, offset: u64, from: &[u8]) -> std::io::Result<()> {
            self.0.write(offset, from)
        }
        fn zero(&mut self, offset: u64, length: u64) -> std::io::Result<()> {
            self.0.zero(offset, length)
        }
        fn sync(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for pace in PACES {
        let disk = crate::disk_over("theory", |bytes| Fuse(Ram::new(bytes), 20));
        let server = serve(disk, Options { pace, ..Options::default() });
        let (mut one, mut other) = (connected(&server), connected(&server));
        (0..40).for_each(|cookie| one.send(0, READ, cookie, (cookie * 4096, 512), &[]));
        // Its own thread may have been the one that fell.
        while one.receive(|_| 512).is_ok_and(|reply| reply.1 == 0) {}
        assert_eq!(other.read(0, 512), Err(5));
        assert!(server.stop().is_none());
    }
}

/// It can be handed between threads, as Python does.
#[test]
fn it_is_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<Server<Ram>>();
}
