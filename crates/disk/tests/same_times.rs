//! A drive with bytes completes the same requests at the same nanosecond as the simulated one, with the same counters.

use crate::history::disk;
use crate::kinds::{config, drives};
use ssdlab_device::block::{Completion, Device, Operation, Request, Tag};
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::ssd::Ssd;
use ssdlab_disk::{Done, Lba, Nanos};

/// Every kind of drive, with commands of every kind, 16 at once.
#[test]
fn times_and_counters_are_those_of_the_simulation() {
    for (name, settings) in drives() {
        let mut simulated: Ssd = Ssd::new(&config(&settings), 7, ()).unwrap();
        let mut disk = disk(&settings, None);
        let mut draws = Stream::new(5, Purpose::Errors);
        let (mut done, mut completions, mut now) = (Vec::<Done>::new(), Vec::<Completion>::new(), Nanos::ZERO);
        for _ in 0..3_000 {
            while disk.outstanding() >= 16 {
                now = disk.advance(Nanos::NEVER, &mut done);
                assert_eq!(simulated.advance(Nanos::NEVER, &mut completions), now, "{name}");
                let alike = |(done, completion): (&Done, &Completion)| done.tag == completion.tag;
                assert!(done.len() == completions.len() && done.iter().zip(&completions).all(alike), "{name}");
                done.clear();
                completions.clear();
            }
            let operation = match draws.below(10) {
                0..=5 => Operation::Write,
                6..=7 => Operation::Read,
                8 => Operation::Trim,
                _ => Operation::Flush,
            };
            let sectors = if operation == Operation::Flush { 0 } else { 1 + draws.below(40) };
            let request = Request::new(operation, Lba(u64::from(draws.below(32_000))), sectors);
            let bytes = match operation {
                Operation::Read | Operation::Write => vec![1; sectors as usize * 512],
                _ => Vec::new(),
            };
            let Tag(tag) = disk.submit(now, request, bytes).unwrap();
            simulated.submit(now, Tag(tag), request).unwrap();
        }
        assert_eq!(simulated.counters(), disk.counters(), "{name}");
    }
}
