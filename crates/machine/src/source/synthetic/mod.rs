//! A made-up machine in hwloc's synthetic notation.
//!
//! Take it to plan for machines that are not at hand: `pack:2 numa:2 l3:2 core:8 pu:2` has two packages of two NUMA
//! nodes of two L3 caches of eight cores of two PUs. Each level is a type and how many of it each object above has;
//! `[numa]` hangs one node of memory beside each object of the level before it. The output of `lstopo --of synthetic`
//! is read: attributes in parentheses are skipped, except `indexes`, the numbers of the objects, as a list
//! (`indexes=0,2,1,3`) or as steps and counts (`indexes=2*4:1*2`).
//!
//! How it works: `level` reads the words, `indexes` the numbers, `source` builds the machine.

mod indexes;
mod level;
mod source;

pub(super) use source::Synthetic;
