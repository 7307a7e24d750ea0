//! The recording against arithmetic by hand, and what must hold of every state of any small drive.

use super::recorder::{Happening, State, Step};
use super::{ExplainError, Recording, record};
use ssdlab_device::ftl::view::BlockState;

fn recorded(settings: &[(&str, &str)]) -> Recording {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    record(&settings).unwrap_or_else(|error| panic!("{settings:?}: {error}"))
}

fn chapter<'a>(recording: &'a Recording, name: &str) -> Vec<&'a Step> {
    recording.steps.iter().filter(|step| step.chapter == name).collect()
}

fn count(step: &Step, counter: &str) -> u64 {
    step.counters[counter].as_u64().expect("a whole number")
}

/// The pages that hold current data, through all blocks.
fn valid_pages(state: &State) -> Vec<u32> {
    let all = state.blocks.iter().flat_map(|block| &block.valid);
    (0..).zip(all).filter(|(_, valid)| **valid).map(|(page, _)| page).collect()
}

/// Twelve blocks of eight pages and 50 % beyond the exported units: 64 units. The first four writes fill the
/// first four pages; all 64 fill eight blocks in order, each page valid, and nothing was written twice.
#[test]
fn first_writes_fill_pages_in_order() {
    let recording = recorded(&[]);
    assert_eq!((recording.drive.blocks, recording.drive.pages_per_block, recording.drive.units), (12, 8, 64));
    let steps = chapter(&recording, "write");
    for (written, step) in steps[..5].iter().enumerate() {
        let expected: Vec<Option<u32>> = (0..8).map(|page| (page < written as u32).then_some(page)).collect();
        assert_eq!((&step.state.blocks[0].units, step.state.blocks[0].programmed), (&expected, written as u32));
        assert_eq!(valid_pages(&step.state), (0..written as u32).collect::<Vec<_>>());
        assert_eq!((count(step, "host_writes"), count(step, "nand_pages_written")), (written as u64, written as u64));
    }
    let filled = steps[5];
    assert_eq!((steps.len(), filled.commands, filled.write_amplification), (6, 60, Some(1.0)));
    assert_eq!(filled.state.map, (0..64).map(Some).collect::<Vec<_>>());
    let states: Vec<BlockState> = filled.state.blocks.iter().map(|block| block.state).collect();
    assert_eq!(states, [[BlockState::Sealed; 8].as_slice(), &[BlockState::Free; 4]].concat());
}

/// Unit 2 is overwritten twice, then unit 32: each goes to the next page of block 8, and the page before is invalid.
#[test]
fn overwrites_leave_invalid_pages() {
    let recording = recorded(&[]);
    let steps = chapter(&recording, "overwrite");
    for (step, (unit, page, was)) in steps.iter().zip([(2, 64, 2), (2, 65, 64), (32, 66, 32)]) {
        assert_eq!(step.happened, [Happening::Program { unit, page, was: Some(was) }]);
        let old = &step.state.blocks[was as usize / 8];
        let place = was as usize % 8;
        assert_eq!((old.units[place], old.valid[place]), (Some(unit), false), "the old data still lie there");
    }
    assert_eq!((steps.len(), valid_pages(&steps[2].state).len()), (3, 64));
}

/// Eight sectors from sector 64 are unit 8: one program. From sector 63 they are the end of unit 7 and the most of
/// unit 8: both are read first and both are programmed, 8192 B for 4096 B.
#[test]
fn misaligned_write_touches_two_units() {
    let recording = recorded(&[]);
    let before = count(chapter(&recording, "overwrite")[2], "nand_pages_written");
    let steps = chapter(&recording, "misaligned");
    assert_eq!(steps[0].happened, [Happening::Program { unit: 8, page: 67, was: Some(8) }]);
    assert_eq!((count(steps[0], "nand_pages_written"), count(steps[0], "read_modify_writes")), (before + 1, 0));
    let command = steps[1].command.as_ref().unwrap();
    assert_eq!((command.lba, command.sectors, &command.units), (63, 8, &vec![7, 8]));
    let happened: Vec<_> = steps[1..].iter().flat_map(|step| step.happened.clone()).collect();
    let programs = [
        Happening::Program { unit: 7, page: 68, was: Some(7) },
        Happening::Program { unit: 8, page: 69, was: Some(67) },
    ];
    assert_eq!(happened, [[Happening::Read { units: 2 }].as_slice(), &programs].concat());
    let last = steps.last().unwrap();
    assert_eq!(count(last, "nand_pages_written") - count(steps[0], "nand_pages_written"), 2);
    assert_eq!(count(last, "host_bytes_written") - count(steps[0], "host_bytes_written"), 4096);
}

/// The first victim has the fewest valid pages of all sealed blocks; each of them is copied once, and then it is erased.
#[test]
fn victim_is_emptied_and_erased() {
    let recording = recorded(&[]);
    let steps = chapter(&recording, "collection");
    let at = steps.iter().position(|step| matches!(step.happened[..], [.., Happening::Victim { .. }])).unwrap();
    let Some(&Happening::Victim { block, reason, valid }) = steps[at].happened.last() else { unreachable!() };
    assert_eq!(reason, "garbage");
    let before = &steps[at - 1].state;
    let in_block = |block: &super::recorder::Block| block.valid.iter().filter(|valid| **valid).count() as u32;
    let sealed = before.blocks.iter().filter(|block| block.state == BlockState::Sealed);
    assert_eq!(Some(valid), sealed.map(in_block).min());
    let moves = steps[at..].iter().flat_map(|step| &step.happened);
    let moved: Vec<u32> = moves
        .filter_map(|happening| match happening {
            Happening::Move { was, .. } if was / 8 == block => Some(was % 8),
            _ => None,
        })
        .collect();
    let expected = (0..8).filter(|&page| before.blocks[block as usize].valid[page as usize]);
    assert_eq!(moved, expected.collect::<Vec<_>>());
    assert!(!moved.is_empty(), "a victim without valid pages shows no copy");
    let erased = steps[at..].iter().find(|step| step.happened.contains(&Happening::Erase { block })).unwrap();
    let victim = &erased.state.blocks[block as usize];
    assert_eq!((victim.erases, victim.programmed, &victim.units), (1, 0, &vec![None; 8]));
}

/// A trim of a quarter makes its 16 pages invalid and programs none. The first block that is erased then holds no valid
/// page, so that nothing is copied; the next victim holds less than the one before the trim.
#[test]
fn trim_spares_copies() {
    let recording = recorded(&[]);
    let before = chapter(&recording, "collection").pop().unwrap();
    let steps = chapter(&recording, "trim");
    assert_eq!(steps[0].command.as_ref().unwrap().units, (32..48).collect::<Vec<_>>());
    assert_eq!(valid_pages(&before.state).len() - valid_pages(&steps[0].state).len(), 16);
    assert_eq!(count(before, "nand_pages_written"), count(steps[0], "nand_pages_written"));
    assert_eq!(count(steps[0], "host_bytes_trimmed"), 16 * 4096);
    let erased = steps.iter().position(|step| matches!(step.happened[..], [Happening::Erase { .. }])).unwrap();
    assert_eq!(count(steps[erased], "gc_pages_moved"), count(before, "gc_pages_moved"));
    let first_victim = |name| {
        let happened = chapter(&recording, name).into_iter().flat_map(|step| &step.happened);
        happened.filter_map(|each| if let Happening::Victim { valid, .. } = each { Some(*valid) } else { None }).next()
    };
    assert!(first_victim("trim") < first_victim("collection"));
}

/// Wear levelling takes the sealed block with the fewest erases, more than four behind the most worn, though it holds
/// valid data; afterwards all of these lie elsewhere.
#[test]
fn wear_leveling_moves_what_lies_still() {
    let recording = recorded(&[]);
    let steps = chapter(&recording, "wear");
    let is_leveling = |happening: &Happening| matches!(happening, Happening::Victim { reason: "leveling", .. });
    let at = steps.iter().position(|step| step.happened.iter().any(is_leveling)).expect("within 4096 writes");
    let Some(&Happening::Victim { block, valid, .. }) = steps[at].happened.last() else { unreachable!() };
    let sealed = || steps[at - 1].state.blocks.iter().filter(|block| block.state == BlockState::Sealed);
    let erases = steps[at - 1].state.blocks[block as usize].erases;
    assert_eq!(Some(erases), sealed().map(|block| block.erases).min());
    assert!(sealed().map(|block| block.erases).max().unwrap() > erases + 4);
    // What follows in one step may level again.
    let [.., levelled, last] = steps[..] else { unreachable!() };
    assert_eq!(u64::from(valid), count(levelled, "wear_leveling_pages_moved"));
    assert!(last.state.blocks[block as usize].erases > erases);
}

/// On any small drive, at every step: each mapped unit is valid in exactly one page, which records it; what is free was
/// not programmed; all programs are those that erases have wiped out and those that can be seen; write
/// amplification is bytes programmed over bytes written.
#[test]
fn every_state_is_sound() {
    let drives: &[&[(&str, &str)]] = &[
        &[],
        &[("nand.channels", "2"), ("nand.dies_per_channel", "2"), ("nand.blocks_per_plane", "12")],
        &[("nand.planes", "2"), ("nand.blocks_per_plane", "10")],
        &[("ftl.frontiers", "single"), ("ftl.gc", "fifo")],
        &[("ftl.gc", "random"), ("ftl.gc_pace", "smooth"), ("nand.blocks_per_plane", "14")],
        &[("buffer.bytes", "16 KiB"), ("ftl.trim", "false")],
        &[("ftl.striping", "superblock"), ("nand.dies_per_channel", "2"), ("ftl.static_wear_cycles", "none")],
        &[("ftl.mapping_cache_bytes", "4096"), ("nand.page_bytes", "1 KiB"), ("sector_bytes", "512")],
        &[("nand.page_bytes", "16 KiB"), ("sector_bytes", "4096"), ("over_provisioning", "1")],
    ];
    for settings in drives {
        let recording = recorded(settings);
        let pages = recording.drive.pages_per_block;
        for (number, step) in recording.steps.iter().enumerate() {
            let what = format!("{settings:?}, step {number}");
            let mut expected: Vec<u32> = step.state.map.iter().copied().flatten().collect();
            expected.sort_unstable();
            assert_eq!(valid_pages(&step.state), expected, "{what}");
            for (unit, page) in (0..).zip(&step.state.map).filter_map(|(unit, page)| page.map(|page| (unit, page))) {
                let block = &step.state.blocks[(page / pages) as usize];
                assert_eq!(block.units[(page % pages) as usize], Some(unit), "{what}");
            }
            let mut programmed = 0;
            for block in &step.state.blocks {
                assert!(block.units[block.programmed as usize..].iter().all(Option::is_none), "{what}");
                programmed += u64::from(block.erases * pages + block.programmed);
            }
            assert_eq!(programmed, count(step, "nand_pages_written"), "{what}: full blocks alone are erased");
            let bytes = |counter, unit| (count(step, counter) * u64::from(unit)) as f64;
            let written = bytes("host_bytes_written", 1);
            let expected = bytes("nand_pages_written", recording.drive.page_bytes) / written;
            assert_eq!(step.write_amplification, (written > 0.0).then_some(expected), "{what}");
        }
    }
}

/// What cannot be drawn is refused with key, value and what is allowed.
#[test]
fn refuses_what_cannot_be_drawn() {
    for (key, value, expected) in [
        ("capacity_bytes", "1 MiB", "capacity follows from"),
        ("nand.blocks_per_plane", "1000", "makes 8000 pages"),
        ("nand.blocks_per_plane", "none", "must be given"),
        ("nand.pages_per_block", "2", "makes 16 logical units"),
        ("over_provisioning", "none", "must be given"),
        ("ftl.mapping_unit_bytes", "16 KiB", "a page is drawn for each"),
        ("nand.page_bytes", "512", "no write of a sector is misaligned"),
        ("controller.compression", "true", "compressed pages"),
        ("nand.pages", "8", "nand.pages"),
    ] {
        let text = refusal(key, value);
        assert!(text.contains(expected) && text.contains(key), "{key}={value}: {text}");
    }
    let text = refusal("over_provisioning", "0.01");
    assert!(text.contains("nand.blocks_per_plane=12: leaves 0 spare blocks"), "{text}");
}

fn refusal(key: &str, value: &str) -> String {
    let refused: Result<Recording, ExplainError> = record(&[(key.to_string(), value.to_string())]);
    refused.unwrap_err().to_string()
}
