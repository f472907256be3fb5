//! A piece of the log: values at indexes from a base on, with holes.

use std::collections::VecDeque;

use crate::Index;

/// Values at `base..end`; the last place, if any, is filled.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Log<T> {
    base: Index,
    slots: VecDeque<Option<T>>,
}

impl<T> Log<T> {
    pub(super) fn new(base: Index) -> Self {
        Self { base, slots: VecDeque::new() }
    }

    pub(super) fn base(&self) -> Index {
        self.base
    }

    /// The index after the last value; the base if there is none.
    pub(super) fn end(&self) -> Index {
        self.base + self.slots.len() as u64
    }

    pub(super) fn get(&self, index: Index) -> Option<&T> {
        self.slots.get(self.place(index)?)?.as_ref()
    }

    /// Sets the value at an index; one below the base is dropped.
    pub(super) fn set(&mut self, index: Index, value: T) {
        let Some(place) = self.place(index) else { return };
        if place == self.slots.len() {
            return self.slots.push_back(Some(value));
        }
        if place > self.slots.len() {
            self.slots.resize_with(place + 1, || None);
        }
        self.slots[place] = Some(value);
    }

    /// Takes the value at the base out, and the base moves on.
    pub(super) fn pop(&mut self) -> Option<T> {
        let value = self.slots.pop_front()?;
        self.base += 1;
        value
    }

    /// Drops all values below an index.
    pub(super) fn trim(&mut self, to: Index) {
        if to >= self.end() {
            return self.clear(to.max(self.base));
        }
        while self.base < to {
            self.slots.pop_front();
            self.base += 1;
        }
    }

    /// Drops all values; the next begin at `base`.
    pub(super) fn clear(&mut self, base: Index) {
        self.base = base;
        self.slots.clear();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Index, &T)> {
        (self.base..).zip(&self.slots).filter_map(|(index, slot)| slot.as_ref().map(|value| (index, value)))
    }

    fn place(&self, index: Index) -> Option<usize> {
        index.checked_sub(self.base).map(|place| place as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::Log;

    #[test]
    fn values_stand_at_their_indexes() {
        let mut log = Log::new(10);
        log.set(12, 'c');
        log.set(9, 'x');
        log.set(10, 'a');
        assert_eq!((log.get(9), log.get(10), log.get(11), log.get(12)), (None, Some(&'a'), None, Some(&'c')));
        assert_eq!((log.base(), log.end()), (10, 13));
        assert_eq!(Vec::from_iter(log.iter()), [(10, &'a'), (12, &'c')]);
    }

    #[test]
    fn trimming_moves_the_base_and_never_back() {
        let mut log = Log::new(0);
        (0..4).for_each(|index| log.set(index, index));
        log.trim(2);
        log.trim(1);
        assert_eq!((log.base(), log.get(1), log.get(2)), (2, None, Some(&2)));
        log.trim(9);
        assert_eq!((log.base(), log.end()), (9, 9));
        log.set(9, 9);
        assert_eq!((log.pop(), log.pop(), log.base()), (Some(9), None, 10));
    }
}
