//! The answers on their way to one client, and how much the server has to do for it.
//!
//! A request counts from when it goes to the drive until its reply is sent, so that a client that takes no replies is not
//! read any further. Whoever ends a request puts the answer in; the connection's own thread, or its writer, takes all that
//! are there at once.

use crate::budget::Share;
use crate::limits::Limits;
use crate::nbd::command::{Error, Refusal, Request};
use crate::nbd::reply::Extent;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What came of a request.
#[derive(Debug)]
pub enum Outcome {
    /// It was done.
    Done,
    /// It was read.
    Data(Vec<u8>),
    /// Where holes are.
    Extents(Vec<Extent>),
    /// It failed, and why in words.
    Failed(Error, String),
}

/// A request that will be answered: where it is dropped instead, with an error. So none is ever forgotten.
#[derive(Debug)]
pub struct Pledge {
    request: Request,
    share: Share,
    /// Gone once it is answered.
    outbox: Option<Arc<Outbox>>,
}

impl Pledge {
    /// A request begins to count for its client.
    pub fn new(outbox: &Arc<Outbox>, request: Request, share: Share) -> Pledge {
        outbox.expect(share.bytes());
        Pledge { request, share, outbox: Some(outbox.clone()) }
    }

    /// The request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Answers it.
    pub fn answer(mut self, outcome: Outcome) {
        self.keep(outcome);
    }

    fn keep(&mut self, outcome: Outcome) {
        if let Some(outbox) = self.outbox.take() {
            outbox.answer(Answer::Reply(self.request, outcome, std::mem::take(&mut self.share)));
        }
    }
}

impl Drop for Pledge {
    fn drop(&mut self) {
        if self.outbox.is_some() {
            self.keep(Outcome::Failed(Error::Eio, "The request was given up.".into()));
        }
    }
}

/// An answer, and the memory that it takes until it is sent.
#[derive(Debug)]
pub enum Answer {
    /// To a request.
    Reply(Request, Outcome, Share),
    /// To what was no request.
    Refused(Refusal),
}

impl Answer {
    fn bytes(&self) -> u64 {
        match self {
            Answer::Reply(_, _, share) => share.bytes(),
            Answer::Refused(_) => 0,
        }
    }
}

#[derive(Debug, Default)]
struct Inside {
    answers: Vec<Answer>,
    /// Requests, and their bytes, that are not answered or whose answer is not sent.
    requests: usize,
    bytes: u64,
    /// The client sends no more.
    is_complete: bool,
    /// The client takes no more: answers are dropped.
    is_closed: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Outbox {
    inside: Mutex<Inside>,
    changed: Condvar,
    /// Requests that the drive has not answered.
    unanswered: AtomicUsize,
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request is for the drive.
    fn expect(&self, bytes: u64) {
        self.unanswered.fetch_add(1, Ordering::AcqRel);
        let mut inside = self.lock();
        inside.requests += 1;
        inside.bytes += bytes;
    }

    /// The answer to a request that was expected.
    fn answer(&self, answer: Answer) {
        self.put(answer);
        self.unanswered.fetch_sub(1, Ordering::AcqRel);
    }

    /// The answer to what was no request, and was not expected.
    pub fn refuse(&self, refusal: Refusal) {
        self.lock().requests += 1;
        self.put(Answer::Refused(refusal));
    }

    fn put(&self, answer: Answer) {
        let mut inside = self.lock();
        if inside.is_closed {
            inside.forget(1, answer.bytes());
        } else {
            inside.answers.push(answer);
        }
        drop(inside);
        self.changed.notify_all();
    }

    /// The drive has answered all that it was asked.
    pub fn is_answered(&self) -> bool {
        self.unanswered.load(Ordering::Acquire) == 0
    }

    /// All answers that are there.
    pub fn take(&self) -> Vec<Answer> {
        std::mem::take(&mut self.lock().answers)
    }

    /// As [`Outbox::take`], and waits for the first; none where no more will come.
    pub fn wait(&self) -> Option<Vec<Answer>> {
        let is_early = |inside: &mut Inside| {
            inside.answers.is_empty() && !inside.is_closed && !(inside.is_complete && inside.requests == 0)
        };
        let mut inside = self.changed.wait_while(self.lock(), is_early).unwrap_or_else(PoisonError::into_inner);
        let answers = std::mem::take(&mut inside.answers);
        (!answers.is_empty()).then_some(answers)
    }

    /// Answers were sent.
    pub fn sent(&self, answers: &[Answer]) {
        self.lock().forget(answers.len(), answers.iter().map(Answer::bytes).sum());
        self.changed.notify_all();
    }

    /// There is room for one more request of so many bytes.
    pub fn has_room(&self, bytes: u64, limits: &Limits) -> bool {
        self.lock().has_room(bytes, limits)
    }

    /// Waits for room for one more request; false where the client is gone.
    pub fn wait_for_room(&self, bytes: u64, limits: &Limits) -> bool {
        let is_full = |inside: &mut Inside| !inside.has_room(bytes, limits) && !inside.is_closed;
        let inside = self.changed.wait_while(self.lock(), is_full).unwrap_or_else(PoisonError::into_inner);
        !inside.is_closed
    }

    /// The client sends no more; what is under way is still answered.
    pub fn complete(&self) {
        self.lock().is_complete = true;
        self.changed.notify_all();
    }

    /// The client takes no more.
    pub fn close(&self) {
        let mut inside = self.lock();
        inside.is_closed = true;
        let answers = std::mem::take(&mut inside.answers);
        inside.forget(answers.len(), answers.iter().map(Answer::bytes).sum());
        drop(inside);
        self.changed.notify_all();
    }
}

impl Inside {
    fn forget(&mut self, requests: usize, bytes: u64) {
        self.requests = self.requests.saturating_sub(requests);
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// One request alone always has room: none is greater than what a connection may take.
    fn has_room(&self, bytes: u64, limits: &Limits) -> bool {
        let fits = self.requests < limits.requests && self.bytes + bytes <= limits.connection_bytes;
        self.requests == 0 || fits
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::budget::Budget;
    use crate::nbd::command::Command;

    const READ: Request =
        Request { cookie: 1, offset: 0, length: 512, command: Command::Read { dont_fragment: false } };
    const LIMITS: Limits = Limits {
        requests: 2,
        connection_bytes: 1000,
        all_bytes: 0,
        connections: 0,
        to_ask: std::time::Duration::ZERO,
        to_take: std::time::Duration::ZERO,
        to_leave: std::time::Duration::ZERO,
    };

    fn pledge(outbox: &Arc<Outbox>, budget: &Arc<Budget>) -> Pledge {
        Pledge::new(outbox, READ, budget.take(600).expect("as many"))
    }

    /// A request counts until its reply is sent, whether it was answered or not.
    #[test]
    fn requests_count_until_their_reply_is_sent() {
        let (outbox, budget) = (Arc::new(Outbox::default()), Budget::new(600));
        assert!(outbox.has_room(5000, &LIMITS), "one alone always has");
        let first = pledge(&outbox, &budget);
        assert!(outbox.has_room(400, &LIMITS) && !outbox.has_room(401, &LIMITS));
        let second = Pledge::new(&outbox, READ, Share::default());
        assert!(!outbox.has_room(0, &LIMITS) && !outbox.is_answered());
        first.answer(Outcome::Done);
        second.answer(Outcome::Done);
        assert!(outbox.is_answered() && !outbox.has_room(0, &LIMITS));
        let answers = outbox.take();
        outbox.sent(&answers[..1]);
        assert!(outbox.has_room(1000, &LIMITS), "the large one is sent");
        assert_eq!(budget.left(), 0, "and not given back");
        drop(answers);
        assert_eq!(budget.left(), 600);
    }

    /// What is forgotten is answered with an error.
    #[test]
    fn nothing_is_forgotten() {
        let (outbox, budget) = (Arc::new(Outbox::default()), Budget::new(600));
        drop(pledge(&outbox, &budget));
        let answers = outbox.take();
        assert!(matches!(answers[..], [Answer::Reply(READ, Outcome::Failed(Error::Eio, _), _)]), "{answers:?}");
        assert!(outbox.is_answered());
    }

    /// Who waits for answers hears of the end, and answers to a client that is gone give back their memory.
    #[test]
    fn ends() {
        let (outbox, budget) = (Arc::new(Outbox::default()), Budget::new(600));
        let asked = pledge(&outbox, &budget);
        outbox.complete();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| outbox.wait().map(|answers| answers.len()));
            asked.answer(Outcome::Done);
            assert_eq!(waits.join().expect("no panic"), Some(1));
        });
        assert_eq!(budget.left(), 600);
        let asked = pledge(&outbox, &budget);
        outbox.close();
        asked.answer(Outcome::Done);
        assert_eq!((budget.left(), outbox.wait().is_none()), (600, true));
        assert!(!outbox.wait_for_room(5000, &LIMITS) && outbox.is_answered());
    }
}
