//! The devices that a trace tells of: one of them is replayed.

use super::Fault;
use std::collections::BTreeSet;

/// So many names of others are remembered for a message.
const NAMED: usize = 8;

/// Picks the requests of one device: of the one asked for, or of the only one.
#[derive(Debug, Default)]
pub(super) struct Devices {
    asked: Option<String>,
    first: Option<String>,
    others: BTreeSet<String>,
}

impl Devices {
    pub fn new(asked: Option<&str>) -> Devices {
        Devices { asked: asked.map(String::from), ..Devices::default() }
    }

    /// Whether this request is of the device that is replayed.
    ///
    /// # Errors
    /// It is of a second device, and nobody said which to take.
    pub fn takes(&mut self, device: &str, line: u64) -> Result<bool, Fault> {
        if let Some(asked) = &self.asked {
            let is_it = asked == device;
            if !is_it && self.others.len() < NAMED && !self.others.contains(device) {
                self.others.insert(device.to_string());
            }
            return Ok(is_it);
        }
        match &self.first {
            Some(first) if first == device => Ok(true),
            Some(first) => {
                let message = format!("{device} is a second device in the trace, after {first}");
                Err((line, message, "a trace is replayed on one drive: choose a device with replay_device=NAME"))
            }
            None => {
                self.first = Some(device.to_string());
                Ok(true)
            }
        }
    }

    /// The device that is replayed, as far as it is known.
    pub fn name(&self) -> Option<&str> {
        self.asked.as_deref().or(self.first.as_deref())
    }

    /// Why there is no request.
    pub fn none_found(&self) -> String {
        let others: Vec<&str> = self.others.iter().map(String::as_str).collect();
        let and_more = if others.len() == NAMED { ", …" } else { "" };
        match &self.asked {
            Some(asked) if !others.is_empty() => {
                format!("holds no request of {asked}; it tells of {}{and_more}", others.join(", "))
            }
            _ => "holds no request".into(),
        }
    }
}
