//! What all NVMe queues share: what the drive is called, who is connected, and what was done.
//!
//! A controller begins with its admin queue, and its I/O queues go with it. A loss of power ends all; hosts connect anew
//! once it is back.
//!
//! What the drive remembers lies in its folder before a host is told of it, so that it outlives the process, too.

use crate::clock::wall;
use crate::nvme::admin::{Answer, Controller, Surroundings, answer, touches_past};
use crate::nvme::command::Submission;
use crate::nvme::fabric::{ANY_CONTROLLER, Connect, DISCOVERY, Refusal};
use crate::nvme::facts::{Facts, Identity, Namespace};
use crate::nvme::features::MOST_QUEUES;
use crate::nvme::identify::Kind;
use crate::nvme::logs::Place;
use crate::nvme::power::Power;
use crate::nvme::status::Status;
use crate::sanitize::SanitizeOperation;
use crate::socket::Socket;
use ssdlab_device::ssd::past::{Errors, Past, Progress, Sanitize, SanitizeState};
use ssdlab_disk::Disk;
use ssdlab_disk::folder::FolderError;
use ssdlab_disk::medium::Medium;
use ssdlab_disk::nvme_logs::{keep_past, past_of};
use std::collections::BTreeMap;
use std::net::Shutdown;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A host that is connected.
struct Guest {
    controller: Controller,
    host: String,
    /// Of its queues.
    sockets: BTreeMap<u16, Arc<Socket>>,
}

#[derive(Default)]
struct Inside {
    last: u16,
    guests: BTreeMap<u16, Guest>,
    past: Past,
    /// The sanitize that is under way.
    operation: Option<SanitizeOperation>,
    cache_is_off: bool,
}

/// See the module.
pub struct Target {
    /// What the drive is called.
    pub identity: Identity,
    /// Commands that failed.
    pub errors: Arc<Mutex<Errors>>,
    inside: Mutex<Inside>,
    /// What lies in the drive's folder, and where that is.
    kept: Mutex<Past>,
    folder: Option<PathBuf>,
    /// A sanitize has begun, and nobody has seen its end.
    sanitizes: AtomicBool,
}

impl Target {
    /// Nobody is connected. What the drive remembers lies in its folder, if it has one.
    ///
    /// # Errors
    /// What lies there cannot be read.
    pub fn new(identity: Identity, folder: Option<PathBuf>) -> Result<Target, FolderError> {
        let target = Target {
            identity,
            errors: Arc::default(),
            inside: Mutex::default(),
            kept: Mutex::default(),
            folder,
            sanitizes: AtomicBool::new(false),
        };
        target.recall()?;
        target.power_on();
        Ok(target)
    }

    /// The drive remembers what lies in its folder, and nothing else; a sanitize goes on when the power is back.
    ///
    /// # Errors
    /// What lies there cannot be read.
    pub fn recall(&self) -> Result<(), FolderError> {
        let past = self.folder.as_deref().map(past_of).transpose()?.unwrap_or_default();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut inside = self.lock();
        inside.operation = match past.sanitize {
            Some(Sanitize { state: SanitizeState::UnderWay(progress), .. }) => {
                Some(SanitizeOperation::stands(progress))
            }
            _ => None,
        };
        self.sanitizes.store(inside.operation.is_some(), Ordering::Release);
        *self.errors.lock().unwrap_or_else(PoisonError::into_inner) = past.errors.clone();
        *kept = past.clone();
        inside.past = past;
        Ok(())
    }

    /// What the drive remembers lies in its folder, if it has one.
    ///
    /// # Errors
    /// The host's storage.
    pub fn keep(&self) -> Result<(), FolderError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        // Whoever comes later keeps what is newer.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let past = self.past(&mut self.lock()).clone();
        if past != *kept {
            keep_past(folder, &past)?;
            *kept = past;
        }
        Ok(())
    }

    /// What the drive remembers now.
    fn past<'a>(&self, inside: &'a mut Inside) -> &'a mut Past {
        self.look_at_sanitize(inside);
        inside.past.errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner).clone();
        &mut inside.past
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A host connects a queue; returns the number of its controller, and what that is for. It may have `most` of them.
    ///
    /// # Errors
    /// What the command ends with.
    pub fn connect(&self, wish: &Connect, socket: &Arc<Socket>, most: usize) -> Result<(u16, Kind), Refusal> {
        let kind = match wish.subsystem.as_str() {
            DISCOVERY => Kind::Discovery,
            name if name == self.identity.qualified_name => Kind::Drive,
            _ => return Err(Refusal::SUBSYSTEM),
        };
        let mut inside = self.lock();
        if wish.queue > 0 {
            return inside.join(wish, socket);
        }
        if wish.controller != ANY_CONTROLLER {
            return Err(Refusal::CONTROLLER);
        }
        let of_host = inside.guests.values().filter(|guest| guest.host == wish.host).count();
        let id = inside.number().filter(|_| of_host < most).ok_or(Status::CONNECT_BUSY)?;
        let controller = Controller::new(id, kind, wish.keep_alive_ms);
        let sockets = BTreeMap::from([(0, socket.clone())]);
        inside.guests.insert(id, Guest { controller, host: wish.host.clone(), sockets });
        Ok((id, kind))
    }

    /// The admin queue has ended, and with it the others of its controller.
    pub fn leave(&self, controller: u16) {
        if let Some(guest) = self.lock().guests.remove(&controller) {
            guest.sockets.values().for_each(|socket| socket.shut(Shutdown::Both));
        }
    }

    /// An I/O queue has ended.
    pub fn leave_queue(&self, controller: u16, queue: u16) {
        if let Some(guest) = self.lock().guests.get_mut(&controller) {
            guest.sockets.remove(&queue);
        }
    }

    /// Everybody is hung up on: the drive lost its power.
    pub fn hang_up(&self) {
        let mut inside = self.lock();
        inside.operation.iter_mut().for_each(|operation| operation.stop(wall()));
        let guests = std::mem::take(&mut inside.guests);
        drop(inside);
        guests.values().flat_map(|guest| guest.sockets.values()).for_each(|socket| socket.shut(Shutdown::Both));
    }

    /// Uses the registers and features of a controller; none where it is gone.
    pub fn with<R>(&self, controller: u16, use_it: impl FnOnce(&mut Controller) -> R) -> Option<R> {
        self.lock().guests.get_mut(&controller).map(|guest| use_it(&mut guest.controller))
    }

    /// The answer to an admin command of a controller.
    ///
    /// # Errors
    /// The status that it ends with.
    pub fn answer(&self, id: u16, command: &Submission, facts: &Facts, place: &Place) -> Result<Answer, Status> {
        let answered = self.answer_at_once(id, command, facts, place);
        match touches_past(command) && self.keep().is_err() {
            true => Err(Status::INTERNAL_ERROR),
            false => answered,
        }
    }

    fn answer_at_once(&self, id: u16, command: &Submission, facts: &Facts, place: &Place) -> Result<Answer, Status> {
        let inside = &mut *self.lock();
        self.past(inside);
        let guest = inside.guests.get_mut(&id).ok_or(Status::INTERNAL_ERROR)?;
        let mut cache_is_on = !inside.cache_is_off;
        let past = &mut inside.past;
        let mut around = Surroundings { identity: &self.identity, facts, past, cache_is_on: &mut cache_is_on, place };
        let answered = answer(command, &mut guest.controller, &mut around);
        inside.cache_is_off = !cache_is_on;
        answered
    }

    /// The volatile write cache is used, where there is one.
    pub fn cache_is_on(&self) -> bool {
        !self.lock().cache_is_off
    }

    /// A sanitize that was asked for so goes on for so long, or could not begin.
    ///
    /// # Errors
    /// The host's storage, so that it may be forgotten.
    pub fn sanitize(&self, asked: u32, lasts: Option<Duration>) -> Result<(), FolderError> {
        let mut inside = self.lock();
        let begins = lasts.map(|lasts| Progress { lasts_ns: lasts.as_nanos() as u64, done_ns: 0 });
        let state = begins.map_or(SanitizeState::Failed, SanitizeState::UnderWay);
        inside.past.sanitize = Some(Sanitize { asked, state });
        inside.operation = begins.map(SanitizeOperation::stands);
        inside.operation.iter_mut().for_each(|operation| operation.go_on(wall()));
        self.sanitizes.store(begins.is_some(), Ordering::Release);
        drop(inside);
        self.keep()
    }

    /// A sanitize is under way, so that no data are read or written.
    pub fn is_sanitizing(&self) -> bool {
        self.sanitizes.load(Ordering::Acquire) && {
            let mut inside = self.lock();
            self.look_at_sanitize(&mut inside);
            inside.past.is_sanitizing()
        }
    }

    /// The power is back.
    pub fn power_on(&self) {
        self.lock().operation.iter_mut().for_each(|operation| operation.go_on(wall()));
    }

    fn look_at_sanitize(&self, inside: &mut Inside) {
        let Some(operation) = inside.operation else { return };
        let progress = operation.progress(wall());
        let is_over = progress.parts().is_none();
        if let Some(sanitize) = &mut inside.past.sanitize {
            sanitize.state = if is_over { SanitizeState::Done } else { SanitizeState::UnderWay(progress) };
        }
        if is_over {
            inside.operation = None;
            self.sanitizes.store(false, Ordering::Release);
        }
    }
}

impl Inside {
    /// The next number that no controller has.
    fn number(&mut self) -> Option<u16> {
        let numbers = (1..ANY_CONTROLLER).map(|step| (self.last + step - 1) % (ANY_CONTROLLER - 1) + 1);
        let free = numbers.into_iter().find(|number| !self.guests.contains_key(number))?;
        self.last = free;
        Some(free)
    }

    /// An I/O queue of a controller that is there, of the same host, and takes commands.
    fn join(&mut self, wish: &Connect, socket: &Arc<Socket>) -> Result<(u16, Kind), Refusal> {
        let guest = self.guests.get_mut(&wish.controller).ok_or(Refusal::CONTROLLER)?;
        if guest.host != wish.host {
            return Err(Refusal::HOST);
        }
        let has_queue = guest.controller.kind == Kind::Drive && wish.queue <= MOST_QUEUES;
        if !has_queue || guest.sockets.contains_key(&wish.queue) {
            return Err(Refusal::QUEUE);
        }
        if !guest.controller.properties.is_enabled() {
            return Err(Status::SEQUENCE_ERROR.into());
        }
        guest.sockets.insert(wish.queue, socket.clone());
        Ok((wish.controller, Kind::Drive))
    }
}

/// The namespace that a drive is.
pub fn namespace<M: Medium>(disk: &mut Disk<M>) -> Namespace {
    let limits = disk.limits();
    let (sectors, sector_bytes) = (limits.sectors, limits.sector_bytes);
    let ssd = disk.ssd();
    let (config, unit_bytes) = (ssd.config(), ssd.unit_bytes());
    // Without a buffer flash takes a write unit by unit, and who reads meanwhile sees that.
    let is_buffered = config.buffer.bytes.0 > 0;
    let promised = config.export.atomic_write_bytes.0;
    let atomic_bytes = if is_buffered { promised } else { promised.min(unit_bytes.into()) };
    let atomic_sectors = (atomic_bytes / u64::from(sector_bytes)).clamp(1, 1 << 16) as u32;
    Namespace { sectors, sector_bytes, unit_bytes, atomic_sectors, trims: config.ftl.trim }
}

/// How a drive is now; how much of it is used, which takes longer to find, only where that is asked for.
pub fn facts<M: Medium>(disk: &mut Disk<M>, with_use: bool) -> Facts {
    let namespace = namespace(disk);
    let (counters, has_volatile_cache) = (disk.counters(), disk.limits().volatile_cache);
    let (signs, is_poisoned, power_state) = (disk.signs(), disk.poison().is_some(), disk.power_state());
    let ssd = disk.ssd();
    let has_capacitors = ssd.config().has_capacitors();
    let used = if with_use { ssd.ftl.mapping.mapped(0..ssd.ftl.exported) as u64 } else { 0 };
    let unit_sectors = u64::from(namespace.unit_bytes / namespace.sector_bytes.max(1)).max(1);
    let used_sectors = (used * unit_sectors).min(namespace.sectors);
    let health = ssd.health();
    let power = Power::of(&ssd.config().power, power_state);
    Facts { namespace, used_sectors, has_volatile_cache, has_capacitors, counters, health, signs, is_poisoned, power }
}
