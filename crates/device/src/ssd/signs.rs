//! What a drive's log tells and the model does not have: the temperature, and how often and how long it was on.
//!
//! Nothing of it changes by itself. What nobody has said is not reported.

use serde::{Deserialize, Serialize};

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signs {
    /// Temperature in degrees Celsius.
    pub celsius: Option<i16>,
    /// Hours that it has been on.
    pub power_on_hours: Option<u64>,
    /// Times that it was switched on.
    pub power_cycles: Option<u64>,
    /// What lets its buffer outlive a loss of power has failed.
    pub capacitor_failed: bool,
}
