//! Traces as a whole: read, ordered, changed, refused.

use super::*;
use proptest::prelude::*;

const LIMIT: u64 = 1 << 20;

fn fitting() -> TraceOptions {
    TraceOptions { adjust: Adjust { scale: Scale::Fit, ..Adjust::default() }, ..TraceOptions::default() }
}

/// Empty files, files without requests and files of another kind say so.
#[test]
fn empty_and_unknown_files_are_refused() {
    let reason = |text| parse_trace(text, "t").unwrap_err().reason();
    assert_eq!(reason("\n \n"), "the file is empty");
    assert_eq!(reason("fio version 3 iolog\n0 f add\n0 f open\n1 f close\n"), "holds no request");
    assert_eq!(reason("hello\nworld\n"), "line 1: not a trace of a known format");
    assert_eq!(
        reason("block_id io_offset io_size\n"),
        "line 1: tells of blocks by name, and not of places on a device"
    );
    assert_eq!(reason("1,R,0,512,1\0"), "not a text file (UTF-8)");
    let endless = "1".repeat(70_000);
    assert_eq!(reason(&format!("1,R,0,512,1\n{endless}")), "line 2: longer than 65536 bytes");
}

/// The survey counts what is replayed.
#[test]
fn the_survey_counts() {
    let text = "fio version 3 iolog\n5 f read 0 4096\n9 f write 8192 512\n9 f sync\n20 f trim 4096 4096\n20 f close\n";
    let options = TraceOptions {
        adjust: Adjust { skip: vec![Operation::Trim], time_percent: 200, ..Adjust::default() },
        ..TraceOptions::default()
    };
    let trace = Trace::of_text("t", text, options).unwrap();
    let survey = trace.survey();
    assert_eq!((survey.requests(), survey.bytes(), survey.end_bytes()), (3, 4608, 8704));
    assert_eq!((survey.device.as_str(), survey.format), ("f", "fio iolog, version 3"));
    assert_eq!((survey.duration(), trace.last()), (Nanos(15_000), Nanos(30_000)));
}

/// What does not fit a drive is refused with the request's number; fitted it is replayed within the drive.
#[test]
fn a_trace_is_fitted_to_the_drive() {
    let text = "1,W,0,4096,1\n1,W,1048576,4096,2\n1,R,3141632,4096,3\n";
    let limits = &Limits {
        sector_bytes: 512,
        sectors: LIMIT / 512,
        queue_depth: 32,
        discard_granularity_bytes: 4096,
        volatile_cache: false,
        optimal_io_bytes: 4096,
    };
    let plain = Trace::of_text("t", text, TraceOptions::default()).unwrap();
    let refusal = plain.refusal(limits).unwrap();
    assert!(refusal.message.starts_with("request 3: offset 3141632, length 4096: beyond"), "{}", refusal.message);
    let fitted = Trace::of_text("t", text, fitting()).unwrap();
    assert_eq!(fitted.refusal(limits), None);
    let mut requests = fitted.requests(LIMIT).unwrap();
    let offsets: Vec<u64> = std::iter::from_fn(|| requests.next_entry().unwrap()).map(|entry| entry.offset).collect();
    assert_eq!(offsets, [0, 348_160, 1_044_480]);
    assert_eq!(
        fitted.told(LIMIT).unwrap(),
        "t: offsets are scaled by 0.3333 so that the trace's 0.0 GB fit the drive's 0.0 GB"
    );
    assert_eq!(fitted.fitted(LIMIT * 4), None);
}

/// A file that ends elsewhere when it is replayed is an error then.
#[test]
fn a_trace_that_changes_is_noticed() {
    let opened = std::sync::atomic::AtomicU32::new(0);
    let open: Open = Arc::new(move || {
        let again = opened.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0;
        let text = if again { "1,R,0,512,1\n1,R,0,5" } else { "1,R,0,512,1\n1,R,0,512,2\n" };
        Ok(Box::new(Cursor::new(text)))
    });
    let trace = Trace::read("t", open, TraceOptions::default()).unwrap();
    let mut requests = trace.requests(LIMIT).unwrap();
    assert!(requests.next_entry().is_ok());
    assert_eq!(requests.next_entry().unwrap_err().line, Some(2));
}

proptest! {
    /// No text makes the readers panic, whatever format it pretends to be.
    #[test]
    fn no_text_panics(
        start in prop_oneof![
            Just("fio version 2 iolog\n"), Just("fio version 3 iolog\n"), Just("1,R,0,512,1\n"), Just("1,0,8,1,1\n"),
            Just("1,h,0,Read,0,512,1\n"), Just("1.5,,R,4,0,512\n"), Just("8,0 1 1 0.5 1 Q W 8 + 8 [a]\n"), Just(""),
        ],
        lines in proptest::collection::vec("[ -~]{0,40}|[0-9]{1,20} f (read|write|sync|wait) [0-9]{1,20} [0-9]{1,20}|[0-9]{1,20},h,0,(Read|Write),[0-9]{1,20},[0-9]{1,20},1|1,[RW],[0-9]{1,20},[0-9]{1,20},[0-9]{1,20}|[0-9.]{1,20},[0-9.]{0,3},[RW]?,4,[0-9]{1,20},[0-9]{1,20}|8,0 1 1 [0-9.]{1,20} 1 [QD] [RWDF]{0,3} [0-9]{1,20} \\+ [0-9]{1,20}", 0..8),
    ) {
        let _ = parse_trace(&(start.to_string() + &lines.join("\n")), "t");
    }

    /// Whatever the offset and the length, a fitted request lies on the drive.
    #[test]
    fn fitted_requests_lie_on_the_drive(offset: u32, bytes in 1..LIMIT, sectors in 1u64..1 << 40) {
        let end_bytes = u64::from(offset) + bytes + sectors;
        let fitted = Fitted { end_bytes, capacity_bytes: LIMIT };
        let begin = fitted.offset(u64::from(offset), bytes);
        prop_assert!(begin + bytes <= LIMIT && begin.is_multiple_of(4096));
    }
}
