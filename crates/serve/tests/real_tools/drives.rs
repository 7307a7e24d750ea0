//! The server, with a drive of 16 MiB, at a pace and without.

use crate::kinds::{config, named};
use crate::{image, run, succeeds, text};
use ssdlab_disk::disk::sizes;
use ssdlab_disk::medium::{Medium, Ram};
use ssdlab_disk::{Disk, Lba, Operation, Request};
use ssdlab_serve::clock::Pace;
use ssdlab_serve::offer::Name;
use ssdlab_serve::server::{Options, Server};
use ssdlab_serve::socket::Address;
use std::path::PathBuf;

const BYTES: usize = 16 << 20;

/// A drive that is served, in a folder of the test's own.
struct Served {
    folder: PathBuf,
    server: Server<Ram>,
}

impl Served {
    /// Under the name "drive", at a pace that was chosen, with an image in it.
    fn start(name: &str, drive: &str, pace: Pace, image: &[u8]) -> Served {
        let config = config(&named(drive));
        let made = Disk::new(&config, 7, Ram::new(sizes(&config).capacity_bytes));
        let mut disk = made.unwrap_or_else(|problem| panic!("{problem:?}"));
        for (lba, block) in (0..).step_by(8).zip(image.chunks(4096)) {
            if block.iter().any(|byte| *byte != 0) {
                disk.perform(Request::new(Operation::Write, Lba(lba), 8), block.to_vec()).expect("a fresh drive");
            }
        }
        let folder = std::env::temp_dir().join(format!("ssdlab-drives-{name}-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a folder of its own");
        let name = Name { name: "drive".into(), description: "a drive of flash".into(), read_only: false };
        let addresses = vec![Address::Unix(folder.join("socket"))];
        let server = Server::start(disk, Options { addresses, pace, name, ..Options::default() });
        Served { server: server.unwrap_or_else(|error| panic!("{error}")), folder }
    }

    fn uri(&self) -> String {
        format!("nbd+unix:///drive?socket={}", self.folder.join("socket").display())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Stops it, and gives what the medium holds.
    fn stored(&self) -> Vec<u8> {
        let mut disk = self.server.stop().expect("it was not stopped before");
        let mut bytes = vec![0; BYTES];
        disk.ssd().ftl.flash.contents.medium().read(0, &mut bytes).expect("RAM");
        bytes
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // What cannot be removed is left to the machine's own cleaning.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// nbdinfo reads the drive's sizes, and that it has all but a cache.
#[test]
fn nbdinfo_reads_what_a_drive_has() {
    let served = Served::start("handshake", "buffered", Pace::Off, &[]);
    let Some(told) = succeeds("nbdinfo", "libnbd-bin", &["--json", &served.uri()]) else { return };
    for expected in [
        "\"description\": \"a drive of flash\"",
        "\"export-size\": 16777216",
        "\"is_read_only\": false",
        "\"can_cache\": false",
        "\"can_fast_zero\": true",
        "\"can_flush\": true",
        "\"can_fua\": true",
        "\"can_multi_conn\": true",
        "\"can_trim\": true",
        "\"block_size_minimum\": 512",
        "\"block_size_preferred\": 4096",
        "\"block_size_maximum\": 33554432",
    ] {
        assert!(told.contains(expected), "{expected} is not in {told}");
    }
    let list = succeeds("nbdinfo", "libnbd-bin", &["--list", &served.uri()]).expect("it is installed");
    assert!(list.contains("export=\"drive\""), "{list}");
    let none = run("nbdinfo", "libnbd-bin", &[&served.uri().replace("/drive", "/none")]).expect("it is installed");
    assert!(none.expect_err("no such export").contains("No such file or directory"));
}

/// The map of a drive that holds an image has the image's hole, and nothing where nothing was written.
#[test]
fn nbdinfo_maps_what_is_not_mapped() {
    let served = Served::start("map", "buffered", Pace::Off, &image(1 << 20));
    let Some(map) = succeeds("nbdinfo", "libnbd-bin", &["--map", &served.uri()]) else { return };
    let rows: Vec<Vec<&str>> = map.lines().map(|line| line.split_whitespace().take(3).collect()).collect();
    let expected =
        [["0", "524288", "0"], ["524288", "262144", "3"], ["786432", "262144", "0"], ["1048576", "15728640", "3"]];
    assert_eq!(rows, expected);
}

/// An image that is copied onto the drive over four connections, and back, is the same; its hole takes no flash.
#[test]
fn nbdcopy_there_and_back() {
    for pace in [Pace::Off, Pace::Factor(1.0)] {
        let served = Served::start("copy", "buffered", pace, &[]);
        let (there, back) = (served.path("there.img"), served.path("back.img"));
        std::fs::write(&there, image(BYTES)).expect("a file");
        let uri = served.uri();
        let arguments = ["--connections=4", "--flush", text(&there), &uri];
        if succeeds("nbdcopy", "libnbd-bin", &arguments).is_none() {
            return;
        }
        succeeds("nbdcopy", "libnbd-bin", &["--connections=4", &uri, text(&back)]);
        assert!(std::fs::read(&back).expect("a copy") == image(BYTES), "what was copied back is something else");
        assert!(served.server.stats().counts.flushes > 0);
        let mapped = served.server.with_disk(|disk| disk.ssd().ftl.mapped_units()).expect("it is served");
        assert_eq!(mapped, (BYTES - (256 << 10)) / 4096);
        assert!(served.stored() == image(BYTES), "the drive holds something else");
    }
}

/// qemu-io reads what it wrote, trimmed and made zero; zeroes that shall be written are.
#[test]
fn qemu_io_reads_what_it_wrote() {
    let served = Served::start("commands", "theory", Pace::Off, &[7; 1 << 20]);
    let orders = [
        "write -P 170 4k 8k",
        "read -P 170 4k 8k",
        "write -f -P 85 65024 4608",
        "read -P 85 65024 4608",
        "read -P 7 69632 4k",
        "discard 128k 64k",
        "read -P 0 128k 64k",
        "write -z 256k 16k",
        "read -P 0 256k 16k",
        "write -z -u 320k 16k",
        "read -P 0 320k 16k",
        "flush",
    ];
    let uri = served.uri();
    let orders = orders.iter().flat_map(|order| ["-c", order]);
    let arguments: Vec<&str> = ["-f", "raw", "-t", "none"].into_iter().chain(orders).chain([&uri[..]]).collect();
    let Some(printed) = succeeds("qemu-io", "qemu-utils", &arguments) else { return };
    assert!(!printed.contains("failed"), "{printed}");
    let counts = served.server.stats().counts;
    assert_eq!((counts.trims, counts.zeroes, counts.failed), (1, 2, 0));
    // 64 KiB were trimmed, 16 KiB made zero by unmapping, 16 KiB written as zeroes.
    let mapped = served.server.with_disk(|disk| disk.ssd().ftl.mapped_units()).expect("it is served");
    assert_eq!(mapped, 256 - 16 - 4);
}

/// fio writes, trims and verifies at depth 32 over four connections, and misses nothing.
#[test]
fn fio_verifies() {
    for (pace, drive) in [(Pace::Off, "buffered"), (Pace::Off, "theory"), (Pace::Factor(1.0), "buffered")] {
        let served = Served::start("fio", drive, pace, &[]);
        let uri = format!("--uri={}", served.uri());
        let job = ["--ioengine=nbd", "--thread", "--bs=4k", "--iodepth=32", "--size=4m", "--offset_increment=4m"];
        for rw in ["randwrite", "trimwrite"] {
            let more = ["--name=job", "--numjobs=4", "--verify=crc32c", "--verify_state_save=0"];
            let rw = format!("--rw={rw}");
            let arguments: Vec<&str> = job.into_iter().chain(more).chain([&rw[..], &uri]).collect();
            if succeeds("fio", "fio", &arguments).is_none() {
                return;
            }
        }
        let stats = served.server.stats();
        assert_eq!((stats.counts.writes, stats.counts.trims, stats.counts.failed), (2 * 4096, 4096, 0));
        assert_eq!(stats.lateness.events > 0, pace.is_paced());
        // fio reads back every block that it wrote.
        assert_eq!(stats.counts.reads, 2 * 4096);
    }
}
