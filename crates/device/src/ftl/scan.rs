//! The least of many numbers, and where one is among them: what a victim's search does with each counter of a pool.
//!
//! Written so that the compiler looks at several numbers in one instruction: a die of a large drive has 76,000 counters.

/// Numbers that are looked at together, so that the compiler does it in few instructions.
const TOGETHER: usize = 32;

/// The least of many numbers.
pub fn least(numbers: &[u32]) -> Option<u32> {
    let (chunks, rest) = numbers.as_chunks::<TOGETHER>();
    let mut lanes = [u32::MAX; TOGETHER];
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, number)| *lane = (*lane).min(*number));
    }
    let first = numbers.first()?;
    Some(lanes.iter().chain(rest).copied().fold(*first, u32::min))
}

/// Where the first of many numbers is that equals another.
pub fn position(numbers: &[u32], wanted: u32) -> Option<usize> {
    let (chunks, _) = numbers.as_chunks::<TOGETHER>();
    let has_it = |chunk: &[u32; TOGETHER]| chunk.iter().fold(false, |found, number| found | (*number == wanted));
    let first = TOGETHER * chunks.iter().position(has_it).unwrap_or(chunks.len());
    Some(first + numbers[first..].iter().position(|number| *number == wanted)?)
}

#[cfg(test)]
mod test {
    use super::*;

    /// By hand, in whole stretches and behind them; there is no least number among none.
    #[test]
    fn the_least_of_many_is_found() {
        let mut numbers: Vec<u32> = (0..2 * TOGETHER as u32 + 5).map(|number| 1000 - number).collect();
        assert_eq!((least(&numbers), position(&numbers, 931)), (Some(932), None));
        assert_eq!([0, 40, 68].map(|place| position(&numbers, 1000 - place)), [0, 40, 68].map(|at| Some(at as usize)));
        numbers[33] = 7;
        assert_eq!((least(&numbers), position(&numbers, 7)), (Some(7), Some(33)));
        assert_eq!((least(&[]), least(&[u32::MAX]), position(&[], 1)), (None, Some(u32::MAX), None));
    }
}
