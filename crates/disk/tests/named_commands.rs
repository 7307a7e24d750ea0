//! Commands by byte and name: what became of each can be asked late, and what does not fit never reaches the drive.

use crate::history::disk;
use crate::kinds::named;
use ssdlab_disk::medium::Ram;
use ssdlab_disk::{Asked, CommandError, Commands, Disk, Nanos, Operation};

const SECTOR: u64 = 512;

fn asked(operation: Operation, offset: u64, length: u64) -> Asked {
    Asked { operation, offset, length, fua: false }
}

/// A drive with a volatile buffer, without commands.
fn begin() -> (Disk<Ram>, Commands) {
    (disk(&named("buffered"), None), Commands::default())
}

/// Names outlive their commands: one that ended before others is told last, each once.
#[test]
fn each_is_told_once_in_any_order() {
    let (mut disk, mut commands) = begin();
    for name in 0..4 {
        let write = asked(Operation::Write, name * SECTOR, SECTOR);
        commands.submit(&mut disk, name, write, vec![name as u8; 512]).unwrap();
    }
    for name in (0..4).rev() {
        assert_eq!(commands.wait(&mut disk, name), Ok(Vec::new()));
        assert_eq!(commands.wait(&mut disk, name), Err(CommandError::Unknown));
    }
    commands.submit(&mut disk, 9, asked(Operation::Read, 0, 4 * SECTOR), Vec::new()).unwrap();
    let read: Vec<u8> = (0..4u8).flat_map(|value| [value; 512]).collect();
    assert_eq!(commands.wait(&mut disk, 9), Ok(read));
}

/// A cut drops what is under way, by name; what had ended is still told, and the last cut's drops are.
#[test]
fn a_cut_drops_by_name() {
    let (mut disk, mut commands) = begin();
    let write = |offset| asked(Operation::Write, offset, SECTOR);
    commands.submit(&mut disk, 1, write(0), vec![1; 512]).unwrap();
    let until = Nanos(disk.now().0 + 10_000_000);
    commands.advance(&mut disk, until);
    assert_eq!(disk.now(), until);
    commands.submit(&mut disk, 2, write(SECTOR), vec![2; 512]).unwrap();
    assert_eq!(commands.power_cut(&mut disk, 1).1.collect::<Vec<_>>(), [2]);
    assert_eq!(commands.wait(&mut disk, 1), Ok(Vec::new()));
    for _ in 0..2 {
        assert_eq!(commands.wait(&mut disk, 2), Err(CommandError::Dropped { asked: write(SECTOR) }));
    }
    assert_eq!(commands.power_cut(&mut disk, 1).1.count(), 0);
    assert_eq!(commands.wait(&mut disk, 2), Err(CommandError::Unknown));
}

/// By hand: parts of sectors, nothing, and what reaches beyond the end, also where the sum overflows. The drive has
/// seen none of it, and has no memory taken for it.
#[test]
fn what_does_not_fit_is_refused() {
    let (mut disk, mut commands) = begin();
    let end = disk.limits().capacity_bytes();
    let refusals = [
        (100, 512, "use offset 0 and length 1024"),
        (0, 100, "use offset 0 and length 512"),
        (1024, 0, "use offset 1024 and length 512"),
        (end, 512, "beyond the end"),
        (end - 512, 1024, "beyond the end"),
        (512, u64::MAX, "beyond the end"),
        (0, u64::MAX - 511, "beyond the end"),
    ];
    for (offset, length, remedy) in refusals {
        let refused = commands.submit(&mut disk, 1, asked(Operation::Read, offset, length), Vec::new());
        let told = refused.unwrap_err().to_string();
        assert!(told.contains(remedy) && told.contains(&format!("at offset {offset}")), "{told}");
    }
    // A write is as long as what it brings.
    let short = commands.submit(&mut disk, 1, asked(Operation::Write, 0, SECTOR), vec![0; 100]);
    assert!(matches!(short, Err(CommandError::Unaligned { asked: Asked { length: 100, .. }, .. })));
    assert_eq!((disk.outstanding(), disk.counters().host_reads), (0, 0));
    commands.submit(&mut disk, 1, asked(Operation::Read, end - 512, 512), Vec::new()).unwrap();
    assert_eq!(commands.wait(&mut disk, 1).unwrap().len(), 512);
}

/// One more than the queue holds is refused, and taken once there is room.
#[test]
fn a_full_queue_refuses() {
    let (mut disk, mut commands) = begin();
    let depth = disk.limits().queue_depth;
    let read = asked(Operation::Read, 0, SECTOR);
    for name in 0..u64::from(depth) {
        commands.submit(&mut disk, name, read, Vec::new()).unwrap();
    }
    let last = u64::from(depth);
    let busy = CommandError::Busy { asked: read, queue_depth: depth };
    assert_eq!(commands.submit(&mut disk, last, read, Vec::new()), Err(busy));
    commands.wait(&mut disk, 0).unwrap();
    assert_eq!(commands.submit(&mut disk, last, read, Vec::new()), Ok(()));
    while commands.step(&mut disk) && disk.outstanding() > 0 {}
    assert_eq!(commands.wait(&mut disk, last), Ok(vec![0; 512]));
}
