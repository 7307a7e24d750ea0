//! Recognises requests that follow one another: a stream longer than a limit goes past the cache.

use ssdlab_device::block::Request;
use std::collections::VecDeque;

/// Streams that are remembered.
const REMEMBERED: usize = 32;

/// The streams seen last.
#[derive(Debug)]
pub struct Streams {
    /// Sector behind the end, and sectors so far.
    ends: VecDeque<(u64, u64)>,
    limit_sectors: u64,
}

impl Streams {
    /// Streams longer than so many sectors go past; 0 recognises none.
    pub fn new(limit_sectors: u64) -> Streams {
        Streams { ends: VecDeque::new(), limit_sectors }
    }

    /// Takes note of a request; whether it belongs to a stream beyond the limit.
    pub fn is_long(&mut self, request: &Request) -> bool {
        let sectors = u64::from(request.sectors);
        let continued = self.ends.iter().position(|(end, _)| *end == request.lba.0);
        let before = continued.and_then(|index| self.ends.remove(index)).map_or(0, |(_, sectors)| sectors);
        self.ends.push_back((request.lba.0 + sectors, before + sectors));
        if self.ends.len() > REMEMBERED {
            self.ends.pop_front();
        }
        self.limit_sectors > 0 && before + sectors > self.limit_sectors
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.ends.clear();
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use ssdlab_device::block::Operation;
    use ssdlab_device::units::Lba;

    /// Two interleaved streams are told apart; each goes past once it is longer than the limit.
    #[test]
    fn interleaved_streams_are_told_apart() {
        let mut streams = Streams::new(16);
        let mut ask = |lba| streams.is_long(&Request::new(Operation::Read, Lba(lba), 8));
        assert_eq!(
            [ask(0), ask(1000), ask(8), ask(1008), ask(16), ask(1016)],
            [false, false, false, false, true, true]
        );
        assert!(!ask(5000));
    }
}
