//! Sectors that cannot be read until they are written or trimmed.

use std::collections::BTreeSet;
use std::ops::Range;

/// More than anybody spoils: 8 GiB of sectors of 512 bytes.
const MOST: u64 = 1 << 24;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct BadSectors {
    sectors: BTreeSet<u64>,
    has_changed: bool,
}

impl BadSectors {
    /// They cannot be read from now on.
    pub fn spoil(&mut self, sectors: impl IntoIterator<Item = u64>) {
        for sector in sectors {
            self.has_changed |= self.sectors.insert(sector);
        }
    }

    /// They can be read again; returns which could not be.
    pub fn mend(&mut self, sectors: impl IntoIterator<Item = u64>) -> Vec<u64> {
        if self.sectors.is_empty() {
            return Vec::new();
        }
        let mended: Vec<u64> = sectors.into_iter().filter(|sector| self.sectors.remove(sector)).collect();
        self.has_changed |= !mended.is_empty();
        mended
    }

    /// All can be read again.
    pub fn clear(&mut self) {
        self.has_changed |= !self.sectors.is_empty();
        self.sectors.clear();
    }

    /// Those of a range, in order.
    pub fn within(&self, sectors: Range<u64>) -> impl Iterator<Item = u64> + '_ {
        self.sectors.range(sectors).copied()
    }

    /// All of them, where they have changed since they were last asked for.
    pub fn take_changed(&mut self) -> Option<&BTreeSet<u64>> {
        std::mem::take(&mut self.has_changed).then_some(&self.sectors)
    }
}

/// Sectors as a text: a range FIRST-LAST a line, then `end`.
pub fn to_text(sectors: &BTreeSet<u64>) -> String {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for sector in sectors {
        match ranges.last_mut() {
            Some(last) if last.end == *sector => last.end += 1,
            _ => ranges.push(*sector..*sector + 1),
        }
    }
    let lines = ranges.iter().map(|range| format!("{}-{}\n", range.start, range.end - 1));
    lines.chain(["end\n".into()]).collect()
}

/// The sectors of such a text.
///
/// # Errors
/// What is wrong with it, as the rest of a sentence about the file.
pub fn from_text(text: &str) -> Result<BTreeSet<u64>, String> {
    let lines = text.strip_suffix("end\n").ok_or("is cut: its last line is not `end`")?;
    let mut sectors = BTreeSet::new();
    for (number, line) in (1..).zip(lines.lines()) {
        let range = line.split_once('-').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
        let (first, last): (u64, u64) = range
            .filter(|(first, last)| first <= last && last - first < MOST)
            .ok_or_else(|| format!("line {number}: `{line}` is no range FIRST-LAST of sectors"))?;
        sectors.extend(first..=last);
        if sectors.len() as u64 > MOST {
            return Err(format!("line {number}: names more than {MOST} sectors"));
        }
    }
    Ok(sectors)
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand, and back.
    #[test]
    fn neighbours_are_a_range() {
        let sectors = BTreeSet::from([3, 4, 5, 9]);
        assert_eq!(to_text(&sectors), "3-5\n9-9\nend\n");
        assert_eq!(from_text(&to_text(&sectors)), Ok(sectors));
        assert_eq!(from_text("3-5\n9-"), Err("is cut: its last line is not `end`".into()));
        assert_eq!(from_text("3-5\n9-8\nend\n"), Err("line 2: `9-8` is no range FIRST-LAST of sectors".into()));
        assert!(from_text("0-18446744073709551615\nend\n").is_err());
    }

    /// By hand.
    #[test]
    fn changes_are_told_once() {
        let mut bad = BadSectors::default();
        assert_eq!(bad.take_changed(), None);
        bad.spoil(3..6);
        assert_eq!(bad.take_changed(), Some(&BTreeSet::from([3, 4, 5])));
        bad.mend([1, 4]);
        assert_eq!(bad.within(0..5).collect::<Vec<_>>(), [3]);
        assert_eq!(bad.take_changed(), Some(&BTreeSet::from([3, 5])));
        bad.mend([1]);
        assert_eq!(bad.take_changed(), None, "nothing new");
        bad.clear();
        assert_eq!(bad.take_changed(), Some(&BTreeSet::new()));
    }
}
