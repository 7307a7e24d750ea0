//! Sectors that cannot be read until they are written or trimmed: ranges, since a whole drive may be spoiled.

use rangemap::RangeSet;
use std::ops::Range;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct BadSectors {
    sectors: RangeSet<u64>,
    has_changed: bool,
}

impl BadSectors {
    /// These cannot be read, as is known already.
    pub fn known(sectors: RangeSet<u64>) -> BadSectors {
        BadSectors { sectors, has_changed: false }
    }

    /// They cannot be read from now on.
    pub fn spoil(&mut self, sectors: Range<u64>) {
        if self.sectors.gaps(&sectors).any(|gap| !gap.is_empty()) {
            self.sectors.insert(sectors);
            self.has_changed = true;
        }
    }

    /// They can be read again; returns which could not be.
    pub fn mend(&mut self, sectors: Range<u64>) -> Vec<u64> {
        let mended: Vec<u64> = self.within(sectors.clone()).flatten().collect();
        if !mended.is_empty() {
            self.sectors.remove(sectors);
            self.has_changed = true;
        }
        mended
    }

    /// All can be read again.
    pub fn clear(&mut self) {
        self.has_changed |= !self.sectors.is_empty();
        self.sectors.clear();
    }

    /// All of them.
    pub fn all(&self) -> &RangeSet<u64> {
        &self.sectors
    }

    /// Those of a range, in order.
    pub fn within(&self, sectors: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let (start, end) = (sectors.start, sectors.end);
        self.sectors.overlapping(sectors).map(move |bad| bad.start.max(start)..bad.end.min(end))
    }

    /// All of them, where they have changed since they were last asked for.
    pub fn take_changed(&mut self) -> Option<&RangeSet<u64>> {
        std::mem::take(&mut self.has_changed).then_some(&self.sectors)
    }
}

/// Sectors as a text: a range FIRST-LAST a line, then `end`.
pub fn to_text(sectors: &RangeSet<u64>) -> String {
    let lines = sectors.iter().map(|range| format!("{}-{}\n", range.start, range.end - 1));
    lines.chain(["end\n".into()]).collect()
}

/// The sectors of such a text.
///
/// # Errors
/// What is wrong with it, as the rest of a sentence about the file.
pub fn from_text(text: &str) -> Result<RangeSet<u64>, String> {
    let lines = text.strip_suffix("end\n").ok_or("is truncated: its last line is not `end`")?;
    let range = |(number, line): (u32, &str)| {
        let range = line.split_once('-').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
        let range = range.filter(|(first, last): &(u64, u64)| first <= last && *last < u64::MAX);
        let (first, last) =
            range.ok_or_else(|| format!("line {number}: `{line}` is not a range of sectors, FIRST-LAST"))?;
        Ok(first..last + 1)
    };
    (1..).zip(lines.lines()).map(range).collect()
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand, and back.
    #[test]
    fn neighbours_are_a_range() {
        let sectors = RangeSet::from([3..5, 5..6, 9..10]);
        assert_eq!(to_text(&sectors), "3-5\n9-9\nend\n");
        assert_eq!(from_text(&to_text(&sectors)), Ok(sectors));
        assert_eq!(from_text("3-5\n9-"), Err("is truncated: its last line is not `end`".into()));
        assert_eq!(from_text("3-5\n9-8\nend\n"), Err("line 2: `9-8` is not a range of sectors, FIRST-LAST".into()));
        assert!(from_text("0-18446744073709551615\nend\n").is_err());
        assert_eq!(from_text("3-9\n5-12\nend\n").as_ref().map(to_text), Ok("3-12\nend\n".into()), "they overlap");
    }

    /// By hand.
    #[test]
    fn changes_are_told_once() {
        let mut bad = BadSectors::known(from_text("90-90\nend\n").unwrap());
        let mut told = |change: &dyn Fn(&mut BadSectors)| {
            change(&mut bad);
            bad.take_changed().map(to_text)
        };
        assert_eq!(told(&|_| ()), None, "known already");
        assert_eq!(told(&|bad| bad.spoil(3..6)).as_deref(), Some("3-5\n90-90\nend\n"));
        assert_eq!(told(&|bad| bad.spoil(4..6)), None, "nothing new");
        assert_eq!(told(&|bad| bad.spoil(7..7)), None, "none");
        assert_eq!(told(&|bad| assert_eq!(bad.mend(1..2), [0u64; 0])), None, "it was not bad");
        assert_eq!(told(&|bad| assert_eq!(bad.mend(4..4), [0u64; 0])), None, "none");
        assert_eq!(told(&|bad| assert_eq!(bad.mend(4..5), [4])).as_deref(), Some("3-3\n5-5\n90-90\nend\n"));
        told(&|bad| assert!(bad.within(0..6).eq([3..4, 5..6])));
        told(&|bad| assert!(bad.within(5..91).eq([5..6, 90..91])));
        assert_eq!(told(&BadSectors::clear).as_deref(), Some("end\n"));
        assert_eq!(told(&|bad| bad.spoil(0..1 << 60)).as_deref(), Some("0-1152921504606846975\nend\n"));
    }
}
