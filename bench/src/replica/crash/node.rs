//! A process that is a node: its clients work until it is told to finish, or until it is killed.
//!
//! It obeys lines on its standard input, and answers by lines on its standard output.

use std::io::{self, BufRead, Write};
use std::thread;
use std::time::Duration;

use corecast::base::sync::AtomicBool;
use corecast::rendezvous::SocketDir;
use corecast::replica::kv::Store;
use corecast::replica::net::{self, Group};
use corecast::replica::{Level, Medium, Node, NodeId, OpenError, Replicated, Status};
use corecast_race::failure::Failure;
use rustix::process::{Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit};

use super::client::{self, Client};
use super::plan::NodePlan;

/// The name of the group in the folder of its episode.
const NAME: &str = "crash";
/// Numbers of clients of one process: those that work, and one that reads at the end.
pub(super) const CLIENTS: u64 = 16;
/// The client that reads at the end.
const READER: u64 = CLIENTS - 1;
/// The longest time in which a node that may survive alone has to know all that others know.
const FRESH_LIMIT: Duration = Duration::from_millis(50);
/// The longest time for a cut.
const CUT_LIMIT: Duration = Duration::from_secs(10);

/// The work of a process that is a node, for the hidden subcommand of a program that calls [`crash`](super::crash()). Returns
/// when its standard input ends.
///
/// # Errors
/// Why it cannot begin.
pub fn crash_node(words: &[String]) -> Result<(), Failure> {
    // Nobody else would ever end it.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(Failure::refused)?;
    let plan = NodePlan::parse(words)?;
    if plan.room_bytes > 0 {
        // Memory that is shared is files to the system: beyond this it fails as if there were no more of it.
        let limit = Rlimit { current: Some(plan.room_bytes), ..getrlimit(Resource::Fsize) };
        setrlimit(Resource::Fsize, limit).map_err(Failure::refused)?;
    }
    let dir = SocketDir::at(plan.folder.join("names"));
    if plan.founders > 0 {
        let group = match plan.founds {
            true => Group::create_named(&plan.net_config(), &dir, NAME),
            false => Group::attach(&plan.net_config(), &dir, NAME),
        };
        // The group has the name for as long as it lives.
        return match group {
            Ok(group) => begin(&plan, group.join_next(Store::default())),
            Err(error) => say(&format!("failed {error}")),
        };
    }
    let joined = match plan.founds {
        true => Replicated::create_named(&plan.config(), &dir, NAME, Store::default()),
        false => Replicated::attach(&plan.config(), &dir, NAME),
    };
    begin(&plan, joined)
}

/// Works as this node, if it has joined.
fn begin<M: Medium<Status: Roles>>(plan: &NodePlan, joined: Result<Node<Store, M>, OpenError>) -> Result<(), Failure> {
    match joined {
        Ok(node) => work(plan, &node),
        Err(error) => say(&format!("failed {error}")),
    }
}

/// How a node says that its group is.
trait Roles: std::fmt::Debug {
    /// Leader and acceptor.
    fn roles(&self) -> [NodeId; 2];

    /// True if the node is a member, and the group survives the death of any other one.
    fn is_whole(&self) -> bool;
}

impl Roles for Status {
    fn roles(&self) -> [NodeId; 2] {
        [self.leader, self.acceptor]
    }

    fn is_whole(&self) -> bool {
        self.is_member && self.ended.is_none()
    }
}

impl Roles for net::Status {
    fn roles(&self) -> [NodeId; 2] {
        [self.leader, self.acceptor]
    }

    fn is_whole(&self) -> bool {
        let is_member = |node: &NodeId| self.members.contains(node);
        let votes = self.voters.len() >= 3 && self.voters.iter().all(is_member);
        // The death of a node that leads and accepts takes both roles, which no group over messages survives.
        let is_kept = self.leader != self.acceptor;
        self.is_member && self.ended.is_none() && votes && is_kept && self.roles().iter().all(is_member)
    }
}

/// Tells the parent something.
fn say(words: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    writeln!(output, "{words}").and_then(|()| output.flush()).map_err(Failure::while_doing("tell the parent"))
}

fn work<M: Medium<Status: Roles>>(plan: &NodePlan, node: &Node<Store, M>) -> Result<(), Failure> {
    say(&format!("joined {}", node.id().slot))?;
    let is_stopping = AtomicBool::new(false);
    thread::scope(|scope| {
        let clients = (0..plan.clients).map(|at| {
            let number = plan.number * CLIENTS + at;
            let (node, is_stopping) = (node.clone(), &is_stopping);
            scope.spawn(move || {
                let ended = Client::open(plan, node, number).and_then(|mut client| client.work(is_stopping));
                ended.or_else(|why| say(&format!("ended {why}")))
            })
        });
        let mut clients: Vec<_> = clients.collect();
        for line in io::stdin().lock().lines() {
            let line = line.map_err(Failure::while_doing("hear the parent"))?;
            if line == "finish" {
                client::stop(&is_stopping);
                for client in clients.drain(..) {
                    client.join().map_err(|_| Failure::Refused("a client panicked".to_owned()))??;
                }
            }
            say(&obey(plan, node, &line)?)?;
        }
        client::stop(&is_stopping);
        Ok(())
    })
}

/// The answer to a line.
fn obey<M: Medium<Status: Roles>>(plan: &NodePlan, node: &Node<Store, M>, line: &str) -> Result<String, Failure> {
    let (order, argument) = line.split_once(' ').unwrap_or((line, ""));
    Ok(match order {
        "roles" => {
            // If it has been put out, and somebody may know, it must know, too: the parent may let nobody else live.
            let is_fresh = node.catch_up(Level::Linearizable, FRESH_LIMIT).is_ok();
            let status = node.status();
            let [leader, acceptor] = status.roles().map(|node| node.slot);
            format!("roles {leader} {acceptor} {}", u64::from(is_fresh && status.is_whole()))
        }
        "status" => format!("status {:?}", node.status()),
        "finish" => "finished".to_owned(),
        // A history is a file, for which it may have no room; its replica is compared with the others all the same.
        "read" if plan.room_bytes > 0 => "read".to_owned(),
        "read" => {
            let processes = argument.parse().map_err(Failure::refused)?;
            let number = plan.number * CLIENTS + READER;
            match client::read_all(plan, node, number, processes) {
                Ok(()) => "read".to_owned(),
                Err(why) => format!("unread {why}"),
            }
        }
        "cut" => match node.checkpoint(&mut io::sink(), CUT_LIMIT) {
            Ok(cut) => format!("cut {} {}", cut.digests.len(), cut.diverged.len()),
            Err(error) => format!("uncut {error}"),
        },
        other => return Err(Failure::Refused(format!("no such order: {other}"))),
    })
}
