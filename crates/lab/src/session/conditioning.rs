//! How a session's drive, or the drives of its stack, come into a condition, and what it says of that.
//!
//! Uniform writes are those of a drive, whatever lies over it: each drive of a stack is made steady alone, by the
//! scale model where that holds. What setting the layers up writes comes first, as in life; of that nothing is left
//! once the whole drive has been written, so that it is left out then.

use super::{Session, SessionError, memory, smaller};
use crate::condition::scale_model::Scaled;
use crate::condition::writes::{self, Place};
use crate::condition::{Condition, Season};
use crate::run::Observer;
use crate::session::target::{Target, Way};
use crate::workload::job::Job;
use ssdlab_device::parameter::Value as _;

impl Session {
    /// Brings the drive into a condition; `span` is the share of the exported range that is used.
    ///
    /// # Errors
    /// A condition that the drive has left behind, a span out of range, a job that does not fit; more memory
    /// than is free.
    pub fn bring_to(
        &mut self,
        condition: Condition,
        jobs: &[Job],
        span: f64,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<(), SessionError> {
        let from = if self.label.is_empty() { Condition::Fresh } else { self.label.condition };
        self.check_can_become(condition, from, span)?;
        if condition.is_steady() && !from.is_steady() {
            smaller::check_steady(&self.label)?;
        }
        if from == Condition::Fresh && condition != Condition::Fresh {
            self.memory.check(&self.name, memory::available_bytes())?;
        }
        let by_drive = condition == Condition::SteadyUniform && matches!(self.target, Target::Stack { .. });
        self.prepared |= by_drive && span == 1.0;
        self.prepare();
        let jobs = &self.placed(jobs)?;
        if from.steps_to(condition).is_empty() && from != Condition::Fresh {
            return Ok(());
        }
        let way = Way { from, to: condition, jobs, span, seed, by_scale_model: self.by_scale_model };
        self.label.season = self.target.season(&way, observer)?;
        self.target.check_policies()?;
        if let Some(shortage) = self.target.shortage() {
            let message = format!("{}: cannot become {condition}: the drive runs out of {shortage}", self.name);
            return Err(SessionError::Condition(message));
        }
        if condition != from {
            self.label.started_over = None;
        }
        self.label.written_since &= from.steps_to(condition).is_empty();
        self.label.condition = condition;
        self.label.span = span;
        let limits = self.target.device().limits();
        self.label.season.writes = writes::of_jobs(condition, jobs, &self.place(), limits);
        Ok(())
    }

    fn check_can_become(&self, condition: Condition, from: Condition, span: f64) -> Result<(), SessionError> {
        let refused = |message: String| Err(SessionError::Condition(message));
        if !(span > 0.0 && span <= 1.0) {
            return refused(format!("span {span}: the used share of the drive is above 0 and at most 1 (100 %)"));
        }
        let never_again = condition == Condition::Fresh && self.label.condition != Condition::Fresh;
        if condition.stage() < from.stage() || never_again {
            return refused(format!(
                "the drive is {} already and cannot become {condition} again; start over with a secure erase, \
                 or from its profile {}",
                self.label.condition, self.label.name
            ));
        }
        if from != Condition::Fresh && span != self.label.span {
            return refused(format!(
                "the drive was preconditioned with a span of {}, not {span}; start from its profile {}",
                self.label.span, self.label.name
            ));
        }
        if condition != Condition::Fresh && !self.target.has_flash() {
            return refused(format!(
                "{}: a hard disk is not slowed down by what was written before, so there is no condition {condition}\n\
                 leave it fresh",
                self.name
            ));
        }
        Ok(())
    }

    /// Which way the drive came into steady state, where there was a choice.
    pub fn way_told(&self) -> Option<String> {
        let Season { scaled, refused, .. } = &self.label.season;
        let refused = refused
            .as_ref()
            .map(|reason| format!("the whole drive was preconditioned, since no scale model can be used: {reason}"));
        scaled.as_ref().map(Scaled::told).or(refused)
    }

    /// What the drive was written by on its way into its condition, and what came since; `None` of one that is fresh
    /// and that no job wrote to.
    pub fn conditioned_by(&self) -> Option<String> {
        let told = match (self.written_into_condition(), self.label.written_since) {
            (told, false) => told?,
            (Some(told), true) => format!("{told}; since then the writes of earlier jobs"),
            (None, true) => "the writes of earlier jobs alone".into(),
        };
        Some(match self.label.started_over {
            Some(how) => format!("{told}; since then purged: {}", how.show()),
            None => told,
        })
    }

    /// What the drive was written by on its way into its condition; `None` of one that is fresh.
    fn written_into_condition(&self) -> Option<String> {
        let told = self.label.season.writes.clone();
        told.or_else(|| writes::of_condition(self.label.condition, &self.place()))
    }

    /// What preconditioning writes.
    fn place(&self) -> Place {
        let is_stack = matches!(self.target, Target::Stack { .. });
        let by_drive = is_stack && self.label.condition == Condition::SteadyUniform;
        let unit_bytes = self.target.unit_bytes();
        Place { span: self.label.span, unit_bytes, drives: by_drive.then(|| self.target.shape().drives) }
    }

    /// That the jobs have a steady state of their own, where the drive is in that of uniform writes.
    pub(super) fn another_steady_state(&self, jobs: &[Job]) -> Option<String> {
        if self.label.condition != Condition::SteadyUniform {
            return None;
        }
        let reason = writes::differs(jobs, self.label.span, self.target.device().limits())?;
        let whose = if jobs.len() == 1 { "this job's" } else { "a job's" };
        Some(format!(
            "the drive is steady under {}, and {reason}; for {whose} own steady state: --state steady:job",
            self.written_into_condition()?
        ))
    }
}
