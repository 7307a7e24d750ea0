//! One NVMe queue: a connection from its first PDU to the end. Whatever a host does ends its own queues at worst.
//!
//! ```text
//!   IC request ─► IC response ─► connect ─┬► admin queue: answered one by one
//!                                         └► I/O queue: commands to the drive, completions in any order
//! ```
//! Data of a write come in the capsule, or are asked for (R2T) once there is room for them, all at once. Until they are
//! there, other commands of the queue wait: so no two of them wait for each other's memory.

use crate::client::{Client, Never, converse};
use crate::drive::Task;
use crate::house::{Ending, House};
use crate::input::{Input, Silence, Wait};
use crate::limits::Limits;
use crate::nvme::admin::{Answer, SanitizeAction, tells_use};
use crate::nvme::command::{Sgl, Submission};
use crate::nvme::fabric::{self, Connect, Refusal};
use crate::nvme::facts::Namespace;
use crate::nvme::identify::Kind;
use crate::nvme::io::{self, Asked};
use crate::nvme::logs;
use crate::nvme::pdu::{self, Agreed, Fatal, Head, HostData};
use crate::nvme::reply::Completions;
use crate::nvme::status::Status;
use crate::outbox::Pledge;
use crate::output::send;
use crate::replies::Replies;
use crate::request::{Command, Request};
use crate::socket::Socket;
use crate::steps::bytes_of;
use crate::target::{Target, facts, namespace};
use ssdlab_device::ssd::admin::StartOver;
use ssdlab_disk::medium::Medium;
use std::collections::VecDeque;
use std::net::Shutdown;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Commands that wait while the data of another one come.
const MOST_DEFERRED: usize = fabric::MOST_ENTRIES as usize;

/// Why a queue ends.
enum End {
    /// The host left, or was too slow.
    Ending(Ending),
    /// It broke the transport's rules, and is told which.
    Fatal(Fatal),
}

impl From<Ending> for End {
    fn from(ending: Ending) -> End {
        End::Ending(ending)
    }
}

impl From<Silence> for End {
    fn from(silence: Silence) -> End {
        End::Ending(silence.into())
    }
}

impl From<Fatal> for End {
    fn from(fatal: Fatal) -> End {
        End::Fatal(fatal)
    }
}

/// Serves a host's queue until it ends. A panic is the queue's end, and the drive's if it came from there.
pub fn serve<M: Medium + Send>(house: &House<M>, target: &Target, socket: &Arc<Socket>) -> Ending {
    let served = catch_unwind(AssertUnwindSafe(|| begin(house, target, socket)));
    let ending = served.unwrap_or_else(|_| {
        house.served.see_to_it();
        Ok(Ending::Left)
    });
    let ending = ending.unwrap_or_else(|end| match end {
        End::Ending(ending) => ending,
        End::Fatal(fatal) => {
            // Who does not take it has left.
            let _ = send(socket, &pdu::termination(fatal), house.limits.to_take);
            Ending::BrokeProtocol
        }
    });
    socket.shut(Shutdown::Both);
    ending
}

/// A queue that is connected, until it is dropped.
struct Seat<'a> {
    target: &'a Target,
    controller: u16,
    queue: u16,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        match self.queue {
            0 => self.target.leave(self.controller),
            queue => self.target.leave_queue(self.controller, queue),
        }
    }
}

fn begin<M: Medium + Send>(house: &House<M>, target: &Target, socket: &Arc<Socket>) -> Result<Ending, End> {
    let limits = &house.limits;
    if socket.set_patience(limits.to_ask, limits.to_take).is_err() {
        return Ok(Ending::Left);
    }
    let cycle_of_power = || house.served.with(|drive| drive.is_on().then(|| drive.cycle()));
    let Some(cycle) = cycle_of_power() else { return Ok(Ending::Left) };
    let mut input = Input::new(socket, limits.to_ask);
    let asked = Pdu::read(&mut Plain(&mut input), Agreed::default())?;
    if asked.kind != pdu::IC_REQUEST {
        return Err(Fatal::Sequence.into());
    }
    let agreed = Agreed::read(&asked.header)?;
    send(socket, &pdu::ic_response(agreed), limits.to_take)?;
    let first = Pdu::read(&mut Plain(&mut input), agreed)?;
    input.complete();
    let command = first.submission()?;
    let (mut answer, connected) = (Vec::new(), connect(&command, &first.data, target, (socket, limits)));
    let (wish, controller, kind) = match connected {
        Ok(connected) => connected,
        Err(Refusal { status, result }) => {
            Completions::new(agreed, 0, 2, target.errors.clone()).end(&mut answer, command.id, result.into(), status);
            send(socket, &answer, limits.to_take)?;
            return Ok(Ending::Left);
        }
    };
    let _seat = Seat { target, controller, queue: wish.queue };
    if cycle_of_power() != Some(cycle) {
        // A loss of power in between hung up on those who were connected then.
        return Ok(Ending::Left);
    }
    let completions = Completions::new(agreed, wish.queue, wish.entries, target.errors.clone());
    completions.took();
    completions.end(&mut answer, command.id, controller.into(), Status::SUCCESS);
    send(socket, &answer, limits.to_take)?;
    let queue = Queue { house, target, socket, controller, completions };
    if wish.queue > 0 {
        return queue.converse(input, cycle);
    }
    let Err(end) = queue.administer(kind, input);
    Err(end)
}

/// The first command of a queue, which connects it.
fn connect(
    command: &Submission,
    data: &[u8],
    target: &Target,
    (socket, limits): (&Arc<Socket>, &Limits),
) -> Result<(Connect, u16, Kind), Refusal> {
    if command.opcode != Submission::FABRICS || command.fabrics_type() != fabric::CONNECT {
        return Err(Status::SEQUENCE_ERROR.into());
    }
    let wish = Connect::read(command, data)?;
    let (controller, kind) = target.connect(&wish, socket, limits.controllers)?;
    Ok((wish, controller, kind))
}

/// Where bytes of the stream come from.
trait Source {
    fn take(&mut self, into: &mut [u8]) -> Result<(), Ending>;
}

/// The stream alone: nothing is done meanwhile.
struct Plain<'a, 'b>(&'a mut Input<'b>);

impl Source for Plain<'_, '_> {
    fn take(&mut self, into: &mut [u8]) -> Result<(), Ending> {
        let mut filled = 0;
        while let Some(rest) = into.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            filled += self.0.take(rest, Wait::Yes)?;
        }
        Ok(())
    }
}

impl<M: Medium> Source for Client<'_, M> {
    fn take(&mut self, into: &mut [u8]) -> Result<(), Ending> {
        Client::take(self, into)
    }
}

/// A PDU of the host's.
struct Pdu {
    kind: u8,
    header: Vec<u8>,
    data: Vec<u8>,
    /// The digest of the data is right.
    is_sound: bool,
}

impl Pdu {
    /// The next of the stream.
    fn read(source: &mut impl Source, agreed: Agreed) -> Result<Pdu, End> {
        let mut first = [0; Head::BYTES];
        source.take(&mut first)?;
        let head = Head::read(&first);
        let layout = head.layout(agreed)?;
        let mut header = first.to_vec();
        header.extend(bytes(source, layout.header)?);
        if layout.header_digest && bytes(source, 4)? != pdu::digest(&header) {
            return Err(Fatal::HeaderDigest.into());
        }
        bytes(source, layout.padding)?;
        let data = bytes(source, layout.data as usize)?;
        let is_sound = !layout.data_digest || bytes(source, 4)? == pdu::digest(&data);
        if head.kind == pdu::HOST_TERMINATES {
            return Err(Ending::Left.into());
        }
        Ok(Pdu { kind: head.kind, header, data, is_sound })
    }

    /// The command of a capsule.
    fn submission(&self) -> Result<Submission, End> {
        if self.kind != pdu::CAPSULE_COMMAND {
            return Err(Fatal::Sequence.into());
        }
        Ok(Submission::read(self.header.get(Head::BYTES..).unwrap_or_default()))
    }
}

fn bytes(source: &mut impl Source, length: usize) -> Result<Vec<u8>, End> {
    let mut bytes = vec![0; length];
    source.take(&mut bytes)?;
    Ok(bytes)
}

/// What both kinds of queue have.
struct Queue<'a, M: Medium> {
    house: &'a House<M>,
    target: &'a Target,
    socket: &'a Arc<Socket>,
    controller: u16,
    completions: Completions,
}

impl<'a, M: Medium + Send> Queue<'a, M> {
    /// An admin queue: each command is answered before the next is read. A host that does not show in time that it is
    /// alive is gone.
    fn administer(&self, kind: Kind, mut input: Input<'_>) -> Result<Never, End> {
        let place = self.place();
        loop {
            let alive = self.target.with(self.controller, |controller| controller.keep_alive_ms()).unwrap_or(0);
            if alive > 0 {
                // Twice the time, since the host's clock and this one's machine may be late.
                let patience = Duration::from_millis(alive.into()).saturating_mul(2);
                let waits = self.socket.set_patience(patience.min(self.house.limits.to_ask), self.house.limits.to_take);
                waits.map_err(|_| Ending::Left)?;
                input.set_patience(patience);
                input.begin();
            }
            let asked = Pdu::read(&mut Plain(&mut input), self.completions.agreed)?;
            input.complete();
            let command = asked.submission()?;
            self.completions.took();
            let mut out = Vec::new();
            self.answer(&command, kind, &place, &mut out);
            self.tell_event(kind, &mut out);
            send(self.socket, &out, self.house.limits.to_take)?;
            if self.house.is_closed() {
                return Err(Ending::Left.into());
            }
        }
    }

    /// Where the host has come to.
    fn place(&self) -> logs::Place {
        match self.socket.local_address() {
            Some(address) => {
                logs::Place { address: address.ip().to_string(), port: address.port(), is_v6: address.is_ipv6() }
            }
            None => logs::Place { address: String::new(), port: 0, is_v6: false },
        }
    }

    /// An event request ends, where there is something to tell.
    fn tell_event(&self, kind: Kind, out: &mut Vec<u8>) {
        if kind == Kind::Discovery {
            return;
        }
        let Some(facts) = self.house.served.with(|drive| drive.disk().map(|disk| facts(disk, false))) else { return };
        let event = self.target.with(self.controller, |controller| controller.event(&facts)).flatten();
        if let Some((command, result)) = event {
            self.completions.end(out, command, result.into(), Status::SUCCESS);
        }
    }

    fn answer(&self, command: &Submission, kind: Kind, place: &logs::Place, out: &mut Vec<u8>) {
        if command.opcode == Submission::FABRICS {
            let (result, status) = self.fabrics(command).map_or_else(|status| (0, status), |it| (it, Status::SUCCESS));
            return self.completions.end(out, command.id, result, status);
        }
        let is_enabled = self.target.with(self.controller, |controller| controller.properties.is_enabled());
        let answered = match is_enabled {
            Some(true) => {
                match self.house.served.with(|drive| drive.disk().map(|disk| facts(disk, tells_use(command)))) {
                    Some(facts) => self.target.answer(self.controller, command, &facts, place),
                    None => Err(Status::INTERNAL_ERROR),
                }
            }
            _ => Err(Status::SEQUENCE_ERROR),
        };
        let status = match answered {
            Ok(Answer::Held) => return,
            Ok(Answer::Data(data)) if data.len() as u64 > u64::from(command.sgl.length) => Err(Status::SGL_LENGTH),
            Ok(Answer::Data(data)) => return self.completions.data(out, command.id, &data),
            Ok(Answer::End(result)) => Ok(result),
            Ok(Answer::Enter(state)) => {
                let entered = self.house.served.with(|drive| drive.disk().map(|disk| disk.enter_power_state(state)));
                entered.map(|()| 0).ok_or(Status::INTERNAL_ERROR)
            }
            Ok(Answer::StartOver(how, sanitize)) => self.start_over(how, sanitize),
            Err(status) => Err(status),
        };
        if let Err(status) = status
            && kind == Kind::Drive
        {
            self.completions.note_failure(command.id, status, 0);
        }
        let (result, status) = status.map_or_else(|status| (0, status), |result| (result, Status::SUCCESS));
        self.completions.end(out, command.id, result.into(), status);
    }

    fn fabrics(&self, command: &Submission) -> Result<u64, Status> {
        let used = self.target.with(self.controller, |controller| match command.fabrics_type() {
            fabric::PROPERTY_GET => controller.properties.get(command),
            fabric::PROPERTY_SET => controller.properties.set(command).map(|()| 0),
            fabric::CONNECT => Err(Status::SEQUENCE_ERROR),
            _ => Err(Status::INVALID_OPCODE),
        });
        used.unwrap_or(Err(Status::INTERNAL_ERROR))
    }

    /// Format or sanitize: its owner lets the drive start over, and keeps that. A sanitize goes on for as long as the
    /// drive takes, at its pace.
    fn start_over(&self, how: StartOver, sanitize: Option<SanitizeAction>) -> Result<u32, Status> {
        let passes = sanitize.map_or(1, |asked| asked.passes);
        let took = self.house.start_over(how, passes).ok();
        let lasts = took.map(|took| self.house.served.pace().lasts(took));
        let is_kept = sanitize.is_none_or(|asked| self.target.sanitize(asked.dword, lasts).is_ok());
        if took.is_some() && is_kept { Ok(0) } else { Err(Status::INTERNAL_ERROR) }
    }

    /// An I/O queue.
    fn converse(mut self, input: Input<'a>, cycle: u64) -> Result<Ending, End> {
        let Some(namespace) = self.house.served.with(|drive| drive.disk().map(namespace)) else {
            return Ok(Ending::Left);
        };
        self.completions.sector_bytes = namespace.sector_bytes;
        let replies = Replies::Nvme(self.completions.clone());
        Ok(converse(self.house, self.socket, input, (replies, cycle), |client| {
            let mut queue = IoQueue { queue: &self, namespace, client, deferred: VecDeque::new() };
            queue.ask_on().map_err(|end| queue.tell(end))
        }))
    }
}

/// A queue of commands of the NVM command set.
struct IoQueue<'a, 'b, M: Medium> {
    queue: &'b Queue<'a, M>,
    namespace: Namespace,
    client: Client<'b, M>,
    /// Commands that came while data of another one were waited for.
    deferred: VecDeque<Pdu>,
}

impl<M: Medium + Send> IoQueue<'_, '_, M> {
    /// Takes commands until the host ends.
    fn ask_on(&mut self) -> Result<Never, End> {
        loop {
            let asked = match self.deferred.pop_front() {
                Some(asked) => asked,
                None => {
                    let asked = self.next_pdu()?;
                    self.client.input.complete();
                    asked
                }
            };
            let command = asked.submission()?;
            self.queue.completions.took();
            if let Err(status) = self.take(&command, asked)? {
                self.end(&command, status);
            }
        }
    }

    /// A host that broke the transport's rules is told which, behind the answers that it has still to get.
    fn tell(&mut self, end: End) -> Ending {
        match end {
            End::Ending(ending) => ending,
            End::Fatal(fatal) => {
                self.client.outbox.put_written(pdu::termination(fatal));
                // Who does not take it has left.
                let _ = self.client.hand_over();
                Ending::BrokeProtocol
            }
        }
    }

    /// The next PDU, which has begun with its first byte, or with what it is a part of.
    fn next_pdu(&mut self) -> Result<Pdu, End> {
        if self.client.input.held().is_empty() {
            self.client.fill()?;
        }
        self.client.input.begin();
        Pdu::read(&mut self.client, self.queue.completions.agreed)
    }

    /// A command that the drive is not asked ends.
    fn end(&self, command: &Submission, status: Status) {
        if !status.is_success() {
            self.queue.completions.note_failure(command.id, status, command.start());
        }
        let mut out = Vec::new();
        self.queue.completions.end(&mut out, command.id, 0, status);
        self.client.outbox.put_written(out);
    }

    /// A command is taken; its status where it ends at once.
    fn take(&mut self, command: &Submission, asked: Pdu) -> Result<Result<(), Status>, End> {
        if command.opcode == Submission::FABRICS {
            return match command.fabrics_type() {
                fabric::DISCONNECT => {
                    self.end(command, Status::SUCCESS);
                    self.client.hand_over()?;
                    Err(Ending::Left.into())
                }
                _ => Ok(Err(Status::INVALID_OPCODE)),
            };
        }
        if self.queue.target.is_sanitizing() {
            return Ok(Err(Status::SANITIZE_IN_PROGRESS));
        }
        let cache_is_on = self.queue.target.cache_is_on();
        let wanted = match io::read(command, &self.namespace, cache_is_on) {
            Ok(wanted) => wanted,
            Err(status) => return Ok(Err(status)),
        };
        let share = self.client.share(match &wanted {
            Asked::Drive(request) => bytes_of(request),
            _ => wanted.host_bytes().into(),
        })?;
        let payload = match self.payload(command, &wanted, asked)? {
            Ok(payload) => payload,
            Err(status) => return Ok(Err(status)),
        };
        let (request, payload, more) = match wanted {
            Asked::Nothing => return Ok(Err(Status::SUCCESS)),
            Asked::Drive(request) => (request, payload, Vec::new()),
            Asked::Deallocate(_) => match io::ranges(command, &self.namespace, &payload) {
                Err(status) => return Ok(Err(status)),
                Ok(mut ranges) => {
                    // They are carried out from the last on.
                    ranges.reverse();
                    let nothing = Request { cookie: command.id.into(), offset: 0, length: 0, command: Command::Cache };
                    (ranges.pop().unwrap_or(nothing), Vec::new(), ranges)
                }
            },
        };
        self.client.push(Task { pledge: Pledge::new(&self.client.outbox, request, share), payload, more });
        Ok(Ok(()))
    }

    /// The data of a command: from its capsule, or asked for.
    fn payload(&mut self, command: &Submission, wanted: &Asked, asked: Pdu) -> Result<Result<Vec<u8>, Status>, End> {
        let needed = wanted.host_bytes() as usize;
        if !asked.is_sound {
            return Ok(Err(Status::TRANSPORT));
        }
        if needed == 0 {
            return Ok(Ok(Vec::new()));
        }
        if command.sgl.kind == Sgl::IN_CAPSULE {
            let mut data = asked.data;
            if data.len() < needed {
                return Ok(Err(Status::SGL_LENGTH));
            }
            data.truncate(needed);
            return Ok(Ok(data));
        }
        self.fetch(command, needed)
    }

    /// Asks the host for data, and takes them; other commands wait meanwhile.
    fn fetch(&mut self, command: &Submission, needed: usize) -> Result<Result<Vec<u8>, Status>, End> {
        let (tag, agreed) = (command.id, self.queue.completions.agreed);
        let mut out = Vec::new();
        pdu::ready_to_transfer(&mut out, agreed, command.id, tag, needed as u32);
        self.client.outbox.put_written(out);
        self.client.hand_over()?;
        self.client.input.begin_payload();
        let (mut data, mut is_sound) = (Vec::with_capacity(needed), true);
        while data.len() < needed {
            let next = self.next_pdu()?;
            if next.kind == pdu::CAPSULE_COMMAND {
                if self.deferred.len() >= MOST_DEFERRED {
                    return Err(Fatal::Limit.into());
                }
                self.deferred.push_back(next);
                continue;
            }
            let found = HostData::read(&next.header);
            let is_next = (found.command, found.tag, found.offset as usize) == (command.id, tag, data.len());
            let length = next.data.len();
            if next.kind != pdu::HOST_DATA || !is_next || found.length as usize != length || length == 0 {
                return Err(Fatal::Sequence.into());
            }
            if data.len() + length > needed {
                return Err(Fatal::OutOfRange.into());
            }
            is_sound &= next.is_sound;
            data.extend(next.data);
        }
        self.client.input.complete();
        Ok(if is_sound { Ok(data) } else { Err(Status::TRANSPORT) })
    }
}
