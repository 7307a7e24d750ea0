//! The machinery of virtual time: what happens next, who may use a shared resource when, and
//! seeded randomness.

pub mod arrivals;
pub mod calendar;
pub mod random;
pub mod slots;
pub mod timeline;
pub mod transfer;
