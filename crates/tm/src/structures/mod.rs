//! Structures of variables, whose operations are parts of transactions: several of them, on one structure or on many, happen at
//! once.
//!
//! - [`Bank`]: accounts, the usual benchmark of transactional memory;
//! - [`SortedList`]: keys in order, whose searches may be elastic, see [`Search`];
//! - [`HashTable`]: buckets of such lists;
//! - [`SkipListMap`]: keys in order, with searches in logarithmic time;
//! - [`Queue`]: first in, first out.
//!
//! A handle is a few words, and may be copied to all threads. Each structure has a root, by which another process opens it.
//!
//! ```
//! # use corecast_machine::{Cpu, Machine, Topology};
//! # use corecast_base::CpuId;
//! use corecast_tm::structures::{Queue, SkipListMap};
//! use corecast_tm::{Form, Tm};
//! # let machine = Machine::from_topology(&Topology { cpus: vec![Cpu::flat(CpuId::new(0))], ..Topology::default() });
//!
//! let tm = Tm::builder(&machine).participants(2).form(Form::Shared).build()?;
//! let (waiting, done) = (Queue::new(&tm)?, SkipListMap::new(&tm)?);
//! tm.run_threads(|mut participant| {
//!     let me = u64::from(participant.id().0);
//!     participant.run(|tx| waiting.push(tx, me))?;
//!     // No other participant ever sees a number in neither of the two, or in both.
//!     participant.run(|tx| {
//!         let Some(number) = waiting.pop(tx)? else { return Ok(None) };
//!         done.insert(tx, number, number * 10)
//!     })
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bank;
mod directory;
mod hash_table;
mod queue;
mod skip_list_map;
mod sorted_list;

pub use bank::{Account, Bank};
pub use hash_table::HashTable;
pub use queue::Queue;
pub use skip_list_map::SkipListMap;
pub use sorted_list::{Search, SortedList};
