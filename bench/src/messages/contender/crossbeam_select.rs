//! A crossbeam channel of each client to the server, which receives through crossbeam's `Select`, and a channel back.

use crossbeam_channel::{Receiver, Select, Sender, bounded};

use super::super::family::{Connected, Family, ServerEnd, Serving};
use super::DEPTH;
use corecast_race::failure::Failure;
use corecast_race::message::Message;

pub(super) struct CrossbeamSelect;

/// Receivers, and a selection of them that is made once, its fastest use. It borrows them for ever, so they are leaked: some
/// kilobytes for each client, in a program that ends when the benchmark does.
struct Chosen {
    select: Select<'static>,
    receivers: Vec<&'static Receiver<Message>>,
}

pub(super) struct Server {
    all: Chosen,
    /// The clients with even numbers, and those with odd ones.
    halves: [Chosen; 2],
}

impl Chosen {
    fn of(receivers: Vec<&'static Receiver<Message>>) -> Self {
        let mut select = Select::new();
        for &receiver in &receivers {
            select.recv(receiver);
        }
        Self { select, receivers }
    }

    #[inline]
    fn receive(&mut self) -> Result<Message, Failure> {
        let chosen = self.select.select();
        let receiver = self.receivers[chosen.index()];
        chosen.recv(receiver).map_err(Failure::refused)
    }
}

impl Family for CrossbeamSelect {
    type Sender = Sender<Message>;
    type Receiver = Receiver<Message>;
    type Server = Server;

    fn connect(serving: &Serving) -> Connected<Self> {
        let (mut receivers, mut answers, mut clients) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..serving.clients {
            let ((asking, asked), (answering, answered)) = (bounded(DEPTH), bounded(DEPTH));
            receivers.push(&*Box::leak(Box::new(asked)));
            answers.push(answering);
            clients.push((asking, answered));
        }
        let half = |half: usize| Chosen::of(receivers.iter().copied().skip(half).step_by(2).collect());
        let server = Server { halves: [half(0), half(1)], all: Chosen::of(receivers.clone()) };
        Connected { server, answers, clients }
    }
}

impl ServerEnd for Server {
    #[inline]
    fn receive(&mut self) -> Result<Message, Failure> {
        self.all.receive()
    }

    #[inline]
    fn receive_from(&mut self, half: usize) -> Result<Message, Failure> {
        self.halves[half].receive()
    }
}
