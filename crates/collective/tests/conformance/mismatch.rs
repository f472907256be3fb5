//! Members that do not call the same operation: each of them gets an error with the members and their calls, none hangs,
//! and none gets a wrong value.

use std::collections::BTreeSet;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use corecast_base::sync::{AtomicUsize, Ordering};
use corecast_base::wait::Wait;
use corecast_collective::{Barrier, Error, Loss, Member};
use corecast_plan::Effort;

use crate::calls::{ALL, Call, SAME};
use crate::group;

/// Cases that run at a time: most of their members sleep.
const AT_A_TIME: usize = 24;
/// If no case ends within this time, those that run hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// Members that all make the calls of `others`, except for one.
#[derive(Clone)]
struct Case {
    members: usize,
    differs: usize,
    barrier: Barrier,
    wait: Wait,
    own: Call,
    others: Call,
}

impl Case {
    fn of(members: usize, differs: usize, own: Call, others: Call) -> Self {
        let barrier = Barrier::ALL[differs % Barrier::ALL.len()];
        Self { members, differs, barrier, wait: Wait::Park, own, others }
    }

    fn name(&self) -> String {
        let Self { members, differs, barrier, wait, own, others } = self;
        format!("{} at member {differs} of {members}, {} at the others, {barrier}, {wait}", own.0, others.0)
    }

    /// The error that each member gets: of its call, or of a barrier behind it if the call needs nothing from the one that
    /// differs.
    fn errors(&self) -> Vec<Result<(), Error>> {
        let group = group(self.members, |builder| builder.barrier(self.barrier).wait(self.wait).effort(Effort::Quick));
        let (differs, own, others) = (self.differs, self.own.1, self.others.1);
        let body = |me: &mut Member| {
            let call = if me.rank() == differs { own } else { others };
            call(me).and_then(|()| me.barrier())
        };
        group.run(body).unwrap_or_else(|error| panic!("{}: {error}", self.name()))
    }

    /// True if these are the calls of an error.
    fn is_told_by(&self, [differing, other]: [String; 2]) -> bool {
        let told = |call: Call| {
            let words: Vec<&str> = call.0.split(' ').collect();
            match words.last().and_then(|root| root.parse::<usize>().ok()) {
                Some(root) => format!("{} with root {root}", words[..words.len() - 1].join(" ")),
                None => words.join(" "),
            }
        };
        (differing, other) == (told(self.own), told(self.others))
    }

    fn check(&self) {
        let errors = self.errors();
        let first = errors[0];
        assert!(errors.iter().all(|error| *error == first), "{}: all are told the same: {errors:?}", self.name());
        let Err(Error::Mismatched { rank, called, other, expected }) = first else {
            panic!("{}: {errors:?}", self.name());
        };
        let calls = [called.to_string(), expected.to_string()];
        let is_told = match (rank == self.differs, other == self.differs) {
            (true, false) => self.is_told_by(calls),
            // The member that found it knew of one member of each kind only.
            (false, true) => {
                let [called, expected] = calls;
                self.is_told_by([expected, called])
            }
            _ => false,
        };
        assert!(is_told, "{}: {errors:?}", self.name());
    }
}

/// Runs `check` for all cases, many at a time. If one hangs, the test fails instead of lasting for ever.
fn for_all<C: Send + Sync + 'static>(cases: Vec<C>, name: fn(&C) -> String, check: fn(&C)) {
    let (cases, next, running) =
        (Arc::new(cases), Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(BTreeSet::new())));
    let (done, ends) = channel();
    let workers: Vec<_> = (0..AT_A_TIME)
        .map(|_| {
            let (cases, next, running) = (Arc::clone(&cases), Arc::clone(&next), Arc::clone(&running));
            let done = done.clone();
            thread::spawn(move || {
                // ORDERING: Relaxed, each number is had once whatever the order
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    running.lock().expect("nobody panics with the lock").insert(name(case));
                    check(case);
                    running.lock().expect("nobody panics with the lock").remove(&name(case));
                    done.send(()).expect("it is waited for");
                }
            })
        })
        .collect();
    drop(done);
    loop {
        match ends.recv_timeout(PATIENCE) {
            Ok(()) => {}
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("these hang: {:#?}", running.lock().expect("as above")),
        }
    }
    workers.into_iter().for_each(|worker| worker.join().expect("all cases are as they should be"));
}

fn check_all(cases: Vec<Case>) {
    for_all(cases, Case::name, Case::check);
}

/// All ordered pairs, each with another member that differs.
fn pairs(members: usize) -> Vec<Case> {
    let pairs = ALL.iter().flat_map(|&own| ALL.iter().map(move |&others| (own, others)));
    let differing = pairs.filter(|(own, others)| own.0 != others.0);
    differing.enumerate().map(|(i, (own, others))| Case::of(members, i % members, own, others)).collect()
}

#[test]
fn any_two_operations_among_two() {
    check_all(pairs(2));
}

#[test]
fn any_two_operations_among_three() {
    check_all(pairs(3));
}

#[test]
fn any_two_operations_among_five() {
    check_all(pairs(5));
}

#[test]
fn any_two_operations_among_eight() {
    check_all(pairs(8));
}

fn call(name: &str) -> Call {
    *ALL.iter().find(|call| call.0 == name).expect("the call of this name")
}

#[test]
fn any_barrier_and_way_to_wait_against_another_operation() {
    let against = ["allreduce", "broadcast 0", "broadcast 1", "reduce 0", "allreduce_slice", "two-phase commit 0"];
    let waits = [Wait::Adaptive, Wait::Yield, Wait::Park];
    let mut cases = Vec::new();
    for &barrier in Barrier::ALL {
        for (i, other) in against.into_iter().enumerate() {
            let (meeting, wait) = (call("barrier"), waits[i % waits.len()]);
            for members in [2, 3, 5] {
                cases.push(Case { barrier, wait, ..Case::of(members, i % members, meeting, call(other)) });
                cases.push(Case { barrier, wait, ..Case::of(members, i % members, call(other), meeting) });
            }
        }
    }
    check_all(cases);
}

/// Calls that complete at once at all members, as each of them only sends: whatever the barrier, it is the first to fail.
#[test]
fn any_barrier_behind_calls_that_nobody_waited_in() {
    let mut cases = Vec::new();
    for &barrier in Barrier::ALL {
        for (own, others) in [("broadcast 1", "broadcast 0"), ("reduce 0", "reduce 1"), ("reduce 0", "broadcast 0")] {
            cases.push(Case { barrier, ..Case::of(2, 1, call(own), call(others)) });
        }
    }
    check_all(cases);
}

#[test]
fn forms_of_one_operation_may_be_mixed() {
    let sizes = [2, 3, 5, 8];
    let cases =
        SAME.iter().flat_map(|&[a, b]| sizes.map(|members| [Case::of(members, 0, a, b), Case::of(members, 1, b, a)]));
    for_all(cases.flatten().collect(), Case::name, |case| {
        assert_eq!(case.errors(), vec![Ok(()); case.members], "{}", case.name());
    });
}

/// A value that was sent in an operation that the other member did not call is never taken for that of a later one.
#[test]
fn a_later_broadcast_does_not_get_the_value_of_an_earlier_one() {
    let group = group(2, |builder| builder);
    let results = group.run(|me| {
        let rank = me.rank();
        me.broadcast(rank, &mut 1u8)?;
        let mut value = if rank == 0 { 2u8 } else { 0 };
        me.broadcast(0, &mut value).map(|()| value)
    });
    let results = results.expect("nobody panics");
    let Err(error) = results[1] else { panic!("{results:?}") };
    assert_eq!(error.to_string(), "member 1 called broadcast with root 1 where member 0 called broadcast with root 0");
    // The root had sent it by then, or had got the error.
    assert!(results[0] == Ok(2) || results[0] == Err(error), "{results:?}");
    assert_eq!(group.join(0).map(drop), Err(error), "the group stays failed");
}

/// A root that only ever sends ends, too.
#[test]
fn a_root_that_runs_ahead_is_told() {
    let group = group(3, |builder| builder);
    let results = group.run(|me| {
        if me.rank() == 2 {
            return me.barrier();
        }
        loop {
            me.broadcast(0, &mut 1u8)?;
        }
    });
    let results = results.expect("nobody panics");
    let Err(error @ Error::Mismatched { .. }) = results[0] else { panic!("{results:?}") };
    assert_eq!(results, vec![Err(error); 3]);
}

/// One member calls an operation once more than the others.
#[test]
fn an_operation_too_many_is_told() {
    for &barrier in Barrier::ALL {
        let group = group(3, |builder| builder.barrier(barrier));
        let results = group.run(|me| {
            if me.rank() == 1 {
                me.reduce(0, (), |(), ()| ()).map(drop)?;
            }
            (0..3).try_for_each(|_| me.barrier())
        });
        let results = results.expect("nobody panics");
        let Err(error @ Error::Mismatched { .. }) = results[0] else { panic!("{barrier}: {results:?}") };
        assert_eq!(results, vec![Err(error); 3], "{barrier}");
    }
}

/// Its calls differ from those of the others, and it leaves before any of them looks: the error tells of the calls, and not
/// of the leaving.
#[test]
fn a_member_that_left_is_told_by_what_it_called() {
    let group = group(2, |builder| builder);
    let mut stays = group.join(0).expect("nobody has joined");
    let mut leaves = group.join(1).expect("nobody has joined");
    leaves.reduce(0, (), |(), ()| ()).map(drop).expect("a leaf only sends");
    drop(leaves);
    let error = stays.barrier().expect_err("nobody else calls it");
    assert_eq!(error.to_string(), "member 1 called reduce with root 0 where member 0 called barrier");
}

/// More operations than the logs hold lie between the call that differed and the one that finds it.
#[test]
fn a_call_of_long_ago_is_told_as_one() {
    let group = group(2, |builder| builder.barrier(Barrier::Flat));
    let [mut early, mut late] = [1, 0].map(|rank| group.join(rank).expect("nobody has joined"));
    // Opening a stream waits for no member.
    early.reduce(0, (), |(), ()| ()).map(drop).expect("a leaf only sends");
    for _ in 0..200 {
        std::mem::forget(early.atomic_stream().expect("nobody else has begun anything"));
    }
    late.broadcast(0, &mut ()).expect("the root only sends");
    let error = (0..200).find_map(|_| late.atomic_stream().map(std::mem::forget).err());
    assert!(matches!(error, Some(Error::MemberLost { loss: Loss::OutOfStep, .. })), "{error:?}");
}

/// Members that are all still there go on in a group of their own.
#[test]
fn a_group_that_failed_so_can_be_shrunk() {
    let group = group(3, |builder| builder);
    let sums = group.run(|me| {
        let rank = me.rank();
        let call = if rank == 0 { me.barrier() } else { me.allreduce(1, |a, b| a + b).map(drop) };
        assert!(
            matches!(call, Err(Error::Mismatched { rank: 0, .. } | Error::Mismatched { other: 0, .. })),
            "{call:?}"
        );
        let mut shrunk = me.shrink()?;
        assert!(shrunk.gone.is_empty());
        shrunk.me.allreduce(1, |a, b| a + b)
    });
    assert_eq!(sums.expect("nobody panics"), vec![Ok(3); 3]);
}
