//! Transactions among threads or processes: decided by servers that are asked by messages, or by the participants themselves in
//! shared memory.
//!
//! A transaction is a closure that reads and writes variables; either all of its writes happen at once, or none, and what it
//! reads belongs together. It may be run several times.
//!
//! ```
//! use corecast_machine::{Cpu, Machine, Topology};
//! use corecast_tm::{Form, Manager, Tm};
//! # use corecast_base::CpuId;
//! # let cpus = [0, 1].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
//! # let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
//!
//! let tm = Tm::builder(&machine).participants(3).manager(Manager::FairCm).form(Form::Messages).build()?;
//! let (from, to) = (tm.new_var(100i64)?, tm.new_var(0i64)?);
//! // One server and two applications, each a thread.
//! let results = tm.run_threads(|mut participant| {
//!     participant.run(|tx| {
//!         let rest = tx.read_for_update(from)?;
//!         let sum = tx.read_for_update(to)?;
//!         tx.write(from, rest - 10)?;
//!         tx.write(to, sum + 10)
//!     })
//! })?;
//! assert_eq!(results, [Ok(()), Ok(())]);
//! assert_eq!((tm.load(from)?, tm.load(to)?), (80, 20));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Tm`], [`Builder`]: an instance, and its choices: [`Form`], [`Manager`], [`Values`], [`Writes`];
//! - [`Participant`] runs transactions, a [`Server`] answers them; [`Role`]: which of both a participant is;
//! - [`Tx`]: the accesses of a transaction; [`Abort`]: it is to be run again;
//! - [`TVar`], [`TBlock`]: variables, of one word or of several; [`Value`]: what they hold;
//! - [`structures`]: a bank, lists, a hash table, a map, a queue;
//! - [`OpenError`], [`RunError`]: the errors;
//! - [`rule`], [`lock_table`], [`entry`], [`contention`], [`client_set`], [`status`], [`stored`],
//!   [`slot`], [`wide_slot`], [`met`], [`log`], [`seat`], [`free_list`]: the protocol in parts, for models;
//! - [`placement`]: where participants sit; [`prediction`]: which form a machine's model prefers; [`Choice`]: the form that was
//!   chosen, and why;
//! - [`crash_point`]: for tests.
//!
//! **When to take it:** several variables that change together, by many participants, in ways that no single lock or channel
//! expresses. **When not:** one counter, one map, one queue: an atomic, a [lock](corecast_lock), a channel is faster.
//!
//! **Guarantees.** Opacity: no closure ever sees a state in which another transaction is half done, not even one that will be
//! aborted. Writes of a transaction that returned are visible to every later one. The manager chooses which of two wins a conflict.
//! A participant that is killed loses its locks; what it was storing is completed by another one from a log, or, where that
//! is not possible, all others are told [`RunError::Poisoned`].
//!
//! **Source:** Gramoli, Guerraoui, Trigonakis, TM2C: a Software Transactional Memory for Many-Cores, EuroSys 2012, built from the
//! paper; Felber, Gramoli, Guerraoui, Elastic Transactions, DISC 2009; Guerraoui, Kapalka, On the Correctness of Transactional
//! Memory, PPoPP 2008 (opacity).

#![forbid(unsafe_code)]

#[cfg(not(loom))]
mod access;
#[cfg(not(loom))]
mod attempt;
#[cfg(not(loom))]
mod builder;
#[cfg(not(loom))]
mod choice;
pub mod client_set;
#[cfg(not(loom))]
mod config;
mod conflicts;
pub mod contention;
pub mod entry;
#[cfg(not(loom))]
mod error;
pub mod free_list;
pub mod lock_table;
pub mod log;
#[cfg(not(loom))]
mod messages;
pub mod met;
#[cfg(not(loom))]
mod participant;
#[cfg(not(loom))]
pub mod placement;
#[cfg(not(loom))]
mod plan;
#[cfg(not(loom))]
pub mod prediction;
#[cfg(not(loom))]
mod race;
#[cfg(not(loom))]
mod region;
pub mod rule;
pub mod seat;
#[cfg(not(loom))]
mod seats;
#[cfg(not(loom))]
mod shared;
pub mod slot;
#[cfg(not(loom))]
mod spare;
pub mod status;
pub mod stored;
#[cfg(not(loom))]
pub mod structures;
#[cfg(not(loom))]
mod tm;
mod tvar;
#[cfg(not(loom))]
mod tx;
mod value;
#[cfg(not(loom))]
mod var_map;
pub mod wide_slot;

#[cfg(not(loom))]
pub use attempt::Counts;
#[cfg(not(loom))]
pub use builder::Builder;
#[cfg(not(loom))]
pub use choice::Choice;
pub use client_set::MAX_PARTICIPANTS;
#[cfg(not(loom))]
pub use config::{Form, NoSuchForm, Values, Writes};
pub use conflicts::{Manager, NoSuchManager};
pub use corecast_base::crash_point;
#[cfg(not(loom))]
pub use error::{OpenError, RunError};
#[cfg(not(loom))]
pub use messages::{Server, ServerCounts};
#[cfg(not(loom))]
pub use participant::Participant;
pub use status::ClientId;
#[cfg(not(loom))]
pub use tm::{Role, Tm};
pub use tvar::{MAX_BLOCK_WORDS, TBlock, TVar};
#[cfg(not(loom))]
pub use tx::{Abort, Tx};
pub use value::Value;

/// The example of the readme, compiled and run as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
