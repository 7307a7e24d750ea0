//! What couples workers to each other: ends that end others (`exitall`), ends that others wait for
//! (`wait_for`), requests in proportion (`flow`); and completions that have consequences.

use super::Engine;
use crate::run::control::Held;
use crate::run::flow::Flows;
use crate::run::worker::Worker;
use crate::workload::job::{ExitWhat, Job};
use ssdlab_device::block::{Device, Status};
use ssdlab_device::units::{Lba, Nanos};
use std::cmp::Reverse;

impl<D: Device + ?Sized> Engine<'_, D> {
    /// As [`Engine::complete`], for a worker that logs its requests, or whose completions have consequences.
    #[cold]
    pub(super) fn complete_apart(&mut self, index: u32, lba: Lba, held: Held) {
        let now = self.now;
        let worker = &mut self.workers[index as usize];
        if let Some(log) = &mut worker.log
            && held.status == Status::Success
        {
            log.add(now, held.direction, held.bytes, lba.0 * self.sector_bytes, now - held.issued);
        }
        for held in worker.hold(held) {
            let latency = now - held.issued;
            worker.completed(held.direction, held.bytes, latency, held.status);
            worker.judge(&held, now);
        }
        self.enqueue(index);
    }

    fn enqueue(&mut self, index: u32) {
        let worker = &mut self.workers[index as usize];
        if !worker.queued {
            worker.queued = true;
            self.ready.push_back(index);
        }
    }

    /// A worker of a flow issues if it is not ahead of the others; it asks again when they have issued, or
    /// after its `flow_sleep`.
    #[cold]
    pub(super) fn ask(&mut self, index: u32, deadline: Nanos) {
        let worker = &mut self.workers[index as usize];
        let Some(member) = &mut worker.flow else { return };
        if self.flows.ask(index, member) {
            let behind = self.flows.behind(member);
            worker.allow();
            self.enqueue(index);
            behind.into_iter().for_each(|other| self.enqueue_after_sleep(other));
        } else if deadline < Nanos::NEVER {
            self.wake_at(index, deadline);
        }
    }

    fn enqueue_after_sleep(&mut self, index: u32) {
        let sleep = self.jobs[self.workers[index as usize].job].flow.sleep;
        if sleep > Nanos::ZERO { self.wake_at(index, self.now + sleep) } else { self.enqueue(index) }
    }

    fn wake_at(&mut self, index: u32, time: Nanos) {
        let worker = &mut self.workers[index as usize];
        if worker.timer > time {
            worker.timer = time;
            self.timers.push(Reverse((time, index)));
        }
    }

    /// A worker has ended: what waits for it begins, what `exitall` ends is ended.
    #[cold]
    pub(super) fn tell_others(&mut self, index: u32) {
        let now = self.now;
        let ended = &mut self.workers[index as usize];
        let (job, failed) = (ended.job, ended.error != 0);
        if let Some(member) = ended.flow.take() {
            let behind = self.flows.behind(&member);
            self.flows.leave(&member);
            behind.into_iter().for_each(|other| self.enqueue(other));
        }
        let exit = match self.jobs[job].exit_all {
            _ if failed && self.jobs[job].exit_all_on_error => Some(ExitWhat::All),
            exit => exit,
        };
        self.ends_all |= exit == Some(ExitWhat::All);
        let group = reporting_group(self.jobs, job);
        for other in 0..self.workers.len() {
            let other_job = self.workers[other].job;
            let is_meant = match exit {
                None => false,
                Some(ExitWhat::Group) => reporting_group(self.jobs, other_job) == group,
                Some(_) => true,
            };
            if is_meant && !self.workers[other].has_ended() {
                self.workers[other].stop();
                self.enqueue(other as u32);
            } else if !self.workers[other].is_told_to_end()
                && !self.workers[other].has_begun()
                && !must_wait(&self.workers, self.jobs, other)
            {
                begin(&mut self.workers[other], self.jobs, &mut self.flows, now);
                self.next_mark = now;
                self.workers[other].planned().for_each(|lba| self.device.hint(lba));
                self.enqueue(other as u32);
            }
        }
    }
}

/// What happens to one worker of the job matters to others.
pub(super) fn is_coupled(job: &Job) -> bool {
    job.exit_all.is_some() || job.exit_all_on_error || job.wait_for.is_some() || job.flow.weight > 0
}

/// The job that a worker waits for is not done.
pub(super) fn must_wait(workers: &[Worker], jobs: &[Job], index: usize) -> bool {
    let own = workers[index].job;
    let Some(name) = &jobs[own].wait_for else { return false };
    workers.iter().any(|other| other.job < own && jobs[other.job].name == *name && !other.has_ended())
}

pub(super) fn begin(worker: &mut Worker, jobs: &[Job], flows: &mut Flows, now: Nanos) {
    let job = &jobs[worker.job];
    worker.start(job, now);
    if job.flow.weight > 0 {
        worker.flow = Some(flows.join(job.flow.id, job.flow.weight));
    }
}

/// The number of a job's reporting group, as fio counts them.
fn reporting_group(jobs: &[Job], index: usize) -> usize {
    jobs[1..].iter().take(index).filter(|job| job.new_group || job.stonewall).count()
}
