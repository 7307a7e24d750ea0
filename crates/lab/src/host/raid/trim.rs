//! TRIM through an array: whether it is passed on. What of a stripe it reaches, [`super::plan`] decides.
//!
//! ```text
//!   passes = raid.passes_trim and (no parity, or raid.discards_zero)
//! ```
//! By default md passes it on and a controller does not (`config`). With parity a stripe is trimmed as a whole, and
//! only where trimmed sectors read as zeroes, so that parity stays right. What is not passed on is counted.

use super::Raid;
use super::jobs::What;
use super::ranges::Ranges;
use crate::host::stacked::Work;
use ssdlab_device::block::Status;

impl Raid {
    /// Passes a trim on, stripe by stripe where there is parity or copies; else it ends here and changes nothing.
    pub(super) fn trim(&mut self, number: u32, work: &mut Work) {
        let request = self.requests.get(number).request;
        let sectors = u64::from(request.sectors);
        let passes = self.passes_trim();
        if !passes || self.layout.has_parity() && !self.is_whole_stripes(request.lba.0, sectors) {
            self.counts.trims_not_passed += 1;
        }
        if !passes {
            return self.part_done(number, Status::Success, work);
        }
        self.cache.iter_mut().for_each(|cache| cache.forget(request.lba.0, sectors));
        self.ahead.iter_mut().for_each(|ahead| ahead.forget(request.lba.0, sectors));
        if self.layout.places_per_stripe() == 1 {
            return self.send_striped(number, work);
        }
        for (stripe, from, to) in self.layout.split(request.lba.0, sectors) {
            self.submit_part(number, stripe, Ranges::of(from, to), What::Trim, work);
        }
        self.part_done(number, Status::Success, work);
    }

    /// Trims reach the members.
    pub(super) fn passes_trim(&self) -> bool {
        self.config.passes_trim && (!self.layout.has_parity() || self.config.discards_zero)
    }

    fn is_whole_stripes(&self, lba: u64, sectors: u64) -> bool {
        let stripe = self.layout.stripe_sectors();
        lba.is_multiple_of(stripe) && sectors.is_multiple_of(stripe)
    }
}
