//! A server of a simulated machine, to which clients send messages.

use std::cell::RefCell;
use std::rc::Rc;

use corecast_channel::select::Select;
use corecast_channel::ump;
use corecast_sim_core::{Machine, Run, Thread, Ticks};

use crate::channels::{Message, MessageChannel, USUAL_SLOTS, Ump, UmpSlotClear, number};
use crate::disturbance::{Disturbance, Disturbed};
use crate::error::SimError;
use crate::messages::boxed;
use crate::rounds::alone;

/// A server, and clients with a channel each from which it receives by `Select`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The CPU of the server.
    pub server: usize,
    /// Those of the clients.
    pub clients: Vec<usize>,
    /// True if each client waits for an answer before it sends the next message.
    pub answers: bool,
    /// True if the server clears each slot that it has read, which suits clients in its package.
    pub clears_slots: bool,
    /// Messages of each client before those that count.
    pub warm_up: u64,
    /// Messages of each client that count.
    pub messages: u64,
    /// The seed of stops.
    pub seed: u64,
    /// The disturbances of the server and of its clients; a kill is refused. Clients share CPUs as far as their list says.
    pub disturbance: Disturbance,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            server: 0,
            clients: vec![1],
            answers: false,
            clears_slots: false,
            warm_up: 200,
            messages: 200,
            seed: 1,
            disturbance: Disturbance::NONE,
        }
    }
}

/// The outcome of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerOutcome {
    /// Messages that the server received in a second, in millions, from the end of the warm-up until it had all of a client's.
    pub mops: f64,
    /// Lines that moved for a message, by the distance that they came from.
    pub transfers: Vec<f64>,
    /// How all were disturbed.
    pub disturbed: Disturbed,
}

/// Lets clients send messages to a server, which checks each.
///
/// # Errors
/// [`SimError::Threads`] if the machine has no such CPUs or there are no clients, [`SimError::Kill`] if one is to be killed,
/// [`SimError::Stopped`] if the run has no outcome, [`SimError::Stack`] if there is no memory for a thread.
pub fn server(machine: &Machine, server: &Server) -> Result<ServerOutcome, SimError> {
    let cpus = machine.cpus();
    let most = server.clients.iter().copied().max().unwrap_or(cpus).max(server.server);
    if most >= cpus {
        return Err(SimError::Threads { threads: most + 1, cpus, most: cpus });
    }
    if server.disturbance.kill_at.is_some() {
        return Err(SimError::Kill { reason: "the server would wait for it for ever" });
    }
    match server.clears_slots {
        true => server_of::<UmpSlotClear>(machine, server),
        false => server_of::<Ump>(machine, server),
    }
}

/// A run is given up after this time for each message, in nanoseconds.
const PATIENCE_NS: u64 = 1_000_000;

type Received = Rc<RefCell<Vec<(usize, Ticks)>>>;
type Values<C> = (<C as MessageChannel>::Sender, <C as MessageChannel>::Receiver);

fn server_of<C>(machine: &Machine, server: &Server) -> Result<ServerOutcome, SimError>
where
    C: MessageChannel<Sender = ump::Sender<Message>, Receiver = ump::Receiver<Message>> + 'static,
{
    let _alone = alone();
    let mut run = Run::new(machine);
    let (mut select, mut answers) = (Select::new(), Vec::new());
    for &cpu in &server.clients {
        let ((mut requests, request), (answer, mut answered)): (Values<C>, Values<C>) =
            (C::pair(USUAL_SLOTS), C::pair(USUAL_SLOTS));
        select.add(request);
        answers.push(answer);
        let (total, waits) = (server.warm_up + server.messages, server.answers);
        let body = move |_: &Thread| {
            for number in 0..total {
                C::send(&mut requests, number);
                if waits {
                    assert_eq!(C::recv(&mut answered), number, "the answer is to the last message");
                }
            }
        };
        run.spawn(cpu, 0, boxed(body)).map_err(SimError::stack)?;
    }
    let received = Received::default();
    let body = serve::<C>(select, answers, server, Rc::clone(&received));
    run.spawn(server.server, 0, boxed(body)).map_err(SimError::stack)?;
    server.disturbance.apply(&mut run, machine, server.seed);
    let messages = server.clients.len() as u64 * (server.warm_up + server.messages);
    let report = run.finish(machine.ticks(messages.saturating_mul(PATIENCE_NS)))?;
    let transfers = report.counts.transfers_each(messages);
    let disturbed = Disturbed::of(machine, &report);
    Ok(ServerOutcome { mops: mops(machine, &received.take(), server), transfers, disturbed })
}

/// The server's work: until all messages of all clients have come.
fn serve<C>(
    mut select: Select<C::Receiver>,
    mut answers: Vec<C::Sender>,
    server: &Server,
    received: Received,
) -> impl FnOnce(&Thread) + 'static
where
    C: MessageChannel<Sender = ump::Sender<Message>, Receiver = ump::Receiver<Message>> + 'static,
{
    let (total, replies) = (server.warm_up + server.messages, server.answers);
    move |me: &Thread| {
        let mut seen = vec![0; answers.len()];
        while seen.iter().any(|&count| count < total) {
            // An error is the end of a client that has sent all.
            let Ok((token, message)) = select.recv() else { continue };
            let client = token.index();
            assert_eq!(number(&message), seen[client], "a client's messages come in their order");
            received.borrow_mut().push((client, me.now()));
            if replies {
                C::send(&mut answers[client], seen[client]);
            }
            seen[client] += 1;
        }
    }
}

/// The rate at which the messages came that count.
fn mops(machine: &Machine, received: &[(usize, Ticks)], server: &Server) -> f64 {
    let mut seen = vec![0; server.clients.len()];
    let is_last_of_client = |&(client, _): &(usize, Ticks)| {
        seen[client] += 1;
        seen[client] == server.warm_up + server.messages
    };
    let end = received.iter().position(is_last_of_client).unwrap_or(0);
    let begin = (server.warm_up as usize * server.clients.len()).min(end);
    let span = received.get(end).zip(received.get(begin)).map_or(0, |((_, last), (_, first))| last - first);
    (end - begin) as f64 / machine.ns(span.max(1)) * 1000.0
}
