//! Numbers as fio writes them: so many characters at most, with a decimal or a binary prefix.

/// Prefixes count thousands (k, M, G) or 1024s (Ki, Mi, Gi).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// SI: 1 k = 1000.
    Decimal,
    /// IEC: 1 Ki = 1024.
    Binary,
}

/// `value` in at most `width` characters, point included, prefix and unit not.
pub fn short(value: u64, width: usize, prefix: Prefix, unit: &str) -> String {
    let (base, names) = match prefix {
        Prefix::Decimal => (1000, ["", "k", "M", "G", "T", "P", "E"]),
        Prefix::Binary => (1024, ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]),
    };
    let (mut whole, mut rest, mut power) = (value, 0, 0);
    while digits(whole) > width && power < names.len() - 1 {
        (whole, rest, power) = (whole / base, whole % base, power + 1);
    }
    let name = names[power];
    let decimals = width.saturating_sub(digits(whole) + 1);
    if power == 0 {
        return format!("{whole}{unit}");
    }
    if decimals == 0 {
        whole += u64::from(rest >= base / 2);
        return format!("{whole}{name}{unit}");
    }
    let fraction = format!("{:.decimals$}", rest as f64 / base as f64);
    whole += u64::from(fraction.starts_with('1'));
    format!("{whole}.{}{name}{unit}", &fraction[2..])
}

fn digits(value: u64) -> usize {
    value.checked_ilog10().map_or(1, |log| log as usize + 1)
}

#[cfg(test)]
mod test {
    use super::*;
    use Prefix::{Binary, Decimal};

    /// What fio 3.33 printed for the same figures.
    #[test]
    fn writes_what_fio_writes() {
        assert_eq!(short(1_008_000, 4, Decimal, ""), "1008k");
        assert_eq!(short(2512, 4, Decimal, ""), "2512");
        assert_eq!(short(10_922_666, 4, Decimal, ""), "10.9M");
        assert_eq!(short(536_739_840, 4, Binary, "B"), "512MiB");
        assert_eq!(short(10_290_443, 4, Binary, "B/s"), "9.81MiB/s");
        assert_eq!(short(10_290_443, 4, Decimal, "B/s"), "10.3MB/s");
        assert_eq!(short(44_739_242_666, 4, Binary, "B/s"), "41.7GiB/s");
        assert_eq!(short(5_214_208, 4, Decimal, "B"), "5214kB");
        assert_eq!(short(4_295_051, 6, Decimal, ""), "4295.1k");
    }
}
