//! The requests of a trace one by one, as they stand in the file or in the order of their times.

use super::blktrace::{self, Action};
use super::csv::{self, Columns};
use super::devices::Devices;
use super::iolog;
use super::left_out::LeftOut;
use super::lines::{Lines, Opened};
use super::{Entry, Fault};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::io::Read;

/// A request may stand so many requests away from its place in time.
const WINDOW: usize = 1 << 16;

/// Reads one format.
#[derive(Debug)]
enum Reader {
    Iolog(iolog::Reader),
    Csv(&'static Columns),
    Blktrace(Action),
}

/// The requests as they stand in the file, with the times of its clock.
pub(super) struct Requests {
    lines: Lines,
    reader: Reader,
    pub devices: Devices,
    pub packer: Option<&'static str>,
    pub left_out: LeftOut,
    /// The second request of a line.
    second: Option<Entry>,
}

impl Requests {
    /// Opens a trace, and finds its format; of blktrace these events are taken.
    pub fn open(file: Box<dyn Read + Send>, device: Option<&str>, action: Action) -> Result<Requests, Fault> {
        let Opened { lines, beginning, packer } = Lines::open(file)?;
        let reader = reader_of(&beginning, action)?;
        Ok(Requests {
            lines,
            reader,
            devices: Devices::new(device),
            packer,
            left_out: LeftOut::default(),
            second: None,
        })
    }

    /// The format's name.
    pub fn format(&self) -> &'static str {
        match &self.reader {
            Reader::Iolog(reader) => reader.name(),
            Reader::Csv(columns) => columns.name,
            Reader::Blktrace(_) => "blkparse text",
        }
    }

    /// It is a blktrace, whose other events might be taken.
    pub fn is_blktrace(&self) -> bool {
        matches!(self.reader, Reader::Blktrace(_))
    }

    /// The next request; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Entry>, Fault> {
        if let Some(entry) = self.second.take() {
            return Ok(Some(entry));
        }
        while let Some((line, content)) = self.lines.next()? {
            let (devices, left_out) = (&mut self.devices, &mut self.left_out);
            let first = match &mut self.reader {
                Reader::Csv(columns) => columns.entry(line, content, devices, left_out)?,
                Reader::Iolog(reader) => reader.entry(line, content, devices)?,
                Reader::Blktrace(action) => {
                    let [flush, transfer] = action.entries(line, content, devices, left_out)?;
                    self.second = transfer.filter(|_| flush.is_some());
                    flush.or(transfer)
                }
            };
            if first.is_some() {
                return Ok(first);
            }
        }
        if let Reader::Iolog(reader) = &self.reader {
            reader.end(self.lines.last())?;
        }
        Ok(None)
    }

    /// The number of the last line that was read.
    pub fn line(&self) -> u64 {
        self.lines.last().0
    }
}

fn reader_of(beginning: &str, action: Action) -> Result<Reader, Fault> {
    let Some(first) = beginning.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return Err((0, "the file is empty".into(), "record again, or check the name"));
    };
    if let Some(reader) = iolog::Reader::of(first) {
        return reader.map(Reader::Iolog);
    }
    if let Some(columns) = csv::format_of(first) {
        return Ok(Reader::Csv(columns));
    }
    if beginning.lines().take(100).any(blktrace::is_whole_event) {
        return Ok(Reader::Blktrace(action));
    }
    if first.contains("block_id") {
        let message = "tells of blocks by name, and not of places on a device".to_string();
        return Err((1, message, "traces of Tectonic and of caches cannot be replayed on a drive"));
    }
    let remedy = "traces are fio iologs (v2, v3), the text of blkparse, and CSV of MSR Cambridge, Alibaba, Tencent or SYSTOR '17";
    Err((1, "not a trace of a known format".into(), remedy))
}

/// The requests in the order of their times.
pub(super) struct Ordered {
    requests: Requests,
    /// Empty for a trace that is known to be in order.
    waiting: BinaryHeap<Waiting>,
    read: u64,
    /// `None` for a trace that is known to be in order.
    latest: Option<u64>,
    has_ended: bool,
}

/// A request that waits: the nearest time is the greatest, then the first line.
struct Waiting {
    entry: Entry,
    number: u64,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> Ordering {
        let key = |waiting: &Waiting| (waiting.entry.at, waiting.number);
        key(other).cmp(&key(self))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

impl Ordered {
    /// Brings requests into order, where they are not yet.
    pub fn new(requests: Requests, is_in_order: bool) -> Ordered {
        let latest = (!is_in_order).then_some(0);
        Ordered { requests, waiting: BinaryHeap::new(), read: 0, latest, has_ended: false }
    }

    /// The next request; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Entry>, Fault> {
        let Some(latest) = self.latest else { return self.requests.next() };
        while !self.has_ended && self.waiting.len() <= WINDOW {
            match self.requests.next()? {
                None => self.has_ended = true,
                Some(entry) if entry.at.0 < latest => {
                    let message = format!("comes more than {WINDOW} requests after its time");
                    return Err((self.requests.line(), message, "sort the trace by its times"));
                }
                Some(entry) => {
                    self.waiting.push(Waiting { entry, number: self.read });
                    self.read += 1;
                }
            }
        }
        let next = self.waiting.pop().map(|waiting| waiting.entry);
        self.latest = next.map_or(self.latest, |entry| Some(entry.at.0));
        Ok(next)
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use std::io::Cursor;

    fn ordered(lines: &str) -> Ordered {
        let file = Box::new(Cursor::new(lines.to_string().into_bytes()));
        Ordered::new(Requests::open(file, None, Action::Queued).unwrap(), false)
    }

    fn line(at: usize) -> String {
        format!("1,R,{},512,{at}\n", at * 512)
    }

    /// Lines that stand near their place are brought into order, equal times as they stand.
    #[test]
    fn near_lines_are_ordered() {
        let text = [5, 3, 4].map(line).concat() + "1,W,0,512,4\n";
        let mut all = ordered(&text);
        let found: Vec<(u64, u64)> =
            std::iter::from_fn(|| all.next().unwrap()).map(|entry| (entry.at.0 / 1000, entry.offset / 512)).collect();
        assert_eq!(found, [(3, 3), (4, 4), (4, 0), (5, 5)]);
    }

    /// One that stands farther away is refused, and its line named.
    #[test]
    fn far_lines_are_refused() {
        let text: String = (1..=WINDOW + 2).chain([1]).map(line).collect();
        let mut all = ordered(&text);
        let fault = loop {
            match all.next() {
                Ok(entry) => assert!(entry.is_some()),
                Err(fault) => break fault,
            }
        };
        assert_eq!(fault.0, WINDOW as u64 + 3, "{}", fault.1);
        assert_eq!(fault.2, "sort the trace by its times");
    }
}
