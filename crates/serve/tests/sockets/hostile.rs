//! Clients that send garbage, stall, vanish, or take no answers: they harm no other.

use crate::client::{self, Client, connect, head};
use crate::{PACES, connected, disk, serve, wait_until};
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_serve::limits::Limits;
use ssdlab_serve::server::Options;
use ssdlab_serve::socket::Address;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Works with a drive as one should.
fn work(client: &mut Client, rounds: u64) {
    for round in 0..rounds {
        let (place, value) = (round % 64 * 4096, vec![round as u8; 4096]);
        client.write(place, &value).unwrap();
        assert_eq!(client.read(place, 4096), Ok(value));
    }
    client.flush().unwrap();
}

/// What no client should send, one stream each: from the start, or after a handshake that was good.
fn garbage(draws: &mut Stream) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..draws.below(400)).map(|_| draws.below(256) as u8).collect();
    let good = head(0, client::WRITE, 1, 0, 4096);
    match draws.below(6) {
        0 => bytes,
        1 => [&[0, 0, 0, 3], &bytes[..]].concat(),
        2 => [client::GO, &bytes].concat(),
        // Half a request, half a payload, a payload beyond all bounds.
        3 => [client::GO, &good[..draws.below(28) as usize]].concat(),
        4 => {
            bytes.truncate(4095);
            [client::GO, &good, &bytes].concat()
        }
        _ => [client::GO, &head(0, client::WRITE, 1, 0, u32::MAX / 512 * 512)].concat(),
    }
}

/// Whatever others send and however they vanish, one client works on, and in the end nothing of theirs is held.
#[test]
fn garbage_harms_nobody() {
    for pace in PACES {
        let server = serve(disk("buffered"), Options { pace, ..Options::default() });
        let mut honest = connected(&server);
        let mut draws = Stream::new(3, Purpose::Errors);
        for _ in 0..60 {
            let mut stream = connect(&server.addresses()[0]).expect("a connection");
            // Whether the server hung up before is the garbage's matter.
            let _ = stream.write_all(&garbage(&mut draws));
            work(&mut honest, 2);
            if draws.below(2) == 0 {
                let _ = stream.read(&mut [0; 64]);
            }
        }
        // The last ones may not have come in yet.
        wait_until(|| server.stats().visits.taken == 61);
        wait_until(|| server.stats().visits.open == 1);
        let stats = server.stats();
        wait_until(|| server.stats().bytes_held == 0);
        assert!(stats.visits.broke_protocol > 0 && stats.visits.left > 0, "{:?}", stats.visits);
    }
}

/// While one client stalls in the middle of a payload others work, and what it sends at last is written.
#[test]
fn one_stalls_in_a_payload() {
    for pace in PACES {
        let server = serve(disk("buffered"), Options { pace, ..Options::default() });
        let (mut stalled, mut busy) = (connected(&server), connected(&server));
        let payload = vec![3; 1 << 20];
        stalled.send(0, client::WRITE, 5, (1 << 20, 512), &[1; 512]);
        stalled.send(0, client::WRITE, 6, (2 << 20, 1 << 20), &payload[..1000]);
        assert_eq!(stalled.receive(|_| 0).expect("a reply").0, 5, "what came before is answered");
        work(&mut busy, 100);
        assert_eq!(server.stats().bytes_held, 1 << 20);
        stalled.stream.write_all(&payload[1000..]).expect("the server reads");
        assert_eq!(stalled.receive(|_| 0).expect("a reply"), (6, 0, Vec::new()));
        assert_eq!(busy.read(2 << 20, 1 << 20), Ok(payload));
    }
}

/// What a client asked before it left is done, whether it said goodbye, just stopped sending, or was cut off.
#[test]
fn what_was_asked_is_done() {
    for pace in PACES {
        let server = serve(disk("buffered"), Options { pace, ..Options::default() });
        let goodbye = head(0, 2, 0, 0, 0);
        let ends = [&goodbye[..], &[], &head(0, client::WRITE, 9, 0, 4096)[..20], &head(0, client::WRITE, 9, 0, 4096)];
        for (place, end) in (0..).zip(ends) {
            let Address::Unix(path) = &server.addresses()[0] else { panic!("a unix socket") };
            let mut stream = UnixStream::connect(path).expect("a connection");
            let requests = [client::GO, &head(0, client::WRITE, 1, place * 4096, 4096), &[place as u8 + 1; 4096], end];
            stream.write_all(&requests.concat()).expect("the server reads");
            stream.shutdown(Shutdown::Write).expect("a connection");
            wait_until(|| server.stats().visits.left == 2 * place + 1);
            assert_eq!(connected(&server).read(place * 4096, 4096), Ok(vec![place as u8 + 1; 4096]));
            wait_until(|| server.stats().visits.left == 2 * place + 2);
        }
    }
}

fn impatient() -> Limits {
    let patience = Duration::from_millis(30);
    Limits { to_ask: patience, to_take: patience, ..Limits::default() }
}

/// Who begins a handshake, a request or a payload and does not end it is hung up on; who is silent between requests stays.
#[test]
fn who_does_not_end_is_dropped() {
    for pace in PACES {
        let server = serve(disk("buffered"), Options { pace, limits: impatient(), ..Options::default() });
        let mut silent = connected(&server);
        let request = head(0, client::WRITE, 1, 0, 4096);
        let begun = [&request[..10], &request[..], &[&request[..], &[1; 100]].concat()];
        for (count, bytes) in (1..).zip(begun) {
            let mut late = connected(&server);
            late.stream.write_all(bytes).expect("the server reads");
            assert!(late.is_hung_up_on());
            wait_until(|| server.stats().visits.too_slow == count);
        }
        let mut late = connect(&server.addresses()[0]).expect("a connection");
        late.write_all(&client::GO[..7]).expect("the server reads");
        late.read_to_end(&mut Vec::new()).expect("the greeting and the end");
        wait_until(|| server.stats().visits.too_slow == 4);
        work(&mut silent, 1);
        wait_until(|| server.stats().bytes_held == 0);
    }
}

/// Who sends one byte now and then is dropped, too.
#[test]
fn who_trickles_is_dropped() {
    let server = serve(disk("buffered"), Options { limits: impatient(), ..Options::default() });
    let mut late = connected(&server);
    let request = head(0, client::WRITE, 1, 0, 1 << 20);
    late.stream.write_all(&request).expect("the server reads");
    while late.stream.write_all(&[1]).is_ok() {
        std::thread::sleep(Duration::from_millis(1));
    }
    wait_until(|| server.stats().visits.too_slow == 1);
}

/// Who takes no answers is dropped; others work on, and the memory comes back.
#[test]
fn who_takes_no_answers_is_dropped() {
    for pace in PACES {
        let server = serve(disk("buffered"), Options { pace, limits: impatient(), ..Options::default() });
        let (mut greedy, mut busy) = (connected(&server), connected(&server));
        (0..8).for_each(|cookie| greedy.send(0, client::READ, cookie, (0, 8 << 20), &[]));
        work(&mut busy, 50);
        wait_until(|| server.stats().visits.too_slow == 1);
        work(&mut busy, 50);
        wait_until(|| server.stats().bytes_held == 0);
    }
}
