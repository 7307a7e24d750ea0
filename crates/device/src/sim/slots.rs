//! Things under way, by number: a number is given again when its thing has ended.

/// What a number leads to.
#[derive(Clone, Debug)]
enum Slot<T> {
    Thing(T),
    /// Free, and the number that was freed before.
    Free(u32),
}

/// Numbered things.
#[derive(Clone, Debug)]
pub struct Slots<T> {
    slots: Vec<Slot<T>>,
    /// The number freed last, one beyond all slots where none is free.
    free: u32,
    count: u32,
}

impl<T> Default for Slots<T> {
    fn default() -> Slots<T> {
        Slots::with_capacity(0)
    }
}

impl<T> Slots<T> {
    /// Memory that each thing takes.
    pub const BYTES_A_THING: usize = size_of::<Slot<T>>();
    const NONE: u32 = u32::MAX;

    /// Without things, and with room for so many.
    pub fn with_capacity(things: usize) -> Slots<T> {
        Slots { slots: Vec::with_capacity(things), free: Slots::<T>::NONE, count: 0 }
    }

    /// Keeps a thing; returns its number.
    #[inline(always)]
    pub fn insert(&mut self, thing: T) -> u32 {
        self.count += 1;
        let number = self.free;
        match self.slots.get_mut(number as usize) {
            Some(slot) => {
                if let Slot::Free(before) = *slot {
                    self.free = before;
                }
                *slot = Slot::Thing(thing);
                number
            }
            None => {
                self.slots.push(Slot::Thing(thing));
                self.slots.len() as u32 - 1
            }
        }
    }

    /// Gives a thing away and frees its number.
    #[inline(always)]
    pub fn remove(&mut self, number: u32) -> T {
        let slot = &mut self.slots[number as usize];
        let Slot::Thing(thing) = std::mem::replace(slot, Slot::Free(self.free)) else { not_given() };
        self.free = number;
        self.count -= 1;
        thing
    }

    /// The thing of that number, to be changed.
    #[inline(always)]
    pub fn get_mut(&mut self, number: u32) -> &mut T {
        let Slot::Thing(thing) = &mut self.slots[number as usize] else { not_given() };
        thing
    }

    /// The thing of that number.
    #[inline(always)]
    pub fn get(&self, number: u32) -> &T {
        let Slot::Thing(thing) = &self.slots[number as usize] else { not_given() };
        thing
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The numbers of all, the lowest first.
    pub fn numbers(&self) -> Vec<u32> {
        (0..).zip(&self.slots).filter(|(_, slot)| matches!(slot, Slot::Thing(_))).map(|(number, _)| number).collect()
    }

    /// All things, in order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(|slot| if let Slot::Thing(thing) = slot { Some(thing) } else { None })
    }

    /// All things, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().filter_map(|slot| if let Slot::Thing(thing) = slot { Some(thing) } else { None })
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.slots.clear();
        (self.free, self.count) = (Slots::<T>::NONE, 0);
    }
}

#[cold]
fn not_given() -> ! {
    panic!("not a number that was given");
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
    #[should_panic(expected = "not a number that was given")]
    fn a_freed_number_leads_nowhere() {
        let mut slots = Slots::default();
        let number = slots.insert(1);
        slots.remove(number);
        slots.get(number);
    }
}
