//! The table served by messages: servers own the buckets, clients ask them over channels and wait for each answer.
//!
//! Every third participant is a server, from the first on; one or two participants are a server and a client. Each server owns
//! buckets in a row. A request is a line, and so is the answer; to a get the server writes the value to a line of the client's,
//! which reads it.
//!
//! Source: as of the [table](super).

use std::cell::RefCell;
use std::rc::Rc;

use corecast_base::wait::{CpuSharing, Spinner, Wait, Waiter};
use corecast_channel::TryRecvError;
use corecast_channel::select::{Select, SelectError};
use corecast_channel::ump::{Config, Receiver, Sender, channel_with};
use corecast_sim_core::{Machine, Random, Thread};

use super::bucket::{Draw, Keys, Kind, Line, Nodes, Try, half_of};
use super::{TableLoad, TableOutcome, outcome};
use crate::disturbance::Disturbance;
use crate::error::SimError;
use crate::rounds::{Rounds, alone};
use crate::situation;

/// Of this number of participants one is a server.
const EVERY: usize = 3;
/// A client waits for each answer, so there is never more than one message in a ring.
const SLOTS: usize = 8;

/// How a server looks for requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableServer {
    /// It waits for all clients by `Select`, and sleeps while there is nothing to do.
    Select,
    /// It looks at its rings in turn, and does nothing else: the bare round trip.
    Polls,
}

/// Lets clients work on a table whose buckets servers own. `threads` are both together, at least two; their rates are those of
/// clients.
///
/// # Errors
/// [`SimError::Threads`] if the machine has fewer CPUs, [`SimError::Kill`] if one is to be killed, [`SimError::Stopped`] if a run
/// has no outcome, [`SimError::Stack`] if there is no memory for a thread.
///
/// # Panics
/// If there are no buckets.
pub fn table_by_messages(machine: &Machine, serving: TableServer, load: TableLoad) -> Result<TableOutcome, SimError> {
    assert!(load.buckets > 0, "a table has at least one bucket");
    if load.disturbance.kill_at.is_some() {
        return Err(SimError::Kill { reason: "servers and clients wait for each other for ever" });
    }
    let load = TableLoad { threads: load.threads.max(2), ..load };
    let _alone = alone();
    // The machine's costs, as for locks.
    let _setup = situation::setup(machine, load.threads);
    let participants = RefCell::new(participants(serving, load));
    let keys = load.keys();
    let begin = move |me: &Thread, thread: usize| {
        let own = participants.borrow_mut()[thread].take();
        match own.expect("each participant begins once") {
            Participant::Server(server) => {
                server.serve(me);
                None
            }
            Participant::Client(client) => Some((Draw::new(thread), client)),
        }
    };
    let round = move |me: &Thread, client: &mut Option<(Draw, Client)>, random: &mut Random| {
        let (draw, client) = client.as_mut().expect("a server ends after its clients, which end the time that counts");
        let bucket = random.below(load.buckets as u64) as usize;
        me.work_ns(load.own_ns - load.own_ns / 2);
        let is_hit = client.ask(me, bucket, draw.next(keys, random));
        if is_hit {
            draw.succeeded(random);
        }
        is_hit
    };
    let rounds = Rounds { first: 1, ..load.rounds() };
    // SAFETY: nobody is killed.
    let played = unsafe { rounds.play(machine, begin, round) }?;
    Ok(outcome(played, |thread| !is_server(thread)))
}

fn is_server(participant: usize) -> bool {
    participant % EVERY == 0
}

enum Participant {
    Server(Server),
    Client(Client),
}

struct Request {
    one: Try,
    /// Among those of the server.
    bucket: usize,
    /// The address of the client's line for a value.
    value: usize,
}

/// A client at one server.
struct Connection {
    requests: Sender<Request>,
    answers: Receiver<bool>,
}

/// Servers and clients, with a ring for each way between any two of them.
fn participants(serving: TableServer, load: TableLoad) -> Vec<Option<Participant>> {
    let servers = load.threads.div_ceil(EVERY);
    let homes = homes(load.buckets, servers);
    let mut random = Random::new(load.seed, load.threads);
    let mut all: Vec<Server> = (0..servers).map(|_| Server::new(serving, load)).collect();
    for &(server, _) in homes.iter() {
        all[server].add_bucket(load.keys(), &mut random);
    }
    let client = |all: &mut Vec<Server>| {
        let servers = all.iter_mut().map(Server::connect).collect();
        Client { homes: Rc::clone(&homes), servers, value: Box::new(Line::new()) }
    };
    let clients: Vec<Client> = (servers..load.threads).map(|_| client(&mut all)).collect();
    let (mut all, mut clients) = (all.into_iter(), clients.into_iter());
    let participant = |number: usize| match is_server(number) {
        true => all.next().map(Participant::Server),
        false => clients.next().map(Participant::Client),
    };
    (0..load.threads).map(participant).collect()
}

/// Of each bucket the server, and its number there: as many in a row for each server, and those that remain in turn.
fn homes(buckets: usize, servers: usize) -> Rc<[(usize, usize)]> {
    let each = buckets / servers;
    let home = |bucket: usize| match bucket < each * servers {
        true => (bucket / each, bucket % each),
        false => (bucket - each * servers, each),
    };
    (0..buckets).map(home).collect()
}

struct Server {
    requests: Requests,
    answers: Vec<Sender<bool>>,
    buckets: Vec<(Nodes, Keys)>,
    inside_ns: u64,
}

enum Requests {
    Select(Box<Select<Receiver<Request>>>),
    Polls(Vec<Option<Receiver<Request>>>),
}

impl Server {
    fn new(serving: TableServer, load: TableLoad) -> Self {
        let Disturbance { threads_per_cpu, .. } = load.disturbance;
        let sharing = CpuSharing::among(load.threads, load.threads.div_ceil(threads_per_cpu.max(1)));
        let requests = match serving {
            TableServer::Select => {
                Requests::Select(Box::new(Select::with_waiter(Waiter::new(Wait::default(), sharing, None))))
            }
            TableServer::Polls => Requests::Polls(Vec::new()),
        };
        Self { requests, answers: Vec::new(), buckets: Vec::new(), inside_ns: load.own_ns / 2 }
    }

    fn add_bucket(&mut self, keys: u64, random: &mut Random) {
        self.buckets.push((Nodes::new(keys), half_of(keys, random)));
    }

    /// Connects one more client.
    fn connect(&mut self) -> Connection {
        let config = || Config { slots: SLOTS, ..Config::default() };
        let ((requests, asked), (answering, answers)) = (channel_with(config()), channel_with(config()));
        match &mut self.requests {
            Requests::Select(select) => drop(select.add(asked)),
            Requests::Polls(all) => all.push(Some(asked)),
        }
        self.answers.push(answering);
        Connection { requests, answers }
    }

    /// Answers requests until all clients are gone. Its buckets lie at its node.
    fn serve(self, me: &Thread) {
        self.buckets.iter().for_each(|(nodes, _)| nodes.touch(me));
        let Self { requests, mut answers, buckets, inside_ns } = self;
        let mut answer = |client: usize, Request { one, bucket, value }: Request| {
            let (nodes, keys) = &buckets[bucket];
            let is_hit = nodes.work_on(me, keys, one, inside_ns);
            if is_hit && one.kind == Kind::Get {
                me.store_line(value);
            }
            answers[client].send(is_hit).expect("a client waits for its answer");
        };
        match requests {
            Requests::Select(mut select) => loop {
                match select.recv() {
                    Ok((token, request)) => answer(token.index(), request),
                    // A client is gone.
                    Err(SelectError::Channel { .. }) => {}
                    Err(_none_left) => return,
                }
            },
            Requests::Polls(clients) => poll(clients, answer),
        }
    }
}

/// Looks at the rings in turn, for as long as there are clients.
fn poll(mut clients: Vec<Option<Receiver<Request>>>, mut answer: impl FnMut(usize, Request)) {
    let mut spinner = Spinner::new();
    while clients.iter().any(Option::is_some) {
        let mut is_idle = true;
        for (client, requests) in clients.iter_mut().enumerate() {
            let Some(asked) = requests else { continue };
            match asked.try_recv() {
                Ok(request) => {
                    answer(client, request);
                    is_idle = false;
                }
                Err(TryRecvError::Empty) => {}
                Err(_closed) => *requests = None,
            }
        }
        if is_idle { spinner.pause() } else { spinner = Spinner::new() }
    }
}

struct Client {
    homes: Rc<[(usize, usize)]>,
    servers: Vec<Connection>,
    /// Written by servers with the value of a get.
    value: Box<Line>,
}

impl Client {
    /// True if the operation did what it was for.
    fn ask(&mut self, me: &Thread, bucket: usize, one: Try) -> bool {
        let (server, bucket) = self.homes[bucket];
        let Connection { requests, answers } = &mut self.servers[server];
        let value = self.value.address();
        requests.send(Request { one, bucket, value }).expect("a server outlives its clients");
        let is_hit = answers.recv().expect("a server answers every request");
        if is_hit && one.kind == Kind::Get {
            me.load_line(value);
        }
        is_hit
    }
}

#[cfg(test)]
mod tests {
    use super::homes;

    #[test]
    fn buckets_are_dealt_in_rows_and_those_that_remain_in_turn() {
        assert_eq!(*homes(7, 3), [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (0, 2)]);
        assert_eq!(*homes(2, 4), [(0, 0), (1, 0)]);
    }
}
