//! One client, from the greeting to the end.
//!
//! The thread of the connection takes all requests that are there, hands them to the drive under one lock, and reads on.
//! Without a clock the drive has answered them when it returns, and the thread sends the answers; with one, whoever ends
//! them sends, and a second thread what the client did not take at once. A request is read only when there is room for it,
//! in the connection's limits and in the memory of all. Whatever a client does ends its own connection at worst.

use crate::drive::{Batch, Task};
use crate::house::{Ending, House};
use crate::input::{Input, Silence, Wait};
use crate::nbd::command::Request;
use crate::nbd::handshake::{Handshake, Step};
use crate::nbd::reply::Replies;
use crate::nbd::session::{Event, Session};
use crate::nbd::wire::GREETING;
use crate::offer::export;
use crate::outbox::{Outbox, Pledge, Unsent, Way};
use crate::output::{answer, send};
use crate::socket::Socket;
use crate::steps::bytes_of;
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

/// Serves a client until it leaves. A panic is the connection's end, and the drive's if it came from there.
pub fn serve<M: Medium + Send>(house: &House<M>, socket: &Arc<Socket>) -> Ending {
    let served = catch_unwind(AssertUnwindSafe(|| greet(house, socket)));
    socket.shut(Shutdown::Both);
    served.unwrap_or_else(|_| {
        house.served.see_to_it();
        Ending::Left
    })
}

fn greet<M: Medium + Send>(house: &House<M>, socket: &Arc<Socket>) -> Ending {
    let limits = &house.limits;
    if socket.set_patience(limits.to_ask, limits.to_take).is_err() {
        return Ending::Left;
    }
    let offered = house.served.with(|drive| {
        let cycle = drive.cycle();
        drive.disk().map(|disk| (cycle, export(disk, &house.name)))
    });
    let Some((cycle, export)) = offered else { return Ending::Left };
    let Ok(handshake) = Handshake::new(Arc::new([export])) else { return Ending::Left };
    let mut input = Input::new(socket, limits.to_ask);
    match shake(house, socket, &mut input, handshake) {
        Ok(session) => converse(house, socket, input, session, cycle),
        Err(ending) => ending,
    }
}

/// The handshake.
fn shake<M: Medium>(
    house: &House<M>,
    socket: &Socket,
    input: &mut Input<'_>,
    mut handshake: Handshake,
) -> Result<Session, Ending> {
    send(socket, &GREETING, house.limits.to_take)?;
    let mut out = Vec::new();
    loop {
        let (taken, step) = handshake.take(input.held(), &mut out);
        input.consume(taken);
        // Answers to options that came together go out together.
        let is_pause = step != Step::Answered || input.held().is_empty();
        if is_pause && !out.is_empty() {
            send(socket, &out, house.limits.to_take)?;
            out.clear();
        }
        match step {
            Step::Go(agreed) => {
                input.complete();
                return Ok(Session::new(*agreed));
            }
            Step::More => drop(input.fill(Wait::Yes)?),
            Step::Answered => {}
            Step::Aborted => return Err(Ending::Left),
            Step::Broken(_) => return Err(Ending::BrokeProtocol),
        }
    }
}

/// Requests and answers, by one thread or two.
fn converse<M: Medium + Send>(
    house: &House<M>,
    socket: &Arc<Socket>,
    input: Input<'_>,
    session: Session,
    cycle: u64,
) -> Ending {
    let replies = session.replies();
    let is_paced = house.served.pace().is_paced();
    let way = Way { socket: socket.clone(), replies };
    let outbox = Arc::new(if is_paced { Outbox::with_way(way) } else { Outbox::default() });
    let mut connection = Connection { house, socket, input, session, cycle, outbox: outbox.clone(), tasks: Vec::new() };
    if !is_paced {
        let Err(ending) = connection.ask_on();
        return ending;
    }
    std::thread::scope(|scope| {
        let writer = || send_on(house, socket, replies, &outbox);
        let Ok(writer) = std::thread::Builder::new().spawn_scoped(scope, writer) else { return Ending::Left };
        let asked = catch_unwind(AssertUnwindSafe(|| connection.ask_on()));
        let Err(ending) = asked.unwrap_or(Err(Ending::BrokeProtocol));
        match ending {
            // What is under way is still answered.
            Ending::Left => outbox.complete(),
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
fn send_on<M: Medium>(house: &House<M>, socket: &Socket, replies: Replies, outbox: &Outbox) -> Result<(), Silence> {
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

/// Nothing but an ending ends it.
enum Never {}

/// The side of a connection that takes requests.
struct Connection<'a, M: Medium> {
    house: &'a House<M>,
    socket: &'a Socket,
    input: Input<'a>,
    session: Session,
    cycle: u64,
    outbox: Arc<Outbox>,
    /// Taken and not handed over.
    tasks: Vec<Task>,
}

impl<M: Medium> Connection<'_, M> {
    /// Takes requests until the client ends.
    fn ask_on(&mut self) -> Result<Never, Ending> {
        loop {
            let (taken, event) = self.session.take(self.input.held());
            self.input.consume(taken);
            match event {
                Event::More => {
                    if taken > 0 {
                        self.input.begin();
                    }
                    // As many together as the client has sent: that is how deep the drive's queue gets.
                    // A client that is gone is met again below, behind what it had asked.
                    if !matches!(self.input.fill(Wait::No), Ok(true)) {
                        self.hand_over()?;
                        self.input.fill(Wait::Yes)?;
                    }
                }
                Event::Request(request) => self.gather(request)?,
                Event::Refused(refusal) => {
                    self.input.complete();
                    self.make_room(0)?;
                    self.outbox.refuse(refusal);
                }
                Event::Disconnect => {
                    self.hand_over()?;
                    return Err(Ending::Left);
                }
                Event::Broken(_) => return Err(Ending::BrokeProtocol),
            }
        }
    }

    /// A request is there; its payload is read.
    fn gather(&mut self, request: Request) -> Result<(), Ending> {
        let bytes = bytes_of(&request);
        self.make_room(bytes)?;
        let share = match self.house.budget.try_take(bytes) {
            Some(share) => share,
            None => {
                // What is held while waiting for more must not be what is waited for.
                self.hand_over()?;
                self.house.budget.take(bytes).ok_or(Ending::Left)?
            }
        };
        let payload = self.payload(request.payload())?;
        self.input.complete();
        self.tasks.push(Task { pledge: Pledge::new(&self.outbox, request, share), payload });
        Ok(())
    }

    /// The payload of a write. Others' requests, and one's own, do not wait for a client that stalls.
    fn payload(&mut self, length: usize) -> Result<Vec<u8>, Ending> {
        let mut payload = vec![0; length];
        if length == 0 {
            return Ok(payload);
        }
        self.input.begin_payload();
        let mut filled = 0;
        while let Some(rest) = payload.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            filled += match self.input.take(rest, Wait::No) {
                Ok(taken) if taken > 0 => taken,
                _ => {
                    self.hand_over()?;
                    self.input.take(rest, Wait::Yes)?
                }
            };
        }
        Ok(payload)
    }

    /// There is room for one more.
    fn make_room(&mut self, bytes: u64) -> Result<(), Ending> {
        if self.outbox.has_room(bytes, &self.house.limits) {
            return Ok(());
        }
        self.hand_over()?;
        if self.outbox.wait_for_room(bytes, &self.house.limits) { Ok(()) } else { Err(Ending::Left) }
    }

    /// What was gathered goes to the drive; without a clock, the answers go out.
    fn hand_over(&mut self) -> Result<(), Ending> {
        if !self.tasks.is_empty() {
            let tasks = std::mem::take(&mut self.tasks);
            self.house.served.ask(Batch { cycle: self.cycle, tasks }, &self.outbox);
        }
        if !self.house.served.pace().is_paced() {
            let unsent = Unsent { answers: self.outbox.take(), sent_bytes: 0 };
            answer(self.socket, self.session.replies(), &unsent, self.house.limits.to_take)?;
            self.outbox.sent(&unsent.answers);
        }
        if self.house.is_closed() { Err(Ending::Left) } else { Ok(()) }
    }
}
