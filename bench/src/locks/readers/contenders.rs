//! The locks for readers and writers to race: those of corecast's registry, the sequence lock, and what people use today.

use arc_swap::ArcSwap;
use corecast::base::CacheLine;
use corecast::lock::{Domains, RwAlgorithm, RwLock, Seq, for_each_rw_lock};

use super::super::interleaved::Trusted;
use super::alone::alone;
use super::copies::LeftRight;
use super::crowd::{Crowd, Turn, crowd};
use super::value::{Value, Words};
use corecast_race::failure::Failure;

/// One lock.
#[derive(Clone, Copy)]
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(super) ours: bool,
    /// Nanoseconds to read and to write, alone, over this number of each.
    pub(super) alone: fn(u32, &Domains) -> [f64; 2],
    /// Many threads at once.
    pub(super) crowd: fn(&Crowd<'_>) -> Result<Turn, Failure>,
}

fn contender<V: Value>(name: &'static str, ours: bool) -> Contender {
    Contender { name, ours, alone: alone::<V>, crowd: crowd::<V> }
}

impl Trusted for Contender {
    fn trusted(&self) -> Option<&str> {
        self.ours.then_some(self.name)
    }
}

/// The lock whose readers do not disturb each other.
pub(super) const SPREAD: &str = "rw_spread";
/// The rival by which it is judged.
pub(super) const PARKING_LOT: &str = "rw_parking_lot";

/// All of them.
pub(crate) fn contenders() -> Vec<Contender> {
    let mut all = Vec::new();
    macro_rules! ours {
        ($($variant:ident = $number:literal: $lock:ty,)*) => {
            $(all.push(contender::<RwLock<CacheLine<Words>, $lock>>(RwAlgorithm::$variant.facts().name, true));)*
        };
    }
    for_each_rw_lock!(ours);
    all.push(contender::<CacheLine<Seq<Words>>>(Seq::<Words>::FACTS.name, true));
    all.push(contender::<std::sync::RwLock<CacheLine<Words>>>("rw_std", false));
    all.push(contender::<parking_lot::RwLock<CacheLine<Words>>>(PARKING_LOT, false));
    all.push(contender::<LeftRight>("left-right", false));
    all.push(contender::<CacheLine<ArcSwap<Words>>>("arc-swap", false));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_are_judged_are_there() {
        let names: Vec<&str> = contenders().iter().map(|contender| contender.name).collect();
        assert!([SPREAD, PARKING_LOT, "seq"].iter().all(|name| names.contains(name)), "{names:?}");
    }
}
