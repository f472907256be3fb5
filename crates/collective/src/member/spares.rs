//! The parts that a member has laid out of one kind, of which races use one at a time.
//!
//! Memory that was laid out stays so as long as the group lives. So a part that goes out of use is kept, and used again
//! when it wins again: however often members race, they lay out each part once.

use corecast_base::ArenaError;
use corecast_plan::Plan;

use crate::barrier::Part;
use crate::choice::PlannedBarrier;
use crate::tree::TreeEdges;

/// The parts of each kind that races have replaced.
#[derive(Debug, Default)]
pub(crate) struct SpareParts {
    pub(crate) barrier: Spares<PlannedBarrier, Part>,
    pub(crate) broadcast: Spares<Plan, TreeEdges>,
    pub(crate) reduce: Spares<Plan, TreeEdges>,
}

/// The parts out of use. A key identifies the part in use; `None` is the one from before any race.
#[derive(Debug)]
pub(crate) struct Spares<K, V> {
    used: Option<std::sync::Arc<K>>,
    others: Vec<(Option<std::sync::Arc<K>>, V)>,
}

impl<K, V> Default for Spares<K, V> {
    fn default() -> Self {
        Self { used: None, others: Vec::new() }
    }
}

impl<K, V> Spares<K, V> {
    /// Puts the part of `key` in place of `value`: the kept one that `is_it` recognises by its key, or else a new one that
    /// `make` lays out.
    pub(crate) fn take(
        &mut self,
        value: &mut V,
        key: &std::sync::Arc<K>,
        is_it: impl Fn(Option<&K>) -> bool,
        make: impl FnOnce() -> Result<V, ArenaError>,
    ) -> Result<(), ArenaError> {
        if is_it(self.used.as_deref()) {
            return Ok(());
        }
        let new = match self.others.iter().position(|(key, _)| is_it(key.as_deref())) {
            Some(place) => self.others.swap_remove(place).1,
            None => make()?,
        };
        let old_key = self.used.replace(std::sync::Arc::clone(key));
        self.others.push((old_key, std::mem::replace(value, new)));
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_is_made_once_and_kept() {
        let (mut spares, mut value, mut made) = (Spares::default(), "first".to_owned(), Vec::new());
        // The part from before any race is number 0.
        for number in [0, 1, 1, 2, 0, 2, 1, 0, 0] {
            let is_it = |key: Option<&i32>| key.copied().unwrap_or(0) == number;
            let make = || {
                made.push(number);
                Ok(number.to_string())
            };
            spares.take(&mut value, &std::sync::Arc::new(number), is_it, make).expect("there is room");
            assert_eq!(value, if number == 0 { "first".to_owned() } else { number.to_string() });
        }
        assert_eq!(made, [1, 2]);
        let full = ArenaError::Full { bytes: 1, used: 0, len: 0 };
        let refused = spares.take(&mut value, &std::sync::Arc::new(3), |key| key == Some(&3), || Err(full));
        assert_eq!((refused, value.as_str()), (Err(full), "first"));
    }
}
