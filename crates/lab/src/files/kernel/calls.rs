//! What a program asks for: open, read, write, delete, fsync, sync, trim.
//!
//! Read-ahead: a file read in order is read a window ahead, each window twice the last, up to the
//! largest; the next window is asked for when the reader enters the one before. A page fault reads a
//! largest window around it. Writing a part of a unit that is not in memory reads it first.

use super::Kernel;
use crate::files::allocator::Extent;
use crate::files::file_system::{DirectoryId, FileId, Touched};
use crate::files::system::{Discard, Metadata};
use ssdlab_device::block::Operation;
use ssdlab_device::units::Nanos;

/// Bytes that a program reads in one call.
const READ_CALL_BYTES: u64 = 32 << 10;

impl Kernel<'_> {
    /// Looks a file up: its directory block, its inode, its first index block.
    pub fn open(&mut self, id: FileId) {
        self.call();
        let file = self.files.file(id);
        let (entry, inode, index) = (file.entry_block, file.inode, file.index.first().copied());
        self.load(entry, 0);
        self.load(inode, self.system.page_cache.inode_read_ahead_bytes.0);
        if let Some(block) = index {
            self.load(block, 0);
        }
    }

    /// Makes an empty file; nothing when there is no room.
    pub fn create(&mut self, directory: DirectoryId) -> Option<FileId> {
        self.call();
        let (id, touched) = self.files.create(directory)?;
        self.touch(&touched, true);
        Some(id)
    }

    /// Reads a file from beginning to end.
    pub fn read(&mut self, id: FileId) {
        self.read_each(id, |_, _, _| ());
    }

    /// Reads a file from beginning to end and writes back what each call has read.
    pub fn rewrite(&mut self, id: FileId) {
        let bytes = self.files.file(id).bytes;
        self.read_each(id, |kernel, from, units| {
            let at = from * kernel.files.unit_bytes();
            let until = bytes.min(at + units * kernel.files.unit_bytes());
            assert!(kernel.write(id, at, until - at), "a file that keeps its size needs no room");
        });
    }

    /// Reads a file from beginning to end; after each call something is done with the units it read.
    fn read_each(&mut self, id: FileId, mut then: impl FnMut(&mut Self, u64, u64)) {
        let unit = self.files.unit_bytes();
        let end = self.files.file(id).units();
        let most = (self.system.page_cache.read_ahead_bytes.0 / unit).max(1);
        let mut window = (self.system.page_cache.read_ahead_start_bytes.0 / unit).max(1);
        // Up to where was asked for, and where the last window began.
        let (mut asked, mut last, mut at) = (0, 0, 0);
        while at < end {
            let until = end.min(at + (READ_CALL_BYTES / unit).max(1));
            while asked < end && (asked < until || at >= last) {
                last = asked;
                asked = self.read_stretch(id, asked, window);
                window = most.min(window * 2);
            }
            self.wait_for(id, at, until - at);
            self.call();
            self.copy((until - at) * unit);
            then(self, at, until - at);
            at = until;
        }
    }

    /// Touches one largest window of a mapped file: what a page fault in it reads.
    pub fn fault(&mut self, id: FileId, window: u64) {
        let units = (self.system.page_cache.read_ahead_bytes.0 / self.files.unit_bytes()).max(1);
        self.read_stretch(id, window * units, units);
        self.wait_for(id, window * units, units);
        self.call();
    }

    /// Asks for units of a file; says up to which.
    fn read_stretch(&mut self, id: FileId, from: u64, units: u64) -> u64 {
        let stretch = self.files.file(id).stretch(from, units);
        stretch.into_iter().for_each(|extent| self.read_in(extent));
        from + units
    }

    fn wait_for(&mut self, id: FileId, from: u64, units: u64) {
        for extent in self.files.file(id).stretch(from, units) {
            // Evicted before its use (memory smaller than the window): read again.
            self.read_in(extent);
            self.wait(|kernel| kernel.incoming.range(extent.start..extent.end()).next().is_none());
        }
    }

    /// Writes bytes of a file through the cache, from `at_bytes`; false when there is no room.
    #[must_use]
    pub fn write(&mut self, id: FileId, at_bytes: u64, bytes: u64) -> bool {
        self.call();
        let before = self.files.file(id).bytes;
        let end = at_bytes + bytes;
        if end > before {
            let Some(touched) = self.files.extend(id, end) else {
                return false;
            };
            self.touch(&touched, false);
        }
        self.read_edges(id, at_bytes, end.min(before));
        self.copy(bytes);
        let unit = self.files.unit_bytes();
        let (from, until) = (at_bytes / unit, end.div_ceil(unit));
        let (inode, now) = (self.files.file(id).inode, self.now());
        for extent in self.files.file(id).stretch(from, until - from) {
            (extent.start..extent.end()).for_each(|at| self.cache.soil(at, now, Some(inode)));
        }
        if self.system.page_cache.write_behind {
            self.write_clusters(id, from, until);
        }
        self.throttle();
        true
    }

    /// The first and last unit of a change that covers them in part, below the old size, are read first.
    fn read_edges(&mut self, id: FileId, at_bytes: u64, end_bytes: u64) {
        let unit = self.files.unit_bytes();
        for edge in [at_bytes, end_bytes] {
            if !edge.is_multiple_of(unit) && edge < self.files.file(id).bytes && edge <= end_bytes {
                self.read_stretch(id, edge / unit, 1);
                self.wait_for(id, edge / unit, 1);
            }
        }
    }

    /// Write-behind: clusters of the file that are full now are written, and the program waits while
    /// too much is under way.
    fn write_clusters(&mut self, id: FileId, from: u64, until: u64) {
        let most = self.most_units();
        for cluster in from / most..until / most {
            for extent in self.files.file(id).stretch(cluster * most, most) {
                self.wait(|kernel| !kernel.is_congested);
                self.write_out(extent);
                self.is_congested = self.port.writing_bytes() >= self.system.page_cache.in_flight_high_bytes.0;
            }
        }
    }

    /// Who writes waits while more than the limit is dirty, until it is half way back to the background's share.
    fn throttle(&mut self) {
        let limit = self.share(self.system.page_cache.limit_percent);
        let background = self.share(self.system.page_cache.background_percent);
        if self.cache.dirty_units() > limit {
            let enough = (limit + background) / 2;
            self.wait(|kernel| kernel.cache.dirty_units() <= enough);
        }
    }

    /// Submits what is dirty of a stretch.
    fn write_out(&mut self, extent: Extent) {
        let most = self.most_units();
        let mut at = extent.start;
        while let Some(run) = self.cache.take_run(at, extent.end(), most, Nanos::NEVER) {
            at = run.extent.end();
            self.write_run(&run);
        }
    }

    /// Makes a file durable: its data, and the transaction that its inode is in.
    pub fn fsync(&mut self, id: FileId) {
        self.call();
        let extents = self.files.file(id).extents.clone();
        extents.into_iter().for_each(|extent| self.write_out(extent));
        let number = self.port.last();
        self.wait(|kernel| kernel.port.is_written(number));
        match self.system.file_system.metadata {
            Metadata::Journal => self.commit(),
            Metadata::Synchronous => self.write_block(self.files.file(id).inode),
        }
    }

    /// Makes everything durable and waits for it.
    pub fn sync(&mut self) {
        self.call();
        // Writing data changes inodes, a commit makes their blocks dirty: the second round writes those.
        for _ in 0..2 {
            self.write_out(Extent { start: 0, units: u64::MAX });
            self.wait(|kernel| kernel.port.is_idle());
            self.commit();
        }
        self.write_out(Extent { start: 0, units: u64::MAX });
        if self.port.limits().volatile_cache {
            self.ask(Operation::Flush, Extent { start: 0, units: 0 }, false);
        }
        self.wait(|kernel| kernel.port.is_idle());
    }

    /// Writes straight to the device and waits (O_DIRECT); the file has its size.
    pub fn write_direct(&mut self, id: FileId, at_bytes: u64, bytes: u64) {
        self.direct(Operation::Write, id, at_bytes, bytes);
    }

    /// Reads straight from the device and waits (O_DIRECT).
    pub fn read_direct(&mut self, id: FileId, at_bytes: u64, bytes: u64) {
        self.direct(Operation::Read, id, at_bytes, bytes);
    }

    fn direct(&mut self, operation: Operation, id: FileId, at_bytes: u64, bytes: u64) {
        self.call();
        let unit = self.files.unit_bytes();
        for extent in self.files.file(id).stretch(at_bytes / unit, bytes.div_ceil(unit)) {
            // What the cache holds of it goes out or is dropped first, as O_DIRECT does.
            self.write_out(extent);
            self.wait(|kernel| kernel.port.is_idle());
            self.cache.forget(extent);
            self.ask(operation, extent, false);
        }
        self.wait(|kernel| kernel.port.is_idle());
    }

    /// Cuts a file to nothing, as opening it for writing anew does.
    pub fn truncate(&mut self, id: FileId) {
        self.call();
        let (touched, freed) = self.files.truncate(id);
        self.forget(&touched, freed);
    }

    /// Removes a file.
    pub fn delete(&mut self, id: FileId) {
        self.call();
        let (touched, freed) = self.files.remove(id);
        self.forget(&touched, freed);
    }

    fn forget(&mut self, touched: &Touched, freed: Vec<Extent>) {
        freed.iter().for_each(|&extent| self.cache.forget(extent));
        self.touch(touched, true);
        self.free(freed);
    }

    /// Tells the drive of all free space at once and waits (fstrim); false where the file system never does.
    #[must_use]
    pub fn trim(&mut self) -> bool {
        if self.system.file_system.discard == Discard::None {
            return false;
        }
        self.sync();
        let unused: Vec<Extent> = self.files.allocator.unused().collect();
        unused.into_iter().for_each(|extent| self.ask(Operation::Trim, extent, false));
        self.wait(|kernel| kernel.port.is_idle());
        true
    }

    /// As after a restart: everything is written, and nothing is in memory.
    pub fn restart(&mut self) {
        self.sync();
        self.cache.drop_clean();
    }

    /// Reads or writes the bare device in order and waits for all of it; nothing of it is cached.
    pub fn raw(&mut self, operation: Operation, from_bytes: u64, bytes: u64, block_bytes: u64) {
        let depth = self.system.page_cache.in_flight_high_bytes.0.max(block_bytes);
        let mut at = from_bytes;
        while at < from_bytes + bytes {
            let part = block_bytes.min(from_bytes + bytes - at);
            self.port.ask(operation, at, part, false, self.compress_percent);
            self.wait(|kernel| kernel.port.writing_bytes() < depth);
            at += part;
        }
        self.wait(|kernel| kernel.port.is_idle());
    }
}
