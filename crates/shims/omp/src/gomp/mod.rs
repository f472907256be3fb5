//! The entries of libgomp, which programs call that GCC compiled.
//!
//! - [`regions`]: regions with a team, in which a trampoline gives each member its seat;
//! - [`barriers`]: barriers, and ends of constructs that have one;
//! - [`single`]: `single` constructs that copy values to all members;
//! - [`passed`]: tasks, which are announced and passed on; regions that are hidden from the shim.
//!
//! libgomp's own parts that wait, such as the fork and the join, call functions that it does not export. They stay as they are.
//! `GOMP_barrier_cancel` and its like are never replaced: they belong to regions that may be cancelled.

mod barriers;
mod passed;
mod regions;
mod single;
