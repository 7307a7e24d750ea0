//! The functions of a policy: those of a shared library, or one that the program has registered.

use crate::config::ftl::LibraryPolicy;
use libloading::{Library, Symbol};
use ssdlab_policy::{MOST_STREAMS, RawBlocks, Unit, VERSION};
use std::ffi::{CString, c_char, c_void};
use std::ptr::null_mut;

type Version = unsafe extern "C" fn() -> u32;
type New = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);
type Sees = unsafe extern "C" fn() -> u32;
type Streams = unsafe extern "C" fn(*mut c_void) -> u32;
/// `ssdlab_policy_choose` of the header.
pub type Choose = unsafe extern "C" fn(*mut c_void, *const RawBlocks) -> i64;
/// `ssdlab_policy_open` of the header.
pub type Open = unsafe extern "C" fn(*mut c_void, *const RawBlocks, *const u32, u32, u32) -> i64;
/// `ssdlab_policy_stream` of the header.
pub type Stream = unsafe extern "C" fn(*mut c_void, *const Unit) -> i64;

/// The oldest version that still works: what came later came behind it.
const OLDEST_VERSION: u32 = 1;

/// The functions of a policy, and the state that they belong to.
pub struct Functions {
    /// Names victims.
    pub choose: Choose,
    /// Names the free block to be opened.
    pub open: Option<Open>,
    /// Names the data to be moved by static wear levelling.
    pub level: Option<Choose>,
    /// Names the stream of a unit.
    pub stream: Option<Stream>,
    /// Streams that it keeps apart.
    pub streams: u32,
    /// What it wants to see.
    pub sees: u32,
    /// The policy's own; null where it has none.
    pub state: *mut c_void,
    free: Option<Free>,
    /// Keeps the functions in memory: the last field, since it is dropped last.
    _library: Option<Library>,
}

// SAFETY: a state belongs to one drive, which is used by one thread at a time; the header says so to policies.
unsafe impl Send for Functions {}

impl Functions {
    /// A function of this process, which names victims alone.
    pub fn of_one(choose: Choose, sees: u32) -> Functions {
        Functions {
            choose,
            open: None,
            level: None,
            stream: None,
            streams: 1,
            sees,
            state: null_mut(),
            free: None,
            _library: None,
        }
    }

    /// Loads a library.
    ///
    /// # Errors
    /// What is wrong with it, and the remedy.
    pub fn load(policy: &LibraryPolicy) -> Result<Functions, String> {
        if !std::path::Path::new(&policy.path).is_file() {
            return Err(format!(
                "there is no file {}\nname the shared library of a policy (docs/howto/policy.md)",
                policy.path
            ));
        }
        // SAFETY: the user has named the library, whose code runs with their rights as any program that they start.
        let library = unsafe { Library::new(&policy.path) }.map_err(|error| {
            format!("cannot be loaded: {error}\nbuild it as a shared library (docs/howto/policy.md)")
        })?;
        check_version(&library)?;
        // SAFETY: a library of this version has these functions with these signatures, as far as it has them.
        let (mut functions, new, sees, streams) = unsafe {
            let mut functions = Functions::of_one(*function::<Choose>(&library, "ssdlab_policy_choose")?, 0);
            functions.open = optional::<Open>(&library, "ssdlab_policy_open");
            functions.level = optional::<Choose>(&library, "ssdlab_policy_level");
            functions.stream = optional::<Stream>(&library, "ssdlab_policy_stream");
            let new = optional::<New>(&library, "ssdlab_policy_new");
            let sees = optional::<Sees>(&library, "ssdlab_policy_sees");
            (functions, new, sees, optional::<Streams>(&library, "ssdlab_policy_streams"))
        };
        // SAFETY: as the header says, without a state.
        functions.sees = sees.map_or(0, |sees| unsafe { sees() });
        functions.state = new_state(new, &policy.argument)?;
        // SAFETY: as above. Only a state that was made is freed.
        functions.free = unsafe { optional::<Free>(&library, "ssdlab_policy_free") }.filter(|_| new.is_some());
        // SAFETY: the state is that which this library made.
        functions.streams = streams.map_or(1, |streams| unsafe { streams(functions.state) });
        functions._library = Some(library);
        functions.check_streams()?;
        Ok(functions)
    }

    fn check_streams(&self) -> Result<(), String> {
        if !(1..=MOST_STREAMS).contains(&self.streams) {
            return Err(format!(
                "ssdlab_policy_streams answers {}\nkeep 1 to {MOST_STREAMS} streams apart",
                self.streams
            ));
        }
        if self.streams > 1 && self.stream.is_none() {
            return Err(format!(
                "keeps {} streams apart, and has no function ssdlab_policy_stream\nexport it, or keep one stream",
                self.streams
            ));
        }
        Ok(())
    }
}

impl Drop for Functions {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: the state is that which this library made, and nobody uses it again.
            unsafe { free(self.state) }
        }
    }
}

/// # Safety
/// The function of that name has that signature, where the library has it.
unsafe fn optional<F: Copy>(library: &Library, name: &str) -> Option<F> {
    // SAFETY: as promised by the caller.
    unsafe { function::<F>(library, name) }.ok().map(|found| *found)
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
    if (OLDEST_VERSION..=VERSION).contains(&version) {
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
