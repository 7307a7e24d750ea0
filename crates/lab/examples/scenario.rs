//! A scenario on a drive with layers over it: `scenario NAME DRIVE [--layer LAYER]… [KEY=VALUE]…`.
//!
//! Prints the result as JSON, and the drives' counters.

use ssdlab_device::block::Device;
use ssdlab_device::profile::{Profile, built_in};
use ssdlab_device::units::Nanos;
use ssdlab_lab::files::run::run_scenario;
use ssdlab_lab::files::scenario::Scenario;
use ssdlab_lab::host::drive::Drive;
use ssdlab_lab::host::registry::LayerPlan;
use ssdlab_lab::host::stack::build;
use ssdlab_lab::host::text::{LayerText, StackError};
use std::error::Error;

fn open(name: &str) -> Result<Box<dyn Device>, StackError> {
    let fail = |message: String| StackError::new(name, message);
    let text = built_in(name).ok_or_else(|| fail("there is no such drive".into()))?;
    let profile = Profile::read(name, name, text, &[]).map_err(|error| fail(error.to_string()))?;
    let drive = Drive::new(&profile.model, 1).map_err(|problem| fail(problem.message))?;
    Ok(Box::new(drive))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, drive, rest @ ..] = arguments.as_slice() else {
        return Err("scenario NAME DRIVE [--layer LAYER]… [KEY=VALUE]…".into());
    };
    let (mut layers, mut settings, mut rest) = (Vec::new(), Vec::new(), rest.iter());
    while let Some(argument) = rest.next() {
        if argument == "--layer" {
            let text = rest.next().ok_or("--layer takes a layer, such as partition:start_sector=63")?;
            layers.push(LayerPlan::read(LayerText::parse(text)?)?);
        } else {
            let (key, value) = argument.split_once('=').ok_or("a setting is KEY=VALUE")?;
            settings.push((key.to_string(), value.to_string()));
        }
    }
    let scenario = Scenario::named(name, &settings)?;
    let mut device = build(&layers, &mut |other| open(other.unwrap_or(drive)))?;
    let result = run_scenario(device.as_mut(), &scenario, Nanos::ZERO, 1)?;
    println!("{}", serde_json::to_string_pretty(&result)?);
    let counters: Vec<String> = device
        .counters()
        .entries()
        .filter(|(_, value)| *value > 0)
        .map(|(key, value)| format!("{key} {value}"))
        .collect();
    println!("{}", counters.join(", "));
    Ok(())
}
