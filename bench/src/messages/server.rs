//! The work of a server and its clients: numbered messages, each checked where it arrives, and answers if there are any.

use corecast::base::sync::spin_for;

use super::family::{Connected, Family, ServerEnd, Serving};
use super::message::{Received, check_answer, message};
use super::report::{Receive, Trip};
use crate::pair_body::{RecvEnd, SendEnd};
use corecast_race::failure::Failure;
use corecast_race::harness::Body;
use corecast_race::message::Message;

struct Server<R, S> {
    from: R,
    /// To each client.
    answers: Vec<S>,
    serving: Serving,
    received: Received,
}

struct Client<S, R> {
    to: S,
    from: R,
    /// Its number at its server.
    client: usize,
    is_answered: bool,
    sent: u64,
}

/// The bodies of a server and of its clients.
pub(super) fn bodies<F: Family>(serving: &Serving) -> Vec<Box<dyn Body>> {
    let Connected { server, answers, clients } = F::connect(serving);
    let received = Received::nothing(serving.clients);
    let server = Server { from: server, answers, serving: *serving, received };
    let is_answered = serving.trip == Trip::RoundTrip;
    let mut bodies: Vec<Box<dyn Body>> = vec![Box::new(server)];
    for (client, (to, from)) in clients.into_iter().enumerate() {
        bodies.push(Box::new(Client { to, from, client, is_answered, sent: 0 }));
    }
    bodies
}

impl<R: ServerEnd, S: SendEnd<Item = Message>> Server<R, S> {
    /// Serves this many messages from each client.
    fn serve(&mut self, each: u64) -> Result<(), Failure> {
        let clients = self.serving.clients as u64;
        match self.serving.receive {
            Receive::Any => (0..clients * each).try_for_each(|_| {
                let message = self.from.receive()?;
                self.handle(&message).map(drop)
            }),
            Receive::Subset => self.serve_halves([clients.div_ceil(2) * each, clients / 2 * each]),
        }
    }

    /// From each half in turns, until it has sent all of its messages.
    fn serve_halves(&mut self, mut left: [u64; 2]) -> Result<(), Failure> {
        let mut half = 0;
        while left != [0, 0] {
            if left[half] > 0 {
                let message = self.from.receive_from(half)?;
                let client = self.handle(&message)?;
                if client % 2 != half {
                    return Err(Failure::Wrong(format!("client {client} is not in the half that was asked for")));
                }
                left[half] -= 1;
            }
            half = 1 - half;
        }
        Ok(())
    }

    #[inline(always)]
    fn handle(&mut self, message: &Message) -> Result<usize, Failure> {
        let client = self.received.take_in(message)?;
        if !self.serving.work.is_zero() {
            spin_for(self.serving.work);
        }
        if self.serving.trip == Trip::RoundTrip {
            self.answers[client].send(*message)?;
        }
        Ok(client)
    }
}

impl<R: ServerEnd, S: SendEnd<Item = Message>> Body for Server<R, S> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.serve(iterations)
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        self.serve(rounds)
    }
}

impl<S: SendEnd<Item = Message>, R: RecvEnd<Item = Message>> Body for Client<S, R> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            let asked = message(self.client, self.sent);
            self.to.send(asked)?;
            self.sent += 1;
            if self.is_answered {
                check_answer(&self.from.recv()?, &asked)?;
            }
        }
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        self.run(rounds)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A server's end that gives out what it was given.
    struct Script(Vec<Message>);

    impl ServerEnd for Script {
        fn receive(&mut self) -> Result<Message, Failure> {
            Ok(self.0.remove(0))
        }

        fn receive_from(&mut self, _half: usize) -> Result<Message, Failure> {
            self.receive()
        }
    }

    fn serve(receive: Receive, messages: &[(usize, u64)]) -> Result<(), Failure> {
        let serving = Serving {
            clients: 2,
            trip: Trip::OneWay,
            receive,
            work: Duration::ZERO,
            wait: corecast::base::wait::Wait::Adaptive,
            wake_cost: None,
        };
        let from = Script(messages.iter().map(|&(client, number)| message(client, number)).collect());
        let answers = Vec::<crossbeam_channel::Sender<Message>>::new();
        let mut server = Server { from, answers, serving, received: Received::nothing(2) };
        server.check(messages.len() as u64 / 2)
    }

    #[test]
    fn a_server_finds_messages_out_of_order_and_of_clients_that_were_not_asked() {
        assert_eq!(serve(Receive::Any, &[(0, 0), (0, 1), (1, 0), (1, 1)]), Ok(()));
        assert_eq!(serve(Receive::Subset, &[(0, 0), (1, 0), (0, 1), (1, 1)]), Ok(()));
        let reordered = serve(Receive::Any, &[(0, 1), (0, 0)]).expect_err("out of order").to_string();
        assert!(reordered.contains("message 1 of client 0 arrived, expected Some(0)"), "{reordered}");
        let other = serve(Receive::Subset, &[(1, 0), (0, 0)]).expect_err("it was not asked").to_string();
        assert!(other.contains("client 1 is not in the half that was asked for"), "{other}");
    }
}
