//! Write amplification in closed form: what a simulated drive is compared with.
//!
//! Models single-page writes in the steady state, addresses drawn uniformly at random (or from a hot
//! and a cold set), one frontier, many blocks. Leaves out everything with a time, finite numbers of
//! blocks, sequential or correlated addresses, and wear.
//!
//! With U exported and T physical pages that take part in garbage collection, over-provisioning is
//! OP = (T − U)/U, the used share ρ = U/T = 1/(1 + OP), and write amplification = programs / host
//! writes. Pages that hold nothing, because they were never written or were trimmed, work as
//! additional over-provisioning: [`Answer::effective_over_provisioning`].

#[cfg(test)]
mod brute_force;
mod closed_form;
#[cfg(test)]
mod test;

use serde::Serialize;
use ssdlab_device::config::ftl::GcPolicy;
use ssdlab_device::parameter::Value as _;
use std::fmt;

/// Below this nothing is a drive, and f64 loses the digits of 1 − ρ.
const MIN_OVER_PROVISIONING: f64 = 1e-6;
/// Beyond this every write amplification is 1.
const MAX_OVER_PROVISIONING: f64 = 1e6;
/// Pages a block may have, for the formulas that are summed over a block.
const MAX_PAGES_PER_BLOCK: u32 = 65_536;
/// Choices that a block's victim may be drawn from.
const MAX_CHOICES: u32 = 1_000_000;

/// Which victim garbage collection takes: those for which a closed form is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The block with the fewest valid pages.
    Greedy,
    /// The block written longest ago.
    Fifo,
    /// Any block.
    Random,
    /// The best of so many blocks drawn at random.
    DChoices(u32),
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Greedy => write!(f, "greedy"),
            Policy::Fifo => write!(f, "fifo"),
            Policy::Random => write!(f, "random"),
            Policy::DChoices(choices) => write!(f, "d-choices:{choices}"),
        }
    }
}

impl TryFrom<GcPolicy> for Policy {
    type Error = TheoryError;

    fn try_from(policy: GcPolicy) -> Result<Policy, TheoryError> {
        match policy {
            GcPolicy::Greedy => Ok(Policy::Greedy),
            GcPolicy::Fifo => Ok(Policy::Fifo),
            GcPolicy::Random => Ok(Policy::Random),
            GcPolicy::DChoices(choices) => Ok(Policy::DChoices(choices)),
            other => Err(TheoryError::NoClosedForm { policy: other.show() }),
        }
    }
}

/// A drive and a workload of which the write amplification is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// (physical − exported) / exported, of the pages that take part in garbage collection; above 0.
    pub over_provisioning: f64,
    /// Pages of a block. Only greedy and d-choices depend on it.
    pub pages_per_block: u32,
    /// Choice of victim.
    pub policy: Policy,
    /// Share of the written pages that is hot, and share of the writes that goes there; FIFO only.
    /// None: all pages are written alike.
    pub hot: Option<(f64, f64)>,
    /// Share of the requests that trim a random mapped page, below one half.
    pub trim_share: Option<f64>,
    /// Share of the exported pages that is never written.
    pub unwritten_share: Option<f64>,
}

/// What the closed form says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// Programs per host write.
    pub write_amplification: f64,
    /// Over-provisioning with the pages that hold nothing counted in.
    pub effective_over_provisioning: f64,
    /// The closed form that was used.
    pub formula: String,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TheoryError {
    /// An argument for which the formulas mean nothing.
    #[error("{name} is {value}: it must be {allowed}")]
    OutOfRange {
        /// Which argument.
        name: &'static str,
        /// As given.
        value: f64,
        /// The range in words.
        allowed: &'static str,
    },
    /// A policy that can only be simulated.
    #[error(
        "no closed form is known for {policy}: there is one for greedy, fifo, random and d-choices:N; \
         {policy} can be simulated"
    )]
    NoClosedForm {
        /// As the command line names it.
        policy: String,
    },
    /// A hot set with a policy other than FIFO.
    #[error(
        "no closed form is known for a hot share with {policy}: there is one for fifo; leave the hot \
         share out, take fifo, or simulate {policy}"
    )]
    HotNeedsFifo {
        /// The policy that was asked for.
        policy: Policy,
    },
    /// A hot set and trims at once.
    #[error("no closed form is known for a hot share together with a trim share: leave one out")]
    HotWithTrim,
}

/// The write amplification at a point, from the closed form for its policy.
///
/// ```
/// use ssdlab_lab::theory::{Point, Policy, write_amplification};
///
/// let point = Point {
///     over_provisioning: 0.25,
///     pages_per_block: 64,
///     policy: Policy::Random,
///     hot: None,
///     trim_share: None,
///     unwritten_share: None,
/// };
/// // 1/(1 − ρ) with ρ = 1/1.25.
/// assert!((write_amplification(&point)?.write_amplification - 5.0).abs() < 1e-9);
/// # Ok::<(), ssdlab_lab::theory::TheoryError>(())
/// ```
///
/// # Errors
/// [`TheoryError`] where an argument is out of its range or no closed form is known.
pub fn write_amplification(point: &Point) -> Result<Answer, TheoryError> {
    check_ranges(point)?;
    let over_provisioning = effective_over_provisioning(point);
    let used = 1.0 / (1.0 + over_provisioning);
    let (write_amplification, formula) = match point.hot {
        Some((space, writes)) => {
            check_hot(point)?;
            (closed_form::fifo_hot_cold(used, space, writes), HOT_COLD_FORMULA)
        }
        None => uniform(point, used),
    };
    Ok(Answer {
        write_amplification,
        effective_over_provisioning: over_provisioning,
        formula: described(point, formula),
    })
}

const HOT_COLD_FORMULA: &str = "FIFO, hot and cold: WA = r/(1 − e^(−r/(f·ρ·WA))) + (1−r)/(1 − e^(−(1−r)/((1−f)·ρ·WA)))";

fn uniform(point: &Point, used: f64) -> (f64, &'static str) {
    let pages = point.pages_per_block;
    match point.policy {
        Policy::Random => (closed_form::random(used), "random victim: WA = 1/(1 − ρ)"),
        Policy::Fifo => (closed_form::fifo(used), "FIFO: WA = 1/(1 + ρ·W₀(−e^(−1/ρ)/ρ))"),
        Policy::Greedy => (
            closed_form::greedy(used, pages),
            "greedy: WA = b/E, E = ((b−j)/j − (H_b − H_j)) / (1/j − 1/(ρ·b)), b−j ≤ E ≤ b−j+1",
        ),
        Policy::DChoices(choices) => (
            closed_form::d_choices(used, pages, choices),
            "d choices: WA = b/E, (E/(ρ·b))·i·(s_i − s_(i+1)) = 1 − s_i^d, Σ s_i = ρ·b",
        ),
    }
}

/// Pages that hold nothing widen the spare: first those never written, then, of the rest, those
/// trimmed.
fn effective_over_provisioning(point: &Point) -> f64 {
    let written_share = 1.0 - point.unwritten_share.unwrap_or(0.0);
    let mapped_share = closed_form::mapped_share(point.trim_share.unwrap_or(0.0));
    // Not (1 + OP)/share − 1, which loses the digits of a small OP.
    let empty_share = 1.0 - written_share * mapped_share;
    (point.over_provisioning + empty_share) / (written_share * mapped_share)
}

/// The formula, and what changed the over-provisioning that goes into it.
fn described(point: &Point, formula: &str) -> String {
    let mut text = formula.to_owned();
    if point.unwritten_share.is_some() {
        text.push_str("; never written: 1 + OP' = (1 + OP)/(1 − x)");
    }
    if point.trim_share.is_some() {
        text.push_str("; trimmed: 1 + OP' = (1 + OP)·(1 − q)/(1 − 2q)");
    }
    text
}

fn check_ranges(point: &Point) -> Result<(), TheoryError> {
    let spare = point.over_provisioning;
    let has_spare = (MIN_OVER_PROVISIONING..=MAX_OVER_PROVISIONING).contains(&spare);
    check(has_spare, "over-provisioning", spare, "a fraction above 0 such as 0.28, from 1e-6 to 1e6")?;
    let pages = point.pages_per_block;
    let has_pages = (1..=MAX_PAGES_PER_BLOCK).contains(&pages);
    check(has_pages, "pages per block", pages.into(), "1 to 65536")?;
    if let Policy::DChoices(choices) = point.policy {
        let may_choose = (1..=MAX_CHOICES).contains(&choices);
        check(may_choose, "the N of d-choices:N", choices.into(), "1 to 1000000")?;
    }
    if let Some(share) = point.trim_share {
        check((0.0..0.5).contains(&share), "trim share", share, TRIM_ALLOWED)?;
    }
    if let Some(share) = point.unwritten_share {
        check((0.0..1.0).contains(&share), "unwritten share", share, "0 or more and below 1")?;
    }
    Ok(())
}

const TRIM_ALLOWED: &str = "0 or more and below 0.5, since no more pages can be trimmed than are written";

fn check_hot(point: &Point) -> Result<(), TheoryError> {
    let Some((space, writes)) = point.hot else {
        return Ok(());
    };
    let inside = |share: f64| share > 0.0 && share < 1.0;
    check(inside(space), "hot share of the pages", space, "above 0 and below 1")?;
    check(inside(writes), "hot share of the writes", writes, "above 0 and below 1")?;
    if point.policy != Policy::Fifo {
        return Err(TheoryError::HotNeedsFifo { policy: point.policy });
    }
    if point.trim_share.is_some_and(|share| share > 0.0) {
        return Err(TheoryError::HotWithTrim);
    }
    Ok(())
}

fn check(allowed_here: bool, name: &'static str, value: f64, allowed: &'static str) -> Result<(), TheoryError> {
    if allowed_here { Ok(()) } else { Err(TheoryError::OutOfRange { name, value, allowed }) }
}
