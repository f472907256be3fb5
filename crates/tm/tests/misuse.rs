//! Mistakes of users, and the answers of an instance.
#![cfg(not(loom))]

mod two_cpus;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use corecast_base::sync::{AtomicU32, Ordering};
use corecast_tm::{Builder, Form, Manager, OpenError, Participant, Role, RunError, Tm, Values};
use two_cpus::machine;

fn application(tm: &Tm, id: usize) -> Participant {
    match tm.participant(id).expect("it is free") {
        Role::Application(participant) => participant,
        other => panic!("{other:?}"),
    }
}

/// Runs `work` with the first two applications of an instance, whose servers serve.
fn with_two(tm: &Tm, work: impl FnOnce(Participant, Participant)) {
    let mut roles: Vec<_> = (0..tm.participants()).map(|id| tm.participant(id).expect("it is free")).collect();
    thread::scope(|scope| {
        let mut applications = Vec::new();
        for role in roles.drain(..) {
            match role {
                Role::Server(server) => drop(scope.spawn(|| server.serve())),
                Role::Application(participant) => applications.push(participant),
                other => panic!("{other:?}"),
            }
        }
        let second = applications.pop().expect("two");
        let first = applications.pop().expect("two");
        drop(applications);
        work(first, second);
    });
}

fn both_forms(check: impl Fn(Builder<'_>)) {
    let machine = machine();
    check(Tm::builder(&machine).participants(2).form(Form::Shared));
    check(Tm::builder(&machine).participants(3).form(Form::Messages));
}

#[test]
fn variables_of_another_instance_and_beyond_the_memory_are_refused() {
    both_forms(|builder| {
        let tm = builder.clone().variables(16).build().expect("memory");
        let other = builder.variables(1 << 10).build().expect("memory");
        let foreign = other.new_var(1u32).expect("room");
        let beyond = other.var::<u32>(1000).expect("there is room for it");
        assert_eq!(tm.load(foreign), Err(RunError::Foreign { index: 0 }));
        assert_eq!(tm.var::<u32>(16), Err(RunError::Beyond { index: 16, variables: 16 }));
        assert_eq!(tm.block::<u32, 4>(13), Err(RunError::Beyond { index: 13, variables: 16 }));
        with_two(&tm, |mut first, _second| {
            assert_eq!(first.run(|tx| tx.read(foreign)), Err(RunError::Foreign { index: 0 }));
            assert_eq!(first.run(|tx| tx.write(beyond, 1)), Err(RunError::Foreign { index: 1000 }));
            // One that is told of it and goes on all the same.
            let swallowed = first.run(|tx| Ok(tx.read(foreign).is_ok()));
            assert_eq!(swallowed, Err(RunError::Foreign { index: 0 }));
        });
    });
}

#[test]
fn transactions_do_not_nest() {
    both_forms(|builder| {
        let tm = builder.build().expect("memory");
        let var = tm.new_var(1u32).expect("room");
        with_two(&tm, |mut first, mut second| {
            let nested = catch_unwind(AssertUnwindSafe(|| {
                first.run(|tx| {
                    let value = tx.read_for_update(var)?;
                    let _never = second.run(|tx| tx.read(var));
                    Ok(value)
                })
            }));
            let panic = nested.expect_err("a rule was broken");
            let said = panic.downcast_ref::<&str>().expect("a sentence");
            assert!(said.starts_with("transactions do not nest"), "{said}");
            assert_eq!(second.run(|tx| tx.read(var)), Ok(1), "the lock was given back");
        });
    });
}

#[test]
fn a_closure_that_panics_gives_all_back() {
    both_forms(|builder| {
        let tm = builder.variables(2).build().expect("memory");
        let var = tm.new_var(1u32).expect("room");
        with_two(&tm, |mut first, mut second| {
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                first.run::<()>(|tx| {
                    tx.new_var(5u32)?;
                    tx.read_for_update(var)?;
                    tx.write(var, 2)?;
                    panic!("on purpose")
                })
            }));
            assert!(panicked.is_err());
            let added = |participant: &mut Participant| {
                participant.run(|tx| {
                    let value = tx.read_for_update(var)?;
                    tx.write(var, value + 10)?;
                    tx.new_var(value).and_then(|new| tx.free(new))
                })
            };
            assert_eq!(
                (added(&mut first), added(&mut second).is_ok()),
                (Ok(()), false),
                "the one spare variable is with the first"
            );
            assert_eq!(tm.load(var), Ok(11));
        });
    });
}

/// Waits until the flag is up.
fn wait_for(flag: &AtomicU32) {
    // ORDERING: Relaxed, the flag publishes nothing but itself
    while flag.load(Ordering::Relaxed) == 0 {
        thread::yield_now();
    }
}

fn raise(flag: &AtomicU32) {
    // ORDERING: Relaxed, the flag publishes nothing but itself
    flag.store(1, Ordering::Relaxed);
}

#[test]
fn a_closure_that_does_not_return_loses_its_locks_to_one_that_beats_it() {
    both_forms(|builder| {
        let tm = builder.manager(Manager::Wholly).build().expect("memory");
        let var = tm.new_var(0u32).expect("room");
        let add = |participant: &mut Participant, amount, amid: &(dyn Fn() + Sync)| {
            participant.run(|tx| {
                let value = tx.read_for_update(var)?;
                amid();
                tx.write(var, value + amount)
            })
        };
        with_two(&tm, |mut first, mut second| {
            // The one with fewer transactions wins.
            assert_eq!(add(&mut first, 1, &|| ()), Ok(()));
            let (is_held, has_lost) = (AtomicU32::new(0), AtomicU32::new(0));
            thread::scope(|scope| {
                scope.spawn(|| {
                    let stays = || {
                        raise(&is_held);
                        wait_for(&has_lost);
                    };
                    assert_eq!(add(&mut first, 10, &stays), Ok(()));
                });
                wait_for(&is_held);
                assert_eq!(add(&mut second, 100, &|| ()), Ok(()), "nobody waits for a closure");
                raise(&has_lost);
            });
            assert_eq!((tm.load(var), first.counts().aborts()), (Ok(111), 1));
        });
    });
}

#[test]
fn a_full_memory_ends_the_run_and_nothing_else() {
    both_forms(|builder| {
        let tm = builder.variables(8).build().expect("memory");
        let sum = tm.new_var(0u64).expect("room");
        with_two(&tm, |mut first, _second| {
            let full = Err(RunError::Full { variables: 8 });
            let too_many = first.run(|tx| {
                tx.write(sum, 1)?;
                (0..9).try_for_each(|_| tx.new_var(0u8).map(|_| ()))
            });
            assert_eq!(too_many, full);
            assert_eq!(tm.load(sum), Ok(0));
            // The variables that it had taken are free again.
            assert_eq!(first.run(|tx| (0..7).try_for_each(|_| tx.new_var(0u8).map(|_| ()))), Ok(()));
            assert_eq!(first.run(|tx| tx.new_block([0u8; 7])).map(|_| ()), full);
        });
    });
}

#[test]
fn an_abort_of_another_attempt_is_an_error() {
    both_forms(|builder| {
        let tm = builder.build().expect("memory");
        let other = Tm::builder(&machine()).participants(1).form(Form::Shared).build().expect("memory");
        let (var, foreign) = (tm.new_var(1u32).expect("room"), other.new_var(1u32).expect("room"));
        with_two(&tm, |mut first, _second| {
            let mut kept = None;
            let _foreign = first.run(|tx| {
                kept = tx.read(foreign).err();
                tx.read(var)
            });
            let kept = kept.expect("it was refused");
            assert_eq!(first.run(|_| Err::<(), _>(kept)), Err(RunError::StrayAbort));
            assert_eq!(first.run(|tx| tx.read(var)), Ok(1));
        });
    });
}

#[test]
fn impossible_choices_are_named() {
    let machine = machine();
    let refused = |builder: Builder<'_>| builder.build().expect_err("it is impossible");
    let builder = || Tm::builder(&machine).form(Form::Messages).participants(6);
    for every in [0, 1, 7] {
        let error = refused(builder().servers_every(every));
        let expected = format!("one server for every {every} of 6 participants, expected 2 to 6");
        assert_eq!(error.to_string(), expected);
    }
    for every in 2..=6 {
        assert_eq!(builder().servers_every(every).build().expect("possible").servers(), 6usize.div_ceil(every));
    }
    assert!(matches!(refused(builder().participants(1)), OpenError::Participants(1)));
    assert!(matches!(refused(builder().participants(1025)), OpenError::Participants(1025)));
    assert!(matches!(refused(builder().variables(0)), OpenError::Variables(0)));
    let error = refused(builder().form(Form::Shared).values(Values::AtServers));
    assert!(matches!(error, OpenError::Options(_)), "{error}");
}

/// Far more than are needed to be told that the servers end.
const MANY_ROUNDS: usize = 1_000_000;

#[test]
fn servers_stop_though_requests_go_on() {
    both_values(|tm| {
        let var = tm.new_var(1u32).expect("room");
        let mut participant = application(tm, 1);
        let Ok(Role::Server(server)) = tm.participant(0) else { panic!("0 is a server") };
        let is_busy = AtomicU32::new(0);
        thread::scope(|scope| {
            let serving = scope.spawn(|| server.serve());
            let asking = scope.spawn(|| {
                (0..MANY_ROUNDS).find_map(|_| {
                    let error = participant.ping(0).and_then(|()| participant.run(|tx| tx.read(var))).err();
                    raise(&is_busy);
                    error
                })
            });
            wait_for(&is_busy);
            tm.stop();
            assert_eq!(asking.join().expect("no panic"), Some(RunError::Stopped));
            serving.join().expect("no panic").expect("no forked child");
        });
    });
    // A server whose client never looks.
    both_values(|tm| {
        let mut participant = application(tm, 1);
        let Ok(Role::Server(server)) = tm.participant(0) else { panic!("0 is a server") };
        tm.stop();
        thread::scope(|scope| {
            scope.spawn(|| server.serve());
            let error = (0..MANY_ROUNDS).find_map(|_| participant.ping(0).err());
            assert_eq!(error, Some(RunError::Stopped));
        });
    });
}

/// An instance of one server and one application, with values here and there.
fn both_values(check: impl Fn(&Tm)) {
    let machine = machine();
    for values in [Values::InMemory, Values::AtServers] {
        let builder = Tm::builder(&machine).participants(2).form(Form::Messages).values(values);
        check(&builder.build().expect("memory"));
    }
}

#[test]
fn a_reply_that_comes_late_answers_no_other_request() {
    let machine = machine();
    let builder = Tm::builder(&machine).participants(2).form(Form::Messages).values(Values::AtServers);
    let tm = builder.build().expect("memory");
    let vars = [1u32, 2].map(|value| tm.new_var(value).expect("room"));
    let mut participant = application(&tm, 1);
    let Ok(Role::Server(server)) = tm.participant(0) else { panic!("0 is a server") };
    tm.stop();
    assert_eq!(participant.load(vars[0]), Err(RunError::Stopped), "nobody serves");
    thread::scope(|scope| {
        scope.spawn(|| server.serve());
        assert_eq!(participant.load(vars[1]), Err(RunError::Stopped));
    });
}

#[test]
fn servers_that_are_stopped_end_transactions() {
    let machine = machine();
    let tm = Tm::builder(&machine).participants(2).form(Form::Messages).build().expect("memory");
    let var = tm.new_var(1u32).expect("room");
    let mut participant = application(&tm, 1);
    let Ok(Role::Server(server)) = tm.participant(0) else { panic!("0 is a server") };
    thread::scope(|scope| {
        let serving = scope.spawn(|| server.serve());
        assert_eq!(participant.run(|tx| tx.read(var)), Ok(1));
        tm.stop();
        let counts = serving.join().expect("no panic").expect("no forked child");
        assert_eq!((counts.granted, counts.refused), (1, 0));
        assert_eq!(participant.run(|tx| tx.read(var)), Err(RunError::Stopped));
    });
}
