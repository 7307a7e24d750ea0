//! What came of a request, whatever protocol it came by.

use crate::nbd::reply::Extent;
use crate::request::Fault;

/// See the module.
#[derive(Debug)]
pub enum Outcome {
    /// It was done.
    Done,
    /// It was read.
    Data(Vec<u8>),
    /// Where holes are.
    Extents(Vec<Extent>),
    /// It failed, and why in words.
    Failed(Fault, String),
}
