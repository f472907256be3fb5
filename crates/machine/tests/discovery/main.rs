//! Discovery of machines: captured ones, written ones, broken ones, and the one this runs on.
//!
//! - `captured`: real machines against what hwloc finds in them, as tables (`table`) and as archives (`archive`);
//! - `shapes`, `limits`, `hostile`: trees that the tests write with `tree`;
//! - `hwloc_xml`, `synthetic`, `files`: the other forms of input;
//! - `live`: this machine.

mod archive;
mod captured;
mod files;
mod hostile;
mod hwloc_xml;
mod limits;
mod live;
mod partition;
mod shapes;
mod synthetic;
mod table;
mod tree;
