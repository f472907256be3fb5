//! Every option of an instance, by transactions whose results do not depend on it.
#![cfg(not(loom))]

mod two_cpus;

use std::thread;

use corecast_base::CpuId;
use corecast_base::wait::Wait;
use corecast_lock::Algorithm;
use corecast_machine::{Cpu, Machine, Topology, pin};
use corecast_testing::skipped;
use corecast_tm::{Builder, Form, Participant, TBlock, TVar, Tm, Values, Writes};
use two_cpus::machine;

const ROUNDS: u64 = 100;
const VARS: usize = 80;

/// The variables of all participants.
struct World {
    /// All of them are counted up together.
    vars: Vec<TVar<u64>>,
    /// Words that are equal.
    block: TBlock<u64, 7>,
    /// A list of links that grows and shrinks.
    head: TVar<Option<TVar<u64>>>,
}

fn work(participant: &mut Participant, world: &World) {
    for round in 0..ROUNDS {
        participant
            .run(|tx| {
                for &var in &world.vars {
                    let value = tx.read(var)?;
                    tx.write(var, value + 1)?;
                    assert_eq!(tx.read(var)?, value + 1, "its own write");
                }
                Ok(())
            })
            .expect("nobody dies");
        participant
            .run(|tx| {
                let words = tx.read_block_for_update(world.block)?;
                assert_eq!(words, [words[0]; 7], "an opaque view");
                tx.write_block(world.block, words.map(|word| word + 1))
            })
            .expect("nobody dies");
        participant
            .run(|tx| {
                let words = tx.read_block(world.block)?;
                assert_eq!(words, [words[0]; 7], "an opaque view");
                tx.release_block(world.block)
            })
            .expect("nobody dies");
        exchange(participant, world, round);
    }
}

/// Puts a fresh variable in the place of the last one, which is freed, and reads along the way without locks.
fn exchange(participant: &mut Participant, world: &World, round: u64) {
    participant
        .run(|tx| {
            let seen = tx.read_unlocked(world.head)?;
            let last = tx.read_for_update(world.head)?;
            tx.validate()?;
            assert_eq!(seen, last, "it was validated");
            if let Some(last) = last {
                let _value = tx.read(last)?;
                tx.free(last)?;
            }
            let next = tx.new_var(round)?;
            assert_eq!(tx.read(next)?, round);
            tx.write(world.head, Some(next))
        })
        .expect("nobody dies, and what is freed is used again");
}

fn check(builder: Builder<'_>) {
    let tm = builder.variables(256).build().expect("memory");
    let vars = (0..VARS).map(|_| tm.new_var(0).expect("room")).collect();
    let world = World { vars, block: tm.new_block([0; 7]).expect("room"), head: tm.new_var(None).expect("room") };
    let sums = tm.run_threads(|mut participant| {
        work(&mut participant, &world);
        let var = participant.run(|tx| tx.read(world.vars[VARS - 1])).expect("nobody dies");
        assert!(var >= ROUNDS && participant.load(world.vars[VARS - 1]).expect("nobody dies") >= var);
        participant.run(|tx| {
            let words = tx.read_block(world.block)?;
            Ok((words[0], tx.read(world.vars[0])?))
        })
    });
    let sums = sums.expect("threads");
    let all = ROUNDS * sums.len() as u64;
    assert!(sums.contains(&Ok((all, all))), "the last one sees the work of all: {sums:?}");
}

#[test]
fn lazy_and_eager_writes_with_values_here_and_at_servers() {
    let machine = machine();
    for values in [Values::InMemory, Values::AtServers] {
        for writes in [Writes::Lazy, Writes::Eager] {
            for is_batched in [false, true] {
                let builder = Tm::builder(&machine).participants(4).form(Form::Messages).batched(is_batched);
                check(builder.values(values).writes(writes).servers_every(2 + usize::from(is_batched)));
            }
        }
    }
}

#[test]
fn the_shared_form_with_every_lock() {
    let machine = machine();
    for &lock in Algorithm::ALL {
        check(Tm::builder(&machine).participants(3).form(Form::Shared).lock(lock).writes(Writes::Eager));
    }
}

#[test]
fn every_way_of_waiting_with_more_participants_than_cpus() {
    let machine = machine();
    for wait in [Wait::Adaptive, Wait::Yield, Wait::Park] {
        check(Tm::builder(&machine).participants(7).form(Form::Messages).wait(wait).neighbours(2));
    }
}

#[test]
fn more_than_sixty_four_participants() {
    let machine = machine();
    for form in [Form::Messages, Form::Shared] {
        let tm = Tm::builder(&machine).participants(100).servers_every(20).form(form).build().expect("memory");
        let sum = tm.new_var(0u32).expect("room");
        let added = tm.run_threads(|mut participant| {
            (0..5).try_for_each(|_| participant.run(|tx| tx.read(sum).and_then(|now| tx.write(sum, now + 1))))
        });
        let added = added.expect("threads");
        assert!(added.iter().all(Result::is_ok));
        assert_eq!(tm.load(sum), Ok(5 * added.len() as u32));
    }
}

#[test]
fn the_form_that_is_chosen_comes_with_its_reason() {
    let machine = machine();
    let tm = Tm::builder(&machine).participants(3).form(Form::Auto).build().expect("memory");
    let choice = tm.choice().expect("it was chosen");
    assert_eq!(choice.form, tm.form());
    assert!(choice.why.starts_with("by a race of transfers: "), "{choice}");
    check(Tm::builder(&machine).participants(3).form(Form::Auto));
    let among_processes = Tm::builder(&machine).participants(3).form(Form::Auto).create().expect("memory");
    assert!(among_processes.choice().expect("it was chosen").why.starts_with("by a race of transfers: "));
    let at_servers = Tm::builder(&machine).form(Form::Auto).values(Values::AtServers).build().expect("memory");
    assert_eq!(at_servers.form(), Form::Messages);
    let alone = Tm::builder(&machine).participants(1).form(Form::Auto).build().expect("memory");
    assert_eq!((alone.form(), alone.servers()), (Form::Shared, 0));
}

#[test]
fn participants_have_cpus_where_there_are_as_many() {
    let machine = machine();
    let tm = Tm::builder(&machine).participants(2).build().expect("memory");
    assert!((0..2).all(|id| tm.cpu(id).is_some()) && tm.cpu(2).is_none());
    let many = Tm::builder(&machine).participants(5).build().expect("memory");
    assert!((0..5).all(|id| many.cpu(id).is_none()));
    // Each process finds the same ones.
    for form in [Form::Messages, Form::Shared] {
        let among_processes = Tm::builder(&machine).participants(2).form(form).create().expect("memory");
        let attached = Tm::attach_fd(among_processes.share().expect("/proc is there")).expect("the same instance");
        let threads = Tm::builder(&machine).participants(2).form(form).build().expect("memory");
        let cpus = [&among_processes, &attached, &threads].map(|tm| [0, 1, 2].map(|id| tm.cpu(id)));
        assert!(cpus[0][0].is_some() && cpus[0] == cpus[1] && cpus[0] == cpus[2], "{cpus:?}");
    }
}

/// The thread that makes the instance is bound, and the machine has CPUs which this process may not use.
#[test]
fn participants_do_not_share_a_cpu_that_they_are_bound_to() {
    let here = pin::affinity().expect("a mask");
    let [first, second, ..] = *here.as_slice() else {
        return skipped("participants on CPUs of their own", "this process may use one CPU only");
    };
    let cpus = |tm: &Tm| (0..tm.participants()).map(|id| tm.cpu(id)).collect::<Vec<_>>();
    let machine = |cpus: &[CpuId]| {
        let cpus = cpus.iter().map(|&cpu| Cpu::flat(cpu)).collect();
        Machine::from_topology(&Topology { cpus, ..Topology::default() })
    };
    let make = |machine: &Machine, participants| {
        Tm::builder(machine).participants(participants).form(Form::Shared).build().expect("memory")
    };
    thread::spawn(move || {
        pin::pin(first).expect("it may run here").forever();
        let mut both = cpus(&make(&machine(&[first, second]), 2));
        both.sort();
        assert_eq!(both, [Some(first), Some(second)]);
    })
    .join()
    .expect("no panic");
    let absent = CpuId::new(1000);
    assert_eq!(cpus(&make(&machine(&[first, second, absent]), 3)), [None; 3]);
}

#[test]
fn single_variables_are_changed_outside_transactions() {
    let machine = machine();
    let shared = Tm::builder(&machine).participants(3).form(Form::Shared);
    let messages =
        [Values::InMemory, Values::AtServers].map(|values| Tm::builder(&machine).participants(4).values(values));
    for builder in messages.into_iter().chain([shared]) {
        let tm = builder.variables(16).build().expect("memory");
        let (count, last) = (tm.new_var(0u64).expect("room"), tm.new_var(-1i32).expect("room"));
        let servers = tm.servers();
        let told = tm.run_threads(|mut participant| {
            let mut olds = Vec::new();
            for round in 0..ROUNDS {
                olds.push(participant.fetch_add(count, 2).expect("nobody dies"));
                // Transactions see the changes, and their own come before later ones.
                let sum = participant.run(|tx| {
                    let sum = tx.read_for_update(count)? + 1;
                    tx.write(count, sum)?;
                    Ok(sum)
                });
                assert!(sum.expect("nobody dies") > olds[round as usize] + 2);
            }
            let before = participant.swap(last, participant.id().0.into()).expect("nobody dies");
            let asked: u64 = (0..servers).map(|at| participant.server_counts(at).expect("it lives").requests).sum();
            assert!(servers == 0 && asked == 0 || asked >= 2 * ROUNDS, "{asked}");
            (olds, before, participant.load(count).expect("nobody dies"))
        });
        let told = told.expect("threads");
        let mut olds: Vec<u64> = told.iter().flat_map(|(olds, ..)| olds.clone()).collect();
        let most = told.iter().map(|(.., sum)| *sum).max();
        assert_eq!(most, Some(3 * olds.len() as u64));
        olds.sort_unstable();
        olds.dedup();
        assert_eq!(olds.len() as u64, ROUNDS * told.len() as u64, "each addition found another value");
        let firsts = told.iter().filter(|(_, before, _)| *before == -1).count();
        assert_eq!(firsts, 1, "one of them was the first to store");
    }
}

/// Blocks that were read before they are written: each word of theirs is written down by itself.
#[test]
fn a_commit_asks_for_each_lock_once() {
    const BLOCKS: usize = 6;
    let machine = machine();
    for form in [Form::Messages, Form::Shared] {
        let tm = Tm::builder(&machine).participants(2).form(form).variables(64).build().expect("memory");
        let blocks: Vec<TBlock<u64, 2>> = (0..BLOCKS).map(|_| tm.new_block([0; 2]).expect("room")).collect();
        let counts = tm.run_threads(|mut participant| {
            if participant.id().0 == 0 {
                return 0;
            }
            let changed = participant.run(|tx| {
                let values: Result<Vec<_>, _> = blocks.iter().map(|block| tx.read_block(*block)).collect();
                let mut written = blocks.iter().zip(values?);
                written.try_for_each(|(block, value)| tx.write_block(*block, value.map(|word| word + 1)))
            });
            changed.expect("nobody is in the way");
            participant.counts().requests
        });
        // All of them fit in one message.
        let claims = if form == Form::Messages { 1 } else { BLOCKS };
        assert_eq!(counts.expect("threads").into_iter().max(), Some((BLOCKS + claims) as u64), "{form}");
    }
}
