//! One queue that all clients send into, and one back to each: the common way, with crossbeam's queues or the standard
//! library. The server cannot receive from some clients only.

use std::marker::PhantomData;
use std::sync::mpsc;

use super::super::family::{Connected, Family, ServerEnd, Serving};
use super::DEPTH;
use crate::messages::report::Receive;
use crate::pair_body::{RecvEnd, SendEnd};
use corecast_race::failure::Failure;
use corecast_race::message::Message;

const ONE_QUEUE: &str = "all clients share one queue, which cannot be asked for the messages of some of them";

/// A queue of many senders.
pub(super) trait Queue: 'static {
    type Sender: SendEnd<Item = Message> + Clone;
    type Receiver: RecvEnd<Item = Message>;

    fn queue(depth: usize) -> (Self::Sender, Self::Receiver);
}

/// The family that a queue makes.
pub(super) struct OneQueue<Q>(PhantomData<Q>);

pub(super) type Crossbeam = OneQueue<CrossbeamQueue>;
pub(super) type Std = OneQueue<StdQueue>;

pub(super) struct CrossbeamQueue;
pub(super) struct StdQueue;

impl Queue for CrossbeamQueue {
    type Sender = crossbeam_channel::Sender<Message>;
    type Receiver = crossbeam_channel::Receiver<Message>;

    fn queue(depth: usize) -> (Self::Sender, Self::Receiver) {
        crossbeam_channel::bounded(depth)
    }
}

impl Queue for StdQueue {
    type Sender = mpsc::SyncSender<Message>;
    type Receiver = mpsc::Receiver<Message>;

    fn queue(depth: usize) -> (Self::Sender, Self::Receiver) {
        mpsc::sync_channel(depth)
    }
}

impl RecvEnd for crossbeam_channel::Receiver<Message> {
    type Item = Message;

    #[inline]
    fn recv(&mut self) -> Result<Message, Failure> {
        crossbeam_channel::Receiver::recv(self).map_err(Failure::refused)
    }
}

impl<Q: Queue> Family for OneQueue<Q> {
    type Sender = Q::Sender;
    type Receiver = Q::Receiver;
    type Server = Server<Q>;

    fn refuses(receive: Receive) -> Option<&'static str> {
        (receive == Receive::Subset).then_some(ONE_QUEUE)
    }

    fn connect(serving: &Serving) -> Connected<Self> {
        // The number of places that the others' clients have together.
        let (asking, asked) = Q::queue(DEPTH * serving.clients);
        let (answers, answered): (Vec<_>, Vec<_>) = (0..serving.clients).map(|_| Q::queue(DEPTH)).unzip();
        let clients = answered.into_iter().map(|answered| (asking.clone(), answered)).collect();
        Connected { server: Server(asked), answers, clients }
    }
}

/// Where all clients send.
pub(super) struct Server<Q: Queue>(Q::Receiver);

impl<Q: Queue> ServerEnd for Server<Q> {
    #[inline]
    fn receive(&mut self) -> Result<Message, Failure> {
        self.0.recv()
    }

    fn receive_from(&mut self, _half: usize) -> Result<Message, Failure> {
        Err(Failure::Refused(ONE_QUEUE.to_owned()))
    }
}
