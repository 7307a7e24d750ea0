//! Parameters of an array: its shape, what it costs, its cache, and the work in the background.
//!
//! Software (Linux md) and a controller are one model with two tables of costs: a key that is not
//! given takes its value from the table of its kind, where its source stands.

use ssdlab_device::parameter::{Bytes, Declaration, Microseconds, Milliseconds, Problem, Raw, Source, Value};
use ssdlab_device::{named_choice, section};

/// How data and redundancy are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaidLevel {
    /// Striped, no redundancy.
    Raid0,
    /// Mirrored.
    Raid1,
    /// Striped with one parity.
    Raid5,
    /// Striped with two parities.
    Raid6,
    /// Striped over mirrored chunks.
    Raid10,
}

impl RaidLevel {
    const ALL: [(RaidLevel, &'static str); 5] = [
        (RaidLevel::Raid0, "0"),
        (RaidLevel::Raid1, "1"),
        (RaidLevel::Raid5, "5"),
        (RaidLevel::Raid6, "6"),
        (RaidLevel::Raid10, "10"),
    ];

    /// Parity members.
    pub fn parities(self) -> usize {
        match self {
            RaidLevel::Raid5 => 1,
            RaidLevel::Raid6 => 2,
            _ => 0,
        }
    }
}

impl Value for RaidLevel {
    const EXPECTS: &'static str = "one of 0, 1, 5, 6, 10";

    fn read(raw: &Raw) -> Option<RaidLevel> {
        let text = match raw {
            Raw::Integer(number) => number.to_string(),
            Raw::Text(text) => text.clone(),
            _ => return None,
        };
        Self::ALL.iter().find(|(_, name)| *name == text).map(|(level, _)| *level)
    }

    fn show(&self) -> String {
        Self::ALL.iter().find(|(level, _)| level == self).map_or_else(String::new, |(_, name)| (*name).into())
    }
}

/// Members by number, such as those that have failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members(pub Vec<u32>);

impl Value for Members {
    const EXPECTS: &'static str = "\"none\", or members counted from 0, such as 1, \"0+2\" or [0, 2]";

    fn read(raw: &Raw) -> Option<Members> {
        match raw {
            Raw::Integer(number) => u32::try_from(*number).ok().map(|member| Members(vec![member])),
            Raw::Text(text) if text == "none" => Some(Members::default()),
            Raw::Text(text) => text.split('+').map(|part| part.trim().parse().ok()).collect::<Option<_>>().map(Members),
            Raw::List(items) => items.iter().map(u32::read).collect::<Option<_>>().map(Members),
            _ => None,
        }
    }

    fn show(&self) -> String {
        if self.0.is_empty() {
            return "none".into();
        }
        self.0.iter().map(u32::to_string).collect::<Vec<_>>().join("+")
    }
}

named_choice! {
    /// Who runs the array.
    pub enum RaidKind {
        /// The host: Linux md.
        Software = "software",
        /// A controller with a processor and memory of its own.
        Controller = "controller",
    }
}

named_choice! {
    /// Where parity lies from stripe to stripe, by md's names.
    pub enum ParityLayout {
        /// Parity moves to the left, data begins after it.
        LeftSymmetric = "left-symmetric",
        /// Parity moves to the left, data keeps its order.
        LeftAsymmetric = "left-asymmetric",
        /// Parity moves to the right, data begins after it.
        RightSymmetric = "right-symmetric",
        /// Parity moves to the right, data keeps its order.
        RightAsymmetric = "right-asymmetric",
    }
}

named_choice! {
    /// When more is read than was asked for.
    pub enum ReadAheadPolicy {
        /// Never.
        Never = "none",
        /// Once two reads in a row followed each other.
        Adaptive = "adaptive",
        /// After every read that was not in the cache.
        Always = "always",
    }
}

named_choice! {
    /// Whether all of the array is read and compared.
    pub enum Scrub {
        /// No.
        Off = "none",
        /// Mismatches are counted.
        Check = "check",
        /// They are also mended: parity from data, copies from the first.
        Repair = "repair",
    }
}

section! {
    /// An array.
    pub struct RaidConfig in "raid." {
        preset: RaidKind [""] {} = "\"software\"",
            "Who runs the array; sets the costs of the keys that are not given.";
        level: RaidLevel [""] {},
            "RAID level.";
        disks: u32 [""] {2..64},
            "Number of members.";
        chunk_bytes: Bytes ["B"] {512..67108864},
            "Bytes that lie together on one member (chunk, strip); not used by RAID 1.";
        layout: ParityLayout [""] {} = "\"left-symmetric\"",
            "Where parity lies, RAID 5 and 6; RAID 10 always has md's near layout with two copies.";
        page_bytes: Bytes ["B"] {512..1048576} = "\"4 KiB\"",
            "Unit in which stripes are read and written where parity must be kept right.";
        latency_us: Microseconds ["us"] {0..10000},
            "Time added to every request.";
        request_us: Microseconds ["us"] {0..10000},
            "Time of the one processor that takes requests, for each of them.";
        fast_path_us: Option<Microseconds> ["us"] {0..10000},
            "The same for a read that fits in a chunk, while nothing is cached, read ahead, lost or in the background.";
        host_mb_per_s: Option<f64> ["MB/s"] {1..1000000},
            "Rate of the link between host and controller, in each direction; with none, data cross it in no time.";
        thread_request_us: Microseconds ["us"] {0..10000},
            "Time of the array's one thread for each copy written, and for each page read or written in a stripe.";
        parity_mb_per_s: f64 ["MB/s"] {1..1000000},
            "Rate at which that thread computes parity, counting what goes in.";
        batch_prereads: bool [""] {},
            "Stripes that must be read first begin together, when those before have been read.";
        rotational: bool [""] {} = "false",
            "Members are hard disks: mirrors are read where a head is nearest.";
        cache_bytes: Bytes ["B"] {0..1.1e12},
            "Memory for writes and for what was read ahead.";
        cache_line_bytes: Bytes ["B"] {512..16777216} = "\"64 KiB\"",
            "Unit of that memory; with parity it is destaged whole.";
        write_back: bool [""] {} = "false",
            "Writes are acknowledged from the cache, also without a battery.";
        battery: bool [""] {} = "true",
            "The cache survives a power cut.";
        destage_share: f64 [""] {0..1} = "0.5",
            "Share of the cache that may be dirty before it is destaged.";
        flush_ms: Milliseconds ["ms"] {0..3600000} = "4000",
            "How long a write may stay in the cache before it is destaged.";
        destages: u32 [""] {1..4096} = "32",
            "Stripes that are destaged at a time.";
        read_ahead: ReadAheadPolicy [""] {} = "\"none\"",
            "When more is read than was asked for.";
        read_ahead_bytes: Bytes ["B"] {512..16777216} = "\"256 KiB\"",
            "How far.";
        passes_trim: bool [""] {},
            "TRIM reaches the members; of RAID 5 and 6 only whole stripes.";
        discards_zero: bool [""] {} = "false",
            "Members are known to read as zeroes after TRIM: without it none passes through RAID 5 and 6.";
        failed: Members [""] {} = "\"none\"",
            "Members that have failed.";
        rebuild: bool [""] {} = "false",
            "Failed members are replaced, and rebuilt from the first request on.";
        scrub: Scrub [""] {} = "\"none\"",
            "The array is read and compared from the first request on.";
        sync_max_mb_per_s: f64 ["MB/s"] {0.001..100000},
            "Rate of a rebuild or scrub, of each member, while no request waits.";
        sync_min_mb_per_s: f64 ["MB/s"] {0.001..100000},
            "The same while requests wait.";
    }
}

/// What a key costs in one kind of array.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Dotted key.
    pub key: &'static str,
    /// Value as TOML.
    pub value: &'static str,
    /// `published` or `assumed`.
    pub kind: &'static str,
    /// Who says so.
    pub source: &'static str,
}

const fn cost(key: &'static str, value: &'static str, kind: &'static str, source: &'static str) -> Cost {
    Cost { key, value, kind, source }
}

/// Linux md of 2012 to 2014.
const SOFTWARE: [Cost; 12] = [
    cost("raid.chunk_bytes", "\"512 KiB\"", "published", "mdadm(8): default chunk since mdadm 3.1"),
    cost("raid.latency_us", "0", "assumed", "nothing beyond the CPU time of request_us"),
    cost("raid.request_us", "1", "assumed", "a few thousand instructions of block layer and md a request"),
    cost("raid.fast_path_us", "\"none\"", "assumed", "md has no other path"),
    cost("raid.host_mb_per_s", "\"none\"", "assumed", "md is the host: members move the data of direct I/O themselves"),
    cost(
        "raid.thread_request_us",
        "2.2",
        "published",
        "S. Li, linux-raid 2012 (msg39330): one raid5 thread cannot handle 450 000 requests a second",
    ),
    cost("raid.parity_mb_per_s", "10000", "assumed", "order of what x86 kernels print at boot for xor with AVX"),
    cost(
        "raid.batch_prereads",
        "true",
        "published",
        "Linux raid5.c: delayed stripes are activated together when fewer than IO_THRESHOLD = 1 are being read first",
    ),
    cost("raid.cache_bytes", "0", "published", "md acknowledges a write when the members have it"),
    cost("raid.passes_trim", "true", "published", "Linux 3.7: md passes discards on"),
    cost("raid.sync_max_mb_per_s", "204.8", "published", "Linux md.c: speed_limit_max 200 000 KiB/s"),
    cost("raid.sync_min_mb_per_s", "1.024", "published", "Linux md.c: speed_limit_min 1000 KiB/s"),
];

/// A PCIe controller for SATA and SAS of 2012 to 2014, of LSI's MegaRAID kind.
const CONTROLLER: [Cost; 12] = [
    cost(
        "raid.chunk_bytes",
        "\"64 KiB\"",
        "published",
        "Avago MegaRAID SAS 9341 driver guide, 2015: default strip size",
    ),
    cost("raid.latency_us", "25", "assumed", "two passes through firmware and one more bus; not published"),
    cost("raid.request_us", "5", "assumed", "half of the fast path's rate, see there"),
    cost(
        "raid.fast_path_us",
        "2.5",
        "assumed",
        "400 000 requests a second; Electronic Design on LSI's 9260-8i: FastPath makes SSD arrays almost twice as fast",
    ),
    cost(
        "raid.host_mb_per_s",
        "7877",
        "published",
        "LSI MegaRAID SAS 9361-8i: PCI Express 3.0 with eight lanes; 8 GT/s a lane, 128 of 130 bits",
    ),
    cost("raid.thread_request_us", "5", "assumed", "like a request: firmware handles each command to a member"),
    cost("raid.parity_mb_per_s", "4000", "assumed", "XOR engine beside a memory of 1866 MT/s; not published"),
    cost("raid.batch_prereads", "false", "assumed", "not published"),
    cost("raid.cache_bytes", "\"1 GiB\"", "published", "LSI MegaRAID SAS 9361-8i: 1 GB of DDR3"),
    cost("raid.passes_trim", "false", "published", "Thomas-Krenn e-book on SSDs, ch. 2: controllers do not pass TRIM"),
    cost("raid.sync_max_mb_per_s", "200", "assumed", "as md"),
    cost("raid.sync_min_mb_per_s", "30", "assumed", "rebuild rate of 30 % is MegaRAID's default; taken of 100 MB/s"),
];

impl RaidKind {
    /// The table of costs.
    pub fn costs(self) -> &'static [Cost] {
        match self {
            RaidKind::Software => &SOFTWARE,
            RaidKind::Controller => &CONTROLLER,
        }
    }

    /// What a key costs, where the table says.
    pub fn cost(self, key: &str) -> Option<&'static Cost> {
        self.costs().iter().find(|cost| cost.key == key)
    }
}

/// Reads an array's parameters; what is not given comes from the costs of its kind.
///
/// # Errors
/// The first parameter that is missing, of the wrong type or out of range.
pub fn read(source: &mut dyn Source) -> Result<RaidConfig, Problem> {
    RaidConfig::read(&mut WithCosts { source, kind: RaidKind::Software })
}

/// Fills in defaults by kind, which is the first key that is read.
struct WithCosts<'a> {
    source: &'a mut dyn Source,
    kind: RaidKind,
}

impl Source for WithCosts<'_> {
    fn get(&mut self, declaration: &Declaration) -> Result<Raw, Problem> {
        let default = self.kind.cost(declaration.key).map(|cost| cost.value).or(declaration.default);
        let raw = self.source.get(&Declaration { default, ..*declaration })?;
        if declaration.key == "raid.preset" {
            self.kind = RaidKind::read(&raw).unwrap_or(self.kind);
        }
        Ok(raw)
    }
}
