//! The write buffer: RAM that takes writes at the speed of the link and drains to flash.
//!
//! A slot holds one mapping unit. A unit written again while it waits is overwritten in place
//! (coalescing) where it is among the newest `buffer.join_bytes` that the buffer took: a controller
//! looks back only so far, its *reach*. An older one is *superseded*: it is programmed as well, and stays the unit's copy in
//! flash until the newer one is. Once its row is being programmed a unit counts as flash. A partial unit whose rest
//! lies in flash is completed by a read before it is programmed, unless further writes fill it in time.
//!
//! A flush waits for all that was taken before it: units are counted by *epoch*, which each flush ends.
//!
//! Left out: holding units back to wait for overwrites (the buffer drains as soon as a die is free
//! and a row is full).

use crate::config::DriveConfig;
use crate::nand::geometry::Geometry;
use crate::units::Lpn;
use std::collections::VecDeque;

/// What a slot holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot<H> {
    /// Which unit.
    pub lpn: Lpn,
    /// First and end of the sectors written into it.
    pub covered: (u32, u32),
    /// Flush that waits for it, as a running number.
    pub epoch: u64,
    /// Bytes that it takes in flash.
    pub bytes: u32,
    /// Its running number, of those that were taken.
    taken: u32,
    /// A newer version of the unit has come, which did not go over it.
    pub is_superseded: bool,
    /// Its bytes.
    pub held: H,
}

impl<H> Slot<H> {
    /// It is the newest version of its unit, and needs no read before it is programmed.
    #[inline(always)]
    pub fn is_put_plainly(&self, whole: (u32, u32)) -> bool {
        self.covered == whole && !self.is_superseded
    }
}

/// A flush, or a write with FUA: not done before what it found is durable.
#[derive(Clone, Copy, Debug)]
pub struct Flush {
    /// Its number.
    pub command: u32,
    /// Commands done that may have changed the map, itself included where it is a write.
    pub changes: u64,
    /// A write with FUA, which no page of the journal holds that was begun before it was programmed.
    pub is_write: bool,
}

/// All slots, and the commands that wait for them.
#[derive(Clone, Debug)]
pub struct WriteBuffer<H> {
    /// Contents, by slot.
    pub slots: Vec<Slot<H>>,
    free: Vec<u32>,
    /// Slots taken so far, as far as they count.
    taken: u32,
    /// Units that are newest, over which a write of the same unit goes.
    reach: u32,
    /// The epoch that what comes now belongs to, and units outstanding in it.
    epoch: u64,
    outstanding: u64,
    /// Units outstanding in each epoch that a flush ended and still waits for, oldest first.
    ended: VecDeque<u64>,
    /// Flushes and the epoch that each waits for.
    flushes: VecDeque<(u64, Flush)>,
    /// Writes for which there is no room, in order.
    stalled: VecDeque<u32>,
}

impl<H: Copy + Default> WriteBuffer<H> {
    /// A buffer as configured: at least one row, or none at all.
    pub fn new(config: &DriveConfig, geometry: &Geometry) -> WriteBuffer<H> {
        let wanted = config.buffer.bytes.0 / u64::from(geometry.unit_bytes);
        let least = u64::from(geometry.units_per_row * geometry.packing);
        let slots = if config.buffer.bytes.0 == 0 { 0 } else { wanted.max(least) as usize };
        let reach = config.buffer.join_bytes.0 / u64::from(geometry.unit_bytes);
        // Of what waits each is among the newest: running numbers may wrap.
        let reach = if reach < slots as u64 { reach as u32 } else { u32::MAX };
        WriteBuffer::with_slots(slots, reach)
    }

    fn with_slots(slots: usize, reach: u32) -> WriteBuffer<H> {
        WriteBuffer {
            slots: vec![Slot::default(); slots],
            free: (0..slots as u32).rev().collect(),
            taken: 0,
            reach,
            epoch: 0,
            outstanding: 0,
            ended: VecDeque::new(),
            flushes: VecDeque::new(),
            stalled: VecDeque::new(),
        }
    }

    /// Writes are done when they are in the buffer.
    pub fn is_present(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Takes a slot for a unit; `None`, and nothing held, when the buffer is full.
    pub fn take(&mut self, lpn: Lpn, covered: (u32, u32), bytes: u32, held: impl FnOnce() -> H) -> Option<u32> {
        let slot = self.free.pop()?;
        self.outstanding += 1;
        self.taken = self.taken.wrapping_add(1);
        self.slots[slot as usize] =
            Slot { lpn, covered, epoch: self.epoch, bytes, taken: self.taken, is_superseded: false, held: held() };
        Some(slot)
    }

    /// A write of the unit in a slot goes over it.
    pub fn joins(&self, slot: u32) -> bool {
        self.taken.wrapping_sub(self.slots[slot as usize].taken) < self.reach
    }

    /// Gives a slot back; true when a flush may have become complete.
    #[inline(always)]
    pub fn give_back(&mut self, slot: u32) -> bool {
        self.free.push(slot);
        let ago = (self.epoch - self.slots[slot as usize].epoch) as usize;
        if ago == 0 {
            self.outstanding -= 1;
            return false;
        }
        let index = self.ended.len() - ago;
        self.ended[index] -= 1;
        index == 0 && self.ended[0] == 0
    }

    /// A flush begins: it waits for everything taken so far.
    pub fn begin_flush(&mut self, flush: Flush) {
        self.ended.push_back(std::mem::take(&mut self.outstanding));
        self.flushes.push_back((self.epoch, flush));
        self.epoch += 1;
    }

    /// Closes the epochs that have drained, and counts the flushes that waited for them.
    pub fn close_drained(&mut self) -> usize {
        while self.ended.front() == Some(&0) {
            self.ended.pop_front();
        }
        let oldest = self.epoch - self.ended.len() as u64;
        self.flushes.iter().take_while(|(epoch, _)| *epoch < oldest).count()
    }

    /// The flush that began first.
    pub fn take_flush(&mut self) -> Option<Flush> {
        self.flushes.pop_front().map(|(_, flush)| flush)
    }

    /// A flush waits: what is pending must not wait for full rows.
    pub fn is_flushing(&self) -> bool {
        !self.ended.is_empty()
    }

    /// A write with FUA waits for what it wrote.
    pub fn waits_for_fua(&self) -> bool {
        self.flushes.iter().any(|(_, flush)| flush.is_write)
    }

    /// Slots in use.
    pub fn used(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// A write finds no room, behind the others that found none.
    pub fn stall(&mut self, command: u32) {
        self.stalled.push_back(command);
    }

    /// The write that found no room first.
    #[inline]
    pub fn take_stalled(&mut self) -> Option<u32> {
        self.stalled.pop_front()
    }

    /// There was no room for all of the write that was taken: it goes first again.
    pub fn stall_again(&mut self, command: u32) {
        self.stalled.push_front(command);
    }

    /// A write waits for room.
    #[inline]
    pub fn is_stalled(&self) -> bool {
        !self.stalled.is_empty()
    }

    /// Nobody waits any more.
    pub fn forget_waiting(&mut self) {
        self.stalled.clear();
        self.flushes.clear();
    }

    /// Every slot is free, and nobody waits.
    pub fn clear(&mut self) {
        *self = WriteBuffer::with_slots(self.slots.len(), self.reach);
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn flush(command: u32) -> Flush {
        Flush { command, changes: 0, is_write: false }
    }

    /// A flush waits for what was taken before it, and not for what came behind it.
    #[test]
    fn a_flush_waits_for_what_it_found() {
        let mut buffer = WriteBuffer::with_slots(3, u32::MAX);
        let take = |buffer: &mut WriteBuffer<()>| buffer.take(Lpn(1), (0, 8), 4096, || ()).unwrap();
        let first = take(&mut buffer);
        buffer.begin_flush(flush(1));
        let second = take(&mut buffer);
        buffer.begin_flush(flush(2));
        let third = take(&mut buffer);
        assert_eq!(buffer.take(Lpn(1), (0, 8), 4096, || ()), None, "three slots");
        assert!(!buffer.give_back(third) && !buffer.give_back(second), "the first epoch is open");
        assert_eq!(buffer.close_drained(), 0);
        assert!(buffer.give_back(first));
        assert_eq!(buffer.close_drained(), 2);
        assert_eq!([buffer.take_flush(), buffer.take_flush()].map(|flush| flush.unwrap().command), [1, 2]);
        assert!(!buffer.is_flushing() && buffer.used() == 0);
    }

    /// The write that found no room first goes on first, and again where it finds too little.
    #[test]
    fn stalled_writes_go_on_in_order() {
        let mut buffer: WriteBuffer<()> = WriteBuffer::with_slots(1, u32::MAX);
        [4, 5].iter().for_each(|command| buffer.stall(*command));
        assert_eq!(buffer.take_stalled(), Some(4));
        buffer.stall_again(4);
        assert_eq!(std::iter::from_fn(|| buffer.take_stalled()).collect::<Vec<_>>(), [4, 5]);
        assert!(!buffer.is_stalled());
    }

    /// By hand: with a reach of two the newest two are joined, and the third newest is not.
    #[test]
    fn a_write_goes_over_the_newest_ones() {
        let mut buffer: WriteBuffer<()> = WriteBuffer::with_slots(4, 2);
        let [oldest, middle, newest] = [1, 2, 3].map(|lpn| buffer.take(Lpn(lpn), (0, 8), 4096, || ()).unwrap());
        assert_eq!([oldest, middle, newest].map(|slot| buffer.joins(slot)), [false, true, true]);
        assert!(WriteBuffer::<()>::with_slots(1, u32::MAX).reach > 1);
    }
}
