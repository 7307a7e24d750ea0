//! A number for each sector, such as the write that brought it: pages that copies share until one changes them.

use std::ops::Range;
use std::sync::Arc;

const PAGE: usize = 512;

/// A number for each sector, 0 at first; copies share what neither changes.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    pages: Vec<Option<Arc<[u64; PAGE]>>>,
}

impl Numbers {
    /// That of a sector.
    pub fn get(&self, lba: u64) -> u64 {
        let page = self.pages.get(lba as usize / PAGE).and_then(Option::as_ref);
        page.map_or(0, |page| page[lba as usize % PAGE])
    }

    /// Gives sectors new numbers, each made of the sector and what it had.
    pub fn change(&mut self, sectors: Range<u64>, to: impl Fn(u64, u64) -> u64) {
        for lba in sectors {
            let (page, place) = (lba as usize / PAGE, lba as usize % PAGE);
            if self.pages.len() <= page {
                self.pages.resize(page + 1, None);
            }
            let page = Arc::make_mut(self.pages[page].get_or_insert_with(|| Arc::new([0; PAGE])));
            page[place] = to(lba, page[place]);
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Numbers across pages; a copy keeps its own.
    #[test]
    fn copies_go_their_own_ways() {
        let mut numbers = Numbers::default();
        numbers.change(510..514, |lba, last| lba + last);
        let copy = numbers.clone();
        numbers.change(511..512, |_, last| last + 1);
        assert_eq!([509, 510, 511, 513, 514, 9999].map(|lba| numbers.get(lba)), [0, 510, 512, 513, 0, 0]);
        assert_eq!(copy.get(511), 511);
    }
}
