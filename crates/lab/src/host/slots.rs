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
    /// Keeps a thing; returns its number.
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
    pub fn remove(&mut self, number: u32) -> T {
        self.free.push(number);
        self.things[number as usize].take().expect("a number that was given")
    }

    /// The thing of that number.
    pub fn get(&mut self, number: u32) -> &mut T {
        self.things[number as usize].as_mut().expect("a number that was given")
    }

    /// The thing of that number, to look at.
    pub fn peek(&self, number: u32) -> &T {
        self.things[number as usize].as_ref().expect("a number that was given")
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.things.len() == self.free.len()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.things.clear();
        self.free.clear();
    }
}
