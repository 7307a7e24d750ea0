//! No bytes of a host make the NVMe side panic, or promise more room than it may.
//!
//! The first eight bytes are the head of a PDU; what follows are commands of 64 bytes each, for an admin and an I/O queue,
//! and the rest is what they bring.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_device::counters::Counters;
use ssdlab_device::ssd::health::Health;
use ssdlab_device::ssd::past::Past;
use ssdlab_device::ssd::signs::Signs;
use ssdlab_serve::nvme::admin::{Answer, Controller, Surroundings, answer};
use ssdlab_serve::nvme::command::Submission;
use ssdlab_serve::nvme::fabric::{Connect, Properties};
use ssdlab_serve::nvme::facts::{Facts, Identity, Namespace};
use ssdlab_serve::nvme::identify::Kind;
use ssdlab_serve::nvme::io::{self, Asked};
use ssdlab_serve::nvme::logs::Place;
use ssdlab_serve::nvme::pdu::{Agreed, Head, MOST_DATA};
use ssdlab_serve::nvme::power::Power;

const NAMESPACE: Namespace =
    Namespace { sectors: 1 << 20, sector_bytes: 512, unit_bytes: 4096, atomic_sectors: 8, trims: true };
/// A log at most.
const MOST_ANSWER: usize = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Some((head, rest)) = bytes.split_first_chunk::<{ Head::BYTES }>() else { return };
    if let Ok(layout) = Head::read(head).layout(Agreed::default()) {
        assert!(layout.data <= MOST_DATA);
    }
    let facts = Facts {
        signs: Signs::default(),
        namespace: NAMESPACE,
        used_sectors: 0,
        has_volatile_cache: true,
        has_capacitors: false,
        counters: Counters::default(),
        health: Health::default(),
        is_poisoned: false,
        power: Power::default(),
    };
    let (identity, place) = (Identity::default(), Place { address: String::new(), port: 4420, is_v6: false });
    let (mut past, mut cache_is_on, mut properties) = (Past::default(), true, Properties::default());
    let mut controller = Controller::new(1, Kind::Drive, 0);
    for command in rest.chunks_exact(Submission::BYTES) {
        let command = Submission::read(command);
        let mut around = Surroundings {
            identity: &identity,
            facts: &facts,
            past: &mut past,
            cache_is_on: &mut cache_is_on,
            place: &place,
        };
        if let Ok(Answer::Data(data)) = answer(&command, &mut controller, &mut around) {
            assert!(data.len() <= MOST_ANSWER);
        }
        let _ = properties.set(&command).and_then(|()| properties.get(&command));
        let _ = Connect::read(&command, rest);
        if let Ok(Asked::Drive(request)) = io::read(&command, &NAMESPACE, cache_is_on) {
            assert!(request.offset + u64::from(request.length) <= NAMESPACE.sectors * 512);
        }
        for trim in io::ranges(&command, &NAMESPACE, rest).into_iter().flatten() {
            assert!(trim.offset + u64::from(trim.length) <= NAMESPACE.sectors * 512);
        }
    }
});
