//! What every connection has in common, whatever protocol it speaks: what its client sends, and the answers to it.
//!
//! The thread of the connection takes all requests that are there, hands them to the drive under one lock, and reads on.
//! Without a clock the drive has answered them when it returns, and the thread sends the answers; with one, whoever ends
//! them sends, and a second thread what the client did not take at once. A request is read only when there is room for it,
//! in the connection's limits and in the memory of all.

use crate::budget::Share;
use crate::drive::{Batch, Task};
use crate::house::{Ending, House};
use crate::input::{Input, Silence, Wait};
use crate::outbox::{Outbox, Unsent, Way};
use crate::output::answer;
use crate::replies::Replies;
use crate::socket::Socket;
use ssdlab_disk::medium::Medium;
use std::net::Shutdown;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

impl From<Silence> for Ending {
    fn from(silence: Silence) -> Ending {
        match silence {
            Silence::Gone => Ending::Left,
            Silence::TooSlow => Ending::TooSlow,
        }
    }
}

/// Nothing but an ending ends it.
pub enum Never {}

/// The side of a connection that takes requests.
pub struct Client<'a, M: Medium> {
    /// What all connections share.
    pub house: &'a House<M>,
    /// What it sends.
    pub input: Input<'a>,
    /// Where the answers go.
    pub outbox: Arc<Outbox>,
    socket: &'a Socket,
    replies: Replies,
    /// The power cycle in which it came.
    cycle: u64,
    /// Taken and not handed over.
    tasks: Vec<Task>,
}

/// Requests and answers, by one thread or two: `ask` takes requests until the client ends.
pub fn converse<'a, M: Medium + Send>(
    house: &'a House<M>,
    socket: &'a Arc<Socket>,
    input: Input<'a>,
    (replies, cycle): (Replies, u64),
    ask: impl FnOnce(Client<'a, M>) -> Result<Never, Ending>,
) -> Ending {
    let is_paced = house.served.pace().is_paced();
    let way = Way { socket: socket.clone(), replies: replies.clone() };
    let outbox = Arc::new(if is_paced { Outbox::with_way(way) } else { Outbox::default() });
    let replied = replies.clone();
    let client = Client { house, input, outbox: outbox.clone(), socket, replies, cycle, tasks: Vec::new() };
    if !is_paced {
        let Err(ending) = ask(client);
        return ending;
    }
    std::thread::scope(|scope| {
        let writer = || send_on(house, socket, &replied, &outbox);
        let Ok(writer) = std::thread::Builder::new().spawn_scoped(scope, writer) else { return Ending::Left };
        let asked = catch_unwind(AssertUnwindSafe(|| ask(client)));
        let Err(ending) = asked.unwrap_or(Err(Ending::BrokeProtocol));
        match ending {
            // What is under way is still answered, and who broke the rules is told so behind it.
            Ending::Left | Ending::BrokeProtocol => outbox.complete(),
            _ => hang_up(socket, &outbox),
        }
        match writer.join() {
            Ok(Err(Silence::TooSlow)) => Ending::TooSlow,
            _ => ending,
        }
    })
}

fn hang_up(socket: &Socket, outbox: &Outbox) {
    outbox.close();
    socket.shut(Shutdown::Both);
}

/// Sends what the client did not take at once.
fn send_on<M: Medium>(house: &House<M>, socket: &Socket, replies: &Replies, outbox: &Outbox) -> Result<(), Silence> {
    while let Some(unsent) = outbox.wait() {
        let sent = answer(socket, replies, &unsent, house.limits.to_take);
        if sent.is_err() {
            hang_up(socket, outbox);
        }
        outbox.end_sending(unsent, sent.is_ok());
        sent?;
    }
    Ok(())
}

impl<M: Medium> Client<'_, M> {
    /// More of what the client sends. As many requests together as it has sent: that is how deep the drive's queue gets.
    ///
    /// # Errors
    /// It is gone, which is met behind what it had asked; or it takes too long.
    pub fn fill(&mut self) -> Result<(), Ending> {
        if !matches!(self.input.fill(Wait::No), Ok(true)) {
            self.hand_over()?;
            self.input.fill(Wait::Yes)?;
        }
        Ok(())
    }

    /// Memory for a request, and room for it in the connection.
    ///
    /// # Errors
    /// The client is gone, or the server ends.
    pub fn share(&mut self, bytes: u64) -> Result<Share, Ending> {
        self.make_room(bytes)?;
        if let Some(share) = self.house.budget.try_take(bytes) {
            return Ok(share);
        }
        // What is held while waiting for more must not be what is waited for.
        self.hand_over()?;
        self.house.budget.take(bytes).ok_or(Ending::Left)
    }

    /// Bytes of the stream. Others' requests, and one's own, do not wait for a client that stalls.
    ///
    /// # Errors
    /// It is gone, or takes too long.
    pub fn take(&mut self, into: &mut [u8]) -> Result<(), Ending> {
        let mut filled = 0;
        while let Some(rest) = into.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            filled += match self.input.take(rest, Wait::No) {
                Ok(taken) if taken > 0 => taken,
                _ => {
                    self.hand_over()?;
                    self.input.take(rest, Wait::Yes)?
                }
            };
        }
        Ok(())
    }

    /// A request is whole.
    pub fn push(&mut self, task: Task) {
        self.tasks.push(task);
    }

    /// There is room for one more.
    ///
    /// # Errors
    /// The client is gone.
    pub fn make_room(&mut self, bytes: u64) -> Result<(), Ending> {
        if self.outbox.has_room(bytes, &self.house.limits) {
            return Ok(());
        }
        self.hand_over()?;
        if self.outbox.wait_for_room(bytes, &self.house.limits) { Ok(()) } else { Err(Ending::Left) }
    }

    /// What was gathered goes to the drive; without a clock, the answers go out.
    ///
    /// # Errors
    /// The client is gone, or the server ends.
    pub fn hand_over(&mut self) -> Result<(), Ending> {
        if !self.tasks.is_empty() {
            let tasks = std::mem::take(&mut self.tasks);
            self.house.served.ask(Batch { cycle: self.cycle, tasks }, &self.outbox);
        }
        if !self.house.served.pace().is_paced() {
            let unsent = Unsent { answers: self.outbox.take(), sent_bytes: 0 };
            answer(self.socket, &self.replies, &unsent, self.house.limits.to_take)?;
            self.outbox.sent(&unsent.answers);
        }
        if self.house.is_closed() { Err(Ending::Left) } else { Ok(()) }
    }
}
