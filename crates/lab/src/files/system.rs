//! What an operating system of its time does with files, as numbers: its file system's layout, its
//! page cache, and how a long used file system came to be.
//!
//! Each system is a file in `systems/`, every number with kind and source; a scenario names one and
//! may put settings over it. Two are there: Linux 2.6.32 with ext4, FreeBSD 8 with UFS.

use super::sourced::{Entries, ScenarioError, Sourced, set};
use ssdlab_device::named_choice;
use ssdlab_device::parameter::{Bytes, Declaration, Microseconds, Milliseconds, Problem};
use ssdlab_device::section;
use std::collections::BTreeMap;

named_choice! {
    /// How changes of inodes, directories and bitmaps reach the drive.
    pub enum Metadata {
        /// Through a journal in ordered mode: data first, then the journal, then a commit record behind a barrier.
        Journal = "journal",
        /// Inodes and directories at once and waited for, bitmaps later.
        Synchronous = "synchronous",
    }
}

named_choice! {
    /// When the drive is told of deleted files' space.
    pub enum Discard {
        /// Never.
        None = "none",
        /// With the commit that makes the deletion durable.
        Continuous = "continuous",
        /// When asked: all free space at once (fstrim).
        Batched = "batched",
    }
}

section! {
    /// Layout of the file system.
    pub struct FileSystemConfig in "file_system." {
        block_bytes: Bytes ["B"] {512 .. 65536} , "Size of a block.";
        fragment_bytes: Bytes ["B"] {512 .. 65536} , "Smallest piece that is allocated; the block where there are no fragments.";
        group_bytes: Bytes ["B"] {1048576 .. 1099511627776.0} , "Size of a block group or cylinder group.";
        inode_bytes: u64 ["B"] {64 .. 4096} , "Size of an inode.";
        bytes_per_inode: Bytes ["B"] {512 .. 67108864} , "Bytes of space for each inode.";
        directory_entry_bytes: u64 ["B"] {8 .. 512} , "Mean size of a directory entry.";
        extents_in_inode: u64 [""] {1 .. 1000} , "Extents that fit into the inode.";
        indirect_bytes: Bytes ["B"] {0 .. 1099511627776.0} , "Data that one indirect block maps, after which a file moves to another group; 0 means extents.";
        search_groups: u64 [""] {1 .. 1000000} , "Groups searched for a whole run before a file is split.";
        stripe_bytes: Bytes ["B"] {0 .. 1073741824} , "Stripe to which large files are aligned; 0 means none.";
        metadata: Metadata [""] {} , "How metadata is written: journal or synchronous.";
        journal_bytes: Bytes ["B"] {0 .. 1073741824} , "Size of the journal.";
        commit_ms: Milliseconds ["ms"] {1 .. 600000} , "Longest time until a commit.";
        discard: Discard [""] {} , "How freed space is discarded: none, continuous or batched.";
    }
}

section! {
    /// The page cache and what the CPU spends on it.
    pub struct PageCacheConfig in "page_cache." {
        memory_bytes: Bytes ["B"] {1048576 .. 17592186044416.0} , "Memory for cached data.";
        background_percent: f64 ["%"] {0 .. 100} , "Share of memory that is dirty when writing back begins.";
        limit_percent: f64 ["%"] {0 .. 100} , "Share of memory that is dirty when writers must wait.";
        expire_ms: Milliseconds ["ms"] {0 .. 3600000} , "Age at which dirty data is written back.";
        wake_ms: Milliseconds ["ms"] {1 .. 3600000} , "Interval at which ages are checked.";
        write_behind: bool [""] {} , "A cluster is written as soon as it is full.";
        write_request_bytes: Bytes ["B"] {512 .. 16777216} , "Cluster: the largest request that is written back.";
        in_flight_high_bytes: Bytes ["B"] {512 .. 1073741824} , "Writes under way at which submission stops.";
        in_flight_low_bytes: Bytes ["B"] {512 .. 1073741824} , "Writes under way at which submission resumes.";
        read_ahead_start_bytes: Bytes ["B"] {512 .. 16777216} , "First read-ahead of a file read from its beginning.";
        read_ahead_bytes: Bytes ["B"] {512 .. 16777216} , "Largest read-ahead, reached by doubling; also the size that a page fault reads around itself.";
        inode_read_ahead_bytes: Bytes ["B"] {512 .. 16777216} , "Inode table read at once.";
        copy_mb_per_s: f64 ["MB/s"] {1 .. 1000000} , "Rate of copying between a program and the cache.";
        call_us: Microseconds ["µs"] {0 .. 100000} , "CPU time of a call: open, read, write, delete.";
    }
}

section! {
    /// How a file system in use was filled.
    pub struct AgeConfig in "age." {
        fill: f64 [""] {0 .. 0.99} , "Share of the space in use.";
        churn: f64 [""] {0 .. 100} , "Files deleted and recreated during ageing, as a multiple of the files present.";
        system_bytes: Bytes ["B"] {0 .. 17592186044416.0} , "Space of the installed system; a scenario's files lie among its files.";
        system_file_bytes: Bytes ["B"] {1 .. 1073741824} , "Mean size of a file of the system.";
        file_bytes: Bytes ["B"] {1 .. 1073741824} , "Mean size of any other file.";
        file_sigma: f64 [""] {0 .. 5} , "Standard deviation of the logarithm of sizes.";
        directory_files: u64 [""] {1 .. 100000} , "Files of a directory.";
        extents_per_file: f64 [""] {1 .. 10000} , "Extents a file, on average, of the scenario's files, if ageing has not given more; 1 leaves them as they came to be.";
    }
}

/// A system's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    /// Layout of the file system.
    pub file_system: FileSystemConfig,
    /// Page cache.
    pub page_cache: PageCacheConfig,
    /// How it was filled.
    pub age: AgeConfig,
}

const BUILT_IN: [(&str, &str); 2] = [
    ("linux-2.6.32-ext4", include_str!("systems/linux-2.6.32-ext4.toml")),
    ("freebsd-8-ufs", include_str!("systems/freebsd-8-ufs.toml")),
];

impl System {
    /// Every parameter of a system.
    pub fn declarations() -> impl Iterator<Item = &'static Declaration> {
        [FileSystemConfig::DECLARATIONS, PageCacheConfig::DECLARATIONS, AgeConfig::DECLARATIONS].into_iter().flatten()
    }

    /// A system that comes along, with settings over it; and each value's source, for reports.
    ///
    /// # Errors
    /// An unknown name or key, or a value that is not allowed.
    pub fn read(name: &str, settings: &[(String, String)]) -> Result<(System, Entries), ScenarioError> {
        let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = BUILT_IN.iter().map(|(known, _)| *known).collect();
            return Err(ScenarioError::new(name, format!("there is no such system; there are {}", known.join(", "))));
        };
        let fail = |message: String| ScenarioError::new(name, message);
        let mut table: toml::Table = toml::from_str(text).map_err(|error| fail(error.to_string()))?;
        settings.iter().try_for_each(|(key, value)| set(&mut table, key, value))?;
        let sections: BTreeMap<String, BTreeMap<String, Sourced<toml::Value>>> =
            table.try_into().map_err(|error: toml::de::Error| fail(error.to_string()))?;
        let mut entries = Entries::default();
        for (section, values) in sections {
            entries.0.extend(values.into_iter().map(|(key, value)| (format!("{section}.{key}"), value)));
        }
        if let Some(key) = entries.0.keys().find(|key| !System::declarations().any(|known| known.key == *key)) {
            return Err(fail(format!("there is no parameter {key}")));
        }
        let system = System::from_entries(&mut entries)
            .map_err(|problem| fail(format!("{} = {}: {}", problem.key, problem.value, problem.message)))?;
        Ok((system, entries))
    }

    fn from_entries(entries: &mut Entries) -> Result<System, Problem> {
        let system = System {
            file_system: FileSystemConfig::read(entries)?,
            page_cache: PageCacheConfig::read(entries)?,
            age: AgeConfig::read(entries)?,
        };
        let (block, fragment) = (system.file_system.block_bytes.0, system.file_system.fragment_bytes.0);
        if !block.is_multiple_of(fragment) || !fragment.is_power_of_two() || !block.is_power_of_two() {
            let message = "a block is a power of two and a whole number of fragments";
            return Err(Problem::new("file_system.fragment_bytes", fragment, message));
        }
        let (low, high) = (system.page_cache.in_flight_low_bytes.0, system.page_cache.in_flight_high_bytes.0);
        if low > high {
            return Err(Problem::new("page_cache.in_flight_low_bytes", low, "at most page_cache.in_flight_high_bytes"));
        }
        Ok(system)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// The systems that come along can be read, and each of their numbers has a source.
    #[test]
    fn built_in_systems_are_whole() {
        for (name, _) in BUILT_IN {
            let (_, entries) = System::read(name, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(entries.0.len(), System::declarations().count());
            assert!(entries.0.values().all(|entry| !entry.source.is_empty()));
        }
    }

    /// A setting goes over a value; one that is unknown or out of range is refused by name.
    #[test]
    fn settings_are_read_strictly() {
        let read = |key: &str, value: &str| System::read("freebsd-8-ufs", &[(key.into(), value.into())]);
        assert_eq!(read("age.fill", "0.5").unwrap().0.age.fill, 0.5);
        assert!(read("age.fill", "1.5").unwrap_err().message.contains("must be 0 to 0.99"));
        assert!(read("age.fil", "0.5").unwrap_err().message.contains("has no such part"));
        assert!(read("ages.fill", "0.5").unwrap_err().message.contains("here are age, file_system"));
        assert!(read("file_system.fragment_bytes", "\"32 KiB\"").unwrap_err().message.contains("fragments"));
    }
}
