//! Nothing that was promised is lost, whenever power fails: a cut after every event of drawn histories, over every kind
//! of drive, judged sector by sector; and each of the bugs that can be built in is found.

use crate::history::{History, disk};
use crate::kinds::{drives, named};
use ssdlab_device::counters::Counters;
use ssdlab_device::ftl::mapping::Place;
use ssdlab_device::units::Lpn;
use ssdlab_disk::image::Mutant;
use ssdlab_disk::since::Mark;

/// Sectors that a history lies in: few, so that commands meet.
const WIDE: u32 = 2048;
/// So few that several versions of a unit are under program at once.
const HOT: u32 = 48;

/// Lives through a history with a cut after every event, every now and then of the drive itself. What was wrong first.
fn live(settings: &[(&str, &str)], mutant: Option<Mutant>, seed: u64, cuts: u64, span: u32) -> Result<(), String> {
    let mut history = History::new(disk(settings, mutant), seed, span);
    let mut cut = 0;
    while cut < cuts {
        history.submit();
        for _ in 0..history.draw(12) {
            history.step();
            cut += 1;
            if let Some(wrong) = history.judge_cut_of_copy(cut) {
                return Err(format!("cut {cut} of history {seed}: {wrong}"));
            }
        }
        if history.draw(60) == 0
            && let Some(wrong) = history.cut(cut)
        {
            return Err(format!("cut {cut} of history {seed}: {wrong}"));
        }
    }
    history.drain();
    history.cut(0).map_or(Ok(()), |wrong| Err(format!("at the end of history {seed}: {wrong}")))
}

/// How many cuts to draw: `SSDLAB_CUTS`, 10,000 where it is not set.
pub fn cuts() -> u64 {
    std::env::var("SSDLAB_CUTS").map_or(10_000, |text| text.parse().expect("SSDLAB_CUTS is a number"))
}

/// Over every kind of drive.
#[test]
fn nothing_promised_is_lost() {
    let drives = drives();
    let each = cuts().div_ceil(drives.len() as u64);
    for (seed, (name, settings)) in (0..).zip(&drives) {
        println!("{name}");
        let mut settings = settings.clone();
        if seed % 3 == 0 {
            settings.push(("atomic_write_bytes", "16 KiB"));
        }
        live(&settings, None, seed, each, if seed % 2 == 0 { WIDE } else { HOT })
            .unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
    }
}

/// A process that is killed leaves what it must too, on every kind of drive; the drive that is opened again over fresh flash
/// reads it, takes more, and is killed again. Its map has what was written and not what was trimmed, and nothing counts.
#[test]
fn a_killed_drive_is_recovered_onto_fresh_flash() {
    for (seed, (name, settings)) in (0..).zip(&drives()) {
        let mut history = History::new(disk(settings, None), seed, if seed % 2 == 0 { WIDE } else { HOT });
        for life in 0..8 {
            (0..60).for_each(|_| {
                history.submit();
                history.step();
            });
            let wrong = history.kill(settings, life);
            assert!(wrong.is_none(), "{name}, life {life}: {wrong:?}");
            let ssd = history.disk.ssd();
            ssd.ftl.check();
            let since = ssd.ftl.flash.contents.since();
            for (mark, is_mapped) in [(Mark::Written, true), (Mark::Trimmed, false), (Mark::Untouched, false)] {
                let place = |unit| ssd.ftl.place(Lpn(unit)) != Place::Unmapped;
                assert!(since.marked(mark).all(|unit| place(unit) == is_mapped), "{name}: {mark:?}");
            }
            assert_eq!(history.disk.counters(), Counters::default(), "{name}");
        }
    }
}

/// Each bug that loses something at a cut is found within 1,000 cuts, on a drive where it matters; that undone versions
/// come back in the wrong order needs two versions of a unit under program, both undone: some histories have none.
#[test]
fn every_mutant_is_found() {
    let mutants = [
        (Mutant::ProtectedInRam, "protected buffer", WIDE),
        (Mutant::TrimLeavesBytes, "theory", WIDE),
        (Mutant::TrimOfBufferedIgnored, "small units", HOT),
        (Mutant::PartialAsWhole, "buffered", WIDE),
        (Mutant::OldestFirst, "suspend", HOT),
        (Mutant::OverNewer, "suspend", HOT),
        (Mutant::FlushAtOnce, "buffered", WIDE),
        (Mutant::FuaIgnored, "buffered", WIDE),
        (Mutant::GroupsIgnored, "buffered", WIDE),
        (Mutant::GroupsIgnored, "protected buffer", WIDE),
    ];
    for (mutant, name, span) in mutants {
        let mut settings = named(name);
        if mutant == Mutant::TrimOfBufferedIgnored {
            // Rows of four units: what is written stays in the buffer for a while, and its bytes are in the image.
            settings.push(("buffer.power_loss_protected", "true"));
        }
        if mutant == Mutant::GroupsIgnored {
            settings.extend([("atomic_write_bytes", "16 KiB"), ("buffer.bytes", "16 KiB")]);
        }
        let survives = |seed| {
            std::panic::catch_unwind(|| live(&settings, Some(mutant), seed, 1000, span))
                .is_ok_and(|lived| lived.is_ok())
        };
        assert!((1..4).any(|seed| !survives(seed)), "{mutant:?} is not found on {name}");
    }
}
