//! Which copy a mirror reads, as md chooses: a read that follows the one before it on the same
//! member stays there; else the member with the fewest requests, of hard disks an idle one or the one
//! whose head is nearest. Left out: a head's true place, which only the disk knows.

use super::layout::Place;

/// What is known of each member.
#[derive(Clone, Debug)]
pub struct Balance {
    rotational: bool,
    pending: Vec<u32>,
    /// Where the last request on the member ended.
    head: Vec<u64>,
    /// Where the last read on the member ended.
    read_end: Vec<u64>,
}

impl Balance {
    /// Of that many members.
    pub fn new(members: usize, rotational: bool) -> Balance {
        Balance { rotational, pending: vec![0; members], head: vec![0; members], read_end: vec![u64::MAX; members] }
    }

    /// A request goes to a member.
    pub fn began(&mut self, member: usize, lba: u64, sectors: u64, is_read: bool) {
        self.pending[member] += 1;
        self.head[member] = lba + sectors;
        if is_read {
            self.read_end[member] = lba + sectors;
        }
    }

    /// A request of a member has ended.
    pub fn ended(&mut self, member: usize) {
        self.pending[member] -= 1;
    }

    /// Everything under way is forgotten.
    pub fn clear(&mut self) {
        self.pending.fill(0);
    }

    /// Chooses one of the copies that are left; `from` is the offset within the copy.
    pub fn choose(&self, places: &[Place], lost: &[bool], from: u64) -> usize {
        let left = || places.iter().enumerate().filter(|(copy, _)| !lost[*copy]);
        if let Some((copy, _)) = left().find(|(_, place)| self.read_end[place.member] == place.lba + from) {
            return copy;
        }
        let idle = left().any(|(_, place)| self.pending[place.member] == 0);
        let rank = |place: &Place| match self.rotational && !idle {
            true => self.head[place.member].abs_diff(place.lba + from),
            false => u64::from(self.pending[place.member]),
        };
        left().min_by_key(|(_, place)| rank(place)).map_or(0, |(copy, _)| copy)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    const COPIES: [Place; 2] = [Place { member: 0, lba: 0 }, Place { member: 1, lba: 0 }];

    /// A stream stays on its member; what is elsewhere goes to the one with fewer requests.
    #[test]
    fn a_stream_stays_and_others_go_to_the_least_pending() {
        let mut balance = Balance::new(2, false);
        balance.began(0, 0, 8, true);
        assert_eq!(balance.choose(&COPIES, &[false, false], 8), 0);
        assert_eq!(balance.choose(&COPIES, &[false, false], 100), 1);
        assert_eq!(balance.choose(&COPIES, &[false, true], 100), 0);
    }

    /// Between two busy disks the nearer head reads; an idle one goes first.
    #[test]
    fn hard_disks_read_where_a_head_is_nearest() {
        let mut balance = Balance::new(2, true);
        balance.began(0, 0, 8, false);
        assert_eq!(balance.choose(&COPIES, &[false, false], 20), 1);
        balance.began(1, 1000, 8, false);
        assert_eq!(balance.choose(&COPIES, &[false, false], 20), 0);
        assert_eq!(balance.choose(&COPIES, &[false, false], 900), 1);
    }
}
