//! Logs in which lines stand that no drive wrote.

use crate::logs::assert_replay_is_the_same;
use proptest::prelude::*;
use ssdlab_device::block::{Operation, Request};
use ssdlab_device::ssd::admin::StartOver;
use ssdlab_device::ssd::power_states::PowerState;
use ssdlab_disk::aging::Aging;
use ssdlab_disk::log::{Entry, HEAD};
use ssdlab_disk::power::Fault;
use ssdlab_disk::{Lba, Nanos};

/// Mostly small, and up to the greatest there is.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..40_u64, 2 => 0..33_000_u64, 1 => any::<u64>(), 1 => (0..3_u64).prop_map(|less| u64::MAX - less)]
}

fn entry() -> impl Strategy<Value = Entry> {
    let operation = prop::sample::select(vec![
        Operation::Read,
        Operation::Write,
        Operation::Trim,
        Operation::WriteZeroes,
        Operation::Flush,
    ]);
    let submit =
        (operation, number(), number(), number(), any::<bool>()).prop_map(|(operation, at, lba, sectors, fua)| {
            Entry::Submit(Nanos(at), Request { fua, ..Request::new(operation, Lba(lba), sectors as u32) })
        });
    prop_oneof![
        6 => submit,
        1 => prop::collection::vec(prop::sample::select(Fault::ALL.to_vec()), 0..4)
            .prop_map(|faults| Entry::Arm(faults.into_iter().collect())),
        1 => (number(), number()).prop_map(|(start, end)| Entry::Spoil(start..end)),
        1 => prop::sample::select(StartOver::ALL.to_vec())
            .prop_map(Entry::StartOver),
        1 => prop::sample::select(PowerState::ALL.to_vec()).prop_map(Entry::Enter),
        1 => Just(Entry::PutAway),
        1 => (any::<Option<u32>>(), prop::option::of(0..120_u32), any::<bool>(), any::<Option<i16>>()).prop_map(
            |(cycles, spare_percent, read_only, celsius)| {
                Entry::Age(Aging { cycles, spare_percent, read_only, celsius, ..Aging::default() })
            }
        ),
        2 => any::<u64>().prop_map(Entry::Cut),
    ]
}

/// What fuzzing begins with.
#[test]
fn seeds_of_fuzzing() {
    let seeds = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/log")).unwrap();
    let seeds: Vec<_> = seeds.map(|seed| std::fs::read(seed.unwrap().path()).unwrap()).collect();
    assert!(seeds.len() > 2);
    seeds.iter().for_each(|seed| assert_replay_is_the_same(seed));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever is ordered, in whatever order.
    #[test]
    fn drawn_entries(entries in prop::collection::vec(entry(), 0..30)) {
        let lines: String = entries.iter().map(|entry| format!("{entry}\n")).collect();
        assert_replay_is_the_same(format!("{HEAD}\n{lines}").as_bytes());
    }
}
