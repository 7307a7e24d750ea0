//! Identify: what the controller and its namespace are. Base Specification 2.0, section 5.17; NVM Command Set, 4.1.5.

use super::command::Submission;
use super::fabric::{DISCOVERY, VERSION_VALUE};
use super::facts::{Facts, Identity, Namespace};
use super::fields::Page;
use super::io::MOST_TRANSFER;
use super::pdu::MOST_IN_CAPSULE;
use super::status::Status;
use ssdlab_device::ssd::health::TOO_HOT_KELVIN;

const BYTES: usize = 4096;
const CNS_NAMESPACE: u32 = 0x00;
const CNS_CONTROLLER: u32 = 0x01;
const CNS_ACTIVE_NAMESPACES: u32 = 0x02;
const CNS_DESCRIPTORS: u32 = 0x03;
const CNS_NAMESPACE_OF_SET: u32 = 0x05;
const CNS_CONTROLLER_OF_SET: u32 = 0x06;

/// Deallocate, format and crypto erase as the admin commands have them.
const ADMIN_COMMANDS: u16 = 1 << 1 | 1 << 4;
/// Compare, write uncorrectable, dataset management, write zeroes, verify.
const NVM_COMMANDS: u16 = 1 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 7;
/// Crypto erase, block erase and overwrite; none can be told not to deallocate.
const SANITIZE_COMMANDS: u32 = 1 | 1 << 1 | 1 << 2 | 1 << 29;
const EVERY_LOG_EXTENDED: u8 = 1 | 1 << 1 | 1 << 2;

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A controller of the drive.
    Drive,
    /// One that tells where the drive is.
    Discovery,
}

/// The structure that is asked for.
///
/// # Errors
/// There is none such.
pub fn identify(
    command: &Submission,
    kind: Kind,
    controller: u16,
    identity: &Identity,
    facts: &Facts,
) -> Result<Vec<u8>, Status> {
    let is_ours = command.namespace == Namespace::ID;
    let page = match command.dword(10) & 0xFF {
        CNS_CONTROLLER => of_controller(kind, controller, identity, facts),
        _ if kind == Kind::Discovery => return Err(Status::INVALID_FIELD),
        CNS_NAMESPACE if is_ours => of_namespace(facts),
        CNS_NAMESPACE if command.namespace == u32::MAX => of_namespace(facts),
        CNS_ACTIVE_NAMESPACES if command.namespace >= u32::MAX - 1 => return Err(Status::INVALID_NAMESPACE),
        CNS_ACTIVE_NAMESPACES if command.namespace < Namespace::ID => Page::new(BYTES).put_u32(0, Namespace::ID),
        CNS_ACTIVE_NAMESPACES => Page::new(BYTES),
        CNS_DESCRIPTORS if is_ours => descriptors(identity),
        CNS_NAMESPACE_OF_SET if is_ours => Page::new(BYTES),
        CNS_CONTROLLER_OF_SET => Page::new(BYTES),
        CNS_NAMESPACE | CNS_DESCRIPTORS | CNS_NAMESPACE_OF_SET => return Err(Status::INVALID_NAMESPACE),
        _ => return Err(Status::INVALID_FIELD),
    };
    Ok(page.bytes())
}

fn of_controller(kind: Kind, controller: u16, identity: &Identity, facts: &Facts) -> Page {
    let (subsystem, number) = match kind {
        Kind::Drive => (identity.qualified_name.as_str(), 1),
        Kind::Discovery => (DISCOVERY, 2),
    };
    let page = Page::new(BYTES)
        .put_text(4, 20, b' ', &identity.serial)
        .put_text(24, 40, b' ', &identity.model)
        .put_text(64, 8, b' ', &identity.firmware)
        .put_u8(77, MOST_TRANSFER)
        .put_u16(78, controller)
        .put_u32(80, VERSION_VALUE)
        .put_u8(111, number)
        .put_u8(261, EVERY_LOG_EXTENDED)
        // Keep alive in steps of 100 ms.
        .put_u16(320, 1)
        .put_u8(512, 0x66)
        .put_u8(513, 0x44)
        .put_u16(514, super::fabric::MOST_ENTRIES)
        // Lists of one descriptor, also with an offset in the capsule.
        .put_u32(536, 1 | 1 << 20)
        .put_text(768, 256, 0, subsystem)
        .put_u32(1792, (64 + MOST_IN_CAPSULE) / 16)
        .put_u32(1796, 1)
        .put_u8(1803, 1);
    match kind {
        Kind::Discovery => page,
        Kind::Drive => of_drive(page, facts),
    }
}

/// What a controller of the drive has besides.
fn of_drive(page: Page, facts: &Facts) -> Page {
    let Namespace { sectors, sector_bytes, atomic_sectors, .. } = facts.namespace;
    let deallocates = if facts.namespace.trims { NVM_COMMANDS } else { NVM_COMMANDS & !(1 << 2) };
    facts
        .power
        .describe(page)
        // Several controllers, for several hosts.
        .put_u8(76, 1 << 1)
        .put_u16(256, ADMIN_COMMANDS)
        // Aborts, events, error log entries at most, each from zero on.
        .put_u8(258, 3)
        .put_u8(259, 3)
        .put_u8(260, 1 << 1 | 1)
        .put_u8(262, ssdlab_device::ssd::past::MOST_ERRORS as u8 - 1)
        // WCTEMP; a critical temperature is not reported.
        .put_u16(266, TOO_HOT_KELVIN)
        .put_u64(280, sectors * u64::from(sector_bytes))
        // An extended self-test takes a minute.
        .put_u16(316, 1)
        .put_u32(328, SANITIZE_COMMANDS)
        .put_u32(516, 1)
        .put_u16(520, deallocates)
        // Erasing formats all, and so does crypto erase, which is supported.
        .put_u8(524, 1 | 1 << 1 | 1 << 2)
        // Atomic writes (AWUN, AWUPF), from zero on.
        .put_u16(526, (atomic_sectors - 1) as u16)
        .put_u16(528, (atomic_sectors - 1) as u16)
        .put_u8(525, u8::from(facts.has_volatile_cache) | 3 << 1)
}

fn of_namespace(facts: &Facts) -> Page {
    let Namespace { sectors, sector_bytes, unit_bytes, .. } = facts.namespace;
    let unit = (unit_bytes / sector_bytes.max(1)).clamp(1, 1 << 16) as u16 - 1;
    Page::new(BYTES)
        .put_u64(0, sectors)
        .put_u64(8, sectors)
        .put_u64(16, facts.used_sectors)
        // Preferred granularities are told; a deallocated sector reads as zeroes.
        .put_u8(24, 1 << 4)
        .put_u8(30, 1)
        .put_u8(33, 1 | 1 << 3)
        .put_u64(48, sectors * u64::from(sector_bytes))
        .put_u16(64, unit)
        .put_u16(66, unit)
        .put_u16(68, unit)
        .put_u16(70, unit)
        .put_u16(72, unit)
        // Neither NGUID nor EUI64: each has the number of the company that makes the drive, and there is none.
        .put_u8(130, sector_bytes.trailing_zeros() as u8)
}

/// A UUID that no drive of another name has: version 8 of RFC 9562, whose other bits are the maker's own.
fn unique(identity: &Identity) -> [u8; 16] {
    let halves = [b"first", b"other"].map(|salt| {
        let text = [salt.as_slice(), identity.qualified_name.as_bytes()].concat();
        u64::from(crc32c::crc32c(&text)) << 32 | u64::from(crc32c::crc32c_append(!0, &text))
    });
    let [first, other] = halves.map(u128::from);
    let version_and_variant = 0xF << 76 | 0b11 << 62;
    ((first << 64 | other) & !version_and_variant | 8 << 76 | 0b10 << 62).to_be_bytes()
}

/// The namespace's UUID, and that it is one of the NVM command set.
fn descriptors(identity: &Identity) -> Page {
    Page::new(BYTES).put(0, &[3, 16]).put(4, &unique(identity)).put(20, &[4, 1])
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::nvme::facts::example;
    use crate::nvme::fields::{text_at, u8_at, u16_at, u32_at, u64_at};

    fn ask(cns: u32, namespace: u32, kind: Kind) -> Result<Vec<u8>, Status> {
        let command = Submission { namespace, dwords: [cns, 0, 0, 0, 0, 0], ..Submission::read(&[0; 64]) };
        let identity = Identity {
            model: "ssdlab theory".into(),
            serial: "S1".into(),
            firmware: "1.0".into(),
            qualified_name: "nqn.x".into(),
        };
        identify(&command, kind, 5, &identity, &example())
    }

    /// The fields that hosts read first, at their offsets.
    #[test]
    fn structures_by_hand() {
        let controller = ask(1, 0, Kind::Drive).unwrap();
        assert_eq!(text_at(&controller, 24, 40).trim_end(), "ssdlab theory");
        assert_eq!((u16_at(&controller, 78), u8_at(&controller, 111), u32_at(&controller, 516)), (5, 1, 1));
        assert_eq!((u32_at(&controller, 1792), u8_at(&controller, 525)), (516, 7));
        assert_eq!((u16_at(&controller, 526), u16_at(&controller, 528)), (31, 31), "16 KiB, from zero on");
        let namespace = ask(0, 1, Kind::Drive).unwrap();
        assert_eq!((u64_at(&namespace, 0), u64_at(&namespace, 16), u8_at(&namespace, 130)), (1 << 21, 1024, 9));
        assert_eq!(u16_at(&namespace, 64), 7, "a unit of 4 KiB is eight sectors, from zero on");
        assert_eq!(u32_at(&ask(2, 0, Kind::Drive).unwrap(), 0), 1);
        assert_eq!(u32_at(&ask(2, 1, Kind::Drive).unwrap(), 0), 0);
        assert_eq!(namespace.get(104..128), Some([0; 24].as_slice()), "no NGUID, no EUI64");
        let told = ask(3, 1, Kind::Drive).unwrap();
        assert_eq!((u16_at(&told, 0), u16_at(&told, 20)), (0x1003, 0x0104), "a UUID, then the command set");
        assert_eq!((u8_at(&told, 10) >> 4, u8_at(&told, 12) >> 6), (8, 0b10), "version and variant");
        let discovery = ask(1, 0, Kind::Discovery).unwrap();
        assert_eq!((u8_at(&discovery, 111), text_at(&discovery, 768, 256).as_str()), (2, DISCOVERY));
    }

    /// Drives of two names have two UUIDs, and all controllers of one tell the same.
    #[test]
    fn a_uuid_is_one_drives() {
        let told = |controller, name: &str| {
            let identity = Identity { qualified_name: name.into(), ..Identity::default() };
            let command = Submission { namespace: 1, dwords: [3, 0, 0, 0, 0, 0], ..Submission::read(&[0; 64]) };
            identify(&command, Kind::Drive, controller, &identity, &example()).unwrap()
        };
        assert_eq!(told(1, "nqn.x"), told(2, "nqn.x"));
        let (one, other) = (told(1, "nqn.x"), told(1, "nqn.y"));
        assert!(one[4..12] != other[4..12] && one[12..20] != other[12..20]);
    }

    /// What there is not has its status.
    #[test]
    fn what_is_not_there() {
        assert_eq!(ask(0, 2, Kind::Drive), Err(Status::INVALID_NAMESPACE));
        assert_eq!(ask(0x7F, 1, Kind::Drive), Err(Status::INVALID_FIELD));
        assert_eq!(ask(0, 1, Kind::Discovery), Err(Status::INVALID_FIELD));
    }
}
