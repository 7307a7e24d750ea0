//! What all connections share: the drive, the memory, the limits, and who is there.

use crate::budget::Budget;
use crate::counts::Visits;
use crate::limits::Limits;
use crate::offer::Name;
use crate::served::Served;
use crate::socket::Socket;
use crate::target::Target;
use ssdlab_device::ssd::admin::StartOver;
use ssdlab_disk::medium::Medium;
use ssdlab_disk::{Failure, Nanos};
use std::collections::BTreeMap;
use std::net::Shutdown;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// Lets a drive start over so many times, and keeps that once; tells how long it takes, or why it does not.
pub type StartsOver = Box<dyn Fn(StartOver, u32) -> Result<Nanos, String> + Send + Sync>;

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The client left, or is gone.
    Left,
    /// It broke the protocol.
    BrokeProtocol,
    /// It took too long to ask or to take an answer.
    TooSlow,
}

#[derive(Debug, Default)]
struct Guests {
    sockets: BTreeMap<u64, Arc<Socket>>,
    visits: Visits,
    is_closed: bool,
}

/// See the module.
pub struct House<M: Medium> {
    /// The drive.
    pub served: Served<M>,
    /// Memory of all connections.
    pub budget: Arc<Budget>,
    /// What each may ask.
    pub limits: Limits,
    /// How the drive is called.
    pub name: Name,
    /// What NVMe queues share, where there are any.
    pub target: Option<Target>,
    /// What lets the drive start over, and keeps that; without it the drive does so alone.
    pub starts_over: OnceLock<StartsOver>,
    guests: Mutex<Guests>,
    one_left: Condvar,
}

impl<M: Medium> House<M> {
    /// Nobody is there.
    pub fn new(served: Served<M>, limits: Limits, name: Name, target: Option<Target>) -> House<M> {
        let budget = Budget::new(limits.all_bytes);
        House {
            served,
            budget,
            limits,
            name,
            target,
            starts_over: OnceLock::new(),
            guests: Mutex::default(),
            one_left: Condvar::new(),
        }
    }

    fn guests(&self) -> MutexGuard<'_, Guests> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The drive starts over so many times once all that is under way has ended; tells how long that takes.
    ///
    /// # Errors
    /// Why it does not, in words.
    pub fn start_over(&self, how: StartOver, passes: u32) -> Result<Nanos, String> {
        if let Some(starts_over) = self.starts_over.get() {
            return starts_over(how, passes);
        }
        self.served.with(|drive| {
            drive.calm();
            let disk = drive.disk().ok_or("The simulation has broken down.")?;
            let took = (0..passes).try_fold(Nanos::ZERO, |sum, _| Ok(sum + disk.start_over(how)?));
            took.map_err(|failure: Failure| failure.to_string())
        })
    }

    /// A client comes in and gets a number, if there is room.
    pub fn enter(&self, socket: &Arc<Socket>) -> Option<u64> {
        let mut guests = self.guests();
        if guests.is_closed || guests.sockets.len() >= self.limits.connections {
            guests.visits.too_many += u64::from(!guests.is_closed);
            return None;
        }
        guests.visits.taken += 1;
        let number = guests.visits.taken;
        guests.sockets.insert(number, socket.clone());
        Some(number)
    }

    /// It leaves.
    pub fn leave(&self, number: u64, ending: Ending) {
        let mut guests = self.guests();
        guests.sockets.remove(&number);
        match ending {
            Ending::Left => guests.visits.left += 1,
            Ending::BrokeProtocol => guests.visits.broke_protocol += 1,
            Ending::TooSlow => guests.visits.too_slow += 1,
        }
        self.one_left.notify_all();
    }

    /// Who is there, and what became of the others.
    pub fn visits(&self) -> Visits {
        let guests = self.guests();
        Visits { open: guests.sockets.len(), ..guests.visits }
    }

    /// Nobody comes in or asks any more.
    pub fn close(&self) {
        let mut guests = self.guests();
        guests.is_closed = true;
        guests.sockets.values().for_each(|socket| socket.shut(Shutdown::Read));
        self.budget.close();
    }

    /// Nobody comes in any more.
    pub fn is_closed(&self) -> bool {
        self.guests().is_closed
    }

    /// Waits until all have left; who is still there after that time is hung up on.
    pub fn empty(&self, patience: Duration) {
        let is_there = |guests: &mut Guests| !guests.sockets.is_empty();
        let waited = self.one_left.wait_timeout_while(self.guests(), patience, is_there);
        let (guests, _) = waited.unwrap_or_else(PoisonError::into_inner);
        guests.sockets.values().for_each(|socket| socket.shut(Shutdown::Both));
        drop(self.one_left.wait_while(guests, is_there));
    }
}
