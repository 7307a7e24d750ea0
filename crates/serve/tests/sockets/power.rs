//! Power that fails under open connections, and comes back.

use crate::client::{Client, EIO};
use crate::histories::History;
use crate::{connected, disk, serve};
use ssdlab_disk::Cut;
use ssdlab_serve::clock::Pace;
use ssdlab_serve::server::{Gone, Options};

/// Whatever is under way at a cut, what is read after power is back is what a drive may show; sessions of before get errors.
#[test]
fn nothing_flushed_is_lost() {
    let (mut under_way, mut lost) = (0, 0);
    for (pace, name) in [(Pace::Off, "buffered"), (Pace::Off, "theory"), (Pace::Factor(1.0), "buffered")] {
        let server = serve(disk(name), Options { pace, ..Options::default() });
        let mut history = History::new(&server, 4, 9);
        for seed in 0..25 {
            (0..50 + 20 * seed).for_each(|_| history.step());
            let cut = server.power_cut(seed).expect("it is served");
            under_way += cut.dropped.len();
            lost += cut.losses.len();
            history.drain();
            let before = history.failed;
            (0..20).for_each(|_| history.step());
            history.drain();
            assert!(history.failed > before, "there is no power");
            server.power_on().expect("it is served");
            history.reconnect(&server);
            let seen = history.seen();
            if let Some(wrong) = history.oracle.judge(&seen) {
                panic!("{name}, cut {seed}: {wrong}");
            }
            history.oracle.recovered(&seen);
        }
    }
    assert!(under_way > 0 && lost > 0, "{under_way} under way, {lost} lost: the cuts met nothing");
}

/// A session reaches the drive in its own power cycle only: not one of before the cut, nor one that began without power.
#[test]
fn old_sessions_stay_dead() {
    let server = serve(disk("buffered"), Options::default());
    let mut before = connected(&server);
    before.write(0, &[1; 512]).unwrap();
    before.flush().unwrap();
    server.power_cut(1).unwrap();
    assert!(!server.stats().is_on);
    let mut without = connected(&server);
    assert_eq!((before.read(0, 512), without.read(0, 512)), (Err(EIO), Err(EIO)));
    assert_eq!(server.power_cut(2), Ok(Cut::default()), "nothing more can be lost");
    server.power_on().unwrap();
    assert_eq!((before.write(0, &[2; 512]), without.write(0, &[2; 512])), (Err(EIO), Err(EIO)));
    let mut after = connected(&server);
    assert_eq!(after.read(0, 512), Ok(vec![1; 512]));
    server.power_on().unwrap();
    assert_eq!(after.read(0, 512), Ok(vec![1; 512]), "it was on: nothing has happened");
}

/// A drive at a pace does not live on while it has no power.
#[test]
fn time_stands_still_without_power() {
    let server = serve(disk("buffered"), Options { pace: Pace::Factor(1000.0), ..Options::default() });
    connected(&server).write(0, &[1; 512]).unwrap();
    server.power_cut(1).unwrap();
    let now = || server.with_disk(|disk| disk.now()).unwrap();
    let at_cut = now();
    (0..100).for_each(|_| assert_eq!(now(), at_cut));
    server.power_on().unwrap();
    crate::wait_until(|| now() > at_cut);
}

/// What is stopped without power is what the cut left.
#[test]
fn stopped_without_power() {
    let server = serve(disk("buffered"), Options::default());
    let address = server.addresses()[0].clone();
    connected(&server).write(0, &[1; 512]).unwrap();
    server.power_cut(1).unwrap();
    assert_eq!(server.stop().expect("the drive").outstanding(), 0);
    assert_eq!((server.power_cut(1), server.power_on()), (Err(Gone::Stopped), Err(Gone::Stopped)));
    assert!(Client::new(&address).is_err());
}
