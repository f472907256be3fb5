//! The C interface of corecast: `include/corecast.h`, which is made from these files and checked against them.
//!
//! - `corecast_<object>_<verb>`; objects are opaque; a status is returned, outputs come last;
//! - parameter structs begin with their size, so that later versions can add fields; zeroes are defaults;
//! - nothing unwinds across the border: a panic, which is a broken rule of use, is `CORECAST_PANIC` with its message;
//! - what went wrong is told in words by `corecast_error_message`, for each thread.
//!
//! One file for each object, whose comments are the header's, and whose functions are written in the form of `c_functions`.
//! [`error`] is the border itself, `argument` what is checked of every call, `failure` the status of every error of the library, `lending` how messages are held without lifetimes, `home`
//! and `opened` how a member's place in its group is, `sized` how bytes of any length become values of a type.
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
