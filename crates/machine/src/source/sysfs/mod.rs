//! A Linux machine, through the files below its root directory.
//!
//! Take it for the machine this runs on (`/`) and for captured trees of others; no library of the system is needed.
//!
//! How it works: `usable` finds the CPUs, `siblings` what they share, `nodes` their memory, `kind` how fast they are,
//! all through `tree`, which bounds what is read; `source` combines the parts. Missing detail is a note, garbage counts
//! as missing detail, and a machine with nothing known but its CPU numbers is valid.

mod kind;
mod nodes;
mod siblings;
mod source;
mod tree;
mod usable;

pub(super) use source::Sysfs;
#[cfg(feature = "hwloc")]
pub(super) use usable::limit_to_this_process;
