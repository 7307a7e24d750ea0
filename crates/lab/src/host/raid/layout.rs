//! Where things lie: from a sector of the array to members, and to what protects it.
//!
//! An array is a row of stripes. A stripe has data units of one chunk, one after the other in the
//! array's addresses, and places for redundancy:
//!
//! | level | data units | places | member of place k in stripe s, n members |
//! |---|---|---|---|
//! | 0 | 1 | 1 | s mod n, row s div n |
//! | 1 | 1 | n copies | k, row s |
//! | 10 | 1 | 2 copies | (2s + k) mod n, row (2s + k) div n: md's near layout, n may be odd |
//! | 5, 6 | n − 1, n − 2 | and parity | row s; parity moves by one member a stripe, as md's layouts say |
//!
//! RAID 1 has no chunk; its stripes are slices that serve to lock and to resynchronise.

use super::config::{ParityLayout, RaidConfig, RaidLevel};

/// Bytes of a slice of RAID 1: large, so that hardly any request is split.
const SLICE_BYTES: u64 = 1 << 20;

/// A place of one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which member.
    pub member: usize,
    /// First sector on it.
    pub lba: u64,
}

/// How an array is laid out over its members.
#[derive(Clone, Debug)]
pub struct Layout {
    /// RAID level.
    pub level: RaidLevel,
    /// Members.
    pub disks: u64,
    /// Sectors of a chunk.
    pub chunk: u64,
    /// Data units of a stripe.
    pub data: usize,
    /// Exported sectors.
    pub sectors: u64,
    parity_layout: ParityLayout,
}

impl Layout {
    /// The layout over members of which the smallest has `member_sectors`.
    pub fn new(config: &RaidConfig, sector_bytes: u32, member_sectors: u64) -> Layout {
        let disks = u64::from(config.disks);
        let mirrored = config.level == RaidLevel::Raid1;
        let chunk_bytes = if mirrored { SLICE_BYTES } else { config.chunk_bytes.0 };
        let chunk = chunk_bytes / u64::from(sector_bytes);
        let rows = member_sectors / chunk;
        let data = (disks as usize).saturating_sub(config.level.parities());
        let (data, sectors) = match config.level {
            RaidLevel::Raid0 => (1, rows * disks * chunk),
            RaidLevel::Raid1 => (1, member_sectors),
            RaidLevel::Raid10 => (1, rows * disks / 2 * chunk),
            RaidLevel::Raid5 | RaidLevel::Raid6 => (data, rows * data as u64 * chunk),
        };
        Layout { level: config.level, disks, chunk, data, sectors, parity_layout: config.layout }
    }

    /// Whether redundancy is parity.
    pub fn has_parity(&self) -> bool {
        self.level.parities() > 0
    }

    /// Places of a stripe: data units and parities, or copies.
    pub fn places_per_stripe(&self) -> usize {
        match self.level {
            RaidLevel::Raid0 => 1,
            RaidLevel::Raid1 => self.disks as usize,
            RaidLevel::Raid10 => 2,
            RaidLevel::Raid5 | RaidLevel::Raid6 => self.data + self.level.parities(),
        }
    }

    /// Data sectors of a stripe.
    pub fn stripe_sectors(&self) -> u64 {
        self.chunk * self.data as u64
    }

    /// Number of stripes.
    pub fn stripes(&self) -> u64 {
        self.sectors.div_ceil(self.stripe_sectors())
    }

    /// Sectors of each place of a stripe: a chunk, but for RAID 1's last slice.
    pub fn unit_sectors(&self, stripe: u64) -> u64 {
        if self.data > 1 { self.chunk } else { self.chunk.min(self.sectors - stripe * self.chunk) }
    }

    /// A stretch of the array, stripe by stripe: the stripe, and from where to where in its data.
    pub fn split(&self, lba: u64, sectors: u64) -> impl Iterator<Item = (u64, u64, u64)> + use<> {
        let (stripe_sectors, end) = (self.stripe_sectors(), lba + sectors);
        (lba / stripe_sectors..end.div_ceil(stripe_sectors)).map(move |stripe| {
            let start = stripe * stripe_sectors;
            (stripe, lba.max(start) - start, end.min(start + stripe_sectors) - start)
        })
    }

    /// The places of a stripe: data units in their order, then parities; or the copies.
    pub fn places(&self, stripe: u64) -> Vec<Place> {
        (0..self.places_per_stripe()).map(|place| self.place(stripe, place)).collect()
    }

    /// One place of a stripe.
    pub fn place(&self, stripe: u64, place: usize) -> Place {
        let at = |index: u64| Place { member: (index % self.disks) as usize, lba: index / self.disks * self.chunk };
        match self.level {
            RaidLevel::Raid0 => at(stripe),
            RaidLevel::Raid1 => Place { member: place, lba: stripe * self.chunk },
            RaidLevel::Raid10 => at(stripe * 2 + place as u64),
            RaidLevel::Raid5 | RaidLevel::Raid6 => {
                Place { member: self.parity_member(stripe, place), lba: stripe * self.chunk }
            }
        }
    }

    /// The member of a place in a stripe with parity.
    fn parity_member(&self, stripe: u64, place: usize) -> usize {
        let (disks, parities) = (self.disks as usize, self.level.parities());
        let turn = (stripe % self.disks) as usize;
        let (parity, symmetric) = match self.parity_layout {
            ParityLayout::LeftSymmetric => (disks - 1 - turn, true),
            ParityLayout::RightSymmetric => (turn, true),
            ParityLayout::LeftAsymmetric => (disks - 1 - turn, false),
            ParityLayout::RightAsymmetric => (turn, false),
        };
        if place >= self.data {
            return (parity + place - self.data) % disks;
        }
        if symmetric {
            return (parity + parities + place) % disks;
        }
        // Q that wraps to member 0 moves all data by one, and none beyond P.
        let wrapped = (parity + parities).saturating_sub(disks);
        let moved = place + wrapped;
        if moved >= parity { moved + parities } else { moved }
    }
}

#[cfg(test)]
mod test {
    use super::super::test::config;
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// md's default layout of four members, as its documents draw it: P on the last member, then to
    /// the left, and data begins after parity.
    #[test]
    fn left_symmetric_is_as_drawn() {
        let layout = Layout::new(&config("level=5 disks=4"), 512, 1 << 20);
        let members: Vec<Vec<usize>> =
            (0..4).map(|stripe| layout.places(stripe).iter().map(|place| place.member).collect()).collect();
        assert_eq!(members, [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]]);
    }

    /// In an asymmetric layout data keeps its order, and Q may stand before it.
    #[test]
    fn left_asymmetric_keeps_the_order_of_data() {
        let layout = Layout::new(&config("level=6 disks=5 layout=left-asymmetric"), 512, 1 << 20);
        let members = |stripe| layout.places(stripe).iter().map(|place| place.member).collect::<Vec<_>>();
        assert_eq!(members(0), [1, 2, 3, 4, 0]);
        assert_eq!(members(1), [0, 1, 2, 3, 4]);
        assert_eq!(members(2), [0, 1, 4, 2, 3]);
    }

    /// Three members in RAID 10 hold two copies of each chunk, one beside the other.
    #[test]
    fn raid_10_of_three_puts_copies_side_by_side() {
        let layout = Layout::new(&config("level=10 disks=3"), 512, 4 << 20);
        let members = |stripe| layout.places(stripe).iter().map(|place| place.member).collect::<Vec<_>>();
        assert_eq!([members(0), members(1), members(2)], [[0, 1], [2, 0], [1, 2]]);
        assert_eq!(layout.sectors, (4 << 20) * 3 / 2);
    }

    proptest! {
        /// No two places share a sector of a member, none lies beyond its end, and the places of a
        /// stripe lie on different members.
        #[test]
        fn places_never_collide(
            level in prop::sample::select(vec!["0", "1", "5", "6", "10"]),
            disks in 4u32..9,
            name in prop::sample::select(vec!["left-symmetric", "left-asymmetric", "right-symmetric", "right-asymmetric"]),
            chunks in 1u64..40,
        ) {
            let config = config(&format!("level={level} disks={disks} layout={name} chunk_bytes=4KiB"));
            let member_sectors = chunks * 8 + 3;
            let layout = Layout::new(&config, 512, member_sectors);
            let mut taken = HashSet::new();
            for stripe in 0..layout.stripes() {
                let places = layout.places(stripe);
                let members: HashSet<_> = places.iter().map(|place| place.member).collect();
                prop_assert_eq!(members.len(), places.len());
                for place in places {
                    prop_assert!(place.member < disks as usize);
                    prop_assert!(place.lba + layout.unit_sectors(stripe) <= member_sectors);
                    prop_assert!(taken.insert((place.member, place.lba)));
                }
            }
        }
    }
}
