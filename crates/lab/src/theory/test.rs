//! The closed forms against limits computed by hand, against each other, and against
//! [`super::brute_force`].

use super::brute_force::{Draws, simulate};
use super::*;
use proptest::prelude::*;

fn point(policy: Policy, over_provisioning: f64, pages_per_block: u32) -> Point {
    Point { over_provisioning, pages_per_block, policy, hot: None, trim_share: None, unwritten_share: None }
}

fn amplification(point: &Point) -> f64 {
    write_amplification(point).expect("a point with a closed form").write_amplification
}

fn uniform_at(policy: Policy, over_provisioning: f64, pages_per_block: u32) -> f64 {
    amplification(&point(policy, over_provisioning, pages_per_block))
}

fn assert_near(found: f64, expected: f64, relative: f64) {
    assert!((found / expected - 1.0).abs() <= relative, "{found} is more than {relative} away from {expected}");
}

/// Random at OP 25 %: ρ = 0.8, so 1/(1 − 0.8) = 5. FIFO with half of each victim valid: WA = 2 and
/// 1/2 = e^(−1/(2ρ)), so ρ = 1/(2 ln 2), OP = 2 ln 2 − 1.
#[test]
fn random_and_fifo_by_hand() {
    assert_near(uniform_at(Policy::Random, 0.25, 7), 5.0, 1e-12);
    assert_near(uniform_at(Policy::Fifo, 2.0 * std::f64::consts::LN_2 - 1.0, 7), 2.0, 1e-12);
}

/// Blocks of two pages, ρb = 3/2 (OP 1/3): j = 1, H_2 − H_1 = 1/2, so E = (1 − 1/2)/(1 − 2/3) = 3/2
/// and WA = 4/3. Beyond OP = H_2 − 1 = 1/2 victims are empty.
#[test]
fn greedy_by_hand() {
    assert_near(uniform_at(Policy::Greedy, 1.0 / 3.0, 2), 4.0 / 3.0, 1e-12);
    assert_near(uniform_at(Policy::Greedy, 0.51, 2), 1.0, 1e-12);
    assert_near(uniform_at(Policy::Greedy, 0.1, 1), 1.0, 1e-12);
}

/// Blocks of two pages and two choices: with v = E/(ρb), s_2 solves s² + 2v·s = 1 and s_1 solves
/// s² + v·s = 1 + v·s_2; at the E that the solver returns they must add up to ρb.
#[test]
fn two_choices_satisfy_the_equations() {
    let used_pages = 2.0 / 1.3;
    let freed = 2.0 / uniform_at(Policy::DChoices(2), 0.3, 2);
    let positive_root = |b: f64, c: f64| (-b + (b * b + 4.0 * c).sqrt()) / 2.0; // s² + b·s = c
    let rate = freed / used_pages;
    let two_valid = positive_root(2.0 * rate, 1.0);
    let one_valid = positive_root(rate, 1.0 + rate * two_valid);
    assert_near(one_valid + two_valid, used_pages, 1e-12);
}

/// FIFO is the formula with the main branch of Lambert's W, evaluated by a library.
#[test]
fn fifo_is_lambert_w() {
    for over_provisioning in [0.01, 0.07, 0.28, 0.8, 5.0] {
        let used: f64 = 1.0 / (1.0 + over_provisioning);
        let w = lambert_w::lambert_w0(-(-1.0 / used).exp() / used);
        let found = uniform_at(Policy::Fifo, over_provisioning, 64);
        assert_near(found, 1.0 / (1.0 + used * w), 1e-9);
    }
}

/// Greedy tends to FIFO as blocks grow; FIFO does not depend on the block.
#[test]
fn greedy_of_large_blocks_is_fifo() {
    for over_provisioning in [0.07, 0.28, 0.8] {
        let fifo = uniform_at(Policy::Fifo, over_provisioning, 64);
        assert_near(uniform_at(Policy::Greedy, over_provisioning, 65_536), fifo, 1e-3);
        let gap = |pages| fifo - uniform_at(Policy::Greedy, over_provisioning, pages);
        assert!(gap(32) > gap(256) && gap(256) > gap(4096) && gap(4096) > 0.0);
    }
}

/// A third of the requests trimming leaves half of the pages mapped, so OP' = 2(1 + OP) − 1; half of
/// them unwritten does the same, and both do it twice. At nearly half trimming nothing stays mapped.
#[test]
fn trim_and_unwritten_space_by_hand() {
    let plain = point(Policy::Fifo, 0.25, 64);
    let trimmed = Point { trim_share: Some(1.0 / 3.0), ..plain };
    let unwritten = Point { unwritten_share: Some(0.5), ..plain };
    let both = Point { trim_share: Some(1.0 / 3.0), ..unwritten };
    let effective = |point| write_amplification(point).unwrap().effective_over_provisioning;
    assert_near(effective(&trimmed), 1.5, 1e-12);
    assert_near(effective(&unwritten), 1.5, 1e-12);
    assert_near(effective(&both), 4.0, 1e-12);
    assert_near(amplification(&trimmed), uniform_at(Policy::Fifo, 1.5, 64), 1e-12);
    let barely_mapped = Point { trim_share: Some(0.5 - 1e-9), ..plain };
    assert_near(amplification(&barely_mapped), 1.0, 1e-6);
}

/// Cost-benefit, a hot share without FIFO, and a hot share with trims are refused, and the message
/// says what has a closed form.
#[test]
fn what_has_no_closed_form_is_refused() {
    let error = Policy::try_from(GcPolicy::CostBenefit).unwrap_err().to_string();
    for part in ["cost-benefit", "greedy", "fifo", "random", "d-choices:N"] {
        assert!(error.contains(part), "{error}");
    }
    let hot = Point { hot: Some((0.2, 0.8)), ..point(Policy::Greedy, 0.25, 64) };
    let error = write_amplification(&hot).unwrap_err();
    assert_eq!(error, TheoryError::HotNeedsFifo { policy: Policy::Greedy });
    let trimmed = Point { policy: Policy::Fifo, trim_share: Some(0.1), ..hot };
    assert_eq!(write_amplification(&trimmed).unwrap_err(), TheoryError::HotWithTrim);
}

/// An argument outside its range is an error that names the argument and the value.
#[test]
fn arguments_out_of_range_are_named() {
    let good = point(Policy::Fifo, 0.25, 64);
    let cases = [
        (Point { over_provisioning: 0.0, ..good }, "over-provisioning is 0"),
        (Point { over_provisioning: f64::NAN, ..good }, "over-provisioning is NaN"),
        (Point { pages_per_block: 0, ..good }, "pages per block is 0"),
        (Point { policy: Policy::DChoices(0), ..good }, "d-choices:N is 0"),
        (Point { trim_share: Some(0.5), ..good }, "trim share is 0.5"),
        (Point { unwritten_share: Some(1.0), ..good }, "unwritten share is 1"),
        (Point { hot: Some((0.0, 0.5)), ..good }, "hot share of the pages is 0"),
        (Point { hot: Some((0.5, 1.0)), ..good }, "hot share of the writes is 1"),
    ];
    for (point, expected) in cases {
        let error = write_amplification(&point).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} does not contain {expected:?}");
    }
}

proptest! {
    /// One choice is random, many choices are greedy, and more choices are never worse.
    #[test]
    fn choices_lead_from_random_to_greedy(spare in 0.05..0.8, pages in 32u32..=512) {
        let at = |policy| uniform_at(policy, spare, pages);
        assert_near(at(Policy::DChoices(1)), at(Policy::Random), 1e-9);
        assert_near(at(Policy::DChoices(1_000_000)), at(Policy::Greedy), 1e-3);
        prop_assert!(at(Policy::DChoices(2)) < at(Policy::Random));
        prop_assert!(at(Policy::DChoices(10)) < at(Policy::DChoices(2)));
    }

    /// Under uniform writes nothing is better than greedy, and nothing worse than random.
    #[test]
    fn greedy_is_best_and_random_worst(spare in 0.001..3.0, pages in 32u32..=512, d in 2u32..100) {
        let at = |policy| uniform_at(policy, spare, pages);
        for policy in [Policy::Fifo, Policy::DChoices(d)] {
            prop_assert!(at(Policy::Greedy) < at(policy) * (1.0 + 1e-9), "greedy, {}", policy);
            prop_assert!(at(policy) < at(Policy::Random), "{}", policy);
        }
    }

    /// More spare never writes more, and a write costs at least one program.
    #[test]
    fn more_spare_writes_less(spare in 0.001..5.0, more in 0.001..1.0, pages in 1u32..=512) {
        for policy in [Policy::Greedy, Policy::Fifo, Policy::Random, Policy::DChoices(5)] {
            let (little, much) = (uniform_at(policy, spare, pages), uniform_at(policy, spare + more, pages));
            prop_assert!(much >= 1.0 && much <= little, "{}: {} then {}", policy, little, much);
        }
    }

    /// Every allowed argument has an answer, from 1 up to the random victim's.
    #[test]
    fn every_allowed_point_has_an_answer(
        digits in -6.0..6.0, pages in 1u32..=4096, d in 1u32..=1_000_000, q in 0.0..0.5, x in 0.0..1.0,
    ) {
        let spare = 10f64.powf(digits);
        let widened = |policy| Point {
            trim_share: Some(q), unwritten_share: Some(x), ..point(policy, spare, pages)
        };
        for policy in [Policy::Greedy, Policy::Fifo, Policy::Random, Policy::DChoices(d)] {
            for point in [point(policy, spare, pages), widened(policy)] {
                let answer = write_amplification(&point).unwrap();
                let random = 1.0 + 1.0 / answer.effective_over_provisioning;
                let found = answer.write_amplification;
                prop_assert!((1.0..=random * (1.0 + 1e-6)).contains(&found), "{:?}", answer);
            }
        }
    }

    /// No trims, nothing left unwritten, and a hot set written like the rest change nothing.
    #[test]
    fn neutral_arguments_change_nothing(spare in 0.05..0.8, share in 0.01..0.99) {
        let plain = point(Policy::Fifo, spare, 64);
        let neutral = Point { trim_share: Some(0.0), unwritten_share: Some(0.0), ..plain };
        prop_assert_eq!(amplification(&neutral), amplification(&plain));
        let lukewarm = Point { hot: Some((share, share)), ..plain };
        assert_near(amplification(&lukewarm), amplification(&plain), 1e-12);
    }
}

/// Holds the closed form against the brute-force program at `count` drawn points.
fn agree(policy: Policy, count: usize, tolerance: f64, adapt: impl Fn(Point, &mut Draws) -> Point) {
    let mut draws = Draws(2024);
    for seed in 0..count as u64 {
        let spare = draws.fraction(0.05, 0.8);
        let pages = 32 + draws.below(481) as u32;
        let point = adapt(point(policy, spare, pages), &mut draws);
        let blocks = (200_000 / pages as usize).max(1024);
        let expected = amplification(&point);
        let found = simulate(&point, blocks, 4, seed);
        assert!(
            (found / expected - 1.0).abs() <= tolerance,
            "{point:?}: simulated {found:.4}, closed form {expected:.4}"
        );
    }
}

/// Greedy within 1 % of a simulation that shares nothing with it.
#[test]
fn greedy_agrees_with_brute_force() {
    agree(Policy::Greedy, 8, 0.01, |point, _| point);
}

/// FIFO within 1 %.
#[test]
fn fifo_agrees_with_brute_force() {
    agree(Policy::Fifo, 8, 0.01, |point, _| point);
}

/// Random within 2 %.
#[test]
fn random_agrees_with_brute_force() {
    agree(Policy::Random, 8, 0.02, |point, _| point);
}

/// Two choices within 2 %, ten within 1 %.
#[test]
fn choices_agree_with_brute_force() {
    agree(Policy::DChoices(2), 5, 0.02, |point, _| point);
    agree(Policy::DChoices(10), 5, 0.01, |point, _| point);
}

/// FIFO with a hot and a cold set within 1 %.
#[test]
fn hot_and_cold_agree_with_brute_force() {
    agree(Policy::Fifo, 6, 0.01, |point, draws| {
        let hot = (draws.fraction(0.05, 0.5), draws.fraction(0.5, 0.95));
        Point { hot: Some(hot), ..point }
    });
}

/// Trims and unwritten space, with several policies, within 1 %.
#[test]
fn empty_pages_agree_with_brute_force() {
    for policy in [Policy::Greedy, Policy::Fifo, Policy::DChoices(10)] {
        agree(policy, 2, 0.01, |point, draws| Point { trim_share: Some(draws.fraction(0.0, 0.4)), ..point });
        agree(policy, 2, 0.01, |point, draws| {
            let unwritten_share = Some(draws.fraction(0.0, 0.5));
            Point { unwritten_share, trim_share: Some(draws.fraction(0.0, 0.2)), ..point }
        });
    }
}
