use super::*;
use crate::workload::parse::parse_job_file;
use std::collections::HashSet;

const SECTOR: u32 = 512;
const BLOCKS: u64 = 10_000;

fn job(more: &str) -> Job {
    let text = format!("[a]\nrw=randwrite\nbs=4k\nsprandom=1\n{more}");
    parse_job_file(&text, "-").unwrap().jobs.remove(0)
}

fn pass(more: &str) -> Result<Pass, Misfit> {
    let job = job(more);
    Pass::new(&job, job.sprandom.expect("it is asked for"), BLOCKS * 8, SECTOR, 1)
}

fn blocks(pass: &mut Pass) -> Vec<u64> {
    std::iter::from_fn(|| pass.next()).map(|(sector, _)| sector / 8).collect()
}

/// By hand, three regions at 25 %: write amplification 2.7, so the least validity is 1 − 1/2.7 = 0.6296. Validities 1,
/// 0.8148, 0.6296 stand for space up to 1, 2.2273, 3.8155; the middle one, at 2.4078, is
/// 0.8148 − 0.1852 · 0.1805/1.5882 = 0.7938.
#[test]
fn validities_rise_to_one() {
    let found = validities(3, 0.25);
    for (found, expected) in found.iter().zip([0.6296, 0.7938, 1.0]) {
        assert!((found - expected).abs() < 1e-4, "{found} for {expected}");
    }
}

/// Each block is written at least once, some once more, and those the more the earlier their region: the share of the
/// first region whose copy became invalid is 1 − its validity.
#[test]
fn early_regions_lose_their_share() {
    for cache in ["", "spr_cs=64k\n"] {
        let mut pass = pass(&format!("spr_op=0.25\nspr_num_regions=10\n{cache}")).unwrap();
        let region = pass.region_writes as usize;
        let order = blocks(&mut pass);
        assert_eq!(order.iter().collect::<HashSet<_>>().len() as u64, BLOCKS, "every block");
        let most = BLOCKS as usize * 5 / 4;
        assert!((most - 2 * region..=most).contains(&order.len()), "{} writes", order.len());
        let mut newest = vec![0; BLOCKS as usize];
        (0..).zip(&order).for_each(|(place, block)| newest[*block as usize] = place);
        let valid = |number: usize| {
            let range = number * region..(number + 1) * region;
            range.filter(|place| newest[order[*place] as usize] == *place).count() as f64 / region as f64
        };
        // Four standard deviations of a share of 1250 writes.
        let deviation = |share: f64| 4.0 * (share * (1.0 - share) / region as f64).sqrt() + 0.01;
        for (number, share) in validities(10, 0.25).into_iter().take(8).enumerate() {
            assert!((valid(number) - share).abs() < deviation(share), "region {number}: {} for {share}", valid(number));
        }
    }
}

/// A pass that is repeated is the same where draws are.
#[test]
fn a_pass_repeats() {
    let mut pass = pass("spr_num_regions=10\n").unwrap();
    let first = blocks(&mut pass);
    pass.restart(true);
    assert_eq!(blocks(&mut pass), first);
    pass.restart(false);
    assert_ne!(blocks(&mut pass), first);
}

/// More regions than writes, and a cache larger than a region, are named.
#[test]
fn what_does_not_fit_is_named() {
    assert_eq!(pass("spr_num_regions=20000\n").unwrap_err().0, "spr_num_regions");
    assert_eq!(pass("spr_cs=1m\n").unwrap_err().0, "spr_cs");
}
