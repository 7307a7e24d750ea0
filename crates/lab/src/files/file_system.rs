//! Files as extents over block groups, with the metadata blocks that every change touches.
//!
//! Modelled: each group begins with its bitmap of blocks, its bitmap of inodes and its inodes. A file
//! lies near its directory's group; a directory goes to the next group whose free space is at least
//! average. A file of more extents than fit into its inode has index blocks. UFS: a file has whole
//! blocks and a tail of fragments; each further indirect block, and the data that it maps, goes to
//! another cylinder group. No I/O happens here: each change says which blocks it touched.
//!
//! Left out: superblock and group descriptors (in memory at all times), names and hashes, hard and
//! symbolic links, flexible block groups, sparse files, quotas, a tail that moves when its file grows;
//! freed space is free at once, not only after the commit.

use super::allocator::{Allocator, Extent};
use super::system::FileSystemConfig;

/// Bytes of an extent's record in an index block (ext4).
const EXTENT_BYTES: u64 = 12;

/// Blocks that a UFS inode maps itself.
const DIRECT_BLOCKS: u64 = 12;

/// A directory, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryId(usize);

/// A file, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId(usize);

#[derive(Clone, Debug)]
struct Directory {
    group: usize,
    blocks: Vec<u64>,
    entries: u64,
}

/// A file.
#[derive(Clone, Debug)]
pub struct File {
    directory: DirectoryId,
    /// Block of the directory in which it is named.
    pub entry_block: u64,
    /// Group and number of the inode.
    number: (usize, u32),
    /// Block of the inode table in which its inode lies.
    pub inode: u64,
    /// Size.
    pub bytes: u64,
    /// Where its data lies, in order.
    pub extents: Vec<Extent>,
    /// Index or indirect blocks.
    pub index: Vec<u64>,
}

impl File {
    /// Where `units` of it from the `from`th on lie.
    pub fn stretch(&self, from: u64, units: u64) -> Vec<Extent> {
        let (mut skip, mut rest) = (from, units);
        let mut found = Vec::new();
        for extent in &self.extents {
            if skip >= extent.units {
                skip -= extent.units;
                continue;
            }
            let taken = rest.min(extent.units - skip);
            if taken == 0 {
                break;
            }
            found.push(Extent { start: extent.start + skip, units: taken });
            (skip, rest) = (0, rest - taken);
        }
        found
    }

    /// Units of its data.
    pub fn units(&self) -> u64 {
        self.extents.iter().map(|extent| extent.units).sum()
    }
}

/// What a change touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Inode, directory and index blocks.
    pub blocks: Vec<u64>,
    /// Bitmaps.
    pub bitmaps: Vec<u64>,
    /// Index blocks that are new: nothing of them need be read.
    pub new_blocks: Vec<u64>,
}

#[derive(Clone, Debug, Default)]
struct Inodes {
    used: u32,
    free: Vec<u32>,
}

/// The file system.
#[derive(Clone, Debug)]
pub struct FileSystem {
    config: FileSystemConfig,
    /// Which units are in use.
    pub allocator: Allocator,
    block_units: u64,
    inodes_per_group: u32,
    inodes: Vec<Inodes>,
    directories: Vec<Directory>,
    files: Vec<Option<File>>,
    free_slots: Vec<usize>,
    /// Where the journal lies.
    pub journal: Extent,
}

impl FileSystem {
    /// A new file system on so many bytes; nothing where it does not fit.
    pub fn new(config: &FileSystemConfig, capacity_bytes: u64) -> Option<FileSystem> {
        let unit = config.fragment_bytes.0;
        let block_units = config.block_bytes.0 / unit;
        let units = capacity_bytes / config.block_bytes.0 * block_units;
        let group_units = config.group_bytes.0 / config.block_bytes.0 * block_units;
        let inodes_per_group = (group_units * unit / config.bytes_per_inode.0) as u32;
        let table_blocks = (u64::from(inodes_per_group) * config.inode_bytes).div_ceil(config.block_bytes.0);
        let own_units = (2 + table_blocks) * block_units;
        // A last group too small for its own inodes is not used.
        let units = if units % group_units < 2 * own_units { units / group_units * group_units } else { units };
        let journal_units = config.journal_bytes.0 / unit;
        if units < 2 * own_units || units / 2 < journal_units {
            return None;
        }
        let mut allocator = Allocator::new(units, group_units, config.search_groups as usize);
        for group in 0..allocator.groups() as u64 {
            allocator.reserve(Extent { start: group * group_units, units: own_units });
        }
        let inodes = vec![Inodes::default(); allocator.groups()];
        let mut files = FileSystem {
            config: config.clone(),
            allocator,
            block_units,
            inodes_per_group,
            inodes,
            directories: Vec::new(),
            files: Vec::new(),
            free_slots: Vec::new(),
            journal: Extent { start: 0, units: 0 },
        };
        let middle = files.group_start(files.allocator.groups() / 2);
        if journal_units > 0 {
            files.journal = *files.allocator.allocate(middle, journal_units, block_units)?.first()?;
        }
        Some(files)
    }

    /// Bytes of a unit.
    pub fn unit_bytes(&self) -> u64 {
        self.config.fragment_bytes.0
    }

    /// Units of a block.
    pub fn block_units(&self) -> u64 {
        self.block_units
    }

    fn group_start(&self, group: usize) -> u64 {
        group as u64 * (self.config.group_bytes.0 / self.config.block_bytes.0 * self.block_units)
    }

    fn block_bitmap(&self, unit: u64) -> u64 {
        self.group_start(self.allocator.group_of(unit))
    }

    fn inode_bitmap(&self, group: usize) -> u64 {
        self.group_start(group) + self.block_units
    }

    fn inode_block(&self, group: usize, index: u32) -> u64 {
        let block = u64::from(index) * self.config.inode_bytes / self.config.block_bytes.0;
        self.group_start(group) + (2 + block) * self.block_units
    }

    /// A file that is there.
    pub fn file(&self, id: FileId) -> &File {
        self.files[id.0].as_ref().expect("a file is used before it is removed")
    }

    fn file_mut(&mut self, id: FileId) -> &mut File {
        self.files[id.0].as_mut().expect("a file is used before it is removed")
    }

    /// Makes a directory in the next group, from the last directory's on, that is as free as the average.
    pub fn make_directory(&mut self) -> Option<DirectoryId> {
        let groups = self.allocator.groups();
        let average = self.allocator.free() / groups as u64;
        let last = self.directories.last().map_or(0, |directory| directory.group);
        let found =
            (0..groups).map(|step| (last + step) % groups).find(|&group| self.allocator.free_in(group) >= average);
        let group = found?;
        let block = self.take_block(self.group_start(group))?;
        self.directories.push(Directory { group, blocks: vec![block], entries: 0 });
        Some(DirectoryId(self.directories.len() - 1))
    }

    fn take_block(&mut self, goal: u64) -> Option<u64> {
        let extents = self.allocator.allocate(goal, self.block_units, self.block_units)?;
        Some(extents[0].start)
    }

    fn take_inode(&mut self, near: usize) -> Option<(usize, u32)> {
        let groups = self.inodes.len();
        let group = (0..groups)
            .map(|step| (near + step) % groups)
            .find(|&group| !self.inodes[group].free.is_empty() || self.inodes[group].used < self.inodes_per_group)?;
        let inodes = &mut self.inodes[group];
        let index = inodes.free.pop().unwrap_or_else(|| {
            inodes.used += 1;
            inodes.used - 1
        });
        Some((group, index))
    }

    /// Makes an empty file; nothing when the file system is full.
    pub fn create(&mut self, directory: DirectoryId) -> Option<(FileId, Touched)> {
        let per_block = self.config.block_bytes.0 / self.config.directory_entry_bytes;
        let Directory { group, entries, ref blocks } = self.directories[directory.0];
        let mut touched = Touched::default();
        if entries >= per_block * blocks.len() as u64 {
            let block = self.take_block(self.group_start(group))?;
            touched.new_blocks.push(block);
            self.directories[directory.0].blocks.push(block);
        }
        let number = self.take_inode(group)?;
        let inode = self.inode_block(number.0, number.1);
        let held = &mut self.directories[directory.0];
        let entry_block = held.blocks[(held.entries / per_block) as usize];
        held.entries += 1;
        touched.blocks.extend([entry_block, inode]);
        touched.bitmaps.push(self.inode_bitmap(number.0));
        let file = File { directory, entry_block, number, inode, bytes: 0, extents: Vec::new(), index: Vec::new() };
        let slot = self.free_slots.pop().unwrap_or(self.files.len());
        if slot == self.files.len() {
            self.files.push(None);
        }
        self.files[slot] = Some(file);
        Some((FileId(slot), touched))
    }

    /// Where a file's directory would have it: the first unit of its group, and how far is searched from there.
    pub fn neighbourhood(&self, id: FileId) -> (u64, u64) {
        let group = self.directories[self.file(id).directory.0].group;
        (self.group_start(group), self.group_start(1) * self.config.search_groups)
    }

    /// Blocks of a file's data, begun ones included.
    pub fn blocks(&self, id: FileId) -> u64 {
        self.file(id).units().div_ceil(self.block_units)
    }

    /// Units that a file of a size has: whole blocks, and a tail of fragments while it has no indirect block.
    fn units_of(&self, bytes: u64) -> u64 {
        let block = self.config.block_bytes.0;
        if bytes <= DIRECT_BLOCKS * block {
            bytes.div_ceil(self.unit_bytes())
        } else {
            bytes.div_ceil(block) * self.block_units
        }
    }

    /// The next size at which a UFS file needs another indirect block.
    fn next_indirect(&self, bytes: u64) -> u64 {
        let (direct, span) = (DIRECT_BLOCKS * self.config.block_bytes.0, self.config.indirect_bytes.0);
        match span {
            0 => u64::MAX,
            _ if bytes < direct => direct,
            _ => direct + ((bytes - direct) / span + 1) * span,
        }
    }

    /// Lets a file grow to a size; nothing when there is no room. What it got so far stays its own.
    pub fn extend(&mut self, id: FileId, bytes: u64) -> Option<Touched> {
        self.extend_at(id, bytes, None)
    }

    /// As [`FileSystem::extend`], from a place on instead of the file's end.
    pub fn extend_at(&mut self, id: FileId, bytes: u64, place: Option<u64>) -> Option<Touched> {
        let mut touched = Touched::default();
        while self.file(id).bytes < bytes {
            let have = self.file(id).bytes;
            let target = bytes.min(self.next_indirect(have));
            let end = place.or_else(|| self.file(id).extents.last().map(Extent::end));
            let mut goal = end.unwrap_or_else(|| self.neighbourhood(id).0);
            let direct = DIRECT_BLOCKS * self.config.block_bytes.0;
            if self.config.indirect_bytes.0 > 0 && have >= direct && self.next_indirect(have - 1) == have {
                goal = self.take_index(id, self.next_free_group(goal), &mut touched)? + self.block_units;
            }
            let units = self.units_of(target) - self.file(id).units();
            for extent in self.take_data(goal, units)? {
                touched.bitmaps.push(self.block_bitmap(extent.start));
                self.add_extent(id, extent);
            }
            self.file_mut(id).bytes = target;
        }
        let per_block = self.config.block_bytes.0 / EXTENT_BYTES;
        let (extents, held) = (self.file(id).extents.len() as u64, self.file(id).index.len() as u64);
        if self.config.indirect_bytes.0 == 0 && extents > self.config.extents_in_inode && held * per_block < extents {
            let near = self.file(id).extents[0].start;
            self.take_index(id, near, &mut touched)?;
        }
        touched.blocks.extend(self.file(id).index.last().filter(|last| !touched.new_blocks.contains(last)));
        Some(touched)
    }

    fn add_extent(&mut self, id: FileId, extent: Extent) {
        let extents = &mut self.file_mut(id).extents;
        match extents.last_mut() {
            Some(last) if last.end() == extent.start => last.units += extent.units,
            _ => extents.push(extent),
        }
    }

    fn take_index(&mut self, id: FileId, goal: u64, touched: &mut Touched) -> Option<u64> {
        let block = self.take_block(goal)?;
        self.file_mut(id).index.push(block);
        touched.new_blocks.push(block);
        touched.bitmaps.push(self.block_bitmap(block));
        Some(block)
    }

    /// Start of the next group after a unit's that is as free as the average.
    fn next_free_group(&self, unit: u64) -> u64 {
        let groups = self.allocator.groups();
        let average = self.allocator.free() / groups as u64;
        let own = self.allocator.group_of(unit % self.allocator.units());
        let next =
            (1..=groups).map(|step| (own + step) % groups).find(|&group| self.allocator.free_in(group) >= average);
        self.group_start(next.unwrap_or(own))
    }

    /// Units for data: whole stripes or blocks first, then what is left over.
    fn take_data(&mut self, goal: u64, units: u64) -> Option<Vec<Extent>> {
        let stripe = self.config.stripe_bytes.0 / self.unit_bytes();
        let align = if stripe > 0 && units >= stripe { stripe } else { self.block_units };
        let (body, tail) = (units / align * align, units % align);
        let mut extents = Vec::new();
        if body > 0 {
            let aligned = self.allocator.allocate(goal, body, align);
            extents = aligned.or_else(|| self.allocator.allocate(goal, body, self.block_units))?;
        }
        if tail > 0 {
            // A power of two keeps fragments within one block.
            let tail_align = if align == self.block_units { tail.next_power_of_two() } else { self.block_units };
            let goal = extents.last().map_or(goal, Extent::end);
            extents.extend(self.allocator.allocate(goal, tail, tail_align)?);
        }
        Some(extents)
    }

    /// Cuts a file to nothing; says what it touched and what became free.
    pub fn truncate(&mut self, id: FileId) -> (Touched, Vec<Extent>) {
        let block_units = self.block_units;
        let file = self.file_mut(id);
        file.bytes = 0;
        let mut freed = std::mem::take(&mut file.extents);
        freed.extend(std::mem::take(&mut file.index).into_iter().map(|start| Extent { start, units: block_units }));
        let inode = file.inode;
        let mut bitmaps: Vec<u64> = freed.iter().map(|extent| self.block_bitmap(extent.start)).collect();
        bitmaps.sort_unstable();
        bitmaps.dedup();
        freed.iter().for_each(|&extent| self.allocator.release(extent));
        (Touched { blocks: vec![inode], bitmaps, new_blocks: Vec::new() }, freed)
    }

    /// Removes a file; says what it touched and what became free.
    pub fn remove(&mut self, id: FileId) -> (Touched, Vec<Extent>) {
        let (mut touched, freed) = self.truncate(id);
        let file = self.files[id.0].take().expect("a file is removed once");
        self.free_slots.push(id.0);
        self.inodes[file.number.0].free.push(file.number.1);
        self.directories[file.directory.0].entries -= 1;
        touched.blocks.push(file.entry_block);
        touched.bitmaps.push(self.inode_bitmap(file.number.0));
        (touched, freed)
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::files::system::System;
    use proptest::prelude::*;

    fn new(system: &str, bytes: u64) -> FileSystem {
        FileSystem::new(&System::read(system, &[]).unwrap().0.file_system, bytes).unwrap()
    }

    /// UFS: twelve blocks, then 32 MiB for each indirect block, in another cylinder group each time.
    #[test]
    fn an_indirect_block_moves_a_file_on() {
        let mut files = new("freebsd-8-ufs", 1 << 30);
        let directory = files.make_directory().unwrap();
        let (id, _) = files.create(directory).unwrap();
        files.extend(id, 100 << 20).unwrap();
        let groups: Vec<usize> =
            files.file(id).extents.iter().map(|extent| files.allocator.group_of(extent.start)).collect();
        assert_eq!(groups, [0, 1, 2, 3, 4]);
        assert_eq!(files.file(id).index.len(), 4);
        assert!(files.file(id).extents.iter().all(|extent| extent.start % 8 == 0 && extent.units % 8 == 0));
    }

    /// A small UFS file ends in fragments, an ext4 file in a whole block.
    #[test]
    fn a_tail_takes_fragments() {
        for (system, bytes) in [("freebsd-8-ufs", 6 << 10), ("linux-2.6.32-ext4", 8 << 10)] {
            let mut files = new(system, 1 << 30);
            let directory = files.make_directory().unwrap();
            let (id, _) = files.create(directory).unwrap();
            files.extend(id, 5000).unwrap();
            assert_eq!(files.file(id).units() * files.unit_bytes(), bytes);
        }
    }

    /// With a stripe, a large file begins at a stripe's beginning.
    #[test]
    fn a_stripe_aligns_large_files() {
        let settings = [("file_system.stripe_bytes".to_string(), "\"128 KiB\"".to_string())];
        let system = System::read("linux-2.6.32-ext4", &settings).unwrap().0;
        let mut files = FileSystem::new(&system.file_system, 1 << 30).unwrap();
        let directory = files.make_directory().unwrap();
        let (id, _) = files.create(directory).unwrap();
        files.extend(id, 1 << 20).unwrap();
        assert_eq!(files.file(id).extents[0].start % 32, 0);
    }

    proptest! {
        /// Files made, grown, cut and removed at random: what is in use is what the files, their index
        /// blocks and the fixed parts hold, and when all are gone the free space is as at the start.
        #[test]
        fn space_is_conserved(steps in prop::collection::vec((0u8..4, 0usize..50, 0u64..3_000_000), 1..150), ufs in any::<bool>()) {
            let mut files = new(if ufs { "freebsd-8-ufs" } else { "linux-2.6.32-ext4" }, 1 << 29);
            let directory = files.make_directory().unwrap();
            let mut live: Vec<FileId> = Vec::new();
            let free = files.allocator.free();
            for (action, pick, bytes) in steps {
                if action == 0 || live.is_empty() {
                    live.push(files.create(directory).unwrap().0);
                    continue;
                }
                let id = live[pick % live.len()];
                match action {
                    1 => {
                        let before = files.file(id).bytes;
                        prop_assert!(files.extend(id, before + bytes).is_some());
                    }
                    2 => drop(files.truncate(id)),
                    _ => drop(files.remove(live.swap_remove(pick % live.len()))),
                }
                let held: u64 = live.iter().map(|&id| files.file(id).units() + files.file(id).index.len() as u64 * files.block_units()).sum();
                prop_assert_eq!(files.allocator.free() + held, free);
                for &id in &live {
                    prop_assert!(files.file(id).units() * files.unit_bytes() >= files.file(id).bytes);
                }
            }
            live.into_iter().for_each(|id| drop(files.remove(id)));
            prop_assert_eq!(files.allocator.free(), free);
        }
    }
}
