//! One client that speaks NBD, from the greeting to the end. Whatever it does ends its own connection at worst.

use crate::client::{Client, Never, converse};
use crate::drive::Task;
use crate::house::{Ending, House};
use crate::input::{Input, Wait};
use crate::nbd::handshake::{Handshake, Step};
use crate::nbd::session::{Event, Session};
use crate::nbd::wire::GREETING;
use crate::offer::export;
use crate::outbox::Pledge;
use crate::output::send;
use crate::replies::Replies;
use crate::request::Request;
use crate::socket::Socket;
use crate::steps::bytes_of;
use ssdlab_disk::medium::Medium;
use std::net::Shutdown;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

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
        Ok(session) => {
            let replies = Replies::Nbd(session.replies());
            converse(house, socket, input, (replies, cycle), |client| Connection { client, session }.ask_on())
        }
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

/// The side of a connection that takes requests.
struct Connection<'a, M: Medium> {
    client: Client<'a, M>,
    session: Session,
}

impl<M: Medium> Connection<'_, M> {
    /// Takes requests until the client ends.
    fn ask_on(&mut self) -> Result<Never, Ending> {
        let client = &mut self.client;
        loop {
            let (taken, event) = self.session.take(client.input.held());
            client.input.consume(taken);
            match event {
                Event::More => {
                    if taken > 0 {
                        client.input.begin();
                    }
                    client.fill()?;
                }
                Event::Request(request) => gather(client, request)?,
                Event::Refused(refusal) => {
                    client.input.complete();
                    client.make_room(0)?;
                    let mut bytes = Vec::new();
                    self.session.replies().refused(&mut bytes, &refusal);
                    client.outbox.put_written(bytes);
                }
                Event::Disconnect => {
                    client.hand_over()?;
                    return Err(Ending::Left);
                }
                Event::Broken(_) => return Err(Ending::BrokeProtocol),
            }
        }
    }
}

/// A request is there; its payload is read.
fn gather<M: Medium>(client: &mut Client<'_, M>, request: Request) -> Result<(), Ending> {
    let share = client.share(bytes_of(&request))?;
    let mut payload = vec![0; request.payload()];
    if !payload.is_empty() {
        client.input.begin_payload();
        client.take(&mut payload)?;
    }
    client.input.complete();
    client.push(Task { pledge: Pledge::new(&client.outbox, request, share), payload, more: Vec::new() });
    Ok(())
}
