//! Published traces of block storage, one request a line, fields between commas:
//!
//! - MSR Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, in ticks of 100 ns
//!   since 1601 and bytes; the device is `Hostname,DiskNumber`.
//! - Alibaba (2020): `device_id,opcode,offset,length,timestamp`, in microseconds and bytes.
//! - Tencent CBS (2018): `Timestamp,Offset,Size,IOType,VolumeID`, in seconds and sectors of 512 bytes;
//!   0 reads, 1 writes.
//! - SYSTOR '17: `Timestamp,Response,IOType,LUN,Offset,Size`, in seconds with decimals and bytes. The
//!   kind is blank where the recorder saw no response: such a request may have been either, so it is
//!   left out and counted.
//!
//! Left out: response times, since the simulated drive has its own. The traces that Meta published of
//! Tectonic are refused: they tell of blocks by name, not of places on a device.

use super::devices::Devices;
use super::left_out::LeftOut;
use super::{CUT, DAMAGED, Entry, Fault, number, seconds, time};
use ssdlab_device::block::Operation;
use ssdlab_device::units::Nanos;

const MOST_FIELDS: usize = 7;

/// What times are counted in.
#[derive(Debug)]
enum Clock {
    /// Whole ticks of so many nanoseconds.
    Ticks(u64),
    /// Seconds with decimals.
    Seconds,
}

/// Where the fields of a format stand.
#[derive(Debug)]
pub(super) struct Columns {
    pub name: &'static str,
    /// How a heading begins.
    heading: &'static str,
    fields: usize,
    time: usize,
    clock: Clock,
    /// The first and the last field that name the device.
    device: (usize, usize),
    operation: usize,
    reads: &'static str,
    writes: &'static str,
    /// What a blank kind means, where the format has it.
    blank: Option<&'static str>,
    offset: usize,
    size: usize,
    unit_bytes: u64,
}

pub(super) const MSR: Columns = Columns {
    name: "MSR Cambridge",
    heading: "timestamp",
    fields: 7,
    time: 0,
    clock: Clock::Ticks(100),
    device: (1, 2),
    operation: 3,
    reads: "Read",
    writes: "Write",
    blank: None,
    offset: 4,
    size: 5,
    unit_bytes: 1,
};

pub(super) const ALIBABA: Columns = Columns {
    name: "Alibaba",
    heading: "device_id",
    fields: 5,
    time: 4,
    clock: Clock::Ticks(1000),
    device: (0, 0),
    operation: 1,
    reads: "R",
    writes: "W",
    blank: None,
    offset: 2,
    size: 3,
    unit_bytes: 1,
};

pub(super) const TENCENT: Columns = Columns {
    name: "Tencent CBS",
    heading: "timestamp",
    fields: 5,
    time: 0,
    clock: Clock::Ticks(1_000_000_000),
    device: (4, 4),
    operation: 3,
    reads: "0",
    writes: "1",
    blank: None,
    offset: 1,
    size: 2,
    unit_bytes: 512,
};

pub(super) const SYSTOR: Columns = Columns {
    name: "SYSTOR '17",
    heading: "timestamp",
    fields: 6,
    time: 0,
    clock: Clock::Seconds,
    device: (3, 3),
    operation: 2,
    reads: "R",
    writes: "W",
    blank: Some("its IOType is blank, since the recorder saw no response"),
    offset: 4,
    size: 5,
    unit_bytes: 1,
};
const SYSTOR_HEADING: &str = "Timestamp,Response,IOType,LUN,Offset,Size";

/// The format of a file with this first line, with or without a heading.
pub(super) fn format_of(first: &str) -> Option<&'static Columns> {
    let fields: Vec<&str> = first.split(',').map(str::trim).collect();
    let begins = |columns: &Columns| fields[0].eq_ignore_ascii_case(columns.heading);
    match fields.len() {
        7 if !first.contains(char::is_whitespace) => Some(&MSR),
        5 if begins(&ALIBABA) || ALIBABA.operation_of(fields[1]).is_some() => Some(&ALIBABA),
        5 if begins(&TENCENT) || TENCENT.operation_of(fields[3]).is_some() => Some(&TENCENT),
        6 if first.eq_ignore_ascii_case(SYSTOR_HEADING) || is_systor(&fields) => Some(&SYSTOR),
        _ => None,
    }
}

/// Whether a line without a heading is one of SYSTOR '17: it begins with a time, and has a kind or none.
fn is_systor(fields: &[&str]) -> bool {
    let kind = fields[SYSTOR.operation];
    seconds(fields[SYSTOR.time], 1).is_ok() && (kind.is_empty() || SYSTOR.operation_of(kind).is_some())
}

impl Columns {
    /// The request of a line, if it is of the device that is replayed.
    pub fn entry(
        &self,
        line: u64,
        content: &str,
        devices: &mut Devices,
        left_out: &mut LeftOut,
    ) -> Result<Option<Entry>, Fault> {
        let mut starts = [0; MOST_FIELDS + 1];
        let mut count = 1;
        for (at, _) in content.bytes().enumerate().filter(|(_, byte)| *byte == b',') {
            if count < MOST_FIELDS {
                starts[count] = at + 1;
            }
            count += 1;
        }
        if line == 1 && content[..starts[1].saturating_sub(1)].trim().eq_ignore_ascii_case(self.heading) {
            return Ok(None);
        }
        if count != self.fields {
            return Err((line, format!("{count} fields instead of {}", self.fields), CUT));
        }
        starts[self.fields] = content.len() + 1;
        let fields = |first: usize, last: usize| content[starts[first]..starts[last + 1] - 1].trim();
        let field = |index| fields(index, index);
        if !devices.takes(fields(self.device.0, self.device.1), line)? {
            return Ok(None);
        }
        if let Some(blank) = self.blank.filter(|_| field(self.operation).is_empty()) {
            left_out.add(line, || blank.into());
            return Ok(None);
        }
        let operation = self.operation_of(field(self.operation)).ok_or_else(|| {
            let message = format!("'{}' is neither {} nor {}", field(self.operation), self.reads, self.writes);
            (line, message, DAMAGED)
        })?;
        let in_bytes = |index, what| {
            let units = number(Some(field(index)), line, what)?;
            let bytes = units.checked_mul(self.unit_bytes);
            bytes.ok_or_else(|| (line, format!("{what} {units} is too large"), DAMAGED))
        };
        let at = self.time_of(field(self.time), line)?;
        let (offset, bytes) = (in_bytes(self.offset, "offset")?, in_bytes(self.size, "size")?);
        if bytes == 0 {
            return Err((line, "a request of size 0".into(), DAMAGED));
        }
        Ok(Some(Entry { at, operation, offset, bytes }))
    }

    fn time_of(&self, field: &str, line: u64) -> Result<Nanos, Fault> {
        match self.clock {
            Clock::Ticks(tick_ns) => time(number(Some(field), line, "time")?, tick_ns, line),
            Clock::Seconds => seconds(field, line),
        }
    }

    fn operation_of(&self, field: &str) -> Option<Operation> {
        match field {
            _ if field.eq_ignore_ascii_case(self.reads) => Some(Operation::Read),
            _ if field.eq_ignore_ascii_case(self.writes) => Some(Operation::Write),
            _ => None,
        }
    }
}

#[cfg(test)]
mod test {
    use super::super::{Trace, TraceOptions, parse_trace};
    use super::*;

    const LINES: &str = "128166372003061629,hm,1,Read,383496192,32768,113736\n\
                         128166372016382155,hm,1,Write,2822144,4096,123\n";

    /// Ticks of 100 ns count from the first line; heading or none.
    #[test]
    fn ticks_become_nanoseconds() {
        let write = Entry { at: Nanos(13_320_526 * 100), operation: Operation::Write, offset: 2_822_144, bytes: 4096 };
        let entries = parse_trace(LINES, "t").unwrap();
        assert_eq!((entries[0].at, entries[1]), (Nanos(0), write));
        let headed = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
        assert_eq!(parse_trace(&(headed.to_string() + LINES), "t"), Ok(entries));
    }

    /// Columns and units as the descriptions of the traces give them; the values are made up.
    #[test]
    fn clouds_have_their_own_columns() {
        let alibaba = "419,W,8792731648,16384,1577808144360767\n419,R,60138078208,4096,1577808144360870\n";
        let entries = parse_trace(alibaba, "t").unwrap();
        let read = Entry { at: Nanos(103_000), operation: Operation::Read, offset: 60_138_078_208, bytes: 4096 };
        assert_eq!((entries[0].operation, entries[1]), (Operation::Write, read));
        let tencent = "1538323200,12910952,128,0,1063\n1538323201,6338688,8,1,1063\n";
        let entries = parse_trace(tencent, "t").unwrap();
        let write =
            Entry { at: Nanos(1_000_000_000), operation: Operation::Write, offset: 6_338_688 * 512, bytes: 4096 };
        assert_eq!((entries[0].bytes, entries[1]), (65_536, write));
        for headed in [
            format!("device_id,opcode,offset,length,timestamp\n{alibaba}"),
            format!("Timestamp,Offset,Size,IOType,VolumeID\n{tencent}"),
        ] {
            assert_eq!(parse_trace(&headed, "t").unwrap().len(), 2);
        }
    }

    const SYSTOR_LINES: &str = "1456135200.013118000,0.000806000,W,4,899056122368,131072\n\
                                1456135200.113118000,,R,4,8192,4096\n\
                                1456135202.013118000,0.001000000,,4,4096,4096\n";

    /// Seconds with decimals, whatever the response; a blank kind is left out and told. Heading or none.
    #[test]
    fn seconds_have_decimals_and_blank_kinds_are_told() {
        for heading in ["", "Timestamp,Response,IOType,LUN,Offset,Size\n"] {
            let text = heading.to_string() + SYSTOR_LINES;
            let read = Entry { at: Nanos(100_000_000), operation: Operation::Read, offset: 8192, bytes: 4096 };
            let entries = parse_trace(&text, "t").unwrap();
            assert_eq!((entries.len(), entries[0].bytes, entries[1]), (2, 131_072, read));
            let trace = Trace::of_text("t", &text, TraceOptions::default()).unwrap();
            assert_eq!((trace.survey().format, trace.survey().device.as_str()), ("SYSTOR '17", "4"));
            let line = 3 + heading.lines().count();
            let told = format!("t: 1 request is left out, the first in line {line}: ");
            assert!(trace.left_out().unwrap().starts_with(&told), "{:?}", trace.left_out());
        }
        let blank = SYSTOR_LINES.lines().last().unwrap().to_string();
        let reason = parse_trace(&blank, "t").unwrap_err().reason();
        assert!(reason.starts_with("holds no request: 1 request is left out, the first in line 1: "), "{reason}");
        assert_eq!(Trace::of_text("t", LINES, TraceOptions::default()).unwrap().left_out(), None);
    }

    /// What is neither of these kinds, and other columns, are refused with what stands there.
    #[test]
    fn other_kinds_of_systor_are_quoted() {
        let reason = |text: &str| parse_trace(text, "t").unwrap_err().reason();
        let with = |line: &str| reason(&(SYSTOR_LINES.to_string() + line));
        assert_eq!(with("1456135203.0,0.001,U,4,0,4096\n"), "line 4: 'U' is neither R nor W");
        assert_eq!(with("1456135203.0,0.001,W,6,0,4096\n"), "line 4: 6 is a second device in the trace, after 4");
        assert_eq!(with("1456135203.0x,0.001,W,4,0,4096\n"), "line 4: '1456135203.0x' is no time");
        assert_eq!(with("1456135203.0,0.001,W,4,0\n"), "line 4: 5 fields instead of 6");
        let swapped = "Timestamp,Response,IOType,LUN,Size,Offset\n".to_string() + SYSTOR_LINES;
        assert_eq!(reason(&swapped), "line 1: not a trace of a known format");
    }

    /// Of several devices one can be picked; one that is not there is named with those that are.
    #[test]
    fn one_device_is_picked() {
        let text = "7,W,0,4096,5\n8,R,4096,512,6\n7,R,0,512,7\n";
        let of = |device: &str| {
            let options = TraceOptions { device: Some(device.into()), ..TraceOptions::default() };
            Trace::of_text("t", text, options)
        };
        assert_eq!(of("7").unwrap().survey().requests(), 2);
        assert_eq!(of("8").unwrap().survey().requests(), 1);
        assert_eq!(of("9").unwrap_err().reason(), "holds no request of 9; it tells of 7, 8");
    }

    /// Cut lines, second disks and unknown types name the line.
    #[test]
    fn faults_name_the_line() {
        let cases = [
            ("128166372026382155,hm,1,Wri", "4 fields instead of 7"),
            ("128166372026382155,hm,2,Read,0,512,1\n", "hm,2 is a second device in the trace, after hm,1"),
            ("128166372026382155,hm,1,Trim,0,512,1\n", "'Trim' is neither Read nor Write"),
            ("128166372026382155,hm,1,Read,0,0,1\n", "a request of size 0"),
            ("128166372026382155,hm,1,Read,,512,1\n", "'' is no offset"),
        ];
        for (rest, message) in cases {
            let error = parse_trace(&(LINES.to_string() + rest), "t").unwrap_err();
            assert_eq!((error.line, error.message.as_str()), (Some(3), message));
        }
    }
}
