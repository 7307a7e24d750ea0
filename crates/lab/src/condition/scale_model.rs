//! Steady state by a scale model: a small drive is seasoned the long way and copied into a large one.
//!
//! The long way writes a large drive four or five times over. In steady state its dies are many times a few
//! dies, so those few are seasoned instead ([`model`] makes them, `ssdlab_device::ftl::grow` copies them).
//! Between two copies the model writes 1/k of its units, k the number of copies, so that the dies of the large
//! drive do not collect in step. That then writes slices of a fortieth of its units itself, three at least. It is
//! accepted when the write amplification of the last two, or of the last two pairs, differs by less than 0.5 %; else
//! the drive is as it was, and the long way is left to the caller.
//!
//! Whatever is written on the way is drawn from a stream of its own. The draws of the model, drawn again, would
//! fall on copies of what it wrote at that time: data of one age, so that other blocks empty than under load.
//!
//! [`holds`] says for what drives and jobs this holds. Left out: seasoning only a part of the way, for `used`.

pub mod holds;
pub mod model;

use super::seasoner::Seasoner;
use super::{Condition, Season, lay_out, season};
use crate::run::Observer;
use crate::workload::generate::JobError;
use crate::workload::job::Job;
use model::ScaleModel;
use serde::{Deserialize, Serialize};
use ssdlab_device::block::Device;
use ssdlab_device::ftl::Ftl;
use ssdlab_device::ssd::Ssd;

/// Slices of the large drive's units that it writes itself, and of those the ones it writes at least and at most.
/// In the first it uses up free blocks that the copies brought; from the second on write amplification stays.
const SLICES_PER_CAPACITY: u64 = 40;
/// Slices of fewer units scatter by more than they should: those of smaller drives are up to twice so large a share. Of
/// so few they scatter by more than they may differ, and are up to twice so large again.
const SLICES_OF_SMALL: u64 = SLICES_PER_CAPACITY / 2;
const ENOUGH_SLICE_UNITS: u64 = 1 << 21;
const LEAST_SLICE_UNITS: u64 = 1 << 17;
const LEAST_SLICES: usize = 3;
const MOST_SLICES: usize = 8;
/// Two slices agree.
const AGREE_WITHIN: f64 = 0.005;

/// The dies of the large drive begin spread over the time of programming so many blocks: one to two times that
/// from one collection to the next.
const STAGGERED_BLOCKS: u32 = 2;

/// What writes on the way, besides the model on its own way into steady state, which has the caller's seed.
#[derive(Clone, Copy, Debug)]
enum Writes {
    BetweenCopies = 1,
    Slices = 2,
    Backlog = 3,
}

impl Writes {
    fn seed(self, seed: u64) -> u64 {
        seed.wrapping_add(self as u64)
    }
}

/// What the model was; kept with the drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scaled {
    /// Dies of the model.
    pub dies: u32,
    /// Blocks of the model.
    pub blocks: u32,
    /// Copies of it that became the drive.
    pub copies: u32,
    /// Write amplification of each slice that the large drive wrote itself.
    pub slices: Vec<f64>,
}

impl Scaled {
    /// Says it.
    pub fn told(&self) -> String {
        let Scaled { dies, blocks, copies, .. } = self;
        format!(
            "a scale model brought the drive into steady state: {copies} copies of a drive with {dies} dies and \
             {blocks} blocks; --exact preconditions the whole drive"
        )
    }
}

/// How it went.
#[derive(Debug)]
pub enum Outcome {
    /// The drive is in steady state; or the observer has stopped, and it is as it was.
    Taken(Season),
    /// The drive is as it was: why a scale model does not do.
    Refused(String),
}

/// Brings a drive out of the box into steady state by a scale model.
///
/// # Errors
/// Where the job does not fit the drive.
pub fn season_by_model(
    ssd: &mut Ssd,
    jobs: &[Job],
    span: f64,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Outcome, Box<JobError>> {
    let model = match ScaleModel::of(ssd, jobs, span) {
        Ok(model) => model,
        Err(why) => return Ok(Outcome::Refused(why)),
    };
    let (grown, mut season) = grow(&model, ssd, jobs, span, seed, observer)?;
    if season.interrupted {
        return Ok(Outcome::Taken(season));
    }
    let Some(mut grown) = grown else {
        return Ok(Outcome::Refused("the small drive does not come into steady state".into()));
    };
    let Some(slices) = settle(&mut grown, jobs, span, seed, observer)? else {
        season.interrupted = true;
        return Ok(Outcome::Taken(season));
    };
    if !agree(&slices) {
        let told: Vec<String> = slices.iter().map(|slice| format!("{slice:.3}")).collect();
        let told = told.join(", ");
        return Ok(Outcome::Refused(format!("write amplification of the large drive does not settle: {told}")));
    }
    let (dies, blocks) = model.shape();
    season.scaled = Some(Scaled { dies, blocks, copies: model.growth.copies, slices });
    *ssd = grown;
    Ok(Outcome::Taken(season))
}

/// Seasons the model and copies it into a drive that is fully written; with the model's season. No drive
/// where the model does not come into steady state, or the observer stops.
fn grow(
    model: &ScaleModel,
    ssd: &Ssd,
    jobs: &[Job],
    span: f64,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<(Option<Ssd>, Season), Box<JobError>> {
    let Ok(mut small) = Ssd::new(&model.config, seed, ()) else { return Ok((None, Season::default())) };
    if !ssd.ftl.grows_from(&small.ftl) {
        return Ok((None, Season::default()));
    }
    let mut seasoned = season(&mut small, Condition::Fresh, Condition::SteadyByJob, jobs, span, seed, observer)?;
    if seasoned.steady_reached != Some(true) {
        return Ok((None, seasoned));
    }
    let mut large = Ftl::new(ssd.config(), ssd.ftl.seed, ()).expect("the drive was made like this");
    let mut growing = large.begin_growth(model.growth, &small.ftl);
    let mut seasoner = Seasoner::new(&mut small, span, observer);
    let mut writers = seasoner.writers(jobs, Writes::BetweenCopies.seed(seed))?;
    let (between, mut due) = (seasoner.units / u64::from(model.growth.copies), 0);
    for copy in 0..model.growth.copies {
        large.add_copy(&mut growing, &seasoner.device.ftl);
        let share = f64::from(copy) / f64::from(model.growth.copies);
        due += between;
        let goes_on = seasoner.goes_on("copy", share);
        if !goes_on || growing.may_go_on() && !seasoner.round(&mut writers, std::mem::take(&mut due), "copy", share) {
            seasoned.interrupted = seasoner.season.interrupted;
            return Ok((None, seasoned));
        }
    }
    large.end_growth(growing);
    let mut grown = Ssd::around(ssd.config(), large);
    grown.stagger_now(STAGGERED_BLOCKS);
    let bytes = u64::from(model.growth.used) * u64::from(grown.unit_bytes());
    lay_out(&mut grown, &[(0, 0, bytes)]);
    Ok((Some(grown), seasoned))
}

/// Lets the large drive write slices until two agree, or too many do not; gives the write amplification of
/// each. None where the observer stops.
fn settle(
    ssd: &mut Ssd,
    jobs: &[Job],
    span: f64,
    seed: u64,
    observer: &mut dyn Observer,
) -> Result<Option<Vec<f64>>, Box<JobError>> {
    let mut seasoner = Seasoner::new(ssd, span, observer);
    let mut writers = seasoner.writers(jobs, Writes::Slices.seed(seed))?;
    model::fill_backlog(seasoner.device, &mut seasoner.writers(jobs, Writes::Backlog.seed(seed))?);
    let units = slice_units(seasoner.units);
    let mut slices = Vec::new();
    while slices.len() < LEAST_SLICES || !agree(&slices) && slices.len() < MOST_SLICES {
        let before = seasoner.device.counters();
        let share = slices.len() as f64 / LEAST_SLICES as f64;
        if !seasoner.round(&mut writers, units, "settle", share.min(1.0)) {
            break;
        }
        slices.extend((seasoner.device.counters() - before).write_amplification());
    }
    seasoner.flush();
    Ok((!seasoner.season.interrupted).then_some(slices))
}

/// Units of a slice of a drive of so many.
fn slice_units(units: u64) -> u64 {
    let share = |slices: u64| (units / slices).max(1);
    let of_large = share(SLICES_PER_CAPACITY);
    of_large.max(share(SLICES_OF_SMALL).min(ENOUGH_SLICE_UNITS)).max(share(SLICES_OF_SMALL / 2).min(LEAST_SLICE_UNITS))
}

/// The last two slices differ by less than 0.5 %, or the last two pairs do: single ones of a small drive scatter.
fn agree(slices: &[f64]) -> bool {
    let close = |before: f64, last: f64| (last / before - 1.0).abs() < AGREE_WITHIN;
    match *slices {
        [.., before, last] if close(before, last) => true,
        [.., a, b, c, d] => close(a + b, c + d),
        _ => false,
    }
}

#[cfg(test)]
mod test;
