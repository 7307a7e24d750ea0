//! What holds requests back before the drive gets them, as a drive does whose firmware is busy or stuck: an injected
//! latency, or a hang.
//!
//! All that a client has sent waits together, each client for itself, by the machine's clock: so a request takes so much
//! longer, and the drive's own clock does not know of it. A hang ends when it is released, with the drive's power, or with
//! the server.

use crate::clock::wall;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What is injected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Injected {
    /// How much longer requests take.
    pub latency: Duration,
    /// So many requests more; none for all.
    pub left: Option<u64>,
    /// No request goes on.
    pub hangs: bool,
}

impl Injected {
    fn is_none(&self) -> bool {
        !self.hangs && (self.latency.is_zero() || self.left == Some(0))
    }
}

#[derive(Debug, Default)]
struct Inside {
    injected: Injected,
    /// How often it was released: who waited before goes on.
    releases: u64,
    /// The server ends.
    is_ended: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Brake {
    inside: Mutex<Inside>,
    changed: Condvar,
    /// Something is injected: without it nobody asks for the lock.
    is_on: AtomicBool,
}

impl Brake {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Injects this from now on, in place of what was.
    pub fn inject(&self, injected: Injected) {
        let mut inside = self.lock();
        inside.injected = if inside.is_ended { Injected::default() } else { injected };
        inside.releases += u64::from(!inside.injected.hangs);
        self.is_on.store(!inside.injected.is_none(), Ordering::Release);
        drop(inside);
        self.changed.notify_all();
    }

    /// What is injected.
    pub fn injected(&self) -> Injected {
        self.lock().injected
    }

    /// A hang ends; a latency stays.
    pub fn end_hang(&self) {
        let injected = Injected { hangs: false, ..self.injected() };
        self.inject(injected);
    }

    /// The server ends: nobody waits any more.
    pub fn end(&self) {
        self.lock().is_ended = true;
        self.inject(Injected::default());
    }

    /// So many requests of a client come; returns when they may go on.
    pub fn pass(&self, requests: u64) {
        if self.is_on.load(Ordering::Acquire) {
            self.wait(requests);
        }
    }

    #[cold]
    fn wait(&self, requests: u64) {
        let mut inside = self.lock();
        let releases = inside.releases;
        let stands = |inside: &mut Inside| inside.releases == releases;
        if inside.injected.hangs {
            inside = self.changed.wait_while(inside, stands).unwrap_or_else(PoisonError::into_inner);
        }
        let Injected { latency, left, .. } = inside.injected;
        if left == Some(0) || latency.is_zero() {
            return;
        }
        inside.injected.left = left.map(|left| left.saturating_sub(requests));
        let (releases, due) = (inside.releases, wall() + latency);
        while inside.releases == releases
            && let Some(rest) = due.checked_duration_since(wall()).filter(|rest| !rest.is_zero())
        {
            (inside, _) = self.changed.wait_timeout(inside, rest).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use std::sync::mpsc::channel;

    /// A hang holds until it is released, whatever the reason; without one nobody waits.
    #[test]
    fn a_hang_holds_until_it_is_released() {
        type Release = fn(&Brake);
        let releases: [Release; 3] = [Brake::end_hang, Brake::end, |brake| brake.inject(Injected::default())];
        for release in releases {
            let brake = Brake::default();
            brake.pass(1);
            brake.inject(Injected { hangs: true, ..Injected::default() });
            std::thread::scope(|scope| {
                let (told, tells) = channel();
                let brake = &brake;
                scope.spawn(move || {
                    brake.pass(1);
                    told.send(()).expect("somebody listens");
                });
                assert!(tells.try_recv().is_err(), "it hangs");
                release(brake);
                tells.recv().expect("it goes on");
            });
            brake.pass(1);
        }
    }

    /// A latency is for so many requests, and one that is ended in the middle holds nobody any longer.
    #[test]
    fn a_latency_is_for_so_many_requests() {
        let brake = Brake::default();
        let latency = Duration::from_millis(1);
        brake.inject(Injected { latency, left: Some(5), hangs: false });
        let begun = wall();
        brake.pass(3);
        assert!(wall() - begun >= latency);
        assert_eq!(brake.injected().left, Some(2));
        brake.pass(3);
        assert_eq!(brake.injected().left, Some(0));
        brake.inject(Injected { latency: Duration::from_secs(1 << 40), left: None, hangs: false });
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| brake.pass(1));
            brake.end();
            waits.join().expect("no panic");
        });
        brake.inject(Injected { hangs: true, ..Injected::default() });
        brake.pass(1);
    }
}
