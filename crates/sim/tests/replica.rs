//! Replicas on simulated machines: they agree whatever happens to their threads, and how much a tree is worth.

use corecast_sim::machine::{Machine, published};
use corecast_sim::{Disturbance, Learning, MAX_REPLICAS, ReplicaOutcome, Replicas, SimError, Stops, Wait, replicas};

const FEW: Replicas = Replicas {
    replicas: 5,
    clients: 2,
    outstanding: 4,
    learning: Learning::Planned,
    wait: Wait::Adaptive,
    warm_up_us: 10,
    duration_us: 40,
    own_ns: 20,
    pause_ns: 100,
    model: None,
    seed: 1,
    disturbance: Disturbance::NONE,
    victim: 0,
};

fn played(machine: &Machine, asked: &Replicas) -> ReplicaOutcome {
    replicas(machine, asked).unwrap_or_else(|error| panic!("{asked:?}: {error}"))
}

fn shape(name: &str) -> Learning {
    Learning::Shape(name.to_owned())
}

#[test]
fn replicas_agree_whichever_way_they_learn() {
    let machine = published::opteron_4x12();
    for learning in [Learning::Planned, Learning::Sequential, Learning::Ring, shape("binary"), shape("cluster")] {
        for (replicas, clients, outstanding) in [(1, 1, 1), (2, 2, 16), (7, 3, 2)] {
            let outcome =
                played(&machine, &Replicas { replicas, clients, outstanding, learning: learning.clone(), ..FEW });
            assert!(outcome.commands > 0 && outcome.latency_ns(0.5) <= outcome.latency_ns(0.99), "{outcome:?}");
            assert_eq!(outcome.role_changes, 0, "nobody was stopped");
            // The others learn by a line at least.
            let moved = outcome.transfers.iter().sum::<f64>() * outcome.commands as f64;
            assert!(replicas == 1 || moved >= replicas as f64, "{outcome:?}");
        }
    }
}

#[test]
fn replicas_agree_where_their_threads_are_stopped() {
    let machine = published::xeon_8x10();
    let mut role_changes = 0;
    for seed in 1..5 {
        // Nodes hold one for stuck that shows no life for 2 ms.
        let (one_in, longest_us) = if seed % 2 == 0 { (100, 100) } else { (400, 20_000) };
        let disturbance = Disturbance { stops: Some(Stops { one_in, longest_us }), ..Disturbance::NONE };
        let learning = if seed < 3 { shape("binary") } else { Learning::Sequential };
        role_changes += played(&machine, &Replicas { seed, disturbance, learning, ..FEW }).role_changes;
    }
    assert!(role_changes > 0, "some stop was long enough for another node to take the role over");
}

/// A slice of the other program outlasts the time for which a node waits for another one: that loses its role, or its place, and
/// comes back with the state of the other.
#[test]
fn replicas_come_back_that_lose_their_places_beside_another_program() {
    let machine = published::xeon_8x10();
    let disturbance = Disturbance { foreign_cpus: 1, ..Disturbance::NONE };
    let beside = Replicas { replicas: 2, clients: 1, outstanding: 1, duration_us: 9000, pause_ns: 4000, ..FEW };
    let outcome = played(&machine, &Replicas { seed: 2, disturbance, ..beside });
    assert!(outcome.least_commands > 0 && outcome.disturbed.switches > 0);
    assert!(outcome.role_changes > 0 && outcome.rejoins > 0, "{outcome:?}");
}

#[test]
fn replicas_go_on_without_a_node_that_is_killed() {
    let machine = published::opteron_4x12();
    for (victim, access) in [(0, 600), (1, 1500), (2, 300)] {
        let disturbance = Disturbance { kill_at: Some(access), ..Disturbance::NONE };
        let asked = Replicas { victim, disturbance, clients: 1, learning: shape("binary"), ..FEW };
        let outcome = played(&machine, &asked);
        let had_role = victim < 2;
        assert!(outcome.commands > 0 && (outcome.role_changes > 0) == had_role, "{victim} {access}: {outcome:?}");
        assert_eq!(outcome.disturbed.killed, 1);
    }
}

#[test]
fn the_same_options_have_the_same_outcome_wherever_the_allocator_puts_things() {
    let machine = published::opteron_4x12();
    let asked = Replicas { clients: 5, ..FEW };
    let first = played(&machine, &asked);
    for bytes in [16, 32, 48] {
        // Of another length before each object of the run: what follows lies elsewhere in its lines.
        let shifted: Vec<Vec<u8>> = (0..64).map(|_| Vec::with_capacity(bytes)).collect();
        assert_eq!(played(&machine, &asked), first, "with {bytes} bytes before");
        drop(shifted);
    }
}

/// Threads learn for the whole process on which CPUs yields are slow, and until when. That process ends with its run.
#[test]
fn a_run_knows_nothing_of_the_one_before() {
    let machine = published::opteron_4x12();
    let asked = Replicas { clients: 5, ..FEW };
    let first = played(&machine, &asked);
    let disturbance = Disturbance { foreign_cpus: 5, ..Disturbance::NONE };
    played(&machine, &Replicas { disturbance, duration_us: 3000, pause_ns: 10_000, ..asked.clone() });
    assert_eq!(played(&machine, &asked), first);
}

/// Q8 of the notes on replication asks for 2.5 times as much as by one send after another, and for 0.97 of the best static tree.
/// Both are in the measurements, over longer times; here the demand leaves room for what short ones are off by.
#[test]
fn the_planned_tree_is_ahead_of_one_send_after_another() {
    let machine = published::opteron_4x12();
    let kops = |learning: Learning| {
        let asked = Replicas { replicas: 28, clients: 28, outstanding: 1, learning, own_ns: 0, ..FEW };
        let outcome = played(&machine, &Replicas { warm_up_us: 50, duration_us: 40, ..asked });
        assert!(outcome.least_commands > 0, "a client had no answer: {} commands", outcome.commands);
        outcome.kops()
    };
    let [planned, sequential] = [Learning::Planned, Learning::Sequential].map(kops);
    assert!(planned >= 1.5 * sequential, "{planned} against {sequential} thousand commands a second");
}

/// The nodes wait for each other for longer than spinning pays, and each that sleeps is woken by the one before it.
#[test]
fn a_large_group_with_few_clients_does_not_fall_asleep() {
    let machine = published::opteron_4x12();
    let wake_up_ns = machine.ns(machine.costs().system.woken);
    let asked = Replicas { replicas: 28, clients: 4, outstanding: 1, own_ns: 0, warm_up_us: 50, ..FEW };
    let median_ns = played(&machine, &asked).latency_ns(0.5);
    assert!(0.0 < median_ns && median_ns < wake_up_ns, "{median_ns} ns for a command, {wake_up_ns} to wake one node");
}

#[test]
fn groups_that_cannot_be_are_refused() {
    let machine = published::opteron_4x12();
    let refused = |asked: Replicas| replicas(&machine, &asked).expect_err("it cannot be").to_string();
    for replicas in [0, 49] {
        assert!(refused(Replicas { replicas, ..FEW }).contains("on a machine with 48 CPUs"));
    }
    assert!(refused(Replicas { clients: 6, ..FEW }).contains("6 clients of 5 replicas, expected from 1 to 5"));
    assert!(refused(Replicas { outstanding: 17, ..FEW }).contains("17 commands without an answer, expected from 1"));
    assert!(refused(Replicas { wait: Wait::Spin, ..FEW }).contains("only spin"));
    assert!(refused(Replicas { learning: shape("star"), ..FEW }).contains("no tree is called 'star'"));
    let disturbance = Disturbance { kill_at: Some(1), ..Disturbance::NONE };
    assert!(refused(Replicas { victim: 3, disturbance, ..FEW }).contains("node 3 is to be killed, which has a client"));
    let disturbance = Disturbance { threads_per_cpu: 2, ..Disturbance::NONE };
    assert!(refused(Replicas { disturbance, ..FEW }).contains("each replica has a CPU"));
    let disturbance = Disturbance { unpinned: true, ..Disturbance::NONE };
    assert!(refused(Replicas { disturbance, ..FEW }).contains("each replica has a CPU"));
    let larger = published::xeon_8x10();
    let error = replicas(&larger, &Replicas { replicas: MAX_REPLICAS + 1, ..FEW }).expect_err("too many");
    assert!(matches!(error, SimError::Group { .. }), "{error}");
}
