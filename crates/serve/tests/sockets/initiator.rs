//! An NVMe host of our own over TCP: it connects, asks, and breaks the rules where it is told to.

use ssdlab_serve::nvme::fields::{Page, u8_at, u16_at, u32_at};
use ssdlab_serve::nvme::pdu::{self, digest};
use ssdlab_serve::nvme::status::Status;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

/// A queue of a host.
pub struct Queue {
    stream: TcpStream,
    with_digests: bool,
    next: u16,
    /// Who asks.
    pub host: &'static str,
    /// The controller that it belongs to.
    pub controller: u16,
    /// Digests of data are wrong.
    pub spoils_data: bool,
}

/// A completion.
#[derive(Debug, PartialEq, Eq)]
pub struct Completion {
    pub id: u16,
    pub result: u32,
    pub status: u16,
}

impl Completion {
    pub fn is(&self, status: Status) -> bool {
        self.status == status.field()
    }
}

/// A command before it is sent.
#[derive(Clone, Copy, Default)]
pub struct Command {
    pub opcode: u8,
    pub namespace: u32,
    pub dwords: [u32; 6],
    pub in_capsule: bool,
    pub length: u32,
}

impl Command {
    /// A command of the namespace for some sectors of 512 bytes.
    pub fn of(opcode: u8, first: u64, sectors: u32) -> Command {
        let dwords = [first as u32, (first >> 32) as u32, sectors - 1, 0, 0, 0];
        Command { opcode, namespace: 1, dwords, length: sectors * 512, in_capsule: false }
    }
}

impl Queue {
    /// Connects to a server, with digests or without; nothing is asked yet.
    pub fn open(address: SocketAddr, with_digests: bool) -> io::Result<Queue> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let digests = if with_digests { 3 } else { 0 };
        let request = Page::new(128).put(0, &[pdu::IC_REQUEST, 0, 128, 0]).put_u32(4, 128).put_u8(11, digests);
        stream.write_all(&request.bytes())?;
        let mut response = [0; 128];
        stream.read_exact(&mut response)?;
        assert_eq!((u8_at(&response, 0), u8_at(&response, 11)), (pdu::IC_RESPONSE, digests));
        let host = "nqn.2014-08.org.nvmexpress:uuid:host";
        Ok(Queue { stream, with_digests, next: 0, host, controller: 0xFFFF, spoils_data: false })
    }

    /// An admin queue of a subsystem, its controller enabled.
    pub fn admin(address: SocketAddr, name: &str, with_digests: bool) -> io::Result<Queue> {
        Queue::open(address, with_digests)?.enabled(name)
    }

    /// The same of another host.
    pub fn admin_of(host: &'static str, address: SocketAddr, name: &str) -> io::Result<Queue> {
        Queue { host, ..Queue::open(address, false)? }.enabled(name)
    }

    fn enabled(self, name: &str) -> io::Result<Queue> {
        let mut queue = self;
        let done = queue.connect(0, name, 0)?;
        assert!(done.is(Status::SUCCESS), "{done:?}");
        queue.controller = done.result as u16;
        let enable = Command { opcode: 0x7F, dwords: [0, 0x14, 0x46_0001, 0, 0, 0], ..Command::default() };
        assert!(queue.ask(&enable, &[])?.0.is(Status::SUCCESS));
        Ok(queue)
    }

    /// An I/O queue of the same controller.
    pub fn io(&self, address: SocketAddr, name: &str) -> io::Result<Queue> {
        let mut queue = Queue::open(address, self.with_digests)?;
        (queue.host, queue.controller) = (self.host, self.controller);
        let done = queue.connect(1, name, 0)?;
        assert!(done.is(Status::SUCCESS), "{done:?}");
        Ok(queue)
    }

    /// Sends a connect, and waits for its completion.
    pub fn connect(&mut self, number: u16, name: &str, keep_alive_ms: u32) -> io::Result<Completion> {
        let data = Page::new(1024).put_u16(16, self.controller).put_text(256, 256, 0, name);
        let data = data.put_text(512, 256, 0, self.host).bytes();
        let dwords = [u32::from(number) << 16, 127, keep_alive_ms, 0, 0, 0];
        let command = Command { opcode: 0x7F, namespace: 1, dwords, in_capsule: true, length: 1024 };
        Ok(self.ask(&command, &data)?.0)
    }

    /// Sends a command, with data in its capsule or not; returns its number.
    pub fn send(&mut self, command: &Command, data: &[u8]) -> io::Result<u16> {
        self.next += 1;
        let id = self.next;
        let data = if command.in_capsule { data } else { &[] };
        let digests = if self.with_digests { 4 } else { 0 };
        let pdo = 72 + digests;
        let plen = pdo + data.len() + if data.is_empty() { 0 } else { digests };
        let kind = if command.in_capsule { 0x01 } else { 0x5A };
        let mut page = Page::new(72)
            .put(0, &[pdu::CAPSULE_COMMAND, 0, 72, pdo as u8])
            .put_u32(4, plen as u32)
            .put(8, &[command.opcode, 0x40])
            .put_u16(10, id)
            .put_u32(12, command.namespace)
            .put_u32(8 + 32, command.length)
            .put_u8(8 + 39, kind);
        for (place, dword) in command.dwords.iter().enumerate() {
            page = page.put_u32(8 + 40 + 4 * place, *dword);
        }
        self.send_parts(page.bytes(), data)?;
        Ok(id)
    }

    /// A header and data, with digests where they were agreed on.
    fn send_parts(&mut self, header: Vec<u8>, data: &[u8]) -> io::Result<()> {
        let mut bytes = header.clone();
        if self.with_digests {
            bytes.extend(digest(&header));
        }
        bytes.extend(data);
        if self.with_digests && !data.is_empty() {
            let spoil = if self.spoils_data { 1 } else { 0 };
            bytes.extend(digest(data).map(|byte| byte ^ spoil));
        }
        self.raw(&bytes)
    }

    /// Whatever bytes.
    pub fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Data for a command, as an answer to an R2T.
    pub fn send_data(&mut self, command: u16, tag: u16, offset: u32, data: &[u8]) -> io::Result<()> {
        let digests = if self.with_digests { 4 } else { 0 };
        let pdo = 24 + digests;
        let header = Page::new(24)
            .put(0, &[pdu::HOST_DATA, 4, 24, pdo as u8])
            .put_u32(4, (pdo + data.len() + digests) as u32)
            .put_u16(8, command)
            .put_u16(10, tag)
            .put_u32(12, offset)
            .put_u32(16, data.len() as u32);
        self.send_parts(header.bytes(), data)
    }

    /// The next PDU: its header and its data.
    pub fn receive(&mut self) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let mut header = vec![0; 24];
        self.stream.read_exact(&mut header)?;
        let has_digest = self.with_digests && u8_at(&header, 0) != pdu::CONTROLLER_TERMINATES;
        if has_digest {
            let mut found = [0; 4];
            self.stream.read_exact(&mut found)?;
            assert_eq!(found, digest(&header));
        }
        let before = 24 + if has_digest { 4 } else { 0 };
        let mut data = vec![0; u32_at(&header, 4) as usize - before];
        self.stream.read_exact(&mut data)?;
        if has_digest && !data.is_empty() {
            let found = data.split_off(data.len() - 4);
            assert_eq!(found, digest(&data));
        }
        Ok((header, data))
    }

    /// The next completion, and the data before it. R2Ts are answered with what is given.
    pub fn end(&mut self, payload: &[u8]) -> io::Result<(Completion, Vec<u8>)> {
        let mut read = Vec::new();
        loop {
            let (header, data) = self.receive()?;
            match u8_at(&header, 0) {
                pdu::CAPSULE_RESPONSE => {
                    let (id, status) = (u16_at(&header, 20), u16_at(&header, 22));
                    return Ok((Completion { id, result: u32_at(&header, 8), status }, read));
                }
                pdu::CONTROLLER_DATA => read.extend(data),
                pdu::READY_TO_TRANSFER => {
                    assert_eq!(u32_at(&header, 16) as usize, payload.len());
                    let (command, tag) = (u16_at(&header, 8), u16_at(&header, 10));
                    for (number, piece) in payload.chunks(pdu::MOST_DATA as usize).enumerate() {
                        self.send_data(command, tag, number as u32 * pdu::MOST_DATA, piece)?;
                    }
                }
                pdu::CONTROLLER_TERMINATES => {
                    let why = u16_at(&header, 8);
                    return Err(io::Error::other(format!("terminated: {why}")));
                }
                other => panic!("PDU {other}"),
            }
        }
    }

    /// Sends a command, and waits for its end.
    pub fn ask(&mut self, command: &Command, data: &[u8]) -> io::Result<(Completion, Vec<u8>)> {
        let id = self.send(command, data)?;
        let (completion, read) = self.end(data)?;
        assert_eq!(completion.id, id);
        Ok((completion, read))
    }
}
