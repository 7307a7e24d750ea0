//! A policy of your own in Rust, as a shared library: `ssdlab run --set ftl.gc=libmine.so`.
//!
//! The interface is that of `include/ssdlab_policy.h`, version 2. [`ssdlab_policy!`] exports its functions around a
//! [`Policy`]; a panic becomes an error that names the library. What a policy may see is told in `docs/howto/policy.md`.
//!
//! Left out: whatever a policy would have to see of single pages.
//!
//! ```
//! use ssdlab_policy::{Blocks, Policy, ssdlab_policy};
//!
//! struct Oldest;
//!
//! impl Policy for Oldest {
//!     fn new(argument: &str) -> Option<Oldest> {
//!         argument.is_empty().then_some(Oldest)
//!     }
//!
//!     fn choose(&mut self, blocks: &Blocks<'_>) -> Option<u32> {
//!         (0..blocks.count()).filter(|&block| blocks.is_candidate(block)).max_by_key(|&block| blocks.age(block))
//!     }
//! }
//!
//! ssdlab_policy!(Oldest);
//! # assert_eq!(ssdlab_policy_version(), ssdlab_policy::VERSION);
//! ```

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Version of the interface.
pub const VERSION: u32 = 2;
/// The bit of `valid` that says that a block is open, free or being collected.
pub const NOT_A_CANDIDATE: u32 = 1 << 31;
/// The answer of a policy that cannot choose.
pub const FAILED: i64 = -1;
/// The answer of a policy that panicked.
pub const PANICKED: i64 = -2;
/// The answer that leaves a choice to the drive.
pub const BUILT_IN: i64 = -3;
/// The answer of static wear levelling that moves nothing.
pub const NOTHING: i64 = -4;
/// The bit of [`Policy::sees`] that asks for times of invalidation.
pub const SEES_INVALIDATIONS: u32 = 1;
/// Streams that a policy keeps apart at most.
pub const MOST_STREAMS: u32 = 16;
/// Of a unit that lies in no block yet.
pub const NO_STREAM: u32 = u32::MAX;

/// The blocks of one pool as they cross the interface: `ssdlab_blocks` of the header.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawBlocks {
    /// [`VERSION`].
    pub version: u32,
    /// Blocks of the pool.
    pub count: u32,
    /// Units that a block holds at most.
    pub capacity: u32,
    /// Where the search for the best begins, so that of equals each gets its turn.
    pub turn: u32,
    /// The pool, and how many the drive has.
    pub pool: u32,
    /// Pools of the drive.
    pub pools: u32,
    /// Valid units of each block, side by side.
    pub valid: *const u32,
    /// The number of the first block's last sealing.
    pub sealed_at: *const u64,
    /// Bytes from one block's to the next.
    pub sealed_at_stride: u64,
    /// The first block's erases.
    pub erases: *const u32,
    /// Bytes from one block's to the next.
    pub erases_stride: u64,
    /// Sealings of the drive so far.
    pub sealings: u64,
    /// 64 random bits, new with each call, from the seed of the run.
    pub random: u64,
    /// Units written when one of the first block last became invalid; null unless [`SEES_INVALIDATIONS`].
    pub invalidated_at: *const u64,
    /// Bytes from one block's to the next.
    pub invalidated_at_stride: u64,
    /// Units that the host has written to flash so far; 0 unless [`SEES_INVALIDATIONS`].
    pub written: u64,
    /// The stream that the first block was last opened for; null where there is one stream.
    pub stream: *const u8,
    /// Bytes from one block's to the next.
    pub stream_stride: u64,
}

/// A unit on its way to an open block: `ssdlab_unit` of the header.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// [`VERSION`].
    pub version: u32,
    /// Number of the mapping unit.
    pub unit: u32,
    /// 1 where collection moves it, 0 where the host writes it.
    pub is_copy: u32,
    /// Stream of the block that it lies in, or [`NO_STREAM`].
    pub stream: u32,
    /// Units that the host has written to flash so far.
    pub written: u64,
}

/// The blocks of one pool, as a policy sees them; a block is a number below `count`.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<'a>(&'a RawBlocks);

impl<'a> Blocks<'a> {
    /// Around what the simulator hands over.
    ///
    /// # Safety
    /// The pointers lead to `count` values each, at their strides, for as long as `'a`.
    pub unsafe fn new(raw: &'a RawBlocks) -> Blocks<'a> {
        Blocks(raw)
    }

    /// Blocks of the pool, candidates and others.
    pub fn count(&self) -> u32 {
        self.0.count
    }

    /// Units that a block holds at most.
    pub fn capacity(&self) -> u32 {
        self.0.capacity
    }

    /// Where the search for the best begins: of equals, the built-in greedy takes the first from here on.
    pub fn turn(&self) -> u32 {
        self.0.turn
    }

    /// The number of the pool.
    pub fn pool(&self) -> u32 {
        self.0.pool
    }

    /// Pools of the drive.
    pub fn pools(&self) -> u32 {
        self.0.pools
    }

    /// 64 random bits, new with each call, from the seed of the run.
    pub fn random(&self) -> u64 {
        self.0.random
    }

    /// Valid units of each block, with [`NOT_A_CANDIDATE`] set where it must not be chosen: the smallest value is
    /// that of a candidate.
    pub fn valid(&self) -> &'a [u32] {
        // SAFETY: `new` was promised `count` values side by side.
        unsafe { std::slice::from_raw_parts(self.0.valid, self.0.count as usize) }
    }

    /// The block may be chosen.
    pub fn is_candidate(&self, block: u32) -> bool {
        self.valid()[block as usize] & NOT_A_CANDIDATE == 0
    }

    /// Blocks sealed in the drive since this one was.
    pub fn age(&self, block: u32) -> u64 {
        assert!(block < self.0.count, "block {block} of {}", self.0.count);
        // SAFETY: `new` was promised `count` values at this stride.
        let sealed_at = unsafe { *self.0.sealed_at.byte_add(block as usize * self.0.sealed_at_stride as usize) };
        self.0.sealings - sealed_at
    }

    /// Units that the host has written since one of this block was last overwritten or trimmed.
    ///
    /// # Panics
    /// The policy does not ask for [`SEES_INVALIDATIONS`].
    pub fn idle(&self, block: u32) -> u64 {
        assert!(block < self.0.count, "block {block} of {}", self.0.count);
        assert!(!self.0.invalidated_at.is_null(), "Policy::sees does not ask for SEES_INVALIDATIONS");
        let stride = self.0.invalidated_at_stride as usize;
        // SAFETY: `new` was promised `count` values at this stride.
        let invalidated_at = unsafe { *self.0.invalidated_at.byte_add(block as usize * stride) };
        self.0.written - invalidated_at
    }

    /// The stream that a block was last opened for.
    pub fn stream(&self, block: u32) -> u32 {
        assert!(block < self.0.count, "block {block} of {}", self.0.count);
        if self.0.stream.is_null() {
            return 0;
        }
        // SAFETY: `new` was promised `count` values at this stride.
        u32::from(unsafe { *self.0.stream.byte_add(block as usize * self.0.stream_stride as usize) })
    }

    /// Erases of a block so far; of a superblock, those of its first block.
    pub fn erases(&self, block: u32) -> u32 {
        assert!(block < self.0.count, "block {block} of {}", self.0.count);
        // SAFETY: `new` was promised `count` values at this stride.
        unsafe { *self.0.erases.byte_add(block as usize * self.0.erases_stride as usize) }
    }
}

/// What static wear levelling does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leveling {
    /// What it does without the policy.
    BuiltIn,
    /// No data are moved.
    Nothing,
    /// The data of this block are moved.
    Move(u32),
}

/// Chooses which block garbage collection reclaims next, and what else it wants to choose.
pub trait Policy: Sized {
    /// A policy for one drive; the argument is what follows `PATH.so:`, or empty. `None` refuses it.
    fn new(argument: &str) -> Option<Self>;

    /// A candidate; `None` is an error.
    fn choose(&mut self, blocks: &Blocks<'_>) -> Option<u32>;

    /// What it wants to see: [`SEES_INVALIDATIONS`].
    fn sees() -> u32 {
        0
    }

    /// Wear levelling's choice: which of the free blocks is opened next, for data that were levelled where `is_cold`;
    /// `None` leaves it to the drive.
    fn open(&mut self, _blocks: &Blocks<'_>, _free: &[u32], _is_cold: bool) -> Option<u32> {
        None
    }

    /// Whose data static wear levelling moves.
    fn level(&mut self, _blocks: &Blocks<'_>) -> Leveling {
        Leveling::BuiltIn
    }

    /// How many streams it keeps apart, at most [`MOST_STREAMS`].
    fn streams(&self) -> u32 {
        1
    }

    /// The stream of a unit that is written next.
    fn stream(&mut self, _unit: &Unit) -> u32 {
        0
    }
}

/// What `ssdlab_policy_new` does.
///
/// # Safety
/// The argument is a string that ends in a zero byte.
pub unsafe fn create<P: Policy>(argument: *const c_char) -> *mut c_void {
    let made = catch_unwind(|| {
        // SAFETY: as promised by the caller.
        let argument = unsafe { CStr::from_ptr(argument) }.to_str().ok()?;
        P::new(argument).map(|policy| Box::into_raw(Box::new(policy)).cast())
    });
    made.ok().flatten().unwrap_or(std::ptr::null_mut())
}

/// What `ssdlab_policy_choose` does.
///
/// # Safety
/// The state is of `create` with the same policy, and nobody else uses it meanwhile; the blocks are whole.
pub unsafe fn choose<P: Policy>(state: *mut c_void, blocks: *const RawBlocks) -> i64 {
    let choice = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: as promised by the caller.
        let (policy, blocks) = unsafe { (&mut *state.cast::<P>(), Blocks::new(&*blocks)) };
        policy.choose(&blocks).map_or(FAILED, i64::from)
    }));
    choice.unwrap_or(PANICKED)
}

/// What `ssdlab_policy_open` does.
///
/// # Safety
/// As [`choose`]; `free` leads to `count` numbers.
pub unsafe fn open<P: Policy>(
    state: *mut c_void,
    blocks: *const RawBlocks,
    free: *const u32,
    count: u32,
    is_cold: u32,
) -> i64 {
    let choice = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: as promised by the caller.
        let (policy, blocks, free) = unsafe {
            let free = std::slice::from_raw_parts(free, count as usize);
            (&mut *state.cast::<P>(), Blocks::new(&*blocks), free)
        };
        policy.open(&blocks, free, is_cold != 0).map_or(BUILT_IN, i64::from)
    }));
    choice.unwrap_or(PANICKED)
}

/// What `ssdlab_policy_level` does.
///
/// # Safety
/// As [`choose`].
pub unsafe fn level<P: Policy>(state: *mut c_void, blocks: *const RawBlocks) -> i64 {
    let choice = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: as promised by the caller.
        let (policy, blocks) = unsafe { (&mut *state.cast::<P>(), Blocks::new(&*blocks)) };
        match policy.level(&blocks) {
            Leveling::BuiltIn => BUILT_IN,
            Leveling::Nothing => NOTHING,
            Leveling::Move(block) => i64::from(block),
        }
    }));
    choice.unwrap_or(PANICKED)
}

/// What `ssdlab_policy_streams` does; 0 where it panics.
///
/// # Safety
/// As [`choose`].
pub unsafe fn streams<P: Policy>(state: *mut c_void) -> u32 {
    // SAFETY: as promised by the caller.
    catch_unwind(AssertUnwindSafe(|| unsafe { &*state.cast::<P>() }.streams())).unwrap_or(0)
}

/// What `ssdlab_policy_stream` does.
///
/// # Safety
/// As [`choose`]; the unit is whole.
pub unsafe fn stream<P: Policy>(state: *mut c_void, unit: *const Unit) -> i64 {
    // SAFETY: as promised by the caller.
    let choice = catch_unwind(AssertUnwindSafe(|| unsafe { (*state.cast::<P>()).stream(&*unit) }));
    choice.map_or(PANICKED, i64::from)
}

/// What `ssdlab_policy_free` does.
///
/// # Safety
/// The state is of `create` with the same policy, and nobody uses it again.
pub unsafe fn destroy<P: Policy>(state: *mut c_void) {
    // SAFETY: as promised by the caller. A panic while it is dropped must not cross the interface.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(unsafe { Box::from_raw(state.cast::<P>()) })));
}

/// Exports a [`Policy`] as the functions of `ssdlab_policy.h`, once in a crate of `crate-type = ["cdylib"]`.
#[macro_export]
macro_rules! ssdlab_policy {
    ($policy:ty) => {
        /// The version of the interface.
        #[unsafe(no_mangle)]
        pub extern "C" fn ssdlab_policy_version() -> u32 {
            $crate::VERSION
        }

        /// A policy for one drive.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn ssdlab_policy_new(argument: *const ::std::ffi::c_char) -> *mut ::std::ffi::c_void {
            // SAFETY: the simulator calls as the header says.
            unsafe { $crate::create::<$policy>(argument) }
        }

        /// Its choice.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn ssdlab_policy_choose(
            state: *mut ::std::ffi::c_void,
            blocks: *const $crate::RawBlocks,
        ) -> i64 {
            // SAFETY: the simulator calls as the header says.
            unsafe { $crate::choose::<$policy>(state, blocks) }
        }

        /// What it wants to see.
        #[unsafe(no_mangle)]
        pub extern "C" fn ssdlab_policy_sees() -> u32 {
            <$policy as $crate::Policy>::sees()
        }

        /// Its choice of a free block.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn ssdlab_policy_open(
            state: *mut ::std::ffi::c_void,
            blocks: *const $crate::RawBlocks,
            free: *const u32,
            count: u32,
            is_cold: u32,
        ) -> i64 {
            // SAFETY: the simulator calls as the header says.
            unsafe { $crate::open::<$policy>(state, blocks, free, count, is_cold) }
        }

        /// Its choice of data that rest too long.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn ssdlab_policy_level(
            state: *mut ::std::ffi::c_void,
            blocks: *const $crate::RawBlocks,
        ) -> i64 {
            // SAFETY: the simulator calls as the header says.
            unsafe { $crate::level::<$policy>(state, blocks) }
        }

        /// Its number of streams.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn ssdlab_policy_streams(state: *mut ::std::ffi::c_void) -> u32 {
            // SAFETY: the simulator calls as the header says.
            unsafe { $crate::streams::<$policy>(state) }
        }

        /// Its choice of a stream.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn ssdlab_policy_stream(
            state: *mut ::std::ffi::c_void,
            unit: *const $crate::Unit,
        ) -> i64 {
            // SAFETY: the simulator calls as the header says.
            unsafe { $crate::stream::<$policy>(state, unit) }
        }

        /// Its end.
        ///
        /// # Safety
        /// As the header says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn ssdlab_policy_free(state: *mut ::std::ffi::c_void) {
            // SAFETY: the simulator calls as the header says.
            unsafe { $crate::destroy::<$policy>(state) }
        }
    };
}

#[cfg(test)]
mod test {
    use super::*;

    struct Fussy;

    impl Policy for Fussy {
        fn new(argument: &str) -> Option<Fussy> {
            assert!(argument != "panic");
            argument.is_empty().then_some(Fussy)
        }

        fn choose(&mut self, blocks: &Blocks<'_>) -> Option<u32> {
            match blocks.random() {
                0 => None,
                1 => panic!("as asked"),
                _ => Some(blocks.turn() + blocks.erases(1) + blocks.age(1) as u32),
            }
        }
    }

    fn answer(random: u64) -> i64 {
        let (valid, sealed_at, erases) = ([1, 2], [0, 4, 0, 7], [10, 20]);
        let raw = RawBlocks {
            version: VERSION,
            count: 2,
            capacity: 8,
            turn: 100,
            pool: 0,
            pools: 1,
            valid: valid.as_ptr(),
            sealed_at: sealed_at[1..].as_ptr(),
            sealed_at_stride: 16,
            erases: erases.as_ptr(),
            erases_stride: 4,
            sealings: 9,
            random,
            invalidated_at: std::ptr::null(),
            invalidated_at_stride: 0,
            written: 0,
            stream: std::ptr::null(),
            stream_stride: 0,
        };
        // SAFETY: the state is made, used once and freed here; the arrays have two values at their strides.
        unsafe {
            let state = create::<Fussy>(c"".as_ptr());
            let choice = choose::<Fussy>(state, &raw);
            destroy::<Fussy>(state);
            choice
        }
    }

    /// A choice crosses the interface as it is: 100 + 20 + (9 − 7); no choice and a panic are codes.
    #[test]
    fn answers_and_errors_cross() {
        assert_eq!([answer(2), answer(0), answer(1)], [122, FAILED, PANICKED]);
    }

    /// A refused argument, and a panic over one, give no state.
    #[test]
    fn refused_arguments_give_no_state() {
        for argument in [c"unknown", c"panic"] {
            // SAFETY: a string that ends in a zero byte.
            assert!(unsafe { create::<Fussy>(argument.as_ptr()) }.is_null());
        }
    }
}
