//! A drive in a folder that is served to other programs: the handle by which Python asks and steers it.

use crate::drive::open;
use crate::mend;
use crate::perform::{own_jobs, prepare};
use crate::request_of;
use crate::watch::{Callback, Watch};
use pyo3::prelude::*;
use serde_json::{Value, json};
use ssdlab_device::parameter::Value as _;
use ssdlab_device::ssd::admin::StartOver;
use ssdlab_disk::aging::Aging;
use ssdlab_disk::folder::{FolderMedium, Source};
use ssdlab_disk::power::{Fault, Faults};
use ssdlab_disk::{Cut, Disk, Durable, Lba, Nanos, Operation};
use ssdlab_lab::in_folder::{InFolder, InFolderError};
use ssdlab_lab::log_folder::open_logged;
use ssdlab_serve::brake::Injected;
use ssdlab_serve::clock::Pace;
use ssdlab_serve::latency::{Latencies, Summary};
use ssdlab_serve::nvme::facts::Identity;
use ssdlab_serve::offer::Name;
use ssdlab_serve::server::{self, Options, Stats};
use ssdlab_serve::socket::Address;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Makes a folder with the drive of a request, in its condition, and the bytes of a raw image or zeroes.
#[pyfunction]
pub fn make_folder(
    py: Python<'_>,
    request_json: &str,
    folder: PathBuf,
    image: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let request = request_of(request_json)?;
    let callback = Callback::new(progress);
    let jobs = own_jobs(&request, &callback)?;
    py.detach(|| {
        let mut session = open(&request)?;
        session.check_can_be_kept().map_err(mend)?;
        prepare(&mut session, &request, &jobs, &mut Watch::new(callback))?;
        session.to_folder(&folder, &Source { image }).map_err(mend)
    })
}

/// A drive that is served.
#[pyclass(frozen)]
pub struct Server(Arc<Served>);

struct Served {
    server: server::Server<FolderMedium>,
    /// Until it has been stopped.
    kept: Mutex<Option<InFolder>>,
    durable: Durable,
}

/// Where: `unix` and a path, or `tcp` and an address with its port.
type Place = (String, String);

/// Addresses with their ports, and model, serial number, firmware revision and qualified name of the drive.
type Nvme = (Vec<String>, (String, String, String, String));

#[pymethods]
impl Server {
    /// Opens the drive of a folder and serves it, over NBD and, if wanted, over NVMe; `pace` is a factor, or nothing for as fast as it is computed. What is
    /// done to it goes into a new folder `log`, if there is one.
    #[new]
    fn new(
        py: Python<'_>,
        folder: PathBuf,
        places: (Vec<Place>, Option<Nvme>),
        others_may_reach_it: bool,
        pace: Option<f64>,
        durable_host: bool,
        log: Option<PathBuf>,
    ) -> PyResult<Server> {
        let (places, nvme) = places;
        let addresses = places.into_iter().map(|place| address(&place)).collect::<PyResult<Vec<_>>>()?;
        let nvme = nvme.map(of_nvme).transpose()?;
        py.detach(|| {
            let (kept, disk) = match log {
                None => InFolder::open(&folder).map_err(mend)?,
                Some(log) => open_logged(&folder, &log).map_err(mend)?,
            };
            let durable = if durable_host { Durable::Host } else { Durable::Process };
            let disk = disk.durable(durable);
            let description = format!("{}, simulated by ssdlab", kept.about.profile.title);
            let name = Name { description, ..Name::default() };
            let pace = pace.map_or(Pace::Off, Pace::Factor);
            let nvme = nvme.map(|nvme| server::Nvme { folder: Some(folder.clone()), ..nvme });
            let options = Options { addresses, nvme, others_may_reach_it, pace, name, ..Options::default() };
            let server = server::Server::start(disk, options).map_err(mend)?;
            let served = Arc::new(Served { server, kept: Mutex::new(Some(kept)), durable });
            let weak = Arc::downgrade(&served);
            served.server.on_start_over(Box::new(move |how, passes| {
                let served = weak.upgrade().ok_or("The server has ended.")?;
                served.start_over(how, passes).map_err(|error| error.to_string())
            }));
            Ok(Server(served))
        })
    }

    /// Where clients find it: `unix` or `tcp`, and the place.
    fn places(&self) -> Vec<Place> {
        self.0.server.addresses().iter().map(place).collect()
    }

    /// Where NVMe hosts find it: addresses over TCP.
    fn nvme_places(&self) -> Vec<String> {
        self.0.server.nvme_addresses().iter().map(|address| place(address).1).collect()
    }

    /// What it is like and what it has done, as JSON.
    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let mut told = self.0.with_disk(false, |kept, disk| {
                let mut told = kept.about.stats(disk);
                let limits = disk.limits();
                told["capacity_bytes"] = json!(limits.capacity_bytes());
                told["sector_bytes"] = json!(limits.sector_bytes);
                told["volatile"] = json!(limits.volatile_cache);
                told["now_ns"] = json!(disk.now().0);
                told["poison"] = json!(disk.poison());
                told["log_error"] = json!(disk.log_error());
                Ok(told)
            })?;
            if let Value::Object(told) = &mut told {
                told.extend(of_server(&self.0.server.stats()));
                let Injected { latency, left, hangs } = self.0.server.injected();
                let injected = json!({ "latency_ns": latency.as_nanos() as u64, "left": left, "hangs": hangs });
                told.insert("injected".into(), injected);
                let [read, write] = self.0.server.latencies().map(|latencies| summary(&latencies));
                told.insert("latency".into(), json!({ "read": read, "write": write }));
            }
            Ok(told.to_string())
        })
    }

    /// The power fails, and stays away; what that took, as JSON.
    fn power_cut(&self, py: Python<'_>, seed: u64) -> PyResult<String> {
        py.detach(|| {
            let (sector_bytes, at) =
                self.0.server.with_disk(|disk| (disk.limits().sector_bytes, disk.now())).map_err(mend)?;
            let cut = self.0.server.power_cut(seed).map_err(mend)?;
            Ok(told(&cut, u64::from(sector_bytes), seed, at).to_string())
        })
    }

    /// The power comes back.
    fn power_on(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.server.power_on().map_err(mend))
    }

    /// Keeps what the drive is like, as soon as nothing is under way.
    fn checkpoint(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.with_disk(true, |kept, disk| kept.checkpoint(disk)))
    }

    /// What goes wrong at cuts from now on; what came before is no longer known to such faults that were not armed.
    fn arm(&self, py: Python<'_>, faults: Vec<String>) -> PyResult<()> {
        let faults = faults.iter().map(|name| name.parse::<Fault>()).collect::<Result<Faults, _>>().map_err(mend)?;
        py.detach(|| self.0.server.with_disk(|disk| disk.arm(faults)).map_err(mend))
    }

    /// Keeps a copy of the drive under a name, as soon as nothing is under way.
    fn snapshot(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        py.detach(|| {
            self.0.server.keep_past().map_err(mend)?;
            self.0.with_disk(true, |kept, disk| kept.snapshot(disk, name))
        })
    }

    /// The drive is what a copy has; who was connected has lost it.
    fn restore(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        py.detach(|| {
            self.0.server.power_cut(0).map_err(mend)?;
            let restored = self.0.with_disk(false, |kept, disk| {
                let restored = kept.restore(name)?.durable(self.0.durable);
                disk.end_log("the drive was restored from a snapshot");
                *disk = restored;
                Ok(())
            });
            let restored = restored.and_then(|()| self.0.server.recall_past().map_err(mend));
            self.0.server.power_on().map_err(mend)?;
            restored
        })
    }

    /// Starts over and keeps that; gives the time that it takes, in nanoseconds.
    fn erase(&self, py: Python<'_>, how: &str) -> PyResult<u64> {
        let how = StartOver::read(&ssdlab_device::parameter::Raw::Text(how.into()))
            .ok_or_else(|| mend(format!("erase {how}: expected {}", StartOver::EXPECTS)))?;
        py.detach(|| self.0.start_over(how, 1).map(|took| took.0))
    }

    /// It has lived before, as the words of [`Aging`] say, and up to so many percent of its rated erases; that is kept.
    fn age(&self, py: Python<'_>, words: &str, used_percent: Option<u32>) -> PyResult<()> {
        let aging: Aging = words.parse().map_err(|_| mend(format!("age {words}: is no ageing")))?;
        py.detach(|| {
            self.0.with_disk(true, |kept, disk| {
                // What its buffer holds a drive that goes read-only could not program any more.
                kept.checkpoint(disk)?;
                let cycles = used_percent.map(|percent| disk.ssd().cycles_until(percent)).or(aging.cycles);
                disk.age(&Aging { cycles, ..aging });
                kept.checkpoint(disk)
            })
        })
    }

    /// Holds requests back from now on, for so long or, with `hangs`, until that is ended; `count` of them, or all.
    fn inject(&self, latency_ns: u64, count: Option<u64>, hangs: bool) {
        self.0.server.inject(Injected { latency: Duration::from_nanos(latency_ns), left: count, hangs });
    }

    /// Sectors that hold these bytes cannot be read until they are written or trimmed.
    fn spoil(&self, py: Python<'_>, offset: u64, length: u64) -> PyResult<()> {
        py.detach(|| {
            let (capacity, sector) = self
                .0
                .server
                .with_disk(|disk| (disk.limits().capacity_bytes(), u64::from(disk.limits().sector_bytes)))
                .map_err(mend)?;
            let end = offset.checked_add(length).filter(|end| *end <= capacity && length > 0);
            let end = end.ok_or_else(|| {
                mend(format!("{length} bytes at offset {offset}: the drive has {capacity} bytes\nstay below that, with one byte at least"))
            })?;
            self.0.server.with_disk(|disk| disk.spoil(offset / sector..end.div_ceil(sector))).map_err(mend)
        })
    }

    /// Ends what is under way, puts the drive away and closes its folder; does nothing the second time.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            let stopped = self.0.server.stop();
            let Some(kept) = self.0.kept().take() else { return Ok(()) };
            let Some(mut disk) = stopped else {
                return Err(mend(
                    "the simulation has broken down, which is a bug of ssdlab's; the bytes are as stored",
                ));
            };
            let remembered = self.0.server.keep_past();
            kept.close(&mut disk).map_err(mend)?;
            remembered.map_err(mend)
        })
    }
}

impl Served {
    /// Starts over and keeps that; gives the time that it takes.
    /// Starts over so many times; a checkpoint is written once.
    fn start_over(&self, how: StartOver, passes: u32) -> PyResult<Nanos> {
        self.with_disk(true, |kept, disk| {
            let mut took = Nanos::ZERO;
            for _ in 0..passes {
                took += kept.about.start_over(disk, how)?;
            }
            kept.checkpoint(disk)?;
            Ok(took)
        })
    }

    fn kept(&self) -> MutexGuard<'_, Option<InFolder>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uses the drive and its folder between two events, or once it is calm.
    fn with_disk<R>(
        &self,
        calm: bool,
        use_it: impl FnOnce(&mut InFolder, &mut Disk<FolderMedium>) -> Result<R, InFolderError>,
    ) -> PyResult<R> {
        let mut kept = self.kept();
        let kept = kept.as_mut().ok_or_else(|| mend(server::Gone::Stopped))?;
        let use_it = |disk: &mut Disk<FolderMedium>| use_it(kept, disk);
        let used = if calm { self.server.with_calm_disk(use_it) } else { self.server.with_disk(use_it) };
        used.map_err(mend)?.map_err(mend)
    }
}

fn address((kind, place): &Place) -> PyResult<Address> {
    match kind.as_str() {
        "unix" => Ok(Address::Unix(Path::new(place).to_path_buf())),
        _ => tcp(place, 10809).map(Address::Tcp),
    }
}

fn tcp(place: &str, port: u16) -> PyResult<SocketAddr> {
    place.parse().map_err(|error| mend(format!("{place}: {error}\ngive an address as 127.0.0.1:{port}")))
}

fn of_nvme((places, (model, serial, firmware, qualified_name)): Nvme) -> PyResult<server::Nvme> {
    let addresses = places.iter().map(|place| tcp(place, 4420)).collect::<PyResult<_>>()?;
    let identity = Identity { model, serial, firmware, qualified_name };
    Ok(server::Nvme { addresses, identity, folder: None })
}

fn place(address: &Address) -> Place {
    match address {
        Address::Unix(path) => ("unix".into(), path.display().to_string()),
        Address::Tcp(address) => ("tcp".into(), address.to_string()),
    }
}

/// What a loss of power took, by byte.
pub fn told(cut: &Cut, sector_bytes: u64, seed: u64, at: Nanos) -> Value {
    let lost = cut.losses.iter().map(|loss| {
        json!({
            "offset": loss.lba * sector_bytes, "write": loss.write, "was_acknowledged": loss.was_acknowledged,
            "what": loss.what.name(), "breaks_promise": loss.breaks_promise,
            "acknowledged": loss.acknowledged, "flushed": loss.flushed,
        })
    });
    let dropped = cut.dropped.iter().map(|(_, request)| {
        json!({
            "operation": operation(request.operation),
            "offset": if request.operation == Operation::Flush { Lba(0) } else { request.lba }.0 * sector_bytes,
            "length": u64::from(request.sectors) * sector_bytes,
        })
    });
    json!({
        "seed": seed,
        "at_ns": at.0,
        "lost": lost.collect::<Vec<_>>(),
        "dropped": dropped.collect::<Vec<_>>(),
    })
}

fn operation(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "read",
        Operation::Write => "write",
        Operation::Trim => "trim",
        Operation::WriteZeroes => "write_zeroes",
        Operation::Flush => "flush",
    }
}

fn of_server(stats: &Stats) -> serde_json::Map<String, Value> {
    let Stats { pace, is_on, counts, lateness, visits, bytes_held } = stats;
    let told = json!({
        "pace": match pace { Pace::Off => json!("off"), Pace::Factor(factor) => json!(factor) },
        "power": if *is_on { "on" } else { "off" },
        "requests": {
            "reads": counts.reads, "writes": counts.writes, "flushes": counts.flushes, "trims": counts.trims,
            "write_zeroes": counts.zeroes, "block_statuses": counts.statuses, "failed": counts.failed,
            "bytes_read": counts.read_bytes, "bytes_written": counts.written_bytes,
            "bytes_trimmed": counts.trimmed_bytes, "bytes_zeroed": counts.zeroed_bytes,
        },
        "lateness": {
            "answers": lateness.events,
            "mean_ns": lateness.mean().as_nanos() as u64,
            "worst_ns": lateness.worst.as_nanos() as u64,
        },
        "connections": {
            "open": visits.open, "taken": visits.taken, "too_many": visits.too_many, "left": visits.left,
            "broke_protocol": visits.broke_protocol, "too_slow": visits.too_slow,
        },
        "bytes_held": bytes_held,
    });
    match told {
        Value::Object(told) => told,
        _ => unreachable!("it is written as an object"),
    }
}

fn summary(latencies: &Latencies) -> Option<Value> {
    let Summary { count, mean_ns, p50_ns, p99_ns, p99_9_ns, max_ns } = latencies.summary()?;
    Some(json!({
        "count": count, "mean_ns": mean_ns, "p50_ns": p50_ns, "p99_ns": p99_ns, "p99_9_ns": p99_9_ns, "max_ns": max_ns,
        "buckets": latencies.buckets(),
    }))
}
