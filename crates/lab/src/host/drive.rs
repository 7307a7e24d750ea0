//! What lies at the bottom of a stack: a solid-state drive or a hard disk, as one kind of device.

use ssdlab_device::block::{Busy, Completion, Device, LayerCounts, Limits, Request, Status, Tag};
use ssdlab_device::counters::Counters;
use ssdlab_device::hdd::Hdd;
use ssdlab_device::parameter::Problem;
use ssdlab_device::profile::Model;
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::{Lba, Nanos};

/// A drive of either kind.
pub enum Drive {
    /// A solid-state drive.
    Ssd(Box<Ssd>),
    /// A hard disk.
    Hdd(Box<Hdd>),
}

impl Drive {
    /// A drive fresh out of the box.
    ///
    /// # Errors
    /// Parameters that make no drive.
    pub fn new(model: &Model, seed: u64) -> Result<Drive, Problem> {
        Ok(match model {
            Model::Ssd(config) => Drive::Ssd(Box::new(Ssd::new(config, seed, ())?)),
            Model::Hdd(config) => Drive::Hdd(Box::new(Hdd::new(config, seed))),
        })
    }

    /// The solid-state drive, if it is one.
    pub fn ssd(&self) -> Option<&Ssd> {
        match self {
            Drive::Ssd(ssd) => Some(ssd),
            Drive::Hdd(_) => None,
        }
    }

    /// As [`Drive::ssd`], to change it.
    pub fn ssd_mut(&mut self) -> Option<&mut Ssd> {
        match self {
            Drive::Ssd(ssd) => Some(ssd),
            Drive::Hdd(_) => None,
        }
    }

    /// Bytes below which a write costs as much as a whole: a mapping unit, a physical sector.
    pub fn unit_bytes(&self) -> u32 {
        match self {
            Drive::Ssd(ssd) => ssd.unit_bytes(),
            Drive::Hdd(hdd) => hdd.config().hdd.physical_sector_bytes,
        }
    }

    /// As a device.
    pub fn device(&self) -> &dyn Device {
        match self {
            Drive::Ssd(ssd) => ssd.as_ref(),
            Drive::Hdd(hdd) => hdd.as_ref(),
        }
    }

    fn device_mut(&mut self) -> &mut dyn Device {
        match self {
            Drive::Ssd(ssd) => ssd.as_mut(),
            Drive::Hdd(hdd) => hdd.as_mut(),
        }
    }
}

impl Device for Drive {
    fn limits(&self) -> &Limits {
        self.device().limits()
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) -> Result<(), Busy> {
        self.device_mut().submit(now, tag, request)
    }

    fn next_event(&self) -> Option<Nanos> {
        self.device().next_event()
    }

    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        self.device_mut().advance(to, done)
    }

    fn hint(&self, lba: Lba) {
        self.device().hint(lba);
    }

    fn hint_write(&self, lba: Lba) {
        self.device().hint_write(lba);
    }

    fn counters(&mut self) -> Counters {
        self.device_mut().counters()
    }

    fn is_faulty(&self) -> bool {
        self.device().is_faulty()
    }

    fn apply_now(&mut self, request: Request) -> Status {
        self.device_mut().apply_now(request)
    }

    fn prepare_now(&mut self) {
        self.device_mut().prepare_now();
    }

    fn layers(&mut self) -> LayerCounts {
        self.device_mut().layers()
    }

    fn cut_power(&mut self, now: Nanos) {
        self.device_mut().cut_power(now);
    }
}
