//! Jobs that keep step (`flow`): each may issue while its share of what all have issued does not exceed its
//! share of their weights.

/// Workers of one `flow_id`.
#[derive(Default)]
struct Group {
    id: u64,
    weight: u64,
    issued: u64,
    /// Workers that are ahead, and wait for the others.
    ahead: Vec<u32>,
}

/// A worker's part in its group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Member {
    group: usize,
    weight: u64,
    issued: u64,
}

/// All groups of a run.
#[derive(Default)]
pub struct Flows {
    groups: Vec<Group>,
}

impl Flows {
    /// A worker joins; it counts as having kept step so far.
    pub fn join(&mut self, id: u64, weight: u32) -> Member {
        let place = self.groups.iter().position(|group| group.id == id).unwrap_or_else(|| {
            self.groups.push(Group { id, ..Group::default() });
            self.groups.len() - 1
        });
        let group = &mut self.groups[place];
        let weight = u64::from(weight);
        let issued = (group.issued * weight).checked_div(group.weight).unwrap_or(0);
        group.weight += weight;
        group.issued += issued;
        Member { group: place, weight, issued }
    }

    /// Whether a worker may issue; it is counted as issuing where it may, and waits where it may not.
    pub fn ask(&mut self, worker: u32, member: &mut Member) -> bool {
        let group = &mut self.groups[member.group];
        let own = u128::from(member.issued) * u128::from(group.weight);
        if own > u128::from(group.issued) * u128::from(member.weight) {
            group.ahead.push(worker);
            return false;
        }
        member.issued += 1;
        group.issued += 1;
        true
    }

    /// Workers that have waited for this one, and may ask again.
    pub fn behind(&mut self, member: &Member) -> Vec<u32> {
        std::mem::take(&mut self.groups[member.group].ahead)
    }

    /// A worker has ended; what it did no longer counts.
    pub fn leave(&mut self, member: &Member) {
        let group = &mut self.groups[member.group];
        group.weight -= member.weight;
        group.issued -= member.issued;
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Requests come in the proportion of the weights, whoever asks more often, and somebody always may.
    #[test]
    fn shares_follow_weights() {
        let mut flows = Flows::default();
        let mut members = [flows.join(7, 8), flows.join(7, 1), flows.join(7, 3)];
        let mut issued = [0_u32; 3];
        for _ in 0..12_000 {
            let before = issued;
            for (index, member) in members.iter_mut().enumerate() {
                issued[index] += u32::from(flows.ask(index as u32, member));
            }
            assert_ne!(issued, before);
        }
        for (count, weight) in issued.iter().zip([8.0, 1.0, 3.0]) {
            let share = f64::from(*count) / f64::from(issued.iter().sum::<u32>());
            assert!((share - weight / 12.0).abs() < 0.001, "{issued:?}");
        }
    }
}
