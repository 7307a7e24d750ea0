//! A simulation's own clock and executor: tasks are futures, time is virtual, and a drive is one more source of events.
//!
//! ```text
//! poll tasks that are ready ─► next = the earlier of the first timer and Disk::next_event ─► Disk::advance(next) ─► wake
//! ```
//! Leave [`Disk::next_event`] out there, and commands end when the next timer rings, or never: the tests below see both.

use ssdlab_disk::disk::Busy;
use ssdlab_disk::medium::Ram;
use ssdlab_disk::{Disk, Done, Nanos, Request};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

type Task = Pin<Box<dyn Future<Output = ()>>>;
type Answer = Rc<Cell<Option<Done>>>;

/// What tasks share: the clock, and who waits for what.
struct World {
    now: Nanos,
    disk: Disk<Ram>,
    /// By when they ring; the number keeps those of one instant in their order.
    timers: BTreeMap<(Nanos, u64), Waker>,
    timers_set: u64,
    /// By tag of the drive.
    commands: BTreeMap<u32, (Answer, Waker)>,
    /// Wait for room in the drive's queue.
    crowd: Vec<Waker>,
    done: Vec<Done>,
}

impl World {
    /// Lives on until the next event of anybody; false where there is none to come.
    fn live_on(&mut self) -> bool {
        let timer = self.timers.keys().next().map(|(at, _)| *at);
        let Some(next) = timer.into_iter().chain(self.disk.next_event()).min() else { return false };
        self.now = self.disk.advance(next, &mut self.done);
        for done in self.done.drain(..) {
            let (answer, waker) = self.commands.remove(&done.tag.0).expect("somebody waits for each command");
            answer.set(Some(done));
            waker.wake();
            self.crowd.drain(..).for_each(Waker::wake);
        }
        while let Some(first) = self.timers.first_entry().filter(|first| first.key().0 <= self.now) {
            first.remove().wake();
        }
        true
    }
}

/// What a task does the world with.
#[derive(Clone)]
pub struct Handle(Rc<RefCell<World>>);

impl Handle {
    /// What time it is.
    pub fn now(&self) -> Nanos {
        self.0.borrow().now
    }

    /// Waits so long.
    pub async fn sleep(&self, time: Nanos) {
        let until = self.now() + time;
        poll_fn(|context| {
            let mut world = self.0.borrow_mut();
            if world.now >= until {
                return Poll::Ready(());
            }
            world.timers_set += 1;
            let number = world.timers_set;
            world.timers.insert((until, number), context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Has the drive do something, with the bytes that a write brings or a read fills.
    pub async fn perform(&self, request: Request, bytes: Vec<u8>) -> Done {
        let (answer, mut payload) = (Answer::default(), Some(bytes));
        poll_fn(|context| {
            if let Some(done) = answer.take() {
                return Poll::Ready(done);
            }
            let world = &mut *self.0.borrow_mut();
            if let Some(bytes) = payload.take() {
                match world.disk.submit(world.now, request, bytes) {
                    Ok(tag) => drop(world.commands.insert(tag.0, (answer.clone(), context.waker().clone()))),
                    Err(Busy(bytes)) => {
                        payload = Some(bytes);
                        world.crowd.push(context.waker().clone());
                    }
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Puts its task where those are that can go on.
struct Number {
    task: usize,
    ready: Arc<Mutex<Vec<usize>>>,
}

impl Wake for Number {
    fn wake(self: Arc<Number>) {
        self.ready.lock().expect("nothing panics under it").push(self.task);
    }
}

/// Tasks and their world.
pub struct Executor {
    world: Handle,
    tasks: Vec<Option<Task>>,
    ready: Arc<Mutex<Vec<usize>>>,
}

impl Executor {
    /// A world with a drive and no tasks.
    pub fn new(disk: Disk<Ram>) -> Executor {
        let now = disk.now();
        let (timers, commands, crowd, done) = Default::default();
        let world = World { now, disk, timers, timers_set: 0, commands, crowd, done };
        Executor { world: Handle(Rc::new(RefCell::new(world))), tasks: Vec::new(), ready: Arc::default() }
    }

    /// Adds a task, which begins when they run.
    pub fn spawn<F: Future<Output = ()> + 'static>(&mut self, task: impl FnOnce(Handle) -> F) {
        self.ready.lock().expect("nothing panics under it").push(self.tasks.len());
        self.tasks.push(Some(Box::pin(task(self.world.clone()))));
    }

    /// Runs until all tasks have ended; gives the drive back.
    ///
    /// # Panics
    /// Where tasks wait for what never comes.
    pub fn run(mut self) -> Disk<Ram> {
        loop {
            let ready = std::mem::take(&mut *self.ready.lock().expect("nothing panics under it"));
            ready.into_iter().for_each(|number| self.poll(number));
            if !self.ready.lock().expect("nothing panics under it").is_empty() {
                continue;
            }
            if self.tasks.iter().all(Option::is_none) {
                drop(self.tasks);
                return Rc::into_inner(self.world.0).expect("no task is left").into_inner().disk;
            }
            assert!(self.world.0.borrow_mut().live_on(), "tasks wait for what never comes");
        }
    }

    fn poll(&mut self, number: usize) {
        let waker = Waker::from(Arc::new(Number { task: number, ready: self.ready.clone() }));
        let has_ended = self.tasks[number]
            .as_mut()
            .is_some_and(|task| task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
        if has_ended {
            self.tasks[number] = None;
        }
    }
}
