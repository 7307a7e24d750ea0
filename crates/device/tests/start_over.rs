//! Secure erase, crypto erase and TRIM of the whole drive: what is left, what it takes, what comes after.

use crate::stand::{Stand, four_kib};
use ssdlab_device::block::{Device, Operation, Tag};
use ssdlab_device::ftl::{mapping::Place, spare::Shortage};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::ssd::admin::{Refused, StartOver};
use ssdlab_device::units::{BlockId, Lpn, Nanos};

const SMALL: [(&str, &str); 4] = [
    ("capacity_bytes", "16 MiB"),
    ("nand.channels", "2"),
    ("nand.dies_per_channel", "2"),
    ("nand.pages_per_block", "32"),
];

/// A drive that was filled and overwritten at random four times over.
fn used(settings: &[(&str, &str)]) -> Stand {
    let mut stand = Stand::new("theory", &[&SMALL[..], settings].concat());
    stand.fill(stand.ssd.ftl.exported);
    overwrite(&mut stand.ssd, 4);
    stand
}

/// Overwrites without time, at random; returns how many pages each host page cost.
fn overwrite(ssd: &mut Ssd, times: u32) -> f64 {
    let (before, exported) = (ssd.counters(), u64::from(ssd.ftl.exported));
    let mut draw = 1u64;
    for _ in 0..u64::from(times) * exported {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ssd.write_now(Lpn(((draw >> 33) % exported) as u32), 0);
    }
    ssd.flush_now();
    (ssd.counters() - before).unit_write_amplification().expect("it wrote")
}

fn mapped(ssd: &Ssd) -> usize {
    ssd.ftl.mapped_units()
}

/// A secure erase erases what was programmed, once, the dies side by side, and nothing else wears.
#[test]
fn a_secure_erase_takes_its_blocks() {
    let settings = [("nand.erase_us", "2000"), ("admin.command_ms", "5")];
    let mut stand = Stand::new("theory", &[&SMALL[..], &settings].concat());
    // 10 blocks of 32 units; rows go round the 4 dies, so 3 blocks a die are open or full.
    stand.fill(320);
    let written: Vec<bool> = (0..stand.ssd.ftl.geometry.blocks)
        .map(|block| stand.ssd.ftl.flash.array.programmed_rows(BlockId(block)) > 0)
        .collect();
    assert_eq!(written.iter().filter(|written| **written).count(), 12);
    assert_eq!(stand.ssd.start_over(StartOver::SecureErase), Ok(Nanos::from_ms(5.0 + 3.0 * 2.0)));
    let erases: Vec<bool> =
        (0..stand.ssd.ftl.geometry.blocks).map(|block| stand.ssd.ftl.flash.array.erases(BlockId(block)) == 1).collect();
    assert_eq!(erases, written);
    assert_eq!(
        (mapped(&stand.ssd), stand.ssd.counters().blocks_erased, stand.ssd.counters().secure_erases),
        (0, 12, 1)
    );
}

/// By hand: a pass of overwriting erases what was programmed, then programs and erases everything, the dies side by
/// side; what it programs is counted.
#[test]
fn an_overwrite_programs_and_erases_all() {
    let settings = [("nand.erase_us", "2000"), ("nand.program_us", "500"), ("admin.command_ms", "5")];
    let mut stand = Stand::new("theory", &[&SMALL[..], &settings].concat());
    stand.fill(320);
    let before = stand.ssd.counters();
    let blocks = u64::from(stand.ssd.ftl.geometry.blocks);
    let a_die = (blocks / 4) as f64;
    let took = Nanos::from_ms(5.0 + 3.0 * 2.0 + a_die * (32.0 * 0.5 + 2.0));
    assert_eq!(stand.ssd.start_over(StartOver::Overwrite), Ok(took));
    let counted = stand.ssd.counters() - before;
    assert_eq!((mapped(&stand.ssd), counted.blocks_erased), (0, 12 + blocks));
    assert_eq!((counted.nand_pages_written, counted.nand_bytes_written), (32 * blocks, 32 * 4096 * blocks));
    assert_eq!(counted.padding_pages_written, counted.nand_pages_written);
    stand.ssd.ftl.check();
}

/// After a secure erase a used drive takes as long for everything as one fresh out of the box.
#[test]
fn a_secure_erase_gives_the_first_speed_back() {
    let requests = || (0..6000u64).map(|number| four_kib(Operation::Write, number * 2_654_435_761 % 4096));
    let mut erased = used(&[]);
    erased.ssd.start_over(StartOver::SecureErase).unwrap();
    let mut fresh = Stand::new("theory", &SMALL);
    let mut dirty = used(&[]);
    let [erased, fresh, dirty] = [&mut erased, &mut fresh, &mut dirty].map(|stand| {
        stand.run(8, requests());
        stand.now
    });
    assert_eq!(erased, fresh);
    assert!(dirty.0 > fresh.0 * 2, "{dirty:?} against {fresh:?}");
}

/// After a crypto erase the units are mapped and read from flash, and overwriting moves as much as before; after a
/// trim of the same drive next to nothing is moved for one capacity, and nothing is read from flash.
#[test]
fn after_a_crypto_erase_blocks_stay_full() {
    let spare = [("over_provisioning", "0.15")];
    let before = overwrite(&mut used(&spare).ssd, 1);
    let after = |how| {
        let mut stand = used(&spare);
        stand.ssd.start_over(how).unwrap();
        stand.run(1, (0..64).map(|number| four_kib(Operation::Read, number)));
        (stand.ssd.counters().unmapped_reads, overwrite(&mut stand.ssd, 1))
    };
    assert_eq!(after(StartOver::CryptoErase), (0, before));
    assert!(before > 2.5, "{before}");
    let (unmapped, trimmed) = after(StartOver::Trim);
    assert_eq!(unmapped, 64);
    assert!(trimmed < 1.2, "{trimmed}");
}

/// A trimmed drive: nothing is mapped and no block was erased. It takes one command for each 64 ranges of SATA.
#[test]
fn a_trim_unmaps_and_erases_nothing() {
    let settings = [("capacity_bytes", "4 GiB"), ("link.protocol", "sata-ncq"), ("link.queue_depth", "32")];
    let costs = [("controller.trim_command_us", "30"), ("controller.trim_range_us", "1"), ("link.command_us", "2")];
    let mut stand = Stand::new("theory", &[&settings[..], &costs].concat());
    stand.fill(1000);
    // 8 388 608 sectors are 129 ranges of 65 535 in 3 commands.
    assert_eq!(stand.ssd.start_over(StartOver::Trim), Ok(Nanos(3 * 32_000 + 129 * 1_000)));
    let counters = stand.ssd.counters();
    assert_eq!((mapped(&stand.ssd), counters.blocks_erased), (0, 0));
    assert_eq!((counters.host_trims, counters.host_bytes_trimmed), (3, 4_096_000));
}

/// What the write buffer holds is there after a crypto erase, and gone after the others; nothing is waited for.
#[test]
fn the_buffer_is_emptied_first() {
    for how in StartOver::ALL {
        let planes = [("buffer.bytes", "1 MiB"), ("nand.page_bytes", "16 KiB"), ("ftl.mapping_unit_bytes", "4 KiB")];
        let mut stand = Stand::new("theory", &[&SMALL[..], &planes, &[("over_provisioning", "0.9")]].concat());
        stand.run(1, (0..3).map(|number| four_kib(Operation::Write, number)));
        assert!(matches!(stand.ssd.ftl.place(Lpn(0)), Place::Buffer(_)), "three units fill no row");
        stand.ssd.start_over(how).unwrap();
        assert_eq!(mapped(&stand.ssd), if how.empties() { 0 } else { 3 });
        stand.ssd.ftl.check();
        assert_eq!(stand.ssd.counters().units_lost_at_power_cut, 0);
    }
}

/// A busy drive, one without TRIM and one that is read-only refuse, and nothing has changed.
#[test]
fn what_cannot_start_over_refuses() {
    let mut stand = used(&[("ftl.trim", "false")]);
    assert_eq!(stand.ssd.start_over(StartOver::Trim), Err(Refused::NoTrim));
    stand.ssd.submit(stand.now, Tag(0), four_kib(Operation::Read, 0)).unwrap();
    for how in [StartOver::SecureErase, StartOver::CryptoErase, StartOver::Overwrite] {
        assert_eq!(stand.ssd.start_over(how), Err(Refused::Outstanding));
    }
    stand.wait();
    stand.ssd.ftl.spare.run_out(Shortage::GoodBlocks);
    assert_eq!(stand.ssd.start_over(StartOver::SecureErase), Err(Refused::ReadOnly));
    assert_eq!(mapped(&stand.ssd), 4096);
}

/// A block in which a program failed is retired with the erase: it is not used again.
#[test]
fn failing_blocks_are_retired() {
    let mut stand = used(&[("reliability.program_fail_share", "0.002"), ("over_provisioning", "1.5")]);
    stand.ssd.start_over(StartOver::SecureErase).unwrap();
    let counters = stand.ssd.counters();
    assert!(counters.program_failures > 10, "{}", counters.program_failures);
    assert_eq!(counters.grown_bad_blocks, counters.program_failures, "each failure took a block");
    assert_eq!(stand.ssd.ftl.flash.array.bad_blocks() as u64, counters.grown_bad_blocks);
    stand.ssd.start_over(StartOver::Overwrite).unwrap();
    let overwritten = stand.ssd.counters() - counters;
    assert!(overwritten.program_failures > 0, "it programs, and that can fail");
    assert_eq!(overwritten.grown_bad_blocks, overwritten.program_failures);
}
