//! A simulated machine: threads as coroutines on the CPUs that they are put on, a cost model of cache coherence, a scheduler, and
//! virtual time.
//!
//! All threads run on one thread of the host, in the order of virtual time, so a run with the same program gives the same times
//! on every host. A [`Thread`] names each access to shared memory; between accesses its code runs natively and takes no time
//! unless it calls [`Thread::work`]. An access finds its line in a state of MESI or MOESI at a distance, from which its time
//! follows ([`Costs`]); a line serves one request at a time, in the order in which they come. Stores go through a buffer, as on
//! x86: later loads pass them, and stores keep their order. Polling loops sleep until a line changes. Threads that share a CPU
//! run in turns, as under the scheduler of Linux ([`System`]), or move to idle ones ([`Run::let_move`]); CPUs that share a core
//! slow each other down ([`Smt`]).
//!
//! **Take it** to see how a protocol behaves on a machine with many CPUs that is not at hand, to compare protocols by the lines
//! that they move, and to replay a schedule. **Do not take it** for absolute times of a machine that nobody has measured, for
//! caches that fill, for frequencies, or for reorderings of loads, which the model checker finds.
//!
//! Not simulated: interrupts, and the capacity of caches.
//!
//! # Example
//! ```
//! use corecast_sim_core::{Run, Word, published, units};
//!
//! let mut run = Run::new(&published::xeon_8x10());
//! let counter = Box::leak(Box::new(0_u64)) as *mut u64;
//! for cpu in 0..10 {
//!     run.spawn(cpu, 0, move |me| {
//!         // SAFETY: the box is never freed, and only threads of this run use it.
//!         let word = unsafe { Word::of(counter) };
//!         for _ in 0..100 {
//!             me.update(word, |value| Some(value + 1));
//!         }
//!     })?;
//! }
//! let report = run.finish(units(1_000_000))?;
//! // SAFETY: the run is over.
//! assert_eq!(unsafe { counter.read() }, 1000);
//! assert!(report.end > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Sources: T. David, R. Guerraoui, V. Trigonakis, "Everything you always wanted to know about synchronization but were afraid to
//! ask", SOSP 2013 (costs by state and distance). T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim", HPDC 2010 (one queue of
//! events). S. Ramos, T. Hoefler, "Modeling communication in cache-coherent SMP systems", HPDC 2013 (contention as a term of its
//! own).

mod coherence;
mod costs;
mod cpu;
mod error;
mod events;
mod lines;
mod machine;
mod moves;
mod per_run;
mod per_thread;
mod poll;
pub mod published;
mod random;
mod reach;
mod recording;
mod report;
mod run;
mod run_state;
mod scheduler;
mod siblings;
mod sleepers;
mod smt;
mod stops;
mod store_buffer;
mod stores;
mod thread;
mod trace;
mod under_way;
mod values;
mod word;
mod work;

pub use self::costs::{Access, ByState, Costs, LineState, Protocol, System, TICKS, Ticks, units};
pub use self::error::{MachineError, Reason, Stopped, Waiting};
pub use self::machine::{Location, MAX_CPUS, Machine};
pub use self::per_run::PerRun;
pub use self::per_thread::PerThread;
pub use self::random::Random;
pub use self::report::{Counts, Report};
pub use self::run::{MAX_THREADS, Run};
pub use self::smt::Smt;
pub use self::stops::{LastStores, Preemption};
pub use self::thread::{Thread, with_current};
pub use self::trace::{Answerer, Holding, Source, Trace, TracedLine, TracedPhase, TracedRequest, TracedWait};
pub use self::values::Ended;
pub use self::word::Word;
