//! The channel under test, reduced to sending and receiving.
//!
//! A measurement needs a channel, and the channels are in a crate that knows nothing of machines. So the measurement
//! takes anything that implements [`Probe`]: the facade hands in the real channel, and [`LineProbe`](crate::LineProbe)
//! is there for a caller that wants the cost of the cache lines alone. Generic, not `dyn`: a call through a table per
//! message would be part of the measured time.

/// A one-way channel of small messages that can be measured.
///
/// ```
/// use corecast_machine::{LineProbe, Probe, ProbeReceiver, ProbeSender};
/// let (mut sender, mut receiver) = LineProbe.connect(64);
/// assert_eq!(receiver.try_receive(), None);
/// assert!(sender.try_send(7));
/// assert_eq!(receiver.try_receive(), Some(7));
/// ```
pub trait Probe: Sync {
    /// The sending end.
    type Sender: ProbeSender;
    /// The receiving end.
    type Receiver: ProbeReceiver;

    /// The name of the probe, in words: it becomes part of the model's provenance.
    fn name(&self) -> &str;

    /// A channel of its own that holds at least `slots - 1` messages. Called on the thread that will receive, so that
    /// memory lies near it.
    fn connect(&self, slots: usize) -> (Self::Sender, Self::Receiver);
}

/// The sending end of a channel under test.
pub trait ProbeSender: Send {
    /// Sends one message that carries `value`, or returns false at once if there is no room.
    fn try_send(&mut self, value: u64) -> bool;
}

/// The receiving end of a channel under test.
pub trait ProbeReceiver: Send {
    /// Takes the next message out and returns what it carries, or `None` at once if there is none.
    fn try_receive(&mut self) -> Option<u64>;
}
