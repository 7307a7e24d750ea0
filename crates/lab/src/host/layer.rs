//! What a kind of layer has to offer, below all kinds: its parameters, their sources, and the layer itself.

use ssdlab_device::block::Device;
use ssdlab_device::parameter::Problem;

/// Where a default comes from: dotted key, kind as in a profile, source.
pub type DefaultSource = (&'static str, &'static str, &'static str);

/// The source of a key's default, if it is among these.
pub fn source_of(sources: &[DefaultSource], key: &str) -> Option<DefaultSource> {
    sources.iter().find(|(known, _, _)| *known == key).copied()
}

/// A layer's parameters, read and in range.
pub trait LayerConfig {
    /// Key and text of every parameter.
    fn show(&self) -> Vec<(&'static str, String)>;

    /// Where the default of a dotted key comes from, if that is known; else it is assumed.
    fn default_source(&self, key: &str) -> Option<DefaultSource>;

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
