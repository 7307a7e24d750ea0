//! How the answers of a connection are written: by its protocol, and as was agreed on.

use crate::nbd;
use crate::nbd::command::Error;
use crate::nvme::reply::Completions;
use crate::outcome::Outcome;
use crate::request::Request;

/// By protocol.
#[derive(Clone, Debug)]
pub enum Replies {
    /// A reply a request.
    Nbd(nbd::reply::Replies),
    /// A completion a command, behind its data.
    Nvme(Completions),
}

impl Replies {
    /// What comes before the data of an answer, or is all of it.
    pub fn head(&self, out: &mut Vec<u8>, request: &Request, outcome: &Outcome) {
        match self {
            Replies::Nbd(replies) => match outcome {
                Outcome::Done => replies.done(out, request.cookie),
                Outcome::Data(_) => replies.read(out, request),
                Outcome::Extents(extents) => replies.block_status(out, request, extents.iter().copied()),
                Outcome::Failed(fault, why) => {
                    replies.error(out, request.cookie, Error::of(*fault, request.command), why);
                }
            },
            Replies::Nvme(completions) => completions.head(out, request, outcome),
        }
    }

    /// What comes behind the data.
    pub fn tail(&self, out: &mut Vec<u8>, request: &Request, outcome: &Outcome) {
        match self {
            Replies::Nbd(_) => {}
            Replies::Nvme(completions) => completions.tail(out, request, outcome),
        }
    }
}
