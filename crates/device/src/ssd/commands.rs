//! Commands under way: those that are being carried out, those held back, and those whose answer is on its way.
//!
//! NCQ carries reads and writes, and since SATA 3.1 trims. A command that it does not carry waits until
//! the queue has drained, and what comes behind it waits for its end. On SATA that is every flush (FLUSH
//! CACHE EXT), and with `link.trim_queued = false` every trim. NVMe queues both.

use crate::block::{Operation, Request, Status, Tag};
use crate::config::DriveConfig;
use crate::config::drive::Protocol;
use crate::sim::slots::Slots;
use crate::ssd::endings::Endings;
use crate::units::Nanos;
use std::collections::VecDeque;

/// A command under way.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// The host's name for it.
    pub tag: Tag,
    /// What it asks for.
    pub request: Request,
    /// Flash operations, units or transfers still to come, and one until all of them are known.
    pub remaining: u32,
    /// Units already taken by the buffer.
    pub taken: u32,
    /// How it will end.
    pub status: Status,
}

impl Command {
    /// A command that has just come.
    #[inline(always)]
    pub fn new(tag: Tag, request: Request) -> Command {
        Command { tag, request, remaining: 1, taken: 0, status: Status::Success }
    }
}

/// All commands under way, by number.
#[derive(Clone, Debug)]
pub struct Commands {
    slots: Slots<Command>,
    /// The last instant that the drive lives through before the host looks what is done.
    pub host_looks_at: Nanos,
    /// Kept back behind one that is not queued, or until it may start, in order.
    held: VecDeque<u32>,
    /// The command that is not queued and under way.
    alone: Option<u32>,
    /// Operations that are not queued, each alone in the drive.
    goes_alone: [bool; Operation::COUNT],
    /// Those whose work is done, where that takes time.
    endings: Option<Endings>,
}

impl Commands {
    /// None, of a drive with these parameters.
    pub fn new(config: &DriveConfig, seed: u64) -> Commands {
        let goes_alone = operations_alone(config);
        Commands {
            slots: Slots::default(),
            host_looks_at: Nanos::ZERO,
            held: VecDeque::new(),
            alone: None,
            goes_alone,
            endings: Endings::new(config, seed),
        }
    }

    /// Commands that the host waits for.
    #[inline(always)]
    pub fn outstanding(&self) -> u32 {
        self.slots.len() as u32
    }

    /// A command.
    #[inline(always)]
    pub fn get(&self, number: u32) -> &Command {
        self.slots.get(number)
    }

    /// A command, to be changed.
    #[inline(always)]
    pub fn get_mut(&mut self, number: u32) -> &mut Command {
        self.slots.get_mut(number)
    }

    /// The numbers of all.
    pub fn numbers(&self) -> Vec<u32> {
        self.slots.numbers()
    }

    /// Keeps a command that has come.
    #[inline(always)]
    pub fn start(&mut self, command: Command) -> u32 {
        self.slots.insert(command)
    }

    /// A command ends with its work, and nothing waits for its end.
    #[inline(always)]
    pub fn has_plain_ends(&self) -> bool {
        self.endings.is_none() && self.none_waits()
    }

    /// No command is alone in the drive, and none is kept back.
    #[inline(always)]
    pub fn none_waits(&self) -> bool {
        self.alone.is_none() && self.held.is_empty()
    }

    /// The work of a command is done, and this is how it will end: then, or at once (none).
    #[inline(always)]
    pub fn begin_end(&mut self, now: Nanos, number: u32, status: Status) -> Option<Nanos> {
        let endings = self.endings.as_mut()?;
        let command = self.slots.get_mut(number);
        command.status = status;
        endings.begin(now, command.request.operation, number)
    }

    /// When the next of those ends.
    pub fn next_end(&self) -> Option<Nanos> {
        self.endings.as_ref().and_then(Endings::next_time)
    }

    /// The next of those.
    pub fn take_next_end(&mut self) -> Option<u32> {
        self.endings.as_mut().and_then(Endings::end_next)
    }

    /// A command has ended: those kept back behind it may start ([`Commands::release`]).
    #[inline(always)]
    pub fn end(&mut self, number: u32) -> Command {
        if self.alone == Some(number) {
            self.alone = None;
        }
        self.slots.remove(number)
    }

    /// As [`Commands::end`], where it has a plain end.
    #[inline(always)]
    pub fn end_plainly(&mut self, number: u32) -> Command {
        self.slots.remove(number)
    }

    /// A command has come: whether it is kept back for now.
    #[inline(always)]
    pub fn hold(&mut self, number: u32, operation: Operation) -> bool {
        let goes_alone = self.goes_alone[operation as usize];
        (goes_alone || !self.none_waits()) && self.is_held(number, goes_alone)
    }

    #[cold]
    fn is_held(&mut self, number: u32, goes_alone: bool) -> bool {
        let others = self.outstanding() - 1 - self.held.len() as u32;
        if self.alone.is_some() || !self.held.is_empty() || goes_alone && others > 0 {
            self.held.push_back(number);
            return true;
        }
        self.alone = goes_alone.then_some(number);
        false
    }

    /// The next command that was kept back and may start now, up to the next that has to be alone.
    pub fn release(&mut self) -> Option<u32> {
        if self.alone.is_some() {
            return None;
        }
        let number = *self.held.front()?;
        let goes_alone = self.goes_alone[self.get(number).request.operation as usize];
        if goes_alone && self.outstanding() > self.held.len() as u32 {
            return None;
        }
        self.held.pop_front();
        self.alone = goes_alone.then_some(number);
        Some(number)
    }

    /// Nothing is kept back: all end.
    pub fn forget_held(&mut self) {
        self.held.clear();
    }

    /// None is under way any more.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.held.clear();
        if let Some(endings) = &mut self.endings {
            endings.clear();
        }
        self.alone = None;
    }
}

/// Operations that the queue of the protocol does not carry: on SATA every flush, and some drives' trims.
fn operations_alone(config: &DriveConfig) -> [bool; Operation::COUNT] {
    let mut alone = [false; Operation::COUNT];
    alone[Operation::Trim as usize] = !config.link.trim_queued;
    alone[Operation::Flush as usize] = config.link.protocol != Protocol::Nvme;
    alone
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::units::Lba;

    /// Trims go alone, as on a drive without queued TRIM.
    fn commands() -> Commands {
        let mut goes_alone = [false; Operation::COUNT];
        goes_alone[Operation::Trim as usize] = true;
        Commands {
            slots: Slots::default(),
            host_looks_at: Nanos::ZERO,
            held: VecDeque::new(),
            alone: None,
            goes_alone,
            endings: None,
        }
    }

    /// Starts a command; says whether it is held.
    fn start(commands: &mut Commands, operation: Operation) -> (u32, bool) {
        let number = commands.start(Command::new(Tag(0), Request::new(operation, Lba(0), 8)));
        (number, commands.hold(number, operation))
    }

    /// Ends a command; returns those that may start then.
    fn end(commands: &mut Commands, number: u32) -> Vec<u32> {
        commands.end(number);
        std::iter::from_fn(|| commands.release()).collect()
    }

    /// A trim waits for the write before it; what comes behind it waits for the trim.
    #[test]
    fn a_command_that_is_not_queued_is_alone() {
        let mut commands = commands();
        let (write, held) = start(&mut commands, Operation::Write);
        assert!(!held);
        let (trim, held) = start(&mut commands, Operation::Trim);
        assert!(held);
        let (first, held) = start(&mut commands, Operation::Read);
        assert!(held);
        let (second, _) = start(&mut commands, Operation::Read);
        assert_eq!(end(&mut commands, write), [trim]);
        assert_eq!(end(&mut commands, trim), [first, second]);
        assert_eq!(commands.outstanding(), 2);
    }

    /// Two trims follow one another, and the second waits for the first.
    #[test]
    fn two_of_them_follow_one_another() {
        let mut commands = commands();
        let (first, held) = start(&mut commands, Operation::Trim);
        assert!(!held);
        let (second, held) = start(&mut commands, Operation::Trim);
        assert!(held);
        assert_eq!(end(&mut commands, first), [second]);
        assert_eq!(end(&mut commands, second), []);
        assert_eq!(commands.numbers(), []);
    }
}
