//! A client of our own: the protocol's bytes by hand, so that it can do wrong, too.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use ssdlab_serve::socket::Address;

pub const READ: u16 = 0;
pub const WRITE: u16 = 1;
pub const FLUSH: u16 = 3;
pub const TRIM: u16 = 4;
pub const ZEROES: u16 = 6;
pub const FUA: u16 = 1;
pub const NO_HOLE: u16 = 2;

pub const EPERM: u32 = 1;
pub const EIO: u32 = 5;
pub const EINVAL: u32 = 22;
pub const ENOSPC: u32 = 28;
pub const ESHUTDOWN: u32 = 108;

/// The client's flags, and the choice of the export without a name.
pub const GO: &[u8] = b"\x00\x00\x00\x03IHAVEOPT\x00\x00\x00\x07\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00";

/// A stream of either kind.
pub trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

pub fn connect(address: &Address) -> io::Result<Box<dyn Stream>> {
    Ok(match address {
        Address::Unix(path) => Box::new(UnixStream::connect(path)?),
        Address::Tcp(address) => Box::new(TcpStream::connect(address)?),
    })
}

/// A connection in the transmission phase, with simple replies.
pub struct Client {
    pub stream: Box<dyn Stream>,
    /// As the server told it.
    pub size: u64,
    pub flags: u16,
}

/// The head of a request.
pub fn head(flags: u16, command: u16, cookie: u64, offset: u64, length: u32) -> Vec<u8> {
    let kind = [&b"\x25\x60\x95\x13"[..], &flags.to_be_bytes(), &command.to_be_bytes()].concat();
    [&kind[..], &cookie.to_be_bytes(), &offset.to_be_bytes(), &length.to_be_bytes()].concat()
}

impl Client {
    /// Shakes hands; an error where the server hangs up.
    pub fn new(address: &Address) -> io::Result<Client> {
        let mut stream = connect(address)?;
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting)?;
        assert_eq!(&greeting, b"NBDMAGICIHAVEOPT\x00\x03");
        stream.write_all(GO)?;
        let mut client = Client { stream, size: 0, flags: 0 };
        loop {
            let mut head = [0; 20];
            client.stream.read_exact(&mut head)?;
            let number = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().expect("four bytes"));
            let mut data = vec![0; number(16) as usize];
            client.stream.read_exact(&mut data)?;
            match (number(12), data.as_slice()) {
                (1, _) => return Ok(client),
                (3, [0, 0, told @ ..]) => {
                    client.size = u64::from_be_bytes(told[..8].try_into().expect("eight bytes"));
                    client.flags = u16::from_be_bytes(told[8..].try_into().expect("two bytes"));
                }
                (3, _) => {}
                (kind, _) => panic!("the server refuses: {kind:#x}"),
            }
        }
    }

    /// Sends a request; the cookie of a read holds its length, so that its reply can be read.
    pub fn send(&mut self, flags: u16, command: u16, cookie: u64, place: (u64, u32), payload: &[u8]) {
        let bytes = [&head(flags, command, cookie, place.0, place.1), payload].concat();
        self.stream.write_all(&bytes).expect("the server reads");
    }

    /// The next reply: its cookie, its error, its data, of whose length `length` tells by the cookie.
    pub fn receive(&mut self, length: impl Fn(u64) -> usize) -> io::Result<(u64, u32, Vec<u8>)> {
        let mut head = [0; 16];
        self.stream.read_exact(&mut head)?;
        assert_eq!(head[..4], [0x67, 0x44, 0x66, 0x98], "no reply");
        let error = u32::from_be_bytes(head[4..8].try_into().expect("four bytes"));
        let cookie = u64::from_be_bytes(head[8..].try_into().expect("eight bytes"));
        let mut data = vec![0; if error == 0 { length(cookie) } else { 0 }];
        self.stream.read_exact(&mut data)?;
        Ok((cookie, error, data))
    }

    /// One request and its reply.
    pub fn ask(&mut self, flags: u16, command: u16, place: (u64, u32), payload: &[u8]) -> Result<Vec<u8>, u32> {
        self.send(flags, command, 77, place, payload);
        let length = if command == READ { place.1 as usize } else { 0 };
        let (cookie, error, data) = self.receive(|_| length).expect("a reply");
        assert_eq!(cookie, 77);
        if error == 0 { Ok(data) } else { Err(error) }
    }

    pub fn read(&mut self, offset: u64, length: u32) -> Result<Vec<u8>, u32> {
        self.ask(0, READ, (offset, length), &[])
    }

    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<Vec<u8>, u32> {
        self.ask(0, WRITE, (offset, bytes.len() as u32), bytes)
    }

    pub fn flush(&mut self) -> Result<Vec<u8>, u32> {
        self.ask(0, FLUSH, (0, 0), &[])
    }

    /// The server has hung up, now or later; anything else is a failure.
    pub fn is_hung_up_on(&mut self) -> bool {
        let mut byte = [0];
        !matches!(self.stream.read(&mut byte), Ok(1))
    }
}
