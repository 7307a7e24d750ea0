//! Plans carried out on bytes, one for each sector, against a plain array: whatever is lost within the
//! redundancy, data are intact. What a plan computes may come only from what it reads and what the
//! host sends.

use super::super::layout::Layout;
use super::super::plan::{Band, Stripe, Way};
use super::super::ranges::Ranges;
use super::config;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Multiplication in GF(2⁸) with the polynomial of RAID 6, x⁸ + x⁴ + x³ + x² + 1.
fn multiply(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b > 0 {
        if b & 1 == 1 {
            product ^= a;
        }
        a = (a << 1) ^ if a & 0x80 == 0 { 0 } else { 0x1d };
        b >>= 1;
    }
    product
}

/// The coefficient of a data unit in a parity: 1 in P, 2^unit in Q.
fn coefficient(parity: usize, unit: usize) -> u8 {
    (0..unit * parity).fold(1, |power, _| multiply(power, 2))
}

fn inverse(a: u8) -> u8 {
    (1..=255).find(|b| multiply(a, *b) == 1).expect("a unit")
}

fn parity_of(data: &[u8], parity: usize) -> u8 {
    data.iter().enumerate().fold(0, |sum, (unit, byte)| sum ^ multiply(coefficient(parity, unit), *byte))
}

/// An array whose sectors are bytes.
struct Bytes {
    layout: Layout,
    page: u64,
    members: Vec<Vec<u8>>,
    lost: Vec<bool>,
}

/// Bytes of one row of a stripe by place, as far as they are known.
type Row = BTreeMap<usize, u8>;

impl Bytes {
    fn new(settings: &str, member_sectors: u64) -> Bytes {
        let config = config(settings);
        let disks = config.disks as usize;
        Bytes {
            layout: Layout::new(&config, 512, member_sectors),
            page: config.page_bytes.0 / 512,
            members: vec![vec![0; member_sectors as usize]; disks],
            lost: vec![false; disks],
        }
    }

    fn stripe(&self, stripe: u64) -> Stripe {
        Stripe::new(&self.layout, stripe, |member| self.lost[member])
    }

    fn at(&mut self, view: &Stripe, place: usize, row: u64) -> &mut u8 {
        let found = view.places[place];
        assert!(!self.lost[found.member], "a lost member is touched");
        &mut self.members[found.member][(found.lba + row) as usize]
    }

    fn read_row(&mut self, view: &Stripe, band: &Band, row: u64) -> Row {
        band.reads.iter().map(|place| (*place, *self.at(view, *place, row))).collect()
    }

    /// All data units of a row, lost ones computed from parity.
    fn recover(&self, view: &Stripe, known: &Row) -> Vec<u8> {
        let lost: Vec<usize> = (0..view.data).filter(|unit| !known.contains_key(unit)).collect();
        let data: Vec<u8> = (0..view.data).map(|unit| known.get(&unit).copied().unwrap_or(0)).collect();
        // What is left of each parity once the known data are taken out: equations for the lost.
        let left: Vec<(usize, u8)> = (0..view.places.len() - view.data)
            .filter_map(|parity| known.get(&(view.data + parity)).map(|byte| (parity, byte ^ parity_of(&data, parity))))
            .collect();
        let mut data = data;
        match lost[..] {
            [] => {}
            [unit] => data[unit] = multiply(left[0].1, inverse(coefficient(left[0].0, unit))),
            [first, second] => {
                let (p, q) = (left[0].1, left[1].1);
                let (a, b) = (coefficient(1, first), coefficient(1, second));
                data[second] = multiply(q ^ multiply(a, p), inverse(a ^ b));
                data[first] = p ^ data[second];
            }
            _ => panic!("too much is lost"),
        }
        data
    }

    /// Writes ranges of a stripe's data; `new` tells a sector's new byte.
    fn write_stripe(&mut self, stripe: u64, ranges: &Ranges, page: u64, new: &dyn Fn(u64) -> u8) {
        let view = self.stripe(stripe);
        let chunk = self.layout.chunk;
        for band in view.write(ranges, page).bands {
            for row in band.from..band.to {
                let sent = |unit: usize| {
                    let at = unit as u64 * chunk + row;
                    (ranges.sectors_within(at, at + 1) == 1).then(|| new(at))
                };
                let known = self.read_row(&view, &band, row);
                for (place, byte) in self.row_after(&view, &band, &known, &sent) {
                    if band.writes.contains(&place) {
                        *self.at(&view, place, row) = byte;
                    }
                }
            }
        }
    }

    /// A row after the write, as far as it follows from what was read and sent.
    fn row_after(&self, view: &Stripe, band: &Band, known: &Row, sent: &dyn Fn(usize) -> Option<u8>) -> Row {
        let parities = 0..view.places.len() - view.data;
        let with_parity = |data: Vec<u8>| -> Row {
            let parity = parities.clone().map(|parity| (view.data + parity, parity_of(&data, parity)));
            data.iter().copied().enumerate().chain(parity).collect()
        };
        match band.way {
            Way::Plain if view.data == 1 => {
                (0..view.places.len()).filter_map(|copy| sent(0).map(|byte| (copy, byte))).collect()
            }
            Way::Plain => (0..view.data).filter_map(|unit| sent(unit).map(|byte| (unit, byte))).collect(),
            Way::Reconstruct => {
                let byte = |unit: usize| sent(unit).unwrap_or_else(|| *known.get(&unit).expect("read or sent"));
                with_parity((0..view.data).map(byte).collect())
            }
            Way::Recover => {
                let old = self.recover(view, known);
                with_parity(old.iter().enumerate().map(|(unit, old)| sent(unit).unwrap_or(*old)).collect())
            }
            Way::Modify => {
                let mut after = known.clone();
                for unit in (0..view.data).filter(|unit| known.contains_key(unit)) {
                    let change = known[&unit] ^ sent(unit).unwrap_or(known[&unit]);
                    *after.get_mut(&unit).expect("read") ^= change;
                    for parity in parities.clone() {
                        after
                            .entry(view.data + parity)
                            .and_modify(|byte| *byte ^= multiply(coefficient(parity, unit), change));
                    }
                }
                after
            }
        }
    }

    fn write(&mut self, lba: u64, bytes: &[u8]) {
        for (stripe, from, to) in self.layout.split(lba, bytes.len() as u64) {
            let start = stripe * self.layout.stripe_sectors();
            let new = |at: u64| bytes[(start + at - lba) as usize];
            self.write_stripe(stripe, &Ranges::of(from, to), self.page, &new);
        }
    }

    fn read(&mut self, lba: u64, sectors: u64) -> Vec<u8> {
        let mut bytes = BTreeMap::new();
        for (stripe, from, to) in self.layout.split(lba, sectors) {
            let view = self.stripe(stripe);
            let copy = view.lost.iter().position(|lost| !lost).expect("a copy is left");
            for band in view.read(from, to, self.page, copy).bands {
                for row in band.from..band.to {
                    let known = self.read_row(&view, &band, row);
                    let data = match band.way {
                        Way::Recover => self.recover(&view, &known).into_iter().enumerate().collect(),
                        _ if view.data == 1 => Row::from([(0, known[&copy])]),
                        _ => known,
                    };
                    let start = stripe * self.layout.stripe_sectors() + row;
                    bytes.extend(data.into_iter().map(|(unit, byte)| (start + unit as u64 * self.layout.chunk, byte)));
                }
            }
        }
        (lba..lba + sectors).map(|at| *bytes.get(&at).expect("all that was asked for is read")).collect()
    }

    /// Loses a member, unless data would be lost.
    fn lose(&mut self, member: usize) {
        self.lost[member] = true;
        let redundancy = self.layout.level.parities();
        let survives = (0..self.layout.stripes()).all(|stripe| {
            let lost = self.stripe(stripe).lost;
            let left = lost.iter().filter(|lost| !**lost).count();
            if redundancy > 0 { lost.len() - left <= redundancy } else { left > 0 }
        });
        self.lost[member] = survives;
        if survives {
            self.members[member].fill(0xee);
        }
    }

    /// Puts spares in for what is lost, and rebuilds them.
    fn rebuild(&mut self) {
        let lost = std::mem::replace(&mut self.lost, vec![false; self.members.len()]);
        for stripe in 0..self.layout.stripes() {
            let view = Stripe::new(&self.layout, stripe, |member| lost[member]);
            let replaced: Vec<usize> = (0..view.places.len()).filter(|place| view.lost[*place]).collect();
            for band in view.rebuild(&replaced).bands {
                for row in band.from..band.to {
                    let known = self.read_row(&view, &band, row);
                    let data = if view.data == 1 { vec![known[&band.reads[0]]] } else { self.recover(&view, &known) };
                    for place in &band.writes {
                        let parity = place.checked_sub(view.data).filter(|_| view.data > 1);
                        *self.at(&view, *place, row) = match parity {
                            Some(parity) => parity_of(&data, parity),
                            None => data[if view.data == 1 { 0 } else { *place }],
                        };
                    }
                }
            }
        }
    }

    /// Pages whose parity or copies do not fit, found by a scrub's reads.
    fn scrub(&mut self) -> BTreeSet<(u64, u64)> {
        let mut mismatches = BTreeSet::new();
        for stripe in 0..self.layout.stripes() {
            let view = self.stripe(stripe);
            for band in view.scrub(&Ranges::default()).bands {
                for row in band.from..band.to {
                    let known = self.read_row(&view, &band, row);
                    let data: Vec<u8> = (0..view.data).map(|unit| known[&unit]).collect();
                    let fits = (view.data..view.places.len()).all(|place| match self.layout.has_parity() {
                        true => known[&place] == parity_of(&data, place - view.data),
                        false => known[&place] == data[0],
                    });
                    if !fits {
                        mismatches.insert((stripe, row / self.page));
                    }
                }
            }
        }
        mismatches
    }
}

#[derive(Clone, Debug)]
enum Step {
    Write(u64, u64, u8),
    /// Several stretches of one stripe, as a cache destages them.
    Destage(u64, Vec<(u64, u64)>, u8),
    Read(u64, u64),
    Lose(usize),
    Rebuild,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (any::<u64>(), 1u64..200, any::<u8>()).prop_map(|(lba, sectors, byte)| Step::Write(lba, sectors, byte)),
        3 => (any::<u64>(), prop::collection::vec((any::<u64>(), 1u64..40), 1..5), any::<u8>())
            .prop_map(|(stripe, stretches, byte)| Step::Destage(stripe, stretches, byte)),
        5 => (any::<u64>(), 1u64..200).prop_map(|(lba, sectors)| Step::Read(lba, sectors)),
        2 => (0usize..8).prop_map(Step::Lose),
        1 => Just(Step::Rebuild),
    ]
}

fn settings() -> impl Strategy<Value = String> {
    let level = prop::sample::select(vec!["0", "1", "5", "6", "10"]);
    let layout = prop::sample::select(vec!["left-symmetric", "left-asymmetric", "right-symmetric", "right-asymmetric"]);
    (level, 4u32..8, layout, prop::sample::select(vec!["4KiB", "8KiB", "16KiB"])).prop_map(
        |(level, disks, layout, chunk)| format!("level={level} disks={disks} layout={layout} chunk_bytes={chunk}"),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Writes and reads of any size, whatever is lost and rebuilt between them: data are intact.
    #[test]
    fn data_are_intact_whatever_is_lost(settings in settings(), steps in prop::collection::vec(step(), 1..40)) {
        let mut array = Bytes::new(&settings, 200);
        let sectors = array.layout.sectors;
        let mut plain = vec![0u8; sectors as usize];
        for step in steps {
            match step {
                Step::Write(lba, length, byte) => {
                    let lba = lba % sectors;
                    let bytes: Vec<u8> = (0..length.min(sectors - lba)).map(|at| byte.wrapping_add(at as u8)).collect();
                    array.write(lba, &bytes);
                    plain[lba as usize..lba as usize + bytes.len()].copy_from_slice(&bytes);
                }
                Step::Destage(stripe, stretches, byte) => {
                    let stripe = stripe % array.layout.stripes();
                    let (stripe_sectors, line) = (array.layout.stripe_sectors(), array.layout.chunk);
                    let end = stripe_sectors.min(sectors - stripe * stripe_sectors);
                    let mut ranges = Ranges::default();
                    for (from, length) in stretches {
                        ranges.insert(from % end, (from % end + length).min(end));
                    }
                    array.write_stripe(stripe, &ranges, line, &|at| byte.wrapping_mul(at as u8));
                    for at in ranges.iter().flat_map(|(from, to)| from..to) {
                        plain[(stripe * stripe_sectors + at) as usize] = byte.wrapping_mul(at as u8);
                    }
                }
                Step::Read(lba, length) => {
                    let (lba, length) = (lba % sectors, length.min(sectors - lba % sectors));
                    prop_assert_eq!(array.read(lba, length), &plain[lba as usize..(lba + length) as usize]);
                }
                Step::Lose(member) => array.lose(member % array.members.len()),
                Step::Rebuild => array.rebuild(),
            }
        }
        prop_assert_eq!(array.read(0, sectors), plain);
        array.rebuild();
        prop_assert!(array.scrub().is_empty());
    }

    /// A scrub finds exactly the pages in which a copy or parity was changed.
    #[test]
    fn a_scrub_finds_exactly_what_was_damaged(
        settings in settings(),
        lba in any::<u64>(),
        damage in prop::collection::vec((any::<u64>(), any::<usize>(), any::<u64>()), 0..10),
    ) {
        let mut array = Bytes::new(&settings, 200);
        array.write(lba % (array.layout.sectors - 100), &[7; 100]);
        let mut damaged = BTreeSet::new();
        for (stripe, place, row) in damage {
            let view = array.stripe(stripe % array.layout.stripes());
            let redundant = view.data..view.places.len();
            if redundant.is_empty() {
                continue;
            }
            let (place, row) = (redundant.start + place % redundant.len(), row % view.sectors);
            // A sector damaged once keeps its damage: the same bits would undo it.
            if damaged.insert((stripe % array.layout.stripes(), row / array.page)) {
                *array.at(&view, place, row) ^= 0x5a;
            }
        }
        prop_assert_eq!(array.scrub(), damaged);
    }
}
