//! Memory for payloads and replies that all connections share.
//!
//! A request takes all that it needs before its first byte is read, so that no two wait for each other half done. Who
//! waits is served in turn: a large request is not passed by small ones for ever.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// How many bytes are left.
#[derive(Debug)]
pub struct Budget {
    all: u64,
    left: Mutex<Left>,
    freed: Condvar,
    /// Held by who waits; others wait behind.
    turn: Mutex<()>,
}

#[derive(Debug)]
struct Left {
    bytes: u64,
    waiting: usize,
    is_closed: bool,
}

/// Bytes that are taken, until it is dropped.
#[derive(Debug, Default)]
pub struct Share {
    bytes: u64,
    budget: Option<Arc<Budget>>,
}

impl Budget {
    /// So many bytes in all.
    pub fn new(bytes: u64) -> Arc<Budget> {
        let left = Mutex::new(Left { bytes, waiting: 0, is_closed: false });
        Arc::new(Budget { all: bytes, left, freed: Condvar::new(), turn: Mutex::new(()) })
    }

    fn lock(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn share(self: &Arc<Budget>, bytes: u64) -> Share {
        Share { bytes, budget: Some(self.clone()) }
    }

    /// Bytes, if there are as many now and nobody waits.
    pub fn try_take(self: &Arc<Budget>, bytes: u64) -> Option<Share> {
        if bytes == 0 {
            return Some(Share::default());
        }
        let mut left = self.lock();
        if left.waiting > 0 {
            return None;
        }
        left.bytes = left.bytes.checked_sub(bytes)?;
        Some(self.share(bytes))
    }

    /// Bytes, as soon as there are as many; none where there never will be, or the server ends.
    pub fn take(self: &Arc<Budget>, bytes: u64) -> Option<Share> {
        if bytes > self.all {
            return None;
        }
        self.lock().waiting += 1;
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let is_short = |left: &mut Left| left.bytes < bytes && !left.is_closed;
        let mut left = self.freed.wait_while(self.lock(), is_short).unwrap_or_else(PoisonError::into_inner);
        left.waiting -= 1;
        left.bytes = left.bytes.checked_sub(bytes)?;
        Some(self.share(bytes))
    }

    /// Nobody waits any more.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.freed.notify_all();
    }

    /// Bytes that nobody has taken.
    pub fn left(&self) -> u64 {
        self.lock().bytes
    }
}

impl Share {
    /// How many bytes it is.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if let Some(budget) = &self.budget {
            budget.lock().bytes += self.bytes;
            budget.freed.notify_all();
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// What is taken is missing until it is dropped, and who waits gets it then.
    #[test]
    fn shares_come_back() {
        let budget = Budget::new(10);
        let share = budget.try_take(8).expect("there are ten");
        assert!(budget.try_take(3).is_none());
        assert_eq!(budget.left(), 2);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| budget.take(9).map(|share| share.bytes()));
            drop(share);
            assert_eq!(waits.join().expect("no panic"), Some(9));
        });
        assert_eq!(budget.left(), 10);
    }

    /// Nobody passes who waits, and nobody waits where the server ends.
    #[test]
    fn turns_and_the_end() {
        let budget = Budget::new(10);
        let _share = budget.try_take(8);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| budget.take(9).is_none());
            while budget.lock().waiting == 0 {
                std::thread::yield_now();
            }
            assert!(budget.try_take(1).is_none(), "one waits for nine");
            budget.close();
            assert!(waits.join().expect("no panic"));
        });
    }
}
