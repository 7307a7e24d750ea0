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
        let counters = drive.since();
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
    assert_eq!((other.since().nand_pages_read, other.since().unmapped_reads), (1, 0));
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
    let source = DriveSource::Profile { name: name.into(), file: name.into(), text };
    let told = Session::open(&source, &[], 1).unwrap().with_bytes(ram).err().unwrap().to_string();
    assert!(told.contains("hard disk"), "{told}");
}
