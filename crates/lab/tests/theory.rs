//! Steady-state write amplification of the simulated drive against the closed forms, at points
//! drawn with a fixed seed: over-provisioning 5 to 80 %, 32 to 512 pages a block.

use crate::steady::{assert_theory, drawn, drive, point, settle, spare_and_pages, steady, writes};
use proptest::prelude::*;
use ssdlab_device::block::Device;
use ssdlab_device::ftl::mapping::Place;
use ssdlab_device::sim::random::{Purpose, Stream};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::Lpn;
use ssdlab_lab::theory::{Point, Policy};
use ssdlab_lab::workload::job::{Extent, Job};

fn uniform_point_holds(point: &Point) {
    assert_theory(point, steady(&mut drive(point, &[]), &writes(&[]), 1.0));
}

proptest! {
    #![proptest_config(drawn(6, 1))]

    /// Greedy: the formula with harmonic numbers, at drawn points.
    #[test]
    fn greedy((spare, pages) in spare_and_pages()) {
        uniform_point_holds(&point(Policy::Greedy, spare, pages));
    }
}

proptest! {
    #![proptest_config(drawn(6, 2))]

    /// FIFO: Lambert's W, at drawn points.
    #[test]
    fn fifo((spare, pages) in spare_and_pages()) {
        uniform_point_holds(&point(Policy::Fifo, spare, pages));
    }
}

proptest! {
    #![proptest_config(drawn(6, 3))]

    /// Random victims: 1/(1 − ρ), at drawn points. A victim that frees nothing is collected all the same and counts.
    #[test]
    fn random((spare, pages) in spare_and_pages()) {
        uniform_point_holds(&point(Policy::Random, spare, pages));
    }
}

proptest! {
    #![proptest_config(drawn(6, 4))]

    /// The best of 2 to 10: the marching solution, at drawn points.
    #[test]
    fn d_choices((spare, pages) in spare_and_pages(), choices in 2u32..=10) {
        uniform_point_holds(&point(Policy::DChoices(choices), spare, pages));
    }
}

proptest! {
    #![proptest_config(drawn(4, 5))]

    /// A hot share of the pages gets a greater share of the writes; FIFO, one frontier.
    #[test]
    fn hot_and_cold_fifo(spare in 0.07f64..=0.5, pages in 32u32..=128, hot in 5u32..=40, more in 10u32..=50) {
        let (space, accesses) = (hot, hot + more);
        let job = writes(&[&format!("--random_distribution=zoned:{accesses}/{space}:{}/{}", 100 - accesses, 100 - space)]);
        let shares = (f64::from(space) / 100.0, f64::from(accesses) / 100.0);
        let point = Point { hot: Some(shares), ..point(Policy::Fifo, spare, pages) };
        assert_theory(&point, steady(&mut drive(&point, &[]), &job, 1.0));
    }

    /// A share of the requests trims a random mapped page; writes go to all pages.
    #[test]
    fn trim_share(spare in 0.05f64..=0.3, pages in 32u32..=128, share in 0.02f64..=0.3, greedy in any::<bool>()) {
        let policy = if greedy { Policy::Greedy } else { Policy::Fifo };
        let point = Point { trim_share: Some(share), ..point(policy, spare, pages) };
        let mut ssd = drive(&point, &[]);
        settle(&mut ssd, &writes(&[]), 1.0);
        let mut host = TrimmingHost { share, draws: Stream::new(5, Purpose::Victim) };
        let fill = u64::from(ssd.ftl.exported);
        host.write(&mut ssd, 6 * fill);
        let mapped = ssd.ftl.mapped_units() as f64 / fill as f64;
        let expected = (1.0 - 2.0 * share) / (1.0 - share);
        prop_assert!((mapped / expected - 1.0).abs() < 0.01, "mapped {}, expected {}", mapped, expected);
        assert_theory(&point, host.write(&mut ssd, 2 * fill));
    }

    /// What the host never writes is spare area.
    #[test]
    fn unwritten_share(spare in 0.05f64..=0.3, pages in 32u32..=128, share in 0.05f64..=0.4, greedy in any::<bool>()) {
        let policy = if greedy { Policy::Greedy } else { Policy::Fifo };
        let point = Point { unwritten_share: Some(share), ..point(policy, spare, pages) };
        let mut ssd = drive(&point, &[]);
        let span = 1.0 - share;
        let units = (f64::from(ssd.ftl.exported) * span).round() as u64;
        let job = Job { size: Some(Extent::Bytes(units * 4096)), ..writes(&[]) };
        assert_theory(&point, steady(&mut ssd, &job, span));
        prop_assert_eq!(ssd.ftl.mapped_units() as u64, units);
    }
}

/// Writes anywhere, and in between trims what is mapped.
struct TrimmingHost {
    share: f64,
    draws: Stream,
}

impl TrimmingHost {
    /// Writes so many units; returns their write amplification.
    fn write(&mut self, ssd: &mut Ssd, units: u64) -> f64 {
        let before = ssd.counters();
        while ssd.counters().host_pages_written < before.host_pages_written + units {
            let trims = self.draws.unit() < self.share;
            let lpn = Lpn(self.draws.below(ssd.ftl.exported));
            match trims {
                false => assert!(ssd.write_now(lpn, 0)),
                true => self.trim_mapped(ssd, lpn),
            }
        }
        (ssd.counters() - before).unit_write_amplification().expect("something was written")
    }

    fn trim_mapped(&mut self, ssd: &mut Ssd, first: Lpn) {
        let mut lpn = first;
        while ssd.ftl.place(lpn) == Place::Unmapped {
            lpn = Lpn(self.draws.below(ssd.ftl.exported));
        }
        ssd.trim_now(lpn);
    }
}
