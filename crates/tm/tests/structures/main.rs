//! The structures: against models without concurrency, and under several participants.
#![cfg(not(loom))]

mod concurrent;
mod sequential;
#[path = "../two_cpus/mod.rs"]
mod two_cpus;

use corecast_machine::Machine;
use corecast_tm::{Builder, Form, Participant, Role, Tm, Values, Writes};
use two_cpus::machine;

const FORMS: [Form; 2] = [Form::Messages, Form::Shared];

/// One server of four participants in the form of messages.
fn builder(machine: &Machine, form: Form) -> Builder<'_> {
    Tm::builder(machine).participants(4).servers_every(4).form(form)
}

/// Every way to hold values and to claim writes, with its name.
fn kinds(machine: &Machine) -> Vec<(String, Builder<'_>)> {
    let forms =
        [(Form::Messages, Values::InMemory), (Form::Messages, Values::AtServers), (Form::Shared, Values::InMemory)];
    let kinds = forms.into_iter().flat_map(|kind| [Writes::Lazy, Writes::Eager].map(|writes| (kind, writes)));
    let builder = |((form, values), writes)| {
        (format!("{form} {values:?} {writes:?}"), builder(machine, form).values(values).writes(writes))
    };
    kinds.map(builder).collect()
}

/// A participant of the shared form, alone.
fn alone(tm: &Tm) -> Participant {
    match tm.participant(0).expect("nobody has it") {
        Role::Application(participant) => participant,
        other => panic!("no application: {other:?}"),
    }
}
