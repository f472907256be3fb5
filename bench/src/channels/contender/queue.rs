//! Queues for values within a process as contenders: one queue for each receiver, or one broadcast queue for all.

use std::sync::Arc;

use super::super::ends::{ByteRecv, ByteSend, Inlet, Reader, Receiving, Sending};
use super::super::wire::Wire;
use super::payload::{ForPayload, Payload, for_payload};
use super::{Carrier, Ends, Inlets, Traits};
use corecast_race::contender::Unfit;
use corecast_race::failure::Failure;
use corecast_race::harness::{Abort, Patience};

/// The sending end of a queue.
pub(super) trait QueueSend<P>: Send + 'static {
    /// Puts a message in, waiting for room.
    fn push(&mut self, message: P, waiting: &Waiting) -> Result<(), Failure>;
}

/// A receiving end of a queue.
pub(super) trait QueueRecv<P>: Send + 'static {
    /// Takes the next message out, waiting for it.
    fn pop(&mut self, waiting: &Waiting) -> Result<P, Failure>;

    /// Reads at least one message and at most `most`, waiting for the first. For queues in which messages can be read where
    /// they lie.
    #[inline(always)]
    fn read(&mut self, most: u64, waiting: &Waiting, mut read: impl FnMut(&P)) -> Result<(), Failure> {
        let _ = most;
        read(&self.pop(waiting)?);
        Ok(())
    }
}

/// A kind of queue, for messages of any type.
pub(super) trait QueueFamily: Sync {
    const NAME: &'static str;
    const ABOUT: &'static str;
    const TRAITS: Traits = Traits::UNICAST;

    type Sender<P: Payload>: QueueSend<P>;
    type Receiver<P: Payload>: QueueRecv<P>;

    /// Queues for `wire.depth` messages: one for each receiver, or one for all.
    fn channels<P: Payload>(wire: &Wire) -> EndsOf<Self, P>;
}

/// The sending and the receiving ends of a family's queues.
pub(super) type EndsOf<F, P> = (Vec<<F as QueueFamily>::Sender<P>>, Vec<<F as QueueFamily>::Receiver<P>>);

/// A queue for each receiver. Loops and not iterators: this is compiled for every kind of queue and length of message.
pub(super) fn each_receiver<S, R>(wire: &Wire, channel: impl Fn() -> (S, R)) -> (Vec<S>, Vec<R>) {
    let (mut senders, mut receivers) = (Vec::new(), Vec::new());
    for _ in 0..wire.receivers {
        let (sender, receiver) = channel();
        senders.push(sender);
        receivers.push(receiver);
    }
    (senders, receivers)
}

/// How ends wait that have no waiting of their own.
#[derive(Clone)]
pub(super) struct Waiting {
    patience: Patience,
    abort: Arc<Abort>,
}

impl Waiting {
    pub(super) fn new(wire: &Wire, abort: &Arc<Abort>) -> Self {
        Self { patience: wire.patience(), abort: Arc::clone(abort) }
    }

    #[inline(always)]
    pub(super) fn until(&self, is_ready: impl FnMut() -> bool) -> Result<(), Failure> {
        self.patience.until(&self.abort, is_ready)
    }

    /// Waits until there is something.
    #[inline(always)]
    pub(super) fn some<T>(&self, mut look: impl FnMut() -> Option<T>) -> Result<T, Failure> {
        let mut found = None;
        self.until(|| {
            found = look();
            found.is_some()
        })?;
        Ok(found.expect("waited until there was one"))
    }
}

/// The contender that a family of queues makes.
pub(super) struct Queues<F>(pub(super) F);

impl<F: QueueFamily> Carrier for Queues<F> {
    fn name(&self) -> &'static str {
        F::NAME
    }

    fn about(&self) -> &'static str {
        F::ABOUT
    }

    fn traits(&self) -> Traits {
        F::TRAITS
    }

    fn open(&self, wire: &Wire, abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        Ok(for_payload(self, wire, abort))
    }
}

impl<F: QueueFamily> ForPayload for Queues<F> {
    fn open<P: Payload>(&self, wire: &Wire, abort: &Arc<Abort>) -> Ends {
        let waiting = Waiting::new(wire, abort);
        let (senders, receivers) = F::channels::<P>(wire);
        let mut inlets: Vec<Box<dyn Inlet>> = Vec::new();
        for queue in receivers {
            inlets.push(Box::new(Receiving(One::<_, P>::new(queue, wire, &waiting))));
        }
        let outlet = Box::new(Sending(Many::<_, P> { queues: senders, pen: P::pen(wire), waiting }));
        Ends { outlet, inlets: Inlets::Here(inlets) }
    }
}

/// The sender of all queues.
struct Many<S, P: Payload> {
    queues: Vec<S>,
    pen: P::Pen,
    waiting: Waiting,
}

impl<S: QueueSend<P>, P: Payload> ByteSend for Many<S, P> {
    #[inline]
    fn send(&mut self, write: impl FnOnce(&mut [u8])) -> Result<(), Failure> {
        let message = P::write(&mut self.pen, write);
        let (last, others) = self.queues.split_last_mut().expect("a wire has a receiver");
        for queue in others {
            queue.push(message.clone(), &self.waiting)?;
        }
        last.push(message, &self.waiting)
    }
}

/// The receiver of one queue.
struct One<R, P> {
    queue: R,
    len: usize,
    waiting: Waiting,
    messages: std::marker::PhantomData<fn() -> P>,
}

impl<R, P> One<R, P> {
    fn new(queue: R, wire: &Wire, waiting: &Waiting) -> Self {
        Self { queue, len: wire.bytes, waiting: waiting.clone(), messages: std::marker::PhantomData }
    }
}

impl<Q: QueueRecv<P>, P: Payload> ByteRecv for One<Q, P> {
    #[inline]
    fn recv<R: Reader>(&mut self, most: u64, reader: &mut R) -> Result<(), Failure> {
        let Self { queue, len, waiting, .. } = self;
        queue.read(most, waiting, |message| reader.read(message.bytes(*len)))
    }
}
