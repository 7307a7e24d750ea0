//! A drive that is held between runs: each begins where the one before ended, with no time between them.
//!
//! The drives of a stack are shared within one thread, so that every held drive lives on a thread of its own, which
//! carries out orders. It ends when the drive is let go of.

use crate::drive::open;
use crate::jobs::jobs_of;
use crate::output::{Files, Output};
use crate::watch::{Callback, Watch};
use crate::{mend, request_of};
use pyo3::prelude::*;
use serde_json::json;
use ssdlab_device::parameter::{Raw, Value as _};
use ssdlab_device::ssd::admin::StartOver;
use ssdlab_lab::output::to_json_text;
use ssdlab_lab::session::{DriveSource, Plan, Session};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

type Order = Box<dyn FnOnce(&mut Session) + Send>;

/// A drive or a stack that goes on from run to run.
#[pyclass(frozen)]
pub struct HeldDrive {
    orders: Sender<Order>,
}

#[pymethods]
impl HeldDrive {
    /// Opens the drive of a request; its other fields play no part.
    #[new]
    fn new(py: Python<'_>, request_json: &str) -> PyResult<HeldDrive> {
        let request = request_of(request_json)?;
        let (orders, given) = channel::<Order>();
        let (opened, heard) = channel();
        thread::spawn(move || match open(&request) {
            Ok(session) => {
                let _ = opened.send(Ok(()));
                carry_out(session, &given);
            }
            Err(error) => {
                let _ = opened.send(Err(error));
            }
        });
        py.detach(move || heard.recv()).map_err(|_| ended())??;
        Ok(HeldDrive { orders })
    }

    /// Runs a job; gives its result as JSON with histograms.
    fn run(&self, py: Python<'_>, job_text: &str, seed: u64, progress: Option<Py<PyAny>>) -> PyResult<String> {
        let callback = Callback::new(progress);
        let file = jobs_of(Some(job_text), "step", &[], &callback)?;
        self.order(py, move |session| {
            let mut watch = Watch::new(callback);
            let plan = Plan { seed, layout: false, timeline: None };
            let (record, mut context) = session.run(&file.jobs, &plan, &mut watch).map_err(mend)?;
            watch.check(record.interrupted)?;
            watch.stamp(&mut context);
            Ok(to_json_text(&record, &context, true))
        })
    }

    /// Starts the drive over; says as JSON how that went.
    fn start_over(&self, py: Python<'_>, how: String) -> PyResult<String> {
        let way = StartOver::read(&Raw::Text(how)).ok_or_else(|| mend(StartOver::EXPECTS))?;
        self.order(py, move |session| {
            let before = session.blocks_erased();
            let took = session.start_over(way).map_err(mend)?;
            let erased = session.blocks_erased() - before;
            Ok(json!({ "start_over_ns": took.0, "start_over_blocks_erased": erased }).to_string())
        })
    }

    /// Keeps the drive in a file, and goes on from what was written, as one that opens the file does.
    fn save(&self, py: Python<'_>, path: String, progress: Option<Py<PyAny>>, files: Files) -> PyResult<()> {
        self.order(py, move |session| {
            let mut watch = Watch::new(Callback::new(progress));
            let bytes = session.to_bytes().map_err(mend)?;
            let whole = Output::at(&files, "", &path, false)?.write(&bytes, &mut watch)?;
            watch.check(!whole)?;
            *session = Session::open(&DriveSource::File { file: path, bytes }, &[], 0).map_err(mend)?;
            Ok(())
        })
    }

    /// What the drive is made of and how it is, as `show` of the module.
    fn show(&self, py: Python<'_>) -> PyResult<String> {
        self.order(py, |session| Ok(session.show().to_string()))
    }
}

impl HeldDrive {
    fn order<R: Send + 'static>(
        &self,
        py: Python<'_>,
        order: impl FnOnce(&mut Session) -> PyResult<R> + Send + 'static,
    ) -> PyResult<R> {
        let (answer, heard) = channel();
        let order: Order = Box::new(move |session| {
            let _ = answer.send(order(session));
        });
        self.orders.send(order).map_err(|_| ended())?;
        py.detach(move || heard.recv()).map_err(|_| ended())?
    }
}

fn carry_out(mut session: Session, given: &Receiver<Order>) {
    while let Ok(order) = given.recv() {
        order(&mut session);
    }
}

/// The thread is gone: only a defect of the engine ends it before its drive is let go of.
fn ended() -> PyErr {
    mend("the engine has ended unexpectedly; run the command again")
}
