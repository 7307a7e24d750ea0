//! Log pages: Base Specification 2.0, section 5.16.1; page C0h of the OCP Datacenter NVMe SSD Specification 2.0.
//!
//! Every value is the model's. What it does not have, and nobody has said (temperature, hours of power, power cycles;
//! busy time), is zero, which the pages define as not reported or as never.

use super::command::Submission;
use super::fabric::MOST_ENTRIES;
use super::facts::{Facts, Identity, Namespace};
use super::fields::Page;
use super::status::Status;
use ssdlab_device::ssd::health::{SPARE_THRESHOLD_PERCENT, kelvin};
use ssdlab_device::ssd::past::{Errors, MOST_ERRORS, MOST_SELF_TESTS, Past, Sanitize, SanitizeState, SelfTest};

const ERRORS: u8 = 0x01;
const HEALTH: u8 = 0x02;
const FIRMWARE: u8 = 0x03;
const EFFECTS: u8 = 0x05;
const SELF_TESTS: u8 = 0x06;
const DISCOVERY: u8 = 0x70;
const SANITIZE: u8 = 0x81;
/// The page of the OCP specification.
pub const OCP_HEALTH: u8 = 0xC0;

/// Bytes of a log that one command reads at most.
const MOST_BYTES: u64 = 1 << 20;
/// A data unit of the health log.
const UNIT_BYTES: u64 = 512_000;
const LARGEST_PERCENTAGE: u32 = 255;
const OCP_GUID: [u8; 16] =
    [0xC5, 0xAF, 0x10, 0x28, 0xEA, 0xBF, 0xF2, 0xA4, 0x9C, 0x4F, 0x6F, 0x7C, 0xC9, 0x14, 0xD5, 0xAF];

/// Where a host finds the drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Address, without the port.
    pub address: String,
    /// Port.
    pub port: u16,
    /// It is of the sixth version of the internet protocol.
    pub is_v6: bool,
}

/// The page tells what hosts did to the drive.
pub fn tells_past(page: u8) -> bool {
    matches!(page, ERRORS | HEALTH | SELF_TESTS | SANITIZE)
}

/// The part of a log that is asked for.
///
/// # Errors
/// There is no such log, or nothing there.
pub fn read(
    command: &Submission,
    identity: &Identity,
    facts: &Facts,
    past: &Past,
    threshold: u16,
    place: Option<&Place>,
) -> Result<Vec<u8>, Status> {
    let page = match (command.dword(10) as u8, place) {
        (DISCOVERY, Some(place)) => discovery(identity, place),
        (_, Some(_)) => return Err(Status::INVALID_LOG_PAGE),
        (ERRORS, _) => errors(&past.errors),
        (HEALTH, _) => health(facts, past, threshold),
        (FIRMWARE, _) => Page::new(512).put_u8(0, 1).put_text(8, 8, b' ', &identity.firmware),
        (EFFECTS, _) => effects(facts),
        (SELF_TESTS, _) => self_tests(past),
        (SANITIZE, _) => sanitize(past),
        (OCP_HEALTH, _) => ocp_health(facts),
        _ => return Err(Status::INVALID_LOG_PAGE),
    };
    part(command, page.bytes())
}

/// A part of a page, with zeroes behind its end.
fn part(command: &Submission, page: Vec<u8>) -> Result<Vec<u8>, Status> {
    let dwords = u64::from(command.dword(10) >> 16) | u64::from(command.dword(11) & 0xFFFF) << 16;
    let length = 4 * (dwords + 1);
    let offset = u64::from(command.dword(12)) | u64::from(command.dword(13)) << 32;
    let begins = usize::try_from(offset).ok().filter(|begins| *begins <= page.len() && offset % 4 == 0);
    let rest = begins.and_then(|begins| page.get(begins..)).ok_or(Status::INVALID_FIELD)?;
    if length > MOST_BYTES {
        return Err(Status::INVALID_FIELD);
    }
    let mut part = vec![0; length as usize];
    part.iter_mut().zip(rest).for_each(|(byte, page)| *byte = *page);
    Ok(part)
}

/// See [`Health::critical_warning`](ssdlab_device::ssd::health::Health::critical_warning).
pub fn warnings(facts: &Facts, too_hot_kelvin: u16) -> u8 {
    facts.health.critical_warning(&facts.signs, facts.is_poisoned, too_hot_kelvin)
}

fn errors(errors: &Errors) -> Page {
    errors.entries.iter().enumerate().fold(Page::new(64 * MOST_ERRORS), |page, (place, failed)| {
        let at = 64 * place;
        page.put_u64(at, failed.number)
            .put_u16(at + 8, failed.queue)
            .put_u16(at + 10, failed.command)
            .put_u16(at + 12, failed.status)
            // No parameter is named.
            .put_u16(at + 14, 0xFFFF)
            .put_u64(at + 16, failed.sector)
            .put_u32(at + 24, Namespace::ID)
    })
}

fn self_tests(past: &Past) -> Page {
    const NOT_USED: u8 = 0x0F;
    const FAILED: u8 = 7;
    let of = |test: &SelfTest| test.code << 4 | if test.passed { 0 } else { FAILED };
    let kept = (0..MOST_SELF_TESTS).map(|place| past.self_tests.get(place).map_or(NOT_USED, of));
    let page = Page::new(4 + 28 * MOST_SELF_TESTS);
    kept.enumerate().fold(page, |page, (place, told)| page.put_u8(4 + 28 * place, told))
}

fn sanitize(past: &Past) -> Page {
    const NOT_UNDER_WAY: u16 = 0xFFFF;
    let (progress, status, asked) = match past.sanitize {
        None => (NOT_UNDER_WAY, 0, 0),
        Some(Sanitize { asked, state: SanitizeState::Done }) => (NOT_UNDER_WAY, 1, asked),
        Some(Sanitize { asked, state: SanitizeState::UnderWay(progress) }) => {
            (progress.parts().unwrap_or(NOT_UNDER_WAY), 2, asked)
        }
        Some(Sanitize { asked, state: SanitizeState::Failed }) => (NOT_UNDER_WAY, 3, asked),
    };
    // Times are not told in advance.
    let page = Page::new(512).put_u16(0, progress).put_u16(2, status).put_u32(4, asked);
    [8, 12, 16, 20, 24, 28].into_iter().fold(page, |page, at| page.put_u32(at, u32::MAX))
}

fn health(facts: &Facts, past: &Past, threshold: u16) -> Page {
    let counters = &facts.counters;
    Page::new(512)
        .put_u8(0, warnings(facts, threshold))
        .put_u16(1, facts.signs.celsius.map_or(0, kelvin))
        .put_u8(3, facts.health.spare_percent.min(100) as u8)
        .put_u8(4, SPARE_THRESHOLD_PERCENT as u8)
        .put_u8(5, facts.health.used_percent.min(LARGEST_PERCENTAGE) as u8)
        .put_u64(32, counters.host_bytes_read.div_ceil(UNIT_BYTES))
        .put_u64(48, counters.host_bytes_written.div_ceil(UNIT_BYTES))
        .put_u64(64, counters.host_reads)
        .put_u64(80, counters.host_writes)
        .put_u64(112, facts.signs.power_cycles.unwrap_or(0))
        .put_u64(128, facts.signs.power_on_hours.unwrap_or(0))
        .put_u64(144, counters.unsafe_shutdowns)
        .put_u64(160, counters.uncorrectable_reads)
        .put_u64(176, past.errors.count)
}

/// What the model does not have (retraining of a link, throttling, soft errors) has not happened. Capacitors are whole
/// or have failed; a drive without any says so with all bits.
fn ocp_health(facts: &Facts) -> Page {
    let (counters, health) = (&facts.counters, &facts.health);
    let capacitors = match (facts.has_capacitors, facts.signs.capacitor_failed) {
        (true, failed) => 100 * u16::from(!failed),
        (false, _) => u16::MAX,
    };
    Page::new(512)
        .put_u64(0, counters.nand_bytes_written)
        .put_u64(16, counters.nand_pages_read * u64::from(facts.namespace.unit_bytes))
        .put_u64(32, health.bad_blocks & 0xFFFF_FFFF_FFFF | u64::from(health.spare_percent.min(100)) << 48)
        .put_u64(56, counters.uncorrectable_reads)
        .put_u32(88, health.most_erases)
        .put_u32(92, health.least_erases)
        .put_u32(112, counters.unsafe_shutdowns.min(u32::MAX.into()) as u32)
        .put_u8(120, health.free_percent.min(100) as u8)
        .put_u16(128, capacitors)
        .put_u64(136, counters.read_modify_writes)
        .put_u64(152, facts.used_sectors)
        .put_u64(176, health.endurance_bytes)
        .put_u16(494, 3)
        .put(496, &OCP_GUID)
}

/// Which commands there are, and which of them change what is stored.
fn effects(facts: &Facts) -> Page {
    const SUPPORTED: u32 = 1;
    const CHANGES_DATA: u32 = 1 << 1;
    const ALONE: u32 = 3 << 16;
    let admin = [0x02, 0x06, 0x08, 0x09, 0x0A, 0x0C, 0x14, 0x18].map(|opcode| (opcode, SUPPORTED));
    let erasing = [0x80, 0x84].map(|opcode| (opcode, SUPPORTED | CHANGES_DATA | ALONE));
    let reading = [0x00, 0x02, 0x05, 0x0C].map(|opcode| (256 + opcode, SUPPORTED));
    let writing = [0x01, 0x04, 0x08].map(|opcode| (256 + opcode, SUPPORTED | CHANGES_DATA));
    let trimming = facts.namespace.trims.then_some((256 + 0x09, SUPPORTED | CHANGES_DATA));
    let all = admin.into_iter().chain(erasing).chain(reading).chain(writing).chain(trimming);
    all.fold(Page::new(4096), |page, (number, effects)| page.put_u32(4 * number, effects))
}

/// One record: the drive, where it was asked.
fn discovery(identity: &Identity, place: &Place) -> Page {
    const RECORD: usize = 1024;
    const TCP: u8 = 3;
    const NVM_SUBSYSTEM: u8 = 2;
    Page::new(2 * RECORD)
        .put_u64(0, 1)
        .put_u64(8, 1)
        .put(RECORD, &[TCP, if place.is_v6 { 2 } else { 1 }, NVM_SUBSYSTEM])
        .put_u16(RECORD + 4, 1)
        .put_u16(RECORD + 6, 0xFFFF)
        .put_u16(RECORD + 8, MOST_ENTRIES)
        .put_text(RECORD + 32, 32, b' ', &place.port.to_string())
        .put_text(RECORD + 256, 256, 0, &identity.qualified_name)
        .put_text(RECORD + 512, 256, b' ', &place.address)
}

#[cfg(test)]
mod test;
