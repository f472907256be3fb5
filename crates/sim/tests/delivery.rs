//! Every barrier and every channel moves data right in the simulated world, among few threads and many.

use std::rc::Rc;

use corecast_base::CacheLine;
use corecast_base::sync::{Arc, AtomicU64, Ordering};
use corecast_channel::mcast;
use corecast_collective::{Barrier, Group, Member};
use corecast_plan::Effort;
use corecast_sim::machine::{Machine, Preemption, Run, Thread, published};
use corecast_sim::{Channel, Pair, Relay, Server, alone, messages, model, pairs_by_distance, relay, server};

const ROUNDS: u64 = 3;
const LIMIT_NS: u64 = 1_000_000_000;

/// Of each member two lines that it writes in turns.
type Lines = Arc<Vec<[CacheLine<AtomicU64>; 2]>>;

fn value(round: u64, rank: usize, seed: u64) -> u64 {
    (round * 1000 + rank as u64).wrapping_mul(2 * seed + 1)
}

/// Writes before each barrier, and reads behind it what all others have written.
fn write_and_look(me: &Thread, member: &mut Member, lines: &Lines, seed: u64) {
    let rank = member.rank();
    for round in 0..ROUNDS {
        me.work_ns(value(round, rank, seed) % 997);
        let place = round as usize % 2;
        // ORDERING: Relaxed, the barrier orders it
        lines[rank][place].store(value(round, rank, seed), Ordering::Relaxed);
        member.barrier().expect("no member leaves");
        for (other, theirs) in lines.iter().enumerate() {
            // ORDERING: Relaxed, the barrier orders it
            assert_eq!(
                theirs[place].load(Ordering::Relaxed),
                value(round, other, seed),
                "member {other} in round {round}"
            );
        }
    }
}

/// Threads are stopped at one access in 50, for up to half a millisecond, and share half as many CPUs, for each seed above this.
const CALM_SEEDS: u64 = 100;

/// The CPU of a thread of this many, and the stops of the run.
fn disturb(run: &mut Run, machine: &Machine, seed: u64) -> impl Fn(usize) -> usize + use<> {
    let is_calm = seed <= CALM_SEEDS;
    if !is_calm {
        run.preempt(Preemption::Randomly { seed, one_in: 50, longest: machine.ticks(500_000) });
    }
    move |thread| if is_calm { thread } else { thread / 2 }
}

fn check_barrier(machine: &Machine, barrier: Option<Barrier>, members: usize, seeds: std::ops::Range<u64>) {
    let _alone = alone();
    let model = model(machine);
    let builder = Group::builder(&model).members(members).pin(true).effort(Effort::Quick);
    let builder = builder.plan_folder(None).race_folder(None);
    let builder = barrier.into_iter().fold(builder, |builder, barrier| builder.barrier(barrier));
    let group = builder.build().expect("a group");
    for seed in seeds {
        let line = || CacheLine::new(AtomicU64::new(u64::MAX));
        let lines: Lines = Arc::new((0..members).map(|_| [line(), line()]).collect());
        let mut run = Run::new(machine);
        let cpu_of = disturb(&mut run, machine, seed);
        for rank in 0..members {
            let mut member = Box::new(group.join(rank).expect("it is free"));
            let lines = Arc::clone(&lines);
            let body = move |me: &Thread| write_and_look(me, &mut member, &lines, seed);
            run.spawn(cpu_of(rank), 0, body).expect("there is memory");
        }
        run.finish(machine.ticks(LIMIT_NS))
            .unwrap_or_else(|error| panic!("{barrier:?}, {members}, seed {seed}: {error}"));
    }
}

fn all_barriers() -> impl Iterator<Item = Option<Barrier>> {
    [None].into_iter().chain(Barrier::ALL.iter().copied().map(Some))
}

#[test]
fn every_barrier_orders_what_its_members_write() {
    let machine = published::opteron_4x12();
    for barrier in all_barriers() {
        [2, 3, 8, 13].into_iter().for_each(|members| check_barrier(&machine, barrier, members, 1..3));
    }
}

#[test]
fn every_barrier_does_where_members_are_stopped_and_share_cpus() {
    let machine = published::opteron_4x12();
    for barrier in all_barriers() {
        [2, 3, 8].into_iter().for_each(|members| check_barrier(&machine, barrier, members, 101..105));
    }
}

#[test]
fn every_barrier_does_among_48_members() {
    let machine = published::xeon_8x10();
    all_barriers().for_each(|barrier| check_barrier(&machine, barrier, 48, 1..2));
}

#[test]
fn every_channel_carries_messages_between_any_two_cpus() {
    for machine in [published::opteron_4x12(), published::xeon_8x10()] {
        for (one, other) in pairs_by_distance(&machine) {
            for (&channel, seed) in Channel::ALL.iter().flat_map(|channel| [(channel, 1), (channel, 2)]) {
                for (sender, receiver) in [(one, other), (other, one)] {
                    let pair = Pair { sender, receiver, warm_up: 0, messages: 150, seed, ..Pair::default() };
                    messages(&machine, channel, pair).unwrap_or_else(|error| panic!("{}: {error}", channel.name()));
                }
            }
        }
    }
}

#[test]
fn every_channel_carries_messages_round_threads() {
    let machine = published::opteron_4x12();
    for &channel in Channel::ALL {
        for (threads, seed) in [(2, 1), (2, 2), (3, 3), (8, 4), (17, 5), (48, 6), (48, 7)] {
            let round = Relay { threads, rounds: 12, messages: 7, pause_ns: 400, seed };
            relay(&machine, channel, round).unwrap_or_else(|error| panic!("{}, {round:?}: {error}", channel.name()));
        }
    }
}

#[test]
fn a_server_hears_all_clients() {
    let machine = published::xeon_8x10();
    for clients in [1, 2, 9, 47] {
        for (answers, clears_slots) in [(false, false), (false, true), (true, false), (true, true)] {
            let clients = (1..=clients).collect();
            let setting = Server { clients, answers, clears_slots, warm_up: 5, messages: 100, ..Server::default() };
            let outcome = server(&machine, &setting).unwrap_or_else(|error| panic!("{setting:?}: {error}"));
            assert!(outcome.mops > 0.0, "{setting:?}");
        }
    }
}

/// Numbers that one sender sends to many readers, through a ring that is shorter than the stream.
#[test]
fn a_multicast_reaches_all_readers_in_order() {
    const MESSAGES: u64 = 200;
    let machine = published::opteron_4x12();
    for (threads, seed) in [(2, 1), (3, 2), (9, 3), (48, 4), (48, 5), (2, 101), (3, 102), (9, 103)] {
        let _alone = alone();
        let (mut sender, source) = mcast::channel::<[u64; 6]>(16);
        let mut run = Run::new(&machine);
        let cpu_of = disturb(&mut run, &machine, seed);
        let sums = Rc::new(std::cell::Cell::new(0));
        for cpu in 1..threads {
            let (reader, sums) = (source.subscribe().expect("there is room"), Rc::clone(&sums));
            let read = move |me: &Thread| {
                for number in 0..MESSAGES {
                    let message = *reader.recv().expect("the sender stays");
                    assert_eq!(message, [value(number, 0, seed); 6], "message {number}");
                    me.work_ns(value(number, cpu, seed) % 300);
                    sums.set(sums.get() + 1);
                }
            };
            run.spawn(cpu_of(cpu), 0, read).expect("there is memory");
        }
        let send = move |_: &Thread| {
            (0..MESSAGES).for_each(|number| sender.send([value(number, 0, seed); 6]).expect("readers stay"));
        };
        run.spawn(cpu_of(0), 0, send).expect("there is memory");
        run.finish(machine.ticks(LIMIT_NS)).expect("all readers hear all");
        assert_eq!(sums.get(), MESSAGES * (threads as u64 - 1));
    }
}
