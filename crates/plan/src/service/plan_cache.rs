//! Plans made before, by machine model and request: the ones asked for last, in bounded memory.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex};

/// The number of plans that are kept.
const MOST_PLANS: usize = 256;

/// The longest plan that is kept, in bytes: one of 1024 CPUs takes a tenth of it. All of them take 64 MiB at most.
const MAX_PLAN_BYTES: usize = 256 << 10;

const UNPOISONED: &str = "nobody panics while holding the plans";

/// The key of a plan: a machine model by its digest (`None` for the service's own), and the request as text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) model: Option<u128>,
    pub(super) request: String,
}

/// The plans.
#[derive(Debug, Default)]
pub(super) struct PlanCache {
    /// Secret keys, so that no client can construct two models with the same digest.
    hashers: [RandomState; 2],
    plans: Mutex<Plans>,
}

#[derive(Debug, Default)]
struct Plans {
    /// Each with the time of its last use, counted in uses.
    kept: HashMap<Key, (u64, Arc<str>)>,
    uses: u64,
    hits: u64,
}

impl PlanCache {
    /// The digest of the text of a model: 128 bits, so that two of them will not meet by chance.
    pub(super) fn digest(&self, text: &[u8]) -> u128 {
        let [high, low] = self.hashers.each_ref().map(|hasher| u128::from(hasher.hash_one(text)));
        high << 64 | low
    }

    /// The plan made for this key, if it is kept.
    pub(super) fn get(&self, key: &Key) -> Option<Arc<str>> {
        let mut plans = self.plans.lock().expect(UNPOISONED);
        plans.uses += 1;
        let now = plans.uses;
        let (used, plan) = plans.kept.get_mut(key)?;
        *used = now;
        let plan = Arc::clone(plan);
        plans.hits += 1;
        Some(plan)
    }

    /// Keeps a plan; if there are too many, the least recently used one is dropped.
    pub(super) fn keep(&self, key: Key, plan: Arc<str>) {
        if plan.len() + key.request.len() > MAX_PLAN_BYTES {
            return;
        }
        let mut plans = self.plans.lock().expect(UNPOISONED);
        plans.uses += 1;
        let now = plans.uses;
        plans.kept.insert(key, (now, plan));
        if plans.kept.len() > MOST_PLANS {
            let oldest = plans.kept.iter().min_by_key(|(_, (used, _))| *used).map(|(key, _)| key.clone());
            plans.kept.remove(&oldest.expect("more than none are kept"));
        }
    }

    /// How many plans were found so far, and how many are kept.
    pub(super) fn hits_and_len(&self) -> (u64, usize) {
        let plans = self.plans.lock().expect(UNPOISONED);
        (plans.hits, plans.kept.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(request: usize) -> Key {
        Key { model: None, request: request.to_string() }
    }

    #[test]
    fn the_plan_not_used_for_longest_goes() {
        let cache = PlanCache::default();
        for n in 0..MOST_PLANS {
            cache.keep(key(n), n.to_string().into());
        }
        assert_eq!(cache.get(&key(0)).as_deref(), Some("0"));
        cache.keep(key(MOST_PLANS), "new".into());
        assert_eq!(cache.get(&key(1)), None, "it was the oldest, as 0 was used since");
        assert_eq!(cache.get(&key(0)).as_deref(), Some("0"));
        assert_eq!(cache.hits_and_len(), (2, MOST_PLANS));
    }

    #[test]
    fn models_are_told_apart_and_huge_plans_are_not_kept() {
        let cache = PlanCache::default();
        assert_eq!(cache.digest(b"a"), cache.digest(b"a"));
        assert_ne!(cache.digest(b"a"), cache.digest(b"b"));
        let other = Key { model: Some(cache.digest(b"a")), ..key(0) };
        cache.keep(other.clone(), "x".repeat(MAX_PLAN_BYTES + 1).into());
        assert_eq!(cache.get(&other), None);
        cache.keep(other, "small".into());
        assert_eq!(cache.get(&key(0)), None);
    }
}
