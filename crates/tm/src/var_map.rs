//! A map from variables that is emptied at no cost: the sets of an attempt.
//!
//! Open addressing over the places of a list that keeps the order of insertion. A slot belongs to the map's current round or is
//! free, so that emptying it is one addition. Nothing is taken out but all at once.

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct VarMap<V> {
    /// The round in which the slot was filled, and the place in the list.
    slots: Vec<(u32, u32)>,
    round: u32,
    entries: Vec<(u32, V)>,
}

const FIRST_SLOTS: usize = 64;

impl<V> VarMap<V> {
    pub(crate) fn new() -> Self {
        Self { slots: vec![(0, 0); FIRST_SLOTS], round: 1, entries: Vec::new() }
    }

    /// All entries, in the order in which they came.
    pub(crate) fn entries(&self) -> &[(u32, V)] {
        &self.entries
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.slots.fill((0, 0));
            self.round = 1;
        }
    }

    #[inline]
    pub(crate) fn get(&self, var: u32) -> Option<&V> {
        if self.entries.is_empty() {
            return None;
        }
        self.find(var).ok().map(|place| &self.entries[place].1)
    }

    #[inline]
    pub(crate) fn insert(&mut self, var: u32, value: V) {
        match self.find(var) {
            Ok(place) => self.entries[place].1 = value,
            Err(slot) => {
                self.slots[slot] = (self.round, self.entries.len() as u32);
                self.entries.push((var, value));
                if self.entries.len() * 2 > self.slots.len() {
                    self.grow();
                }
            }
        }
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

    #[cold]
    fn grow(&mut self) {
        self.slots = vec![(0, 0); self.slots.len() * 2];
        self.round = 1;
        for place in 0..self.entries.len() {
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
            for var in 0..1000 {
                map.insert(var * 7, u64::from(var) + round);
            }
            map.insert(7, 99);
            assert_eq!(map.entries().len(), 1000);
            assert_eq!((map.get(7), map.get(14), map.get(8)), (Some(&99), Some(&(2 + round)), None));
            map.clear();
            assert!(map.is_empty() && map.get(7).is_none());
        }
    }

    #[test]
    fn rounds_begin_anew() {
        let mut map = VarMap::new();
        map.insert(1, ());
        map.round = u32::MAX;
        map.clear();
        assert!(map.get(1).is_none());
        map.insert(2, ());
        assert!(map.get(2).is_some());
    }
}
