//! The operating system between programs and the device: one program's calls, and what goes on
//! behind its back while it computes or waits.
//!
//! Behind its back: dirty data is written when it is old, when there is too much of it, or (write-behind)
//! as soon as a cluster is full; the journal commits; read-ahead comes in. Writes go in ascending order
//! over the device (one sweep after the other), neighbours merged, and no more than so many bytes at
//! once. Left out: more than one program at a time, memory pressure from programs, the cost of interrupts.
//!
//! Submodules: `calls` (open, read, write, delete, fsync), `journal`.

mod calls;
mod journal;

use self::journal::Journal;
use super::allocator::Extent;
use super::file_system::{FileSystem, Touched};
use super::page_cache::{PageCache, Run};
use super::port::Port;
use super::system::{Metadata, System};
use ssdlab_device::block::{Device, Operation, Request, Traffic};
use ssdlab_device::units::Nanos;
use std::collections::BTreeSet;

/// The operating system with its file system on a device.
pub struct Kernel<'d> {
    system: System,
    /// The file system.
    pub files: FileSystem,
    port: Port<'d>,
    cache: PageCache,
    /// Units that are being read.
    incoming: BTreeSet<u64>,
    journal: Journal,
    /// Where the sweep of writing back stands.
    sweep: u64,
    /// Dirty since then or longer is to be written.
    write_older_than: Option<Nanos>,
    /// Submitting waits until writes under way are few again.
    is_congested: bool,
    next_wake: Nanos,
    next_commit: Nanos,
    /// CPU time that the program spent.
    pub cpu: Nanos,
    /// By how many percent data can be compressed.
    pub compress_percent: u8,
    completed: Vec<Request>,
}

impl<'d> Kernel<'d> {
    /// Mounts a file system on an idle device.
    pub fn new(system: &System, files: FileSystem, device: &'d mut dyn Device, start: Nanos) -> Kernel<'d> {
        let memory_units = system.page_cache.memory_bytes.0 / files.unit_bytes();
        let area = files.journal;
        Kernel {
            system: system.clone(),
            port: Port::new(device, start),
            cache: PageCache::new(memory_units),
            incoming: BTreeSet::new(),
            journal: Journal::new(area, files.block_units()),
            sweep: 0,
            write_older_than: None,
            is_congested: false,
            next_wake: start + system.page_cache.wake_ms.0,
            next_commit: start + system.file_system.commit_ms.0,
            cpu: Nanos::ZERO,
            compress_percent: 0,
            completed: Vec::new(),
            files,
        }
    }

    /// The time.
    pub fn now(&self) -> Nanos {
        self.port.now()
    }

    /// What a page fault reads.
    pub fn window_bytes(&self) -> u64 {
        self.system.page_cache.read_ahead_bytes.0
    }

    /// What was asked of the device.
    pub fn traffic(&self) -> Traffic {
        self.port.traffic
    }

    /// Bytes written to the journal.
    pub fn journal_bytes(&self) -> u64 {
        self.journal.written_units * self.files.unit_bytes()
    }

    /// The device's name for what went wrong first, if anything did.
    pub fn failure(&self) -> Option<String> {
        let (request, status) = self.port.failed?;
        Some(format!("{:?} at sector {} ended in {status:?}", request.operation, request.lba.0))
    }

    /// The program computes: time passes and things go on behind its back.
    pub fn compute(&mut self, time: Nanos) {
        self.cpu += time;
        self.idle(time);
    }

    /// Nothing is done by the program for a while.
    pub fn idle(&mut self, time: Nanos) {
        let end = self.now() + time;
        while self.now() < end {
            self.step(end);
        }
    }

    /// CPU time of copying so many bytes between program and cache.
    fn copy(&mut self, bytes: u64) {
        self.compute(Nanos::of_transfer(bytes, self.system.page_cache.copy_mb_per_s));
    }

    /// CPU time of one call.
    fn call(&mut self) {
        self.compute(self.system.page_cache.call_us.0);
    }

    /// The program waits.
    fn wait(&mut self, is_over: impl Fn(&Kernel) -> bool) {
        self.go_on();
        while !is_over(self) {
            self.step(Nanos::NEVER);
        }
    }

    /// Lives on to the next instant at which something happens, or to `limit`.
    fn step(&mut self, limit: Nanos) {
        self.go_on();
        let wake = self.next_wake.0.min(self.next_commit.0);
        let mut completed = std::mem::take(&mut self.completed);
        self.port.advance(Nanos(limit.0.min(wake)), &mut completed);
        for request in completed.drain(..).filter(|request| request.operation == Operation::Read) {
            let extent = self.extent_of(&request);
            for unit in extent.start..extent.end() {
                self.incoming.remove(&unit);
                self.cache.fill(unit);
            }
        }
        self.completed = completed;
        self.wake();
        self.go_on();
    }

    fn extent_of(&self, request: &Request) -> Extent {
        let sectors = self.files.unit_bytes() / u64::from(self.port.limits().sector_bytes);
        Extent { start: request.lba.0 / sectors, units: u64::from(request.sectors) / sectors }
    }

    /// What is due at this time.
    fn wake(&mut self) {
        let now = self.now();
        if now >= self.next_wake {
            self.next_wake = now + self.system.page_cache.wake_ms.0;
            let old = now.saturating_sub(self.system.page_cache.expire_ms.0);
            if self.write_older_than.is_none() && self.cache.has_older(old) {
                self.write_older_than = Some(old);
            }
        }
        if now >= self.next_commit {
            self.next_commit = now + self.system.file_system.commit_ms.0;
            self.begin_commit();
        }
    }

    /// Submits what can be submitted now.
    fn go_on(&mut self) {
        self.commit_on();
        let high = self.system.page_cache.in_flight_high_bytes.0;
        self.is_congested &= self.port.writing_bytes() > self.system.page_cache.in_flight_low_bytes.0;
        while !self.is_congested {
            let Some(older_than) = self.to_write() else {
                return;
            };
            let Some(run) = self.next_run(older_than) else {
                self.write_older_than = None;
                return;
            };
            self.write_run(&run);
            self.is_congested = self.port.writing_bytes() >= high;
        }
    }

    /// How old dirty data must be to be written now; nothing where none need be.
    fn to_write(&self) -> Option<Nanos> {
        if self.cache.dirty_units() > self.share(self.system.page_cache.background_percent) {
            return Some(Nanos::NEVER);
        }
        self.write_older_than
    }

    fn share(&self, percent: f64) -> u64 {
        let units = self.system.page_cache.memory_bytes.0 / self.files.unit_bytes();
        (units as f64 * percent / 100.0) as u64
    }

    fn most_units(&self) -> u64 {
        (self.system.page_cache.write_request_bytes.0 / self.files.unit_bytes()).max(1)
    }

    /// The next run of the sweep; after the end it begins anew.
    fn next_run(&mut self, older_than: Nanos) -> Option<Run> {
        let most = self.most_units();
        let run = self.cache.take_run(self.sweep, u64::MAX, most, older_than);
        let run = run.or_else(|| self.cache.take_run(0, self.sweep, most, older_than))?;
        self.sweep = run.extent.end();
        Some(run)
    }

    /// Submits a run; the inodes whose data it is have a new time and size.
    fn write_run(&mut self, run: &Run) {
        self.ask(Operation::Write, run.extent, false);
        match self.system.file_system.metadata {
            Metadata::Journal => run.inodes.iter().for_each(|&inode| self.journal.add(inode)),
            Metadata::Synchronous => {
                run.inodes.iter().for_each(|&inode| self.soil_block(inode));
            }
        }
    }

    /// Hands over a request for a stretch of the file system.
    fn ask(&mut self, operation: Operation, extent: Extent, fua: bool) {
        let unit = self.files.unit_bytes();
        self.port.ask(operation, extent.start * unit, extent.units * unit, fua, self.compress_percent);
    }

    /// Makes a metadata block dirty where it lies.
    fn soil_block(&mut self, block: u64) {
        let now = self.now();
        (block..block + self.files.block_units()).for_each(|unit| self.cache.soil(unit, now, None));
    }

    /// What a change touched is read if it must be, and changed: in the journal, or in place.
    fn touch(&mut self, touched: &Touched, is_ordered: bool) {
        touched.blocks.iter().chain(&touched.bitmaps).for_each(|&block| self.load(block, 0));
        let blocks = touched.blocks.iter().chain(&touched.bitmaps).chain(&touched.new_blocks);
        for &block in blocks {
            match self.system.file_system.metadata {
                Metadata::Journal => self.journal.add(block),
                Metadata::Synchronous => self.soil_block(block),
            }
        }
        if self.system.file_system.metadata == Metadata::Synchronous {
            let at_once = if is_ordered { touched.blocks.iter() } else { [].iter() };
            let at_once: Vec<u64> = at_once.chain(&touched.new_blocks).copied().collect();
            at_once.into_iter().for_each(|block| self.write_block(block));
        }
    }

    /// Writes a metadata block and waits for it.
    fn write_block(&mut self, block: u64) {
        let units = self.files.block_units();
        if let Some(run) = self.cache.take_run(block, block + units, units, Nanos::NEVER) {
            self.ask(Operation::Write, run.extent, false);
            let number = self.port.last();
            self.wait(|kernel| kernel.port.is_written(number));
        }
    }

    /// Reads a metadata block unless it is in memory; `ahead` more bytes with it.
    fn load(&mut self, block: u64, ahead_bytes: u64) {
        let units = self.files.block_units();
        let span = (ahead_bytes / self.files.unit_bytes()).max(units);
        if !self.cache.hit(block) && !self.incoming.contains(&block) {
            let start = block / span * span;
            self.read_in(Extent { start, units: span });
        }
        self.wait(|kernel| !kernel.incoming.contains(&block));
    }

    /// Submits reads of what is neither in memory nor on its way.
    fn read_in(&mut self, extent: Extent) {
        let mut start = None;
        for unit in extent.start..=extent.end() {
            let is_missing = unit < extent.end() && !self.incoming.contains(&unit) && !self.cache.hit(unit);
            match (is_missing, start) {
                (true, None) => start = Some(unit),
                (false, Some(from)) => {
                    self.incoming.extend(from..unit);
                    self.ask(Operation::Read, Extent { start: from, units: unit - from }, false);
                    start = None;
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod test;
