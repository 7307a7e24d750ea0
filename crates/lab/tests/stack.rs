//! Conservation through the stack: whatever is asked of any layers in any order, each request
//! completes once, bytes in are bytes out, and no trim passes where it must not.

use proptest::prelude::*;
use ssdlab_device::block::{Completion, Device, LayerCounts, Limits, Operation, Request, Status, Tag, Traffic};
use ssdlab_device::ftl::mapping::Place;
use ssdlab_device::profile::{Profile, built_in};
use ssdlab_device::ssd::Ssd;
use ssdlab_device::units::{Lba, Lpn, Nanos};
use ssdlab_lab::host::registry::LayerPlan;
use ssdlab_lab::host::shared::Shared;
use ssdlab_lab::host::stack::build;
use ssdlab_lab::host::text::{LayerText, StackError};
use ssdlab_lab::null::NullDevice;

/// A request of a sequence: how long after the one before, what, where as a share of the range, sectors.
#[derive(Clone, Debug)]
struct Step {
    pause_us: u64,
    operation: Operation,
    place: f64,
    sectors: u32,
}

fn step() -> impl Strategy<Value = Step> {
    let operation = prop_oneof![
        4 => Just(Operation::Read),
        4 => Just(Operation::Write),
        2 => Just(Operation::Trim),
        1 => Just(Operation::WriteZeroes),
        1 => Just(Operation::Flush),
    ];
    // Few places, so that neighbours meet and are merged.
    (prop_oneof![Just(0), 0..2_000u64], operation, 0..64u32, 1..80u32).prop_map(
        |(pause_us, operation, place, sectors)| Step { pause_us, operation, place: f64::from(place) / 64.0, sectors },
    )
}

fn layer() -> impl Strategy<Value = String> {
    prop_oneof![
        (0..64u32, 0.5..1.0f64).prop_map(|(start, share)| format!("partition:start_sector={start},share={share:.3}")),
        (1..4u32, any::<bool>(), prop_oneof![Just(512), Just(4096)]).prop_map(|(cores, discards, sector)| format!(
            "crypt:mb_per_s=300,cores={cores},discards={discards},sector_bytes={sector}"
        )),
        (prop_oneof![Just("none"), Just("noop"), Just("deadline"), Just("cfq")], 1..20u32, 4..64u32, any::<bool>())
            .prop_map(|(policy, depth, kib, rotational)| format!(
                "scheduler:policy={policy},dispatch_depth={depth},max_sectors_kb={kib},rotational={rotational}"
            )),
    ]
}

/// What can be put over each other: no layer twice in a row, and sectors that only grow.
fn layers() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(layer(), 0..5).prop_map(|layers| {
        let mut kept: Vec<String> = Vec::new();
        let kind = |layer: &str| layer.split(':').next().map(str::to_string);
        for layer in layers {
            let layer = match kept.iter().any(|below| below.contains("sector_bytes=4096")) {
                true => layer.replace("sector_bytes=512", "sector_bytes=4096"),
                false => layer,
            };
            if kept.last().and_then(|last| kind(last)) != kind(&layer) {
                kept.push(layer);
            }
        }
        kept
    })
}

fn small_ssd() -> Box<dyn Device> {
    Box::new(new_ssd())
}

fn new_ssd() -> Ssd {
    let settings = [
        ("capacity_bytes", "16 MiB"),
        ("nand.channels", "2"),
        ("nand.dies_per_channel", "1"),
        ("nand.pages_per_block", "32"),
    ];
    let settings: Vec<_> = settings.map(|(key, value)| (key.to_string(), value.to_string())).to_vec();
    let profile = Profile::read("theory", "theory", built_in("theory").unwrap(), &settings).unwrap();
    Ssd::new(profile.ssd().unwrap(), 1, ()).unwrap()
}

/// Which units a drive below layers holds after some steps, one at a time, done by the given way.
fn mapped(layers: &[String], steps: &[Step], mut act: impl FnMut(&mut dyn Device, Request)) -> Vec<bool> {
    let (drive, kept) = Shared::new(new_ssd(), "drive");
    let mut drive: Option<Box<dyn Device>> = Some(Box::new(drive));
    let plans: Vec<LayerPlan> =
        layers.iter().map(|text| LayerPlan::read(LayerText::parse(text).unwrap()).unwrap()).collect();
    let mut device = build::<StackError>(&plans, &mut |_| Ok(drive.take().expect("one drive"))).unwrap();
    let limits = device.limits().clone();
    for step in steps {
        act(device.as_mut(), request_of(step, &limits));
    }
    act(device.as_mut(), Request::new(Operation::Flush, Lba(0), 0));
    let ftl = &kept.borrow().ftl;
    (0..ftl.exported).map(|lpn| ftl.place(Lpn(lpn)) != Place::Unmapped).collect()
}

fn request_of(step: &Step, limits: &Limits) -> Request {
    let flush = step.operation == Operation::Flush;
    let sectors = if flush { 0 } else { u64::from(step.sectors).min(limits.sectors) };
    let lba = ((limits.sectors - sectors) as f64 * step.place) as u64;
    Request::new(step.operation, Lba(lba), sectors as u32)
}

fn stack(layers: &[String], drive: fn() -> Box<dyn Device>) -> Box<dyn Device> {
    let plans: Vec<LayerPlan> =
        layers.iter().map(|text| LayerPlan::read(LayerText::parse(text).unwrap()).unwrap()).collect();
    build::<StackError>(&plans, &mut |_| Ok(drive())).unwrap()
}

/// Asks all steps of a device, in a closed loop where it is full; counts completions by tag.
fn perform(device: &mut dyn Device, steps: &[Step]) -> (Vec<u32>, Traffic) {
    let (mut completed, mut asked, mut done) = (vec![0; steps.len()], Traffic::default(), Vec::<Completion>::new());
    let mut now = Nanos::ZERO;
    let mut take = |done: &mut Vec<Completion>| {
        for completion in done.drain(..) {
            assert_eq!(completion.status, Status::Success);
            completed[completion.tag.0 as usize] += 1;
        }
    };
    let limits = device.limits().clone();
    for (tag, step) in steps.iter().enumerate() {
        let due = now + Nanos(step.pause_us * 1_000);
        while device.next_event().is_some_and(|next| next <= due) {
            now = device.advance(due, &mut done);
            take(&mut done);
        }
        now = now.max(due);
        let request = request_of(step, &limits);
        while device.submit(now, Tag(tag as u32), request).is_err() {
            now = device.advance(Nanos::NEVER, &mut done);
            take(&mut done);
        }
        asked.count(&request, limits.sector_bytes);
    }
    while device.next_event().is_some() {
        device.advance(Nanos::NEVER, &mut done);
        take(&mut done);
    }
    (completed, asked)
}

/// Bytes that leave a layer follow from those that it took.
fn check_layer(text: &str, counts: &LayerCounts) {
    let (taken, asked) = (counts.taken, counts.asked[0]);
    let crypt = text.starts_with("crypt");
    let keeps_trims = crypt && text.contains("discards=false");
    assert_eq!(asked.read_bytes, taken.read_bytes, "{text}");
    assert_eq!(asked.flushes, taken.flushes, "{text}");
    let zeroes_as_data = if crypt { taken.zeroed_bytes } else { 0 };
    assert_eq!(asked.written_bytes, taken.written_bytes + zeroes_as_data, "{text}");
    assert_eq!(asked.zeroed_bytes, taken.zeroed_bytes - zeroes_as_data, "{text}");
    assert_eq!(asked.trimmed_bytes, if keeps_trims { 0 } else { taken.trimmed_bytes }, "{text}");
    if !text.starts_with("scheduler") && !keeps_trims {
        assert_eq!((asked.reads, asked.trims), (taken.reads, taken.trims), "{text}");
    }
}

fn check(layers: &[String], steps: &[Step], drive: fn() -> Box<dyn Device>) {
    let mut device = stack(layers, drive);
    let (completed, asked) = perform(device.as_mut(), steps);
    assert!(completed.iter().all(|&times| times == 1), "each request completes once: {completed:?}");
    let mut counts = &device.layers();
    let mut above = asked;
    for text in layers.iter().rev() {
        assert_eq!(counts.taken, above, "what one layer asks the next one takes: {text}");
        check_layer(text, counts);
        above = counts.asked[0];
        counts = &counts.below[0];
    }
    let of_drive = device.counters();
    assert_eq!((of_drive.host_bytes_read, of_drive.host_flushes), (above.read_bytes, above.flushes));
    if layers.iter().any(|text| text.contains("discards=false")) {
        assert_eq!(of_drive.host_trims, above.write_zeroes, "no trim passes");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Any layers over a device of constant latency.
    #[test]
    fn bytes_are_conserved(layers in layers(), steps in prop::collection::vec(step(), 1..120)) {
        check(&layers, &steps, || Box::new(NullDevice::new(16 << 20, Nanos(150_000), 4)));
    }

    /// The same over a simulated drive, whose completions come in any order.
    #[test]
    fn bytes_are_conserved_over_a_drive(layers in layers(), steps in prop::collection::vec(step(), 1..60)) {
        check(&layers, &steps, small_ssd);
    }

    /// Seasoning through layers, which has no time, leaves the drive with the data that the same requests leave in
    /// time. Zeroes are left out: a drive may write the ends of what it need not unmap.
    #[test]
    fn without_time_the_same_is_written(layers in layers(), steps in prop::collection::vec(step(), 1..60)) {
        let steps: Vec<Step> = steps.into_iter().filter(|step| step.operation != Operation::WriteZeroes).collect();
        let without_time = mapped(&layers, &steps, |device, request| {
            device.apply_now(request);
        });
        let (mut now, mut done) = (Nanos::ZERO, Vec::new());
        let in_time = mapped(&layers, &steps, |device, request| {
            device.submit(now, Tag(0), request).unwrap();
            while done.is_empty() {
                now = device.advance(Nanos::NEVER, &mut done);
            }
            done.clear();
        });
        prop_assert_eq!(in_time, without_time);
    }
}
