//! corecast's `ump` between clients and server: one ring from each client, received from through `Select`, and one back.

use corecast::base::wait::{CpuSharing, Waiter};
use corecast::channel::select::{Select, Subset};
use corecast::channel::ump::{Config, Receiver, Sender, channel_with};

use super::super::family::{Connected, Family, ServerEnd, Serving};
use super::DEPTH;
use corecast_race::failure::Failure;
use corecast_race::message::Message;

pub(super) struct Ump;

pub(super) struct Server {
    from: Select<Receiver<Message>>,
    /// The clients with even numbers, and those with odd ones.
    halves: [Subset; 2],
}

impl Family for Ump {
    type Sender = Sender<Message>;
    type Receiver = Receiver<Message>;
    type Server = Server;

    fn connect(serving: &Serving) -> Connected<Self> {
        let Serving { clients, wait, wake_cost, .. } = *serving;
        let channel = || channel_with(Config { slots: DEPTH, wait, wake_cost, ..Config::default() });
        let waiter = Waiter::new(wait, CpuSharing::unpinned(clients + 1), wake_cost);
        let server = Server { from: Select::with_waiter(waiter), halves: Default::default() };
        let mut all = Connected::<Self> { server, answers: Vec::new(), clients: Vec::new() };
        for number in 0..clients {
            let ((asking, asked), (answering, answered)) = (channel(), channel());
            let token = all.server.from.add(asked);
            assert_eq!(token.index(), number, "clients are numbered as they come");
            all.server.halves[number % 2].insert(token);
            all.answers.push(answering);
            all.clients.push((asking, answered));
        }
        all
    }
}

impl ServerEnd for Server {
    #[inline]
    fn receive(&mut self) -> Result<Message, Failure> {
        self.from.recv().map(|(_, message)| message).map_err(Failure::refused)
    }

    #[inline]
    fn receive_from(&mut self, half: usize) -> Result<Message, Failure> {
        self.from.recv_from(&self.halves[half]).map(|(_, message)| message).map_err(Failure::refused)
    }
}
