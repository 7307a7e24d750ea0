//! Encryption by the host's CPU, as dm-crypt or TrueCrypt do it.
//!
//! Modelled: data passes one of `cores` cores, first come, first served; a write before it goes
//! down, a read after it has come up. CPU time of a request of n bytes:
//!
//! ```text
//! request_us + ⌈n / sector_bytes⌉ · sector_us + n / mb_per_s
//! ```
//! Sectors of another size than those below are what LUKS2 offers as `--sector-size`. Ciphertext cannot be
//! compressed. A trim goes down only with `discards`; without, it is finished and the drive never
//! hears of it. Zeroes are written as any other data, since no drive can make ciphertext of zeroes. With `fill`
//! the device below was written once when the encryption was set up, as TrueCrypt does it to a whole
//! drive and guides advise for dm-crypt, so that nothing below is unmapped.
//!
//! That is dm-crypt. With `driver = "truecrypt"` requests go through the [`pipeline`] of TrueCrypt's
//! driver for Windows.
//!
//! Left out: the header (a partition below stands for its size), what else the cores have to do.

pub mod pipeline;

use super::layer::{DefaultSource, LayerConfig};
use super::stacked::{Answer, Layer, Stacked, Work};
use ssdlab_device::block::{Device, Limits, Operation, Request, Status, Tag};
use ssdlab_device::parameter::{Bytes, Microseconds, Problem};
use ssdlab_device::sim::slots::Slots;
use ssdlab_device::units::{Lba, Nanos};
use ssdlab_device::{named_choice, section};
use std::collections::VecDeque;

named_choice! {
    /// Whose way of passing requests on.
    pub enum CryptDriver {
        /// Each request by itself, on any core.
        DmCrypt = "dm-crypt",
        /// In turn, in fragments, reading ahead; a fragment on all cores.
        TrueCrypt = "truecrypt",
    }
}

section! {
    /// What encryption costs and what it lets through.
    pub struct CryptConfig in "crypt." {
        mb_per_s: f64 ["MB/s"] {1 .. 1000000} = "1950", "Rate of the cipher on one core.";
        request_us: Microseconds ["µs"] {0 .. 100000} = "9.4", "CPU time of a request besides its data: work queues, buffers.";
        sector_us: Microseconds ["µs"] {0 .. 1000} = "0", "CPU time of each encrypted sector besides its data, where mb_per_s does not hold it.";
        cores: u32 [""] {1 .. 1024} = "1", "Cores that encrypt at once: one request each, or with truecrypt one fragment on all.";
        sector_bytes: u32 ["B"] {512 .. 4096} = "512", "Unit of encryption: 512, 1024, 2048 or 4096; at least the sector of the device below.";
        discards: bool [""] {} = "false", "Trims pass (dm-crypt's allow_discards).";
        fill: bool [""] {} = "false", "The device below was filled with random data when encryption was set up.";
        driver: CryptDriver [""] {} = "\"dm-crypt\"", "How requests are passed on: dm-crypt, each by itself; truecrypt, in turn and reading ahead.";
        fragment_bytes: Bytes ["B"] {4096 .. 16777216} = "\"256 KiB\"", "With truecrypt, larger requests are cut into pieces of this size.";
    }
}

/// Where the defaults come from.
const SOURCES: &[DefaultSource] = &[
    (
        "crypt.mb_per_s",
        "published",
        "cryptsetup benchmark, aes-xts 256b: 1823.1 and 1900.3 MiB/s; Cloudflare, Speeding up Linux disk encryption, 2020",
    ),
    (
        "crypt.request_us",
        "published",
        "4 KiB at depth 1 on a RAM disk: 302,044 KiB/s encrypted, 2,252.6 MiB/s plain, less the cipher's 2.1 µs; Cloudflare, Speeding up Linux disk encryption, 2020",
    ),
    ("crypt.sector_bytes", "published", "cryptsetup-luksFormat(8): 512 unless the device below has larger sectors"),
    ("crypt.discards", "published", "cryptsetup-open(8): not allowed unless --allow-discards"),
    (
        "crypt.driver",
        "published",
        "truecrypt: the driver's source, EncryptedIoQueue.c (2009): one thread reads and writes, and reads ahead; release notes of TrueCrypt 6.2, May 2009",
    ),
    ("crypt.fragment_bytes", "published", "TrueCrypt's EncryptedIoQueue.h (2009): at most 256 KiB a fragment"),
];

/// Bytes of one write while the device below is filled.
const FILL_BYTES: u64 = 1 << 20;

impl LayerConfig for CryptConfig {
    fn sources(&self) -> Vec<DefaultSource> {
        SOURCES.to_vec()
    }

    fn build(&self, mut below: Vec<Box<dyn Device>>) -> Result<Box<dyn Device>, Problem> {
        let below = below.remove(0);
        Ok(match self.driver {
            CryptDriver::DmCrypt => Box::new(new(self, below)?),
            CryptDriver::TrueCrypt => Box::new(pipeline::new(self, below)?),
        })
    }
}

/// Encryption over a device, each request by itself.
///
/// # Errors
/// A sector that is no power of two, smaller than that of the device below, or does not divide it.
pub fn new(config: &CryptConfig, below: Box<dyn Device>) -> Result<Stacked<Crypt>, Problem> {
    let crypt = Crypt {
        cipher: Cipher::new(config, below.limits())?,
        busy: 0,
        waiting: VecDeque::new(),
        under_way: Slots::default(),
        cpu: Nanos::ZERO,
        kept: 0,
    };
    Ok(Stacked::new(crypt, vec![below]))
}

/// What encryption does to a request, whoever passes it on.
#[derive(Clone)]
struct Cipher {
    config: CryptConfig,
    /// Sectors below of one encrypted sector.
    scale: u32,
}

impl Cipher {
    fn new(config: &CryptConfig, below: &Limits) -> Result<Cipher, Problem> {
        let sector = config.sector_bytes;
        let problem = |message: String| Err(Problem::new("crypt.sector_bytes", sector, message));
        if !sector.is_power_of_two() {
            return problem("an encrypted sector has 512, 1024, 2048 or 4096 bytes".into());
        }
        if !sector.is_multiple_of(below.sector_bytes) {
            return problem(format!("the device below has sectors of {} B; give a multiple", below.sector_bytes));
        }
        Ok(Cipher { config: config.clone(), scale: sector / below.sector_bytes })
    }

    /// A request as it goes down.
    fn below(&self, request: Request) -> Request {
        let operation = match request.operation {
            Operation::WriteZeroes => Operation::Write,
            other => other,
        };
        Request {
            operation,
            lba: self.below_lba(request.lba),
            sectors: request.sectors * self.scale,
            compress_percent: 0,
            ..request
        }
    }

    fn below_lba(&self, lba: Lba) -> Lba {
        Lba(lba.0 * u64::from(self.scale))
    }

    /// The drive never hears of this request.
    fn keeps(&self, request: &Request) -> bool {
        request.operation == Operation::Trim && !self.config.discards
    }

    /// Bytes of a request as it arrives.
    fn bytes(&self, request: &Request) -> u64 {
        u64::from(request.sectors) * u64::from(self.config.sector_bytes)
    }

    /// CPU time of so many bytes on so many cores.
    fn time(&self, bytes: u64, cores: u32) -> Nanos {
        let sectors = bytes / u64::from(self.config.sector_bytes);
        let data = Nanos::of_transfer(bytes, self.config.mb_per_s * f64::from(cores));
        self.config.request_us.0 + Nanos(self.config.sector_us.0.0 * sectors / u64::from(cores)) + data
    }

    fn limits(&self, below: &Limits) -> Limits {
        let discard_granularity_bytes = match self.config.discards && below.discard_granularity_bytes > 0 {
            true => below.discard_granularity_bytes.max(self.config.sector_bytes),
            false => 0,
        };
        let (sector_bytes, sectors) = (self.config.sector_bytes, below.sectors / u64::from(self.scale));
        Limits { sector_bytes, sectors, discard_granularity_bytes, ..below.clone() }
    }

    fn apply_now(&self, request: Request, work: &mut Work) -> Status {
        if self.keeps(&request) {
            return Status::Success;
        }
        work.apply_now(0, self.below(request))
    }

    /// Fills the device below, where it was filled when encryption was set up.
    fn prepare_now(&self, work: &mut Work) {
        if !self.config.fill {
            return;
        }
        let limits = work.limits_of(0).clone();
        let step = FILL_BYTES / u64::from(limits.sector_bytes);
        for lba in (0..limits.sectors).step_by(step as usize) {
            let sectors = step.min(limits.sectors - lba) as u32;
            work.apply_now(0, Request::new(Operation::Write, Lba(lba), sectors));
        }
        work.apply_now(0, Request::new(Operation::Flush, Lba(0), 0));
    }
}

/// Encryption at work.
pub struct Crypt {
    cipher: Cipher,
    /// Cores at work.
    busy: u32,
    /// Requests that wait for a core.
    waiting: VecDeque<u32>,
    under_way: Slots<UnderWay>,
    /// CPU time spent.
    cpu: Nanos,
    /// Bytes trimmed above that did not pass.
    kept: u64,
}

#[derive(Clone, Copy)]
struct UnderWay {
    tag: Tag,
    /// As it goes down.
    request: Request,
}

impl Crypt {
    /// CPU time of a request as it goes down.
    fn cpu_time(&self, request: &Request) -> Nanos {
        let sectors = u64::from(request.sectors / self.cipher.scale);
        self.cipher.time(sectors * u64::from(self.cipher.config.sector_bytes), 1)
    }

    fn finish(&mut self, index: u32, status: Status, work: &mut Work) {
        work.finish(self.under_way.remove(index).tag, status);
    }

    /// Gives idle cores what has waited longest.
    fn start_cores(&mut self, work: &mut Work) {
        while self.busy < self.cipher.config.cores
            && let Some(index) = self.waiting.pop_front()
        {
            let time = self.cpu_time(&self.under_way.get(index).request);
            self.busy += 1;
            self.cpu += time;
            work.wake_at(work.now() + time, u64::from(index));
        }
    }
}

impl Layer for Crypt {
    fn name(&self) -> String {
        "crypt".into()
    }

    fn limits(&self, below: &[Limits]) -> Limits {
        self.cipher.limits(&below[0])
    }

    fn begin(&mut self, tag: Tag, request: Request, work: &mut Work) {
        if self.cipher.keeps(&request) {
            self.kept += self.cipher.bytes(&request);
            return work.finish(tag, Status::Success);
        }
        let request = self.cipher.below(request);
        let index = self.under_way.insert(UnderWay { tag, request });
        match request.operation {
            Operation::Write => {
                self.waiting.push_back(index);
                self.start_cores(work);
            }
            _ => work.ask(0, request, u64::from(index)),
        }
    }

    fn answered(&mut self, answer: Answer, work: &mut Work) {
        let index = answer.token as u32;
        if answer.request.operation == Operation::Read && answer.status == Status::Success {
            self.waiting.push_back(index);
            return self.start_cores(work);
        }
        self.finish(index, answer.status, work);
    }

    fn woken(&mut self, token: u64, work: &mut Work) {
        self.busy -= 1;
        let request = self.under_way.get(token as u32).request;
        match request.operation {
            Operation::Write => work.ask(0, request, token),
            _ => self.finish(token as u32, Status::Success, work),
        }
        self.start_cores(work);
    }

    fn apply_now(&mut self, request: Request, work: &mut Work) -> Status {
        self.cipher.apply_now(request, work)
    }

    fn prepare_now(&mut self, work: &mut Work) {
        self.cipher.prepare_now(work);
    }

    fn lose_power(&mut self) {
        self.busy = 0;
        self.waiting.clear();
        self.under_way.clear();
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![("cpu_ns", self.cpu.0), ("trimmed_bytes_kept", self.kept)]
    }

    fn below_of(&self, lba: Lba) -> Option<(usize, Lba)> {
        Some((0, self.cipher.below_lba(lba)))
    }
}

#[cfg(test)]
mod test;
