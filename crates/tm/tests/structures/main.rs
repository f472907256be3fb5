//! The structures: against models without concurrency, and under several participants.
#![cfg(not(loom))]

mod concurrent;
mod sequential;
#[path = "../two_cpus/mod.rs"]
mod two_cpus;

use corecast_machine::Machine;
use corecast_tm::{Builder, Form, Participant, Role, Tm};
use two_cpus::machine;

const FORMS: [Form; 2] = [Form::Messages, Form::Shared];

/// One server of four participants in the form of messages.
fn builder(machine: &Machine, form: Form) -> Builder<'_> {
    Tm::builder(machine).participants(4).servers_every(4).form(form)
}

/// A participant of the shared form, alone.
fn alone(tm: &Tm) -> Participant {
    match tm.participant(0).expect("nobody has it") {
        Role::Application(participant) => participant,
        other => panic!("no application: {other:?}"),
    }
}
