//! Send cost: the time that a sender is busy with each message of a long stream.
//!
//! A core puts stores into a buffer and goes on. A few sends in a row therefore cost 8 to 10 cycles each, whatever they
//! cost later: the price is paid once the buffer (some 50 to 70 stores) is full. So a batch has a thousand messages,
//! and the time is taken after a fence that waits until the last one is visible. The messages are dealt to many
//! channels in turn, as a parent deals to its children: along the lines of one ring the core would fetch ahead. No
//! channel gets full, so the sender never waits for a receiver; but the receiver has looked for each message's
//! predecessor, so that the lines have to be taken away from it again.
//!
//! Tried and not taken for the model, on two cores of a Zen 5: one channel and a receiver that empties it afterwards
//! (2.2 ns, where messages to different channels cost 3.2 each), and one channel and a receiver that reads along. The
//! latter polls the very line that is being written and takes it away between payload and header: 3.5 to 7.5 ns on near
//! cores, as it happens to keep up, and 37 on distant ones, where messages to different channels cost 10. No tree sends
//! a thousand messages in a row to one child, but some users do; so that is measured too, and is in the notes.

use corecast_base::sync::{Ordering, fence};

use super::gauge::Gauge;
use super::halt::{Halt, Halted};
use crate::probe::{ProbeReceiver, ProbeSender};

/// Sends one batch, `each` messages to each receiver, in turn; the cost of one message in nanoseconds.
pub(super) fn time_sends(
    senders: &mut [impl ProbeSender],
    each: usize,
    gauge: &Gauge,
    halt: &Halt,
) -> Result<f64, Halted> {
    let start = gauge.ticks();
    for _ in 0..each {
        for sender in &mut *senders {
            halt.until(|| sender.try_send(0).then_some(()))?;
        }
    }
    drain_store_buffer();
    Ok(gauge.ns_since(start) / (each * senders.len()) as f64)
}

/// Takes one batch out.
pub(super) fn receive_all(receivers: &mut [impl ProbeReceiver], each: usize, halt: &Halt) -> Result<(), Halted> {
    for _ in 0..each {
        for receiver in &mut *receivers {
            halt.until(|| receiver.try_receive())?;
        }
    }
    Ok(())
}

/// Waits until everything stored so far can be seen by all.
#[inline(always)]
pub(super) fn drain_store_buffer() {
    // ORDERING: SeqCst, only because it waits for the stores before it; it forbids no outcome that the arrival at the next
    // meeting would allow [arrival]
    fence(Ordering::SeqCst);
}
