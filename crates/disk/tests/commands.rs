//! What one command after the other does: waiting for one of several, starting over.

use crate::history::{disk, disk_over, sector_of, value_of};
use crate::kinds::{config, named};
use crate::mediums::Failing;
use ssdlab_device::ftl::mapping::Place;
use ssdlab_device::ssd::admin::{Refused, StartOver};
use ssdlab_device::ssd::power_states::PowerState;
use ssdlab_device::units::Lpn;
use ssdlab_disk::medium::{Medium, Ram};
use ssdlab_disk::{Disk, Durable, Failure, Lba, Nanos, Operation, Request};

fn sector<M: Medium>(disk: &mut Disk<M>, operation: Operation, lba: u64, value: u64) -> Result<u64, Failure> {
    disk.perform(Request::new(operation, Lba(lba), 1), sector_of(value)).map(|bytes| value_of(&bytes))
}

fn flush<M: Medium>(disk: &mut Disk<M>) -> Result<Vec<u8>, Failure> {
    disk.perform(Request::new(Operation::Flush, Lba(0), 0), Vec::new())
}

/// Whoever waits for one command gets that one, also where others that ended before had the same tag; those come later,
/// each once, and a loss of power does not take their answers.
#[test]
fn the_one_waited_for_is_given() {
    let mut disk = disk(&named("buffered"), None);
    (0..8).for_each(|lba| {
        sector(&mut disk, Operation::Write, lba, 100 + lba).unwrap();
    });
    let now = disk.now();
    let read = |disk: &mut Disk<Ram>, lba| disk.submit(now, Request::new(Operation::Read, Lba(lba), 1), vec![0; 512]);
    // Reads are quicker than the flush that is waited for. The next command has its tag, those behind have theirs.
    let mut tags: Vec<_> = (0..4).map(|lba| read(&mut disk, lba).unwrap()).collect();
    flush(&mut disk).unwrap();
    tags.push(read(&mut disk, 4).unwrap());
    for lba in 5..8 {
        assert_eq!(sector(&mut disk, Operation::Read, lba, 0), Ok(100 + lba));
    }
    disk.power_cut(1);
    let mut done = Vec::new();
    disk.advance(now, &mut done);
    let told: Vec<_> = done.iter().map(|done| (done.tag, value_of(&done.bytes))).collect();
    let wanted: Vec<_> = tags.into_iter().zip(100..).collect();
    assert_eq!(told, wanted);
    assert_eq!(disk.outstanding(), 0);
}

/// A drive that a host put to sleep takes longer for the next command, once.
#[test]
fn a_command_wakes_the_drive() {
    let power = [("power.active_mw", "5000"), ("power.idle_mw", "1000"), ("power.sleep_mw", "5")];
    let mut disk = disk(&[&power[..], &[("power.sleep_wake_us", "9500")]].concat(), None);
    let mut takes = |state| {
        disk.enter_power_state(state);
        assert_eq!(disk.power_state(), state);
        let before = disk.now();
        sector(&mut disk, Operation::Read, 8, 0).unwrap();
        assert_eq!(disk.power_state(), PowerState::Awake);
        disk.now().0 - before.0
    };
    let awake = takes(PowerState::Awake);
    assert_eq!(takes(PowerState::Sleep), awake + 9_500_000);
    assert_eq!(takes(PowerState::Awake), awake);
}

/// After each way nothing is left of the bytes; what is mapped is the way's to say, also once the drive is opened again.
#[test]
fn starting_over_leaves_no_bytes() {
    for how in StartOver::ALL {
        let is_mapped = how == StartOver::CryptoErase;
        let mut disk = disk(&[], None);
        sector(&mut disk, Operation::Write, 8, 5).unwrap();
        disk.start_over(how).unwrap();
        assert_eq!(sector(&mut disk, Operation::Read, 8, 0), Ok(0), "{how:?}");
        let image = &mut disk.ssd().ftl.flash.contents;
        let (medium, since) = (image.medium().clone(), image.since().clone());
        let mut again = Disk::new(&config(&[]), 7, medium).unwrap().recovered(7, since);
        for disk in [&mut disk, &mut again] {
            assert_eq!(disk.ssd().ftl.place(Lpn(1)) != Place::Unmapped, is_mapped, "{how:?}");
            assert_eq!(sector(disk, Operation::Read, 8, 0), Ok(0), "{how:?}");
        }
    }
}

/// A drive that cannot start over says why, and where its storage fails, that bytes may be left.
#[test]
fn starting_over_can_fail() {
    let mut disk = disk_over(Failing::new, &[], None).durable(Durable::Host);
    let busy = Request::new(Operation::Write, Lba(8), 1);
    let now = disk.now();
    disk.submit(now, busy, sector_of(1)).unwrap();
    assert_eq!(disk.start_over(StartOver::SecureErase), Err(Failure::Refused(Refused::Outstanding)));
    while disk.outstanding() > 0 {
        disk.advance(Nanos::NEVER, &mut Vec::new());
    }
    let storage = disk.ssd().ftl.flash.contents.medium();
    storage.fails = storage.calls + 1;
    let poisoned = Failure::Poisoned("no space left".into());
    assert_eq!(disk.start_over(StartOver::SecureErase), Err(poisoned.clone()));
    assert_eq!(flush(&mut disk), Err(poisoned), "nothing is promised any more");
}
