//! Requests that a trace tells of and that cannot be replayed: they are counted, and told.

use serde::Serialize;
use std::fmt;

/// How many requests were left out, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// How many.
    pub requests: u64,
    /// The line of the first one, counted from 1.
    pub first_line: u64,
    /// Why the first one cannot be replayed.
    pub reason: String,
}

impl LeftOut {
    /// One more.
    pub(super) fn add(&mut self, line: u64, reason: impl FnOnce() -> String) {
        if self.requests == 0 {
            (self.first_line, self.reason) = (line, reason());
        }
        self.requests += 1;
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let are = if self.requests == 1 { "request is" } else { "requests are" };
        write!(f, "{} {are} left out, the first in line {}: {}", self.requests, self.first_line, self.reason)
    }
}
