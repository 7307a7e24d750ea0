//! How a file system came to be as it is: empty, fresh from a copy, or long in use.
//!
//! Fresh: everything was copied at once in order of directories; the files that a scenario reads lie
//! evenly among those of the installed system, as a program's files do among all others. Fragmented:
//! copied, then files were deleted at random and others made in directories at random, as many as
//! `age.churn` says; in between each of the scenario's files was replaced once, in random order, as
//! updates do it. So files that were neighbours lie apart, and the more of the space is in use, the
//! more pieces a new file falls into (Smith and Seltzer, File System Aging, 1997).
//!
//! In any state a scenario may ask for more extents a file (`age.extents_per_file`, see `scatter`).
//!
//! Sizes are lognormal: bytes = exp(ln(mean) − σ²/2 + σ·z). Left out: files that grow, related files
//! that are deleted together, online defragmentation.

use super::file_system::{DirectoryId, FileId, FileSystem};
use super::scatter::{self, Places};
use super::system::AgeConfig;
use crate::workload::random::{Purpose, Stream};
use serde::Deserialize;
use std::collections::BTreeMap;

/// How the file system came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Newly made: nothing but the scenario's files.
    Empty,
    /// Everything copied onto it at once.
    Fresh,
    /// Long in use.
    Fragmented,
}

/// A file to be there: the number of its directory, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Files of one number share a directory.
    pub directory: u64,
    /// Size.
    pub bytes: u64,
}

/// Lognormal sizes of one mean.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    mu: f64,
    sigma: f64,
}

impl Sizes {
    /// With a mean in bytes and a standard deviation of the logarithm.
    pub fn new(mean_bytes: u64, sigma: f64) -> Sizes {
        Sizes { mu: libm::log(mean_bytes as f64) - sigma * sigma / 2.0, sigma }
    }

    /// A size of at least one byte (Box and Muller 1958).
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.unit()));
        let normal = radius * libm::cos(2.0 * std::f64::consts::PI * stream.unit());
        libm::exp(self.mu + self.sigma * normal).round().max(1.0) as u64
    }
}

/// A file system being filled.
pub struct Filling<'a> {
    files: &'a mut FileSystem,
    age: &'a AgeConfig,
    /// The scenario's directories by number.
    pub directories: BTreeMap<u64, DirectoryId>,
    others: Vec<FileId>,
    other_directories: Vec<DirectoryId>,
    stream: Stream,
}

impl<'a> Filling<'a> {
    /// Begins with a file system as newly made.
    pub fn new(files: &'a mut FileSystem, age: &'a AgeConfig, seed: u64) -> Filling<'a> {
        let stream = Stream::new(seed, Purpose::Size);
        Filling { files, age, directories: BTreeMap::new(), others: Vec::new(), other_directories: Vec::new(), stream }
    }

    /// Makes the wanted files and, by state, all others; nothing when they do not fit.
    pub fn fill(&mut self, state: State, wanted: &[Wanted]) -> Option<Vec<FileId>> {
        let ids = self.made(state, wanted)?;
        if self.age.extents_per_file > 1.0 {
            self.scatter(&ids)?;
        }
        Some(ids)
    }

    fn made(&mut self, state: State, wanted: &[Wanted]) -> Option<Vec<FileId>> {
        match state {
            State::Empty => wanted.iter().map(|&file| self.make_wanted(file)).collect(),
            State::Fresh => {
                let ids = self.copy_system(wanted)?;
                self.copy_others();
                Some(ids)
            }
            State::Fragmented => {
                let ids = self.copy_system(wanted)?;
                self.copy_others();
                self.churn(wanted, ids)
            }
        }
    }

    /// Gives the files the extents that are asked for, if ageing has not given more. Space too broken for a
    /// piece gives a file more, which the next ones make good; so large files come first.
    fn scatter(&mut self, ids: &[FileId]) -> Option<()> {
        let blocks: Vec<u64> = ids.iter().map(|&id| self.files.blocks(id)).collect();
        let counts = scatter::counts(&blocks, self.age.extents_per_file)?;
        let places = Places::of(self.files);
        let mut too_many = 0;
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_by_key(|&index| std::cmp::Reverse(blocks[index]));
        for index in order {
            let (id, count) = (ids[index], counts[index]);
            let wanted = count.saturating_sub(too_many).max(1);
            if self.files.file(id).extents.len() as u64 != wanted {
                scatter::scatter(self.files, &places, id, wanted, &mut self.stream)?;
            }
            too_many = (too_many + self.files.file(id).extents.len() as u64).saturating_sub(count);
        }
        Some(())
    }

    fn directory(&mut self, number: u64) -> Option<DirectoryId> {
        if let Some(&known) = self.directories.get(&number) {
            return Some(known);
        }
        let made = self.files.make_directory()?;
        self.directories.insert(number, made);
        Some(made)
    }

    fn make_wanted(&mut self, file: Wanted) -> Option<FileId> {
        let directory = self.directory(file.directory)?;
        make(self.files, directory, file.bytes)
    }

    /// The installed system, in order, with the wanted files evenly among it.
    fn copy_system(&mut self, wanted: &[Wanted]) -> Option<Vec<FileId>> {
        let (files, wanted_files) = (self.age.system_bytes.0 / self.age.system_file_bytes.0, wanted.len() as u64);
        let sizes = Sizes::new(self.age.system_file_bytes.0, self.age.file_sigma);
        let mut ids = Vec::new();
        for number in 0..files {
            while (ids.len() as u64) * files < number * wanted_files {
                ids.push(self.make_wanted(wanted[ids.len()])?);
            }
            if self.is_filled() {
                break;
            }
            self.copy_one(&sizes);
        }
        while ids.len() < wanted.len() {
            ids.push(self.make_wanted(wanted[ids.len()])?);
        }
        Some(ids)
    }

    fn copy_others(&mut self) {
        let sizes = Sizes::new(self.age.file_bytes.0, self.age.file_sigma);
        while !self.is_filled() && self.copy_one(&sizes) {}
    }

    fn is_filled(&self) -> bool {
        let allocator = &self.files.allocator;
        allocator.free() as f64 <= (1.0 - self.age.fill) * allocator.units() as f64
    }

    /// One more file, in the directory of the one before or in a new one.
    fn copy_one(&mut self, sizes: &Sizes) -> bool {
        if (self.others.len() as u64).is_multiple_of(self.age.directory_files) {
            self.other_directories.extend(self.files.make_directory());
        }
        let bytes = sizes.draw(&mut self.stream);
        let made = self.other_directories.last().and_then(|&directory| make(self.files, directory, bytes));
        self.others.extend(made);
        made.is_some()
    }

    /// Files deleted and others made at random; in between each wanted one is replaced once.
    fn churn(&mut self, wanted: &[Wanted], mut ids: Vec<FileId>) -> Option<Vec<FileId>> {
        let mut order: Vec<usize> = (0..wanted.len()).collect();
        self.stream.shuffle(&mut order);
        let sizes = Sizes::new(self.age.file_bytes.0, self.age.file_sigma);
        let steps = ((self.others.len() as f64 * self.age.churn) as u64).max(1);
        let mut replaced = 0;
        for step in 1..=steps {
            while replaced * steps < step * wanted.len() as u64 {
                let index = order[replaced as usize];
                // As updates do: the new file is written before the old one goes.
                let new = self.make_wanted(wanted[index])?;
                self.files.remove(std::mem::replace(&mut ids[index], new));
                replaced += 1;
            }
            self.renew(&sizes);
        }
        Some(ids)
    }

    /// Deletes one file and makes others until the space is as full as before.
    fn renew(&mut self, sizes: &Sizes) {
        if self.others.is_empty() {
            return;
        }
        let gone = self.stream.below(self.others.len() as u64) as usize;
        self.files.remove(self.others.swap_remove(gone));
        while !self.is_filled() {
            let at = self.stream.below(self.other_directories.len() as u64) as usize;
            let bytes = sizes.draw(&mut self.stream);
            let Some(id) = make(self.files, self.other_directories[at], bytes) else {
                return;
            };
            self.others.push(id);
        }
    }
}

fn make(files: &mut FileSystem, directory: DirectoryId, bytes: u64) -> Option<FileId> {
    let (id, _) = files.create(directory)?;
    files.extend(id, bytes)?;
    Some(id)
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::files::system::System;

    /// Files on a file system of 2 GiB: their extents, and the mean distance in units from a file to the next.
    fn layout(state: State, fill: &str, count: u64, bytes: u64) -> (usize, u64) {
        let settings = [("age.system_bytes", "0"), ("age.fill", fill)].map(|(key, value)| (key.into(), value.into()));
        let system = System::read("linux-2.6.32-ext4", &settings).unwrap().0;
        let mut files = FileSystem::new(&system.file_system, 2 << 30).unwrap();
        let wanted: Vec<Wanted> = (0..count).map(|_| Wanted { directory: 0, bytes }).collect();
        let ids = Filling::new(&mut files, &system.age, 1).fill(state, &wanted).unwrap();
        assert!(ids.iter().all(|&id| files.file(id).bytes == bytes));
        let extents = ids.iter().map(|&id| files.file(id).extents.len()).sum();
        let starts: Vec<u64> = ids.iter().map(|&id| files.file(id).extents[0].start).collect();
        let distance: u64 = starts.windows(2).map(|pair| pair[0].abs_diff(pair[1])).sum();
        (extents, distance / (count - 1))
    }

    /// Copied files lie one after the other, each in one piece. Ageing puts neighbours apart, and splits
    /// large files where little space is left.
    #[test]
    fn ageing_scatters_and_splits_files() {
        let small = 16 << 10;
        assert_eq!(layout(State::Empty, "0.85", 100, small), (100, 4));
        assert_eq!(layout(State::Fresh, "0.85", 100, small), (100, 4));
        let (_, distance) = layout(State::Fragmented, "0.85", 100, small);
        assert!(distance > 100, "{distance}");
        let large = 8 << 20;
        let (fresh, _) = layout(State::Fresh, "0.95", 20, large);
        let (aged, _) = layout(State::Fragmented, "0.95", 20, large);
        assert!(aged > 2 * fresh, "{aged} {fresh}");
    }

    /// Lognormal sizes have the mean they are given, within three standard errors.
    #[test]
    fn sizes_have_their_mean() {
        let (sizes, mut stream) = (Sizes::new(100_000, 1.0), Stream::new(1, Purpose::Size));
        let mean = (0..40_000).map(|_| sizes.draw(&mut stream) as f64).sum::<f64>() / 40_000.0;
        // Standard deviation over mean is sqrt(e^σ² − 1) = 1.31.
        assert!((mean / 1e5 - 1.0).abs() < 3.0 * 1.31 / 200.0, "{mean}");
    }
}
