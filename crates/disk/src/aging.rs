//! What a life before does to a drive at once: wear, spare, errors, and what its log tells.
//!
//! ```text
//! age cycles=500 spare_percent=8 celsius=71     only what is named changes
//! age 500                                       cycles alone
//! ```
//! Nothing is written by it: data and write amplification stay as they are.

use ssdlab_device::counters::Counters;
use ssdlab_device::ssd::signs::Signs;
use std::fmt;
use std::str::FromStr;

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aging {
    /// Each good block is erased so many times more. Those beyond their endurance go bad when they are erased next.
    pub cycles: Option<u32>,
    /// Blocks go bad until so much spare is left at most.
    pub spare_percent: Option<u32>,
    /// Blocks go bad until the drive takes no more writes.
    pub read_only: bool,
    /// So many more reads failed.
    pub media_errors: Option<u64>,
    /// The power failed under way so many times more.
    pub unsafe_shutdowns: Option<u64>,
    /// Degrees Celsius from now on.
    pub celsius: Option<i16>,
    /// Hours that it has been on.
    pub power_on_hours: Option<u64>,
    /// Times that it was switched on.
    pub power_cycles: Option<u64>,
    /// What protects its buffer has failed, or has not.
    pub capacitor_failed: Option<bool>,
}

impl Aging {
    /// What the log tells from then on.
    pub fn signs(&self, before: Signs) -> Signs {
        Signs {
            celsius: self.celsius.or(before.celsius),
            power_on_hours: self.power_on_hours.or(before.power_on_hours),
            power_cycles: self.power_cycles.or(before.power_cycles),
            capacitor_failed: self.capacitor_failed.unwrap_or(before.capacitor_failed),
        }
    }

    /// What is counted besides.
    pub fn count(&self, counters: &mut Counters) {
        counters.uncorrectable_reads += self.media_errors.unwrap_or(0);
        counters.unsafe_shutdowns += self.unsafe_shutdowns.unwrap_or(0);
    }

    /// Of blocks that may still be lost and of those that are, how many more will be.
    pub fn blocks_to_lose(&self, left: i64, lost: u64) -> u64 {
        let left = left.max(0) as u64;
        let stays = self.spare_percent.map_or(left, |percent| u64::from(percent) * (left + lost) / 100);
        let more = left.saturating_sub(stays);
        if self.read_only { left + 1 } else { more }
    }
}

impl fmt::Display for Aging {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |name, value: Option<i128>| value.map(|value| format!("{name}={value}"));
        let words = [
            number("cycles", self.cycles.map(Into::into)),
            number("spare_percent", self.spare_percent.map(Into::into)),
            self.read_only.then(|| "read_only=1".to_string()),
            number("media_errors", self.media_errors.map(Into::into)),
            number("unsafe_shutdowns", self.unsafe_shutdowns.map(Into::into)),
            number("celsius", self.celsius.map(Into::into)),
            number("power_on_hours", self.power_on_hours.map(Into::into)),
            number("power_cycles", self.power_cycles.map(Into::into)),
            number("capacitor_failed", self.capacitor_failed.map(Into::into)),
        ];
        to.write_str(&words.into_iter().flatten().collect::<Vec<_>>().join(" "))
    }
}

/// Words that name nothing that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoAging;

impl FromStr for Aging {
    type Err = NoAging;

    fn from_str(words: &str) -> Result<Aging, NoAging> {
        if let Ok(cycles) = words.parse() {
            return Ok(Aging { cycles: Some(cycles), ..Aging::default() });
        }
        words.split_whitespace().try_fold(Aging::default(), |aging, word| {
            let (name, value) = word.split_once('=').ok_or(NoAging)?;
            aging.with(name, value.parse().map_err(|_| NoAging)?).ok_or(NoAging)
        })
    }
}

impl Aging {
    fn with(self, name: &str, value: i128) -> Option<Aging> {
        let flag = match value {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        };
        Some(match name {
            "cycles" => Aging { cycles: Some(value.try_into().ok()?), ..self },
            "spare_percent" => Aging { spare_percent: Some(value.try_into().ok()?), ..self },
            "read_only" => Aging { read_only: flag?, ..self },
            "media_errors" => Aging { media_errors: Some(value.try_into().ok()?), ..self },
            "unsafe_shutdowns" => Aging { unsafe_shutdowns: Some(value.try_into().ok()?), ..self },
            "celsius" => Aging { celsius: Some(value.try_into().ok()?), ..self },
            "power_on_hours" => Aging { power_on_hours: Some(value.try_into().ok()?), ..self },
            "power_cycles" => Aging { power_cycles: Some(value.try_into().ok()?), ..self },
            "capacitor_failed" => Aging { capacitor_failed: Some(flag?), ..self },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// What is written is read again; what is no aging is none.
    #[test]
    fn words_and_back() {
        let all = "cycles=500 spare_percent=8 read_only=1 media_errors=3 unsafe_shutdowns=4 celsius=-5 \
                   power_on_hours=9 power_cycles=2 capacitor_failed=0";
        let aging: Aging = all.parse().expect("an aging");
        assert_eq!((aging.to_string().as_str(), aging.celsius, aging.capacitor_failed), (all, Some(-5), Some(false)));
        assert_eq!("500".parse(), Ok(Aging { cycles: Some(500), ..Aging::default() }));
        for wrong in ["wear=3", "cycles", "cycles=-1", "read_only=2", "celsius=99999"] {
            assert_eq!(wrong.parse::<Aging>(), Err(NoAging), "{wrong}");
        }
    }

    /// By hand: of 90 blocks left and 10 lost, 8 % leaves 8; read-only takes one more than there are.
    #[test]
    fn blocks_by_hand() {
        let lose = |words: &str, left, lost| words.parse::<Aging>().expect("an aging").blocks_to_lose(left, lost);
        assert_eq!(lose("spare_percent=8", 90, 10), 82);
        assert_eq!(lose("spare_percent=95", 90, 10), 0);
        assert_eq!((lose("cycles=5", 90, 10), lose("read_only=1", 90, 10)), (0, 91));
    }

    /// Only what is named changes.
    #[test]
    fn the_rest_stays() {
        let before = Signs { celsius: Some(30), capacitor_failed: true, ..Signs::default() };
        let after = "power_cycles=7".parse::<Aging>().expect("an aging").signs(before);
        assert_eq!(after, Signs { power_cycles: Some(7), ..before });
        let mut counters = Counters::default();
        "media_errors=3 unsafe_shutdowns=2".parse::<Aging>().expect("an aging").count(&mut counters);
        assert_eq!((counters.uncorrectable_reads, counters.unsafe_shutdowns), (3, 2));
    }
}
