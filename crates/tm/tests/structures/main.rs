//! The structures: against models without concurrency, and under several participants.
#![cfg(not(loom))]

mod concurrent;
mod sequential;

use corecast_base::CpuId;
use corecast_machine::{Cpu, Machine, Topology};
use corecast_tm::{Builder, Form, Participant, Role, Tm};

const FORMS: [Form; 2] = [Form::Messages, Form::Shared];

fn machine() -> Machine {
    let cpus = [0, 1].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
    Machine::from_topology(&Topology { cpus, ..Topology::default() })
}

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
