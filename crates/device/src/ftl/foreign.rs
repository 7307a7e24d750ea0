//! A policy that is not ours: a shared library, or a function of this process, behind the C interface of
//! `include/ssdlab_policy.h` (docs/howto/policy.md).
//!
//! The counters are handed over where they lie; nothing is copied, and nothing is added to what a write does unless the
//! policy asks for it. Each answer is checked. What is wrong with one is a *fault*: it is kept with the policy's name, the
//! choices from then on are the drive's own, so that the map stays whole, and whoever runs the drive makes an error of it.
//!
//! ```text
//! fault: answer < 0 that means nothing, answer ≥ count, no candidate, not free, no stream, or more than 16 · count
//!        answers in a row of which everything is valid, while another block has something to gain
//! ```
//! Left out: what is wrong inside the library. A crash ends the process, and an endless loop does not end.

mod library;

use crate::config::ftl::{FunctionPolicy, LibraryPolicy};
pub use crate::ftl::foreign::library::Choose;
use crate::ftl::foreign::library::Functions;
use crate::ftl::pool::Group;
use crate::ftl::victim::{Candidates, Leveling, VictimPolicy};
use crate::sim::random::Stream;
use ssdlab_policy::{BUILT_IN, NOTHING, PANICKED, RawBlocks, SEES_INVALIDATIONS, Unit};
use std::sync::{Mutex, PoisonError};

/// Answers in a row that gain nothing, for each block of the pool: a policy that draws each block alike misses the one
/// block that would gain something so often with a probability of e⁻¹⁶, once in nine million.
const USELESS_PER_BLOCK: u64 = 16;

/// Functions of this process that were registered, by number, and what each wants to see.
///
/// The one global: an address in a text could be any, and only who registers one can vouch for it.
static FUNCTIONS: Mutex<Vec<Option<(Choose, u32)>>> = Mutex::new(Vec::new());

/// Makes a function known; gives the number for `ftl.gc = "function:NUMBER:NAME"`. `sees` are bits as
/// `ssdlab_policy_sees` gives them.
///
/// # Safety
/// Until [`unregister`], and until no drive is left that has it as policy, the function does as the header says, in
/// whatever thread a drive runs.
pub unsafe fn register(choose: Choose, sees: u32) -> u32 {
    let mut functions = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    functions.push(Some((choose, sees)));
    functions.len() as u32 - 1
}

/// No drive that is opened from now on has this function as policy.
pub fn unregister(number: u32) {
    let mut functions = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(function) = functions.get_mut(number as usize) {
        *function = None;
    }
}

/// A policy that is not ours, for one drive.
pub struct Foreign {
    name: String,
    functions: Functions,
    /// Answers in a row that gained nothing.
    useless: u64,
    fault: Option<String>,
    /// Free groups by their numbers, as a policy sees them.
    free: Vec<u32>,
}

impl Foreign {
    /// Loads a library.
    ///
    /// # Errors
    /// What is wrong with it, and the remedy.
    pub fn load(policy: &LibraryPolicy) -> Result<Foreign, String> {
        Ok(Foreign::around(policy.path.clone(), Functions::load(policy)?))
    }

    /// Takes a registered function.
    ///
    /// # Errors
    /// The number is nobody's.
    pub fn registered(policy: &FunctionPolicy) -> Result<Foreign, String> {
        let functions = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        let (choose, sees) = functions.get(policy.number as usize).copied().flatten().ok_or_else(|| {
            format!("no function {} is registered now\nhand the function over: run(gc=…)", policy.number)
        })?;
        Ok(Foreign::around(policy.name.clone(), Functions::of_one(choose, sees)))
    }

    fn around(name: String, functions: Functions) -> Foreign {
        Foreign { name, functions, useless: 0, fault: None, free: Vec::new() }
    }

    /// The answer, or a fault from which on the policy is not asked any more.
    fn or_fault<A>(&mut self, answer: Result<A, String>) -> Option<A> {
        answer.map_err(|wrong| self.fault = Some(format!("policy {}: {wrong}", self.name))).ok()
    }

    /// The policy's choice, checked.
    fn ask(&mut self, candidates: &Candidates<'_>, random: &mut Stream) -> Result<Group, String> {
        let blocks = candidates.raw(random.bits());
        // SAFETY: `raw` points to `count` values at their strides, which nobody changes until the call returns; the
        // state is that which the library made, or null where it makes none.
        let answer = unsafe { (self.functions.choose)(self.functions.state, &blocks) };
        let group = checked(answer, &blocks, candidates)?;
        if candidates.valid(group) < blocks.capacity {
            self.useless = 0;
            return Ok(group);
        }
        self.useless += 1;
        let most = USELESS_PER_BLOCK * u64::from(blocks.count);
        let could_gain = || candidates.iter().any(|group| candidates.valid(group) < blocks.capacity);
        if self.useless > most && could_gain() {
            return Err(format!(
                "{most} answers in a row free nothing: all of those blocks is valid\nchoose a block with less than `capacity` valid units"
            ));
        }
        Ok(group)
    }

    /// The policy's choice among the free groups; none where it leaves that to the drive.
    fn ask_free(
        &mut self,
        candidates: &Candidates<'_>,
        is_cold: bool,
        random: &mut Stream,
    ) -> Result<Option<Group>, String> {
        let Some(open) = self.functions.open else { return Ok(None) };
        let blocks = candidates.raw(random.bits());
        self.free.clear();
        self.free.extend(candidates.free().map(|group| candidates.number(group)));
        let count = self.free.len() as u32;
        // SAFETY: as in `ask`; `free` holds `count` numbers.
        let answer = unsafe { open(self.functions.state, &blocks, self.free.as_ptr(), count, u32::from(is_cold)) };
        if answer == BUILT_IN {
            return Ok(None);
        }
        let number = u32::try_from(answer).ok().filter(|number| self.free.contains(number));
        let wrong =
            || wrong(answer, "the block is not free", "answer one of the numbers in `free`, or SSDLAB_BUILT_IN");
        number.map(|number| Some(candidates.group(number))).ok_or_else(wrong)
    }

    /// What the policy says of static wear levelling.
    fn ask_level(&mut self, candidates: &Candidates<'_>, random: &mut Stream) -> Result<Leveling, String> {
        let Some(level) = self.functions.level else { return Ok(Leveling::BuiltIn) };
        let blocks = candidates.raw(random.bits());
        // SAFETY: as in `ask`.
        match unsafe { level(self.functions.state, &blocks) } {
            BUILT_IN => Ok(Leveling::BuiltIn),
            NOTHING => Ok(Leveling::Nothing),
            answer => checked(answer, &blocks, candidates).map(Leveling::Move),
        }
    }

    /// The stream that the policy names.
    fn ask_stream(&self, unit: &Unit) -> Result<u32, String> {
        let Some(stream) = self.functions.stream else { return Ok(0) };
        // SAFETY: the unit is whole; the state as in `ask`.
        let answer = unsafe { stream(self.functions.state, unit) };
        let streams = self.functions.streams;
        u32::try_from(answer).ok().filter(|stream| *stream < streams).ok_or_else(|| {
            let has = format!("the streams are 0 to {}", streams - 1);
            wrong(answer, &has, "answer one of them, or more from ssdlab_policy_streams")
        })
    }
}

impl VictimPolicy for Foreign {
    fn order(&self) -> crate::ftl::pool::Order {
        crate::ftl::pool::Order::ByValid
    }

    fn pick(&mut self, candidates: &Candidates<'_>, random: &mut Stream) -> Option<Group> {
        if candidates.is_empty() {
            return None;
        }
        if self.fault.is_none() {
            let answer = self.ask(candidates, random);
            if let Some(group) = self.or_fault(answer) {
                return Some(group);
            }
        }
        candidates.fewest_valid()
    }

    fn sees_invalidations(&self) -> bool {
        self.functions.sees & SEES_INVALIDATIONS != 0
    }

    fn open(&mut self, candidates: &Candidates<'_>, is_cold: bool, random: &mut Stream) -> Option<Group> {
        if self.functions.open.is_none() || self.fault.is_some() {
            return None;
        }
        let answer = self.ask_free(candidates, is_cold, random);
        self.or_fault(answer).flatten()
    }

    fn level(&mut self, candidates: &Candidates<'_>, random: &mut Stream) -> Leveling {
        if self.functions.level.is_none() || self.fault.is_some() || candidates.is_empty() {
            return Leveling::BuiltIn;
        }
        let answer = self.ask_level(candidates, random);
        self.or_fault(answer).unwrap_or(Leveling::BuiltIn)
    }

    fn streams(&self) -> u32 {
        self.functions.streams
    }

    fn stream(&mut self, unit: &Unit) -> u32 {
        if self.fault.is_some() {
            return 0;
        }
        let answer = self.ask_stream(unit);
        self.or_fault(answer).unwrap_or(0)
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

/// What is wrong with an answer, and the remedy.
fn wrong(answer: i64, what: &str, remedy: &str) -> String {
    match answer {
        PANICKED => format!("answer {answer}: it panicked\nits message stands above"),
        answer if answer < 0 => format!("answer {answer}: an error of its own\n{remedy}"),
        answer => format!("answer {answer}: {what}\n{remedy}"),
    }
}

/// The group that an answer means.
fn checked(answer: i64, blocks: &RawBlocks, candidates: &Candidates<'_>) -> Result<Group, String> {
    let remedy = "answer a block whose SSDLAB_NOT_A_CANDIDATE is not set (docs/howto/policy.md)";
    let last = blocks.count - 1;
    let index = u32::try_from(answer).ok().filter(|index| *index < blocks.count);
    let index = index.ok_or_else(|| wrong(answer, &format!("the pool has the blocks 0 to {last}"), remedy))?;
    let group = candidates.group(index);
    match candidates.state(group) {
        None => Ok(group),
        Some(state) => Err(wrong(answer, &format!("the block is {state}"), remedy)),
    }
}
