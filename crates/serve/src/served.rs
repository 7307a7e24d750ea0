//! A drive that several threads use: one lock, and who lives on when.
//!
//! | pace | who advances the drive |
//! |---|---|
//! | off | the thread that asks, until its own requests are answered; it takes along what others ask meanwhile |
//! | paced | whoever asks brings it to now; one thread of its own sleeps until the next event ([`Served::keep_pace`]) |
//!
//! At a pace whoever has brought the drive on sends what it answered, once the lock is free: a thread less to wake.
//!
//! Requests go through `incoming`, so that without a clock, too, those of several connections are under way together. Who
//! looks at the drive or cuts its power ([`Served::with`]) comes between two events, not behind all requests. A panic under
//! the lock ends the drive, not the server: what is under way gets an error.

use crate::brake::Brake;
use crate::clock::{Clock, Pace, wall};
use crate::drive::{Batch, Drive};
use crate::outbox::Outbox;
use crate::output::answer_at_once;
use ssdlab_disk::Disk;
use ssdlab_disk::medium::Medium;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// See the module.
pub struct Served<M: Medium> {
    drive: Mutex<Drive<M>>,
    pace: Pace,
    /// Asked for and not yet taken by the drive, without a clock.
    incoming: Mutex<Vec<Batch>>,
    /// How many want the drive between two events, and who is the next of them.
    wanted: AtomicUsize,
    door: Mutex<()>,
    /// What happens next may come sooner than it was thought.
    sooner: Condvar,
    /// What holds requests back.
    pub brake: Brake,
}

/// One more wants the drive, until it is dropped.
struct Wish<'a>(&'a AtomicUsize);

impl Drop for Wish<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl<M: Medium> Served<M> {
    /// A drive at a pace that was checked.
    pub fn new(disk: Disk<M>, pace: Pace) -> Served<M> {
        let clock = match pace {
            Pace::Factor(factor) => Some(Clock::new(factor, wall(), disk.now())),
            Pace::Off => None,
        };
        Served {
            drive: Mutex::new(Drive::new(disk, clock)),
            pace,
            incoming: Mutex::default(),
            wanted: AtomicUsize::new(0),
            door: Mutex::default(),
            sooner: Condvar::new(),
            brake: Brake::default(),
        }
    }

    /// How virtual time goes.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// The drive alone. One that a panic left is broken.
    fn lock(&self) -> MutexGuard<'_, Drive<M>> {
        self.drive.lock().unwrap_or_else(|poisoned| self.mend(poisoned))
    }

    fn mend<'a>(&self, poisoned: PoisonError<MutexGuard<'a, Drive<M>>>) -> MutexGuard<'a, Drive<M>> {
        let mut drive = poisoned.into_inner();
        drive.break_down();
        self.drive.clear_poison();
        drive
    }

    /// Uses the drive between two events, brought to now.
    pub fn with<R>(&self, use_it: impl FnOnce(&mut Drive<M>) -> R) -> R {
        self.wanted.fetch_add(1, Ordering::AcqRel);
        let wish = Wish(&self.wanted);
        let door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        let mut drive = self.lock();
        drop(wish);
        drive.catch_up();
        let used = use_it(&mut drive);
        drive.gather();
        release(drive);
        drop(door);
        self.sooner.notify_all();
        used
    }

    /// Lets those pass who want the drive.
    fn let_pass<'a>(&'a self, drive: MutexGuard<'a, Drive<M>>) -> MutexGuard<'a, Drive<M>> {
        if self.wanted.load(Ordering::Acquire) == 0 {
            return drive;
        }
        drop(drive);
        drop(self.door.lock().unwrap_or_else(PoisonError::into_inner));
        self.lock()
    }

    /// Hands requests of one client to the drive. Without a clock all that it asked is answered when this returns.
    pub fn ask(&self, batch: Batch, outbox: &Outbox) {
        self.brake.pass(batch.tasks.len() as u64);
        if self.pace.is_paced() { self.begin(batch) } else { self.carry_out(batch, outbox) }
    }

    fn begin(&self, batch: Batch) {
        let mut drive = self.lock();
        drive.catch_up();
        let before = drive.due();
        drive.take(batch);
        let is_sooner = match (before, drive.due()) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(before), Some(due)) => due < before,
        };
        release(drive);
        if is_sooner {
            self.sooner.notify_all();
        }
    }

    fn carry_out(&self, batch: Batch, outbox: &Outbox) {
        self.incoming.lock().unwrap_or_else(PoisonError::into_inner).push(batch);
        let mut drive = self.lock();
        loop {
            self.take_incoming(&mut drive);
            if outbox.is_answered() {
                return;
            }
            drive.jump();
            drive = self.let_pass(drive);
        }
    }

    fn take_incoming(&self, drive: &mut Drive<M>) {
        let batches = std::mem::take(&mut *self.incoming.lock().unwrap_or_else(PoisonError::into_inner));
        batches.into_iter().for_each(|batch| drive.take(batch));
    }

    /// The thread that keeps the pace; returns when the server ends.
    pub fn keep_pace(&self) {
        let mut drive = self.lock();
        while !drive.is_ending() {
            drive.catch_up();
            if drive.has_answered() {
                // Answers go out without the lock; what happened meanwhile is looked at again.
                release(drive);
                drive = self.lock();
                continue;
            }
            drive = match drive.due().map(|due| due.saturating_duration_since(wall())) {
                None => self.sooner.wait(drive).unwrap_or_else(|poisoned| self.mend(poisoned)),
                Some(left) if left.is_zero() => {
                    // The machine does not keep up: others get their turn.
                    release(drive);
                    std::thread::yield_now();
                    self.lock()
                }
                Some(left) => match self.sooner.wait_timeout(drive, left) {
                    Ok((drive, _)) => drive,
                    Err(poisoned) => self.mend(PoisonError::new(poisoned.into_inner().0)),
                },
            };
        }
    }

    /// After a panic: whoever waits for the drive is answered.
    pub fn see_to_it(&self) {
        release(self.lock());
        self.sooner.notify_all();
    }
}

/// Frees the drive for others, and sends what it has answered at a pace.
fn release<M: Medium>(mut drive: MutexGuard<'_, Drive<M>>) {
    let answered = drive.take_answered();
    drop(drive);
    answered.iter().for_each(|outbox| answer_at_once(outbox));
}
