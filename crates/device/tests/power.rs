//! Power states against arithmetic: time in each, waking, and a link that hangs.

use crate::stand::{Stand, four_kib};
use proptest::prelude::*;
use ssdlab_device::block::{Device, Operation};
use ssdlab_device::counters::Counters;
use ssdlab_device::profile::{Profile, built_in};
use ssdlab_device::units::Nanos;

const STATES: [(&str, &str); 9] = [
    ("capacity_bytes", "1 GiB"),
    ("power.active_mw", "2000"),
    ("power.idle_mw", "500"),
    ("power.slumber_mw", "50"),
    ("power.slumber_after_ms", "10"),
    ("power.slumber_wake_us", "400"),
    ("power.sleep_mw", "5"),
    ("power.sleep_after_ms", "1000"),
    ("power.sleep_wake_us", "20000"),
];

fn stand(more: &[(&str, &str)]) -> Stand {
    let mut stand = Stand::new("theory", &[&STATES[..], more].concat());
    stand.fill(1);
    stand
}

fn states(counters: &Counters) -> [u64; 4] {
    [counters.power_active_ns, counters.power_idle_ns, counters.power_slumber_ns, counters.power_sleep_ns]
}

/// A read after 5 ms finds the drive idle, after 50 ms in slumber, after 2 s asleep: the wake-up comes on top, and
/// each state has its time.
#[test]
fn each_state_has_its_time_and_its_wake_up() {
    let mut stand = stand(&[]);
    let read = Nanos(1_000 + 75_000 + 12_301 + 1_171);
    let mut latency = |pause_ms: f64| {
        stand.pass(Nanos::from_ms(pause_ms));
        stand.time(four_kib(Operation::Read, 0))
    };
    let took = [5.0, 50.0, 2000.0].map(&mut latency);
    assert_eq!(took, [read, read + Nanos(400_000), read + Nanos(20_000_000)]);
    stand.pass(Nanos::from_ms(1.0));
    let counters = stand.ssd.counters();
    let active = 3 * read.0 + 20_400_000;
    assert_eq!(states(&counters), [active, 26_000_000, (40 + 990) * 1_000_000, 1_000_000_000]);
    assert_eq!((counters.wake_ups, counters.link_resets), (2, 0));
}

/// A drive without power parameters takes the same time for everything and counts no state.
#[test]
fn without_parameters_there_are_no_states() {
    let mut plain = Stand::new("theory", &STATES[..1]);
    let mut awake = stand(&[("power.slumber_after_ms", "none"), ("power.sleep_after_ms", "none")]);
    plain.fill(1);
    for stand in [&mut plain, &mut awake] {
        stand.pass(Nanos::from_s(3.0));
        stand.run(4, (0..200).map(|number| four_kib(Operation::Write, number % 50)));
    }
    assert_eq!(plain.now, awake.now);
    assert_eq!(states(&plain.ssd.counters()), [0; 4]);
    assert_eq!(states(&awake.ssd.counters()), [(awake.now - Nanos::from_s(3.0)).0, 3_000_000_000, 0, 0]);
}

/// A link that hangs at every wake-up is reset every time; at a tenth of them, at about a tenth, the same ones for
/// the same seed. A drive that was only idle never hangs.
#[test]
fn a_link_hangs_when_it_wakes() {
    let slow = |share: &str, pause_ms: f64| {
        let mut stand = stand(&[("link.hang_share", share), ("link.hang_reset_ms", "3000")]);
        let slow: Vec<bool> = (0..1000)
            .map(|_| {
                stand.pass(Nanos::from_ms(pause_ms));
                stand.time(four_kib(Operation::Read, 0)) > Nanos::from_s(3.0)
            })
            .collect();
        let count = slow.iter().filter(|slow| **slow).count();
        assert_eq!(stand.ssd.counters().link_resets, count as u64);
        (count, slow)
    };
    assert_eq!(slow("1", 20.0).0, 1000);
    assert_eq!(slow("1", 5.0).0, 0);
    let (some, which) = slow("0.1", 20.0);
    // Three standard deviations of a binomial: 3·√(1000·0.1·0.9) = 28.5.
    assert!(some.abs_diff(100) < 29, "{some}");
    assert_eq!(which, slow("0.1", 20.0).1);
}

/// A state without its power, and a deep state before the first, are refused with the key that is missing or wrong.
#[test]
fn impossible_states_are_refused() {
    let refused = |settings: &[(&str, &str)]| {
        let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Profile::read("theory", "theory", built_in("theory").unwrap(), &settings).unwrap_err().to_string()
    };
    assert!(refused(&[("power.active_mw", "1")]).contains("power.idle_mw"));
    assert!(refused(&[("power.slumber_after_ms", "1")]).contains("power.slumber_mw"));
    let sleep = refused(&[&STATES[..], &[("power.sleep_after_ms", "10")]].concat());
    assert!(sleep.contains("power.sleep_after_ms") && sleep.contains("slumber_after_ms = 10"), "{sleep}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// Whatever comes and when, the four states add up to the time that has passed, power cuts included.
    #[test]
    fn states_add_up_to_all_time(steps in prop::collection::vec((0u64..3_000_000_000, 1usize..9, prop::bool::weighted(0.1)), 1..40)) {
        let mut stand = stand(&[("link.hang_share", "0.3"), ("buffer.bytes", "1 MiB")]);
        for (pause, depth, cut) in steps {
            stand.pass(Nanos(pause));
            if cut {
                stand.submit(0, four_kib(Operation::Read, 0));
                stand.now += Nanos(10_000);
                stand.ssd.cut_power(stand.now);
            }
            stand.run(depth, (0..20).map(|number| four_kib(Operation::Write, number)));
            prop_assert_eq!(states(&stand.ssd.counters()).iter().sum::<u64>(), stand.now.0);
        }
    }
}
