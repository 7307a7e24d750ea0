//! The handshake: options come in, replies go out, until the client has chosen an export, or leaves.
//!
//! Modelled is fixed newstyle without TLS. An option is answered when it is whole, one a call; longer ones than
//! [`MAX_OPTION_BYTES`] are skipped and answered with `NBD_REP_ERR_TOO_BIG`, so that memory stays bounded. The sizes of
//! blocks are told to everybody, asked or not, since requests are held to them. Left out: `NBD_REP_ERR_SHUTDOWN`; a server
//! that ends hangs up.

use super::export::{Agreed, BadExport, Export};
use super::violation::Violation;
use super::wire::{self, Fields, OptionHead};
use std::sync::Arc;

/// Data of an option that are kept: a name and a dozen queries of greatest length.
pub const MAX_OPTION_BYTES: u32 = 1 << 16;
/// The only context of metadata.
const BASE_ALLOCATION: &[u8] = b"base:allocation";
/// Its number in this connection.
pub(super) const BASE_ALLOCATION_ID: u32 = 1;

/// What came of a portion of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// All bytes are consumed, and the message is not whole yet.
    More,
    /// A message was answered, or needs no answer; there may be more in the bytes.
    Answered,
    /// The handshake is over: the rest of the stream is requests.
    Go(Box<Agreed>),
    /// The client leaves: send the answer and hang up.
    Aborted,
    /// Hang up.
    Broken(Violation),
}

/// Where in the stream the client is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Flags,
    Head,
    Data(OptionHead),
    Skipped { option: u32, left: u32 },
    End(Step),
}

/// The server's side of one handshake. [`wire::GREETING`] is to be sent before.
#[derive(Debug)]
pub struct Handshake {
    exports: Arc<[Export]>,
    place: Place,
    /// What is there of the message that has begun.
    kept: Vec<u8>,
    fixed_newstyle: bool,
    no_zeroes: bool,
    structured_replies: bool,
    /// The export for which the client last selected `base:allocation`.
    base_allocation: Option<usize>,
}

impl Handshake {
    /// Offers exports; the first is the default.
    ///
    /// # Errors
    /// An export that the protocol cannot describe.
    pub fn new(exports: Arc<[Export]>) -> Result<Handshake, BadExport> {
        exports.iter().try_for_each(Export::check)?;
        Ok(Handshake {
            exports,
            place: Place::Flags,
            kept: Vec::new(),
            fixed_newstyle: false,
            no_zeroes: false,
            structured_replies: false,
            base_allocation: None,
        })
    }

    /// Takes bytes up to the end of a message, writes the answer to the end of `out`, and says how many bytes it took.
    /// After the end it takes nothing and repeats how it ended.
    pub fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> (usize, Step) {
        let mut rest = bytes;
        let step = loop {
            if let Some(step) = self.advance(&mut rest, out) {
                break step;
            }
        };
        if !matches!(step, Step::More | Step::Answered) {
            self.place = Place::End(step.clone());
        }
        (bytes.len() - rest.len(), step)
    }

    /// Goes on by one place; tells a step where there is one to tell.
    fn advance(&mut self, rest: &mut &[u8], out: &mut Vec<u8>) -> Option<Step> {
        let wanted = match &mut self.place {
            Place::Flags => 4,
            Place::Head => OptionHead::BYTES,
            Place::Data(head) => head.length as usize,
            Place::Skipped { option, left } => {
                let (option, skipped) = (*option, rest.len().min(*left as usize));
                *rest = rest.get(skipped..).unwrap_or_default();
                *left -= skipped as u32;
                if *left > 0 {
                    return Some(Step::More);
                }
                self.place = Place::Head;
                let text = format!("The server reads at most {MAX_OPTION_BYTES} bytes of data of an option.");
                wire::option_reply(out, option, wire::NBD_REP_ERR_TOO_BIG, &[text.as_bytes()]);
                return Some(Step::Answered);
            }
            Place::End(step) => return Some(step.clone()),
        };
        let (new, after) = rest.split_at_checked(wanted - self.kept.len()).unwrap_or((rest, &[]));
        self.kept.extend_from_slice(new);
        *rest = after;
        if self.kept.len() < wanted {
            return Some(Step::More);
        }
        let mut message = std::mem::take(&mut self.kept);
        let step = self.message(&message, out);
        message.clear();
        self.kept = message;
        step
    }

    /// A message, or the head of one, is whole.
    fn message(&mut self, message: &[u8], out: &mut Vec<u8>) -> Option<Step> {
        match self.place {
            Place::Flags => self.client_flags(Fields(message).u32()?),
            Place::Head => self.head(OptionHead::read(message.first_chunk()?)?),
            Place::Data(OptionHead { option, .. }) => {
                self.place = Place::Head;
                Some(self.option(option, message, out))
            }
            Place::Skipped { .. } | Place::End(_) => None,
        }
    }

    fn client_flags(&mut self, flags: u32) -> Option<Step> {
        if flags & !(wire::NBD_FLAG_C_FIXED_NEWSTYLE | wire::NBD_FLAG_C_NO_ZEROES) != 0 {
            return Some(Step::Broken(Violation::ClientFlags(flags)));
        }
        self.fixed_newstyle = flags & wire::NBD_FLAG_C_FIXED_NEWSTYLE != 0;
        self.no_zeroes = flags & wire::NBD_FLAG_C_NO_ZEROES != 0;
        self.place = Place::Head;
        None
    }

    fn head(&mut self, head: OptionHead) -> Option<Step> {
        let OptionHead { magic, option, length } = head;
        if magic != wire::IHAVEOPT {
            return Some(Step::Broken(Violation::OptionMagic(magic)));
        }
        if !self.fixed_newstyle && option != wire::NBD_OPT_EXPORT_NAME {
            return Some(Step::Broken(Violation::NotFixedNewstyle(option)));
        }
        // A name that cannot be refused must be whole.
        let limit = match option {
            wire::NBD_OPT_EXPORT_NAME => MAX_OPTION_BYTES,
            _ => wire::MAX_PAYLOAD_BYTES,
        };
        if length > limit {
            return Some(Step::Broken(Violation::OptionTooLong { option, length, limit }));
        }
        self.place = match length {
            0..=MAX_OPTION_BYTES => Place::Data(head),
            _ => Place::Skipped { option, left: length },
        };
        None
    }

    fn option(&mut self, option: u32, data: &[u8], out: &mut Vec<u8>) -> Step {
        let refuse = |out: &mut Vec<u8>, kind, text: &str| wire::option_reply(out, option, kind, &[text.as_bytes()]);
        match option {
            wire::NBD_OPT_EXPORT_NAME => return self.export_name(data, out),
            wire::NBD_OPT_ABORT => {
                wire::option_reply(out, option, wire::NBD_REP_ACK, &[]);
                return Step::Aborted;
            }
            wire::NBD_OPT_INFO | wire::NBD_OPT_GO => return self.info(option, data, out),
            wire::NBD_OPT_LIST_META_CONTEXT | wire::NBD_OPT_SET_META_CONTEXT => self.meta_context(option, data, out),
            wire::NBD_OPT_LIST | wire::NBD_OPT_STRUCTURED_REPLY | wire::NBD_OPT_STARTTLS if !data.is_empty() => {
                refuse(out, wire::NBD_REP_ERR_INVALID, "This option has no data.");
            }
            wire::NBD_OPT_LIST => self.list(out),
            wire::NBD_OPT_STRUCTURED_REPLY => {
                self.structured_replies = true;
                wire::option_reply(out, option, wire::NBD_REP_ACK, &[]);
            }
            wire::NBD_OPT_STARTTLS => refuse(out, wire::NBD_REP_ERR_UNSUP, "The server does not speak TLS."),
            _ => refuse(out, wire::NBD_REP_ERR_UNSUP, "The server does not know this option."),
        }
        Step::Answered
    }

    /// The place of an export by the name that a client sent, which need not be text.
    fn find(&self, name: &[u8]) -> Option<(usize, &Export)> {
        self.exports.iter().enumerate().find(|(_, export)| name.is_empty() || export.name.as_bytes() == name)
    }

    fn agreed(&self, place: usize, export: &Export) -> Step {
        Step::Go(Box::new(Agreed {
            export: export.clone(),
            structured_replies: self.structured_replies,
            base_allocation: self.structured_replies && self.base_allocation == Some(place),
        }))
    }

    fn export_name(&self, name: &[u8], out: &mut Vec<u8>) -> Step {
        let Some((place, export)) = self.find(name) else {
            let shown: String = String::from_utf8_lossy(name).escape_debug().take(80).collect();
            return Step::Broken(Violation::UnknownExport(shown));
        };
        out.extend(export.size.to_be_bytes());
        out.extend(export.flags(self.structured_replies).to_be_bytes());
        if !self.no_zeroes {
            out.extend([0; wire::RESERVED_BYTES]);
        }
        self.agreed(place, export)
    }

    fn list(&self, out: &mut Vec<u8>) {
        for Export { name, description, .. } in self.exports.iter() {
            let length = (name.len() as u32).to_be_bytes();
            let data = [&length[..], name.as_bytes(), description.as_bytes()];
            wire::option_reply(out, wire::NBD_OPT_LIST, wire::NBD_REP_SERVER, &data);
        }
        wire::option_reply(out, wire::NBD_OPT_LIST, wire::NBD_REP_ACK, &[]);
    }

    /// `NBD_OPT_INFO` and `NBD_OPT_GO`.
    fn info(&self, option: u32, data: &[u8], out: &mut Vec<u8>) -> Step {
        let mut reply = |kind, data: &[&[u8]]| wire::option_reply(out, option, kind, data);
        let Some((name, wishes)) = info_request(data) else {
            reply(wire::NBD_REP_ERR_INVALID, &[b"The data are not a name and a list of information requests."]);
            return Step::Answered;
        };
        let Some((place, export)) = self.find(name) else {
            reply(wire::NBD_REP_ERR_UNKNOWN, &[b"No export has this name."]);
            return Step::Answered;
        };
        let mut info = |kind: u16, data: &[&[u8]]| {
            let kind = kind.to_be_bytes();
            reply(wire::NBD_REP_INFO, &[&[&kind[..]], data].concat());
        };
        let flags = export.flags(self.structured_replies).to_be_bytes();
        info(wire::NBD_INFO_EXPORT, &[&export.size.to_be_bytes(), &flags]);
        let blocks = [export.minimum_block, export.preferred_block, export.maximum_payload].map(u32::to_be_bytes);
        info(wire::NBD_INFO_BLOCK_SIZE, &[blocks.as_flattened()]);
        if wishes.contains(&wire::NBD_INFO_NAME.to_be_bytes()) {
            info(wire::NBD_INFO_NAME, &[export.name.as_bytes()]);
        }
        if wishes.contains(&wire::NBD_INFO_DESCRIPTION.to_be_bytes()) {
            info(wire::NBD_INFO_DESCRIPTION, &[export.description.as_bytes()]);
        }
        reply(wire::NBD_REP_ACK, &[]);
        if option == wire::NBD_OPT_GO { self.agreed(place, export) } else { Step::Answered }
    }

    /// `NBD_OPT_LIST_META_CONTEXT`, which tells, and `NBD_OPT_SET_META_CONTEXT`, which selects anew, even where it fails.
    fn meta_context(&mut self, option: u32, data: &[u8], out: &mut Vec<u8>) {
        let mut reply = |kind, data: &[&[u8]]| wire::option_reply(out, option, kind, data);
        let selects = option == wire::NBD_OPT_SET_META_CONTEXT;
        if selects {
            self.base_allocation = None;
        }
        if !self.structured_replies {
            return reply(wire::NBD_REP_ERR_INVALID, &[b"Structured replies must be negotiated first."]);
        }
        let Some((name, queries)) = context_request(data) else {
            return reply(wire::NBD_REP_ERR_INVALID, &[b"The data are not a name and a list of queries."]);
        };
        let Some((place, _)) = self.find(name) else {
            return reply(wire::NBD_REP_ERR_UNKNOWN, &[b"No export has this name."]);
        };
        let found = match queries {
            Queries::None => !selects,
            Queries::Some { base_allocation, base } => base_allocation || base && !selects,
        };
        if found {
            let id = if selects { BASE_ALLOCATION_ID } else { 0 };
            reply(wire::NBD_REP_META_CONTEXT, &[&id.to_be_bytes(), BASE_ALLOCATION]);
        }
        if selects {
            self.base_allocation = found.then_some(place);
        }
        reply(wire::NBD_REP_ACK, &[]);
    }
}

/// The name and the information requests of `NBD_OPT_INFO` and `NBD_OPT_GO`; none where lengths do not fit.
fn info_request(data: &[u8]) -> Option<(&[u8], &[[u8; 2]])> {
    let mut fields = Fields(data);
    let (name, count) = (fields.string()?, fields.u16()?);
    let (wishes, rest) = fields.0.as_chunks();
    (rest.is_empty() && wishes.len() == usize::from(count)).then_some((name, wishes))
}

/// What a client asks about contexts.
enum Queries {
    None,
    /// Whether it named our context, and whether all of the namespace `base`. Other namespaces are ignored.
    Some {
        base_allocation: bool,
        base: bool,
    },
}

/// The name and the queries about contexts; none where lengths do not fit.
fn context_request(data: &[u8]) -> Option<(&[u8], Queries)> {
    let mut fields = Fields(data);
    let (name, count) = (fields.string()?, fields.u32()?);
    let (mut base_allocation, mut base) = (false, false);
    for _ in 0..count {
        let query = fields.string()?;
        base_allocation |= query == BASE_ALLOCATION;
        base |= query == b"base:";
    }
    let queries = if count == 0 { Queries::None } else { Queries::Some { base_allocation, base } };
    fields.0.is_empty().then_some((name, queries))
}

#[cfg(test)]
mod test;
