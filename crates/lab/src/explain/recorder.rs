//! Hands commands to the drive, and writes down what each event changes.
//!
//! A step is a state of the drive and what led to it. Flash changes when an operation begins; a step's time
//! is that instant. What happened is found by comparing two states: units whose place has changed, blocks
//! whose erase count has grown, jobs that have begun.

use serde::Serialize;
use serde_json::{Map, Value, json};
use ssdlab_device::block::{Completion, Device, Operation, Request, Status, Tag};
use ssdlab_device::counters::Counters;
use ssdlab_device::ftl::job::Reason;
use ssdlab_device::ftl::view::BlockState;
use ssdlab_device::nand::contents::{Contents, Damaged, Part, Row, Whence};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::{BlockId, DieId, Lpn, Nanos, Ppn};
use std::collections::BTreeMap;
use std::ops::Range;

/// Counters that a step tells.
const TOLD: [&str; 10] = [
    "host_writes",
    "host_bytes_written",
    "host_pages_written",
    "nand_pages_written",
    "padding_pages_written",
    "gc_pages_moved",
    "wear_leveling_pages_moved",
    "read_modify_writes",
    "host_bytes_trimmed",
    "blocks_erased",
];

/// What flash holds: the out-of-band record of every programmed page, until its block is erased.
#[derive(Default)]
pub struct Records {
    units: BTreeMap<u32, u32>,
}

impl Contents for Records {
    type Held = ();
    const KEEPS: bool = true;
    fn take(&mut self, _: Part) {}
    fn overwrite(&mut self, (): (), _: Part) {}
    fn release(&mut self, (): ()) {}
    fn deliver(&mut self, _: Part, _: Whence<()>) -> Result<(), Damaged> {
        Ok(())
    }
    fn put(&mut self, to: Ppn, lpn: Lpn, (): (), _: Option<Ppn>) {
        self.units.insert(to.0, lpn.0);
    }
    fn copy(&mut self, from: Ppn, to: Ppn) {
        let unit = self.units[&from.0];
        self.units.insert(to.0, unit);
    }
    fn program_begins(&mut self, _: DieId, _: Row) {}
    fn program_ends(&mut self, _: DieId) {}
    fn erase_ends(&mut self, _: DieId) {}
    fn erase_begins(&mut self, _: DieId, slots: Range<u32>) {
        slots.for_each(|page| {
            self.units.remove(&page);
        });
    }
    fn trim(&mut self, _: Lpn) {}
}

/// A block at one instant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Block {
    /// The die that it lies on.
    pub die: u16,
    /// Free, open, sealed …
    pub state: BlockState,
    /// Erases so far.
    pub erases: u32,
    /// Pages programmed since the last erase; those behind are free.
    pub programmed: u32,
    /// The unit recorded in each page; none where the page is free, or padding.
    pub units: Vec<Option<u32>>,
    /// The page holds its unit's current data.
    pub valid: Vec<bool>,
}

/// The drive at one instant; pages are numbered through all blocks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct State {
    /// Every block.
    pub blocks: Vec<Block>,
    /// The page of every logical unit.
    pub map: Vec<Option<u32>>,
}

/// A command of the host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Command {
    /// What is asked for: `write` or `trim`.
    pub operation: &'static str,
    /// First sector.
    pub lba: u64,
    /// Number of sectors.
    pub sectors: u32,
    /// Logical units that it touches.
    pub units: Vec<u32>,
}

/// What an event did.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Happening {
    /// A block is chosen to be emptied.
    Victim {
        /// Its number.
        block: u32,
        /// `garbage`, `leveling`, `folding`, `retiring`.
        reason: &'static str,
        /// Valid pages in it.
        valid: u32,
    },
    /// A block was erased.
    Erase {
        /// Its number.
        block: u32,
    },
    /// So many units are read first, since a write covers only a part of each.
    Read {
        /// How many.
        units: u64,
    },
    /// A unit that the host wrote was programmed.
    Program {
        /// The unit.
        unit: u32,
        /// Where it is.
        page: u32,
        /// Where it was.
        was: Option<u32>,
    },
    /// A valid unit of a victim was copied.
    Move {
        /// The unit.
        unit: u32,
        /// Where it is.
        page: u32,
        /// Where it was.
        was: u32,
    },
    /// A unit was unmapped.
    Trim {
        /// The unit.
        unit: u32,
        /// Where it was.
        was: u32,
    },
}

/// The drive after a change, and what led to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// What the step belongs to.
    pub chapter: &'static str,
    /// Commands since the step before: several where they are told as one.
    pub commands: u32,
    /// The command, where it is one.
    pub command: Option<Command>,
    /// What happened, where it is told event by event.
    pub happened: Vec<Happening>,
    /// Virtual time.
    pub time_ns: u64,
    /// The state.
    #[serde(flatten)]
    pub state: State,
    /// The drive's counters.
    pub counters: Map<String, Value>,
    /// Flash bytes programmed per byte that the host wrote; none before it wrote.
    pub write_amplification: Option<f64>,
}

/// A drive, and what is known of it since it was last looked at.
pub struct Recorder {
    /// The drive.
    pub drive: Ssd<Records>,
    now: Nanos,
    state: State,
    counters: Counters,
    victims: Vec<BlockId>,
}

impl Recorder {
    /// A drive at rest.
    pub fn new(mut drive: Ssd<Records>) -> Recorder {
        let (state, counters) = (state_of(&drive), drive.counters());
        Recorder { drive, now: Nanos::ZERO, state, counters, victims: Vec::new() }
    }

    /// A step that tells of no command: the state as it is.
    pub fn here(&mut self, chapter: &'static str, commands: u32) -> Step {
        self.step(chapter, None, commands, Vec::new())
    }

    /// Carries out a command until the drive is at rest; its steps, at least one.
    pub fn carry_out(&mut self, chapter: &'static str, request: Request) -> Result<Vec<Step>, Status> {
        let command = self.command(&request);
        let mut steps: Vec<Step> = Vec::new();
        let mut done: Vec<Completion> = Vec::new();
        self.drive.submit(self.now, Tag(0), request).expect("the drive is at rest");
        loop {
            let happened = self.look();
            if !happened.is_empty() {
                let first = u32::from(steps.is_empty());
                steps.push(self.step(chapter, Some(command.clone()), first, happened));
            }
            let Some(next) = self.drive.next_event() else { break };
            self.now = self.drive.advance(next, &mut done);
        }
        if let Some(failed) = done.iter().find(|completion| completion.status != Status::Success) {
            return Err(failed.status);
        }
        let last = self.step(chapter, Some(command), 1, Vec::new());
        match steps.last_mut() {
            // A command is counted when it is done, and what the drive writes for itself may follow.
            Some(step) => {
                step.state = last.state;
                (step.counters, step.write_amplification) = (last.counters, last.write_amplification);
            }
            None => steps.push(last),
        }
        Ok(steps)
    }

    fn command(&self, request: &Request) -> Command {
        let sectors = u64::from(self.drive.unit_bytes() / self.drive.config().export.sector_bytes);
        let end = request.lba.0 + u64::from(request.sectors);
        let units = request.lba.0 / sectors..end.div_ceil(sectors);
        Command {
            operation: if request.operation == Operation::Trim { "trim" } else { "write" },
            lba: request.lba.0,
            sectors: request.sectors,
            units: units.map(|unit| unit as u32).collect(),
        }
    }

    fn step(
        &mut self,
        chapter: &'static str,
        command: Option<Command>,
        commands: u32,
        happened: Vec<Happening>,
    ) -> Step {
        let counters = self.drive.counters();
        let told = counters.entries().filter(|(name, _)| TOLD.contains(name));
        Step {
            chapter,
            commands,
            command,
            happened,
            time_ns: self.now.0,
            state: self.state.clone(),
            counters: told.map(|(name, value)| (name.to_string(), json!(value))).collect(),
            write_amplification: counters.write_amplification(),
        }
    }

    /// What has happened since the last look.
    fn look(&mut self) -> Vec<Happening> {
        let before = std::mem::replace(&mut self.state, state_of(&self.drive));
        let counters = self.drive.counters();
        let counted = counters - std::mem::replace(&mut self.counters, counters);
        let mut happened = self.erases(&before);
        happened
            .extend((counted.read_modify_writes > 0).then_some(Happening::Read { units: counted.read_modify_writes }));
        let moved = counted.gc_pages_moved + counted.wear_leveling_pages_moved + counted.slc_pages_folded > 0;
        happened.extend(self.changes(&before, moved));
        happened.extend(self.begun_jobs(&before));
        happened
    }

    fn erases(&self, before: &State) -> Vec<Happening> {
        let blocks = (0..).zip(before.blocks.iter().zip(&self.state.blocks));
        let erased = blocks.filter(|(_, (old, new))| new.erases > old.erases);
        erased.map(|(block, _)| Happening::Erase { block }).collect()
    }

    /// Jobs under way that were not so before; their victims' valid pages are those before the first copy.
    fn begun_jobs(&mut self, before: &State) -> Vec<Happening> {
        let now: Vec<_> = self.drive.ftl.victims().collect();
        let known = std::mem::replace(&mut self.victims, now.iter().map(|(block, _)| *block).collect());
        let begun = now.into_iter().filter(|(block, _)| !known.contains(block));
        let valid = |block: BlockId| before.blocks[block.0 as usize].valid.iter().filter(|valid| **valid).count();
        begun
            .map(|(block, reason)| Happening::Victim {
                block: block.0,
                reason: name_of(reason),
                valid: valid(block) as u32,
            })
            .collect()
    }

    /// Units whose place has changed: moved where that was in a victim, else by the host.
    fn changes(&self, before: &State, moved: bool) -> Vec<Happening> {
        let slots = self.drive.ftl.geometry.slots();
        let in_victim = |page: u32| self.victims.contains(&BlockId(page / slots));
        let places = (0..).zip(before.map.iter().zip(&self.state.map)).filter(|(_, (was, is))| was != is);
        places
            .map(|(unit, places)| match places {
                (&Some(was), &Some(page)) if moved && in_victim(was) => Happening::Move { unit, page, was },
                (&was, &Some(page)) => Happening::Program { unit, page, was },
                (was, None) => Happening::Trim { unit, was: was.expect("it has changed") },
            })
            .collect()
    }
}

fn name_of(reason: Reason) -> &'static str {
    match reason {
        Reason::Garbage => "garbage",
        Reason::Leveling => "leveling",
        Reason::Folding => "folding",
        Reason::Retiring => "retiring",
    }
}

fn state_of(drive: &Ssd<Records>) -> State {
    let geometry = &drive.ftl.geometry;
    let number = |page: Ppn| geometry.block(page).0 * geometry.slots() + geometry.slot(page);
    State {
        blocks: (0..geometry.blocks).map(|block| block_of(drive, BlockId(block))).collect(),
        map: (0..drive.ftl.exported).map(|unit| drive.ftl.mapping.flash_slot(Lpn(unit)).map(number)).collect(),
    }
}

fn block_of(drive: &Ssd<Records>, block: BlockId) -> Block {
    let ftl = &drive.ftl;
    let pages = (0..ftl.geometry.slots()).map(|slot| ftl.geometry.ppn(block, slot));
    let units: Vec<Option<u32>> = pages.clone().map(|page| ftl.flash.contents.units.get(&page.0).copied()).collect();
    let is_current =
        |(page, unit): (Ppn, &Option<u32>)| unit.is_some_and(|unit| ftl.mapping.flash_slot(Lpn(unit)) == Some(page));
    Block {
        die: ftl.geometry.die(block).0,
        state: ftl.block_state(block),
        erases: ftl.flash.array.erases(block),
        programmed: ftl.slots_programmed(block),
        valid: pages.zip(&units).map(is_current).collect(),
        units,
    }
}
