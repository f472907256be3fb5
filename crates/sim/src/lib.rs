//! The protocols of corecast on simulated machines: the same sources, behind another door to atomics.
//!
//! [`corecast_sim_core`] is the machine. This crate has the programs:
//! - [`contest`] lets threads compete for locks, [`table`] has them work on a hash table with a lock on each bucket
//!   and [`table_by_messages`] on one that servers own,
//!   [`atomics`] on bare words;
//! - [`bank`] has them move money between accounts by transactions;
//! - [`barriers`] has the members of a group meet, [`collectives`] has them broadcast and reduce;
//! - [`replicas`] agree on the order of commands;
//! - [`messages`] go between two CPUs, [`server`] receives those of many, [`relay`] passes one on;
//! - [`trace_contest`] and [`trace_barriers`] tell each event of some microseconds;
//! - [`conformance`] tries locks where threads lose their CPUs and are killed.
//!
//! [`of_model`] makes a machine from the model of a real one, [`with_siblings`] lets CPUs of it share cores, [`spread`] and
//! [`spread_model`] number its CPUs by turns over its packages, [`explain`] says where each of its parameters comes from,
//! [`corners`] has the same machine at the ends of what is not known of it, [`WhatIf`] one that differs, and [`Agreement`]
//! compares figures with measured ones. [`between_moves_ns`] plays measured increments of contended lines, and [`fit`](fit())
//! searches the parameters that come nearest to them.

mod agreement;
mod assumed;
mod atomics;
mod barriers;
mod channels;
mod collectives;
pub mod conformance;
mod contended;
mod corners;
mod described;
mod disturbance;
mod error;
mod fairness;
mod fill;
mod fit;
mod from_model;
mod locks;
mod median;
mod members;
mod messages;
mod model;
mod replica;
mod rounds;
mod servers;
mod siblings;
mod situation;
mod table;
mod tm;
mod trace;
mod what_if;

pub use self::agreement::{
    Agreement, BothFigures, MEDIAN_RATIO, PairsInOrder, Repeated, WORST_FACTOR, rank_correlation,
};
pub use self::assumed::{Known, assumed};
pub use self::atomics::{AtomicLoad, AtomicOperation, AtomicOutcome, UnknownOperation, atomics};
pub use self::barriers::{BarrierOutcome, barriers, trace_barriers};
pub use self::channels::Channel;
pub use self::collectives::{Collective, CollectiveOutcome, Operation, UnknownCollective, collectives};
pub use self::contended::between_moves_ns;
pub use self::corners::{corners, order_at_all};
pub use self::described::{Described, Explained, explain};
pub use self::disturbance::{Disturbance, Disturbed, Stops};
pub use self::error::SimError;
pub use self::fill::{spread, spread_model};
pub use self::fit::{Contention, Figures, Finding, Fit, FitParameter, Verdict, fit};
pub use self::from_model::of_model;
pub use self::locks::{ASKS, Contest, ContestOutcome, FREES, HOLDS, contest, trace_contest};
pub use self::members::{CALLS, Episodes, OperationTimes, TreeChoice, shapes};
pub use self::messages::{MessageTimes, Pair, Relay, messages, pairs_by_distance, relay};
pub use self::model::model;
pub use self::replica::{Learning, MAX_REPLICAS, MOST_OUTSTANDING, ReplicaOutcome, Replicas, replicas};
pub use self::rounds::alone;
pub use self::servers::{Server, ServerOutcome, server};
pub use self::siblings::with_siblings;
pub use self::table::{TableLoad, TableOutcome, TableServer, own_work_ns, table, table_by_messages};
pub use self::tm::{BankLoad, BankOutcome, MemoryKind, UnknownMemory, bank};
pub use self::trace::{MOST_EVENTS, Place, ProgramTrace, Reach, reach};
pub use self::what_if::{CacheProtocol, Change, WhatIf, WhatIfError};
pub use corecast_base::wait::Wait;
pub use corecast_collective::Barrier;
pub use corecast_lock::Algorithm;
pub use corecast_machine::{Machine as Model, model_file};
pub use corecast_plan as plan;
pub use corecast_sim_core as machine;
