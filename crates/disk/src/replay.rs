//! Plays the log of a drive again, on the drive as it was when the log began: the same instants, the same ends, and the
//! same losses at its cuts.
//!
//! Whatever differs is told with its line: the log is of another drive, of another version, or was changed. The last line
//! is left out where its process was killed while it wrote it. Bytes play no part: all that is written is zeroes.

use crate::disk::{Disk, Done};
use crate::log::{Entry, HEAD};
use crate::losses::Cut;
use crate::medium::Medium;
use ssdlab_device::block::{Operation, Request};
use ssdlab_device::units::Nanos;
use std::io::{self, BufRead};
use thiserror::Error;

/// No line of a log is longer: all tags of a queue.
const MOST_LINE_BYTES: u64 = 1 << 20;
/// No command moves more.
const MOST_COMMAND_BYTES: u64 = 256 << 20;

/// No drive gets older, 146 years: what it does thereafter has still room in the numbers.
const LATEST: Nanos = Nanos(1 << 62);

/// Why a log cannot be played.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The host's storage.
    #[error("cannot be read: {0}\nsee to the file")]
    Storage(#[from] io::Error),
    /// Another kind of file.
    #[error(
        "is not a drive's log, or is from another version of ssdlab: its first line is not `{HEAD}`\nname the folder that `ssdlab serve --log` made"
    )]
    Foreign,
    /// A line that is none.
    #[error("line {0}: is no line of a log\nput the log back from a copy")]
    Unreadable(u64),
    /// The drive does something else.
    #[error(
        "line {line}: {what}\nthe log belongs to another drive, was written by another version of ssdlab, or was changed"
    )]
    Differs {
        /// Which line.
        line: u64,
        /// How.
        what: String,
    },
}

/// A cut that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedCut {
    /// Its seed.
    pub seed: u64,
    /// When it was, by the drive's clock.
    pub at: Nanos,
    /// What it took.
    pub cut: Cut,
}

/// What a log comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// The cuts, in order.
    pub cuts: Vec<PlayedCut>,
    /// Commands that were handed over.
    pub commands: u64,
    /// Why the log ends before the drive did, where it says so.
    pub ends: Option<String>,
}

/// Plays a log on the drive that it began with.
///
/// # Errors
/// Why it cannot be played to its end.
pub fn replay<M: Medium>(disk: &mut Disk<M>, mut log: impl BufRead) -> Result<Played, ReplayError> {
    let (mut played, mut line, mut number) = (Played::default(), Vec::new(), 0);
    loop {
        number += 1;
        line.clear();
        io::Read::take(&mut log, MOST_LINE_BYTES).read_until(b'\n', &mut line)?;
        let Some(whole) = line.strip_suffix(b"\n") else { break };
        let text = std::str::from_utf8(whole).map_err(|_| ReplayError::Unreadable(number))?;
        if number == 1 {
            (text == HEAD).then_some(()).ok_or(ReplayError::Foreign)?;
            continue;
        }
        let entry = text.parse().map_err(|_| ReplayError::Unreadable(number))?;
        play(disk, entry, &mut played).map_err(|what| ReplayError::Differs { line: number, what })?;
    }
    if number == 1 { Err(ReplayError::Foreign) } else { Ok(played) }
}

/// Does it again; how the drive takes it otherwise.
fn play<M: Medium>(disk: &mut Disk<M>, entry: Entry, played: &mut Played) -> Result<(), String> {
    if played.ends.is_some() {
        return Err("comes after the end".into());
    }
    match entry {
        Entry::Submit(at, request) => {
            played.commands += 1;
            submit(disk, at, request)?;
        }
        Entry::Live { to, at, ended } => live(disk, to, at, &ended)?,
        Entry::Arm(faults) => disk.arm(faults),
        Entry::Spoil(sectors) => {
            let most = disk.limits().sectors;
            let fits = sectors.start <= sectors.end && sectors.end <= most;
            fits.then(|| disk.spoil(sectors)).ok_or_else(|| format!("the drive has {most} sectors"))?;
        }
        Entry::StartOver(how) => drop(disk.start_over(how).map_err(|error| error.to_string())?),
        Entry::Age(aging) => disk.age(&aging),
        Entry::Enter(state) => disk.enter_power_state(state),
        Entry::PutAway if disk.outstanding() > 0 => return Err("commands are under way".into()),
        Entry::PutAway => disk.put_away(),
        Entry::Cut(seed) => {
            let at = disk.now();
            played.cuts.push(PlayedCut { seed, at, cut: disk.power_cut(seed) });
        }
        Entry::End(why) => played.ends = Some(why),
    }
    Ok(())
}

fn submit<M: Medium>(disk: &mut Disk<M>, at: Nanos, request: Request) -> Result<(), String> {
    let (sector_bytes, most) = (u64::from(disk.limits().sector_bytes), disk.limits().sectors);
    let bytes = u64::from(request.sectors) * sector_bytes;
    let moves = matches!(request.operation, Operation::Read | Operation::Write);
    if request.lba.0.checked_add(request.sectors.into()).is_none_or(|end| end > most) {
        return Err(format!("the drive has {most} sectors"));
    }
    if moves && bytes > MOST_COMMAND_BYTES {
        return Err(format!("moves {bytes} bytes at once"));
    }
    if at < disk.now() || at > LATEST {
        return Err(format!("is at {} ns, and the drive is at {} ns", at.0, disk.now().0));
    }
    let payload = if moves { vec![0; bytes as usize] } else { Vec::new() };
    disk.submit(at, request, payload).map(drop).map_err(|_| "the drive's queue is full".into())
}

fn live<M: Medium>(disk: &mut Disk<M>, to: Nanos, at: Nanos, ended: &[u32]) -> Result<(), String> {
    let mut done: Vec<Done> = Vec::new();
    if to > LATEST && to != Nanos::NEVER {
        return Err(format!("lives until {} ns, and the drive is at {} ns", to.0, disk.now().0));
    }
    let came_to = disk.advance(to, &mut done);
    let tags: Vec<u32> = done.iter().map(|done| done.tag.0).collect();
    if (came_to, tags.as_slice()) == (at, ended) {
        return Ok(());
    }
    Err(format!("{tags:?} ended at {} ns, and {ended:?} at {} ns by the log", came_to.0, at.0))
}
