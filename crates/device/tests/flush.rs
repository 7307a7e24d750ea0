//! What a flush and a write with FUA cost: by hand, for each way in which a drive keeps what it acknowledged.

use crate::stand::{Done, SECTORS, Stand, config, four_kib};
use ssdlab_device::block::{Device, Operation, Request};
use ssdlab_device::config::DriveConfig;
use ssdlab_device::units::{Lba, Nanos};

const FLUSH: Request =
    Request { operation: Operation::Flush, lba: Lba(0), sectors: 0, fua: false, compress_percent: 0 };
const SMALL: (&str, &str) = ("capacity_bytes", "1 GiB");
const COMMANDS: [(&str, &str); 3] = [SMALL, ("link.command_us", "2"), ("controller.flush_command_us", "3")];
const BUFFER: (&str, &str) = ("buffer.bytes", "256 KiB");
const JOURNAL: (&str, &str) = ("ftl.map_journal", "true");
const PROTECTED: (&str, &str) = ("buffer.power_loss_protected", "true");
/// Link and controller time of a flush with these.
const COMMAND: Nanos = Nanos(5_000);

fn with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&COMMANDS[..], more].concat()
}

/// A row of one unit, from its die's beginning to its end.
fn row(parts: &DriveConfig) -> Nanos {
    let page = parts.nand.page_bytes.0;
    let rate = parts.nand.channel_mb_per_s / (1.0 + parts.nand.spare_bytes.0 as f64 / page as f64);
    parts.nand.command_us.0 + Nanos::of_transfer(page, rate) + parts.nand.program_us.0[0]
}

fn fua(number: u64) -> Request {
    Request { fua: true, ..four_kib(Operation::Write, number) }
}

/// Latencies of requests one after the other.
fn latencies(stand: &mut Stand, requests: &[Request]) -> Vec<Nanos> {
    stand.run(1, requests.iter().copied()).into_iter().map(Done::latency).collect()
}

/// A protected drive answers from its buffer: a flush takes its command, and FUA adds nothing. The journal that
/// the profile asks for is not written.
#[test]
fn a_protected_flush_is_a_command() {
    let mut stand = Stand::new("theory", &with(&[BUFFER, PROTECTED, JOURNAL]));
    let write = four_kib(Operation::Write, 0);
    let times = latencies(&mut stand, &[write, FLUSH, FLUSH, fua(1)]);
    assert_eq!(times[1..], [COMMAND, COMMAND, times[0]]);
    assert!(!stand.ssd.limits().volatile_cache);
    assert_eq!(stand.ssd.counters().journal_pages_written, 0);
}

/// An unprotected drive programs what its buffer holds, then a page of the journal: two rows. With nothing
/// written or trimmed since, a flush is a command. The pages count as programmed.
#[test]
fn an_unprotected_flush_writes_buffer_and_journal() {
    let settings = with(&[BUFFER, JOURNAL]);
    let row = row(&config("theory", &settings));
    let mut stand = Stand::new("theory", &settings);
    let trim = four_kib(Operation::Trim, 0);
    let times = latencies(&mut stand, &[FLUSH, four_kib(Operation::Write, 0), FLUSH, FLUSH, trim, FLUSH, FLUSH]);
    let times = [times[0], times[2], times[3], times[5], times[6]];
    assert_eq!(times, [COMMAND, row + row, COMMAND, COMMAND + row, COMMAND]);
    let counters = stand.ssd.counters();
    assert_eq!((counters.journal_pages_written, counters.host_pages_written, counters.nand_pages_written), (2, 1, 3));
    assert!(stand.ssd.limits().volatile_cache);
}

/// Without a buffer a write is durable when it is programmed; where the map has to be saved, a flush behind it
/// still programs a page. Without a journal, as in the theory drive, it is a command.
#[test]
fn without_a_buffer_the_map_remains() {
    for (journal, pages) in [("true", 1), ("false", 0)] {
        let settings = with(&[("ftl.map_journal", journal)]);
        let row = row(&config("theory", &settings));
        let mut stand = Stand::new("theory", &settings);
        let times = latencies(&mut stand, &[four_kib(Operation::Write, 0), FLUSH, FLUSH, fua(1), FLUSH]);
        let rows = Nanos(row.0 * pages);
        assert_eq!(times[1..], [COMMAND + rows, COMMAND, times[0] + rows, COMMAND], "journal: {journal}");
        assert_eq!(stand.ssd.counters().journal_pages_written, 2 * pages);
        assert_eq!(stand.ssd.limits().volatile_cache, pages == 1);
    }
}

/// A write with FUA is a write with a flush behind it, in one command.
#[test]
fn fua_waits_for_buffer_and_journal() {
    for (journal, rows) in [("true", 2), ("false", 1)] {
        let settings = with(&[BUFFER, ("ftl.map_journal", journal)]);
        let row = row(&config("theory", &settings));
        let mut stand = Stand::new("theory", &settings);
        let times = latencies(&mut stand, &[fua(0), four_kib(Operation::Write, 1)]);
        assert_eq!(times[0], times[1] + Nanos(row.0 * rows), "journal: {journal}");
    }
}

/// By hand: past the SLC cache the data of a write with FUA take tPROG of cells with three bits, and the page of the
/// journal that of one bit; a write and a flush behind it, before and after, take the latter twice.
#[test]
fn fua_may_go_past_the_slc_cache() {
    let slc = [("nand.cell", "tlc"), ("ftl.slc_cache", "dynamic"), ("ftl.slc_cache_bytes", "256 MiB")];
    let times = [("nand.program_us", "700"), ("nand.slc_program_us", "100")];
    let settings = [&slc[..], &times, &[BUFFER, JOURNAL, ("ftl.frontiers", "host-gc")]].concat();
    let row = row(&config("theory", &with(&settings)));
    let three_bits_more = Nanos(600_000);
    for (past, more) in [("true", three_bits_more), ("false", Nanos::ZERO)] {
        let settings = [&settings[..], &[("buffer.fua_past_slc", past)]].concat();
        let mut stand = Stand::new("theory", &with(&settings));
        let requests = [four_kib(Operation::Write, 0), FLUSH, fua(1), four_kib(Operation::Write, 2), FLUSH];
        let times = latencies(&mut stand, &requests);
        let one_bit = row - three_bits_more;
        assert_eq!(times[1], one_bit + one_bit, "past: {past}");
        assert_eq!(times[2], times[0] + times[1] + more, "past: {past}");
        assert_eq!(times[4], times[1], "past: {past}");
    }
}

/// Flushes that wait at the same time share a page of the journal: of sixteen writes with FUA at once the first
/// has a page, and the rest, which were programmed meanwhile, the next.
#[test]
fn flushes_share_a_page() {
    let mut stand = Stand::new("theory", &with(&[BUFFER, JOURNAL, ("nand.channels", "16")]));
    stand.run(16, (0..16).map(fua));
    assert_eq!(stand.ssd.counters().journal_pages_written, 2);
}

/// On SATA a flush is not queued: it waits for the reads before it, and the read behind it waits for its end.
/// NVMe queues it: the read waits for the controller only.
#[test]
fn sata_does_not_queue_a_flush() {
    let sata = [("link.protocol", "sata-ncq"), ("link.queue_depth", "32")];
    for (link, is_queued) in [(&sata[..], false), (&[], true)] {
        let settings = [&with(link)[..], &[("link.mb_per_s", "3000")]].concat();
        let parts = config("theory", &settings);
        let mut stand = Stand::new("theory", &settings);
        stand.fill(64);
        let read = stand.time(four_kib(Operation::Read, 0));
        let command = parts.link.command_us.0 + parts.controller.read_command_us.0;
        let requests = [four_kib(Operation::Read, 1), FLUSH, four_kib(Operation::Read, 2)];
        let done: Vec<Nanos> = stand.run(3, requests).into_iter().map(Done::latency).collect();
        let expected = match is_queued {
            true => [read, command + COMMAND, command + COMMAND + read],
            false => [read, read + COMMAND, read + COMMAND + read],
        };
        assert_eq!(done, expected, "queued: {is_queued}");
    }
}

/// The journal's pages are collected like data: a small drive that flushes after every write goes on for many
/// times its size, with a page of the journal for each.
#[test]
fn the_journal_is_collected() {
    for buffer in ["0", "256 KiB"] {
        let small = [("capacity_bytes", "16 MiB"), ("nand.pages_per_block", "32"), JOURNAL, ("buffer.bytes", buffer)];
        let mut stand =
            Stand::new("theory", &[&small[..], &[("nand.channels", "2"), ("nand.dies_per_channel", "2")]].concat());
        let units = 16 * 256;
        let requests = (0..6 * units).flat_map(|number| [four_kib(Operation::Write, number * 7 % units), FLUSH]);
        stand.run(1, requests);
        stand.ssd.ftl.check();
        let counters = stand.ssd.counters();
        assert_eq!(counters.journal_pages_written, 6 * units);
        assert_eq!(counters.nand_pages_written, counters.gc_pages_moved + 12 * units, "buffer: {buffer}");
        assert!(counters.blocks_erased > 0);
    }
}

/// What a flush has made durable survives a power cut.
#[test]
fn nothing_flushed_is_lost() {
    let mut stand = Stand::new("theory", &with(&[BUFFER, JOURNAL]));
    let writes = (0..40).map(|number| Request::new(Operation::Write, Lba(number * 3), SECTORS - 3));
    stand.run(8, writes);
    stand.run(1, [FLUSH]);
    let now = stand.now;
    stand.ssd.cut_power(now);
    assert_eq!(stand.ssd.counters().units_lost_at_power_cut, 0);
    assert_eq!(stand.time(FLUSH), COMMAND);
}

/// A cut runs nothing: what a protected buffer holds stays in it, and is programmed when the host goes on; what a
/// volatile one holds is lost.
#[test]
fn a_cut_programs_nothing() {
    for (protected, mapped, lost) in [("true", 3, 0), ("false", 0, 3)] {
        let settings = [("buffer.bytes", "1 MiB"), ("nand.page_bytes", "16 KiB"), ("ftl.mapping_unit_bytes", "4 KiB")];
        let settings = [&settings[..], &[("buffer.power_loss_protected", protected)]].concat();
        let mut stand = Stand::new("theory", &settings);
        stand.run(1, (0..3).map(|number| four_kib(Operation::Write, number)));
        assert_eq!(stand.ssd.counters().nand_pages_written, 0, "three units fill no row");
        stand.ssd.cut_power(stand.now);
        let counters = stand.ssd.counters();
        assert_eq!((counters.nand_pages_written, counters.units_lost_at_power_cut), (0, lost), "{protected}");
        assert_eq!(stand.ssd.ftl.mapped_units(), mapped, "{protected}");
        stand.run(1, (3..4).map(|number| four_kib(Operation::Write, number)));
        stand.run(1, [Request::new(Operation::Flush, Lba(0), 0)]);
        stand.ssd.put_away();
        assert_eq!(stand.ssd.ftl.mapped_units(), mapped + 1, "{protected}");
        stand.ssd.ftl.check();
    }
}
