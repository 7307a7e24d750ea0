use super::*;
use crate::nvme::facts::example;

/// A command for some sectors; the data are announced as they should be.
fn command(opcode: u8, first: u64, sectors: u32, flags: u32) -> Submission {
    let mut bytes = [0u8; 64];
    let fields: [(usize, &[u8]); 6] = [
        (0, &[opcode]),
        (2, &[9, 0]),
        (4, &[1, 0, 0, 0]),
        (32, &(sectors * 512).to_le_bytes()),
        (39, &[Sgl::TRANSPORT]),
        (40, &first.to_le_bytes()),
    ];
    for (at, field) in fields {
        bytes[at..at + field.len()].copy_from_slice(field);
    }
    bytes[48..52].copy_from_slice(&((sectors - 1) | flags).to_le_bytes());
    Submission::read(&bytes)
}

fn asked(submission: &Submission) -> Result<Asked, Status> {
    read(submission, &example().namespace, true)
}

fn drive(offset: u64, length: u32, command: Command) -> Result<Asked, Status> {
    Ok(Asked::Drive(Request { cookie: 9, offset, length, command }))
}

/// What each command comes to, by hand.
#[test]
fn commands_by_hand() {
    assert_eq!(asked(&command(READ, 8, 8, 0)), drive(4096, 4096, Command::Read { dont_fragment: true }));
    assert_eq!(asked(&command(WRITE, 0, 1, 0)), drive(0, 512, Command::Write { fua: false }));
    assert_eq!(asked(&command(WRITE, 0, 1, FORCE_UNIT_ACCESS)), drive(0, 512, Command::Write { fua: true }));
    assert_eq!(asked(&command(COMPARE, 1, 2, 0)), drive(512, 1024, Command::Compare));
    assert_eq!(asked(&command(VERIFY, 1, 2, 0)), drive(512, 1024, Command::Verify));
    assert_eq!(asked(&command(WRITE_UNCORRECTABLE, 1, 2, 0)), drive(512, 1024, Command::WriteUncorrectable));
    let zeroes = Command::WriteZeroes { fua: false, no_hole: false };
    assert_eq!(asked(&command(WRITE_ZEROES, 0, 2048, 0)), drive(0, 1 << 20, zeroes));
    assert_eq!(asked(&command(FLUSH, 0, 1, 0)), drive(0, 0, Command::Flush));
    let off = read(&command(WRITE, 0, 1, 0), &example().namespace, false);
    assert_eq!(off, drive(0, 512, Command::Write { fua: true }), "a cache that is off keeps nothing back");
}

/// Each wrong field has its status.
#[test]
fn wrong_commands_have_their_status() {
    let last = example().namespace.sectors;
    assert_eq!(asked(&command(READ, last, 1, 0)), Err(Status::LBA_OUT_OF_RANGE));
    assert_eq!(asked(&command(WRITE, u64::MAX, 1, 0)), Err(Status::LBA_OUT_OF_RANGE));
    assert_eq!(asked(&command(READ, 0, 2049, 0)), Err(Status::INVALID_FIELD), "more than MDTS");
    assert_eq!(asked(&command(0x0D, 0, 1, 0)), Err(Status::INVALID_OPCODE));
    let other = Submission { namespace: 2, ..command(READ, 0, 1, 0) };
    assert_eq!(asked(&other), Err(Status::INVALID_NAMESPACE));
    let all = Submission { namespace: EVERY_NAMESPACE, ..command(FLUSH, 0, 1, 0) };
    assert_eq!(asked(&all), drive(0, 0, Command::Flush));
    let short = command(WRITE, 0, 8, 0);
    let short = Submission { sgl: Sgl { length: 512, ..short.sgl }, ..short };
    assert_eq!(asked(&short), Err(Status::SGL_LENGTH));
    let keyed = Submission { sgl: Sgl { kind: 0x40, ..short.sgl }, ..command(READ, 0, 1, 0) };
    assert_eq!(asked(&keyed), Err(Status::SGL_TYPE));
    let into_capsule = Submission { sgl: Sgl { kind: Sgl::IN_CAPSULE, ..short.sgl }, ..command(READ, 0, 1, 0) };
    assert_eq!(asked(&into_capsule), Err(Status::INVALID_FIELD));
}

/// Ranges by hand; one beyond the end leaves all as it is.
#[test]
fn ranges_by_hand() {
    let range = |first: u64, sectors: u32| [&[0; 4][..], &sectors.to_le_bytes(), &first.to_le_bytes()].concat();
    let asks = Submission { dwords: [1, DEALLOCATE, 0, 0, 0, 0], ..command(DATASET_MANAGEMENT, 0, 1, 0) };
    let namespace = example().namespace;
    assert_eq!(read(&asks, &namespace, true), Ok(Asked::Deallocate(32)));
    let trims = ranges(&asks, &namespace, &[range(8, 8), range(0, 1)].concat()).unwrap();
    assert_eq!(trims.iter().map(|trim| (trim.offset, trim.length)).collect::<Vec<_>>(), [(4096, 4096), (0, 512)]);
    let beyond = [range(8, 8), range(namespace.sectors, 1)].concat();
    assert_eq!(ranges(&asks, &namespace, &beyond), Err(Status::LBA_OUT_OF_RANGE));
    assert_eq!(
        pieces(512, (2 << 30) + 512).collect::<Vec<_>>(),
        [(512, 1 << 30), (512 + (1 << 30), 1 << 30), (512 + (2 << 30), 512)]
    );
}
