//! Locks: many algorithms behind one interface.
//!
//! No lock is the best everywhere: which one is depends on how many threads want it, for how long, and how far apart
//! they run. So they are exchangeable: [`Mutex`] has its algorithm as a type parameter ([`Auto`] if none is named),
//! [`Algorithm`] names them all.
//!
//! ```
//! use corecast_lock::{Mcs, Mutex};
//!
//! static COUNT: Mutex<u64> = Mutex::new(0);
//! *COUNT.lock() += 1;
//! let queued: Mutex<u64, Mcs> = Mutex::from(1); // another lock is one word away
//! assert_eq!(queued.with(|count| *count + *COUNT.lock()), 2);
//! ```
//!
//! - [`Mutex`]: the safe front, with closures and guards;
//! - [`RawLock`], [`RawTimed`], [`NodeMoves`], `RawConst`: what an algorithm is; [`Facts`]: what users are told of it;
//! - [`Tas`], [`Ttas`], [`Ticket`], [`Array`]: locks of words;
//! - [`Mcs`], [`Clh`]: queues; [`Hmcs`], a tree of them that hands over to a near thread ([`Domains`]);
//! - [`Word`] and [`Byte`], which let their threads sleep, and [`Qword`], which lets them queue and sleep;
//! - with the feature `hierarchical` only, for the sake of patents: `Hticket` and `Hclh`, tickets and queues that do so, too;
//! - [`Auto`], which finds out which of these suits, by the costs of the machine if it is told them ([`Params`]);
//! - [`AnyLock`], whose algorithm is chosen when it is made;
//! - [`Condvar`], for threads that wait for each other's changes; [`Once`], for something that is done once;
//! - [`ByteCondvar`], for those that wait with a [`Byte`] and have to know how many were woken;
//! - `lock_api`, behind the feature of that name: the same locks for libraries that are generic over that crate;
//! - [`shared`]: locks among processes;
//! - [`Combine`], [`delegate`]: data that closures are sent to;
//! - [`RwLock`] and its algorithms: locks that many may read at once;
//! - [`Seq`]: a small value that readers copy without a trace;
//! - [`table`]: a hash table with a lock of any kind on each bucket;
//! - [`this_thread`]: the numbers by which locks know their holders.
//!
//! A lock that keeps an order never sleeps: a thread that wakes up late would keep all behind it waiting. Its threads give up
//! their CPU once they have spun for as long as a wake-up costs. A lock that sleeps lets newcomers overtake.

#[cfg(not(loom))]
mod any;
mod array;
mod auto;
mod byte;
mod byte_condvar;
mod clh;
mod combine;
mod condvar;
pub mod delegate;
mod domains;
mod facts;
#[cfg(all(feature = "machine", not(loom)))]
mod hand_over;
#[cfg(feature = "hierarchical")]
mod hclh;
mod hmcs;
mod holder;
#[cfg(feature = "hierarchical")]
mod hticket;
#[cfg(all(feature = "lock_api", not(loom)))]
pub mod lock_api;
mod mcs;
mod mutex;
mod once;
mod parking;
#[cfg(not(loom))]
mod patience;
mod pool;
mod qword;
mod raw;
mod registry;
mod request;
mod rw;
#[cfg_attr(loom, path = "seat/model.rs")]
#[cfg_attr(not(loom), path = "seat/native.rs")]
mod seat;
mod seq;
pub mod shared;
pub mod table;
mod tas;
pub mod this_thread;
mod three_states;
mod ticket;
mod ttas;
mod word;

#[cfg(not(loom))]
pub use any::{AnyLock, WrongUse};
pub use array::Array;
pub use auto::{Auto, AutoStats, Explanation, Mode, Params, Why};
pub use byte::Byte;
pub use byte_condvar::ByteCondvar;
pub use clh::{Clh, ClhNodes};
pub use combine::Combine;
pub use condvar::{Condvar, WaitGuard, WaitTimeoutResult};
pub use delegate::Delegate;
pub use domains::Domains;
pub use facts::{AcquisitionOrder, Facts, NodeKind};
#[cfg(all(feature = "machine", not(loom)))]
pub use hand_over::measure_hand_overs;
#[cfg(feature = "hierarchical")]
pub use hclh::Hclh;
pub use hmcs::{Hmcs, HmcsNode};
#[cfg(feature = "hierarchical")]
pub use hticket::Hticket;
pub use mcs::{Mcs, McsNode};
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard};
pub use once::Once;
#[cfg(loom)]
#[doc(hidden)]
pub use pool::{FreeNodes, NodeTable};
pub use qword::Qword;
#[cfg(not(loom))]
pub use raw::RawConst;
pub use raw::{LineAligned, NodeMoves, RawLock, RawTimed, Setup};
pub use registry::{Algorithm, UnknownLock};
#[cfg(not(loom))]
pub use rw::RawRwConst;
pub use rw::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, RawRwLock, RawRwTimed, RawRwUpgradable, RawRwUpgrade, RwAccess,
    RwAlgorithm, RwLock, RwLockReadGuard, RwLockWriteGuard, RwPhase, RwSpread, RwTtas, RwWord,
};
pub use seq::Seq;
pub use table::Table;
pub use tas::Tas;
pub use ticket::Ticket;
pub use ttas::Ttas;
pub use word::Word;

/// The example of the readme, compiled and run as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
