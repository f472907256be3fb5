//! The trait of contenders in the benchmark of servers: it makes the ends of one server and of its clients.

use std::time::Duration;

use corecast::base::wait::Wait;

use super::report::{Receive, Trip};
use crate::pair_body::{RecvEnd, SendEnd};
use corecast_race::failure::Failure;
use corecast_race::message::Message;

/// The work of a server and its clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Serving {
    pub(super) clients: usize,
    pub(super) trip: Trip,
    pub(super) receive: Receive,
    /// The work of the server for each message.
    pub(super) work: Duration,
    /// How corecast's channels wait, and what a wake-up costs if that is known.
    pub(super) wait: Wait,
    pub(super) wake_cost: Option<Duration>,
}

/// A way to have one server for many clients.
pub(super) trait Family: Sized {
    type Sender: SendEnd<Item = Message>;
    type Receiver: RecvEnd<Item = Message>;
    type Server: ServerEnd;

    /// Why it cannot receive so, if that is so.
    fn refuses(receive: Receive) -> Option<&'static str> {
        let _ = receive;
        None
    }

    /// The ends of the server and of each client.
    fn connect(serving: &Serving) -> Connected<Self>;
}

/// All ends of a server and its clients.
pub(super) struct Connected<F: Family> {
    pub(super) server: F::Server,
    /// From the server to each client.
    pub(super) answers: Vec<F::Sender>,
    /// Of each client: to the server, and back.
    pub(super) clients: Vec<(F::Sender, F::Receiver)>,
}

/// The clients that the server receives from.
pub(super) trait ServerEnd: Send + 'static {
    /// Waits for a message from any client.
    fn receive(&mut self) -> Result<Message, Failure>;

    /// Waits for a message from a client of one half: of those with even numbers (0), or with odd ones (1).
    fn receive_from(&mut self, half: usize) -> Result<Message, Failure>;
}
