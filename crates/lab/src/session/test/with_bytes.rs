//! A session's drive that holds bytes, and a drive file of it.

use super::*;
use ssdlab_device::block::Operation;
use ssdlab_device::ssd::admin::Refused;
use ssdlab_disk::medium::Ram;
use ssdlab_disk::{Failure, Lba, Request};

const SECTOR: usize = 512;

fn session(condition: Condition) -> Session {
    let buffered = [settings(), vec![("buffer.bytes".into(), "1 MiB".into())]].concat();
    let mut session = Session::open(&theory(), &buffered, 3).unwrap();
    session.bring_to(condition, &[], 1.0, 3, &mut Silent).unwrap();
    session
}

fn ram(sizes: Sizes) -> Ram {
    Ram::new(sizes.capacity_bytes)
}

fn command<M: Medium>(drive: &mut WithBytes<M>, operation: Operation, lba: u64, value: u8) -> Vec<u8> {
    drive.disk.perform(Request::new(operation, Lba(lba), 1), vec![value; SECTOR]).unwrap()
}

/// A drive in each condition reads as zeroes; what preconditioning wrote is read from flash, what it did not is not.
#[test]
fn preconditioned_units_read_as_zeroes() {
    for condition in [Condition::Fresh, Condition::Filled, Condition::Used, Condition::SteadyUniform] {
        let mut drive = session(condition).with_bytes(ram).unwrap();
        assert_eq!(command(&mut drive, Operation::Read, 8 * 1000 + 3, 7), [0; SECTOR]);
        let counters = drive.about.since(&mut drive.disk);
        let (mapped, unmapped) = (counters.nand_pages_read, counters.unmapped_reads);
        assert_eq!((mapped, unmapped), if condition == Condition::Fresh { (0, 1) } else { (1, 0) });
    }
}

/// The session stays as it is, and a drive that nothing was done to gives the drive file that it came from.
#[test]
fn nothing_done_is_nothing_changed() {
    let mut first = session(Condition::Used);
    let file = first.to_bytes().unwrap();
    let mut drive = first.with_bytes(ram).unwrap();
    assert_eq!(first.to_bytes().unwrap(), file);
    let mut counted = saved(&drive.to_bytes().unwrap(), &[]).unwrap();
    // The flush before it is kept is counted.
    assert_eq!(counted.counters()["host_flushes"], 1);
    assert_eq!(counted.blocks_erased(), first.blocks_erased());
    assert_eq!(counted.conditioned_by(), first.conditioned_by());
}

/// What was written is in flash once the drive is kept: nothing is left in the buffer, and the file's drive has it
/// mapped; the same drive goes on, and holds its bytes.
#[test]
fn a_drive_is_kept_and_goes_on() {
    let mut drive = session(Condition::Fresh).with_bytes(ram).unwrap();
    command(&mut drive, Operation::Write, 8 * 50, 9);
    let mut kept = saved(&drive.to_bytes().unwrap(), &[]).unwrap();
    assert_eq!(kept.conditioned_by().as_deref(), Some("the writes of earlier jobs alone"));
    assert!(drive.disk.power_cut(1).losses.is_empty());
    assert_eq!(command(&mut drive, Operation::Read, 8 * 50, 0), [9; SECTOR]);
    // Over a new medium the unit is read from flash.
    let mut other = kept.with_bytes(ram).unwrap();
    assert_eq!(command(&mut other, Operation::Read, 8 * 50, 7), [0; SECTOR]);
    let counted = other.about.since(&mut other.disk);
    assert_eq!((counted.nand_pages_read, counted.unmapped_reads), (1, 0));
}

/// A drive with commands under way is not kept.
#[test]
fn a_busy_drive_is_not_kept() {
    let mut drive = session(Condition::Fresh).with_bytes(ram).unwrap();
    let write = Request::new(Operation::Write, Lba(0), 1);
    drive.disk.submit(drive.disk.now(), write, vec![1; SECTOR]).unwrap();
    assert_eq!(drive.to_bytes().unwrap_err(), Failure::Refused(Refused::Outstanding));
}

/// A hard disk holds no bytes here, and says so.
#[test]
fn only_a_solid_state_drive_holds_bytes() {
    let is_hard_disk = |name: &&str| built_in(name).is_some_and(|text| text.contains("[hdd]"));
    let name = ssdlab_device::profile::names().find(is_hard_disk).unwrap();
    let text = built_in(name).unwrap().into();
    let source = DriveSource::Profile { name: name.into(), file: name.into(), text, scale: None };
    let told = Session::open(&source, &[], 1).unwrap().with_bytes(ram).err().unwrap().to_string();
    assert!(told.contains("hard disk"), "{told}");
}

/// A drive that is written until it is worn out, with a buffer of so many bytes; and how it refused.
fn worn_out(buffer: &str) -> (WithBytes<Ram>, Option<Failure>) {
    // An erase takes longer than its limit once a block has had a third of its cycles.
    let wearing = [
        ("buffer.bytes", buffer),
        ("reliability.rated_cycles", "10"),
        ("nand.erase_growth", "1"),
        ("nand.erase_limit_us", "5000"),
    ];
    let worn = [settings(), wearing.map(|(key, value)| (key.to_string(), value.to_string())).to_vec()];
    let mut drive = Session::open(&theory(), &worn.concat(), 3).unwrap().with_bytes(ram).unwrap();
    let units = drive.disk.limits().sectors / 8;
    let write = |number: u64| Request::new(Operation::Write, Lba(number * 7919 % units * 8), 8);
    let failed = (0..100 * units).find_map(|number| drive.disk.perform(write(number), vec![1; 8 * SECTOR]).err());
    (drive, failed)
}

/// A drive that has worn out is kept, and is read-only when it is opened again.
#[test]
fn a_worn_out_drive_is_kept() {
    let (mut drive, failed) = worn_out("0");
    assert_eq!(failed, Some(Failure::WriteProtected));
    let mut kept = saved(&drive.to_bytes().unwrap(), &[]).unwrap();
    assert_eq!(kept.show()["read_only"], true);
}

/// Where its buffer holds what can be programmed no more it is not kept, since a drive file has no buffer. It goes on to
/// hold that.
#[test]
fn what_a_buffer_holds_for_good_is_not_lost() {
    let (mut drive, failed) = worn_out("1 MiB");
    assert_eq!(failed, Some(Failure::WriteProtected));
    let units = drive.disk.limits().sectors / 8;
    let all = |drive: &mut WithBytes<Ram>| -> Vec<u8> {
        (0..units).map(|unit| command(drive, Operation::Read, 8 * unit, 0)[0]).collect()
    };
    let before = all(&mut drive);
    assert_eq!(drive.to_bytes(), Err(Failure::WriteProtected));
    assert!(drive.disk.ssd().ftl.flash.contents.units_in_ram() > 0, "the buffer is stuck");
    assert!(all(&mut drive) == before);
}

/// Each block has its letter: the free ones are those that are counted; after a fill all that is full is valid, after a
/// trim of all nothing is.
#[test]
fn blocks_are_told_one_by_one() {
    let each = |drive: &mut WithBytes<Ram>| drive.stats()["blocks"]["each"].as_str().unwrap().to_string();
    let mut drive = session(Condition::Fresh).with_bytes(ram).unwrap();
    assert!(each(&mut drive).bytes().all(|letter| letter == b'f'));
    let mut drive = session(Condition::Filled).with_bytes(ram).unwrap();
    let (told, filled) = (drive.stats()["blocks"].clone(), each(&mut drive));
    assert_eq!(told["every"], 1);
    assert_eq!(filled.matches('f').count(), told["free"]);
    let full = |each: &str, digit| each.chars().filter(char::is_ascii_digit).all(|letter| letter == digit);
    assert!(filled.contains('9') && full(&filled, '9'), "{filled}");
    let sectors = drive.disk.limits().sectors;
    drive.disk.perform(Request::new(Operation::Trim, Lba(0), sectors as u32), Vec::new()).unwrap();
    let trimmed = each(&mut drive);
    assert!(trimmed.contains('0') && full(&trimmed, '0'), "{trimmed}");
}
