//! Programs whose threads share CPUs, are stopped, or die, and outcomes that tell so.

use corecast_sim::machine::published;
use corecast_sim::{
    Algorithm, AtomicLoad, AtomicOperation, Contest, Disturbance, Disturbed, Episodes, Pair, Server, SimError, Stops,
    TableLoad, atomics, barriers, contest, messages, server, table,
};

const CONTEST: Contest = Contest {
    threads: 4,
    locks: 1,
    warm_up_us: 50,
    duration_us: 200,
    inside_ns: 0,
    outside_ns: 100,
    is_steady: false,
    seed: 3,
    disturbance: Disturbance::NONE,
};
const STOPS: Stops = Stops { one_in: 50, longest_us: 20 };

fn with(disturbance: Disturbance) -> Contest {
    Contest { disturbance, ..CONTEST }
}

fn killed_at(access: u64) -> Disturbance {
    Disturbance { kill_at: Some(access), ..Disturbance::NONE }
}

#[test]
fn threads_that_are_stopped_do_less_and_the_outcome_counts_the_stops() {
    let machine = published::opteron_4x12();
    for algorithm in [Algorithm::Mcs, Algorithm::Ticket] {
        let outcome = |disturbance| contest(&machine, algorithm, with(disturbance)).expect("it ends");
        let calm = outcome(Disturbance::NONE);
        let stopped = outcome(Disturbance { stops: Some(STOPS), ..Disturbance::NONE });
        assert_eq!(calm.disturbed, Disturbed::default());
        let Disturbed { stops, stopped_us, killed, .. } = stopped.disturbed;
        assert!(stops > 20 && stopped_us > 20.0 && killed == 0, "{algorithm}: {:?}", stopped.disturbed);
        assert!(stopped.mops() < 0.8 * calm.mops(), "{algorithm}: {} and {} Mops/s", stopped.mops(), calm.mops());
    }
}

/// Eight threads on two CPUs: the ticket lock is handed to threads that do not run, and a lock that sleeps is not.
#[test]
fn threads_share_cpus_and_a_lock_that_sleeps_goes_on_where_a_queue_waits_for_slices() {
    let machine = published::opteron_4x12();
    let rate = |algorithm| {
        let disturbance = Disturbance { threads_per_cpu: 4, ..Disturbance::NONE };
        let shared = Contest { threads: 8, warm_up_us: 4000, duration_us: 20_000, ..with(disturbance) };
        let outcome = contest(&machine, algorithm, shared).expect("it ends");
        assert!(outcome.disturbed.switches > 10, "{algorithm}: {:?}", outcome.disturbed);
        assert_eq!(outcome.acquisitions.len(), 8);
        outcome.mops()
    };
    let (ticket, word) = (rate(Algorithm::Ticket), rate(Algorithm::Word));
    assert!(word > 10.0 * ticket, "{word} and {ticket} Mops/s");
    let crowd = Contest { threads: 97, ..with(Disturbance { threads_per_cpu: 2, ..Disturbance::NONE }) };
    let error = contest(&machine, Algorithm::Mcs, crowd).expect_err("48 CPUs have room for 96");
    assert!(matches!(error, SimError::Threads { threads: 97, cpus: 48, most: 96 }), "{error}");
}

/// Four threads on four CPUs, of which another program loads two.
#[test]
fn threads_that_may_move_leave_a_cpu_that_another_program_loads() {
    let machine = published::opteron_4x12();
    let outcome = |unpinned, foreign_cpus, threads| {
        let disturbance = Disturbance { unpinned, foreign_cpus, ..Disturbance::NONE };
        let longer = Contest { threads, warm_up_us: 3000, duration_us: 30_000, outside_ns: 2000, ..with(disturbance) };
        contest(&machine, Algorithm::Word, longer).expect("it ends")
    };
    let rates = |foreign_cpus| outcome(false, foreign_cpus, 4).acquisitions;
    let (calm, loaded) = (rates(0), rates(2));
    let share = |cpu: usize| loaded[cpu] as f64 / calm[cpu] as f64;
    assert!((0..2).all(|cpu| (0.3..0.8).contains(&share(cpu))) && share(2).min(share(3)) > 0.9, "{loaded:?}, {calm:?}");
    assert_eq!(outcome(false, 2, 4).disturbed.moves, 0);
    let moving = outcome(true, 2, 4).disturbed;
    assert!(moving.moves >= 2 && moving.switches > 10, "{moving:?}");
    assert_eq!(outcome(true, 2, 4), outcome(true, 2, 4), "by the seed alone");
    let alone = outcome(true, 0, 4);
    assert_eq!((alone.disturbed.moves, alone.acquisitions.len()), (0, 4), "each has a CPU");
}

/// A thread that dies holds a lock for ever, or none: of atomic operations the others never depend on it.
#[test]
fn others_wait_for_a_dead_holder_and_for_no_atomic_operation() {
    let machine = published::opteron_4x12();
    let mut ends = [0, 0];
    for access in 0..40 {
        match contest(&machine, Algorithm::Ticket, with(killed_at(access))) {
            Ok(outcome) => {
                assert_eq!(outcome.disturbed.killed, 1, "access {access}");
                ends[0] += 1;
            }
            Err(error) => {
                assert!(error.waits_for_killed(), "access {access}: {error}");
                ends[1] += 1;
            }
        }
    }
    assert!(ends.iter().all(|&number| number > 0), "{ends:?}");
    let load = AtomicLoad {
        threads: 4,
        words: 1,
        warm_up_us: 10,
        duration_us: 50,
        pause_ns: 100,
        is_steady: false,
        seed: 3,
        disturbance: Disturbance::NONE,
    };
    for operation in AtomicOperation::ALL {
        for access in 0..12 {
            let outcome = atomics(&machine, operation, AtomicLoad { disturbance: killed_at(access), ..load });
            let outcome = outcome.unwrap_or_else(|error| panic!("{operation}, {access}: {error}"));
            assert_eq!(outcome.disturbed.killed, 1, "{operation}, {access}");
        }
    }
}

#[test]
fn a_dead_thread_leaves_the_other_buckets_of_a_table_and_byte_is_refused() {
    let machine = published::opteron_4x12();
    let load = TableLoad {
        threads: 3,
        buckets: 64,
        mean: 12,
        warm_up_us: 10,
        duration_us: 50,
        own_ns: 50,
        seed: 1,
        disturbance: killed_at(1),
    };
    let outcome = table(&machine, Algorithm::Mcs, load).expect("it has died before it had a lock");
    assert_eq!(outcome.disturbed.killed, 1);
    let error = table(&machine, Algorithm::Byte, load).expect_err("its table outlives the run");
    assert!(matches!(error, SimError::Kill { .. }), "{error}");
}

#[test]
fn members_and_ends_of_channels_share_cpus_and_are_stopped_but_not_killed() {
    let machine = published::opteron_4x12();
    let disturbance = Disturbance { threads_per_cpu: 2, stops: Some(STOPS), ..Disturbance::NONE };
    let few = Episodes { members: 6, warm_up: 1, episodes: 3, rounds: 3, window_us: 20_000, ..Episodes::default() };
    let outcome = barriers(&machine, None, &Episodes { disturbance, ..few.clone() }).expect("it ends");
    let Disturbed { stops, switches, .. } = outcome.times.disturbed;
    assert!(stops > 0 && switches > 0, "{:?}", outcome.times.disturbed);
    let killed = barriers(&machine, None, &Episodes { disturbance: killed_at(3), ..few });
    assert!(matches!(killed, Err(SimError::Kill { .. })), "{killed:?}");
    let channel = corecast_sim::Channel::Ump;
    let pair = Pair { messages: 50, warm_up: 10, disturbance, ..Pair::default() };
    let stopped = messages(&machine, channel, pair).expect("all messages come");
    assert!(stopped.disturbed.stops > 0, "{:?}", stopped.disturbed);
    let killed = messages(&machine, channel, Pair { disturbance: killed_at(3), ..pair });
    assert!(matches!(killed, Err(SimError::Kill { .. })), "{killed:?}");
    let clients = Server { clients: vec![1, 2, 1, 2], disturbance, ..Server::default() };
    let served = server(&machine, &clients).expect("all messages come");
    assert!(served.disturbed.switches > 0, "{:?}", served.disturbed);
}
