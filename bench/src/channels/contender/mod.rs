//! The contenders of `corecast bench channels`, one file each, and the list of them all.
//!
//! To add one: a file here that implements [`Carrier`], or [`QueueFamily`](queue::QueueFamily) for a queue of one sender and
//! one receiver, and a line in `CARRIERS`. It is then checked before it is timed, and stands in every table.
//!
//! Mechanisms of the kernel and protocols over shared memory hand each receiver a [`Seed`], which may cross to another
//! process; queues of one process hand it a finished end.

#[cfg(not(all(feature = "iceoryx2", feature = "ipc-channel")))]
mod absent;
mod aeron;
mod async_broadcast;
mod barrelfish;
mod bus;
mod byte_flags;
mod byte_stream;
mod combined;
mod crossbeam;
mod crossfire;
mod disruptor;
mod flume;
#[cfg(feature = "iceoryx2")]
mod iceoryx2;
#[cfg(feature = "ipc-channel")]
mod ipc_channel;
mod kanal;
mod lines;
mod mcast;
mod nexus_queue;
mod one_line;
mod own_bytes;
mod payload;
mod pipe;
mod posix_queue;
mod queue;
mod ringbuf;
mod rtrb;
mod shared_memory;
mod sync_channel;
mod sysv_queue;
mod tcp;
mod thingbuf;
mod tokio_broadcast;
mod udp;
mod ump;
mod ump_bytes;
mod unix;
mod words;
mod zimp;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use serde::Serialize;

#[cfg(not(feature = "ipc-channel"))]
use absent::IPC_CHANNEL;
#[cfg(not(feature = "iceoryx2"))]
use absent::{ICEORYX2, ICEORYX2_COPY, ICEORYX2_OVERFLOW};
#[cfg(feature = "iceoryx2")]
use iceoryx2::{ICEORYX2, ICEORYX2_COPY, ICEORYX2_OVERFLOW};
#[cfg(feature = "ipc-channel")]
use ipc_channel::IPC_CHANNEL;

pub(crate) use words::word_queues;

use super::ends::{Inlet, Outlet};
use super::traffic::Traffic;
use super::wire::Wire;
use corecast_race::contender::Unfit;
use corecast_race::harness::Abort;

/// One way to carry messages of bytes from one sender to some receivers.
pub(crate) trait Carrier: Sync {
    /// Its name, as it is asked for and reported.
    fn name(&self) -> &'static str;

    /// A description and how it waits, in one line.
    fn about(&self) -> &'static str;

    /// Its capabilities.
    fn traits(&self) -> Traits;

    /// Whether it is raced at this traffic.
    fn plays(&self, traffic: Traffic) -> bool {
        let _ = traffic;
        true
    }

    /// Whether single messages can be timed: the sender learns of the arrival of each.
    fn times_single_messages(&self) -> bool {
        true
    }

    /// Makes the channel.
    ///
    /// # Errors
    /// Why it cannot carry this.
    fn open(&self, wire: &Wire, abort: &Arc<Abort>) -> Result<Ends, Unfit>;

    /// Makes a receiving end of what [`Carrier::open`] left for it, perhaps in another process.
    ///
    /// # Errors
    /// As [`Carrier::open`].
    fn attach(&self, wire: &Wire, seed: Seed, abort: &Arc<Abort>) -> Result<Box<dyn Inlet>, Unfit> {
        let _ = (wire, seed, abort);
        Err(Unfit(RECEIVERS_LIVE_HERE.to_owned()))
    }

    /// Removes what the system keeps of a channel whose sending process was killed, found by the word of a [`Seed`]. For most
    /// contenders it keeps nothing.
    fn clear_away(&self, word: u64) {
        let _ = word;
    }
}

/// The reason of a contender whose ends are of one process.
pub(super) const RECEIVERS_LIVE_HERE: &str = "its receivers live in the sender's process";

/// The capabilities of a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Traits {
    /// How one message reaches many.
    pub fan: Fan,
    /// True if it is offered by corecast.
    pub ours: bool,
    /// True if receivers may be other processes.
    pub processes: bool,
    /// True if every message arrives.
    pub lossless: bool,
}

impl Traits {
    /// A lossless queue of one process, written once for each receiver.
    const UNICAST: Self = Self { fan: Fan::Unicast, ours: false, processes: false, lossless: true };
    /// A lossless queue of one process, written once for all receivers.
    const BROADCAST: Self = Self { fan: Fan::Broadcast, ..Self::UNICAST };

    const fn ours(self) -> Self {
        Self { ours: true, ..self }
    }

    const fn among_processes(self) -> Self {
        Self { processes: true, ..self }
    }

    const fn lossy(self) -> Self {
        Self { lossless: false, ..self }
    }
}

/// How one message reaches many receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fan {
    /// A send for each receiver.
    Unicast,
    /// One send for all.
    Broadcast,
}

/// A channel that was made: its sending end, and what its receivers need.
pub(crate) struct Ends {
    pub(crate) outlet: Box<dyn Outlet>,
    pub(crate) inlets: Inlets,
}

/// The receivers' parts.
pub(crate) enum Inlets {
    /// Finished ends, for threads.
    Here(Vec<Box<dyn Inlet>>),
    /// The seed that [`Carrier::attach`] takes, for threads or processes.
    Anywhere(Vec<Seed>),
}

/// The parts of a receiver's end, in a form that another process can be given.
#[derive(Debug, Default)]
pub(crate) struct Seed {
    /// Descriptors, which are duplicated on the way.
    pub(crate) fds: Vec<OwnedFd>,
    /// The receiver's number, or whatever the contender calls its part by.
    pub(crate) word: u64,
}

/// Every contender, corecast's own first: the first of them that was timed is the one that ratios refer to.
const CARRIERS: &[&dyn Carrier] = &[
    &combined::Combined,
    &mcast::MCAST,
    &mcast::MCAST_COPY,
    &ump_bytes::UmpBytes,
    &ump::UMP,
    &zimp::Zimp,
    &byte_flags::ByteFlags,
    &one_line::OneLine,
    &barrelfish::Barrelfish,
    &rtrb::RTRB,
    &ringbuf::RINGBUF,
    &nexus_queue::NEXUS_QUEUE,
    &crossbeam::CROSSBEAM,
    &crossfire::CROSSFIRE,
    &kanal::KANAL,
    &flume::FLUME,
    &thingbuf::THINGBUF,
    &sync_channel::SYNC_CHANNEL,
    &disruptor::Disruptor,
    &bus::BUS,
    &async_broadcast::ASYNC_BROADCAST,
    &tokio_broadcast::TokioBroadcast,
    &unix::SEQPACKET,
    &unix::STREAM,
    &tcp::Tcp,
    &udp::Udp,
    &pipe::Pipe,
    &sysv_queue::SysvQueue,
    &posix_queue::PosixQueue,
    &ICEORYX2,
    &ICEORYX2_COPY,
    &ICEORYX2_OVERFLOW,
    &IPC_CHANNEL,
    &aeron::AeronIpc,
];

/// Every contender.
pub(crate) fn carriers() -> &'static [&'static dyn Carrier] {
    CARRIERS
}

/// The contender of this name.
pub(crate) fn carrier(name: &str) -> Option<&'static dyn Carrier> {
    CARRIERS.iter().copied().find(|carrier| carrier.name() == name)
}

/// A contender as listed for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedCarrier {
    /// Its name.
    pub contender: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// Its capabilities.
    #[serde(flatten)]
    pub traits: Traits,
}

/// All contenders of `corecast bench channels`.
#[must_use]
pub fn list() -> Vec<ListedCarrier> {
    let listed = |carrier: &&dyn Carrier| ListedCarrier {
        contender: carrier.name(),
        about: carrier.about(),
        traits: carrier.traits(),
    };
    CARRIERS.iter().map(listed).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use corecast::base::CpuId;
    use corecast::base::wait::Wait;

    use super::super::entrant::Entrant;
    use super::super::options::ChannelOptions;
    use super::*;
    use crate::this_machine::this_machine;
    use corecast_race::harness::{Crew, Pace};
    use corecast_race::skip::Skip;

    /// Reasons that are no fault.
    const FINE: [&str; 4] = ["built without feature", "needs a Java machine", "a packet has at most", "fs.mqueue"];

    #[test]
    fn names_are_unique_and_found() {
        let names: HashSet<&str> = list().iter().map(|listed| listed.contender).collect();
        assert_eq!(names.len(), CARRIERS.len());
        assert!(names.iter().all(|name| carrier(name).is_some_and(|carrier| carrier.name() == *name)));
        assert!(carriers().iter().any(|carrier| carrier.traits().ours), "ratios refer to one of ours");
    }

    /// The contender that needs a switch of threads for every 56 bytes where a CPU is shared: beside foreign load each takes
    /// milliseconds, a thousand more than any test may wait for. So it has few rounds, and no messages longer than these.
    const SWITCHES_PER_LINE: &str = "one-line";
    const LONGEST_BY_LINES: usize = 500;
    const ROUNDS_BY_LINES: u64 = 2;

    /// Every contender passes its check of `check_rounds` rounds, and works when it is timed.
    fn conformance(bytes: usize, receivers: usize, check_rounds: u64) {
        let cpus = this_machine().cpu_set();
        let seats: Vec<Option<CpuId>> =
            cpus.iter().map(Some).collect::<Vec<_>>().into_iter().cycle().take(receivers + 1).collect();
        let wire = Wire::new(bytes, receivers, true, Wait::Adaptive);
        let (block, limit) = (Duration::from_micros(10), Duration::from_secs(60));
        let options = ChannelOptions::default();
        let mut crew = Crew::seated(seats.clone(), true, limit).expect("allowed CPUs");
        for carrier in carriers().iter().filter(|carrier| carrier.plays(Traffic::Stream)) {
            let is_slow = carrier.name() == SWITCHES_PER_LINE;
            if is_slow && bytes > LONGEST_BY_LINES {
                continue;
            }
            let check_rounds = if is_slow { ROUNDS_BY_LINES } else { check_rounds };
            let pace = Pace { check_rounds, block, limit, ..Pace::THOROUGH };
            let mut entrant = Entrant::new(*carrier, wire, &options, &corecast_race::Cancel::new());
            let played = entrant
                .open(&options, &seats)
                .and_then(|()| entrant.check(&mut crew, &pace))
                .and_then(|()| entrant.block(&mut crew))
                .and_then(|()| entrant.paced_block(&mut crew, &pace));
            let row = entrant.row(played.err().map(|failure| Skip::broken(&failure)).as_ref());
            let reason = row.skipped.unwrap_or_default();
            assert!(reason.is_empty() || FINE.iter().any(|fine| reason.contains(fine)), "{}: {reason}", row.contender);
            assert!(!row.lossless || row.lost_share.is_none_or(|share| share == 0.0), "{} loses", row.contender);
        }
    }

    #[test]
    fn every_contender_delivers_short_messages() {
        conformance(1, 1, 150);
        conformance(56, 1, 150);
        conformance(64, 3, 150);
        conformance(500, 2, 50);
    }

    #[test]
    fn every_contender_delivers_long_messages() {
        conformance(4_000, 2, 20);
        // Longer than a packet or a pipe holds. Twice round the deepest ring is the least that a check sends.
        conformance(70_001, 1, 20);
    }
}
