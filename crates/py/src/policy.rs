//! Victim policies that are functions of this process: compiled by Numba, or of ctypes.

use crate::mend;
use pyo3::prelude::*;
use ssdlab_device::ftl::foreign::{self, Choose};

/// Makes the function at an address known; gives its number for `ftl.gc=function:NUMBER:NAME`. `sees` are the bits of
/// `ssdlab_policy_sees`.
#[pyfunction]
pub fn register_policy(address: usize, sees: u32) -> PyResult<u32> {
    if address == 0 {
        return Err(mend("policy: address 0: is no function\nhand over a compiled function, or a Python one"));
    }
    // SAFETY: who calls vouches for the address, as for every one that they hand to ctypes; the package keeps the
    // function for as long as drives run with it (`ssdlab.policy`).
    Ok(unsafe { foreign::register(std::mem::transmute::<usize, Choose>(address), sees) })
}

/// No drive that is opened from now on has that function as policy.
#[pyfunction]
pub fn unregister_policy(number: u32) {
    foreign::unregister(number);
}
