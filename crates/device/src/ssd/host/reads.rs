//! Reads: looked up in the map, sensed row by row, sent over the link as each row is there.

use crate::block::{Completion, Status};
use crate::ftl::mapping::Place;
use crate::nand::contents::Contents;
use crate::ssd::die::{FlashRead, ReadOwner};
use crate::ssd::{Lane, Ssd};
use crate::units::Ppn;

impl<C: Contents> Ssd<C> {
    /// The map entries of a read are looked up; where they are not cached it waits for them.
    pub(super) fn look_up(&mut self, index: u32) {
        if self.ftl.map_cache.is_some() {
            let request = self.front.commands[index as usize].request;
            for piece in self.unit_size.pieces(&request) {
                self.ftl.touch_map(piece.lpn, false);
            }
            let loads = self.drain_map_work(Some(index));
            self.front.commands[index as usize].remaining = loads;
            if loads > 0 {
                return;
            }
        }
        self.begin_read(index);
    }

    /// A translation page that a read waits for is there; with the last one it goes on.
    pub(in crate::ssd) fn map_loaded(&mut self, index: u32, uncorrectable: bool) {
        if uncorrectable {
            self.fail(index);
        }
        self.front.commands[index as usize].remaining -= 1;
        if self.front.commands[index as usize].remaining == 0 {
            self.begin_read(index);
        }
    }

    fn begin_read(&mut self, index: u32) {
        let request = self.front.commands[index as usize].request;
        self.front.commands[index as usize].remaining = 1;
        let mut ready_sectors = 0;
        let mut open: Option<FlashRead> = None;
        for piece in self.unit_size.pieces(&request) {
            let sectors = piece.covered.1 - piece.covered.0;
            match self.ftl.place(piece.lpn) {
                Place::Unmapped => {
                    self.ftl.counters.unmapped_reads += 1;
                    ready_sectors += sectors;
                }
                Place::Buffer(_) => {
                    self.ftl.counters.buffer_read_hits += 1;
                    ready_sectors += sectors;
                }
                Place::Flash(ppn) => self.add_read(&mut open, index, ppn, piece.covered),
            }
        }
        if let Some(read) = open {
            self.start_read(read);
        }
        self.front.commands[index as usize].remaining -= 1;
        if ready_sectors > 0 || self.front.commands[index as usize].remaining == 0 {
            self.front.commands[index as usize].remaining += 1;
            self.send_out(index, ready_sectors);
        }
    }

    /// Adds a unit to the flash read under construction, or starts a new one: neighbouring units of
    /// one row are sensed together.
    fn add_read(&mut self, open: &mut Option<FlashRead>, index: u32, ppn: Ppn, covered: (u32, u32)) {
        self.ftl.counters.nand_pages_read += 1;
        let geometry = &self.ftl.geometry;
        let (block, mut row) = (geometry.block(ppn), self.ftl.row(ppn));
        let (first, end) = (covered.0 * self.limits.sector_bytes, covered.1 * self.limits.sector_bytes);
        let (bytes, mut rows) = (end - first, 1);
        if geometry.rows_per_unit > 1 {
            row += first / geometry.row_bytes;
            rows = end.div_ceil(geometry.row_bytes) - first / geometry.row_bytes;
        }
        if let Some(read) = open
            && read.block == block
            && read.row == row
        {
            read.bytes += bytes;
            return;
        }
        let read = FlashRead { block, row, rows, bytes, owner: ReadOwner::Command(index) };
        if let Some(complete) = open.replace(read) {
            self.start_read(complete);
        }
    }

    fn start_read(&mut self, read: FlashRead) {
        if let ReadOwner::Command(index) = read.owner {
            self.front.commands[index as usize].remaining += 1;
        }
        self.queue_read(read);
    }

    /// Data is at hand: it crosses the link.
    pub(in crate::ssd) fn send_out(&mut self, index: u32, sectors: u32) {
        let bytes = u64::from(sectors) * u64::from(self.limits.sector_bytes);
        self.send_out_bytes(index, bytes);
    }

    pub(in crate::ssd) fn send_out_bytes(&mut self, index: u32, bytes: u64) {
        let time = self.link_times.of(bytes);
        self.ftl.counters.link_ns += time.0;
        let crossed = self.link_out.reserve(self.now, time);
        self.lanes.push(Lane::DataOut as usize, crossed, index);
    }

    pub(in crate::ssd) fn fail(&mut self, index: u32) {
        self.front.commands[index as usize].status = Status::MediaError;
    }

    #[inline(always)]
    pub(super) fn part_done(&mut self, index: u32, done: &mut Vec<Completion>) {
        let command = &mut self.front.commands[index as usize];
        command.remaining -= 1;
        if command.remaining == 0 {
            let (status, fua) = (command.status, command.request.fua);
            if fua {
                return self.end_with_fua(index, status, done);
            }
            self.complete(index, status, done);
        }
    }
}
