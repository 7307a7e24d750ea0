//! A victim policy that is not ours: a shared library, or a function of this process, behind the C interface of
//! `include/ssdlab_policy.h` (docs/policy.md).
//!
//! The counters are handed over where they lie; nothing is copied, and nothing is added to what a write does. Each
//! answer is checked. What is wrong with one is a *fault*: it is kept with the policy's name, the victims from then on
//! are greedy's, so that the map stays whole, and whoever runs the drive makes an error of it.
//!
//! ```text
//! fault: answer < 0, answer ≥ count, no candidate, or more than 16 · count answers in a row of which everything
//!        is valid, while another block has something to gain
//! ```
//! Left out: what is wrong inside the library. A crash ends the process, and an endless loop does not end.

use crate::config::ftl::{FunctionPolicy, LibraryPolicy};
use crate::ftl::pool::Group;
use crate::ftl::victim::{Candidates, VictimPolicy};
use crate::sim::random::Stream;
use libloading::{Library, Symbol};
use ssdlab_policy::{PANICKED, RawBlocks, VERSION};
use std::ffi::{CString, c_char, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

type Version = unsafe extern "C" fn() -> u32;
type New = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);
/// `ssdlab_policy_choose` of the header.
pub type Choose = unsafe extern "C" fn(*mut c_void, *const RawBlocks) -> i64;

/// Answers in a row that gain nothing, for each block of the pool: a policy that draws each block alike misses the one
/// block that would gain something so often with a probability of e⁻¹⁶, once in nine million.
const USELESS_PER_BLOCK: u64 = 16;

/// Functions of this process that were registered, by number.
///
/// The one global: an address in a text could be any, and only who registers one can vouch for it.
static FUNCTIONS: Mutex<Vec<Option<Choose>>> = Mutex::new(Vec::new());

/// Makes a function known; gives the number for `ftl.gc = "function:NUMBER:NAME"`.
///
/// # Safety
/// Until [`unregister`], and until no drive is left that has it as policy, the function does as the header says, in
/// whatever thread a drive runs.
pub unsafe fn register(choose: Choose) -> u32 {
    let mut functions = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    functions.push(Some(choose));
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
    choose: Choose,
    state: *mut c_void,
    free: Option<Free>,
    /// Answers in a row that gained nothing.
    useless: u64,
    fault: Option<String>,
    /// Keeps the functions in memory: the last field, since it is dropped last.
    _library: Option<Library>,
}

// SAFETY: a state belongs to one drive, which is used by one thread at a time; the header says so to policies.
unsafe impl Send for Foreign {}

impl Foreign {
    /// Loads a library.
    ///
    /// # Errors
    /// What is wrong with it, and the remedy.
    pub fn load(policy: &LibraryPolicy) -> Result<Foreign, String> {
        if !std::path::Path::new(&policy.path).is_file() {
            return Err(format!(
                "there is no file {}\nname the shared library of a policy (docs/policy.md)",
                policy.path
            ));
        }
        // SAFETY: the user has named the library, whose code runs with their rights as any program that they start.
        let library = unsafe { Library::new(&policy.path) }
            .map_err(|error| format!("cannot be loaded: {error}\nbuild it as a shared library (docs/policy.md)"))?;
        check_version(&library)?;
        // SAFETY: a library of this version has these functions with these signatures.
        let (choose, new, free) = unsafe {
            let choose = *function::<Choose>(&library, "ssdlab_policy_choose")?;
            let optional = |name: &str| function::<New>(&library, name).ok().map(|new| *new);
            let free = function::<Free>(&library, "ssdlab_policy_free").ok().map(|free| *free);
            (choose, optional("ssdlab_policy_new"), free)
        };
        let state = new_state(new, &policy.argument)?;
        let free = free.filter(|_| new.is_some());
        let mut foreign = Foreign::around(policy.path.clone(), choose);
        (foreign.state, foreign.free, foreign._library) = (state, free, Some(library));
        Ok(foreign)
    }

    /// Takes a registered function.
    ///
    /// # Errors
    /// The number is nobody's.
    pub fn registered(policy: &FunctionPolicy) -> Result<Foreign, String> {
        let functions = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        let choose = functions.get(policy.number as usize).copied().flatten().ok_or_else(|| {
            format!("no function {} is registered now\nhand the function over: run(gc=…)", policy.number)
        })?;
        Ok(Foreign::around(policy.name.clone(), choose))
    }

    fn around(name: String, choose: Choose) -> Foreign {
        Foreign { name, choose, state: null_mut(), free: None, useless: 0, fault: None, _library: None }
    }

    /// The policy's choice, checked.
    fn ask(&mut self, candidates: &Candidates<'_>, random: &mut Stream) -> Result<Group, String> {
        let blocks = candidates.raw(random.bits());
        // SAFETY: `raw` points to `count` values at their strides, which nobody changes until the call returns; the
        // state is that which the library made, or null where it makes none.
        let answer = unsafe { (self.choose)(self.state, &blocks) };
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
            match self.ask(candidates, random) {
                Ok(group) => return Some(group),
                Err(wrong) => self.fault = Some(format!("policy {}: {wrong}", self.name)),
            }
        }
        candidates.fewest_valid()
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: the state is that which this library made, and nobody uses it again.
            unsafe { free(self.state) }
        }
    }
}

/// # Safety
/// The function of that name has that signature.
unsafe fn function<'a, F>(library: &'a Library, name: &str) -> Result<Symbol<'a, F>, String> {
    // SAFETY: as promised by the caller.
    unsafe { library.get(name.as_bytes()) }
        .map_err(|_| format!("has no function {name}\nexport what include/ssdlab_policy.h asks for"))
}

fn check_version(library: &Library) -> Result<(), String> {
    // SAFETY: the header declares it so in every version.
    let version = unsafe { function::<Version>(library, "ssdlab_policy_version")?() };
    if version == VERSION {
        return Ok(());
    }
    Err(format!(
        "is of version {version} of the interface, and this is {VERSION}\nbuild it with include/ssdlab_policy.h of this ssdlab"
    ))
}

fn new_state(new: Option<New>, argument: &str) -> Result<*mut c_void, String> {
    let Some(new) = new else {
        let refused =
            format!("takes no argument, and \"{argument}\" is given\nleave it out, or export ssdlab_policy_new");
        return if argument.is_empty() { Ok(null_mut()) } else { Err(refused) };
    };
    let text = CString::new(argument).map_err(|_| String::from("the argument has a zero byte\nleave it out"))?;
    // SAFETY: a string that ends in a zero byte, as the header says.
    let state = unsafe { new(text.as_ptr()) };
    let refused =
        || format!("the policy refuses the argument \"{argument}\"\ngive one that it knows: PATH.so:ARGUMENT");
    if state.is_null() { Err(refused()) } else { Ok(state) }
}

/// The group that an answer means.
fn checked(answer: i64, blocks: &RawBlocks, candidates: &Candidates<'_>) -> Result<Group, String> {
    let remedy = "answer a block whose SSDLAB_NOT_A_CANDIDATE is not set (docs/policy.md)";
    if answer == PANICKED {
        return Err(format!("answer {answer}: it panicked\nits message stands above"));
    }
    if answer < 0 {
        return Err(format!("answer {answer}: an error of its own\n{remedy}"));
    }
    let index = u32::try_from(answer).ok().filter(|index| *index < blocks.count);
    let last = blocks.count - 1;
    let index = index.ok_or_else(|| format!("answer {answer}: the pool has the blocks 0 to {last}\n{remedy}"))?;
    let group = candidates.group(index);
    match candidates.state(group) {
        None => Ok(group),
        Some(state) => Err(format!("answer {answer}: the block is {state}\n{remedy}")),
    }
}
