//! The roles of other processes: this program, started as a node.

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::time::Duration;

use corecast_base::rendezvous::SocketDir;
use corecast_replica::kv::Store;
use corecast_replica::wal::Fsync;
use corecast_replica::{Config, ExecuteError, Level, Node, OpenError, Placement, ReadError, Replicated, StateMachine};
use corecast_testing::actor::{Actor, Role, say, wait_for_dismissal};
use rustix::process::{Resource, Rlimit, Signal, WaitOptions, getrlimit, setrlimit, waitpid};

use super::sum::{self, Sum};
use super::{NAME, PATIENCE, config, in_chain};

/// A process with this role in the group of the folder; it has said how it joined.
pub(crate) fn start(role: &str, folder: &tempfile::TempDir, placement: Placement) -> Actor {
    let fused = if placement == Placement::Fused { "fused" } else { "separate" };
    let mut actor = Actor::start("roles::play", &format!("{role} {fused}"), &folder.path().display().to_string());
    actor.hear();
    actor
}

/// Lets a process join that dies at this place, and returns when it is dead.
pub(crate) fn die_joining(label: &str, folder: &tempfile::TempDir) {
    let role = format!("attach until {label} separate");
    let actor = Actor::start("roles::play", &role, &folder.path().display().to_string());
    let (_, status) = waitpid(Some(actor.pid()), WaitOptions::empty()).expect("our child").expect("it has ended");
    assert_eq!(status.terminating_signal(), Some(Signal::KILL.as_raw()), "it passed {label}");
}

/// A process that joins by a descriptor, with this role.
pub(crate) fn start_by_fd(role: &str, node: &Node<Sum>) -> Actor {
    let role = format!("{role} separate");
    let mut actor = Actor::reading("roles::play", &role, "", node.share().expect("/proc is there"));
    actor.hear();
    actor
}

/// Not a test: the program's work when it is an actor.
#[test]
fn play() {
    let Some(role) = Role::of_this_process() else { return };
    end_in_time();
    if let Some((_, label)) = role.name.split_once(" until ") {
        die_at(label.split(' ').next().expect("a label"));
    }
    let (name, placement) = role.name.rsplit_once(' ').expect("a role and a placement");
    let placement = if placement == "fused" { Placement::Fused } else { Placement::Separate };
    let (config, dir) = (config(placement), SocketDir::at(format!("{}/names", role.place)));
    match name {
        "create a chain" => stay(Replicated::create_named(&in_chain(config), &dir, NAME, Sum::default())),
        "join the chain" => stay(Replicated::<Sum>::attach(&in_chain(config), &dir, NAME)),
        "create" => stay(Replicated::create_named(&config, &dir, NAME, Sum::default())),
        "attach" | "attach until slot-claimed" | "attach until segment-published" => {
            stay(Replicated::<Sum>::attach(&config, &dir, NAME))
        }
        "inherit" => {
            let fd = std::io::stdin().as_fd().try_clone_to_owned().expect("a descriptor");
            let _node = Replicated::<Sum>::attach_fd(&config, fd).expect("the group lives");
            say("joined");
            std::thread::park();
        }
        "break" => {
            sum::become_fragile();
            let node = Replicated::<Sum>::attach(&config, &dir, NAME).expect("the group lives");
            tell_end(&node);
        }
        "tell the end" => tell_end(&Replicated::<Sum>::attach(&config, &dir, NAME).expect("the group lives")),
        "create and tell the end" => {
            tell_end(&Replicated::create_named(&config, &dir, NAME, Sum::default()).expect("there is memory"));
        }
        "attach a store" => stay(Replicated::<Store>::attach(&config, &dir, NAME)),
        "keep files and tell the end" => {
            let config = config.durable(format!("{}/files", role.place), Fsync::Never);
            tell_end(&Replicated::<Sum>::attach(&config, &dir, NAME).expect("the group lives"));
        }
        "create and write alone" => {
            write_alone(&Replicated::create_named(&config, &dir, NAME, Sum::default()).expect("there is memory"));
        }
        "stay inside a read" => stay_inside(&Replicated::attach(&config, &dir, NAME).expect("the group lives")),
        other => play_in_trouble(other, config, &dir),
    }
}

/// The roles of processes that lack memory or rights.
fn play_in_trouble(name: &str, config: Config, dir: &SocketDir) {
    match name {
        "create in little memory" => {
            limit_memory(Some(512 << 20));
            stay(Replicated::create_named(&config.bulk_bytes(1 << 30), dir, NAME, Sum::default()));
        }
        "create with large segments" => {
            stay(Replicated::create_named(&config.slots(2).bulk_bytes(LARGE_BYTES), dir, NAME, Sum::default()));
        }
        "attach in little memory and again" => {
            limit_memory(Some(used_memory() + LARGE_BYTES - THREADS_BYTES));
            stay(Replicated::<Sum>::attach(&config, dir, NAME));
            limit_memory(getrlimit(Resource::As).maximum);
            stay(Replicated::<Sum>::attach(&config, dir, NAME));
        }
        "attach as another user" => {
            become_another_user();
            stay(Replicated::<Sum>::attach(&config, dir, NAME));
        }
        "inherit as another user" => {
            become_another_user();
            let fd = std::io::stdin().as_fd().try_clone_to_owned().expect("a descriptor");
            stay(Replicated::<Sum>::attach_fd(&config.joining(Duration::from_millis(300)), fd));
        }
        other => panic!("no such role: {other}"),
    }
}

/// Begins a read and ends it when it is told to.
fn stay_inside(node: &Node<Sum>) {
    say("joined");
    let inside = |_: &Sum| {
        say("inside");
        wait_for_dismissal();
    };
    node.read_with(Level::Local, inside).expect("never waits");
    say("outside");
    wait_for_dismissal();
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

/// The bytes for large operations of each node in a group with large segments.
const LARGE_BYTES: u64 = 256 << 20;
/// Less by this, there is room for the threads of a node, each with a heap of its own, and not for its segment.
const THREADS_BYTES: u64 = 32 << 20;

/// The address space that this process may have from now on, in bytes.
fn limit_memory(most: Option<u64>) {
    let limit = Rlimit { current: most, maximum: getrlimit(Resource::As).maximum };
    setrlimit(Resource::As, limit).expect("a soft limit is this process's own");
}

/// The address space of this process, in bytes.
fn used_memory() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("/proc is there");
    let pages: u64 = pages.split(' ').next().and_then(|pages| pages.parse().ok()).expect("a number");
    pages * rustix::param::page_size() as u64
}

/// Gives up the rights of root.
fn become_another_user() {
    // SAFETY: plain numbers; no other thread of this process asks for them.
    assert_eq!(unsafe { libc::setgroups(0, std::ptr::null()) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { libc::setresuid(12_345, 12_345, 12_345) }, 0);
}

/// Tells how it joined, and is a member until it is killed or dismissed.
fn stay<S: StateMachine>(joined: Result<Node<S>, OpenError>) {
    match joined {
        Ok(node) => {
            say(&format!("joined as {}", node.id()));
            wait_for_dismissal();
        }
        Err(error) => say(&format!("refused: {error}")),
    }
}

/// Tells the reason for which the node does no more.
fn tell_end(node: &Node<Sum>) {
    std::panic::set_hook(Box::new(|_| ()));
    let mut session = node.session().expect("a member");
    say("joined");
    let error = loop {
        match session.execute_timeout(&0, PATIENCE) {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    say(&error.to_string());
    let is_told = !matches!(error, ExecuteError::Unknown { .. });
    let read = node.read(Level::AtLeast(u64::MAX - 1), &());
    let is_read_told = matches!(read, Err(ReadError::Expelled(_) | ReadError::Poisoned { .. } | ReadError::Lost));
    assert!(is_told && is_read_told, "{error} {read:?}");
}

/// Writes when it is told to, until all other members are put out and the log has nothing left that they need.
fn write_alone(node: &Node<Sum>) {
    say("joined");
    wait_for_dismissal();
    let mut session = node.session().expect("a member");
    while node.status().members.len() > 1 {
        session.execute_timeout(&1, PATIENCE).expect("it is a member");
    }
    for _ in 0..1000 {
        session.execute_timeout(&1, PATIENCE).expect("it is the last member");
    }
    say("alone");
    std::thread::park();
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
