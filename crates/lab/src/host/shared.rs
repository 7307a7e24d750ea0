//! A drive of a stack that can still be looked at from outside: its wear, its map, its recordings.
//!
//! A stack owns its devices as [`Device`]s and knows nothing else of them; who built the stack keeps
//! a second handle.

use ssdlab_device::block::{Busy, Completion, Device, LayerCounts, Limits, Request, Status, Tag};
use ssdlab_device::counters::Counters;
use ssdlab_device::units::{Lba, Nanos};
use std::cell::RefCell;
use std::rc::Rc;

/// One of two handles on a device.
pub struct Shared<D: Device> {
    device: Rc<RefCell<D>>,
    limits: Limits,
    name: String,
}

impl<D: Device> Shared<D> {
    /// The device for a stack, in which it is called `name`, and the handle to keep.
    pub fn new(device: D, name: &str) -> (Shared<D>, Rc<RefCell<D>>) {
        let limits = device.limits().clone();
        let device = Rc::new(RefCell::new(device));
        (Shared { device: device.clone(), limits, name: name.to_string() }, device)
    }
}

impl<D: Device> Device for Shared<D> {
    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn submit(&mut self, now: Nanos, tag: Tag, request: Request) -> Result<(), Busy> {
        self.device.borrow_mut().submit(now, tag, request)
    }

    fn next_event(&self) -> Option<Nanos> {
        self.device.borrow().next_event()
    }

    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) -> Nanos {
        self.device.borrow_mut().advance(to, done)
    }

    fn hint(&self, lba: Lba) {
        self.device.borrow().hint(lba);
    }

    fn hint_write(&self, lba: Lba) {
        self.device.borrow().hint_write(lba);
    }

    fn counters(&mut self) -> Counters {
        self.device.borrow_mut().counters()
    }

    fn is_faulty(&self) -> bool {
        self.device.borrow().is_faulty()
    }

    fn apply_now(&mut self, request: Request) -> Status {
        self.device.borrow_mut().apply_now(request)
    }

    fn prepare_now(&mut self) {
        self.device.borrow_mut().prepare_now();
    }

    fn layers(&mut self) -> LayerCounts {
        LayerCounts { name: self.name.clone(), ..self.device.borrow_mut().layers() }
    }

    fn cut_power(&mut self, now: Nanos) {
        self.device.borrow_mut().cut_power(now);
    }
}
