//! Races corecast's channels, locks and tables against what people use today, and measures what atomic operations cost.
//!
//! A library without output of its own: the program `corecast-bench` calls it, and shows what it returns. The race of collectives
//! and the harness are in [`corecast_race`].
//!
//! - [`ump`], [`channels`], [`select`](fn@select), [`stream`](fn@stream), [`idle`](fn@idle), [`deaths`](fn@deaths),
//!   [`messages`](fn@messages): message channels;
//! - [`locks`](fn@locks), [`table`](fn@table), [`atomics`](fn@atomics), [`coherence`](fn@coherence): locks, a hash table,
//!   words and cache lines; [`coherence_cases`] names the cases of the last, [`coherence_parameters`]
//!   takes a simulated machine's parameters from them;
//! - [`tm`](fn@tm): transactional memory;
//! - [`replica`](fn@replica): replicated state; [`crash`](fn@crash): replicated state whose nodes are killed;
//! - [`mpi`](fn@mpi): MPI libraries with and without corecast's preload object;
//! - [`nodes`](fn@nodes): groups over several hosts, beside plain MPI;
//! - [`epcc`](fn@epcc): OpenMP constructs with and without the preload object;
//! - [`busy`](fn@busy): all of it beside foreign load; [`setup`]: how long it takes to put a group together;
//! - [`memcached`](fn@memcached), [`stream_cluster`](fn@stream_cluster): programs with preload objects under them, and without;
//! - [`study`](mod@study): the planner on many machine models, computed and not raced;
//! - [`list`] names all contenders.
//!
//! All of them share `turns`, the race engine, with `participants`; `server` and `bound`, programs that end with this one;
//! `program`, one run of a foreign one, and `launches`, runs of it with a preload object and
//! without; `stats`; `rules`, by which gates are judged; and `published`, figures of other machines.
//!
//! **Method.** That of `corecast_race`: every contender is checked before it is timed, and contenders run in turns.
//!
//! ```
//! use std::time::Duration;
//! use corecast::machine;
//! use corecast_bench::ump;
//! use corecast_race::Options;
//! let options = Options { quick: true, budget: Some(Duration::from_millis(200)), ..Options::default() };
//! let report = ump(&machine::detect()?, &options, &mut ())?;
//! for row in report.groups.iter().flat_map(|group| &group.rows) {
//!     let median_ns = row.summary.map(|summary| summary.median_ns);
//!     let _line = format!("{}: {median_ns:?} ns, {:?} times corecast", row.contender, row.ratio);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod atomics;
mod bound;
mod busy;
mod c_object;
mod channel_demands;
pub mod channels;
mod coherence;
mod contender;
mod counts;
mod deaths;
mod epcc;
mod idle;
mod launches;
mod locks;
mod memcached;
mod messages;
mod mpi;
mod nodes;
mod pair;
mod pair_body;
mod participants;
mod program;
mod published;
mod replica;
mod rules;
mod select;
mod server;
mod setup;
mod stats;
mod stream;
mod stream_cluster;
pub mod study;
mod table;
#[cfg(test)]
#[path = "../../crates/race/src/this_machine.rs"]
mod this_machine;
mod tm;
mod transfer;
mod turns;

pub use atomics::{AtomicCell, AtomicOptions, AtomicReport, AtomicRow, atomics};
pub use busy::{
    BusyCell, BusyOperation, BusyOptions, BusyReport, BusyRow, ForeignLoad, MAX_HOGS, MAX_ROUNDS, Neighbour, busy,
    busy_member, busy_operations,
};
pub use coherence::{
    CoherenceCell, CoherenceGroup, CoherenceHome, CoherenceOptions, CoherenceReport, CoherenceTimes, ListedCase,
    Placement, TimerRow, coherence, coherence_cases, coherence_parameters,
};
pub use contender::list;
pub use deaths::{DeathOptions, DeathReport, DeathRow, deaths, victim};
pub use epcc::{EPCC_PRESET, EpccOptions, EpccReport, EpccRow, MAX_EPCC_THREADS, epcc};
pub use idle::{IdleReport, IdleRow, idle};
pub use locks::{
    DistanceRow, FlipPhase, FlipRow, LockCell, LockDistance, LockFlips, LockOptions, LockReport, LockRow, PairRow,
    PublishedScaling, ReaderCell, ReaderPairRow, ReaderReport, ReaderRow, RegretRow, locks,
};
pub use memcached::{
    MEMCACHED_PRESET, MemcachedCell, MemcachedGenerator, MemcachedLeftOut, MemcachedMix, MemcachedOptions,
    MemcachedReport, MemcachedRow, memcached,
};
pub use messages::{
    MAX_PAIR_BYTES, MessageOptions, MessagePairRow, MessageReport, PairCell, Receive, ServerCell, ServerRow, Trip,
    messages,
};
pub use mpi::{MPI_PRESET, MpiForeign, MpiForeignRow, MpiForeignSkip, MpiOptions, MpiReport, MpiRow, mpi};
pub use nodes::{
    DeathPlace as NodesDeathPlace, HostMembers, MAX_NODES, NodesCheckRow, NodesDeathRow, NodesIdleRow, NodesLine,
    NodesModelRow, NodesOp, NodesOptions, NodesPrograms, NodesRelaunch, NodesReport, NodesRow, NodesShape,
    NodesSkipped, NodesWork, Victim as NodesVictim, nodes, nodes_member, run_on_nodes,
};
pub use pair::ump;
pub use published::PublishedFigure;
pub use replica::{
    CostRow, CrashEpisode, CrashFault, CrashOptions, CrashReport, CrashRow, LeftOut, PauseRow, PredictionRow, Preset,
    RedisRow, ReplicaCell, ReplicaOptions, ReplicaReport, ReplicaRow, RobustPart, RobustRow, SimulatedRow, WaitRow,
    crash, crash_node, replica, replica_member,
};
pub use select::{Fairness, SelectReport, select};
pub use setup::{SetupReport, SetupRow, setup};
pub use stream::{StreamOptions, StreamReport, stream};
pub use stream_cluster::{
    STREAM_CLUSTER_PRESET, StreamClusterCell, StreamClusterOptions, StreamClusterReport, StreamClusterRow,
    StreamClusterSize, stream_cluster,
};
pub use table::{MAX_BATCH, Point, Published, TableCell, TableOptions, TableReport, TableRow, table, table_member};
pub use tm::{NoTmPreset, NoWorkload, TmCell, TmOptions, TmPreset, TmReport, TmRow, TmWorkload, tm, tm_member};
pub use transfer::LineTransfer;
