//! The layers of a stack, from the top down to the drives: what each was asked, what it asked below.

use serde_json::{Map, Value, json};
use ssdlab_device::block::LayerCounts;

/// A device of a stack with those below it.
pub fn layers(device: &LayerCounts) -> Value {
    let counts: Map<String, Value> = device.counts.iter().map(|(name, count)| (name.clone(), json!(count))).collect();
    if device.below.is_empty() {
        return json!({ "name": device.name, "write_amplification": write_amplification(device), "counters": counts });
    }
    json!({
        "name": device.name,
        "taken": device.taken,
        "asked": device.asked,
        "counts": counts,
        "below": device.below.iter().map(layers).collect::<Vec<_>>(),
    })
}

/// That of one drive: `None` where nothing was written, and of what has no flash.
fn write_amplification(drive: &LayerCounts) -> Option<f64> {
    let count = |wanted: &str| drive.counts.iter().find(|(name, _)| name == wanted).map(|(_, count)| *count);
    let (written, programmed) = (count("nand_host_bytes_written")?, count("nand_bytes_written")?);
    (written > 0).then(|| programmed as f64 / written as f64)
}
