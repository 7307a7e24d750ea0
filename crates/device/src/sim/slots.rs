//! Things under way, by number: a number is given again when its thing has ended.

/// Numbered things.
#[derive(Clone, Debug)]
pub struct Slots<T> {
    things: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Slots<T> {
        Slots { things: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// Without things, and with room for so many.
    pub fn with_capacity(things: usize) -> Slots<T> {
        Slots { things: Vec::with_capacity(things), free: Vec::with_capacity(things) }
    }

    /// Keeps a thing; returns its number.
    #[inline(always)]
    pub fn insert(&mut self, thing: T) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.things[number as usize] = Some(thing);
                number
            }
            None => {
                self.things.push(Some(thing));
                self.things.len() as u32 - 1
            }
        }
    }

    /// Gives a thing away and frees its number.
    #[inline(always)]
    pub fn remove(&mut self, number: u32) -> T {
        self.free.push(number);
        self.things[number as usize].take().expect("a number that was given")
    }

    /// The thing of that number, to be changed.
    #[inline(always)]
    pub fn get_mut(&mut self, number: u32) -> &mut T {
        self.things[number as usize].as_mut().expect("a number that was given")
    }

    /// The thing of that number.
    #[inline(always)]
    pub fn get(&self, number: u32) -> &T {
        self.things[number as usize].as_ref().expect("a number that was given")
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.things.len() - self.free.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers of all, the lowest first.
    pub fn numbers(&self) -> Vec<u32> {
        (0..).zip(&self.things).filter(|(_, thing)| thing.is_some()).map(|(number, _)| number).collect()
    }

    /// All things, in order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.things.iter().flatten()
    }

    /// All things, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.things.iter_mut().flatten()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.things.clear();
        self.free.clear();
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// A number stays with its thing, and the one freed last is given next.
    #[test]
    fn numbers_are_given_again() {
        let mut slots = Slots::default();
        assert_eq!(["a", "b", "c"].map(|thing| slots.insert(thing)), [0, 1, 2]);
        assert_eq!((slots.remove(0), slots.remove(1), slots.len()), ("a", "b", 1));
        assert_eq!(["d", "e", "f"].map(|thing| slots.insert(thing)), [1, 0, 3]);
        *slots.get_mut(2) = "g";
        assert_eq!([0, 1, 2, 3].map(|number| *slots.get(number)), ["e", "d", "g", "f"]);
        slots.remove(1);
        assert_eq!(slots.numbers(), [0, 2, 3]);
        slots.clear();
        assert!(slots.is_empty());
    }

    #[test]
    #[should_panic(expected = "a number that was given")]
    fn a_freed_number_leads_nowhere() {
        let mut slots = Slots::default();
        let number = slots.insert(1);
        slots.remove(number);
        slots.get(number);
    }
}
