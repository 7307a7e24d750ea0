//! What is sent to a client: all answers that are there in one call, data from where they lie, and waited for only so long.

use crate::clock::wall;
use crate::input::Silence;
use crate::outbox::{Answer, Outbox, Unsent};
use crate::outcome::Outcome;
use crate::replies::Replies;
use crate::socket::Socket;
use std::io::{ErrorKind, IoSlice};
use std::time::Duration;

/// Sends bytes whole.
///
/// # Errors
/// The client is gone, or takes too long.
pub fn send(socket: &Socket, bytes: &[u8], patience: Duration) -> Result<(), Silence> {
    send_pieces(socket, &mut [IoSlice::new(bytes)], patience)
}

/// Sends answers.
///
/// # Errors
/// The client is gone, or takes too long.
pub fn answer(socket: &Socket, replies: &Replies, unsent: &Unsent, patience: Duration) -> Result<(), Silence> {
    in_pieces(replies, unsent, |pieces| send_pieces(socket, pieces, patience))
}

/// Sends all answers that wait, as far as the client takes them at once: the rest is left to the connection's writer, and
/// so are clients that are gone. Nobody is waited for.
pub fn answer_at_once(outbox: &Outbox) {
    let Some(way) = outbox.way() else { return };
    while let Some(mut unsent) = outbox.begin_sending() {
        let (sent, is_whole) = in_pieces(&way.replies, &unsent, |pieces| {
            let length: usize = pieces.iter().map(|piece| piece.len()).sum();
            let sent = way.socket.write_at_once(pieces).unwrap_or(0);
            (sent, sent == length)
        });
        unsent.sent_bytes += sent;
        outbox.end_sending(unsent, is_whole);
    }
}

/// Answers as bytes, without what is sent already.
fn in_pieces<R>(replies: &Replies, unsent: &Unsent, send: impl FnOnce(&mut [IoSlice<'_>]) -> R) -> R {
    let answers = &unsent.answers;
    let mut heads = Vec::with_capacity(answers.len() * 32);
    // What is sent between heads: where, and what.
    let mut data = Vec::new();
    for answer in answers {
        match answer {
            Answer::Written(bytes) => heads.extend_from_slice(bytes),
            Answer::Reply(request, outcome, _) => {
                replies.head(&mut heads, request, outcome);
                if let Outcome::Data(bytes) = outcome {
                    data.push((heads.len(), bytes));
                }
                replies.tail(&mut heads, request, outcome);
            }
        }
    }
    let mut pieces = Vec::with_capacity(2 * data.len() + 1);
    let mut sent = 0;
    for (place, bytes) in data {
        pieces.push(IoSlice::new(heads.get(sent..place).unwrap_or_default()));
        pieces.push(IoSlice::new(bytes));
        sent = place;
    }
    pieces.push(IoSlice::new(heads.get(sent..).unwrap_or_default()));
    let mut left = pieces.as_mut_slice();
    IoSlice::advance_slices(&mut left, unsent.sent_bytes);
    send(left)
}

fn send_pieces(socket: &Socket, mut pieces: &mut [IoSlice<'_>], patience: Duration) -> Result<(), Silence> {
    // Empty ones in front are dropped: nothing written would look like the end.
    IoSlice::advance_slices(&mut pieces, 0);
    let mut begun = None;
    while !pieces.is_empty() {
        match socket.write(pieces) {
            Ok(0) => return Err(Silence::Gone),
            Ok(length) => IoSlice::advance_slices(&mut pieces, length),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => return Err(Silence::TooSlow),
                ErrorKind::Interrupted => {}
                _ => return Err(Silence::Gone),
            },
        }
        // The first call mostly sends all, and no clock is asked.
        if !pieces.is_empty() && wall().saturating_duration_since(*begun.get_or_insert_with(wall)) >= patience {
            return Err(Silence::TooSlow);
        }
    }
    Ok(())
}
