//! The flash array: geometry, times, wear, errors, and the rules that flash enforces.

pub mod array;
pub mod contents;
pub mod flash;
pub mod geometry;
pub mod reliability;
