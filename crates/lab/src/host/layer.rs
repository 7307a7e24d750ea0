//! What a kind of layer has to offer, below all kinds: its parameters, their sources, and the layer itself.

use ssdlab_device::block::Device;
use ssdlab_device::parameter::{Problem, Section};

/// Where a default comes from: dotted key, kind as in a profile, source.
pub type DefaultSource = (&'static str, &'static str, &'static str);

/// A layer's parameters, read and in range.
pub trait LayerConfig: Section {
    /// Where defaults come from, as far as that is known; the others are assumed.
    fn sources(&self) -> Vec<DefaultSource> {
        Vec::new()
    }

    /// How often all that lies below it is there.
    fn copies(&self) -> u32 {
        1
    }

    /// Puts the layer over what lies below; a second drive comes last.
    ///
    /// # Errors
    /// What does not fit the devices below.
    fn build(&self, below: Vec<Box<dyn Device>>) -> Result<Box<dyn Device>, Problem>;
}
