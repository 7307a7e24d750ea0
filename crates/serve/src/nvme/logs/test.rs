use super::*;
use crate::nvme::facts::example;
use crate::nvme::fields::{text_at, u8_at, u16_at, u32_at, u64_at};
use ssdlab_device::ssd::past::Progress;
use ssdlab_device::ssd::signs::Signs;

fn identity() -> Identity {
    Identity { firmware: "1.0".into(), qualified_name: "nqn.x".into(), ..Identity::default() }
}

fn command(log: u8, bytes: u32, offset: u32) -> Submission {
    let dwords = [u32::from(log) | (bytes / 4 - 1) << 16, 0, offset, 0, 0, 0];
    Submission { dwords, ..Submission::read(&[0; 64]) }
}

fn ask(log: u8, bytes: u32, offset: u32, past: &Past) -> Result<Vec<u8>, Status> {
    read(&command(log, bytes, offset), &identity(), &example(), past, 343, None)
}

/// Health by hand: percentages as they are, bytes in thousands of sectors, rounded up.
#[test]
fn health_by_hand() {
    let page = ask(HEALTH, 512, 0, &Past::default()).unwrap();
    assert_eq!([0, 3, 4, 5].map(|at| u8_at(&page, at)), [0, 97, 10, 12]);
    assert_eq!([32, 48, 64, 80, 144, 160].map(|at| u64_at(&page, at)), [1, 2, 3, 4, 1, 2]);
    let page = ask(OCP_HEALTH, 512, 0, &Past::default()).unwrap();
    assert_eq!((u64_at(&page, 0), u64_at(&page, 32), u32_at(&page, 88)), (5_000_000, 5 | 97 << 48, 20));
    assert_eq!(page.get(496..), Some(&OCP_GUID[..]));
    assert_eq!((u8_at(&page, 120), u16_at(&page, 128), u64_at(&page, 176)), (7, 0xFFFF, 3_000_000_000));
}

/// Capacitors are whole, or have failed.
#[test]
fn capacitors_are_told() {
    let mut facts = Facts { has_capacitors: true, ..example() };
    assert_eq!(u16_at(&ocp_health(&facts).bytes(), 128), 100);
    facts.signs.capacitor_failed = true;
    assert_eq!(u16_at(&ocp_health(&facts).bytes(), 128), 0);
}

/// A drive that is worn out says so in three bits.
#[test]
fn a_worn_drive_warns() {
    let mut facts = example();
    assert_eq!(warnings(&facts, 343), 0);
    facts.health.spare_percent = 9;
    assert_eq!(warnings(&facts, 343), 1);
    facts.health.is_read_only = true;
    assert_eq!(warnings(&facts, 343), 1 | 1 << 2 | 1 << 3);
    facts.health.used_percent = 300;
    let page = health(&facts, &Past::default(), 343).bytes();
    assert_eq!(u8_at(&page, 5), 255);
}

/// What somebody has said is told; a threshold is in kelvins, and 70 °C are 343.
#[test]
fn what_was_said_is_told() {
    let mut facts = example();
    facts.signs = Signs { celsius: Some(69), power_on_hours: Some(9), power_cycles: Some(2), capacitor_failed: false };
    let page = health(&facts, &Past::default(), 343).bytes();
    assert_eq!((u8_at(&page, 0), u16_at(&page, 1), u64_at(&page, 112), u64_at(&page, 128)), (0, 342, 2, 9));
    facts.signs.celsius = Some(70);
    facts.signs.capacitor_failed = true;
    assert_eq!(warnings(&facts, 343), 1 << 1 | 1 << 4);
}

/// The last failure stands first, and counts go on when old ones are dropped.
#[test]
fn errors_are_kept() {
    let mut past = Past::default();
    (0..100).for_each(|command| past.errors.note(1, command, Status::UNRECOVERED_READ.field(), 7));
    let page = ask(ERRORS, 4096, 0, &past).unwrap();
    assert_eq!((u64_at(&page, 0), u16_at(&page, 10), u64_at(&page, 16)), (100, 99, 7));
    assert_eq!(u64_at(&page, 64 * 63), 37);
    assert_eq!(u64_at(&ask(HEALTH, 512, 0, &past).unwrap(), 176), 100);
}

/// Parts of a page, up to its end and beyond, and what is no page.
#[test]
fn parts_of_pages() {
    let past = Past::default();
    let whole = ask(EFFECTS, 4096, 0, &past).unwrap();
    assert_eq!(ask(EFFECTS, 1024, 1024, &past).unwrap(), whole[1024..2048]);
    assert_eq!(ask(EFFECTS, 8, 4092, &past).unwrap(), [0; 8]);
    assert_eq!(ask(EFFECTS, 8, 4100, &past), Err(Status::INVALID_FIELD));
    assert_eq!(ask(EFFECTS, 8, 3, &past), Err(Status::INVALID_FIELD));
    assert_eq!(ask(0x7F, 8, 0, &past), Err(Status::INVALID_LOG_PAGE));
    assert_eq!(ask(DISCOVERY, 8, 0, &past), Err(Status::INVALID_LOG_PAGE));
    let huge = Submission { dwords: [0x02 | 0xFFFF << 16, 0xFFFF, 0, 0, 0, 0], ..command(2, 4, 0) };
    assert_eq!(read(&huge, &identity(), &example(), &past, 343, None), Err(Status::INVALID_FIELD));
}

/// Self-tests and a sanitize are remembered.
#[test]
fn what_was_done_is_told() {
    let mut past = Past::default();
    past.note_self_test(1, true);
    past.note_self_test(2, false);
    let page = ask(SELF_TESTS, 564, 0, &past).unwrap();
    assert_eq!([4, 32, 60].map(|at| u8_at(&page, at)), [0x27, 0x10, 0x0F]);
    assert_eq!(u16_at(&ask(SANITIZE, 512, 0, &past).unwrap(), 2), 0);
    past.sanitize =
        Some(Sanitize { asked: 4, state: SanitizeState::UnderWay(Progress { lasts_ns: 65536, done_ns: 300 }) });
    let page = ask(SANITIZE, 512, 0, &past).unwrap();
    assert_eq!((u16_at(&page, 0), u16_at(&page, 2), u32_at(&page, 4)), (300, 2, 4));
    past.sanitize = Some(Sanitize { asked: 4, state: SanitizeState::Done });
    let page = ask(SANITIZE, 512, 0, &past).unwrap();
    assert_eq!((u16_at(&page, 0), u16_at(&page, 2), u32_at(&page, 4)), (0xFFFF, 1, 4));
}

/// Discovery names the drive and where it is.
#[test]
fn discovery_by_hand() {
    let place = Place { address: "127.0.0.1".into(), port: 4420, is_v6: false };
    let page =
        read(&command(DISCOVERY, 2048, 0), &identity(), &example(), &Past::default(), 343, Some(&place)).unwrap();
    assert_eq!((u64_at(&page, 8), u8_at(&page, 1024), u8_at(&page, 1026)), (1, 3, 2));
    assert_eq!(text_at(&page, 1024 + 256, 256), "nqn.x");
    assert_eq!(text_at(&page, 1024 + 32, 32).trim_end(), "4420");
    assert_eq!(text_at(&page, 1024 + 512, 256).trim_end(), "127.0.0.1");
}
