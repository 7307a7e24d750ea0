//! The answers on their way to one client, and how much the server has to do for it.
//!
//! A request counts from when it goes to the drive until its reply is sent, so that a client that takes no replies is not
//! read any further. Whoever ends a request puts the answer in. Who takes all that are there, and sends them together:
//!
//! | the drive | who sends |
//! |---|---|
//! | without a clock | the connection's own thread |
//! | at a pace | whoever ended the requests, as far as the client takes it at once; the connection's writer the rest |
//!
//! One at a time sends, so that answers do not mix.

use crate::budget::Share;
use crate::limits::Limits;
use crate::outcome::Outcome;
use crate::replies::Replies;
use crate::request::{Fault, Request};
use crate::socket::Socket;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

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

    /// Answers it. The answer waits in this outbox for whoever sends it.
    pub fn answer(mut self, outcome: Outcome) -> Option<Arc<Outbox>> {
        self.keep(outcome)
    }

    fn keep(&mut self, outcome: Outcome) -> Option<Arc<Outbox>> {
        let outbox = self.outbox.take()?;
        outbox.answer(Answer::Reply(self.request, outcome, std::mem::take(&mut self.share)));
        Some(outbox)
    }
}

impl Drop for Pledge {
    fn drop(&mut self) {
        if let Some(outbox) = self.keep(Outcome::Failed(Fault::Broken, "The request was given up.".into())) {
            outbox.changed.notify_all();
        }
    }
}

/// An answer, and the memory that it takes until it is sent.
#[derive(Debug)]
pub enum Answer {
    /// To a request.
    Reply(Request, Outcome, Share),
    /// To what the drive is not asked, as bytes.
    Written(Vec<u8>),
}

impl Answer {
    fn bytes(&self) -> u64 {
        match self {
            Answer::Reply(_, _, share) => share.bytes(),
            Answer::Written(_) => 0,
        }
    }
}

/// Answers that are about to be sent, together.
#[derive(Debug, Default)]
pub struct Unsent {
    /// In the order in which the requests ended.
    pub answers: Vec<Answer>,
    /// So many bytes of the replies are sent already.
    pub sent_bytes: usize,
}

/// Where answers go.
#[derive(Clone, Debug)]
pub struct Way {
    /// To whom.
    pub socket: Arc<Socket>,
    /// How they are written.
    pub replies: Replies,
}

#[derive(Debug, Default)]
struct Inside {
    answers: Vec<Answer>,
    /// What the client did not take at once.
    rest: Option<Unsent>,
    /// Somebody sends.
    is_sending: bool,
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
    /// There is something to do for the connection's writer.
    changed: Condvar,
    /// Answers were sent, or no more will be.
    room: Condvar,
    /// Where answers go; none where only the connection's own thread sends.
    way: Option<Way>,
    /// Requests that the drive has not answered.
    unanswered: AtomicUsize,
}

impl Outbox {
    /// One that whoever ends requests may send from.
    pub fn with_way(way: Way) -> Outbox {
        Outbox { way: Some(way), ..Outbox::default() }
    }

    /// Where answers go, if others than the connection's own thread may send them.
    pub fn way(&self) -> Option<&Way> {
        self.way.as_ref()
    }

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

    /// An answer that was not expected, to what the drive is not asked.
    pub fn put_written(&self, bytes: Vec<u8>) {
        self.lock().requests += 1;
        self.put(Answer::Written(bytes));
        self.changed.notify_all();
    }

    fn put(&self, answer: Answer) {
        let mut inside = self.lock();
        if inside.is_closed {
            inside.forget(1, answer.bytes());
        } else {
            inside.answers.push(answer);
        }
    }

    /// The drive has answered all that it was asked.
    pub fn is_answered(&self) -> bool {
        self.unanswered.load(Ordering::Acquire) == 0
    }

    /// All answers that are there.
    pub fn take(&self) -> Vec<Answer> {
        std::mem::take(&mut self.lock().answers)
    }

    /// Answers were sent.
    pub fn sent(&self, answers: &[Answer]) {
        self.lock().forget_all(answers);
        self.room.notify_all();
    }

    /// All that is there, to be sent by the caller alone until [`Outbox::end_sending`]; none where another one sends, or a
    /// rest waits for the writer.
    pub fn begin_sending(&self) -> Option<Unsent> {
        let mut inside = self.lock();
        let is_free = !inside.is_sending && inside.rest.is_none() && !inside.answers.is_empty();
        is_free.then(|| inside.begin_sending())
    }

    /// As [`Outbox::begin_sending`], and waits for something, a rest or answers; none where no more will come.
    pub fn wait(&self) -> Option<Unsent> {
        let is_early = |inside: &mut Inside| {
            let has_none = inside.answers.is_empty() && inside.rest.is_none();
            inside.is_sending || has_none && !inside.is_closed && !(inside.is_complete && inside.requests == 0)
        };
        let mut inside = self.changed.wait_while(self.lock(), is_early).unwrap_or_else(PoisonError::into_inner);
        let has_some = inside.rest.is_some() || !inside.answers.is_empty();
        has_some.then(|| inside.begin_sending())
    }

    /// It was sent; what is left of it is for the writer.
    pub fn end_sending(&self, unsent: Unsent, is_whole: bool) {
        let mut inside = self.lock();
        inside.is_sending = false;
        if is_whole || inside.is_closed {
            inside.forget_all(&unsent.answers);
        } else {
            inside.rest = Some(unsent);
        }
        let is_for_writer = inside.rest.is_some() || inside.is_complete || inside.is_closed;
        drop(inside);
        self.room.notify_all();
        if is_for_writer {
            self.changed.notify_all();
        }
    }

    /// There is room for one more request of so many bytes.
    pub fn has_room(&self, bytes: u64, limits: &Limits) -> bool {
        self.lock().has_room(bytes, limits)
    }

    /// Waits for room for one more request; false where the client is gone.
    pub fn wait_for_room(&self, bytes: u64, limits: &Limits) -> bool {
        let is_full = |inside: &mut Inside| !inside.has_room(bytes, limits) && !inside.is_closed;
        let inside = self.room.wait_while(self.lock(), is_full).unwrap_or_else(PoisonError::into_inner);
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
        inside.forget_all(&answers);
        if let Some(rest) = inside.rest.take() {
            inside.forget_all(&rest.answers);
        }
        drop(inside);
        self.changed.notify_all();
        self.room.notify_all();
    }
}

impl Inside {
    /// A rest goes first.
    fn begin_sending(&mut self) -> Unsent {
        self.is_sending = true;
        let answers = || Unsent { answers: std::mem::take(&mut self.answers), sent_bytes: 0 };
        self.rest.take().unwrap_or_else(answers)
    }

    fn forget_all(&mut self, answers: &[Answer]) {
        self.forget(answers.len(), answers.iter().map(Answer::bytes).sum());
    }

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
    use crate::request::Command;

    const READ: Request =
        Request { cookie: 1, offset: 0, length: 512, command: Command::Read { dont_fragment: false } };
    const LIMITS: Limits = Limits {
        requests: 2,
        connection_bytes: 1000,
        all_bytes: 0,
        connections: 0,
        controllers: 0,
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

    fn count(unsent: Option<Unsent>) -> Option<usize> {
        unsent.map(|unsent| unsent.answers.len())
    }

    /// One at a time sends; what a client did not take goes before later answers, and only the writer takes it.
    #[test]
    fn one_at_a_time_sends() {
        let (outbox, budget) = (Arc::new(Outbox::default()), Budget::new(1800));
        let three = [(); 3].map(|()| pledge(&outbox, &budget));
        assert!(outbox.begin_sending().is_none(), "nothing is there");
        let [first, second, third] = three;
        first.answer(Outcome::Done);
        let mut unsent = outbox.begin_sending().expect("one");
        second.answer(Outcome::Done);
        assert!(outbox.begin_sending().is_none(), "another one sends");
        unsent.sent_bytes = 7;
        outbox.end_sending(unsent, false);
        assert!(outbox.begin_sending().is_none(), "a rest waits for the writer");
        let rest = outbox.wait().expect("the rest");
        assert_eq!((rest.answers.len(), rest.sent_bytes), (1, 7));
        outbox.end_sending(rest, true);
        third.answer(Outcome::Done);
        let both = outbox.begin_sending().expect("the later ones");
        assert_eq!((both.answers.len(), both.sent_bytes), (2, 0));
        outbox.end_sending(both, true);
        assert!(outbox.has_room(1000, &LIMITS));
        assert_eq!(budget.left(), 1800);
    }

    /// What is forgotten is answered with an error.
    #[test]
    fn nothing_is_forgotten() {
        let (outbox, budget) = (Arc::new(Outbox::default()), Budget::new(600));
        drop(pledge(&outbox, &budget));
        let answers = outbox.take();
        assert!(matches!(answers[..], [Answer::Reply(READ, Outcome::Failed(Fault::Broken, _), _)]), "{answers:?}");
        assert!(outbox.is_answered());
    }

    /// Who waits for answers hears of the end, and answers to a client that is gone give back their memory.
    #[test]
    fn ends() {
        let (outbox, budget) = (Arc::new(Outbox::default()), Budget::new(600));
        pledge(&outbox, &budget).answer(Outcome::Done);
        let unsent = outbox.begin_sending().expect("one");
        outbox.complete();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| count(outbox.wait()));
            outbox.end_sending(unsent, true);
            assert_eq!(waits.join().expect("no panic"), None);
        });
        assert_eq!(budget.left(), 600);
        let asked = pledge(&outbox, &budget);
        outbox.close();
        asked.answer(Outcome::Done);
        assert_eq!((budget.left(), outbox.wait().is_none()), (600, true));
        assert!(!outbox.wait_for_room(5000, &LIMITS) && outbox.is_answered());
    }
}
