//! A drive that is served, from start to stop.

use crate::brake::Injected;
use crate::clock::{BadPace, Pace};
use crate::counts::{Counts, Lateness, Visits};
use crate::house::{House, StartsOver};
use crate::latency::Latencies;
use crate::limits::Limits;
use crate::listener::{Protocol, listen};
use crate::nbd::export::BadExport;
use crate::nvme::facts::Identity;
use crate::offer::{Name, export};
use crate::served::Served;
use crate::socket::{Address, BadAddress, Door};
use crate::target::Target;
use ssdlab_disk::folder::FolderError;
use ssdlab_disk::medium::Medium;
use ssdlab_disk::{Cut, Disk};
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// How a drive is served.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Where NBD is spoken.
    pub addresses: Vec<Address>,
    /// How NVMe is spoken, if it is.
    pub nvme: Option<Nvme>,
    /// Addresses over TCP may be reached from other machines.
    pub others_may_reach_it: bool,
    /// How virtual time goes.
    pub pace: Pace,
    /// How clients see it.
    pub name: Name,
    /// What a client may ask.
    pub limits: Limits,
}

/// How NVMe is spoken, over TCP.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nvme {
    /// Where.
    pub addresses: Vec<SocketAddr>,
    /// What the drive is called there.
    pub identity: Identity,
    /// The drive's folder, where it remembers what hosts did to it; without one the process alone knows.
    pub folder: Option<PathBuf>,
}

/// Why a drive cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum BadStart {
    /// The pace is none.
    #[error(transparent)]
    Pace(#[from] BadPace),
    /// The protocol cannot describe the drive.
    #[error(transparent)]
    Export(#[from] BadExport),
    /// Nobody can be served there.
    #[error(transparent)]
    Address(#[from] BadAddress),
    /// What the drive remembers cannot be read.
    #[error(transparent)]
    Past(#[from] FolderError),
    /// The machine gives no thread or no socket.
    #[error("the machine has no room for a server: {0}; end other programs")]
    Machine(#[from] io::Error),
}

/// The drive is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Gone {
    /// It was stopped.
    #[error("the server has been stopped; start another one")]
    Stopped,
    /// A bug of the simulation's.
    #[error(
        "the simulation has broken down, which is a bug of ssdlab's; start the server anew, the bytes are as stored"
    )]
    Broken,
}

/// What a server has done so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stats {
    /// How virtual time goes.
    pub pace: Pace,
    /// The power is on.
    pub is_on: bool,
    /// What was asked.
    pub counts: Counts,
    /// How late answers were; of a drive at a pace.
    pub lateness: Lateness,
    /// Who came.
    pub visits: Visits,
    /// Memory of requests that are not answered.
    pub bytes_held: u64,
}

/// What is to be ended.
struct Running {
    /// Dropped to wake the listener.
    bell: UnixStream,
    listener: JoinHandle<()>,
    pacer: Option<JoinHandle<()>>,
}

/// A drive that is served to other programs.
pub struct Server<M: Medium + Send + 'static> {
    house: Arc<House<M>>,
    addresses: Vec<Address>,
    nvme_addresses: Vec<Address>,
    running: Mutex<Option<Running>>,
}

impl<M: Medium + Send + 'static> Server<M> {
    /// Serves a drive until it is stopped.
    ///
    /// # Errors
    /// Why it cannot be served; nothing has begun then.
    pub fn start(mut disk: Disk<M>, options: Options) -> Result<Server<M>, BadStart> {
        let Options { addresses, nvme, others_may_reach_it, pace, name, limits } = options;
        let pace = pace.check()?;
        export(&mut disk, &name).check()?;
        let wanted = addresses.into_iter().map(|address| (Protocol::Nbd, address));
        let of_nvme = nvme.iter().flat_map(|nvme| &nvme.addresses);
        let wanted = wanted.chain(of_nvme.map(|address| (Protocol::Nvme, Address::Tcp(*address))));
        let doors = wanted.map(|(protocol, at)| Ok((protocol, Door::open(&at, others_may_reach_it)?)));
        let doors = doors.collect::<Result<Vec<(Protocol, Door)>, BadAddress>>()?;
        let addresses = |spoken: Protocol| {
            let spoken = doors.iter().filter(move |(protocol, _)| *protocol == spoken);
            spoken.map(|(_, door)| door.address()).collect::<io::Result<Vec<Address>>>()
        };
        let (addresses, nvme_addresses) = (addresses(Protocol::Nbd)?, addresses(Protocol::Nvme)?);
        let target = nvme.map(|nvme| Target::new(nvme.identity, nvme.folder)).transpose()?;
        let (bell, heard) = UnixStream::pair()?;
        let house = Arc::new(House::new(Served::new(disk, pace), limits, name, target));
        let at_door = house.clone();
        let listener = std::thread::Builder::new().name("listener".into());
        let listener = listener.spawn(move || listen(&at_door, &doors, &heard))?;
        let mut running = Running { bell, listener, pacer: None };
        if pace.is_paced() {
            running.pacer = Some(pacer(&house)?);
        }
        Ok(Server { house, addresses, nvme_addresses, running: Mutex::new(Some(running)) })
    }

    /// Where NBD clients find it, with the ports that the machine chose.
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Where NVMe hosts find it, with the ports that the machine chose.
    pub fn nvme_addresses(&self) -> &[Address] {
        &self.nvme_addresses
    }

    /// Who lets the drive start over from now on, for hosts that format or sanitize it, and keeps that. The first call
    /// counts.
    pub fn on_start_over(&self, starts_over: StartsOver) {
        let _ = self.house.starts_over.set(starts_over);
    }

    /// Looks at the drive, or changes it, between two events. To advance it, or to submit to it without waiting for the
    /// answer, would take away answers that clients wait for.
    ///
    /// # Errors
    /// The drive is gone.
    pub fn with_disk<R>(&self, use_it: impl FnOnce(&mut Disk<M>) -> R) -> Result<R, Gone> {
        self.house.served.with(|drive| match drive.disk() {
            Some(disk) => Ok(use_it(disk)),
            None => Err(if drive.is_ending() { Gone::Stopped } else { Gone::Broken }),
        })
    }

    /// As [`Server::with_disk`], when all that is under way has ended and was answered.
    ///
    /// # Errors
    /// The drive is gone.
    pub fn with_calm_disk<R>(&self, use_it: impl FnOnce(&mut Disk<M>) -> R) -> Result<R, Gone> {
        self.house.served.with(|drive| {
            drive.calm();
            let is_ending = drive.is_ending();
            drive.disk().map(use_it).ok_or(if is_ending { Gone::Stopped } else { Gone::Broken })
        })
    }

    /// Holds requests back from now on, in place of what held them.
    pub fn inject(&self, injected: Injected) {
        self.house.served.brake.inject(injected);
    }

    /// What holds requests back.
    pub fn injected(&self) -> Injected {
        self.house.served.brake.injected()
    }

    /// How long reads and writes took so far.
    pub fn latencies(&self) -> [Latencies; 2] {
        self.house.served.with(|drive| drive.latencies.clone())
    }

    /// The power fails, and stays away; what the seed draws is lost. Sessions that are open stay dead.
    ///
    /// # Errors
    /// The drive is gone.
    pub fn power_cut(&self, seed: u64) -> Result<Cut, Gone> {
        let cut = self.house.served.with(|drive| drive.cut(seed).ok_or(drive.is_ending()));
        self.house.served.brake.end_hang();
        if let Some(target) = &self.house.target {
            target.hang_up();
        }
        cut.map_err(|is_ending| if is_ending { Gone::Stopped } else { Gone::Broken })
    }

    /// The power comes back, for sessions that begin from now on; harmless where it is on.
    ///
    /// # Errors
    /// The drive is gone.
    pub fn power_on(&self) -> Result<(), Gone> {
        let switched = self.house.served.with(|drive| match (drive.switch_on(), drive.is_ending()) {
            (true, _) => Ok(()),
            (false, true) => Err(Gone::Stopped),
            (false, false) => Err(Gone::Broken),
        });
        self.house.target.iter().for_each(Target::power_on);
        switched
    }

    /// What the drive remembers of its hosts lies in its folder.
    ///
    /// # Errors
    /// The host's storage.
    pub fn keep_past(&self) -> Result<(), FolderError> {
        self.house.target.as_ref().map_or(Ok(()), Target::keep)
    }

    /// The drive remembers what lies in its folder, and nothing else: it was restored. Its power must be off.
    ///
    /// # Errors
    /// What lies there cannot be read.
    pub fn recall_past(&self) -> Result<(), FolderError> {
        self.house.target.as_ref().map_or(Ok(()), Target::recall)
    }

    /// What it has done so far; also after the end.
    pub fn stats(&self) -> Stats {
        let (is_on, counts, lateness) = self.house.served.with(|drive| (drive.is_on(), drive.counts, drive.lateness));
        let bytes_held = self.house.limits.all_bytes - self.house.budget.left();
        Stats { pace: self.house.served.pace(), is_on, counts, lateness, visits: self.house.visits(), bytes_held }
    }

    /// Takes nothing new, ends and answers what is under way, flushes the drive and syncs its medium, and gives it back;
    /// nothing where that was done before, or the simulation has broken down. It waits for clients that do not take their
    /// answers as long as the limits say.
    pub fn stop(&self) -> Option<Disk<M>> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let Running { bell, listener, pacer } = running.take()?;
        self.house.served.brake.end();
        drop(bell);
        // A thread that panicked has ended, too.
        let _ = listener.join();
        let finish = || self.house.served.with(|drive| drive.finish());
        let disk = catch_unwind(AssertUnwindSafe(finish)).ok().flatten();
        self.house.served.see_to_it();
        self.house.close();
        self.house.empty(self.house.limits.to_leave);
        let _ = pacer.map(JoinHandle::join);
        disk
    }
}

impl<M: Medium + Send + 'static> Drop for Server<M> {
    fn drop(&mut self) {
        drop(self.stop());
    }
}

/// The thread that keeps the pace.
fn pacer<M: Medium + Send + 'static>(house: &Arc<House<M>>) -> io::Result<JoinHandle<()>> {
    let house = house.clone();
    std::thread::Builder::new().name("pacer".into()).spawn(move || {
        // Else the machine may wake it 50 µs late, as long as a read of flash. It is not needed for what is right.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        // A panic breaks the drive, which the next to look at it answers to all; then nothing is left to be paced.
        if catch_unwind(AssertUnwindSafe(|| house.served.keep_pace())).is_err() {
            house.served.see_to_it();
        }
    })
}
