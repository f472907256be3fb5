//! Two-phase commit: one member proposes, all vote, and the proposal is applied by all or by none.
//!
//! **When to take it:** every member may refuse, and none may apply a proposal that another one refused. **When not:** no
//! member ever refuses; then a broadcast is enough. To survive crashes of the coordinator's machine takes a log, which this
//! is not.
//!
//! A proposal is a value, or a slice of values up to a length on which all agree when they open. It goes to each participant over
//! an edge of its own; if it is more than 504 bytes, it lies once in memory of the group, from which all participants read it.
//! Votes come back as words on lines of their own, and the outcome is one **decision word** per proposal:
//! `sequence << 2 | state`. The coordinator writes it undecided before any participant can see the proposal, and changes it to
//! COMMIT or ABORT by one compare-and-exchange; if that fails, the word's decision stands. It aborts after a NO, when the time is
//! up, or when the group fails before all have voted. A participant that waits for the decision while the group fails changes an
//! undecided word to ABORT itself and obeys the word. So a coordinator that is gone blocks no member, and one that was suspected
//! wrongly only finds that its commit was refused. A member lost after its YES changes nothing.
//!
//! Every participant sees every proposal, also those that another one has refused, unless the time is up before: a
//! participant gets the next proposal only after its vote on the one before. Nothing is ever reset. The words of the last
//! 64 proposals stand, so a participant may be that many behind. There is memory for two long proposals: if members that have not
//! voted may still read both, the next long one waits, or is aborted unseen when its time is up.
//!
//! **Progress:** blocking. **Memory ordering:** a member that applies a proposal sees what every member wrote before it
//! voted for it.
//!
//! Source: J. Gray, Notes on Data Base Operating Systems, 1978; the decision word is ours.
//!
//! ```
//! use std::time::Duration;
//! use corecast_collective::Group;
//! use corecast_machine::{Machine, Topology, source};
//! let machine = Machine::from_topology(&source::discover(&source::DiscoveryRequest::default())?);
//! let group = Group::builder(&machine).members(3).build()?;
//! group.run(|me| {
//!     if me.rank() == 0 {
//!         let mut coordinator = me.coordinator::<u64>()?;
//!         assert_eq!(coordinator.commit(&6, Duration::MAX), Ok(true));
//!         assert_eq!(coordinator.commit(&7, Duration::MAX), Ok(false));
//!     } else {
//!         let mut participant = me.participant::<u64>(0)?;
//!         while participant.serve(|number| number % 2 == 0, |number, is_commit| assert_eq!(is_commit, *number == 6))? {}
//!     }
//!     // Proposals of up to a million bytes.
//!     if me.rank() == 0 {
//!         let mut coordinator = me.slice_coordinator::<u8>(1_000_000)?;
//!         assert_eq!(coordinator.commit(b"any length", Duration::MAX), Ok(true));
//!         assert_eq!(coordinator.commit(&[7; 1_000_000], Duration::MAX), Ok(true));
//!     } else {
//!         let mut participant = me.slice_participant::<u8>(0, 1_000_000)?;
//!         while participant.serve(|bytes| !bytes.is_empty(), |_, is_commit| assert!(is_commit))? {}
//!     }
//!     Ok::<_, corecast_collective::Error>(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod areas;
mod coordinator;
mod participant;
mod proposal;
mod words;

pub use coordinator::Coordinator;
pub use participant::Participant;
pub use proposal::Proposal;
