//! CPUs with the objects around them, and the numbering of those objects.

use std::collections::BTreeMap;

use corecast_base::CpuId;

use crate::topology::{CoreKind, Cpu};

/// One CPU as a source that knows a tree of objects sees it: each object by the number that the source gives it.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) id: CpuId,
    pub(super) core: Option<usize>,
    pub(super) package: Option<usize>,
    pub(super) l2: Option<usize>,
    pub(super) l3: Option<usize>,
    pub(super) numa: Option<u32>,
    pub(super) kind: Option<CoreKind>,
}

/// The same CPUs with each group named by its lowest CPU.
pub(super) fn number_groups(places: &[Place]) -> Vec<Cpu> {
    let core = lowest(places, |place| place.core);
    let package = lowest(places, |place| place.package);
    let l2 = lowest(places, |place| place.l2);
    let l3 = lowest(places, |place| place.l3);
    let number = |numbers: &BTreeMap<usize, u32>, object: Option<usize>| numbers.get(&object?).copied();
    let cpu = |place: &Place| Cpu {
        id: place.id,
        core: number(&core, place.core),
        package: number(&package, place.package),
        numa: place.numa,
        l2: number(&l2, place.l2),
        l3: number(&l3, place.l3),
        kind: place.kind,
    };
    places.iter().map(cpu).collect()
}

/// The lowest CPU of each object.
fn lowest(places: &[Place], object: impl Fn(&Place) -> Option<usize>) -> BTreeMap<usize, u32> {
    let mut lowest = BTreeMap::new();
    for place in places {
        if let Some(object) = object(place) {
            let id = place.id.get();
            lowest.entry(object).and_modify(|least: &mut u32| *least = id.min(*least)).or_insert(id);
        }
    }
    lowest
}
