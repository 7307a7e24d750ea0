//! What is told of a drive: its export, and where it holds nothing.
//!
//! Only what the drive has is offered: trim where `ftl.trim` is set; cache never, since there is nothing that it would fill.
//! A unit that the map does not know is a hole and reads as zeroes. What is mapped counts as data, whatever it holds.

use crate::nbd::export::Export;
use crate::nbd::reply::Extent;
use crate::nbd::wire::MAX_PAYLOAD_BYTES;
use crate::request::Request;
use ssdlab_device::ftl::mapping::Place;
use ssdlab_device::units::Lpn;
use ssdlab_disk::Disk;
use ssdlab_disk::medium::Medium;

/// Units that one answer tells of at most: the client asks on, and nobody is held up.
const MOST_UNITS: u64 = 1 << 16;

/// How clients see the drive, whatever it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// By which it is asked for; who names none gets it, too.
    pub name: String,
    /// For people.
    pub description: String,
    /// Nothing may be written.
    pub read_only: bool,
}

/// The export of a drive as it is now.
pub fn export<M: Medium>(disk: &mut Disk<M>, named: &Name) -> Export {
    let limits = disk.limits();
    let (size, sector) = (limits.capacity_bytes(), limits.sector_bytes);
    let read_only = named.read_only || disk.is_read_only();
    let ssd = disk.ssd();
    let unit = ssd.unit_bytes().next_power_of_two().max(sector).max(512);
    Export {
        name: named.name.clone(),
        description: named.description.clone(),
        size,
        minimum_block: sector,
        preferred_block: unit,
        maximum_payload: MAX_PAYLOAD_BYTES,
        read_only,
        trim: ssd.config().ftl.trim,
        multi_conn: true,
        fua: true,
        flush: true,
        cache: false,
        write_zeroes: true,
    }
}

/// Holes and data from the request's offset on, perhaps not to its end.
pub fn extents<M: Medium>(disk: &mut Disk<M>, request: &Request) -> Vec<Extent> {
    let ssd = disk.ssd();
    let unit_bytes = u64::from(ssd.unit_bytes());
    let end = request.offset + u64::from(request.length);
    let mut extents: Vec<Extent> = Vec::new();
    let mut at = request.offset;
    let last = (at / unit_bytes + MOST_UNITS).min(end.div_ceil(unit_bytes));
    for unit in at / unit_bytes..last {
        let next = ((unit + 1) * unit_bytes).min(end);
        let hole = ssd.ftl.place(Lpn(unit as u32)) == Place::Unmapped;
        match extents.last_mut() {
            Some(before) if before.hole == hole => before.length += next - at,
            _ => extents.push(Extent { length: next - at, hole, zero: hole }),
        }
        at = next;
    }
    extents
}
