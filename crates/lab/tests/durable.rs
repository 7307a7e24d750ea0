//! Durability through the stack: what a flush or FUA has answered for survives a power cut below any layer.

use ssdlab_device::block::{Completion, Device, Operation, Request, Status, Tag};
use ssdlab_device::profile::{Profile, built_in};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::{Lba, Nanos};
use ssdlab_lab::host::registry::LayerPlan;
use ssdlab_lab::host::stack::build;
use ssdlab_lab::host::text::{LayerText, StackError};

const FLUSH: Request =
    Request { operation: Operation::Flush, lba: Lba(0), sectors: 0, fua: false, compress_percent: 0 };

/// Rows of four units: without a flush a part of a row stays in the volatile buffer for ever.
fn unprotected() -> Box<dyn Device> {
    let settings = [
        ("capacity_bytes", "64 MiB"),
        ("nand.page_bytes", "16 KiB"),
        ("ftl.mapping_unit_bytes", "4 KiB"),
        ("nand.channels", "2"),
        ("nand.dies_per_channel", "1"),
        ("nand.pages_per_block", "32"),
        ("buffer.bytes", "256 KiB"),
        ("ftl.map_journal", "true"),
    ];
    let settings: Vec<_> = settings.map(|(key, value)| (key.to_string(), value.to_string())).to_vec();
    let profile = Profile::read("theory", "theory", built_in("theory").unwrap(), &settings).unwrap();
    Box::new(Ssd::new(profile.ssd().unwrap(), 1, ()).unwrap())
}

fn stack(layer: &str) -> Box<dyn Device> {
    let plan = LayerPlan::read(LayerText::parse(layer).unwrap()).unwrap_or_else(|error| panic!("{layer}: {error}"));
    build::<StackError>(&[plan], &mut |_| Ok(unprotected())).unwrap_or_else(|error| panic!("{layer}: {error}"))
}

/// Every kind of layer, and of arrays every way of writing.
const LAYERS: [&str; 15] = [
    "partition:start_sector=64",
    "crypt:cores=1",
    "crypt:driver=truecrypt",
    "scheduler:policy=none",
    "scheduler:policy=deadline",
    "scheduler:policy=cfq",
    "raid:level=0,disks=2",
    "raid:level=1,disks=2",
    "raid:level=5,disks=4",
    "raid:level=5,disks=4,preset=controller,write_back=false",
    "raid:level=5,disks=4,preset=controller,write_back=true,battery=false,cache_line_bytes=4KiB",
    "raid:level=5,disks=4,preset=controller,write_back=true,battery=true,cache_line_bytes=4KiB",
    "cache:drive=theory,mode=write-back",
    "cache:drive=theory,mode=write-through",
    "split:drive=theory,first_bytes=1MiB",
];

struct Host {
    device: Box<dyn Device>,
    now: Nanos,
}

impl Host {
    fn new(layer: &str) -> Host {
        Host { device: stack(layer), now: Nanos::ZERO }
    }

    fn ask(&mut self, request: Request) {
        self.device.submit(self.now, Tag(0), request).unwrap();
        let mut done: Vec<Completion> = Vec::new();
        while done.is_empty() {
            self.now = self.device.advance(Nanos::NEVER, &mut done);
        }
        assert_eq!(done[0].status, Status::Success);
    }

    /// Lets all that goes on by itself come to its end.
    fn rest(&mut self) {
        while self.device.next_event().is_some() {
            self.now = self.device.advance(Nanos::NEVER, &mut Vec::new());
        }
    }

    fn units_lost(mut self) -> u64 {
        self.device.cut_power(self.now);
        self.device.counters().units_lost_at_power_cut
    }
}

/// Writes of single units, scattered.
fn writes(fua: bool) -> impl Iterator<Item = Request> {
    (0..21).map(move |number| Request { fua, ..Request::new(Operation::Write, Lba(number * 5 % 21 * 136), 8) })
}

/// A power cut right behind the answer to a flush loses nothing; without the flush it loses something below every layer,
/// once the layers themselves have passed on what they hold.
#[test]
fn a_flush_reaches_the_drives() {
    for layer in LAYERS {
        let lost = [true, false].map(|flushes| {
            let mut host = Host::new(layer);
            assert!(host.device.limits().volatile_cache, "{layer}");
            writes(false).for_each(|write| host.ask(write));
            host.rest();
            if flushes {
                host.ask(FLUSH);
            }
            host.units_lost()
        });
        assert_eq!(lost[0], 0, "{layer}");
        assert!(lost[1] > 0, "{layer}: nothing was at stake");
    }
}

/// A power cut right behind the answer to a write with FUA does not lose it. A battery keeps it above the drives.
#[test]
fn fua_reaches_the_drives() {
    for layer in LAYERS.into_iter().filter(|layer| !layer.contains("battery=true")) {
        let mut host = Host::new(layer);
        writes(true).for_each(|write| host.ask(write));
        assert!(host.device.counters().host_writes > 0, "{layer}");
        assert_eq!(host.units_lost(), 0, "{layer}");
    }
}
