//! Parses the text into a topology.

use roxmltree::{Document, Node, ParsingOptions};

use super::{extras, objects};
use crate::source::error::DiscoverError;
use crate::source::place;
use crate::topology::Topology;

/// Elements, attributes and texts; an export of a machine with 1024 CPUs has about 20 000.
const MAX_NODES: u32 = 4_000_000;

/// The machine that `text` describes; `input` says where the text is from.
pub(in crate::source) fn parse(text: &str, input: &str) -> Result<Topology, DiscoverError> {
    let options = ParsingOptions { allow_dtd: true, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let wrong = |reason| DiscoverError::HwlocXml { input: input.to_owned(), reason };
    let document = Document::parse_with_options(text, options).map_err(|error| wrong(error.to_string()))?;
    let topology = read(document.root_element()).map_err(wrong)?;
    if topology.cpus.is_empty() {
        let why = "every PU is outside the allowed set".to_owned();
        return Err(DiscoverError::NoUsableCpu { input: input.to_owned(), why });
    }
    Ok(topology)
}

fn read(root: Node<'_, '_>) -> Result<Topology, String> {
    let name = root.tag_name().name();
    if name != "topology" {
        return Err(format!("its root element is <{name}>, expected <topology>"));
    }
    let mut places = objects::read(root)?;
    extras::attach_nodes(root, &mut places);
    extras::attach_kinds(root, &mut places);
    let cpus = place::number_groups(&places);
    Ok(Topology { cpus, numa_distances: extras::distances(root), ..Topology::default() })
}
