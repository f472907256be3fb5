//! The tree of objects: which PU lies in which core, cache and package.

use std::collections::BTreeSet;

use corecast_base::{CpuId, CpuSet, MAX_CPU_ID};
use roxmltree::Node;

use crate::source::mask;
use crate::source::place::Place;

/// Every PU that the machine allows, within the objects around it.
pub(super) fn read(root: Node<'_, '_>) -> Result<Vec<Place>, String> {
    let mut pus = Vec::new();
    let mut seen = BTreeSet::new();
    let nowhere = Place { id: CpuId::new(0), core: None, package: None, l2: None, l3: None, numa: None, kind: None };
    // An explicit stack instead of recursion: a hostile file may nest deeper than the thread's stack allows.
    let mut open: Vec<(Node<'_, '_>, Place)> = objects(root).map(|object| (object, nowhere)).collect();
    while let Some((object, around)) = open.pop() {
        let place = inside(object, around);
        if object.attribute("type") == Some("PU") {
            let place = Place { id: pu_id(object)?, ..place };
            if !seen.insert(place.id) {
                return Err(format!("PU {} is there twice", place.id));
            }
            pus.push(place);
        }
        open.extend(objects(object).map(|child| (child, place)));
    }
    if pus.is_empty() {
        return Err("it has no object of type PU".to_owned());
    }
    let allowed = allowed(root);
    pus.retain(|place| allowed.as_ref().is_none_or(|allowed| allowed.contains(place.id)));
    Ok(pus)
}

pub(super) fn objects<'a, 'input>(node: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(|child| child.has_tag_name("object"))
}

/// The place within `object`.
fn inside(object: Node<'_, '_>, around: Place) -> Place {
    let key = Some(object.id().get_usize());
    match object.attribute("type").unwrap_or_default() {
        "Package" | "Socket" => Place { package: key, ..around },
        "Core" => Place { core: key, ..around },
        "L2Cache" => Place { l2: key, ..around },
        "L3Cache" => Place { l3: key, ..around },
        // hwloc 1 has one type for all caches; 2 is its number for a cache of instructions.
        "Cache" if object.attribute("cache_type") != Some("2") => match object.attribute("depth") {
            Some("2") => Place { l2: key, ..around },
            Some("3") => Place { l3: key, ..around },
            _ => around,
        },
        _ => around,
    }
}

fn pu_id(pu: Node<'_, '_>) -> Result<CpuId, String> {
    let text = pu.attribute("os_index").ok_or("a PU has no os_index")?;
    match text.parse() {
        Ok(id) if id <= MAX_CPU_ID => Ok(CpuId::new(id)),
        _ => Err(format!("os_index '{text}' of a PU is no CPU number up to {MAX_CPU_ID}")),
    }
}

/// The CPUs that processes may use, where told.
fn allowed(root: Node<'_, '_>) -> Option<CpuSet> {
    mask::parse(objects(root).next()?.attribute("allowed_cpuset")?)
}
