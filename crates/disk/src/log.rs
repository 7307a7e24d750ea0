//! A log of what was done to a drive: enough to do it again to the nanosecond, without its bytes.
//!
//! ```text
//! ssdlab log 1
//! write 1200 8 16 fua    at 1200 ns of the drive's clock, 16 sectors from sector 8; also read, trim, write_zeroes, flush
//! live never 51200 0 1   lived on, with no end given, until 51200 ns, when the commands with the tags 0 and 1 ended
//! faults lying shorn     armed from now on, and no others
//! spoil 8 9              sectors that cannot be read, the end left out
//! start-over trim
//! age cycles=500         as after a life before: see `aging`
//! put-away               buffers and open blocks as before a checkpoint
//! cut 7                  lost its power; the seed draws what that takes
//! end restored           what came after is not in the log
//! ```
//! The drive itself writes it, so that whoever orders commands has ordered the log, too. A log that cannot be written ends;
//! the drive goes on.

use crate::aging::Aging;
use crate::power::{Fault, Faults};
use ssdlab_device::block::{Operation, Request};
use ssdlab_device::parameter::{Raw, Value as _};
use ssdlab_device::ssd::admin::StartOver;
use ssdlab_device::ssd::power_states::PowerState;
use ssdlab_device::units::{Lba, Nanos};
use std::fmt;
use std::io::{self, Write};
use std::ops::Range;
use std::str::FromStr;

/// What every log begins with.
pub const HEAD: &str = "ssdlab log 1";

/// Something that was done to a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A command was handed over.
    Submit(Nanos, Request),
    /// It lived on.
    Live {
        /// To then at the latest.
        to: Nanos,
        /// Until then.
        at: Nanos,
        /// Tags of the commands that ended, in order.
        ended: Vec<u32>,
    },
    /// Faults were armed.
    Arm(Faults),
    /// Sectors were made unreadable.
    Spoil(Range<u64>),
    /// It started over.
    StartOver(StartOver),
    /// It lived before.
    Age(Aging),
    /// A host let it enter a power state.
    Enter(PowerState),
    /// It was made ready to be kept.
    PutAway,
    /// Its power was cut, with this seed.
    Cut(u64),
    /// The log ends, though the drive goes on.
    End(String),
}

fn name_of(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "read",
        Operation::Write => "write",
        Operation::Trim => "trim",
        Operation::WriteZeroes => "write_zeroes",
        Operation::Flush => "flush",
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Submit(at, request) => {
                let fua = if request.fua { " fua" } else { "" };
                write!(to, "{} {} {} {}{fua}", name_of(request.operation), at.0, request.lba.0, request.sectors)
            }
            Entry::Live { to: until, at, ended } => {
                match *until {
                    Nanos::NEVER => write!(to, "live never {}", at.0)?,
                    until => write!(to, "live {} {}", until.0, at.0)?,
                }
                ended.iter().try_for_each(|tag| write!(to, " {tag}"))
            }
            Entry::Arm(faults) => {
                to.write_str("faults")?;
                let armed = Fault::ALL.into_iter().filter(|fault| faults.has(*fault));
                armed.into_iter().try_for_each(|fault| write!(to, " {}", fault.name()))
            }
            Entry::Spoil(sectors) => write!(to, "spoil {} {}", sectors.start, sectors.end),
            Entry::StartOver(how) => write!(to, "start-over {}", how.show()),
            Entry::Age(aging) => write!(to, "age {aging}"),
            Entry::Enter(state) => write!(to, "enter {}", state.show()),
            Entry::PutAway => to.write_str("put-away"),
            Entry::Cut(seed) => write!(to, "cut {seed}"),
            Entry::End(why) => write!(to, "end {why}"),
        }
    }
}

/// A line that is no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoEntry;

impl FromStr for Entry {
    type Err = NoEntry;

    fn from_str(line: &str) -> Result<Entry, NoEntry> {
        fn number<T: FromStr>(word: Option<&str>) -> Result<T, NoEntry> {
            word.and_then(|word| word.parse().ok()).ok_or(NoEntry)
        }
        let mut words = line.split(' ');
        let entry = match words.next() {
            Some("live") => Entry::Live {
                to: match words.next() {
                    Some("never") => Nanos::NEVER,
                    word => Nanos(number(word)?),
                },
                at: Nanos(number(words.next())?),
                ended: words.by_ref().map(|word| number(Some(word))).collect::<Result<_, _>>()?,
            },
            Some("faults") => Entry::Arm(
                words.by_ref().map(|name| name.parse::<Fault>().map_err(|_| NoEntry)).collect::<Result<_, _>>()?,
            ),
            Some("spoil") => Entry::Spoil(number(words.next())?..number(words.next())?),
            Some("start-over") => {
                let how = words.next().ok_or(NoEntry)?;
                Entry::StartOver(StartOver::read(&Raw::Text(how.into())).ok_or(NoEntry)?)
            }
            Some("age") => {
                let rest = words.by_ref().collect::<Vec<_>>().join(" ");
                Entry::Age(rest.parse().map_err(|_| NoEntry)?)
            }
            Some("enter") => {
                let state = words.next().ok_or(NoEntry)?;
                Entry::Enter(PowerState::read(&Raw::Text(state.into())).ok_or(NoEntry)?)
            }
            Some("put-away") => Entry::PutAway,
            Some("cut") => Entry::Cut(number(words.next())?),
            Some("end") => Entry::End(words.by_ref().collect::<Vec<_>>().join(" ")),
            Some(name) => {
                let all =
                    [Operation::Read, Operation::Write, Operation::Trim, Operation::WriteZeroes, Operation::Flush];
                let operation = all.into_iter().find(|operation| name_of(*operation) == name).ok_or(NoEntry)?;
                let at = Nanos(number(words.next())?);
                let request = Request::new(operation, Lba(number(words.next())?), number(words.next())?);
                let fua = match words.next() {
                    None => false,
                    Some("fua") => true,
                    Some(_) => return Err(NoEntry),
                };
                Entry::Submit(at, Request { fua, ..request })
            }
            None => return Err(NoEntry),
        };
        words.next().is_none().then_some(entry).ok_or(NoEntry)
    }
}

/// Where a drive writes what is done to it.
pub struct Log {
    to: Box<dyn Write + Send>,
    error: Option<String>,
}

impl Log {
    /// Begins a log.
    ///
    /// # Errors
    /// What the host's storage says.
    pub fn new(mut to: Box<dyn Write + Send>) -> io::Result<Log> {
        writeln!(to, "{HEAD}").and_then(|()| to.flush())?;
        Ok(Log { to, error: None })
    }

    /// Why it has ended, if so.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Adds an entry; cuts and ends are there at once.
    pub(crate) fn note(&mut self, entry: &Entry) {
        if self.error.is_some() {
            return;
        }
        let mut written = writeln!(self.to, "{entry}");
        if matches!(entry, Entry::Cut(_) | Entry::End(_)) {
            written = written.and_then(|()| self.to.flush());
        }
        self.error = written.err().map(|error| error.to_string());
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// What is written is read.
    #[test]
    fn entries_are_read_as_written() {
        let write = Request { fua: true, ..Request::new(Operation::Write, Lba(8), 16) };
        let all = [
            (Entry::Submit(Nanos(1200), write), "write 1200 8 16 fua"),
            (Entry::Submit(Nanos(0), Request::new(Operation::Flush, Lba(0), 0)), "flush 0 0 0"),
            (Entry::Live { to: Nanos::NEVER, at: Nanos(7), ended: vec![3, 0] }, "live never 7 3 0"),
            (Entry::Live { to: Nanos(9), at: Nanos(9), ended: vec![] }, "live 9 9"),
            (Entry::Arm([Fault::Shorn, Fault::Lying].into_iter().collect()), "faults shorn lying"),
            (Entry::Arm(Faults::default()), "faults"),
            (Entry::Spoil(8..9), "spoil 8 9"),
            (Entry::StartOver(StartOver::CryptoErase), "start-over crypto-erase"),
            (Entry::Age(Aging { cycles: Some(500), ..Aging::default() }), "age cycles=500"),
            (Entry::Enter(PowerState::Sleep), "enter sleep"),
            (Entry::PutAway, "put-away"),
            (Entry::Cut(u64::MAX), "cut 18446744073709551615"),
            (Entry::End("restored as it was".into()), "end restored as it was"),
        ];
        for (entry, line) in all {
            assert_eq!(entry.to_string(), line);
            assert_eq!(line.parse(), Ok(entry));
        }
        for line in
            ["", "write", "write 1 2", "write 1 2 3 4", "cut", "cut -1", "cut 1 2", "live 1", "faults x", "put-away 1"]
        {
            assert_eq!(line.parse::<Entry>(), Err(NoEntry), "{line}");
        }
    }
}
