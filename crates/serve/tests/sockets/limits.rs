//! Bounds of requests, memory and connections.

use crate::client::{Client, READ};
use crate::{connected, disk, serve, wait_until};
use ssdlab_serve::clock::Pace;
use ssdlab_serve::limits::Limits;
use ssdlab_serve::server::{BadStart, Options, Server};
use ssdlab_serve::socket::Address;

/// A client that sends more than it may has no more under way than it may, and gets all answers.
#[test]
fn requests_are_bounded() {
    let limits = Limits { requests: 4, ..Limits::default() };
    // A read takes some 60 µs of the drive: at this pace long enough to be seen.
    let server = serve(disk("theory"), Options { pace: Pace::Factor(0.01), limits, ..Options::default() });
    let mut client = connected(&server);
    (0..12).for_each(|cookie| client.send(0, READ, cookie, (cookie * 4096, 4096), &[]));
    let mut most = 0;
    wait_until(|| {
        let under_way = server.with_disk(|disk| disk.outstanding()).unwrap();
        most = most.max(under_way);
        under_way == 0 && server.stats().counts.reads == 12
    });
    assert_eq!(most, 4);
    (0..12).for_each(|_| drop(client.receive(|_| 4096).expect("a reply")));
}

/// All connections together hold no more bytes than they may, and all are answered.
#[test]
fn memory_is_bounded() {
    for pace in [Pace::Factor(1.0), Pace::Off] {
        let limits = Limits { connection_bytes: 2 << 20, all_bytes: 3 << 20, ..Limits::default() };
        let server = serve(disk("theory"), Options { pace, limits, ..Options::default() });
        let mut clients: Vec<Client> = (0..4).map(|_| connected(&server)).collect();
        for client in &mut clients {
            (0..8).for_each(|cookie| client.send(0, READ, cookie, (cookie << 20, 1 << 20), &[]));
        }
        let mut most = 0;
        std::thread::scope(|scope| {
            let readers: Vec<_> = clients
                .iter_mut()
                .map(|client| scope.spawn(|| (0..8).for_each(|_| drop(client.receive(|_| 1 << 20).expect("a reply")))))
                .collect();
            wait_until(|| {
                most = most.max(server.stats().bytes_held);
                readers.iter().all(|reader| reader.is_finished())
            });
        });
        assert!(most > 0 && most <= 3 << 20, "{most} bytes were held");
        // A reply may be with its client before the server knows that it is sent.
        wait_until(|| server.stats().bytes_held == 0);
    }
}

/// A request that is greater than what all may hold ends its connection, instead of waiting for ever.
#[test]
fn requests_that_never_fit_are_not_waited_for() {
    let limits = Limits { all_bytes: 1 << 20, ..Limits::default() };
    let server = serve(disk("theory"), Options { limits, ..Options::default() });
    let (mut large, mut small) = (connected(&server), connected(&server));
    large.send(0, READ, 1, (0, 2 << 20), &[]);
    assert!(large.is_hung_up_on());
    assert_eq!(small.read(0, 4096), Ok(vec![0; 4096]));
}

/// One client more than allowed is hung up on, until another leaves.
#[test]
fn connections_are_bounded() {
    let limits = Limits { connections: 2, ..Limits::default() };
    let server = serve(disk("theory"), Options { limits, ..Options::default() });
    let (mut first, second) = (connected(&server), connected(&server));
    assert!(Client::new(&server.addresses()[0]).is_err());
    assert_eq!(server.stats().visits.too_many, 1);
    drop(second);
    wait_until(|| server.stats().visits.open == 1);
    assert_eq!(connected(&server).read(0, 512), first.read(0, 512));
}

/// What cannot be served is said before anything has begun.
#[test]
fn bad_options_are_refused() {
    let start = |options| Server::start(disk("theory"), options).err().map(|error| error.to_string());
    let bad = |pace| Options { pace, ..Options::default() };
    assert_eq!(
        start(bad(Pace::Factor(0.0))).as_deref(),
        Some("the pace is 0, and must be a number above 0, at most 1e6, or off")
    );
    let everywhere = Options { addresses: vec![Address::Tcp(([0, 0, 0, 0], 0).into())], ..Options::default() };
    assert!(matches!(Server::start(disk("theory"), everywhere), Err(BadStart::Address(_))));
    let mut named = Options::default();
    named.name.name = "n".repeat(5000);
    assert!(start(named).is_some_and(|error| error.contains("5000 bytes long")));
}
