//! Folders of a drive, damaged in drawn ways and in those that fuzzing begins with.

use crate::damaged::assert_damage_is_told;
use proptest::prelude::*;

/// What fuzzing begins with.
#[test]
fn seeds_of_fuzzing() {
    let seeds = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/folder")).unwrap();
    let seeds: Vec<_> = seeds.map(|seed| std::fs::read(seed.unwrap().path()).unwrap()).collect();
    assert!(seeds.len() > 4);
    seeds.iter().for_each(|seed| assert_damage_is_told(seed));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is done to the files.
    #[test]
    fn drawn_damage(edits in prop::collection::vec(any::<[u8; 8]>(), 0..4)) {
        assert_damage_is_told(&edits.concat());
    }
}
