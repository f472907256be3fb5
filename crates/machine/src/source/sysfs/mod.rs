//! A Linux machine, through the files below its root directory.
//!
//! Take it for the machine this runs on (`/`) and for captured trees of others; no library of the system is needed.
//!
//! How it works: `usable` finds the CPUs, `siblings` what they share, `nodes` their memory, `kind` how fast they are,
//! all by way of `tree`, which bounds what is read; `source` puts it together. Lack of detail is a note, garbage is lack
//! of detail, and a machine of which only the CPU numbers are known is a machine.

mod kind;
mod nodes;
mod siblings;
mod source;
mod tree;
mod usable;

pub(super) use source::Sysfs;
#[cfg(feature = "hwloc")]
pub(super) use usable::limit_to_this_process;
