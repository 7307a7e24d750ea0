//! All tests that span modules of the crate, in one program: nine of them would each link a whole engine.

#[path = "../../device/tests/arrows/mod.rs"]
mod arrows;
mod behaviour;
mod damaged;
mod damaged_folders;
mod drawn_drives;
mod durable;
mod fio_options;
mod golden_digits;
mod layers;
#[path = "../../device/tests/stand/named.rs"]
mod named;
mod stack;
mod steady;
mod theory;
mod theory_further;

/// No file of tests is forgotten here, where it would not be run.
#[test]
fn every_file_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    named::assert_every_file_is_named(&folder, include_str!("all.rs"));
}
