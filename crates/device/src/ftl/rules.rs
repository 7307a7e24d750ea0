//! What collection goes by: the FTL's parameters, and the policy that names victims.

use crate::config::ftl::{FtlConfig, GcPolicy};
use crate::ftl::foreign::Foreign;
use crate::ftl::pool::Group;
use crate::ftl::victim::{Candidates, Leveling, VictimPolicy};
use crate::parameter::{Problem, Value as _};
use crate::sim::random::Stream;

/// Parameters, policy, and the numbers that policies draw.
pub struct Rules {
    /// The FTL's parameters.
    pub config: FtlConfig,
    /// Names the next victim.
    pub policy: Box<dyn VictimPolicy>,
    /// What decides where a policy leaves it to chance.
    pub draws: Stream,
}

impl Rules {
    /// The same once more, where the policy can be copied.
    pub fn copy(&self) -> Option<Rules> {
        Some(Rules { config: self.config.clone(), policy: self.policy.copy()?, draws: self.draws.clone() })
    }

    /// The policy's victim among the sealed groups of a pool; none only where none is sealed.
    pub fn pick(&mut self, candidates: &Candidates<'_>) -> Option<Group> {
        self.policy.pick(candidates, &mut self.draws)
    }

    /// The policy's choice among the free groups of a pool, where it makes one.
    pub fn pick_free(&mut self, candidates: &Candidates<'_>, is_cold: bool) -> Option<Group> {
        self.policy.open(candidates, is_cold, &mut self.draws)
    }

    /// What the policy says of static wear levelling.
    pub fn level(&mut self, candidates: &Candidates<'_>) -> Leveling {
        self.policy.level(candidates, &mut self.draws)
    }
}

impl GcPolicy {
    /// The policy that is meant.
    ///
    /// # Errors
    /// What is wrong with one that does not come along.
    pub fn build(&self) -> Result<Box<dyn VictimPolicy>, Problem> {
        let foreign = match self {
            GcPolicy::Library(library) => Foreign::load(library),
            GcPolicy::Function(function) => Foreign::registered(function),
            own => return Ok(own.built_in().expect("all others come along")),
        };
        match foreign {
            Ok(policy) => Ok(Box::new(policy)),
            Err(wrong) => Err(Problem::new("ftl.gc", self.show(), wrong)),
        }
    }
}
