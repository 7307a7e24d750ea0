//! Streams: data that a policy of one's own keeps apart, each in open blocks of its own on each die.
//!
//! The frontier of a die and purpose is that of one stream; those of the others are *parked*, and one of them changes
//! places with it when a unit of its stream comes. So nothing else has to know of streams, and a drive without them
//! does nothing more than before.
//!
//! Each stream has a frontier for the host and one for collection, where collection has its own at all. Where no block
//! is free for a stream's copies they go to any open block of the die: a policy's wish ends where the drive would stop.
//!
//! Where a row is several units, it holds those of one stream: `Ssd` gathers rows of the host by stream (`ssd/row.rs`),
//! and a job reads on until it holds a row of one. What is left of each at its end goes in rows that are filled up.
//!
//! Left out: superblocks, and rows of compressed units.

use crate::ftl::frontier::{Frontier, Purpose};
use crate::ftl::pool::Group;
use crate::units::{DieId, Lpn};
use serde::{Deserialize, Serialize};
use ssdlab_policy::MOST_STREAMS;
use std::collections::HashMap;

/// Purposes that have streams: of the host, and of collection.
const PURPOSES: usize = 2;

/// The frontiers of a die and purpose that are not among its own (`die`).
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Parked {
    /// The stream whose frontier the die has; its place below is empty.
    current: u8,
    /// By stream.
    frontiers: Vec<Frontier>,
}

/// Streams of a drive; none, and nothing kept, where its policy separates nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Streams {
    /// By die and purpose.
    parked: Vec<Parked>,
    /// The stream that a group was opened for, by group.
    of_group: Vec<u8>,
    /// What the policy said of units that are to be written: it is asked once for each.
    #[serde(skip)]
    asked: HashMap<u32, u32>,
    /// The streams of what the job of a die has gathered, in its order, by die. Not saved: they are asked for again.
    #[serde(skip)]
    gathered: Vec<Vec<u8>>,
}

impl Streams {
    /// So many streams on so many dies; one is none.
    pub fn new(count: u32, dies: u32, groups: u32) -> Streams {
        if count == 1 {
            return Streams::default();
        }
        let parked = Parked { current: 0, frontiers: vec![Frontier::default(); count as usize] };
        let (parked, of_group) = (vec![parked; dies as usize * PURPOSES], vec![0; groups as usize]);
        Streams { parked, of_group, ..Streams::default() }
    }

    /// How many.
    pub fn count(&self) -> u32 {
        self.parked.first().map_or(1, |parked| parked.frontiers.len() as u32)
    }

    /// No block is open.
    pub fn clear(&mut self) {
        for parked in &mut self.parked {
            parked.frontiers.fill(Frontier::default());
        }
        self.asked.clear();
        self.gathered.clear();
    }

    /// The die's frontier becomes that of a stream.
    pub fn select(&mut self, frontier: &mut Frontier, die: DieId, purpose: Purpose, stream: u32) {
        let parked = &mut self.parked[usize::from(die.0) * PURPOSES + purpose as usize];
        std::mem::swap(frontier, &mut parked.frontiers[usize::from(parked.current)]);
        std::mem::swap(frontier, &mut parked.frontiers[stream as usize]);
        parked.current = stream as u8;
    }

    /// The stream of a die's open block.
    pub fn current(&self, die: DieId, purpose: Purpose) -> u32 {
        u32::from(self.parked[usize::from(die.0) * PURPOSES + purpose as usize].current)
    }

    /// Frontiers that are parked, of a die.
    pub fn parked(&self, die: DieId) -> impl Iterator<Item = (Purpose, &Frontier)> {
        let purposes = [Purpose::Host, Purpose::Collection].into_iter();
        let of = move |purpose: Purpose| self.parked.get(usize::from(die.0) * PURPOSES + purpose as usize);
        purposes.flat_map(move |purpose| {
            of(purpose).into_iter().flat_map(move |parked| parked.frontiers.iter().map(move |each| (purpose, each)))
        })
    }

    /// A parked stream of the die whose open block has room.
    pub fn with_room(&self, die: DieId, purpose: Purpose) -> Option<u32> {
        let parked = self.parked.get(usize::from(die.0) * PURPOSES + purpose as usize)?;
        parked.frontiers.iter().position(Frontier::has_room).map(|stream| stream as u32)
    }

    /// A die opens a group, for the stream that its frontier belongs to.
    pub fn note_open(&mut self, die: DieId, purpose: Purpose, group: Group) {
        if let Some(of_group) = self.of_group.get_mut(group.0 as usize) {
            let has_streams = (purpose as usize) < PURPOSES;
            let place = usize::from(die.0) * PURPOSES + purpose as usize;
            *of_group = if has_streams { self.parked[place].current } else { 0 };
        }
    }

    /// The stream that each group was last opened for; empty where there is one stream.
    pub fn of_groups(&self) -> &[u8] {
        &self.of_group
    }

    /// The stream that a group was opened for.
    pub fn of(&self, group: Group) -> u32 {
        self.of_group.get(group.0 as usize).map_or(0, |stream| u32::from(*stream))
    }

    /// The stream of a unit that is to be written; `ask` is called once for each.
    pub fn of_next(&mut self, lpn: Lpn, ask: impl FnOnce() -> u32) -> u32 {
        *self.asked.entry(lpn.0).or_insert_with(ask)
    }

    /// A unit is written, or not to be written any more.
    pub fn written(&mut self, lpn: Lpn) {
        self.asked.remove(&lpn.0);
    }

    /// The streams of what the job of a die has gathered.
    pub fn gathered(&mut self, die: DieId) -> &mut Vec<u8> {
        let die = usize::from(die.0);
        if self.gathered.len() <= die {
            self.gathered.resize_with(die + 1, Vec::new);
        }
        &mut self.gathered[die]
    }

    /// A stream of which a die's job has gathered a row of so many units.
    pub fn with_row(&self, die: DieId, units: u32) -> Option<u32> {
        whole_row(self.gathered.get(usize::from(die.0))?.iter().map(|stream| u32::from(*stream)), units)
    }

    /// The stream that a die's job programs next: one with a whole row, else that of the first unit.
    pub fn next_row(&self, die: DieId, units: u32) -> u32 {
        let first = || self.gathered.get(usize::from(die.0)).and_then(|streams| streams.first()).copied();
        self.with_row(die, units).unwrap_or_else(|| first().map_or(0, u32::from))
    }

    /// Of what a die's job has gathered the units of a stream come first, in their order; returns how many they are.
    pub fn bring_forward(&mut self, die: DieId, stream: u32, slots: &mut Vec<u32>) -> usize {
        let streams = self.gathered(die);
        let mut both: Vec<(u8, u32)> = streams.drain(..).zip(slots.drain(..)).collect();
        both.sort_by_key(|(of, _)| u32::from(*of) != stream);
        (*streams, *slots) = both.into_iter().unzip();
        streams.iter().take_while(|of| u32::from(**of) == stream).count()
    }
}

/// The first stream that has so many units, of units in their order; of few streams it is found among few units.
pub fn whole_row(mut streams: impl Iterator<Item = u32>, units: u32) -> Option<u32> {
    let mut counts = [0; MOST_STREAMS as usize];
    streams.find(|stream| {
        let count = &mut counts[*stream as usize];
        *count += 1;
        *count == units
    })
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::units::BlockId;

    /// A stream's open block is there again when its turn comes, and a group knows its stream.
    #[test]
    fn frontiers_change_places() {
        let (mut streams, mut open) = (Streams::new(3, 2, 10), Frontier::open(BlockId(7), 4));
        let die = DieId(1);
        streams.note_open(die, Purpose::Host, Group(7));
        streams.select(&mut open, die, Purpose::Host, 2);
        assert!(!open.has_room());
        open = Frontier::open(BlockId(9), 4);
        streams.note_open(die, Purpose::Host, Group(9));
        let parked = |streams: &Streams| {
            streams.parked(die).filter(|(_, each)| each.has_room()).map(|(_, each)| each.block().0).collect::<Vec<_>>()
        };
        assert_eq!((parked(&streams), streams.with_room(die, Purpose::Host)), (vec![7], Some(0)));
        for _ in 0..2 {
            streams.select(&mut open, die, Purpose::Host, 0);
            assert_eq!((open.block(), parked(&streams)), (BlockId(7), vec![9]));
        }
        assert_eq!([7, 9].map(|group| streams.of(Group(group))), [0, 2]);
        assert_eq!(streams.with_room(DieId(0), Purpose::Host), None);
    }

    /// A policy is asked once a unit, and again for the next write of the same one.
    #[test]
    fn a_unit_is_asked_for_once() {
        let mut streams = Streams::new(2, 1, 1);
        let mut answers = 0..;
        let mut next = |streams: &mut Streams, lpn| streams.of_next(Lpn(lpn), || answers.next().unwrap());
        assert_eq!([next(&mut streams, 5), next(&mut streams, 5), next(&mut streams, 6)], [0, 0, 1]);
        streams.written(Lpn(6));
        assert_eq!([next(&mut streams, 6), next(&mut streams, 5)], [2, 0]);
    }

    /// By hand: of streams 0 1 0 1 1 the first with three units is 1, whose units then come first.
    #[test]
    fn rows_are_gathered_by_stream() {
        let (mut streams, die) = (Streams::new(2, 1, 1), DieId(0));
        let mut slots = vec![10, 11, 12, 13, 14];
        *streams.gathered(die) = vec![0, 1, 0, 1, 1];
        assert_eq!((streams.with_row(die, 3), streams.next_row(die, 3)), (Some(1), 1));
        assert_eq!((streams.with_row(die, 4), streams.next_row(die, 4)), (None, 0));
        assert_eq!((streams.bring_forward(die, 1, &mut slots), slots), (3, vec![11, 13, 14, 10, 12]));
        assert_eq!(streams.gathered(die), &[1, 1, 1, 0, 0]);
        assert_eq!(streams.next_row(DieId(5), 1), 0);
    }

    /// Without streams nothing is kept.
    #[test]
    fn one_stream_is_none() {
        let streams = Streams::new(1, 8, 100);
        assert_eq!((streams.count(), streams.parked.len(), streams.of_group.len()), (1, 0, 0));
    }
}
