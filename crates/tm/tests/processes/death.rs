//! Participants that are killed: others go on with every account right, or are told.
//!
//! The longest round of those that go on is told, as a bound of how long they waited for what a dead one held. With
//! `CORECAST_TM_WITHIN_MS` a round that takes longer is a failure: `ci/tm-long.sh` asks for a second.
#![allow(clippy::print_stderr, reason = "the longest rounds")]

use std::thread;
use std::time::{Duration, Instant};

use corecast_testing::actor::Actor;
use corecast_tm::{ClientId, Form, OpenError, Participant, RunError, TVar, Tm, Values};
use rustix::process::Signal;

use super::{
    ACCOUNTS, FIRST, FORMS, OTHER, application, beside_servers, builder, machine, open_accounts, play_round, roles,
    total,
};

/// Runs `work` as participant 1 while the servers, if there are any, serve in this process.
fn as_first<R>(tm: &Tm, servers: &[usize], work: impl FnOnce(Participant) -> R) -> R {
    beside_servers(tm, servers, || {
        let result = work(application(tm, 1));
        // Some participants never came, and servers would wait for them.
        tm.stop();
        result
    })
}

fn servers(form: Form) -> &'static [usize] {
    if form == Form::Messages { &[0, 2] } else { &[] }
}

/// The rounds of a participant, which is told as `who`, and the longest of them.
struct Rounds<'a> {
    who: String,
    participant: &'a mut Participant,
    accounts: &'a [TVar<i64>],
    next: usize,
    longest: Duration,
}

impl<'a> Rounds<'a> {
    fn new(who: impl Into<String>, participant: &'a mut Participant, accounts: &'a [TVar<i64>]) -> Self {
        Self { who: who.into(), participant, accounts, next: 0, longest: Duration::ZERO }
    }

    fn play(&mut self) -> Result<(), RunError> {
        let begun = Instant::now();
        let played = play_round(self.participant, self.accounts, self.next);
        self.longest = self.longest.max(begun.elapsed());
        self.next += 1;
        played
    }

    /// Plays until it is told an error.
    fn find_error(mut self) -> RunError {
        let error = loop {
            if let Err(error) = self.play() {
                break error;
            }
        };
        self.tell();
        error
    }

    /// Plays rounds that cross those of the other participant, and checks the total.
    #[track_caller]
    fn go_on(mut self) {
        self.next = 0;
        for _ in 0..100 {
            self.play().expect("the dead one's work is undone or completed");
        }
        assert_eq!(total(self.participant, self.accounts).expect("nobody else dies"), FIRST * i64::from(ACCOUNTS));
        self.tell();
    }

    #[track_caller]
    fn tell(self) {
        let Self { who, longest, .. } = self;
        eprintln!("{who}: the longest round took {longest:?}");
        let most = std::env::var("CORECAST_TM_WITHIN_MS").ok().map(|most| most.parse().expect("milliseconds"));
        assert!(most.is_none_or(|most| longest <= Duration::from_millis(most)), "{who}: {longest:?}");
    }
}

/// Kills the other participant at a place while this one works.
fn die(form: Form, label: &str) {
    let machine = machine();
    die_in(&builder(&machine, form).create().expect("memory"), label);
}

fn die_in(tm: &Tm, label: &str) {
    let accounts = open_accounts(tm);
    as_first(tm, servers(tm.form()), |mut participant| {
        let mut other = roles::start(&format!("transfer until {label}"), tm);
        other.hear();
        let mut rounds = Rounds::new(format!("{}, {label}", tm.form()), &mut participant, &accounts);
        while !roles::has_died(&other) {
            rounds.play().expect("the dead one's work is undone or completed");
        }
        rounds.go_on();
    });
}

#[test]
fn a_participant_killed_before_it_persists_loses_its_locks() {
    for form in FORMS {
        for label in ["begun:5", "locked:9", "locked:10", "claimed:5", "logged:5"] {
            die(form, label);
        }
    }
}

#[test]
fn what_a_killed_participant_was_storing_is_completed() {
    for form in FORMS {
        for label in ["persisting:5", "storing:9", "storing:10", "stored:5", "committed:5"] {
            die(form, label);
        }
    }
    // Some of its locks are free already, and some are not.
    for label in ["leaving:9", "leaving:10"] {
        die(Form::Shared, label);
    }
}

#[test]
fn values_on_their_way_to_servers_are_completed() {
    let machine = machine();
    for label in ["persisting:5", "put:9", "put:10", "put-answered:9", "put-answered:10", "stored:5"] {
        let builder = builder(&machine, Form::Messages).values(Values::AtServers);
        die_in(&builder.create().expect("memory"), label);
    }
}

/// The one that finds a death is killed while it ends what the dead one was doing: a third one ends both.
#[test]
fn a_participant_killed_while_it_settles_a_death_stops_nobody() {
    for label in ["completing:1", "completing:2", "clearing:1", "clearing:6", "settled:1"] {
        let machine = machine();
        let tm = builder(&machine, Form::Shared).create().expect("memory");
        let accounts = open_accounts(&tm);
        for role in ["transfer until storing:9", format!("transfer as 2 until {label}").as_str()] {
            let mut other = roles::start(role, &tm);
            other.hear();
            roles::await_death(&other);
        }
        for id in [1, OTHER] {
            Rounds::new(format!("{id}, {label}"), &mut application(&tm, id), &accounts).go_on();
        }
    }
}

/// A change of one variable has happened once its server has stored it, or the log of its transaction counts.
#[test]
fn a_change_by_a_killed_participant_happens_once_or_not_at_all() {
    let messages = [("begun:5", 4), ("change-answered:5", 5)].map(|case| (Form::Messages, case));
    let shared = [("locked:5", 4), ("persisting:5", 5), ("stored:5", 5)].map(|case| (Form::Shared, case));
    for (form, (label, expected)) in messages.into_iter().chain(shared) {
        let machine = machine();
        let tm = builder(&machine, form).create().expect("memory");
        open_accounts(&tm);
        let count = tm.new_var(0u64).expect("room");
        as_first(&tm, servers(form), |mut participant| {
            let mut other = roles::start(&format!("count until {label}"), &tm);
            other.hear();
            roles::await_death(&other);
            assert_eq!(participant.fetch_add(count, 1), Ok(expected), "{form}, {label}");
        });
    }
}

/// Only one that meets the locks of another takes the lock of a bucket: this participant holds all of them until the other one
/// has died of it.
#[test]
fn a_participant_killed_inside_a_bucket_stops_nobody() {
    for label in ["bucket:1", "deciding:1", "deciding:3", "bucket-left:1", "bucket-left:2"] {
        let machine = machine();
        let tm = builder(&machine, Form::Shared).create().expect("memory");
        let accounts = open_accounts(&tm);
        let mut participant = application(&tm, 1);
        let held = participant.run(|tx| {
            accounts.iter().try_for_each(|account| tx.read_for_update(*account).map(drop))?;
            let mut other = roles::start(&format!("transfer until {label}"), &tm);
            other.hear();
            roles::await_death(&other);
            Ok(())
        });
        held.expect("neither its key nor its number is larger");
        Rounds::new(label, &mut participant, &accounts).go_on();
    }
}

#[test]
fn a_participant_killed_at_any_time_stops_nobody() {
    for form in FORMS {
        let machine = machine();
        let tm = builder(&machine, form).create().expect("memory");
        let accounts = open_accounts(&tm);
        as_first(&tm, servers(form), |mut participant| {
            let mut other = roles::start("transfer", &tm);
            other.hear();
            let mut rounds = Rounds::new(format!("{form}, at any time"), &mut participant, &accounts);
            while other.said != "running" {
                rounds.play().expect("nobody dies yet");
                if rounds.next == 100 {
                    other.hear();
                }
            }
            other.signal(Signal::KILL);
            rounds.go_on();
        });
    }
}

#[test]
fn in_the_shared_form_another_process_takes_the_place_of_a_dead_one() {
    let machine = machine();
    let tm = builder(&machine, Form::Shared).create().expect("memory");
    let accounts = open_accounts(&tm);
    for label in ["locked:9", "storing:9"] {
        let mut other = roles::start(&format!("transfer until {label}"), &tm);
        other.hear();
        roles::await_death(&other);
    }
    Rounds::new("the successor", &mut application(&tm, OTHER), &accounts).go_on();
}

/// The dead one had the write lock of one account and the read lock of another one. Its successor touches neither, so that it is
/// in the way of nobody there.
fn locks_end_with_their_owner(participants: usize) {
    let machine = machine();
    let tm = builder(&machine, Form::Shared).participants(participants).create().expect("memory");
    let accounts = open_accounts(&tm);
    let mut other = roles::start("transfer until locked:2", &tm);
    other.hear();
    roles::await_death(&other);
    let (mut third, mut successor) = (application(&tm, 1), application(&tm, OTHER));
    successor
        .run(|tx| {
            let value = tx.read(accounts[7])?;
            thread::scope(|scope| scope.spawn(|| play_round(&mut third, &accounts, 0)).join().expect("no panic"))
                .expect("nobody dies");
            tx.write(accounts[7], value)
        })
        .expect("nobody dies");
    assert_eq!((third.counts().aborts(), successor.counts().aborts()), (0, 0), "of {participants}");
    Rounds::new(format!("beside a successor of {participants}"), &mut third, &accounts).go_on();
}

#[test]
fn a_successor_does_not_inherit_the_locks_of_a_dead_one() {
    locks_end_with_their_owner(4);
    // More than one word has bits for.
    locks_end_with_their_owner(70);
}

#[test]
fn values_that_nobody_can_complete_poison_the_instance() {
    for form in FORMS {
        let machine = machine();
        let tm = builder(&machine, form).log_entries(1).create().expect("memory");
        let accounts = open_accounts(&tm);
        let error = as_first(&tm, servers(form), |mut participant| {
            let mut other = roles::start("transfer until storing:9", &tm);
            other.hear();
            roles::await_death(&other);
            Rounds::new(format!("{form}, poisoned"), &mut participant, &accounts).find_error()
        });
        assert_eq!(error, RunError::Poisoned { by: ClientId(OTHER as u16) });
        assert_eq!(tm.poisoned(), Some(ClientId(OTHER as u16)));
        for &account in &accounts {
            assert_eq!(tm.load(account), Err(error.clone()), "it may be one of half a commit");
        }
        let refused = tm.participant(OTHER).expect_err("it is of no use any more");
        assert_eq!(refused.to_string(), "the instance is poisoned: participant 3 died in the middle of its work");
    }
}

#[test]
fn a_server_killed_amid_a_request_poisons_the_instance() {
    for (values, label) in [
        (Values::InMemory, "changing:3"),
        (Values::InMemory, "changed:3"),
        (Values::AtServers, "changed:3"),
        (Values::AtServers, "put-stored:3"),
    ] {
        let machine = machine();
        let tm = builder(&machine, Form::Messages).values(values).create().expect("memory");
        let accounts = open_accounts(&tm);
        let error = as_first(&tm, &[0], |mut participant| {
            let mut other = roles::start(&format!("serve until {label}"), &tm);
            other.hear();
            let mut rounds = 0..;
            rounds.find_map(|round| {
                let changed = participant.swap(accounts[round % accounts.len()], 1).map(drop);
                changed.and_then(|()| play_round(&mut participant, &accounts, round)).err()
            })
        });
        assert_eq!(error, Some(RunError::Poisoned { by: ClientId(2) }), "{label}");
    }
}

#[test]
fn a_killed_server_poisons_the_instance() {
    let machine = machine();
    let tm = builder(&machine, Form::Messages).create().expect("memory");
    let accounts = open_accounts(&tm);
    let error = as_first(&tm, &[0], |mut participant| {
        let mut other = roles::start("serve", &tm);
        other.hear();
        for round in 0..50 {
            play_round(&mut participant, &accounts, round).expect("all servers live");
        }
        other.signal(Signal::KILL);
        Rounds::new("a killed server", &mut participant, &accounts).find_error()
    });
    assert_eq!(error, RunError::Poisoned { by: ClientId(2) });
}

/// It has its place and a part of its channels only, so that no channel says that it has died. The servers end once the last
/// application has left.
#[test]
fn an_application_killed_while_it_joins_keeps_nobody() {
    for label in ["seated:1", "linked:1", "linked:2", "linked:3"] {
        let machine = machine();
        let tm = builder(&machine, Form::Messages).create().expect("memory");
        let accounts = open_accounts(&tm);
        roles::await_death(&roles::start(&format!("transfer until {label}"), &tm));
        beside_servers(&tm, &[0, 2], || Rounds::new(label, &mut application(&tm, 1), &accounts).go_on());
    }
}

/// Servers that are processes find the death of the last application at different times, and look at each other meanwhile.
#[test]
fn servers_that_end_by_themselves_poison_nothing() {
    let machine = machine();
    let tm = builder(&machine, Form::Messages).create().expect("memory");
    let accounts = open_accounts(&tm);
    let mut servers = ["serve as 0", "serve"].map(|role| roles::start(role, &tm));
    servers.iter_mut().for_each(|server| assert_eq!(server.hear(), "serving"));
    drop(application(&tm, 1));
    let mut other = roles::start("transfer until storing:9", &tm);
    other.hear();
    roles::await_death(&other);
    servers.into_iter().for_each(Actor::dismiss);
    for id in [0, 2] {
        let refused = tm.participant(id).expect_err("its locks have ended with it");
        assert!(matches!(refused, OpenError::Taken(found) if found == id), "{refused}");
    }
    let sum: i64 = accounts.iter().map(|account| tm.load(*account).expect("nothing is lost")).sum();
    assert_eq!((sum, tm.poisoned()), (FIRST * i64::from(ACCOUNTS), None));
}

#[test]
fn a_server_killed_while_it_joins_poisons_the_instance() {
    for label in ["seated:1", "linked:1", "linked:2", "linked:3"] {
        let machine = machine();
        let tm = builder(&machine, Form::Messages).create().expect("memory");
        let accounts = open_accounts(&tm);
        roles::await_death(&roles::start(&format!("serve until {label}"), &tm));
        let error = as_first(&tm, &[0], |mut participant| {
            Rounds::new(format!("a server, {label}"), &mut participant, &accounts).find_error()
        });
        assert_eq!(error, RunError::Poisoned { by: ClientId(2) }, "{label}");
    }
}

/// A supervisor adds up the values that its children have left; one of them was killed amid a commit.
#[test]
fn values_are_loaded_outside_transactions_without_half_of_a_commit() {
    for form in FORMS {
        let machine = machine();
        let tm = builder(&machine, form).create().expect("memory");
        let accounts = open_accounts(&tm);
        as_first(&tm, servers(form), |participant| {
            let mut other = roles::start("transfer until storing:9", &tm);
            other.hear();
            roles::await_death(&other);
            drop(participant);
        });
        let sum: i64 = accounts.iter().map(|account| tm.load(*account).expect("nothing is lost")).sum();
        assert_eq!(sum, FIRST * i64::from(ACCOUNTS), "{form}");
    }
}

/// One account has its new value and the other one not, until somebody completes the commit.
#[test]
fn elastic_reads_see_no_half_of_a_commit() {
    let shared = [(Form::Messages, Values::InMemory, "storing:1"), (Form::Shared, Values::InMemory, "storing:1")];
    for (form, values, label) in shared.into_iter().chain([(Form::Messages, Values::AtServers, "put-answered:1")]) {
        for order in [[0, 1], [1, 0]] {
            let machine = machine();
            let tm = builder(&machine, form).values(values).create().expect("memory");
            let accounts = open_accounts(&tm);
            as_first(&tm, servers(form), |mut participant| {
                let mut other = roles::start(&format!("transfer until {label}"), &tm);
                other.hear();
                roles::await_death(&other);
                let sum = participant.run(|tx| {
                    let [first, second] = order.map(|at| tx.read_unlocked(accounts[at]));
                    Ok(first? + second?)
                });
                assert_eq!(sum, Ok(2 * FIRST), "{form}, {values:?}, {order:?}");
            });
        }
    }
}
