//! What an admin queue answers: Base Specification 2.0, section 5.
//!
//! Format and sanitize ask for more than this module can do: the drive starts over, which its owner does.
//!
//! | command | the drive |
//! |---|---|
//! | Format NVM, no secure erase | trims all, or erases where it knows no trim |
//! | Format NVM, user data erase; sanitize, block erase | erases all blocks |
//! | Format NVM, cryptographic erase; sanitize, crypto erase | throws the key away |
//! | sanitize, overwrite | programs and erases all blocks, as often as there are passes |
//!
//! A sanitize goes on behind the end of its command, for as long as the drive takes; until then nothing is read or written.
//!
//! All of them leave the drive deallocated, or full of noise: a sanitize that shall not deallocate is refused, as
//! Identify says, and so the pattern of an overwrite is never read.
//!
//! Left out: namespace management, firmware download, directives.

use super::command::Submission;
use super::fabric::Properties;
use super::facts::{Facts, Identity};
use super::features::{Features, POWER_MANAGEMENT, feature, refuse_saving};
use super::identify::{Kind, identify};
use super::logs::{self, Place, warnings};
use super::status::Status;
use ssdlab_device::ssd::admin::StartOver;
use ssdlab_device::ssd::past::{Past, SanitizeState};
use ssdlab_device::ssd::power_states::PowerState;

const GET_LOG_PAGE: u8 = 0x02;
const IDENTIFY: u8 = 0x06;
const ABORT: u8 = 0x08;
const SET_FEATURES: u8 = 0x09;
const GET_FEATURES: u8 = 0x0A;
const EVENT_REQUEST: u8 = 0x0C;
const SELF_TEST: u8 = 0x14;
const KEEP_ALIVE: u8 = 0x18;
const FORMAT: u8 = 0x80;
const SANITIZE: u8 = 0x84;

/// Event requests that a controller holds.
const MOST_EVENTS: usize = 4;
/// The event log page of a warning: health; the kind of event: SMART.
const HEALTH_EVENT: u32 = 1 | 0x02 << 16;

/// The answer tells how much of the drive is used.
pub fn tells_use(command: &Submission) -> bool {
    match command.opcode {
        IDENTIFY => command.dword(10) as u8 == 0,
        GET_LOG_PAGE => command.dword(10) as u8 == logs::OCP_HEALTH,
        _ => false,
    }
}

/// The command changes what the drive remembers of its hosts, or its answer tells that.
pub fn touches_past(command: &Submission) -> bool {
    match command.opcode {
        GET_LOG_PAGE => logs::tells_past(command.dword(10) as u8),
        SELF_TEST | SANITIZE => true,
        _ => false,
    }
}

/// What an admin command comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// It ends, with a result.
    End(u32),
    /// It ends with data.
    Data(Vec<u8>),
    /// It stays open until something happens.
    Held,
    /// It ends once the drive has entered a power state.
    Enter(PowerState),
    /// It ends once the drive has started over.
    StartOver(StartOver, Option<SanitizeAction>),
}

/// A sanitize, as its command asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SanitizeAction {
    /// Command dword 10, which the log tells.
    pub dword: u32,
    /// How often the drive starts over.
    pub passes: u32,
}

/// A controller: what one host has agreed with.
#[derive(Debug, Clone)]
pub struct Controller {
    /// Its number.
    pub id: u16,
    /// What it is for.
    pub kind: Kind,
    /// Its registers.
    pub properties: Properties,
    features: Features,
    /// Event requests that are open.
    held: Vec<u16>,
    /// Warnings that the host knows of.
    told: u8,
}

impl Controller {
    /// A controller that has just been connected.
    pub fn new(id: u16, kind: Kind, keep_alive_ms: u32) -> Controller {
        let features = Features::new(keep_alive_ms);
        Controller { id, kind, properties: Properties::default(), features, held: Vec::new(), told: 0 }
    }

    /// Within so many milliseconds the host shows that it is alive; 0 is for ever.
    pub fn keep_alive_ms(&self) -> u32 {
        self.features.keep_alive_ms()
    }

    /// A warning of which the host wants to hear and does not know yet: the command that it ends, and the result.
    pub fn event(&mut self, facts: &Facts) -> Option<(u16, u32)> {
        let now = warnings(facts, self.features.too_hot_kelvin());
        let is_new = now & !self.told & self.features.events() != 0;
        self.told &= now;
        if !is_new {
            return None;
        }
        let command = self.held.pop()?;
        self.told = now;
        // Reliability, or spare below its threshold.
        let information = if now & 1 != 0 { 2 } else { 0 };
        Some((command, HEALTH_EVENT | information << 8))
    }
}

/// What there is to know for an answer, and what may change by it.
pub struct Surroundings<'a> {
    /// What the drive is called.
    pub identity: &'a Identity,
    /// How it is.
    pub facts: &'a Facts,
    /// What was done to it.
    pub past: &'a mut Past,
    /// Its volatile cache is used.
    pub cache_is_on: &'a mut bool,
    /// Where the host has come to.
    pub place: &'a Place,
}

/// The answer to an admin command.
///
/// # Errors
/// The status that it ends with.
pub fn answer(command: &Submission, controller: &mut Controller, around: &mut Surroundings) -> Result<Answer, Status> {
    if command.is_fused() {
        return Err(Status::INVALID_FIELD);
    }
    let Surroundings { identity, facts, past, cache_is_on, place } = around;
    let has_cache = facts.has_volatile_cache;
    match command.opcode {
        GET_LOG_PAGE => {
            let place = (controller.kind == Kind::Discovery).then_some(*place);
            let threshold = controller.features.too_hot_kelvin();
            logs::read(command, identity, facts, past, threshold, place).map(Answer::Data)
        }
        IDENTIFY => identify(command, controller.kind, controller.id, identity, facts).map(Answer::Data),
        KEEP_ALIVE => Ok(Answer::End(0)),
        EVENT_REQUEST if controller.held.len() >= MOST_EVENTS => Err(Status::EVENT_LIMIT),
        EVENT_REQUEST => {
            controller.held.push(command.id);
            Ok(Answer::Held)
        }
        GET_FEATURES => {
            let cache = has_cache.then_some(**cache_is_on);
            controller.features.get(command, cache, facts.power.number()).map(Answer::End)
        }
        SET_FEATURES if feature(command) == POWER_MANAGEMENT && controller.kind == Kind::Drive => {
            refuse_saving(command)?;
            facts.power.asked(command).map(Answer::Enter)
        }
        SET_FEATURES => {
            let cache = if has_cache { Some(&mut **cache_is_on) } else { None };
            controller.features.set(command, cache).map(Answer::End)
        }
        _ if controller.kind == Kind::Discovery => Err(Status::INVALID_OPCODE),
        SELF_TEST | FORMAT | SANITIZE if past.is_sanitizing() => Err(Status::SANITIZE_IN_PROGRESS),
        // It has ended, or soon will: it was not aborted.
        ABORT => Ok(Answer::End(1)),
        SELF_TEST => self_test(command, facts, past),
        FORMAT => format(command, facts),
        SANITIZE => sanitize(command, past),
        _ => Err(Status::INVALID_OPCODE),
    }
}

/// A self-test looks whether the drive's storage works; it is over at once.
fn self_test(command: &Submission, facts: &Facts, past: &mut Past) -> Result<Answer, Status> {
    const ABORTS: u8 = 0x0F;
    match command.dword(10) as u8 & 0x0F {
        ABORTS => Ok(Answer::End(0)),
        code @ (1 | 2) => {
            past.note_self_test(code, !facts.is_poisoned && !facts.health.is_read_only);
            Ok(Answer::End(0))
        }
        _ => Err(Status::INVALID_FIELD),
    }
}

fn format(command: &Submission, facts: &Facts) -> Result<Answer, Status> {
    let asked = command.dword(10);
    // One format, without metadata or protection.
    if asked & 0x0F != 0 || asked >> 4 & 0x1F != 0 {
        return Err(Status::INVALID_FORMAT);
    }
    let how = match asked >> 9 & 7 {
        0 if facts.namespace.trims => StartOver::Trim,
        0 | 1 => StartOver::SecureErase,
        2 => StartOver::CryptoErase,
        _ => return Err(Status::INVALID_FIELD),
    };
    Ok(Answer::StartOver(how, None))
}

fn sanitize(command: &Submission, past: &mut Past) -> Result<Answer, Status> {
    const EXIT_FAILURE_MODE: u32 = 1;
    const BLOCK_ERASE: u32 = 2;
    const OVERWRITE: u32 = 3;
    const CRYPTO_ERASE: u32 = 4;
    const MOST_PASSES: u32 = 16;
    let dword = command.dword(10);
    let keeps_allocated = dword >> 9 & 1 != 0;
    let how = match dword & 7 {
        EXIT_FAILURE_MODE => {
            past.sanitize = past.sanitize.filter(|sanitize| sanitize.state != SanitizeState::Failed);
            return Ok(Answer::End(0));
        }
        _ if keeps_allocated => return Err(Status::INVALID_FIELD),
        BLOCK_ERASE => StartOver::SecureErase,
        OVERWRITE => StartOver::Overwrite,
        CRYPTO_ERASE => StartOver::CryptoErase,
        _ => return Err(Status::INVALID_FIELD),
    };
    let passes = match (how, dword >> 4 & 0x0F) {
        (StartOver::Overwrite, 0) => MOST_PASSES,
        (StartOver::Overwrite, passes) => passes,
        _ => 1,
    };
    Ok(Answer::StartOver(how, Some(SanitizeAction { dword, passes })))
}

#[cfg(test)]
mod test;
