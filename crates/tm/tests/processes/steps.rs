//! Participants that are killed after their machine instructions, one by one: in a commit, also in one that takes locks away
//! from another one or that makes and frees words, while they join, while they settle the death of another one, and while they
//! serve.
//!
//! A forked child makes one call under `ptrace`, is killed amid it, and the others look at what they get. In shared memory the
//! tests try each step that changes the memory of the instance, and some between; of a conflict every second of these, by
//! messages every fifth, and all with `CORECAST_MODEL_LONG`. Steps between change the child's own memory, which is gone, or a
//! channel, whose tests try each of its steps. Of a call that is longer than [`LONGEST`] only the beginning is tried, and the
//! test prints that.

#![allow(clippy::print_stderr, reason = "the numbers of steps")]

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use corecast_base::PlaceSlice;
use corecast_base::region::SharedRegion;
use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::wait::Wait;
use corecast_machine::Machine;
use corecast_testing::skipped;
use corecast_testing::stepped::{Child, WHOLE, stop_here};
use corecast_tm::{Builder, ClientId, Form, Manager, Participant, RunError, TVar, Tm, Values, Writes};

use super::{
    ACCOUNTS, FIRST, OTHER, application, beside_servers, builder, find_accounts, machine, open_accounts, play_round,
    server, total,
};

/// The instructions of a call that are looked at one by one.
const LONGEST: u64 = 30_000;
/// The account that gets one by the call that is interrupted, the second one of its participant.
const TOUCHED: usize = 4;

/// As few variables as there can be: all of the memory is looked at after each step.
fn small<'a>(machine: &'a Machine, form: Form) -> Builder<'a> {
    builder(machine, form).variables(ACCOUNTS as usize).log_entries(4)
}

/// A process without threads, which attaches to the instance.
fn child(tm: &Tm, play: impl FnOnce(&Tm)) -> Option<Child> {
    let fd = tm.share().expect("/proc is there");
    Child::start(|| play(&Tm::attach_fd(fd).expect("the instance lives")))
}

/// The memory of an instance, and its words as they were.
struct Watch {
    words: PlaceSlice<AtomicU64>,
    seen: Vec<u64>,
}

impl Watch {
    fn new(tm: &Tm) -> Self {
        let region = SharedRegion::from_fd(tm.share().expect("/proc is there")).expect("it lives");
        let section = region.section(&region.entry("tm").expect("its memory"));
        let words = section.words(0, section.len() / 8).expect("all of it");
        let mut watch = Self { words, seen: Vec::new() };
        watch.seen = watch.look().collect();
        watch
    }

    fn look(&self) -> impl Iterator<Item = u64> + '_ {
        // ORDERING: Relaxed, the child is stopped or dead, and servers do not write here
        self.words.iter().map(|word| word.load(Ordering::Relaxed))
    }

    /// Whether a word has another value than at the last call.
    fn has_changed(&mut self) -> bool {
        let has_changed = self.look().ne(self.seen.iter().copied());
        if has_changed {
            self.seen = self.look().collect();
        }
        has_changed
    }
}

/// The distance of the changes of memory that are tried, and the number of other steps. A call by messages takes ten times as
/// many steps as one in shared memory; `ci/tm-long.sh` has all changes tried.
fn shares(form: Form) -> (usize, u64) {
    let usual = if form == Form::Shared { (1, 4) } else { (5, 2) };
    or_all(usual)
}

fn or_all(usual: (usize, u64)) -> (usize, u64) {
    if std::env::var_os("CORECAST_MODEL_LONG").is_some() { (1, 24) } else { usual }
}

/// The numbers of steps after which to kill: 0, those that change the memory of the instance, others at regular distances, and
/// the whole call.
fn steps_that_matter(tm: &Tm, child: &Child, (every, others): (usize, u64)) -> Vec<u64> {
    let (mut watch, mut changes, mut count) = (Watch::new(tm), Vec::new(), 0);
    while count < LONGEST && child.step() {
        count += 1;
        if watch.has_changed() {
            changes.push(count);
        }
    }
    let more = if count == LONGEST { ", and more that are not tried" } else { "" };
    eprintln!("{count} instructions, {} change the memory{more}", changes.len());
    let regular = (0..count).step_by((count / others).max(1) as usize);
    let mut steps: Vec<u64> = regular.chain(changes.into_iter().step_by(every)).chain([WHOLE]).collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

/// Joins, plays a round, and is ready for the next one, which moves one to [`TOUCHED`].
fn transfer(tm: &Tm) {
    let (mut participant, accounts) = (application(tm, OTHER), find_accounts(tm));
    play_round(&mut participant, &accounts, 0).expect("nobody dies");
    stop_here();
    let played = play_round(&mut participant, &accounts, 1);
    stop_here();
    assert_eq!(played, Ok(()));
}

/// Checks what a participant finds after another one was killed, and goes on. Tells whether the call has happened.
#[track_caller]
fn has_happened(participant: &mut Participant, accounts: &[TVar<i64>]) -> Result<bool, RunError> {
    assert_eq!(total(participant, accounts)?, FIRST * i64::from(ACCOUNTS));
    let happened = participant.run(|tx| tx.read(accounts[TOUCHED]))? != FIRST;
    (0..16).try_for_each(|round| play_round(participant, accounts, round))?;
    assert_eq!(total(participant, accounts)?, FIRST * i64::from(ACCOUNTS));
    Ok(happened)
}

/// Calls `step` with a child that stands before its commit, while the participant has the locks of all accounts: the child has to
/// take them away. The child is killed after that.
fn opposed<R>(
    participant: &mut Participant,
    accounts: &[TVar<i64>],
    child: Child,
    step: impl FnOnce(&Child) -> R,
) -> R {
    let (mut first, mut result) = (Some((child, step)), None);
    let read = participant.run(|tx| {
        // Once it was aborted it only ends.
        let Some((child, step)) = first.take() else { return Ok(()) };
        accounts.iter().try_for_each(|account| tx.read_for_update(*account).map(drop))?;
        result = Some(step(&child));
        Ok(())
    });
    read.expect("its locks are those of a live process");
    result.expect("nobody else wants an account")
}

/// Kills a participant at the steps of a commit for which it takes locks away from another one, which has more commits.
fn conflicts(participants: usize) -> Option<Vec<Result<bool, RunError>>> {
    let machine = machine();
    let make = || {
        let tm = small(&machine, Form::Shared).participants(participants).manager(Manager::Wholly).create();
        let tm = tm.expect("memory");
        let (accounts, mut participant) = (open_accounts(&tm), application(&tm, 1));
        for _ in 0..4 {
            participant.run(|tx| tx.read(accounts[0])).expect("nobody dies");
        }
        let child = child(&tm, transfer)?;
        Some((tm, accounts, participant, child))
    };
    let (tm, accounts, mut participant, child) = make()?;
    let steps = opposed(&mut participant, &accounts, child, |child| steps_that_matter(&tm, child, or_all((2, 2))));
    assert_eq!(participant.counts().aborts(), 1, "the child has won");
    let after = |&steps: &u64| {
        let (_tm, accounts, mut participant, child) = make().expect("there was one before");
        opposed(&mut participant, &accounts, child, |child| child.take_steps(steps));
        has_happened(&mut participant, &accounts)
    };
    Some(steps.iter().map(after).collect())
}

/// Kills a participant at the steps of its commit; what the others found after each.
fn commits(form: Form, choose: impl for<'a> Fn(Builder<'a>) -> Builder<'a>) -> Option<Vec<Result<bool, RunError>>> {
    let machine = machine();
    let make = || {
        let tm = choose(small(&machine, form)).create().expect("memory");
        let accounts = open_accounts(&tm);
        (tm, accounts)
    };
    let servers = |tm: &Tm| (0..4).filter(|&id| tm.is_server(id)).collect::<Vec<_>>();
    let (tm, _) = make();
    let steps = beside_servers(&tm, &servers(&tm), || {
        let _another = application(&tm, 1);
        Some(steps_that_matter(&tm, &child(&tm, transfer)?, shares(form)))
    })?;
    let after = |&steps: &u64| {
        let (tm, accounts) = make();
        beside_servers(&tm, &servers(&tm), || {
            let mut participant = application(&tm, 1);
            let child = child(&tm, transfer).expect("there was one before");
            child.take_steps(steps);
            drop(child);
            has_happened(&mut participant, &accounts)
        })
    };
    Some(steps.iter().map(after).collect())
}

fn not_traced(what: &str) {
    skipped(what, "processes may not be traced here");
}

#[test]
fn a_commit_in_shared_memory_happens_at_one_step() {
    for writes in [Writes::Lazy, Writes::Eager] {
        let Some(found) = commits(Form::Shared, |builder| builder.writes(writes)) else {
            return not_traced("a kill at every step of a commit");
        };
        let found: Vec<bool> = found.into_iter().map(|found| found.expect("nothing is lost")).collect();
        assert!(found.is_sorted() && !found[0] && found[found.len() - 1], "{writes:?}: {found:?}");
    }
}

/// A word that one account names: a transaction makes a new one and frees the last one. It gives a read lock back on its way.
fn relink(tm: &Tm) {
    let (mut participant, accounts) = (application(tm, OTHER), find_accounts(tm));
    stop_here();
    for _ in 0..2 {
        let linked = participant.run(|tx| {
            let last = tx.read(accounts[0])?;
            tx.read(accounts[1])?;
            tx.release(accounts[1])?;
            let next = tx.new_var(LINKED)?;
            tx.write(accounts[0], next.index().into())?;
            if last == FIRST { Ok(()) } else { tx.var(last as u32).and_then(|last| tx.free::<i64>(last)) }
        });
        assert_eq!(linked, Ok(()));
    }
    // Its free words go back to the list that all share.
    drop(participant);
    stop_here();
}

/// The value of a word that was made by [`relink`].
const LINKED: i64 = 42;

/// Words are lost with the one that had them at hand, and no word is two at a time.
#[test]
fn one_that_is_killed_while_it_makes_and_frees_words_spoils_no_list() {
    const WORDS: usize = ACCOUNTS as usize + 4;
    let machine = machine();
    let make = || {
        let tm = small(&machine, Form::Shared).variables(WORDS).create().expect("memory");
        let (accounts, mut participant) = (open_accounts(&tm), application(&tm, 1));
        // A list of free words, from which the child takes its own.
        participant
            .run(|tx| {
                let made = [0, 1, 2].map(|value| tx.new_var(value));
                made.into_iter().try_for_each(|made| tx.free(made?))
            })
            .expect("room for three");
        (tm, accounts)
    };
    let (tm, _) = make();
    let Some(relinking) = child(&tm, relink) else {
        return not_traced("a kill at every step of one that makes and frees words");
    };
    let steps = steps_that_matter(&tm, &relinking, shares(tm.form()));
    let mut free = Vec::new();
    for steps in steps {
        let (tm, accounts) = make();
        let child = child(&tm, relink).expect("there was one before");
        child.take_steps(steps);
        drop(child);
        application(&tm, OTHER).run(|tx| tx.write(accounts[1], FIRST)).expect("its locks are gone");
        let linked = tm.load(accounts[0]).expect("it is readable");
        if linked != FIRST {
            let word = tm.var(linked as u32).expect("it is a word");
            assert_eq!(tm.load(word), Ok(LINKED), "after {steps} steps");
        }
        let made: Vec<i64> = std::iter::from_fn(|| tm.new_var(0i64).ok()).map(|made| made.index().into()).collect();
        let mut all = [&made[..], &accounts.iter().map(|account| account.index().into()).collect::<Vec<_>>()].concat();
        all.extend((linked != FIRST).then_some(linked));
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "after {steps} steps {all:?}, {linked} linked");
        free.push(made.len());
    }
    assert_eq!(free.last(), Some(&3), "the whole call loses nothing: {free:?}");
}

/// Conflicts are decided with the lock of a bucket, of one word for each variable's locks and of several.
#[test]
fn a_commit_that_takes_locks_away_happens_at_one_step() {
    for participants in [4, 70] {
        let Some(found) = conflicts(participants) else {
            return not_traced("a kill at every step of a conflict");
        };
        let found: Vec<bool> = found.into_iter().map(|found| found.expect("nothing is lost")).collect();
        assert!(found.is_sorted() && !found[0] && found[found.len() - 1], "of {participants}: {found:?}");
    }
}

#[test]
fn a_commit_that_nobody_can_complete_is_told_until_it_is_whole() {
    let Some(found) = commits(Form::Shared, |builder| builder.log_entries(1)) else {
        return not_traced("a kill at every step of a commit without a log");
    };
    let poisoned = RunError::Poisoned { by: ClientId(OTHER as u16) };
    let stages = [Ok(false), Err(poisoned), Ok(true)];
    let stage =
        |found: &Result<bool, RunError>| stages.iter().position(|stage| stage == found).expect("no other error");
    let found: Vec<usize> = found.iter().map(stage).collect();
    assert!(found.is_sorted() && (0..3).all(|stage| found.contains(&stage)), "{found:?}");
}

#[test]
fn a_commit_by_messages_happens_or_does_not() {
    for values in [Values::InMemory, Values::AtServers] {
        // One that sleeps while it waits takes the fewest steps.
        let Some(found) = commits(Form::Messages, |builder| builder.values(values).wait(Wait::Park)) else {
            return not_traced("a kill at every step of a commit by messages");
        };
        let found: Vec<bool> = found.into_iter().map(|found| found.expect("nothing is lost")).collect();
        assert!(!found[0] && found[found.len() - 1], "{found:?}");
    }
}

#[test]
fn one_that_is_killed_while_it_joins_keeps_nobody() {
    let machine = machine();
    let joins = |tm: &Tm| {
        stop_here();
        let participant = application(tm, OTHER);
        stop_here();
        drop(participant);
    };
    let make = || small(&machine, Form::Messages).create().expect("memory");
    let tm = make();
    let Some(joining) = child(&tm, joins) else {
        return not_traced("a kill at every step of a participant that joins");
    };
    for steps in steps_that_matter(&tm, &joining, shares(tm.form())) {
        let tm = make();
        let accounts = open_accounts(&tm);
        beside_servers(&tm, &[0, 2], || {
            let mut participant = application(&tm, 1);
            let child = child(&tm, joins).expect("there was one before");
            let mut watch = Watch::new(&tm);
            child.take_steps(steps);
            drop(child);
            let has_seat = watch.has_changed();
            assert_eq!(has_happened(&mut participant, &accounts), Ok(false), "after {steps} steps");
            if !has_seat {
                // Servers wait for one that has not come yet.
                drop(tm.participant(OTHER).expect("nobody has it"));
            }
        });
    }
}

/// The third one ends what both of the dead have left.
#[test]
fn one_that_is_killed_while_it_settles_a_death_keeps_nobody() {
    let machine = machine();
    let settles = |tm: &Tm| {
        let accounts = find_accounts(tm);
        stop_here();
        let value = tm.load(accounts[0]);
        stop_here();
        assert!(value.is_ok());
    };
    // A participant is killed between the two values of its commit.
    let make = || {
        let tm = small(&machine, Form::Shared).create().expect("memory");
        let accounts = open_accounts(&tm);
        let victim = child(&tm, transfer)?;
        let before = tm.load(accounts[1]);
        while tm.load(accounts[1]) == before {
            assert!(victim.step(), "it stores");
        }
        assert_eq!(tm.load(accounts[TOUCHED]), Ok(FIRST));
        Some((tm, accounts))
    };
    let Some((tm, _)) = make() else { return not_traced("a kill at every step of one that settles a death") };
    let steps = steps_that_matter(&tm, &child(&tm, settles).expect("there was one before"), shares(tm.form()));
    for steps in steps {
        let (tm, accounts) = make().expect("there was one before");
        let child = child(&tm, settles).expect("there was one before");
        child.take_steps(steps);
        drop(child);
        assert_eq!(has_happened(&mut application(&tm, 1), &accounts), Ok(true), "after {steps} steps");
        assert_eq!(has_happened(&mut application(&tm, OTHER), &accounts), Ok(true), "after {steps} steps");
    }
}

/// The only server dies while it answers; its client hears of it, whether it was answered or not.
#[test]
fn a_server_that_is_killed_amid_its_work_is_told() {
    type Work = fn(&mut Participant, &[TVar<i64>]) -> Result<(), RunError>;
    let works: [(Values, Work); 2] = [
        (Values::InMemory, |participant, accounts| participant.swap(accounts[0], 5).map(drop)),
        (Values::AtServers, |participant, accounts| play_round(participant, accounts, 1)),
    ];
    let serves = |tm: &Tm| {
        let server = server(tm, 0);
        stop_here();
        // It ends with its last client; the other end is stopped before.
        let _counts = server.serve();
        stop_here();
    };
    let machine = machine();
    for (values, work) in works {
        let make = || small(&machine, Form::Messages).servers_every(4).values(values).create().expect("memory");
        // Lets the server do this number of steps while a client asks; returns whether it answered.
        let played = |steps: u64| {
            let tm = make();
            let accounts = open_accounts(&tm);
            let child = child(&tm, serves)?;
            let mut participant = application(&tm, 1);
            let (said, heard) = mpsc::channel();
            thread::scope(|scope| {
                let asking = scope.spawn(|| {
                    let answered = work(&mut participant, &accounts);
                    let _gone = said.send(());
                    (answered, work(&mut participant, &accounts))
                });
                let has_heard = || heard.recv_timeout(Duration::ZERO).is_ok();
                let count = (0..steps).take_while(|at| at % 64 != 0 || !has_heard()).filter(|_| child.step()).count();
                drop(child);
                let (answered, later) = asking.join().expect("no panic");
                let poisoned = Err(RunError::Poisoned { by: ClientId(0) });
                assert!(answered == Ok(()) || answered == poisoned, "{values:?}, after {steps} steps: {answered:?}");
                assert_eq!(later, poisoned, "{values:?}, after {steps} steps");
                Some((count as u64, answered.is_ok()))
            })
        };
        let Some((count, has_answered)) = played(20 * LONGEST) else {
            return not_traced("a kill at every step of a server");
        };
        assert!(has_answered, "{values:?}: no answer after {count} steps");
        for steps in (0..count).step_by((count / shares(Form::Messages).1).max(1) as usize) {
            played(steps).expect("there was one before");
        }
    }
}
