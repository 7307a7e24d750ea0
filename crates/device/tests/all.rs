//! All tests that span modules of the crate, in one program: compiled one by one they would each compile the
//! whole drive again, in three minutes more.

mod arrows;
mod by_hand;
mod by_hand_rates;
mod compression;
mod copies;
mod drive;
mod fitted;
mod flush;
mod foreign;
mod host_speed;
mod latency;
mod layers;
mod lower_pages;
mod own_writes;
mod parts;
mod plain_map;
mod power;
mod power_budget;
mod separation;
mod short_way;
mod slc_folding;
mod stand;
mod start_over;
mod superblocks;
mod trim_cost;
mod wear_leveling;
mod worn_out;
mod write_pace;

/// No file of tests is forgotten here, where it would not be run.
#[test]
fn every_file_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    stand::named::assert_every_file_is_named(&folder, include_str!("all.rs"));
}
