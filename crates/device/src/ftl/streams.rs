//! Streams: data that a policy of one's own keeps apart, each in open blocks of its own on each die.
//!
//! The frontier of a die and purpose is that of one stream; those of the others are *parked*, and one of them changes
//! places with it when a unit of its stream comes. So nothing else has to know of streams, and a drive without them
//! does nothing more than before.
//!
//! Each stream has a frontier for the host and one for collection, where collection has its own at all. Where no block
//! is free for a stream's copies they go to any open block of the die: a policy's wish ends where the drive would stop.
//!
//! Left out: rows of several units, which would need a row of each stream to be gathered, and superblocks.

use crate::ftl::frontier::{Frontier, Purpose};
use crate::ftl::pool::Group;
use crate::units::{DieId, Lpn};
use serde::{Deserialize, Serialize};

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
    /// What the policy said of the unit that is to be written next: it is asked once.
    #[serde(skip)]
    asked: Option<(Lpn, u32)>,
}

impl Streams {
    /// So many streams on so many dies; one is none.
    pub fn new(count: u32, dies: u32, groups: u32) -> Streams {
        if count == 1 {
            return Streams::default();
        }
        let parked = Parked { current: 0, frontiers: vec![Frontier::default(); count as usize] };
        Streams { parked: vec![parked; dies as usize * PURPOSES], of_group: vec![0; groups as usize], asked: None }
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
        self.asked = None;
    }

    /// The die's frontier becomes that of a stream.
    pub fn select(&mut self, frontier: &mut Frontier, die: DieId, purpose: Purpose, stream: u32) {
        let parked = &mut self.parked[usize::from(die.0) * PURPOSES + purpose as usize];
        std::mem::swap(frontier, &mut parked.frontiers[usize::from(parked.current)]);
        std::mem::swap(frontier, &mut parked.frontiers[stream as usize]);
        parked.current = stream as u8;
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

    /// The stream of the unit that comes next; `ask` is called once for each.
    pub fn of_next(&mut self, lpn: Lpn, ask: impl FnOnce() -> u32) -> u32 {
        match self.asked {
            Some((asked, stream)) if asked == lpn => stream,
            _ => {
                let stream = ask();
                self.asked = Some((lpn, stream));
                stream
            }
        }
    }

    /// The unit that came next is written.
    pub fn written(&mut self) {
        self.asked = None;
    }
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
        streams.written();
        assert_eq!(next(&mut streams, 6), 2);
    }

    /// Without streams nothing is kept.
    #[test]
    fn one_stream_is_none() {
        let streams = Streams::new(1, 8, 100);
        assert_eq!((streams.count(), streams.parked.len(), streams.of_group.len()), (1, 0, 0));
    }
}
