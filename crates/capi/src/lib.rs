//! The C interface of corecast: `include/corecast.h`, which is made from these files and checked against them.
//!
//! - `corecast_<object>_<verb>`; objects are opaque; a status is returned, outputs come last;
//! - parameter structs begin with their size, so that later versions can add fields; zeroes are defaults;
//! - nothing unwinds across the border: a panic, which is a broken rule of use, is `CORECAST_PANIC` with its message;
//! - `corecast_error_message` has the error message, one for each thread.
//!
//! Each object has a file, whose comments are the header's, and whose functions are written in the form of `c_functions`.
//! [`error`] is the border itself. `argument` checks what every call passes, `failure` gives every error of the library its
//! status, `lending` holds messages without lifetimes, `home` and `opened` keep a member's place in its group, `sized` packs
//! bytes of any length into values of a type, `thread_number` is how the fast calls
//! of locks know their thread, and `header` compares the header.
#![allow(clippy::missing_safety_doc, reason = "the header tells once, at its head, what holds for all pointers")]

#[macro_use]
mod c_functions;

mod any_receiver;
mod argument;
mod failure;
#[cfg(test)]
mod header;
mod home;
mod lending;
mod opened;
mod sized;
mod thread_number;

// In the order of the header.
pub mod status;

pub mod error;

pub mod wait;

pub mod message;

pub mod region_plan;

pub mod region;

pub mod ump;

pub mod ff;

pub mod mcast;

pub mod select;

pub mod number;

pub mod group;

pub mod member;

pub mod cluster;

pub mod cluster_place;

pub mod split;

pub mod shrink;

pub mod started;

pub mod gather;

pub mod combination;

pub mod commit;

pub mod atomic_stream;

pub mod acknowledged;

pub mod lock;

pub mod condvar;

pub mod rw_lock;

pub mod shared_lock;

pub mod replica;

pub mod tm;
