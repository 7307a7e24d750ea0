//! The write buffer: RAM that takes writes at the speed of the link and drains to flash.
//!
//! A slot holds one mapping unit. A unit written again while it waits is overwritten in place
//! (coalescing); once its row is being programmed it counts as flash. A partial unit whose rest lies
//! in flash is completed by a read before it is programmed, unless further writes fill it in time.
//!
//! Left out: holding units back to wait for overwrites (the buffer drains as soon as a die is free
//! and a row is full).

use crate::config::DriveConfig;
use crate::nand::geometry::Geometry;
use crate::units::Lpn;
use std::collections::VecDeque;

/// What a slot holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    /// Which unit.
    pub lpn: Lpn,
    /// First and end of the sectors written into it.
    pub covered: (u32, u32),
    /// Flush that waits for it, as a running number.
    pub epoch: u64,
    /// Bytes that it takes in flash.
    pub bytes: u32,
}

/// All slots.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Contents, by slot.
    pub slots: Vec<Slot>,
    free: Vec<u32>,
    /// Flush epochs still open: units outstanding in each, oldest first.
    outstanding: VecDeque<u64>,
    first_epoch: u64,
}

impl Buffer {
    /// A buffer as configured: at least one row, or none at all.
    pub fn new(config: &DriveConfig, geometry: &Geometry) -> Buffer {
        let wanted = config.buffer.bytes.0 / u64::from(geometry.unit_bytes);
        let least = u64::from(geometry.units_per_row * geometry.packing);
        let slots = if config.buffer.bytes.0 == 0 { 0 } else { wanted.max(least) as usize };
        Buffer {
            slots: vec![Slot::default(); slots],
            free: (0..slots as u32).rev().collect(),
            outstanding: VecDeque::from([0]),
            first_epoch: 0,
        }
    }

    /// Writes are done when they are in the buffer.
    pub fn is_present(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Takes a slot for a unit; `None` when the buffer is full.
    pub fn take(&mut self, lpn: Lpn, covered: (u32, u32), bytes: u32) -> Option<u32> {
        let slot = self.free.pop()?;
        let epoch = self.first_epoch + self.outstanding.len() as u64 - 1;
        *self.outstanding.back_mut().expect("an epoch is open") += 1;
        self.slots[slot as usize] = Slot { lpn, covered, epoch, bytes };
        Some(slot)
    }

    /// Gives a slot back; true when a flush may have become complete.
    pub fn give_back(&mut self, slot: u32) -> bool {
        self.free.push(slot);
        let index = (self.slots[slot as usize].epoch - self.first_epoch) as usize;
        self.outstanding[index] -= 1;
        index == 0 && self.outstanding[0] == 0 && self.outstanding.len() > 1
    }

    /// A flush begins: it waits for everything taken so far. Returns its epoch.
    pub fn begin_flush(&mut self) -> u64 {
        self.outstanding.push_back(0);
        self.first_epoch + self.outstanding.len() as u64 - 2
    }

    /// Closes the epochs that have drained; a flush of an epoch before the returned one is done.
    pub fn drained_until(&mut self) -> u64 {
        while self.outstanding.len() > 1 && self.outstanding[0] == 0 {
            self.outstanding.pop_front();
            self.first_epoch += 1;
        }
        self.first_epoch
    }

    /// A flush waits: what is pending must not wait for full rows.
    pub fn is_flushing(&self) -> bool {
        self.outstanding.len() > 1
    }

    /// Slots in use.
    pub fn used(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
