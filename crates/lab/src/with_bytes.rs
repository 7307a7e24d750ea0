//! A drive in a condition that holds bytes: from a session or a drive file, and into a drive file again.
//!
//! ```text
//! drive file ─► Session (any condition) ─► WithBytes { disk, … } ─► bytes of a drive file
//! ```
//! The FTL is the one that was kept; the bytes lie in a medium. Units that preconditioning wrote are mapped, and are
//! read from flash with all that this takes; they read as what the medium has there, zeroes in a new one.
//!
//! Left out: the bytes themselves, which a drive file does not keep.

use crate::describe::{self, Wear};
use crate::drive_file::{self, Label};
use serde_json::{Value, json};
use ssdlab_device::counters::Counters;
use ssdlab_device::ftl::Ftl;
use ssdlab_device::ftl::saved::Saved;
use ssdlab_device::profile::{Profile, ProfileError};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::ssd::admin::{Refused, StartOver};
use ssdlab_disk::disk::{Disk, Failure, image, sizes};
use ssdlab_disk::image::Sizes;
use ssdlab_disk::medium::Medium;
use ssdlab_disk::{Lba, Nanos, Operation, Request};
use std::sync::Arc;

/// A drive with bytes, and what has been done to it.
pub struct WithBytes<M: Medium> {
    /// The drive.
    pub disk: Disk<M>,
    /// What is known of it besides.
    pub about: About,
}

/// What is known of a drive with bytes besides what it is itself.
#[derive(Clone)]
pub struct About {
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
    /// A profile of no solid-state drive; a victim policy that cannot be had; what the medium says.
    pub fn new<E: From<ProfileError>>(
        label: Label,
        profile: Profile,
        saved: Saved<'_>,
        medium: impl FnOnce(Sizes) -> Result<M, E>,
    ) -> Result<WithBytes<M>, E> {
        let config = profile.ssd()?;
        let image = image(config, medium(sizes(config))?);
        let ftl = Ftl::restore(saved, config, image).map_err(|problem| profile.locate(&problem))?;
        let mut disk = Disk::of(Ssd::around(config, ftl));
        let before = disk.counters();
        disk.set_signs(label.signs);
        Ok(WithBytes { disk, about: About { profile: Arc::new(profile), label: Arc::new(label), before } })
    }

    /// See [`About::to_bytes`].
    ///
    /// # Errors
    /// As there.
    pub fn to_bytes(&mut self) -> Result<Vec<u8>, Failure> {
        self.about.to_bytes(&mut self.disk)
    }

    /// See [`About::stats`].
    pub fn stats(&mut self) -> Value {
        self.about.stats(&mut self.disk)
    }
}

impl About {
    /// The drive as the bytes of a drive file: what its buffer holds is flushed first.
    ///
    /// # Errors
    /// Commands are under way; the flush fails, as where a read-only drive can program no more of what its buffer holds.
    pub fn to_bytes<M: Medium>(&mut self, disk: &mut Disk<M>) -> Result<Vec<u8>, Failure> {
        if disk.outstanding() > 0 {
            return Err(Failure::Refused(Refused::Outstanding));
        }
        disk.perform(Request::new(Operation::Flush, Lba(0), 0), Vec::new())?;
        disk.put_away();
        let has_written = self.since(disk).host_pages_written > 0;
        let label = Arc::make_mut(&mut self.label);
        label.note_writes(has_written);
        label.signs = disk.signs();
        Ok(drive_file::to_bytes(&self.label, &disk.ssd().ftl.saved()))
    }

    /// Counts from now on.
    pub fn count_from_now<M: Medium>(&mut self, disk: &mut Disk<M>) {
        self.before = disk.counters();
    }

    /// Starts over, as its label says from then on; returns the time that it takes.
    ///
    /// # Errors
    /// As [`Disk::start_over`].
    pub fn start_over<M: Medium>(&mut self, disk: &mut Disk<M>, how: StartOver) -> Result<Nanos, Failure> {
        let time = disk.start_over(how)?;
        Arc::make_mut(&mut self.label).start_over(how);
        Ok(time)
    }

    /// What it has counted since its bytes came.
    pub fn since<M: Medium>(&self, disk: &mut Disk<M>) -> Counters {
        disk.counters() - self.before
    }

    /// The seed of its draws.
    pub fn seed(&self) -> u64 {
        self.label.seed
    }

    /// Its condition, what it has counted since its bytes came, and what follows from that, as JSON.
    pub fn stats<M: Medium>(&self, disk: &mut Disk<M>) -> Value {
        let (counters, signs) = (self.since(disk), disk.signs());
        let mut wear = Wear::default();
        wear.add(disk.ssd());
        json!({
            "name": self.label.name,
            "condition": self.label.condition.to_string(),
            "seed": self.label.seed,
            "read_only": disk.is_read_only(),
            "write_amplification": counters.write_amplification(),
            "counters": describe::counters(&counters),
            "blocks": describe::blocks(&disk.ssd().ftl),
            "wear": wear.summary(),
            "health": describe::health(disk.ssd(), &signs),
        })
    }
}

impl<M: Medium + Clone> WithBytes<M> {
    /// The same drive once more, with all that is under way; `None` where its victim policy cannot be copied.
    pub fn copy(&self) -> Option<WithBytes<M>> {
        Some(WithBytes { disk: self.disk.copy()?, about: self.about.clone() })
    }
}
