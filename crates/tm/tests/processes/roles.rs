//! The roles of other processes: this program, started as a participant.

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;

use corecast_base::rendezvous::SocketDir;
use corecast_testing::actor::{Actor, Role, say, wait_for_dismissal};
use corecast_tm::{Form, Tm};
use rustix::process::{Resource, Rlimit, Signal, WaitOptions, setrlimit, waitpid};

use super::{ACCOUNTS, OTHER, PATIENCE, application, builder, find_accounts, machine, play_round, server};

/// A process that joins by a descriptor, with this role.
pub(crate) fn start(role: &str, tm: &Tm) -> Actor {
    Actor::reading("roles::play", role, "", tm.share().expect("/proc is there"))
}

/// A process that joins by a name, with this role.
pub(crate) fn start_by_name(role: &str, folder: &tempfile::TempDir) -> Actor {
    Actor::start("roles::play", role, &folder.path().display().to_string())
}

/// Returns when the process was killed.
#[track_caller]
pub(crate) fn await_death(actor: &Actor) {
    let (_, status) = waitpid(Some(actor.pid()), WaitOptions::empty()).expect("our child").expect("it has ended");
    assert_eq!(status.terminating_signal(), Some(Signal::KILL.as_raw()));
}

/// Whether the process was killed; nothing else may have ended it. Not to be asked again then.
#[track_caller]
pub(crate) fn has_died(actor: &Actor) -> bool {
    let ended = waitpid(Some(actor.pid()), WaitOptions::NOHANG).expect("our child");
    ended.is_some_and(|(_, status)| {
        assert_eq!(status.terminating_signal(), Some(Signal::KILL.as_raw()));
        true
    })
}

/// Not a test: the program's work when it is an actor.
#[test]
fn play() {
    let Some(role) = Role::of_this_process() else { return };
    end_in_time();
    if let Some((_, label)) = role.name.split_once(" until ") {
        die_at(label);
    }
    let tm = || {
        let fd = std::io::stdin().as_fd().try_clone_to_owned().expect("a descriptor");
        Tm::attach_fd(fd).expect("the instance lives")
    };
    match role.name.split(" until ").next().expect("a name") {
        "transfer" => transfer_for_ever(&tm(), OTHER),
        "transfer as 2" => transfer_for_ever(&tm(), 2),
        "count" => {
            let tm = tm();
            let (mut participant, count) = (application(&tm, OTHER), tm.var(ACCOUNTS).expect("it is there"));
            say("joined");
            while participant.fetch_add(count, 1).is_ok() {}
        }
        "serve" => serve(&tm(), 2),
        "serve as 0" => serve(&tm(), 0),
        "run without threads" => {
            let machine = machine();
            let tm = builder(&machine, Form::Shared).build().expect("memory");
            forbid_threads();
            say(&tm.run_threads(|_| ()).expect_err("there is no room for a stack").to_string());
            wait_for_dismissal();
        }
        "transfer by name" => {
            let tm = Tm::attach(&SocketDir::at(format!("{}/names", role.place)), "bank").expect("the instance lives");
            let mut participant = application(&tm, OTHER);
            let accounts = find_accounts(&tm);
            (0..50).for_each(|round| play_round(&mut participant, &accounts, round).expect("nobody dies"));
            drop(participant);
            say("done");
            wait_for_dismissal();
        }
        other => panic!("no such role: {other}"),
    }
}

fn serve(tm: &Tm, id: usize) {
    let server = server(tm, id);
    say("serving");
    let _counts = server.serve().expect("it is no forked child");
}

fn transfer_for_ever(tm: &Tm, id: usize) {
    let mut participant = application(tm, id);
    let accounts = find_accounts(tm);
    say("joined");
    for round in 0.. {
        if play_round(&mut participant, &accounts, round).is_err() {
            return;
        }
        if round == 20 {
            say("running");
        }
    }
}

/// Starts this program once more, as a process that dies at this place. The same process, so that the test can wait for it.
fn die_at(label: &str) {
    const VARIABLE: &str = "CORECAST_CRASH_AT";
    if std::env::var_os(VARIABLE).is_none() {
        let mut again = std::process::Command::new(std::env::current_exe().expect("a program has a path"));
        let failed = again.args(std::env::args_os().skip(1)).env(VARIABLE, label).exec();
        panic!("{failed}");
    }
}

/// Ends this process if something hangs, so that a test fails rather than lasts.
fn end_in_time() {
    std::thread::spawn(|| {
        std::thread::sleep(PATIENCE);
        say("hung");
        let _ = std::io::stdout().flush();
        std::process::exit(9);
    });
}

/// Leaves this process less memory than the stack of a thread takes.
fn forbid_threads() {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("the system tells");
    let pages: u64 = pages.split(' ').next().and_then(|size| size.parse().ok()).expect("the first is the size");
    let most = Some(pages * rustix::param::page_size() as u64 + (1 << 20));
    setrlimit(Resource::As, Rlimit { current: most, maximum: most }).expect("less is allowed");
}
