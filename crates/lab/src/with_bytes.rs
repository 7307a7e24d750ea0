//! A drive in a condition that holds bytes: from a session or a drive file, and into a drive file again.
//!
//! ```text
//! drive file ─► Session (any condition) ─► WithBytes { disk, … } ─► bytes of a drive file
//! ```
//! The FTL is the one that was kept; the bytes lie in a medium. Units that preconditioning wrote are mapped, and are
//! read from flash with all that this takes; they read as what the medium has there, zeroes in a new one.
//!
//! Left out: the bytes themselves, which a drive file does not keep.

use crate::describe;
use crate::drive_file::{self, Label};
use serde_json::{Value, json};
use ssdlab_device::counters::Counters;
use ssdlab_device::ftl::Ftl;
use ssdlab_device::ftl::saved::Saved;
use ssdlab_device::profile::{Profile, ProfileError};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::ssd::admin::Refused;
use ssdlab_disk::disk::{Disk, Failure, image, sizes};
use ssdlab_disk::image::Sizes;
use ssdlab_disk::medium::Medium;
use ssdlab_disk::{Lba, Operation, Request};
use std::sync::Arc;

/// A drive with bytes, and what has been done to it.
pub struct WithBytes<M: Medium> {
    /// The drive.
    pub disk: Disk<M>,
    /// Its parameters and their sources.
    pub profile: Arc<Profile>,
    label: Arc<Label>,
    /// What it had counted when its bytes came.
    before: Counters,
}

impl<M: Medium> WithBytes<M> {
    /// The drive that was kept, over a medium that is made for its size.
    ///
    /// # Errors
    /// A profile of no solid-state drive; a victim policy that cannot be had.
    pub fn new(
        label: Label,
        profile: Profile,
        saved: Saved<'_>,
        medium: impl FnOnce(Sizes) -> M,
    ) -> Result<WithBytes<M>, ProfileError> {
        let config = profile.ssd()?;
        let image = image(config, medium(sizes(config)));
        let ftl = Ftl::restore(saved, config, image).map_err(|problem| profile.locate(&problem))?;
        let mut disk = Disk::of(Ssd::around(config, ftl));
        let before = disk.counters();
        Ok(WithBytes { disk, profile: Arc::new(profile), label: Arc::new(label), before })
    }

    /// The drive as the bytes of a drive file: what its buffer holds is flushed first.
    ///
    /// # Errors
    /// Commands are under way; the flush fails, as where a read-only drive can program no more of what its buffer holds.
    pub fn to_bytes(&mut self) -> Result<Vec<u8>, Failure> {
        if self.disk.outstanding() > 0 {
            return Err(Failure::Refused(Refused::Outstanding));
        }
        self.disk.perform(Request::new(Operation::Flush, Lba(0), 0), Vec::new())?;
        self.disk.ssd().put_away();
        let has_written = self.since().host_pages_written > 0;
        Arc::make_mut(&mut self.label).note_writes(has_written);
        Ok(drive_file::to_bytes(&self.label, &self.disk.ssd().ftl.saved()))
    }

    /// What it has counted since its bytes came.
    pub fn since(&mut self) -> Counters {
        self.disk.counters() - self.before
    }

    /// Its condition, what it has counted since its bytes came, and what follows from that, as JSON.
    pub fn stats(&mut self) -> Value {
        let counters = self.since();
        json!({
            "name": self.label.name,
            "condition": self.label.condition.to_string(),
            "read_only": self.disk.is_read_only(),
            "write_amplification": counters.write_amplification(),
            "counters": describe::counters(&counters),
        })
    }
}

impl<M: Medium + Clone> WithBytes<M> {
    /// The same drive once more, with all that is under way; `None` where its victim policy cannot be copied.
    pub fn copy(&self) -> Option<WithBytes<M>> {
        let (profile, label) = (self.profile.clone(), self.label.clone());
        Some(WithBytes { disk: self.disk.copy()?, profile, label, before: self.before })
    }
}
