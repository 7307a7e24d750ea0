//! How often each place comes: skews, zones, and what a smaller drive has of them.

use super::*;

/// Exact zipf ranks have their weights, and are spread: the two hottest blocks are not neighbours.
#[test]
fn zipf_weights_hold() {
    for theta in [0.8, 1.2] {
        let flags = format!("--rw=randread --random_distribution=zipf:{theta}:ranks=16384 --io_size=2g");
        let all = requests(&flags, 400_000);
        let mut counts = BTreeMap::new();
        for request in &all {
            *counts.entry(request.lba.0 / 8).or_insert(0.0) += 1.0;
        }
        let mut ranked: Vec<(f64, u64)> = counts.into_iter().map(|(b, c)| (c, b)).collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
        let zeta: f64 = (1..=16384).map(|k| f64::from(k).powf(-theta)).sum();
        for (rank, (count, _)) in ranked.iter().take(4).enumerate() {
            let expected = (rank as f64 + 1.0).powf(-theta) / zeta * all.len() as f64;
            assert!((count - expected).abs() < 5.0 * expected.sqrt(), "{theta} {rank} {count} {expected}");
        }
        assert!(ranked[0].1.abs_diff(ranked[1].1) > 1);
    }
}

/// With a center, the hottest block of a skew lies there.
#[test]
fn centers_place_the_hottest_block() {
    for kind in ["zipf:1.3:0.25", "pareto:0.1:0.25"] {
        let all = requests(&format!("--rw=randread --random_distribution={kind}"), 10_000);
        let hits = all.iter().filter(|r| r.lba.0 * 512 == CAPACITY / 4).count();
        assert!(hits > 1000, "{kind}: {hits}");
    }
}

/// Pareto's hottest block has the share its formula gives.
#[test]
fn paretos_shape_holds() {
    let all = requests("--rw=randread --random_distribution=pareto:0.2:0 --io_size=2g", 200_000);
    let power = 0.2f64.ln() / 0.8f64.ln();
    let expected = (1.0f64 / 16383.0).powf(1.0 / power) * all.len() as f64;
    let hottest = all.iter().filter(|r| r.lba.0 == 0).count() as f64;
    assert!((hottest - expected).abs() < 4.0 * expected.sqrt(), "{hottest} {expected}");
}

/// fio's normal: a bell over the ranks, which its hash then places. Undone here, its mean is the middle, and its
/// standard deviation that of the mean of twelve draws and of a draw as wide as asked for.
#[test]
fn normal_is_the_bell_that_fio_draws() {
    // The factor is odd, so that it has an inverse modulo the 2¹⁴ blocks.
    let inverse = (0..4).fold(1u64, |x, _| x.wrapping_mul(2u64.wrapping_sub(x.wrapping_mul(0x61C8_8646_80B5_83EB))));
    for share in [0.0, 0.1, 0.4] {
        let flags = format!("--rw=randread --random_distribution=normal:{} --io_size=2g", share * 100.0);
        let all = requests(&flags, 200_000);
        let ranks = all.iter().map(|r| ((r.lba.0 / 8).wrapping_mul(inverse) % 16_384) as f64 / 16_384.0);
        let mean = ranks.clone().sum::<f64>() / all.len() as f64;
        let variance = ranks.map(|rank| (rank - mean).powi(2)).sum::<f64>() / all.len() as f64;
        let expected = (1.0f64 / 144.0 + share * share / 12.0).sqrt();
        // Four standard errors of a mean and of a deviation over 200,000 draws.
        assert!((mean - 0.5).abs() < 0.0015, "{share}: {mean}");
        assert!((variance.sqrt() / expected - 1.0).abs() < 0.007, "{share}: {} {expected}", variance.sqrt());
    }
}

/// fio's zipf: ranks 0 and 1 have their weights, the others those of its approximation, and where the blocks are no
/// power of two its hash leaves some out.
#[test]
fn zipf_is_the_one_that_fio_draws() {
    let all = requests("--rw=randread --random_distribution=zipf:0.8:0 --io_size=2g", 400_000);
    let share = |block: u64| all.iter().filter(|r| r.lba.0 / 8 == block).count() as f64 / all.len() as f64;
    let zeta: f64 = (1..=16384).map(|rank| f64::from(rank).powf(-0.8)).sum();
    let place = |rank: u64| rank.wrapping_mul(0x61C8_8646_80B5_83EB) % 16_384;
    for (rank, weight) in [(0, 1.0), (1, 2f64.powf(-0.8))] {
        let expected = weight / zeta;
        let error = (expected / all.len() as f64).sqrt();
        assert!((share(place(rank)) - expected).abs() < 5.0 * error, "{rank}: {} {expected}", share(place(rank)));
    }
    let met = |size: &str| {
        let all =
            requests(&format!("--rw=randread --random_distribution=zipf:0.2 --size={size} --io_size=8g"), 2_000_000);
        all.iter().map(|r| r.lba.0).collect::<BTreeSet<u64>>().len()
    };
    // Of 10,000 blocks i · φ mod 2⁶⁴ mod 10,000 meets 4,822.
    assert_eq!((met("32m"), met("40000k")), (8192, 4822));
}

/// Zones get their shares, relative or absolute; zones beyond the region are refused.
#[test]
fn zones_hold_their_shares() {
    for kind in ["zoned:60/10:30/20:10/70", "zoned_abs:60/6710886:30/13421773:10/40m"] {
        let all = requests(&format!("--rw=randwrite --random_distribution={kind}"), 16_000);
        let below = |percent: u64| {
            let edge = CAPACITY / 512 * percent / 100;
            all.iter().filter(|r| r.lba.0 < edge).count() as f64 / all.len() as f64
        };
        assert!((below(10) - 0.6).abs() < 0.02 && (below(30) - 0.9).abs() < 0.02, "{kind}");
    }
    let beyond = error("--rw=randwrite --random_distribution=zoned_abs:60/60m:40/60m");
    assert!(beyond.contains("the zones reach to byte 125829120"), "{beyond}");
}

/// A block that stands for many ranks of a larger drive gets the sum of their weights.
#[test]
fn blocks_share_the_ranks_of_a_larger_drive() {
    let (theta, ranks, share) = (0.9, 1 << 20, 64);
    let flags = format!("--rw=randread --random_distribution=zipf:{theta}:0:ranks={ranks} --io_size=2g");
    let all = requests(&flags, 200_000);
    let hottest = all.iter().filter(|r| r.lba.0 == 0).count() as f64;
    let weight = |ranks: i32| (1..=ranks).map(|k| f64::from(k).powf(-theta)).sum::<f64>();
    let expected = weight(share) / weight(ranks) * all.len() as f64;
    assert!((hottest - expected).abs() < 4.0 * expected.sqrt(), "{hottest} {expected}");
    let few = error("--rw=randread --random_distribution=zipf:0.9:ranks=16383");
    assert!(few.contains("16383 ranks are fewer than the 16384 blocks"), "{few}");
}

/// Scattered zones: the hot blocks are as many as in the zone, lie in every stretch of the region, and stay where
/// they are in the next round; what has no share is never written.
#[test]
fn scattered_zones_lie_mixed() {
    let all = requests("--rw=randwrite --random_distribution=zoned_scatter:90/10:10/40 --io_size=2g", 200_000);
    let mut counts = BTreeMap::new();
    for request in &all {
        *counts.entry(request.lba.0 / 8).or_insert(0u64) += 1;
    }
    let hot: Vec<u64> = counts.iter().filter(|(_, count)| **count > 50).map(|(block, _)| *block).collect();
    assert_eq!(hot.len(), 1638);
    assert!((7000..=8191).contains(&counts.len()), "{}", counts.len());
    for stretch in 0..8 {
        let inside = hot.iter().filter(|block| **block / 2048 == stretch).count() as f64;
        assert!((inside - 204.8).abs() < 4.0 * 204.8f64.sqrt(), "{stretch}: {inside}");
    }
}
