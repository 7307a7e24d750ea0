//! Parameters of the flash translation layer.

use crate::named_choice;
use crate::parameter::{Bytes, Microseconds, Milliseconds, Raw, Value};
use crate::section;

/// A policy in a shared library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryPolicy {
    /// The library, from the root.
    pub path: String,
    /// What it is told; may be empty.
    pub argument: String,
}

/// A policy that is a function of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionPolicy {
    /// The number that it was registered by.
    pub number: u32,
    /// What it is called.
    pub name: String,
}

/// Which victim garbage collection takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GcPolicy {
    /// The block with the fewest valid pages.
    Greedy,
    /// The block sealed longest ago.
    Fifo,
    /// Any sealed block.
    Random,
    /// The best of so many blocks drawn at random.
    DChoices(u32),
    /// The greatest benefit (1 − u)·age / (1 + u), u the valid share (Rosenblum and Ousterhout 1992).
    CostBenefit,
    /// One of the user's own.
    Library(LibraryPolicy),
    /// One that the program has registered.
    Function(FunctionPolicy),
}

impl GcPolicy {
    /// It does not come along.
    pub fn is_foreign(&self) -> bool {
        matches!(self, GcPolicy::Library(_) | GcPolicy::Function(_))
    }
}

/// `PATH.so` or `PATH.so:ARGUMENT`.
fn read_library(text: &str) -> Option<GcPolicy> {
    let end = text.find(".so:").or_else(|| text.ends_with(".so").then(|| text.len() - 3))? + 3;
    let path = std::path::absolute(&text[..end]).ok()?.to_str()?.to_string();
    let argument = text[end..].strip_prefix(':').unwrap_or_default().to_string();
    Some(GcPolicy::Library(LibraryPolicy { path, argument }))
}

/// `function:NUMBER:NAME`.
fn read_function(text: &str) -> Option<GcPolicy> {
    let (number, name) = text.strip_prefix("function:")?.split_once(':')?;
    Some(GcPolicy::Function(FunctionPolicy { number: number.parse().ok()?, name: name.to_string() }))
}

impl Value for GcPolicy {
    const EXPECTS: &'static str = "one of \"greedy\" \"fifo\" \"random\" \"d-choices:N\" (N from 1) \"cost-benefit\", or a library of your own \"PATH.so\"";

    fn read(raw: &Raw) -> Option<GcPolicy> {
        let Raw::Text(text) = raw else { return None };
        match text.as_str() {
            "greedy" => Some(GcPolicy::Greedy),
            "fifo" => Some(GcPolicy::Fifo),
            "random" => Some(GcPolicy::Random),
            "cost-benefit" => Some(GcPolicy::CostBenefit),
            other => {
                let Some(choices) = other.strip_prefix("d-choices:") else {
                    return read_function(other).or_else(|| read_library(other));
                };
                let choices = choices.parse().ok()?;
                (1..=1_000_000).contains(&choices).then_some(GcPolicy::DChoices(choices))
            }
        }
    }

    fn show(&self) -> String {
        match self {
            GcPolicy::Greedy => "greedy".into(),
            GcPolicy::Fifo => "fifo".into(),
            GcPolicy::Random => "random".into(),
            GcPolicy::DChoices(choices) => format!("d-choices:{choices}"),
            GcPolicy::CostBenefit => "cost-benefit".into(),
            GcPolicy::Library(LibraryPolicy { path, argument }) if argument.is_empty() => path.clone(),
            GcPolicy::Library(LibraryPolicy { path, argument }) => format!("{path}:{argument}"),
            // The number is another in the next process.
            GcPolicy::Function(function) => format!("function {}", function.name),
        }
    }
}

named_choice! {
    /// Where the host writes and where collection writes.
    pub enum Frontiers {
        /// One open block a die: a victim is collected into it and the host fills its rest.
        Single = "single",
        /// Two open blocks a die, one for the host and one for collection.
        HostGc = "host-gc",
    }
}

named_choice! {
    /// What is reclaimed at once.
    pub enum Striping {
        /// Each die erases its own blocks.
        PerDie = "per-die",
        /// The blocks of the same number on all dies, or on so many of them, are one superblock, reclaimed together.
        Superblock = "superblock",
    }
}

named_choice! {
    /// Which blocks over-provisioning counts.
    pub enum SpareCounts {
        /// Everything physical, as a datasheet does.
        All = "all",
        /// Only blocks that take part in garbage collection; those that must stay free come on top.
        Collected = "collected",
    }
}

named_choice! {
    /// How collection shares a die with the host.
    pub enum GcPace {
        /// A started collection runs to its end before the die takes host writes again.
        Batch = "batch",
        /// Moves are spread between host writes in the proportion that the victim asks for.
        Smooth = "smooth",
    }
}

named_choice! {
    /// Blocks used with one bit a cell to take writes fast.
    pub enum SlcCache {
        /// None.
        None = "none",
        /// A fixed number of blocks, beyond the exported capacity, emptied in idle time.
        Static = "static",
        /// Free blocks, as long as there are enough, beside a fixed part; shrinks as the drive fills.
        Dynamic = "dynamic",
    }
}

section! {
    /// Mapping, reclaim, wear levelling.
    pub struct FtlConfig in "ftl." {
        mapping_unit_bytes: Option<Bytes> ["B"] {512 .. 1048576} = "\"none\"", "Bytes that one map entry covers; may be smaller or larger than a page; none means a page.";
        mapping_cache_bytes: Option<Bytes> ["B"] {4096 .. 1099511627776.0} = "\"none\"", "RAM for a demand-cached map (4 B an entry); with none the whole map is in RAM.";
        striping: Striping [""] {} = "\"per-die\"", "Per-die blocks or superblocks over dies.";
        superblock_dies: Option<u32> [""] {1 .. 1024} = "\"none\"", "Dies that a superblock spans, neighbours in number; with none all dies.";
        gc: GcPolicy [""] {} = "\"greedy\"", "Policy that chooses the victim of garbage collection.";
        frontiers: Frontiers [""] {} = "\"host-gc\"", "Open blocks of a die: one, or one for the host and one for collection.";
        gc_low_blocks: u32 [""] {1 .. 1000} = "2", "Foreground collection starts when a die has this many free blocks or fewer.";
        gc_high_blocks: u32 [""] {1 .. 1000} = "3", "Foreground collection stops when a die has this many free blocks.";
        gc_pace: GcPace [""] {} = "\"batch\"", "Collection runs in one go, or is spread between host writes.";
        idle_gc_after_ms: Option<Milliseconds> ["ms"] {0 .. 1000000000} = "\"none\"", "Idle time after which collection starts by itself.";
        idle_gc_blocks: u32 [""] {1 .. 100000} = "8", "Free blocks of a die at which idle-time collection stops.";
        dynamic_wear_leveling: bool [""] {} = "true", "The free block with the fewest erases is opened next; else the one freed first.";
        static_wear_cycles: Option<u32> [""] {1 .. 1000000} = "\"none\"", "Difference in erases at which cold data is moved out of the least worn block.";
        map_journal: bool [""] {} = "false", "A flush also writes a page of the map's journal, where something has changed and the power-loss protection does not stand in.";
        parity_stripe_pages: Option<u32> [""] {2 .. 4096} = "\"none\"", "Pages in a stripe across the dies, one of which is parity; with none there is no parity.";
        map_log_entry_bytes: f64 ["B"] {0 .. 4096} = "0", "Bytes that the drive logs for each map entry that changes, checkpoints included; with 0 nothing is logged.";
        move_unit_us: Microseconds ["µs"] {0 .. 1000} = "0", "Die time of each moved unit besides its read and program, such as error correction.";
        trim: bool [""] {} = "true", "Trims unmap; false: a trim completes and nothing happens, as on drives older than the command.";
        trim_granularity_bytes: Option<Bytes> ["B"] {512 .. 1073741824} = "\"none\"", "Aligned bytes that a trim must cover to have an effect; none means the mapping unit.";
        spare_counts: SpareCounts [""] {} = "\"all\"", "Whether over_provisioning counts all physical blocks or only those that are collected.";
        slc_cache: SlcCache [""] {} = "\"none\"", "Kind of SLC cache: blocks that are first written with one bit per cell.";
        slc_cache_bytes: Bytes ["B"] {0 .. 1099511627776.0} = "0", "Maximum data in the SLC cache.";
        slc_fold_at: Option<f64> [""] {0 .. 1} = "\"none\"", "Share of the SLC cache from which on it is folded while the host writes; with none only when free blocks are short, or in idle time.";
        slc_cache_fixed_bytes: Bytes ["B"] {0 .. 1099511627776.0} = "0", "Part of a dynamic SLC cache that has blocks of its own, as a static one.";
    }
}

impl FtlConfig {
    /// Collection keeps pace with the host's writes; with a single frontier there is no pace to keep.
    pub fn is_smooth(&self) -> bool {
        self.gc_pace == GcPace::Smooth && self.frontiers == Frontiers::HostGc
    }
}
