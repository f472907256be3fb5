//! The benchmarks of the machine at hand, played on the simulated one.

use corecast_race::harness::median;
use corecast_sim::machine::Machine;
use corecast_sim::{
    Algorithm, AtomicLoad, AtomicOperation, Barrier, Channel, Collective, CollectiveOutcome, Contest, Disturbance,
    Episodes, Operation, Pair, SimError, barriers, collectives, contest,
};

use super::compare::Compared;

/// Runs of threads at a lock.
const RUNS: u64 = 5;
/// Virtual microseconds before acquisitions count, and in which they do.
const WARM_UP_US: u64 = 200;
const DURATION_US: u64 = 1000;
/// The time for which a thread of `bench locks` computes between two acquisitions, in nanoseconds.
const OUTSIDE_NS: u64 = 200;
/// The pause after each atomic operation, in nanoseconds.
pub(super) const PAUSE_NS: u64 = 100;
/// A message of six words, which fills a line with its header.
pub(super) const MESSAGE_BYTES: usize = 48;
pub(super) const ROUND_TRIP: &str = "ump-round-trip";
pub(super) const STREAM: &str = "ump-stream";
/// Streams of bytes: as the benchmark calls the channel, the row, and the simulated channel.
pub(super) const BYTE_STREAMS: [(&str, &str, Channel); 2] =
    [("ump-bytes", "ump-bytes-stream", Channel::UmpBytes), ("mcast", "mcast-bytes-stream", Channel::McastBytes)];
/// Operations of a group, and the words that each member brings or gets.
pub(super) const COLLECTIVES: [(Operation, usize); 9] = [
    (Operation::Broadcast, 7),
    (Operation::Broadcast, 64),
    (Operation::Broadcast, 1024),
    (Operation::Reduce, 1),
    (Operation::Reduce, 64),
    (Operation::Reduce, 1024),
    (Operation::Allreduce, 1),
    (Operation::Allreduce, 64),
    (Operation::Allreduce, 1024),
];
/// The window of an episode, in virtual microseconds, where members share CPUs: some slices of the scheduler.
const SHARED_WINDOW_US: u64 = 50_000;
/// The rounds there, of which the first ones find members asleep.
const SHARED_ROUNDS: usize = 2000;

/// The name of the row of an operation.
pub(super) fn name_of(operation: Operation, words: usize) -> String {
    format!("{}-{}", operation.name(), words * size_of::<u64>())
}

/// The figure of a contender on the simulated machine.
pub(super) fn simulate(
    machine: &Machine,
    what: Compared,
    members: usize,
    contender: &str,
    seed: u64,
) -> Result<f64, String> {
    let outcome = match what {
        Compared::LocksAlone => contend(machine, contender, 1, 0, seed).map(|mops| 1000.0 / mops),
        Compared::Locks => contend_again(machine, contender, members, seed),
        Compared::Barriers => {
            let barrier: Barrier = contender.parse().map_err(|_| "it is not simulated".to_owned())?;
            // Those that are measured have no pause between two.
            barriers(machine, Some(barrier), &episodes(machine, members, seed)).map(|outcome| outcome.times.round_ns)
        }
        Compared::Collectives => {
            // The names of the measured operations are those of the simulated ones.
            let mut all = COLLECTIVES.into_iter();
            let found = all.find(|&(operation, words)| name_of(operation, words) == contender);
            collective_ns(machine, found.expect("an operation that is measured"), &episodes(machine, members, seed))
        }
        Compared::Messages => message_ns(machine, contender, seed),
        Compared::Atomics => {
            // The names of the measured operations are those of the simulated ones.
            let operation: AtomicOperation = contender.parse().expect("an operation");
            let load = AtomicLoad {
                threads: members,
                words: 1,
                warm_up_us: WARM_UP_US,
                duration_us: DURATION_US,
                pause_ns: PAUSE_NS,
                is_steady: true,
                seed,
                disturbance: Disturbance::NONE,
            };
            corecast_sim::atomics(machine, operation, load).map(|outcome| outcome.mops())
        }
    };
    outcome.map_err(|error| error.to_string())
}

/// Members that share CPUs where there are more of them, and begin together.
fn episodes(machine: &Machine, members: usize, seed: u64) -> Episodes {
    let threads_per_cpu = members.div_ceil(machine.cpus());
    let of_own = Episodes { members, skew_ns: 0, seed, ..Episodes::default() };
    match threads_per_cpu {
        ..=1 => of_own,
        _ => Episodes {
            window_us: SHARED_WINDOW_US,
            rounds: SHARED_ROUNDS,
            disturbance: Disturbance { threads_per_cpu, ..Disturbance::NONE },
            ..of_own
        },
    }
}

/// Nanoseconds for an operation of a group.
fn collective_ns(
    machine: &Machine,
    (operation, words): (Operation, usize),
    episodes: &Episodes,
) -> Result<f64, SimError> {
    let CollectiveOutcome { times, .. } = collectives(machine, Collective { operation, root: None, words }, episodes)?;
    Ok(match operation {
        // Measured without a pause, the others one by one.
        Operation::Allreduce => times.round_ns,
        Operation::Broadcast | Operation::Reduce => times.median_ns(),
    })
}

/// Nanoseconds for a message.
fn message_ns(machine: &Machine, contender: &str, seed: u64) -> Result<f64, SimError> {
    let stream = BYTE_STREAMS.iter().find(|(_, name, _)| *name == contender);
    let channel = stream.map_or(Channel::Ump, |&(.., channel)| channel);
    let times =
        corecast_sim::messages(machine, channel, Pair { warm_up: 1000, messages: 1000, seed, ..Pair::default() })?;
    Ok(if contender == ROUND_TRIP { times.round_trip_ns } else { times.stream_ns })
}

/// The median of threads that begin at different times: two of them may miss each other in one run, and meet in another.
fn contend_again(machine: &Machine, contender: &str, threads: usize, seed: u64) -> Result<f64, SimError> {
    let one = |run| contend(machine, contender, threads, OUTSIDE_NS, seed.wrapping_add(run));
    let rates: Vec<f64> = (0..RUNS).map(one).collect::<Result<_, _>>()?;
    Ok(median(&rates).expect("there are runs"))
}

/// Millions of acquisitions in a second.
fn contend(machine: &Machine, contender: &str, threads: usize, outside_ns: u64, seed: u64) -> Result<f64, SimError> {
    // The names of the measured locks are those of the simulated ones.
    let algorithm: Algorithm = contender.parse().expect("a lock of corecast");
    let asked = Contest {
        threads,
        locks: 1,
        warm_up_us: WARM_UP_US,
        duration_us: DURATION_US,
        inside_ns: 0,
        outside_ns,
        is_steady: outside_ns > 0,
        seed,
        disturbance: Disturbance::NONE,
    };
    contest(machine, algorithm, asked).map(|outcome| outcome.mops())
}
