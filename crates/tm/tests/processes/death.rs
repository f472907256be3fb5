//! Participants that are killed: others go on with every account right, or are told.

use std::thread;

use corecast_tm::{ClientId, Form, Participant, RunError, TVar, Tm};
use rustix::process::Signal;

use super::{
    ACCOUNTS, FIRST, FORMS, OTHER, application, builder, machine, open_accounts, play_round, roles, server, total,
};

/// Runs `work` as participant 1 while the servers, if there are any, serve in this process.
fn beside_servers<R: Send>(tm: &Tm, servers: &[usize], work: impl FnOnce(Participant) -> R + Send) -> R {
    thread::scope(|scope| {
        let servers: Vec<_> = servers.iter().map(|&id| server(tm, id)).collect();
        let serving: Vec<_> = servers.into_iter().map(|server| scope.spawn(|| server.serve())).collect();
        let result = work(application(tm, 1));
        tm.stop();
        for server in serving {
            server.join().expect("no panic").expect("no forked child");
        }
        result
    })
}

fn servers(form: Form) -> &'static [usize] {
    if form == Form::Messages { &[0, 2] } else { &[] }
}

/// Plays rounds that cross those of the other participant, and checks the total.
#[track_caller]
fn go_on(participant: &mut Participant, accounts: &[TVar<i64>]) {
    for round in 0..100 {
        play_round(participant, accounts, round).expect("the dead one's work is undone or completed");
    }
    assert_eq!(total(participant, accounts).expect("nobody else dies"), FIRST * i64::from(ACCOUNTS));
}

/// Kills the other participant at a place while this one works.
fn die(form: Form, label: &str) {
    let machine = machine();
    let tm = builder(&machine, form).create().expect("memory");
    let accounts = open_accounts(&tm);
    beside_servers(&tm, servers(form), |mut participant| {
        let mut other = roles::start(&format!("transfer until {label}"), &tm);
        other.hear();
        roles::await_death(&other);
        go_on(&mut participant, &accounts);
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
}

#[test]
fn a_participant_killed_inside_a_bucket_stops_nobody() {
    for label in ["bucket:9", "bucket-left:10", "bucket:14"] {
        die(Form::Shared, label);
    }
}

#[test]
fn a_participant_killed_at_any_time_stops_nobody() {
    for form in FORMS {
        let machine = machine();
        let tm = builder(&machine, form).create().expect("memory");
        let accounts = open_accounts(&tm);
        beside_servers(&tm, servers(form), |mut participant| {
            let mut other = roles::start("transfer", &tm);
            other.hear();
            let mut round = 0;
            while other.said != "running" {
                play_round(&mut participant, &accounts, round).expect("nobody dies yet");
                round += 1;
                if round == 100 {
                    other.hear();
                }
            }
            other.signal(Signal::KILL);
            go_on(&mut participant, &accounts);
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
    go_on(&mut application(&tm, OTHER), &accounts);
}

#[test]
fn values_that_nobody_can_complete_poison_the_instance() {
    for form in FORMS {
        let machine = machine();
        let tm = builder(&machine, form).log_entries(1).create().expect("memory");
        let accounts = open_accounts(&tm);
        let error = beside_servers(&tm, servers(form), |mut participant| {
            let mut other = roles::start("transfer until storing:9", &tm);
            other.hear();
            roles::await_death(&other);
            let mut rounds = 0..;
            rounds.find_map(|round| play_round(&mut participant, &accounts, round).err()).expect("an endless search")
        });
        assert_eq!(error, RunError::Poisoned { by: ClientId(OTHER as u16) });
        assert_eq!(tm.poisoned(), Some(ClientId(OTHER as u16)));
        let refused = tm.participant(OTHER).expect_err("it is of no use any more");
        assert_eq!(refused.to_string(), "the instance is poisoned: participant 3 died in the middle of its work");
    }
}

#[test]
fn a_killed_server_poisons_the_instance() {
    let machine = machine();
    let tm = builder(&machine, Form::Messages).create().expect("memory");
    let accounts = open_accounts(&tm);
    let error = beside_servers(&tm, &[0], |mut participant| {
        let mut other = roles::start("serve", &tm);
        other.hear();
        for round in 0..50 {
            play_round(&mut participant, &accounts, round).expect("all servers live");
        }
        other.signal(Signal::KILL);
        let mut rounds = 0..;
        rounds.find_map(|round| play_round(&mut participant, &accounts, round).err()).expect("an endless search")
    });
    assert_eq!(error, RunError::Poisoned { by: ClientId(2) });
}
