//! Without a clock of the drive: the row that is gathered, and a clock for each die and for the host.
//!
//! How these go on is told in `seasoning`.

use crate::nand::geometry::Geometry;
use crate::sim::calendar::{Calendar, Event};
use crate::sim::timeline::Timeline;
use crate::units::{DieId, Lpn, Nanos};

/// The row that is gathered, and the clocks of the dies.
#[derive(Clone)]
pub struct SeasoningRow<H> {
    units: Vec<(Lpn, H)>,
    bytes_left: u32,
    /// Rows of streams that are kept apart, by stream.
    apart: Vec<Vec<(Lpn, H)>>,
    most: usize,
    row_bytes: u32,
    /// When each die is done with what it does.
    clocks: Calendar,
    /// Dies that could do nothing, until a block is sealed or freed, or no die is left that can.
    waiting: Vec<u16>,
    blocks_changed: u64,
    /// When controller and link have taken what the host has written so far.
    host: Nanos,
    /// The controller's processor of moves, which those of all dies queue for.
    moves: Timeline,
    /// What the host is ahead of the dies at most: as many commands as the buffer or the queue holds.
    ahead: Nanos,
}

impl<H> SeasoningRow<H> {
    /// Nothing gathered, all dies free now; the host may be ahead of them by so much.
    pub fn new(geometry: &Geometry, ahead: Nanos) -> SeasoningRow<H> {
        let most = (geometry.units_per_row * geometry.packing) as usize;
        let row_bytes = geometry.row_bytes.max(geometry.unit_bytes);
        let mut clocks = Calendar::new(geometry.dies as usize);
        (0..geometry.dies as usize).for_each(|slot| clocks.schedule(Nanos::ZERO, Event { slot, kind: 0 }));
        let (units, waiting) = (Vec::with_capacity(most), Vec::new());
        let (host, moves) = (Nanos::ZERO, Timeline::default());
        let (apart, bytes_left) = (Vec::new(), row_bytes);
        SeasoningRow {
            units,
            bytes_left,
            apart,
            most,
            row_bytes,
            clocks,
            waiting,
            blocks_changed: 0,
            host,
            moves,
            ahead,
        }
    }

    /// Each die begins at a time of its own below `most`, spread evenly by the golden ratio.
    pub fn stagger(&mut self, dies: usize, most: Nanos) {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        for slot in 0..dies {
            let share = (slot as f64 * GOLDEN).fract();
            self.clocks.schedule(Nanos((most.0 as f64 * share) as u64), Event { slot, kind: 0 });
        }
    }

    /// A unit of so many bytes in flash has no room in the row.
    #[inline]
    pub fn has_no_room(&self, bytes: u32) -> bool {
        bytes > self.bytes_left || self.units.len() == self.most
    }

    /// A unit is gathered; true where that fills the row by its bytes.
    #[inline]
    pub fn add(&mut self, lpn: Lpn, held: H, bytes: u32) -> bool {
        self.units.push((lpn, held));
        self.bytes_left -= bytes;
        self.bytes_left == 0
    }

    /// The unit is among those gathered.
    pub fn holds(&self, lpn: Lpn) -> bool {
        self.units.iter().chain(self.apart.iter().flatten()).any(|(gathered, _)| *gathered == lpn)
    }

    /// A unit is gathered for a row of its stream; returns that row where it is full.
    pub fn add_apart(&mut self, stream: u32, unit: (Lpn, H)) -> Option<Vec<(Lpn, H)>> {
        let stream = stream as usize;
        if self.apart.len() <= stream {
            self.apart.resize_with(stream + 1, Vec::new);
        }
        self.apart[stream].push(unit);
        (self.apart[stream].len() == self.most).then(|| std::mem::take(&mut self.apart[stream]))
    }

    /// Takes the rows of streams, none of which is full.
    pub fn take_apart(&mut self) -> Vec<Vec<(Lpn, H)>> {
        std::mem::take(&mut self.apart)
    }

    /// Takes what is gathered, to be programmed.
    pub fn take(&mut self) -> Vec<(Lpn, H)> {
        std::mem::take(&mut self.units)
    }

    /// What was taken is programmed: a new row begins in the same room.
    pub fn begin(&mut self, mut units: Vec<(Lpn, H)>) {
        units.clear();
        (self.units, self.bytes_left) = (units, self.row_bytes);
    }

    /// Controller and link take a command of the host.
    pub fn take_command(&mut self, time: Nanos) {
        self.host += time;
    }

    /// The controller takes so long for the units of a move, from `now` on or when their turn comes; returns when it is
    /// done.
    #[inline]
    pub fn take_move(&mut self, now: Nanos, length: Nanos) -> Nanos {
        if length == Nanos::ZERO { now } else { self.moves.reserve(now, length) }
    }

    /// The die that is free first, and when; none where every die waits.
    #[inline]
    pub fn first_free(&self) -> Option<(Nanos, DieId)> {
        let now = self.clocks.first_time();
        (now != Nanos::NEVER).then(|| (now, DieId(self.clocks.first().slot as u16)))
    }

    /// A die is done at this time with what it does.
    #[inline]
    pub fn occupy(&mut self, die: DieId, until: Nanos) {
        self.clocks.schedule(until, Event { slot: usize::from(die.0), kind: 0 });
    }

    /// A die can do nothing for now.
    pub fn wait(&mut self, die: DieId) {
        self.clocks.take_back(usize::from(die.0));
        self.waiting.push(die.0);
    }

    /// Dies that wait look again once a block was opened, sealed or freed, which `changed` tells.
    #[inline]
    pub fn recall_after(&mut self, changed: impl Fn() -> u64, now: Nanos) {
        if !self.waiting.is_empty() {
            let changed = changed();
            if std::mem::replace(&mut self.blocks_changed, changed) != changed {
                self.recall(now);
            }
        }
    }

    /// When a die that is free now can have the next row of the host.
    pub fn next_row(&mut self, now: Nanos) -> Nanos {
        self.host = self.host.max(now.saturating_sub(self.ahead));
        self.host.max(now)
    }

    /// How far the host is ahead of the die that is free next, of what the buffer allows; `None` where no
    /// clock has moved, since nothing was written here: a drive that was read from its file.
    pub fn share_ahead(&self) -> Option<f64> {
        let free = self.clocks.first_time();
        let share = free.saturating_sub(self.host).0 as f64 / self.ahead.0.max(1) as f64;
        (free > Nanos::ZERO).then_some(share.min(1.0))
    }

    /// Dies that waited go on at this time; false where none did.
    pub fn recall(&mut self, now: Nanos) -> bool {
        let clocks = &mut self.clocks;
        self.waiting.iter().for_each(|&die| clocks.schedule(now, Event { slot: usize::from(die), kind: 0 }));
        !std::mem::take(&mut self.waiting).is_empty()
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn row(ahead: u64) -> SeasoningRow<()> {
        SeasoningRow::new(&Geometry::small(2, 2, 2), Nanos(ahead))
    }

    /// By hand: the second of two dies begins at 0.618 of the longest time.
    #[test]
    fn dies_begin_at_times_of_their_own() {
        let mut row = row(0);
        row.stagger(2, Nanos(1000));
        assert_eq!(row.first_free(), Some((Nanos(0), DieId(0))));
        row.occupy(DieId(0), Nanos(1000));
        assert_eq!(row.first_free(), Some((Nanos(618), DieId(1))));
    }

    /// Two units fill a row; taken and programmed it is empty again.
    #[test]
    fn units_gather_until_the_row_is_full() {
        let mut row = row(0);
        assert!(!row.add(Lpn(1), (), 4096) && !row.has_no_room(4096));
        assert!(row.add(Lpn(2), (), 4096) && row.has_no_room(1) && row.holds(Lpn(2)));
        let units = row.take();
        assert_eq!(units.len(), 2);
        row.begin(units);
        assert!(!row.has_no_room(8192) && !row.holds(Lpn(2)));
    }

    /// The die that is free first goes on; one that waits comes back when blocks have changed.
    #[test]
    fn the_first_free_die_goes_on() {
        let mut row = row(0);
        row.occupy(DieId(0), Nanos(50));
        assert_eq!(row.first_free(), Some((Nanos(0), DieId(1))));
        row.wait(DieId(1));
        assert_eq!(row.first_free(), Some((Nanos(50), DieId(0))));
        row.recall_after(|| 0, Nanos(20));
        assert_eq!(row.first_free(), Some((Nanos(50), DieId(0))), "nothing has changed");
        row.recall_after(|| 1, Nanos(20));
        assert_eq!(row.first_free(), Some((Nanos(20), DieId(1))));
    }

    /// By hand: two moves of 30, both at 100, are done at 130 and 160; one that takes no time waits for none.
    #[test]
    fn moves_take_turns() {
        let mut row = row(0);
        let done = [30, 30, 0].map(|length| row.take_move(Nanos(100), Nanos(length)));
        assert_eq!(done, [Nanos(130), Nanos(160), Nanos(100)]);
    }

    /// By hand: the host is ahead by 100 at most; of that 60 are left when it has taken commands of 40.
    #[test]
    fn the_host_is_ahead_by_the_buffer_at_most() {
        let mut row = row(100);
        assert_eq!(row.share_ahead(), None, "no clock has moved");
        row.take_command(Nanos(40));
        (0..2).for_each(|die| row.occupy(DieId(die), Nanos(100)));
        assert_eq!(row.share_ahead(), Some(0.6));
        assert_eq!(row.next_row(Nanos(100)), Nanos(100));
        row.take_command(Nanos(100));
        assert_eq!((row.next_row(Nanos(100)), row.share_ahead()), (Nanos(140), Some(0.0)));
    }
}
