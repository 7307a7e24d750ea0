//! The closed forms themselves, of the used share ρ = 1/(1 + OP) and b pages a block.
//!
//! Sources: FIFO (the log-structured array under uniform writes) from Menon, "A performance
//! comparison of RAID-5 and log-structured arrays", HPDC 1995, put with Lambert's W by Xiang and
//! Kurkoski, "An improved analytic expression for write amplification in NAND flash", ICNC 2012;
//! hot and cold FIFO and greedy from Desnoyers, "Analytic models of SSD write performance", ACM
//! Transactions on Storage 10(2), 2014; d choices from Van Houdt, "A mean field model for a class of
//! garbage collection algorithms in flash-based solid state drives", SIGMETRICS 2013, of which
//! random is d = 1 and greedy the limit d → ∞; TRIM from Frankie, Hughes and Kreutz-Delgado, "A
//! mathematical model of the trim command in NAND-flash SSDs", ACM Southeast 2012.
//!
//! Arguments are checked by the caller.

use libm::{expm1, pow};

/// Halvings after which a bracket around a number of f64 cannot shrink any more.
const BISECTIONS: u32 = 100;

/// Random victim: a block is as full as the drive, so WA = 1/(1 − ρ), whatever its size.
pub fn random(used: f64) -> f64 {
    1.0 / (1.0 - used)
}

/// FIFO: WA = 1/(1 + ρ·W₀(−e^(−1/ρ)/ρ)), by its equation WA = 1/(1 − e^(−1/(ρWA))).
///
/// A page is still valid when its block's turn comes with probability e^(−1/(ρWA)), which is −ρ·W₀.
/// The equation keeps its digits at a small spare, where the argument of W₀ nears its branch point
/// −1/e.
pub fn fifo(used: f64) -> f64 {
    bisect(1.0, random(used), |amplification| 1.0 / -expm1(-1.0 / (used * amplification)) > amplification)
}

/// FIFO with one frontier, where a share `space` of the pages gets a share `writes` of the writes:
/// the WA with WA = r/(1 − e^(−r/(fρWA))) + (1−r)/(1 − e^(−(1−r)/((1−f)ρWA))).
///
/// A page is still valid with probability e^(−its write rate · the writes of one round of the FIFO);
/// each term is the programs that one set needs. The right side exceeds WA at 1 and falls below it
/// before 1/(1 − ρ), the random victim's value.
pub fn fifo_hot_cold(used: f64, space: f64, writes: f64) -> f64 {
    let programs =
        |writes: f64, space: f64, amplification: f64| writes / -expm1(-writes / (space * used * amplification));
    bisect(1.0, random(used), |amplification| {
        let hot = programs(writes, space, amplification);
        let cold = programs(1.0 - writes, 1.0 - space, amplification);
        hot + cold > amplification
    })
}

/// Greedy with many blocks: E = ((b−j)/j − (H_b − H_j)) / (1/j − 1/(ρb)) pages are freed by a victim,
/// j being the one integer for which b−j ≤ E ≤ b−j+1; WA = b/E.
///
/// j is the number of valid pages of the fuller victims, the others having one fewer. Where not even
/// j = 1 fits, there is so much spare that victims are empty.
pub fn greedy(used: f64, pages_per_block: u32) -> f64 {
    let pages = f64::from(pages_per_block);
    let mut harmonic_rest = 0.0; // H_b − H_j
    for j in (1..pages_per_block).rev() {
        let level = f64::from(j);
        harmonic_rest += 1.0 / (level + 1.0);
        let freed = ((pages - level) / level - harmonic_rest) / (1.0 / level - 1.0 / (used * pages));
        // Rounding may put E just beyond the border of two j, where both give the same E.
        let slack = 1e-9;
        if (pages - level - slack..=pages - level + 1.0 + slack).contains(&freed) {
            return pages / freed.min(pages);
        }
    }
    1.0
}

/// The best of d random blocks: march i = b…1 with (E/(ρb))·i·(s_i − s_(i+1)) = 1 − s_i^d, where s_i is
/// the share of blocks with at least i valid pages, and find the E with Σ s_i = ρb; WA = b/E.
///
/// The left side is the blocks that sink below i because the host overwrites, the right side those
/// that do not vanish from above i as victims, both for one block collected.
pub fn d_choices(used: f64, pages_per_block: u32, choices: u32) -> f64 {
    let pages = f64::from(pages_per_block);
    // The more pages a victim frees, the fewer are valid.
    let freed =
        bisect(0.0, pages, |freed| valid_pages(freed / (used * pages), pages_per_block, choices) > used * pages);
    pages / freed
}

/// Σ s_i: the mean number of valid pages of a block, where each page is overwritten `rate` times
/// for one block collected.
fn valid_pages(rate: f64, pages_per_block: u32, choices: u32) -> f64 {
    let mut share_above = 0.0;
    let mut sum = 0.0;
    for level in (1..=pages_per_block).rev() {
        share_above = share_at_level(rate * f64::from(level), share_above, f64::from(choices));
        sum += share_above;
    }
    sum
}

/// The s between `above` and 1 with flow·(s − above) = 1 − s^d, by Newton's method from 1: the
/// difference of both sides rises and is convex, so that the steps only ever go down to the root.
fn share_at_level(flow: f64, above: f64, choices: f64) -> f64 {
    let mut share = 1.0;
    loop {
        let power = pow(share, choices - 1.0);
        let excess = flow * (share - above) + share * power - 1.0;
        let step = excess / (flow + choices * power);
        if step <= 1e-15 * share {
            return share;
        }
        share -= step;
    }
}

/// The share of the pages that is mapped when a share q of the requests trims a random mapped page
/// and the others write any page: s = (1 − 2q)/(1 − q).
///
/// In balance a trim unmaps as many pages as writes map again: q = (1 − q)(1 − s).
pub fn mapped_share(trim_share: f64) -> f64 {
    (1.0 - 2.0 * trim_share) / (1.0 - trim_share)
}

/// The border between `low`, where the condition holds, and `high`, where it does not.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if holds(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}
