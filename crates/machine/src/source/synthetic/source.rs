//! The source `synthetic`.

use corecast_base::{CpuId, MAX_CPU_ID};

use super::level::{self, Kind, Level};
use crate::source::error::DiscoverError;
use crate::source::place::{self, Place};
use crate::source::request::{DiscoveryRequest, Source};
use crate::topology::{Cpu, Topology};

/// A made-up machine.
pub(in crate::source) struct Synthetic;

impl Source for Synthetic {
    fn name(&self) -> &'static str {
        "synthetic"
    }

    fn discover(&self, request: &DiscoveryRequest) -> Result<Option<Topology>, DiscoverError> {
        let Some(text) = request.notation() else { return Ok(None) };
        let cpus = build(text).map_err(|reason| DiscoverError::Synthetic { text: text.to_owned(), reason })?;
        Ok(Some(Topology { cpus, ..Topology::default() }))
    }
}

fn build(text: &str) -> Result<Vec<Cpu>, String> {
    let levels = level::read(text)?;
    let total = count(&levels)?;
    let mut places: Vec<Place> = (0..total).map(nowhere).collect();
    let mut objects = 1;
    for level in &levels {
        objects *= level.count;
        place_level(level, objects, &mut places)?;
    }
    Ok(place::number_groups(&places))
}

/// The number of PUs, which has a bound like every CPU number.
fn count(levels: &[Level]) -> Result<usize, String> {
    let most = MAX_CPU_ID as usize + 1;
    let product = levels.iter().try_fold(1_usize, |product, level| product.checked_mul(level.count));
    product.filter(|&total| total <= most).ok_or_else(|| format!("it has more than {most} PUs"))
}

/// Without any level of NUMA nodes the machine has one, number 0, as in hwloc.
fn nowhere(index: usize) -> Place {
    let id = CpuId::new(index as u32);
    Place { id, core: None, package: None, l2: None, l3: None, numa: Some(0), kind: None }
}

/// Puts the PUs, in the order of the tree, into the `objects` objects of `level`.
fn place_level(level: &Level, objects: usize, places: &mut [Place]) -> Result<(), String> {
    let numbers = level.indexes.as_ref().map(|indexes| indexes.numbers(objects)).transpose()?;
    let number = |object: usize| numbers.as_ref().map_or(object as u32, |numbers| numbers[object]);
    let pus_each = places.len() / objects;
    for (index, place) in places.iter_mut().enumerate() {
        let object = index / pus_each;
        match level.kind {
            Kind::Package => place.package = Some(object),
            Kind::Numa => place.numa = Some(number(object)),
            Kind::L2 => place.l2 = Some(object),
            Kind::L3 => place.l3 = Some(object),
            Kind::Core => place.core = Some(object),
            Kind::Pu => place.id = CpuId::new(number(object)),
            Kind::Other => {}
        }
    }
    Ok(())
}
