//! The built-in greedy in Rust: of the candidates with the fewest valid units, the first from `turn` on, else the first.
//!
//! ```text
//! cargo build --release --manifest-path examples/policies/greedy_rust/Cargo.toml
//! ssdlab run examples/uniform.fio --drive theory --set ftl.gc=examples/policies/greedy_rust/target/release/libgreedy_rust.so
//! ```
//! The argument `panic` shows what becomes of a panic: `--set ftl.gc=….so:panic`.

use ssdlab_policy::{Blocks, Policy, ssdlab_policy};

/// The policy.
pub struct Greedy {
    panics: bool,
}

impl Policy for Greedy {
    fn new(argument: &str) -> Option<Greedy> {
        matches!(argument, "" | "panic").then_some(Greedy { panics: argument == "panic" })
    }

    fn choose(&mut self, blocks: &Blocks<'_>) -> Option<u32> {
        assert!(!self.panics, "a panic, as asked");
        // What may not be chosen has the highest bit set: the smallest value is that of a candidate.
        let fewest = blocks.valid().iter().min()?;
        let (before, behind) = blocks.valid().split_at(blocks.turn() as usize);
        let position = |valid: &[u32]| valid.iter().position(|valid| valid == fewest);
        let block = position(behind).map(|block| before.len() + block).or_else(|| position(before))?;
        Some(block as u32)
    }
}

ssdlab_policy!(Greedy);
