//! A drive with bytes: requests come with their payload, time is handed in, power can be cut between any two events.
//!
//! ```text
//! submit(now, request, bytes) ─► advance(to) ─► Done { request, outcome, bytes }
//!                            power_cut(seed) ─► Cut { losses, dropped }
//! ```
//! What a cut may take is what the host was not promised: writes that no flush, FUA or protected buffer covers.
//! Of a row under program the seed draws whether it is whole. After a cut the drive is on again.

use crate::aging::Aging;
use crate::image::cut::Struck;
use crate::image::{Held, Image, Mutant, Payload, Sizes};
use crate::log::{Entry, Log};
use crate::losses::{Cut, Loss, Taken, What};
use crate::medium::Medium;
use crate::power::{Armed, Draws, Fault, Faults};
use crate::promises::Promises;
use crate::since::Since;
use rangemap::RangeSet;
use ssdlab_device::block::{Completion, Device, Limits, Operation, Request, Status, Tag};
use ssdlab_device::config::DriveConfig;
use ssdlab_device::counters::Counters;
use ssdlab_device::parameter::Problem;
use ssdlab_device::sim::slots::Slots;
use ssdlab_device::ssd::Ssd;
use ssdlab_device::ssd::admin::{Refused, StartOver};
use ssdlab_device::ssd::power_states::PowerState;
use ssdlab_device::ssd::signs::Signs;
use ssdlab_device::units::{Lpn, Nanos};
use std::collections::BTreeSet;
use std::ops::Range;
use thiserror::Error;

/// What an acknowledged promise outlives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durable {
    /// The end of the process: the host's kernel has the bytes.
    #[default]
    Process,
    /// A loss of the host's power: its storage is synced before the answer.
    Host,
}

/// Why a command failed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Failure {
    /// A sector cannot be read.
    #[error("a sector cannot be read (media error)")]
    MediaError,
    /// The drive is read-only.
    #[error("the drive is read-only because its spare is used up")]
    WriteProtected,
    /// It reaches beyond the drive.
    #[error("the request reaches beyond the end of the drive")]
    OutOfRange,
    /// The host's storage failed once; nothing is promised any more.
    #[error("the storage under the drive failed: {0}; mend it and open the drive again")]
    Poisoned(String),
    /// The drive does not start over.
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// A command that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Its name.
    pub tag: Tag,
    /// What it was.
    pub request: Request,
    /// How it ended.
    pub outcome: Result<(), Failure>,
    /// What was read, or the buffer of the write.
    pub bytes: Vec<u8>,
}

/// The drive takes no more commands until one ends; these are the bytes that came with the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Busy(pub Vec<u8>);

/// A command under way.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    request: Request,
    /// Its number, of a write.
    write: u64,
}

/// A drive with bytes.
pub struct Disk<M: Medium> {
    ssd: Ssd<Image<M>>,
    now: Nanos,
    under_way: Slots<UnderWay>,
    writes: u64,
    durable: Durable,
    /// Answers that are due: empty but while it lives on.
    completions: Vec<Completion>,
    /// Commands that ended while another was waited for.
    ended: Vec<Done>,
    /// When counters are kept again, at the latest.
    counters_due: Nanos,
    /// What the host was promised, where faults are armed.
    promises: Option<Box<Promises>>,
    /// Where what is done to it is written.
    log: Option<Box<Log>>,
    /// Faults that were asked for.
    faults: Faults,
    /// What its log tells and the model does not have.
    signs: Signs,
}

/// A drive that is killed has forgotten at most so much of what it counted.
const COUNTERS_EVERY: Nanos = Nanos(1_000_000_000);

/// Sizes of the drive that a configuration describes.
pub fn sizes(config: &DriveConfig) -> Sizes {
    let sector_bytes = config.export.sector_bytes;
    Sizes {
        sector_bytes,
        unit_sectors: config.unit_bytes() as u32 / sector_bytes,
        capacity_bytes: config.export.capacity_bytes.0 / u64::from(sector_bytes) * u64::from(sector_bytes),
    }
}

/// The image of the drive that a configuration describes.
pub fn image<M: Medium>(config: &DriveConfig, medium: M) -> Image<M> {
    Image::new(medium, sizes(config), config.has_capacitors())
}

impl<M: Medium> Disk<M> {
    /// A drive fresh out of the box over a medium of zeroes.
    ///
    /// # Errors
    /// The key that makes the drive impossible.
    pub fn new(config: &DriveConfig, seed: u64, medium: M) -> Result<Disk<M>, Problem> {
        Ok(Disk::of(Ssd::new(config, seed, image(config, medium))?))
    }

    /// A drive that is there already, nothing under way.
    pub fn of(ssd: Ssd<Image<M>>) -> Disk<M> {
        let (under_way, durable) = (Slots::default(), Durable::Process);
        let (completions, ended, promises, log) = (Vec::new(), Vec::new(), None, None);
        let (now, counters_due) = (Nanos::ZERO, COUNTERS_EVERY);
        let (faults, signs) = (Faults::default(), Signs::default());
        Disk { ssd, now, under_way, writes: 0, durable, completions, ended, counters_due, promises, log, faults, signs }
    }

    /// The same drive over a medium that a later life of it wrote, of which `since` tells what is written: its map is
    /// brought in line with that.
    pub fn recovered(mut self, seed: u64, since: Since) -> Disk<M> {
        self.ssd.recover(since.to_map(seed));
        self.image().resume(since);
        self
    }

    /// The same drive after a later life of it, which counted so far and was not put away: counters never go back.
    pub fn not_put_away(mut self, counters: Option<&Counters>) -> Disk<M> {
        self.ssd.ftl.counters.go_on_from(counters);
        self
    }

    /// The same drive with sectors that cannot be read since a later life of it: the medium knows of them, and is not told
    /// of a part of them meanwhile.
    pub fn not_readable(mut self, sectors: RangeSet<u64>) -> Disk<M> {
        self.image().resume_bad(sectors);
        self
    }

    /// Sectors that cannot be read until they are written or trimmed: a media error.
    pub fn spoil(&mut self, sectors: Range<u64>) {
        self.note(|| Entry::Spoil(sectors.clone()));
        self.image().spoil(sectors);
        self.image().keep_account();
    }

    /// What its log tells and the model does not have.
    pub fn signs(&self) -> Signs {
        self.signs
    }

    /// Its log tells this from now on; with a failed capacitor the next cut takes its buffer.
    pub fn set_signs(&mut self, signs: Signs) {
        let has_changed = self.signs.capacitor_failed != signs.capacitor_failed;
        self.signs = signs;
        if has_changed {
            self.arm_faults();
        }
    }

    /// It has lived before.
    pub fn age(&mut self, aging: &Aging) {
        self.note(|| Entry::Age(*aging));
        self.set_signs(aging.signs(self.signs));
        let ftl = &mut self.ssd.ftl;
        ftl.flash.array.age(aging.cycles.unwrap_or(0));
        aging.count(&mut ftl.counters);
        ftl.lose_blocks(aging.blocks_to_lose(ftl.blocks_to_lose(), ftl.blocks_lost()));
    }

    /// A host lets it enter a power state; a command wakes it.
    pub fn enter_power_state(&mut self, state: PowerState) {
        self.note(|| Entry::Enter(state));
        self.ssd.enter_power_state(self.now, state);
    }

    /// The power state that it is in.
    pub fn power_state(&self) -> PowerState {
        self.ssd.power_state(self.now)
    }

    /// The same drive, which writes what is done to it into a log from now on; first what a checkpoint has not.
    pub fn logged(self, log: Log) -> Disk<M> {
        let mut disk = Disk { log: Some(Box::new(log)), ..self };
        for sectors in disk.image().bad_sectors().clone() {
            disk.note(|| Entry::Spoil(sectors));
        }
        disk
    }

    /// Why its log has ended, where it could not be written.
    pub fn log_error(&self) -> Option<&str> {
        self.log.as_ref()?.error()
    }

    /// Its log ends here, and says why.
    pub fn end_log(&mut self, why: &str) {
        self.note(|| Entry::End(why.into()));
        self.log = None;
    }

    #[inline]
    fn note(&mut self, entry: impl FnOnce() -> Entry) {
        if let Some(log) = &mut self.log {
            log.note(&entry());
        }
    }

    /// Buffers and open blocks are as before a checkpoint. Nothing may be under way.
    pub fn put_away(&mut self) {
        self.note(|| Entry::PutAway);
        self.ssd.put_away();
    }

    /// The same drive whose promises outlive what is said.
    pub fn durable(self, durable: Durable) -> Disk<M> {
        Disk { durable, ..self }
    }

    /// The same drive with faults: what they need to know is kept from now on.
    pub fn armed(mut self, faults: Faults) -> Disk<M> {
        self.arm(faults);
        self
    }

    /// Arms these faults from now on, and no others.
    pub fn arm(&mut self, faults: Faults) {
        self.note(|| Entry::Arm(faults));
        self.faults = faults;
        self.arm_faults();
    }

    /// Those that were asked for, and a capacitor that has failed with age.
    fn arm_faults(&mut self) {
        let faults = if self.signs.capacitor_failed { self.faults.and(Fault::Capacitor) } else { self.faults };
        let (geometry, limits) = (self.ssd.ftl.geometry, self.limits().clone());
        match self.image().armed() {
            _ if faults.is_none() => {
                self.promises = None;
                self.image().arm(None);
            }
            Some(armed) => armed.change(faults),
            None => {
                self.promises = Some(Box::new(Promises::new(&limits)));
                self.image().arm(Some(Box::new(Armed::new(faults, geometry))));
            }
        }
    }

    /// Capacity, sector, what a trim must cover, whether the buffer is volatile.
    pub fn limits(&self) -> &Limits {
        self.ssd.limits()
    }

    /// The instant that it has lived to.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// The drive below, whose state tells what it is like.
    pub fn ssd(&mut self) -> &mut Ssd<Image<M>> {
        &mut self.ssd
    }

    /// What it has counted.
    pub fn counters(&mut self) -> Counters {
        self.ssd.counters()
    }

    /// Commands under way.
    pub fn outstanding(&self) -> usize {
        self.under_way.len()
    }

    /// Why it promises nothing any more, if so.
    pub fn poison(&self) -> Option<&str> {
        self.ssd.ftl.flash.contents.poison()
    }

    /// It refuses to be written.
    pub fn is_read_only(&self) -> bool {
        self.ssd.ftl.is_read_only()
    }

    fn image(&mut self) -> &mut Image<M> {
        &mut self.ssd.ftl.flash.contents
    }

    /// Hands over a request at `now`, which is not before any earlier call's time, with the bytes that a write brings or
    /// a read fills: as many as its sectors have, none for others.
    ///
    /// # Errors
    /// [`Busy`] where the queue is full; the request is not taken.
    ///
    /// # Panics
    /// Where the bytes are not as many as the request names.
    pub fn submit(&mut self, now: Nanos, request: Request, bytes: Vec<u8>) -> Result<Tag, Busy> {
        let is_write = matches!(request.operation, Operation::Write | Operation::WriteZeroes);
        if matches!(request.operation, Operation::Read | Operation::Write) {
            let wanted = u64::from(request.sectors) * u64::from(self.limits().sector_bytes);
            assert_eq!(bytes.len() as u64, wanted, "a payload has the bytes of its sectors");
        }
        if self.under_way.len() >= self.limits().queue_depth as usize {
            return Err(Busy(bytes));
        }
        self.writes += u64::from(is_write);
        let write = if is_write { self.writes } else { 0 };
        let tag = Tag(self.under_way.insert(UnderWay { request, write }));
        let is_atomic = bytes.len() as u64 <= self.ssd.config().export.atomic_write_bytes.0;
        self.image().begin(tag, Payload { bytes, write });
        if request.operation == Operation::Write && request.sectors > 0 && is_atomic {
            self.image().begin_atomic(write, request.lba.0, request.sectors);
        }
        self.now = self.now.max(now);
        let at = self.now;
        self.note(|| Entry::Submit(at, request));
        let lies = self.image().has(Fault::Lying) && self.limits().volatile_cache;
        self.promises.iter_mut().for_each(|promises| promises.submit(tag, &request, write));
        if request.operation == Operation::Flush && (lies || self.image().is(Mutant::FlushAtOnce)) {
            self.ssd.ftl.counters.host_flushes += u64::from(lies);
            self.completions.push(Completion { tag, status: Status::Success });
            return Ok(tag);
        }
        let asked = Request { fua: request.fua && !lies && !self.image().is(Mutant::FuaIgnored), ..request };
        self.ssd.submit(self.now, tag, asked).expect("the queue has room");
        Ok(tag)
    }

    /// Hands over a request and lives on until it ends; others that end meanwhile come with the next [`Disk::advance`].
    ///
    /// # Errors
    /// Why it failed.
    ///
    /// # Panics
    /// Where the queue is full, or the bytes are not as many as the request names.
    pub fn perform(&mut self, request: Request, bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
        let tag = self.submit(self.now, request, bytes).expect("the queue has room");
        let mut done = std::mem::take(&mut self.ended);
        loop {
            // One that ended before may have had the same tag.
            let before = done.len();
            self.advance(Nanos::NEVER, &mut done);
            if let Some(place) = done[before..].iter().position(|done| done.tag == tag) {
                let Done { outcome, bytes, .. } = done.remove(before + place);
                self.ended = done;
                return outcome.map(|()| bytes);
            }
        }
    }

    /// The number of the last write or write of zeroes that was submitted, counted from 1.
    pub fn last_write(&self) -> u64 {
        self.writes
    }

    /// When something happens next, if anything is under way.
    pub fn next_event(&self) -> Option<Nanos> {
        if self.completions.is_empty() && self.ended.is_empty() { self.ssd.next_event() } else { Some(self.now) }
    }

    /// Lives on until `to`, or until the first instant at which commands end; appends those and returns the instant.
    pub fn advance(&mut self, to: Nanos, done: &mut Vec<Done>) -> Nanos {
        if !self.ended.is_empty() {
            done.append(&mut self.ended);
            return self.now;
        }
        let mut completions = std::mem::take(&mut self.completions);
        if completions.is_empty() {
            self.now = self.ssd.advance(to, &mut completions);
        }
        let at = self.now;
        let ended = || completions.iter().map(|completion| completion.tag.0).collect();
        self.note(|| Entry::Live { to, at, ended: ended() });
        self.image().settle_or_fail();
        self.keep_account(&completions);
        self.sync_before_answers(&completions);
        done.extend(completions.drain(..).map(|completion| self.end(completion)));
        self.completions = completions;
        self.now
    }

    /// What a later life of the drive will ask for lies beside the bytes before the answers are given.
    fn keep_account(&mut self, completions: &[Completion]) {
        self.image().keep_account();
        let is_flush =
            |completion: &Completion| self.under_way.get(completion.tag.0).request.operation == Operation::Flush;
        if self.now >= self.counters_due || completions.iter().any(is_flush) {
            self.counters_due = self.now + COUNTERS_EVERY;
            let counters = self.ssd.ftl.counters;
            self.image().keep_counters(&counters);
        }
    }

    /// Where promises outlive the host's power, one sync for all that are answered now.
    fn sync_before_answers(&mut self, completions: &[Completion]) {
        let is_volatile = self.limits().volatile_cache;
        let promises = |completion: &Completion| {
            let request = self.under_way.get(completion.tag.0).request;
            request.fua || request.operation == Operation::Flush || request.operation.changes_data() && !is_volatile
        };
        if self.durable == Durable::Host
            && completions.iter().any(promises)
            && !self.ssd.ftl.flash.contents.is(Mutant::SyncAfterAnswer)
        {
            self.image().sync();
        }
    }

    fn end(&mut self, Completion { tag, status }: Completion) -> Done {
        let UnderWay { request, write } = self.under_way.remove(tag.0);
        let bytes = self.image().end(tag).bytes;
        let outcome = match (status, self.poison()) {
            (_, Some(error)) if request.operation != Operation::Read => Err(Failure::Poisoned(error.to_string())),
            (Status::Success, _) => Ok(()),
            (Status::MediaError, _) => Err(Failure::MediaError),
            (Status::WriteProtected, _) => Err(Failure::WriteProtected),
            (Status::OutOfRange, _) => Err(Failure::OutOfRange),
        };
        if outcome.is_err() {
            self.image().failed(write);
        }
        if self.promises.is_some() {
            self.note_end(tag, &request, write, outcome.is_ok());
        }
        Done { tag, request, outcome, bytes }
    }

    /// Where faults are armed: what the host has been promised now.
    #[cold]
    fn note_end(&mut self, tag: Tag, request: &Request, write: u64, is_done: bool) {
        let Some(promises) = &mut self.promises else { return };
        promises.complete(tag, request, write, is_done);
        if is_done && request.operation == Operation::Flush {
            let promises = &**promises;
            self.ssd.ftl.flash.contents.flushed(|lba, stands| promises.is_broken(lba, stands));
        }
    }

    /// The power fails now and comes back: what was under way is dropped, what nobody was promised may be gone. What has
    /// ended while another was waited for still comes with the next [`Disk::advance`].
    pub fn power_cut(&mut self, seed: u64) -> Cut {
        self.note(|| Entry::Cut(seed));
        let mut draws = Draws::new(seed);
        let under_way = self.under_way.numbers();
        let unacknowledged: BTreeSet<u64> = under_way.iter().map(|number| self.under_way.get(*number).write).collect();
        let promises = self.promises.as_deref();
        let is_broken = |lba, stands| promises.is_some_and(|promises| promises.is_broken(lba, stands));
        let Struck { mut taken, broken_off, undo_dropped } = self.ssd.ftl.flash.contents.cut(&mut draws, is_broken);
        let damaged: BTreeSet<Lpn> = broken_off.iter().flat_map(|row| self.ssd.ftl.units_below(row)).collect();
        damaged.into_iter().for_each(|lpn| self.image().damage(lpn.0, &mut taken));
        let losses = self.losses(taken, &unacknowledged);
        if let Some(promises) = &mut self.promises {
            let image = &self.ssd.ftl.flash.contents;
            promises.cut(losses.iter().map(|loss| (loss.lba, image.stands(loss.lba))));
        }
        let (now, is_volatile, fails) = (self.now, self.limits().volatile_cache, self.image().has(Fault::Capacitor));
        self.ssd.lose_power(now, |held: Held| !(is_volatile || fails && held.is_in_ram()));
        let dropped = under_way.iter().map(|number| (Tag(*number), self.under_way.get(*number).request)).collect();
        under_way.iter().for_each(|number| {
            self.image().end(Tag(*number));
        });
        self.under_way.clear();
        self.completions.clear();
        self.keep_account(&[]);
        Cut { losses, dropped, undo_dropped }
    }

    /// What was taken, beside what the host knows of each sector.
    fn losses(&self, taken: Vec<Taken>, unacknowledged: &BTreeSet<u64>) -> Vec<Loss> {
        let promises = self.promises.as_deref();
        let loss = |Taken { lba, write, what }| {
            let acknowledged = promises.and_then(|promises| promises.acknowledged(lba));
            let flushed = promises.and_then(|promises| promises.promised(lba));
            let write = if write == 0 { acknowledged.unwrap_or(0) } else { write };
            let was_acknowledged = write != 0 && !unacknowledged.contains(&write);
            let stands = self.ssd.ftl.flash.contents.stands(lba);
            let is_older = promises.is_some_and(|promises| promises.is_broken(lba, stands));
            let breaks_promise = is_older || matches!(what, What::Torn | What::Unreadable);
            Loss { lba, write, was_acknowledged, what, acknowledged, flushed, breaks_promise }
        };
        let mut losses: Vec<Loss> = taken.into_iter().map(loss).collect();
        // A unit may be unreadable for two reasons.
        losses.sort_unstable_by_key(|loss| (loss.lba, loss.what, std::cmp::Reverse(loss.write)));
        losses.dedup_by_key(|loss| (loss.lba, loss.what, if loss.what == What::Unreadable { 0 } else { loss.write }));
        losses.sort_unstable();
        losses
    }

    /// Starts over; returns the time that it takes. Nothing is left of the bytes.
    ///
    /// # Errors
    /// Where the drive is busy, read-only, or has no such command; nothing has happened then. Where the storage under it
    /// failed, now or before: bytes may be left.
    pub fn start_over(&mut self, how: StartOver) -> Result<Nanos, Failure> {
        let time = self.ssd.start_over(how)?;
        self.note(|| Entry::StartOver(how));
        self.image().wipe(how.empties());
        self.keep_account(&[]);
        if self.durable == Durable::Host {
            self.image().sync();
        }
        self.poison().map_or(Ok(time), |error| Err(Failure::Poisoned(error.to_string())))
    }
}

impl<M: Medium + Clone> Disk<M> {
    /// The same drive once more, with all that is under way, and without its log; `None` where its victim policy cannot be
    /// copied.
    pub fn copy(&self) -> Option<Disk<M>> {
        Some(Disk {
            ssd: self.ssd.copy()?,
            now: self.now,
            under_way: self.under_way.clone(),
            writes: self.writes,
            durable: self.durable,
            completions: self.completions.clone(),
            ended: self.ended.clone(),
            counters_due: self.counters_due,
            promises: self.promises.clone(),
            log: None,
            faults: self.faults,
            signs: self.signs,
        })
    }
}
