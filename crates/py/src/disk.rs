//! A drive that holds bytes, in virtual time: each call is over at once, on the caller's thread.

use crate::drive::open;
use crate::perform::{own_jobs, prepare};
use crate::watch::{Callback, Watch};
use crate::{mend, request_of};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ssdlab_disk::medium::Ram;
use ssdlab_disk::{Asked, CommandError, Commands, Failure, Fault, Faults, Loss, Nanos, Operation};
use ssdlab_lab::with_bytes::WithBytes;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

pyo3::create_exception!(_engine, DiskError, PyException, "What kind of error a command met, and its message.");

/// A drive in RAM, and the commands that it was given.
#[pyclass(frozen)]
pub struct Disk(Mutex<Held>);

struct Held {
    drive: WithBytes<Ram>,
    commands: Commands,
}

impl Held {
    fn submit(&mut self, name: u64, asked: Asked, data: &[u8]) -> Result<u64, CommandError> {
        self.commands.submit(&mut self.drive.disk, name, asked, data.to_vec())?;
        Ok(self.drive.disk.last_write())
    }

    fn wait(&mut self, name: u64) -> Result<Vec<u8>, CommandError> {
        self.commands.wait(&mut self.drive.disk, name)
    }
}

/// Operation, offset, length, and whether a write completes only when it is durable.
type Command = (String, u64, u64, bool);
/// Offset, number of the write, whether it was acknowledged; what became of the sector, the last acknowledged and the
/// last promised write, whether a promise is broken.
type Lost = (u64, u64, bool, &'static str, Option<u64>, Option<u64>, bool);
/// First byte and length.
type Stretch = (u64, u64);

#[pymethods]
impl Disk {
    /// Opens the drive of a request and brings it into its condition; its job plays no other part. Faults are by name.
    #[new]
    fn new(py: Python<'_>, request_json: &str, faults: Vec<String>, progress: Option<Py<PyAny>>) -> PyResult<Disk> {
        let request = request_of(request_json)?;
        let faults = faults.iter().map(|name| name.parse::<Fault>()).collect::<Result<Faults, _>>().map_err(mend)?;
        let callback = Callback::new(progress);
        let jobs = own_jobs(&request, &callback)?;
        py.detach(|| {
            let mut session = open(&request)?;
            prepare(&mut session, &request, &jobs, &mut Watch::new(callback))?;
            let mut drive = session.with_bytes(|sizes| Ram::new(sizes.capacity_bytes)).map_err(mend)?;
            drive.disk.arm(faults);
            Ok(Disk::of(Held { drive, commands: Commands::default() }))
        })
    }

    /// Hands over a command under a name that no other has; gives the number of the last write.
    fn submit(&self, py: Python<'_>, name: u64, command: Command, data: &[u8]) -> PyResult<u64> {
        let asked = asked_of(&command)?;
        self.with(py, |held| held.submit(name, asked, data)).map_err(told)
    }

    /// Lives on until a command has ended; gives what it read.
    fn wait<'py>(&self, py: Python<'py>, name: u64) -> PyResult<Bound<'py, PyBytes>> {
        let read = self.with(py, |held| held.wait(name)).map_err(told)?;
        Ok(PyBytes::new(py, &read))
    }

    /// As `submit` and then `wait`; gives the number of the last write, and what was read.
    fn perform<'py>(
        &self,
        py: Python<'py>,
        name: u64,
        command: Command,
        data: &[u8],
    ) -> PyResult<(u64, Bound<'py, PyBytes>)> {
        let asked = asked_of(&command)?;
        let (write, read) = self
            .with(py, |held| {
                let write = held.submit(name, asked, data)?;
                Ok((write, held.wait(name)?))
            })
            .map_err(told)?;
        Ok((write, PyBytes::new(py, &read)))
    }

    /// Lives on until the next event; whether there was one.
    fn step(&self, py: Python<'_>) -> bool {
        self.with(py, |Held { drive, commands }| commands.step(&mut drive.disk))
    }

    /// Lives on for so long.
    fn advance(&self, py: Python<'_>, nanoseconds: u64) {
        self.with(py, |Held { drive, commands }| {
            let to = drive.disk.now().0.saturating_add(nanoseconds).min(Nanos::NEVER.0 - 1);
            commands.advance(&mut drive.disk, Nanos(to));
        });
    }

    /// Cuts the power; gives what is lost, the names of the commands that were dropped, and where undo had been dropped.
    fn power_cut(&self, py: Python<'_>, seed: u64) -> (Vec<Lost>, Vec<u64>, Vec<Stretch>) {
        self.with(py, |Held { drive, commands }| {
            let sector_bytes = u64::from(drive.disk.limits().sector_bytes);
            let (cut, dropped) = commands.power_cut(&mut drive.disk, seed);
            let lost = |loss: &Loss| {
                let Loss { lba, write, was_acknowledged, what, acknowledged, flushed, breaks_promise } = *loss;
                (lba * sector_bytes, write, was_acknowledged, what.name(), acknowledged, flushed, breaks_promise)
            };
            let stretch =
                |sectors: &Range<u64>| (sectors.start * sector_bytes, (sectors.end - sectors.start) * sector_bytes);
            let undo_dropped = cut.undo_dropped.iter().map(stretch).collect();
            (cut.losses.iter().map(lost).collect(), dropped.collect(), undo_dropped)
        })
    }

    /// The same drive once more.
    fn copy(&self, py: Python<'_>) -> PyResult<Disk> {
        let copy =
            self.with(py, |Held { drive, commands }| Some(Held { drive: drive.copy()?, commands: commands.clone() }));
        copy.map(Disk::of).ok_or_else(|| {
            mend("ftl.gc: a drive with a victim policy of your own cannot be cloned; choose one that is built in")
        })
    }

    /// The instant that it has lived to.
    fn now_ns(&self, py: Python<'_>) -> u64 {
        self.with(py, |held| held.drive.disk.now().0)
    }

    /// Bytes, bytes of a sector, bytes that a trim must cover, commands at once; whether its buffer is volatile.
    fn limits(&self, py: Python<'_>) -> (u64, u32, u32, u32, bool) {
        self.with(py, |held| {
            let limits = held.drive.disk.limits();
            let (trim, depth) = (limits.discard_granularity_bytes, limits.queue_depth);
            (limits.capacity_bytes(), limits.sector_bytes, trim, depth, limits.volatile_cache)
        })
    }

    /// Condition, counters and what follows from them, as JSON.
    fn stats(&self, py: Python<'_>) -> String {
        self.with(py, |held| held.drive.stats().to_string())
    }
}

impl Disk {
    fn of(held: Held) -> Disk {
        Disk(Mutex::new(held))
    }

    /// Nobody holds the lock and waits for the interpreter.
    fn with<R: Send>(&self, py: Python<'_>, call: impl FnOnce(&mut Held) -> R + Send) -> R {
        py.detach(|| call(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn asked_of((name, offset, length, fua): &Command) -> PyResult<Asked> {
    let operation = match name.as_str() {
        "read" => Operation::Read,
        "write" => Operation::Write,
        "trim" => Operation::Trim,
        "write_zeroes" => Operation::WriteZeroes,
        "flush" => Operation::Flush,
        _ => return Err(mend(format!("operation {name}: expected read, write, trim, write_zeroes or flush"))),
    };
    Ok(Asked { operation, offset: *offset, length: *length, fua: *fua })
}

/// An error with its kind, by which the package chooses the class.
fn told(error: CommandError) -> PyErr {
    let kind = match &error {
        CommandError::Unaligned { .. } => "unaligned",
        CommandError::OutOfRange { .. } | CommandError::Failed { failure: Failure::OutOfRange, .. } => "out of range",
        CommandError::Busy { .. } => "busy",
        CommandError::Dropped { .. } => "dropped",
        CommandError::Failed { failure: Failure::MediaError, .. } => "media",
        CommandError::Failed { failure: Failure::WriteProtected, .. } => "read-only",
        CommandError::Failed { .. } | CommandError::Policy(_) | CommandError::Unknown => "other",
    };
    DiskError::new_err((kind, error.to_string()))
}
