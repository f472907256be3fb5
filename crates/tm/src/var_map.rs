//! A map from variables that is emptied at no cost: the sets of an attempt.
//!
//! A list that keeps the order of insertion. A short one is searched from its begin; a longer one has an index by open
//! addressing, whose slots belong to the map's current round or are free, so that emptying it is one addition. Nothing is taken
//! out but all at once.

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct VarMap<V> {
    entries: Vec<(u32, V)>,
    /// Of a list with more than [`SHORT`] entries: the round in which the slot was filled, and the place in the list.
    slots: Vec<(u32, u32)>,
    round: u32,
}

/// The most entries that are searched one after the other: for two of them that takes half as long as a look into the index.
const SHORT: usize = 8;
const FIRST_SLOTS: usize = 64;

impl<V> VarMap<V> {
    pub(crate) fn new() -> Self {
        Self { entries: Vec::with_capacity(SHORT), slots: vec![(0, 0); FIRST_SLOTS], round: 1 }
    }

    /// All entries, in the order in which they came.
    #[inline]
    pub(crate) fn entries(&self) -> &[(u32, V)] {
        &self.entries
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        if self.entries.len() > SHORT {
            self.begin_round();
        }
        self.entries.clear();
    }

    #[cold]
    fn begin_round(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.slots.fill((0, 0));
            self.round = 1;
        }
    }

    #[inline]
    pub(crate) fn get(&self, var: u32) -> Option<&V> {
        self.place(var).map(|place| &self.entries[place].1)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, var: u32) -> Option<&mut V> {
        self.place(var).map(|place| &mut self.entries[place].1)
    }

    #[inline]
    pub(crate) fn insert(&mut self, var: u32, value: V) {
        match self.get_mut(var) {
            Some(there) => *there = value,
            None => self.push(var, value),
        }
    }

    /// Inserts a variable that is not in the map.
    #[inline]
    pub(crate) fn push(&mut self, var: u32, value: V) {
        self.entries.push((var, value));
        if self.entries.len() > SHORT {
            self.index_last();
        }
    }

    #[inline]
    fn place(&self, var: u32) -> Option<usize> {
        if self.entries.len() > SHORT {
            return self.find(var).ok();
        }
        self.entries.iter().position(|(entry, _)| *entry == var)
    }

    /// The place in the list, or the free slot.
    #[inline]
    fn find(&self, var: u32) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = (u64::from(var).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        loop {
            let (round, place) = self.slots[slot];
            if round != self.round {
                return Err(slot);
            }
            if self.entries[place as usize].0 == var {
                return Ok(place as usize);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Adds the last entry to the index, or all of them where it is the first one that needs it.
    fn index_last(&mut self) {
        if self.entries.len() * 2 > self.slots.len() {
            self.slots = vec![(0, 0); self.slots.len() * 2];
            self.round = 1;
            return self.index_from(0);
        }
        let last = self.entries.len() - 1;
        self.index_from(if last == SHORT { 0 } else { last });
    }

    fn index_from(&mut self, first: usize) {
        for place in first..self.entries.len() {
            let slot = self.find(self.entries[place].0).expect_err("each variable once");
            self.slots[slot] = (self.round, place as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_was_put_in_until_it_is_cleared() {
        let mut map = VarMap::new();
        for round in 0..5u64 {
            for count in [3, SHORT as u32, SHORT as u32 + 1, 1000] {
                for var in 0..count {
                    map.insert(var * 7, u64::from(var) + round);
                }
                map.insert(7, 99);
                assert_eq!(map.entries().len(), count as usize);
                assert_eq!((map.get(7), map.get(14), map.get(8)), (Some(&99), Some(&(2 + round)), None));
                map.clear();
                assert!(map.is_empty() && map.get(7).is_none());
            }
        }
    }

    #[test]
    fn rounds_begin_anew() {
        let mut map = VarMap::new();
        let many = 0..=SHORT as u32;
        many.clone().for_each(|var| map.insert(var, ()));
        map.round = u32::MAX;
        map.clear();
        assert!(map.get(1).is_none());
        many.for_each(|var| map.insert(var + 100, ()));
        assert!(map.get(101).is_some() && map.get(1).is_none());
    }
}
