//! Published traces of block storage, one request a line, fields between commas:
//!
//! - MSR Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, in ticks of 100 ns
//!   since 1601 and bytes; the device is `Hostname,DiskNumber`.
//! - Alibaba (2020): `device_id,opcode,offset,length,timestamp`, in microseconds and bytes.
//! - Tencent CBS (2018): `Timestamp,Offset,Size,IOType,VolumeID`, in seconds and sectors of 512 bytes;
//!   0 reads, 1 writes.
//!
//! Left out: response times, since the simulated drive has its own. The traces that Meta published of
//! Tectonic are refused: they tell of blocks by name, not of places on a device.

use super::devices::Devices;
use super::{CUT, DAMAGED, Entry, Fault, number, time};
use ssdlab_device::block::Operation;

const MOST_FIELDS: usize = 7;

/// Where the fields of a format stand.
#[derive(Debug)]
pub(super) struct Columns {
    pub name: &'static str,
    /// How a heading begins.
    heading: &'static str,
    fields: usize,
    time: usize,
    tick_ns: u64,
    /// The first and the last field that name the device.
    device: (usize, usize),
    operation: usize,
    reads: &'static str,
    writes: &'static str,
    offset: usize,
    size: usize,
    unit_bytes: u64,
}

pub(super) const MSR: Columns = Columns {
    name: "MSR Cambridge",
    heading: "timestamp",
    fields: 7,
    time: 0,
    tick_ns: 100,
    device: (1, 2),
    operation: 3,
    reads: "Read",
    writes: "Write",
    offset: 4,
    size: 5,
    unit_bytes: 1,
};

pub(super) const ALIBABA: Columns = Columns {
    name: "Alibaba",
    heading: "device_id",
    fields: 5,
    time: 4,
    tick_ns: 1000,
    device: (0, 0),
    operation: 1,
    reads: "R",
    writes: "W",
    offset: 2,
    size: 3,
    unit_bytes: 1,
};

pub(super) const TENCENT: Columns = Columns {
    name: "Tencent CBS",
    heading: "timestamp",
    fields: 5,
    time: 0,
    tick_ns: 1_000_000_000,
    device: (4, 4),
    operation: 3,
    reads: "0",
    writes: "1",
    offset: 1,
    size: 2,
    unit_bytes: 512,
};

/// The format of a file with this first line, with or without a heading.
pub(super) fn format_of(first: &str) -> Option<&'static Columns> {
    let fields: Vec<&str> = first.split(',').map(str::trim).collect();
    let begins = |columns: &Columns| fields[0].eq_ignore_ascii_case(columns.heading);
    match fields.len() {
        7 if !first.contains(char::is_whitespace) => Some(&MSR),
        5 if begins(&ALIBABA) || ALIBABA.operation_of(fields[1]).is_some() => Some(&ALIBABA),
        5 if begins(&TENCENT) || TENCENT.operation_of(fields[3]).is_some() => Some(&TENCENT),
        _ => None,
    }
}

impl Columns {
    /// The request of a line, if it is of the device that is replayed.
    pub fn entry(&self, line: u64, content: &str, devices: &mut Devices) -> Result<Option<Entry>, Fault> {
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
        let operation = self.operation_of(field(self.operation)).ok_or_else(|| {
            let message = format!("'{}' is neither {} nor {}", field(self.operation), self.reads, self.writes);
            (line, message, DAMAGED)
        })?;
        let in_bytes = |index, what| {
            let units = number(Some(field(index)), line, what)?;
            let bytes = units.checked_mul(self.unit_bytes);
            bytes.ok_or_else(|| (line, format!("{what} {units} is too large"), DAMAGED))
        };
        let at = time(number(Some(field(self.time)), line, "time")?, self.tick_ns, line)?;
        let (offset, bytes) = (in_bytes(self.offset, "offset")?, in_bytes(self.size, "size")?);
        if bytes == 0 {
            return Err((line, "a request of size 0".into(), DAMAGED));
        }
        Ok(Some(Entry { at, operation, offset, bytes }))
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
    use ssdlab_device::units::Nanos;

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
