//! What collection goes by: the FTL's parameters, and the policy that names victims.

use crate::config::ftl::FtlConfig;
use crate::ftl::pool::{Group, GroupTable};
use crate::ftl::victim::{Candidates, VictimPolicy};
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
    /// The policy's victim among the sealed groups of a pool; none only where none is sealed.
    pub fn pick(&mut self, groups: &GroupTable, pool: usize) -> Option<Group> {
        self.policy.pick(&Candidates { groups, pool }, &mut self.draws)
    }
}
