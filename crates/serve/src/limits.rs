//! What one client may ask of the server, so that none harms another.

use std::time::Duration;

/// Bounds of requests, memory, connections and patience.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests of a connection that are not answered yet.
    pub requests: usize,
    /// Bytes of a connection's requests and replies.
    pub connection_bytes: u64,
    /// The same of all connections.
    pub all_bytes: u64,
    /// Connections at once; who comes later is hung up on.
    pub connections: usize,
    /// NVMe controllers of one host; who asks for more of them is told to try later.
    pub controllers: usize,
    /// A handshake, or a request that has begun, must be there within this time. Looked at once in as long: who is
    /// late is dropped after twice the time at the latest.
    pub to_ask: Duration,
    /// A reply must be taken within this time, looked at as often.
    pub to_take: Duration,
    /// At the end clients have this time to take what they were still answered.
    pub to_leave: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            requests: 128,
            connection_bytes: 64 << 20,
            all_bytes: 256 << 20,
            connections: 512,
            controllers: 8,
            to_ask: Duration::from_secs(30),
            to_take: Duration::from_secs(30),
            to_leave: Duration::from_secs(5),
        }
    }
}
