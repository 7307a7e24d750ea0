//! Carries a scenario out on a device in virtual time.
//!
//! First the file system is made and filled as the scenario's state says, without time; the device
//! gets what lies in it ([`Device::apply_now`]). Then nothing is in memory, and the steps follow one
//! another. Elapsed time is that of the steps which count, from the first call to the return of the last:
//! what is still to be written then does not count, as for who looks at a clock.

use super::age::{Filling, State, Wanted};
use super::file_system::{DirectoryId, FileId, FileSystem};
use super::kernel::Kernel;
use super::scenario::{Durable, FileSet, Order, Scenario, Step, Verb};
use super::sourced::ScenarioError;
use super::system::System;
use crate::workload::random::{Purpose, Stream, mix};
use serde::Serialize;
use ssdlab_device::block::{Device, Operation, Request, Status, Traffic};
use ssdlab_device::units::{Lba, Nanos};
use std::collections::BTreeMap;

/// Bytes of one request when the device is filled without time.
const APPLY_BYTES: u64 = 1 << 20;

/// One step, or one repetition of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepResult {
    /// What was done with which files.
    pub step: String,
    /// Time that it took.
    pub elapsed_s: f64,
    /// Bytes that programs read or wrote in it.
    pub program_bytes: u64,
    /// What the device was asked meanwhile.
    pub traffic: Traffic,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScenarioResult {
    /// The scenario.
    pub scenario: String,
    /// Time of all steps that count.
    pub elapsed_s: f64,
    /// Of that, CPU time of the program.
    pub cpu_s: f64,
    /// What the device was asked meanwhile.
    pub traffic: Traffic,
    /// Bytes written to the journal, preparation included.
    pub journal_bytes: u64,
    /// Files that were there before.
    pub files: u64,
    /// Their mean number of extents.
    pub extents_per_file: f64,
    /// That of the one with the most.
    pub most_extents: u64,
    /// The steps that count.
    pub steps: Vec<StepResult>,
    /// When all was over: where a next run on this device may start.
    pub end: Nanos,
}

/// Runs a scenario on an idle device, from time `start`.
///
/// # Errors
/// A system or value that is not allowed, a file system that does not fit the device or is full, a
/// request that the device could not do.
pub fn run_scenario(
    device: &mut dyn Device,
    scenario: &Scenario,
    start: Nanos,
    seed: u64,
) -> Result<ScenarioResult, ScenarioError> {
    let (system, _) = System::read(&scenario.system, &scenario.system_settings)?;
    let fail = |message: &str| ScenarioError::new(&scenario.name, message);
    let whole = device.limits().capacity_bytes();
    let capacity = scenario.capacity_bytes.as_ref().map_or(whole, |given| given.value.0);
    let sector = u64::from(device.limits().sector_bytes);
    if !system.file_system.fragment_bytes.0.is_multiple_of(sector) {
        return Err(fail("the device's sector is larger than the file system's fragment; use a larger one"));
    }
    let files = FileSystem::new(&system.file_system, capacity).filter(|_| capacity <= whole);
    let mut files =
        files.ok_or_else(|| fail("the file system does not fit the device; capacity_bytes says its size"))?;
    let mut filling = Filling::new(&mut files, &system.age, seed);
    let plan = Plan::new(scenario, seed);
    plan.check_extents(&system).map_err(|message| fail(&message))?;
    let made = filling.fill(scenario.state, &plan.wanted);
    let made = made.ok_or_else(|| fail("the file system is too small for the scenario's files"))?;
    let directories = std::mem::take(&mut filling.directories);
    let extents: Vec<u64> = made.iter().map(|&id| files.file(id).extents.len() as u64).collect();
    apply(device, &files, scenario, sector);
    let mut kernel = Kernel::new(&system, files, device, start);
    kernel.compress_percent = scenario.compress_percent.value;
    let mut execution = Execution {
        scenario,
        kernel,
        sets: plan.sets(made),
        directories,
        plan_directories: plan.directories,
        stream: Stream::new(seed, Purpose::Order),
        sizes: plan.sizes,
        program_bytes: 0,
    };
    let result = execution.run()?;
    Ok(ScenarioResult {
        files: extents.len() as u64,
        extents_per_file: extents.iter().sum::<u64>() as f64 / extents.len().max(1) as f64,
        most_extents: extents.into_iter().max().unwrap_or(0),
        ..result
    })
}

/// Puts on the device what lies in the file system, without time.
fn apply(device: &mut dyn Device, files: &FileSystem, scenario: &Scenario, sector: u64) {
    if scenario.state == State::Empty && scenario.files.values().all(|set| !set.exists) {
        return;
    }
    for extent in files.allocator.used() {
        let (mut at, end) = (extent.start * files.unit_bytes(), extent.end() * files.unit_bytes());
        while at < end {
            let bytes = APPLY_BYTES.min(end - at);
            let request = Request::new(Operation::Write, Lba(at / sector), (bytes / sector) as u32);
            let status = device.apply_now(Request { compress_percent: scenario.compress_percent.value, ..request });
            debug_assert_eq!(status, Status::Success);
            at += bytes;
        }
    }
    device.apply_now(Request::new(Operation::Flush, Lba(0), 0));
}

/// Which files there are to be, drawn once.
struct Plan {
    wanted: Vec<Wanted>,
    /// Sizes of each set, and whether it exists.
    sizes: BTreeMap<String, Vec<u64>>,
    existing: Vec<(String, usize)>,
    /// First directory number of each set.
    directories: BTreeMap<String, u64>,
}

impl Plan {
    fn new(scenario: &Scenario, seed: u64) -> Plan {
        let mut plan =
            Plan { wanted: Vec::new(), sizes: BTreeMap::new(), existing: Vec::new(), directories: BTreeMap::new() };
        let mut first = 0;
        for (number, (name, set)) in (1u64..).zip(&scenario.files) {
            let sizes = sizes_of(set, seed ^ mix(number));
            plan.directories.insert(name.clone(), first);
            if set.exists {
                let directory = |index: usize| first + index as u64 * set.directories.value / set.count.value.max(1);
                plan.wanted.extend(
                    sizes.iter().enumerate().map(|(index, &bytes)| Wanted { directory: directory(index), bytes }),
                );
                plan.existing.push((name.clone(), sizes.len()));
            }
            plan.sizes.insert(name.clone(), sizes);
            first += set.directories.value;
        }
        plan
    }

    /// More extents than blocks cannot be had.
    fn check_extents(&self, system: &System) -> Result<(), String> {
        let (block, wanted) = (system.file_system.block_bytes.0, system.age.extents_per_file);
        let blocks: u64 = self.wanted.iter().map(|file| file.bytes.div_ceil(block)).sum();
        let most = blocks as f64 / self.wanted.len().max(1) as f64;
        if wanted <= 1.0 || wanted <= most {
            return Ok(());
        }
        Err(format!(
            "system.age.extents_per_file = {wanted}: its {} files have {blocks} blocks in all; ask for at most {most:.1}",
            self.wanted.len()
        ))
    }

    /// Made files by set.
    fn sets(&self, made: Vec<FileId>) -> BTreeMap<String, Vec<Option<FileId>>> {
        let mut made = made.into_iter();
        self.existing
            .iter()
            .map(|(name, count)| (name.clone(), made.by_ref().take(*count).map(Some).collect()))
            .collect()
    }
}

fn sizes_of(set: &FileSet, seed: u64) -> Vec<u64> {
    let mut stream = Stream::new(seed, Purpose::Size);
    let sizes = super::age::Sizes::new(set.mean_bytes.value.0, set.sigma.as_ref().map_or(0.0, |sigma| sigma.value));
    (0..set.count.value).map(|_| sizes.draw(&mut stream)).collect()
}

/// A scenario under way.
struct Execution<'a, 'd> {
    scenario: &'a Scenario,
    kernel: Kernel<'d>,
    sets: BTreeMap<String, Vec<Option<FileId>>>,
    directories: BTreeMap<u64, DirectoryId>,
    plan_directories: BTreeMap<String, u64>,
    sizes: BTreeMap<String, Vec<u64>>,
    stream: Stream,
    program_bytes: u64,
}

impl Execution<'_, '_> {
    fn run(&mut self) -> Result<ScenarioResult, ScenarioError> {
        let (mut elapsed, mut cpu, mut traffic, mut steps) = (0, 0, Traffic::default(), Vec::new());
        for (number, step) in self.scenario.step.iter().enumerate() {
            let place = format!("{}, step {number}", self.scenario.name);
            for _ in 0..step.repeat.as_ref().map_or(1, |given| given.value) {
                let (start, cpu_before, before) = (self.kernel.now(), self.kernel.cpu, self.kernel.traffic());
                self.program_bytes = 0;
                self.step(step).map_err(|message| ScenarioError::new(&place, message))?;
                if let Some(failure) = self.kernel.failure() {
                    return Err(ScenarioError::new(&place, format!("the device could not do it: {failure}")));
                }
                if step.preparation {
                    continue;
                }
                let (time, asked) = (self.kernel.now() - start, self.kernel.traffic() - before);
                elapsed += time.0;
                cpu += (self.kernel.cpu - cpu_before).0;
                traffic += asked;
                let step = format!("{:?} {}", step.verb, step.files).trim_end().to_lowercase();
                steps.push(StepResult {
                    step,
                    elapsed_s: time.as_s(),
                    program_bytes: self.program_bytes,
                    traffic: asked,
                });
            }
        }
        let result = ScenarioResult {
            scenario: self.scenario.name.clone(),
            elapsed_s: Nanos(elapsed).as_s(),
            cpu_s: Nanos(cpu).as_s(),
            traffic,
            journal_bytes: self.kernel.journal_bytes(),
            files: 0,
            extents_per_file: 0.0,
            most_extents: 0,
            steps,
            end: Nanos::ZERO,
        };
        // Afterwards the device is left idle and everything on it, for who runs on.
        self.kernel.sync();
        Ok(ScenarioResult { end: self.kernel.now(), ..result })
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step.verb {
            Verb::Sync => self.kernel.sync(),
            Verb::Restart => self.kernel.restart(),
            Verb::Idle => self.kernel.idle(Nanos::from_s(step.seconds.as_ref().map_or(0.0, |given| given.value))),
            Verb::Trim if !self.kernel.trim() => {
                return Err("the system never trims; set system.file_system.discard to batched".into());
            }
            Verb::Trim => {}
            Verb::Erase | Verb::Fill | Verb::Restore => self.raw(step),
            Verb::Overwrite | Verb::OverwriteDirect | Verb::ReadDirect => return self.at_random(step),
            _ => return self.each_file(step),
        }
        self.compute(step, 1, 1);
        Ok(())
    }

    /// Spends a part of the step's CPU time.
    fn compute(&mut self, step: &Step, parts: u64, of: u64) {
        let repeats = step.repeat.as_ref().map_or(1, |given| given.value);
        let share = self.scenario.cpu_s.value * step.cpu * parts as f64 / (of * repeats) as f64;
        self.kernel.compute(Nanos::from_s(share));
    }

    /// The whole device, or what files use of it.
    fn raw(&mut self, step: &Step) {
        let unit = self.kernel.files.unit_bytes();
        let block = step.block_bytes.as_ref().map_or(u64::MAX, |given| given.value.0);
        let all = self.kernel.files.allocator.units() * unit;
        match step.verb {
            Verb::Erase => self.kernel.raw(Operation::Trim, 0, all, u64::MAX),
            Verb::Fill => self.kernel.raw(Operation::Write, 0, all, block),
            _ => {
                let used: Vec<_> = self.kernel.files.allocator.used().collect();
                used.into_iter().for_each(|extent| {
                    self.kernel.raw(Operation::Write, extent.start * unit, extent.units * unit, block)
                });
            }
        }
    }

    /// Numbers of a set's files in the step's order.
    fn order(&mut self, step: &Step) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.sizes[&step.files].len()).collect();
        if step.order == Order::Random {
            self.stream.shuffle(&mut order);
        }
        let portion = step.portion.as_ref().map_or(1.0, |given| given.value);
        order.truncate((order.len() as f64 * portion).round() as usize);
        order
    }

    fn each_file(&mut self, step: &Step) -> Result<(), String> {
        let order = self.order(step);
        for &index in &order {
            self.one_file(step, index)?;
            self.compute(step, 1, order.len() as u64);
        }
        if step.durable == Durable::End {
            self.kernel.sync();
        }
        Ok(())
    }

    fn existing(&self, set: &str, index: usize) -> Result<FileId, String> {
        let found = self.sets.get(set).and_then(|set| set.get(index).copied().flatten());
        found
            .ok_or_else(|| format!("file {index} of \"{set}\" is not there: write it first, or set files.{set}.exists"))
    }

    fn one_file(&mut self, step: &Step, index: usize) -> Result<(), String> {
        let bytes = self.sizes[&step.files][index];
        match step.verb {
            Verb::Write => {
                let id = self.write_file(step, &step.files, index, bytes)?;
                if step.durable == Durable::Each {
                    self.kernel.fsync(id);
                }
                return Ok(());
            }
            Verb::Delete => {
                let id = self.existing(&step.files, index)?;
                self.kernel.open(id);
                self.kernel.delete(id);
                self.sets.get_mut(&step.files).expect("its file is there")[index] = None;
                return Ok(());
            }
            _ => {}
        }
        let id = self.existing(&step.files, index)?;
        self.kernel.open(id);
        match step.verb {
            Verb::Map => self.map(step, id),
            Verb::Read | Verb::Copy => {
                self.kernel.read(id);
                self.program_bytes += bytes;
            }
            Verb::Rewrite => {
                self.kernel.rewrite(id);
                self.program_bytes += bytes;
            }
            _ => {}
        }
        if step.verb == Verb::Copy {
            let made = self.write_file(step, &step.to, index, bytes)?;
            if step.durable == Durable::Each {
                self.kernel.fsync(made);
            }
        }
        Ok(())
    }

    /// Touches windows of a mapped file in random order.
    fn map(&mut self, step: &Step, id: FileId) {
        let window = self.kernel.window_bytes();
        let windows = self.kernel.files.file(id).bytes.div_ceil(window);
        let mut order: Vec<u64> = (0..windows).collect();
        self.stream.shuffle(&mut order);
        let touched = (windows as f64 * step.share.as_ref().map_or(1.0, |given| given.value)).ceil() as usize;
        for &at in &order[..touched] {
            self.kernel.fault(id, at);
        }
        self.program_bytes += window * touched as u64;
    }

    /// Writes a file anew in calls of the step's block; one that is there is cut first.
    fn write_file(&mut self, step: &Step, set: &str, index: usize, bytes: u64) -> Result<FileId, String> {
        let full = || "the file system is full".to_string();
        let id = match self.existing(set, index) {
            Ok(id) => {
                self.kernel.open(id);
                self.kernel.truncate(id);
                id
            }
            Err(_) => self.create(set, index).ok_or_else(full)?,
        };
        let block = step.block_bytes.as_ref().map_or(bytes, |given| given.value.0);
        let mut at = 0;
        while at < bytes {
            let part = block.min(bytes - at);
            if !self.kernel.write(id, at, part) {
                return Err(full());
            }
            at += part;
        }
        self.program_bytes += bytes;
        Ok(id)
    }

    fn create(&mut self, set: &str, index: usize) -> Option<FileId> {
        let planned = &self.scenario.files[set];
        let number = self.plan_directories[set] + index as u64 * planned.directories.value / planned.count.value.max(1);
        let directory = match self.directories.get(&number) {
            Some(&known) => known,
            None => self.kernel.files.make_directory()?,
        };
        self.directories.insert(number, directory);
        let id = self.kernel.create(directory)?;
        let held = self.sets.entry(set.to_string()).or_default();
        held.resize(held.len().max(index + 1), None);
        held[index] = Some(id);
        Some(id)
    }

    /// Blocks at random places of the set's files.
    fn at_random(&mut self, step: &Step) -> Result<(), String> {
        let block = step.block_bytes.as_ref().map_or(1, |given| given.value.0);
        let blocks = step.blocks.as_ref().map_or(0, |given| given.value);
        for _ in 0..blocks {
            let index = self.stream.below(self.sizes[&step.files].len().max(1) as u64) as usize;
            let id = self.existing(&step.files, index)?;
            let places = self.kernel.files.file(id).bytes / block;
            if places == 0 {
                return Err(format!("a file of \"{}\" is smaller than block_bytes", step.files));
            }
            let at = self.stream.below(places) * block;
            match step.verb {
                Verb::Overwrite if !self.kernel.write(id, at, block) => return Err("the file system is full".into()),
                Verb::Overwrite => {}
                Verb::OverwriteDirect => self.kernel.write_direct(id, at, block),
                _ => self.kernel.read_direct(id, at, block),
            }
            self.program_bytes += block;
            if step.durable == Durable::Each {
                self.kernel.fsync(id);
            }
            self.compute(step, 1, blocks);
        }
        if step.durable == Durable::End {
            self.kernel.sync();
        }
        Ok(())
    }
}

#[cfg(test)]
mod test;
