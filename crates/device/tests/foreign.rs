//! A victim policy that is not ours: greedy as a registered function, and functions that answer wrongly.

use crate::stand::Stand;
use ssdlab_device::block::Device;
use ssdlab_device::ftl::foreign::{Choose, register, unregister};
use ssdlab_device::units::Lpn;
use ssdlab_policy::{Blocks, RawBlocks};
use std::ffi::c_void;

const SMALL: [(&str, &str); 3] = [("capacity_bytes", "16 MiB"), ("nand.channels", "2"), ("nand.dies_per_channel", "2")];
const SUPERBLOCKS: (&str, &str) = ("ftl.striping", "superblock");

/// The interface's pointers are what it says: `Blocks` reads them all.
unsafe extern "C" fn greedy(_: *mut c_void, blocks: *const RawBlocks) -> i64 {
    // SAFETY: the engine calls as the header says.
    let blocks = unsafe { Blocks::new(&*blocks) };
    let turn = blocks.turn();
    let rank = |&block: &u32| (blocks.valid()[block as usize], block < turn, block);
    let read: u64 = (0..blocks.count()).map(|block| blocks.age(block) + u64::from(blocks.erases(block))).sum();
    (0..blocks.count()).min_by_key(rank).filter(|_| read > 0).map_or(-1, i64::from)
}

/// Greedy, and from the second erase of block 0 on what may not be chosen.
unsafe extern "C" fn wrong(state: *mut c_void, blocks: *const RawBlocks) -> i64 {
    // SAFETY: the engine calls as the header says.
    let view = unsafe { Blocks::new(&*blocks) };
    if view.erases(0) < 2 {
        // SAFETY: as above.
        return unsafe { greedy(state, blocks) };
    }
    (0..view.count()).find(|&block| !view.is_candidate(block)).map_or(-1, i64::from)
}

/// A drive with a policy, filled and overwritten at random four times over.
fn used(policy: &str, more: &[(&str, &str)]) -> Stand {
    let mut stand = Stand::new("theory", &[&SMALL[..], &[("ftl.gc", policy)], more].concat());
    stand.fill(stand.ssd.ftl.exported);
    let (exported, mut draw) = (u64::from(stand.ssd.ftl.exported), 1u64);
    for _ in 0..4 * exported {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        stand.ssd.write_now(Lpn(((draw >> 33) % exported) as u32), 0);
    }
    stand.ssd.flush_now();
    stand
}

fn registered(function: Choose) -> String {
    // SAFETY: the functions of this file do as the header says, for as long as the process lives.
    format!("function:{}:mine", unsafe { register(function, 0) })
}

/// A registered greedy counts what the built-in one counts, by dies and by superblocks.
#[test]
fn a_function_is_greedy() {
    for more in [&[][..], &[SUPERBLOCKS]] {
        let (mut ours, mut built_in) = (used(&registered(greedy), more), used("greedy", more));
        assert_eq!(ours.ssd.ftl.policy_fault(), None);
        assert_eq!(ours.ssd.counters(), built_in.ssd.counters());
    }
}

/// A wrong answer is kept with the policy's name, and the map stays whole.
#[test]
fn a_wrong_answer_is_a_fault_and_breaks_nothing() {
    for more in [&[][..], &[SUPERBLOCKS]] {
        let stand = used(&registered(wrong), more);
        let fault = stand.ssd.ftl.policy_fault().expect("a fault");
        assert!(fault.starts_with("policy mine: answer ") && fault.contains(": the block is "), "{fault}");
        assert!(stand.ssd.is_faulty());
        stand.ssd.ftl.check();
        assert_eq!(stand.ssd.ftl.mapped_units(), stand.ssd.ftl.exported as usize);
    }
}

/// A function that is gone opens no drive.
#[test]
fn a_function_that_is_gone_is_refused() {
    let policy = registered(greedy);
    unregister(policy.split(':').nth(1).unwrap().parse().unwrap());
    assert!(std::panic::catch_unwind(|| used(&policy, &[])).is_err());
}
