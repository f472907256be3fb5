//! A probe is the user's code: what it does wrong ends the measurement with an error, not with threads that wait.

use corecast_machine::measure::{MeasureError, Silent, measure};
use corecast_machine::{LineProbe, LineReceiver, LineSender, Probe, ProbeReceiver, ProbeSender};

use crate::{brief, here, two_cpus};

/// Receives some messages, then panics.
struct Fuse;

struct FuseReceiver(LineReceiver, u32);

impl Probe for Fuse {
    type Sender = LineSender;
    type Receiver = FuseReceiver;
    fn name(&self) -> &str {
        "a fuse"
    }
    fn connect(&self, slots: usize) -> (LineSender, FuseReceiver) {
        let (sender, receiver) = LineProbe.connect(slots);
        (sender, FuseReceiver(receiver, 0))
    }
}

impl ProbeReceiver for FuseReceiver {
    fn try_receive(&mut self) -> Option<u64> {
        self.1 += 1;
        assert!(self.1 < 500, "the fuse blew");
        self.0.try_receive()
    }
}

#[test]
fn a_panic_names_the_cpu_and_the_message() {
    let Some(cpus) = two_cpus() else { return };
    let error = measure(&here(), &Fuse, &brief(cpus.clone()), &mut Silent).expect_err("it panics");
    let MeasureError::Panicked { cpu, message } = &error else { panic!("{error}") };
    assert!(cpus.contains(*cpu) && message == "the fuse blew", "{error}");
}

/// Delivers, but says something else than was sent.
struct Liar;

struct LiarSender(LineSender);

impl Probe for Liar {
    type Sender = LiarSender;
    type Receiver = LineReceiver;
    fn name(&self) -> &str {
        "a liar"
    }
    fn connect(&self, slots: usize) -> (LiarSender, LineReceiver) {
        let (sender, receiver) = LineProbe.connect(slots);
        (LiarSender(sender), receiver)
    }
}

impl ProbeSender for LiarSender {
    fn try_send(&mut self, value: u64) -> bool {
        self.0.try_send(value + 1_000_000)
    }
}

#[test]
fn a_probe_that_garbles_messages_is_refused() {
    let Some(cpus) = two_cpus() else { return };
    let error = measure(&here(), &Liar, &brief(cpus), &mut Silent).expect_err("it lies");
    assert!(matches!(error, MeasureError::Panicked { .. }), "{error}");
}
