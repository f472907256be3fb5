//! `corecast explain tm`: which participants of a transactional memory serve, where they sit and why, and which form is
//! preferred.

use corecast::machine::Unit;
use corecast::tm::placement::{Placement, SERVERS_EVERY, ServerSeat};
use corecast::tm::prediction::{Prediction, Rates};
use corecast::tm::{Form, MAX_PARTICIPANTS};
use serde::Serialize;

use crate::failure::Failure;
use crate::machine_args::Model;
use crate::output::Output;
use crate::{levels, printable, table};

pub(super) fn run(model: &Model, members: Option<usize>, every: Option<usize>, output: &Output) -> Result<(), Failure> {
    let (participants, every) = sizes(model, members, every)?;
    let placement = Placement::new(&model.machine, &model.machine.cpu_set(), participants, Some(every))?;
    let prediction = Prediction::of(&placement);
    if output.is_json() {
        return output.json(&TransactionsJson::of(model, &placement, every, &prediction));
    }
    output.text(&text(model, &placement, every, &prediction))
}

/// The number of participants, and the share of servers.
fn sizes(model: &Model, members: Option<usize>, every: Option<usize>) -> Result<(usize, usize), Failure> {
    let cpus = model.machine.cpu_set().as_slice().len();
    let participants = members.unwrap_or(cpus.clamp(2, MAX_PARTICIPANTS));
    if !(2..=MAX_PARTICIPANTS).contains(&participants) {
        let why = format!("--members {participants}: a transactional memory has 2 to {MAX_PARTICIPANTS} participants");
        return Err(Failure::input(why));
    }
    let every = every.unwrap_or(SERVERS_EVERY.min(participants));
    if every > participants {
        let why = format!("--servers-every {every}: expected 2 to the number of participants, which is {participants}");
        return Err(Failure::input(why));
    }
    Ok((participants, every))
}

fn text(model: &Model, placement: &Placement, every: usize, prediction: &Prediction) -> String {
    let problem = placement.problem();
    let heading = printable::line(&format!("{}: {}", model.machine.name, model.origin)).into_owned();
    let (participants, servers) = (problem.len(), placement.servers().len());
    format!(
        "{heading}\n{}\none of {every} participants is a server: {} and {}\n{}\n{}\n\n{}: {}\namong threads a short race of \
         both forms has the last word, where the machine is this one\n",
        levels::text(problem),
        table::many(servers, "server"),
        table::many(participants - servers, "application"),
        seats(placement.servers()),
        trips(placement),
        form(prediction),
        prediction.why,
    )
}

fn seats(servers: &[ServerSeat]) -> String {
    let mut rows = table::table(&[">server", ">participant", ">CPU", "why there"]);
    for (number, server) in servers.iter().enumerate() {
        let (participant, cpu) = (server.participant.to_string(), server.cpu.to_string());
        rows.add_row([number.to_string(), participant, cpu, server.why.clone()]);
    }
    table::text(&rows)
}

fn trips(placement: &Placement) -> String {
    let unit = placement.problem().unit();
    let cost =
        |cost: Option<f64>| cost.map_or_else(|| "unknown".to_owned(), |cost| format!("{} {unit}", table::cost(cost)));
    format!(
        "a request and its reply: {} on average, {} with participants on the CPUs in the order of their numbers",
        cost(placement.round_trip()),
        cost(placement.numbered_round_trip()),
    )
}

fn form(prediction: &Prediction) -> &'static str {
    match prediction.form {
        Form::Messages => "the form `auto` prefers messages",
        _ => "the form `auto` prefers shared memory",
    }
}

/// The fields of `explain tm --json`, described in `docs/json/explain.md`.
#[derive(Debug, Serialize)]
struct TransactionsJson<'a> {
    machine: &'a str,
    origin: &'a str,
    unit: String,
    members: Vec<u32>,
    levels: Vec<Vec<usize>>,
    servers_every: usize,
    servers: Vec<SeatJson<'a>>,
    round_trip: Option<f64>,
    numbered_round_trip: Option<f64>,
    form: &'static str,
    messages: RatesJson,
    shared: RatesJson,
    why: &'a str,
}

#[derive(Debug, Serialize)]
struct SeatJson<'a> {
    participant: usize,
    cpu: u32,
    why: &'a str,
}

/// Accesses in a thousand units.
#[derive(Debug, Serialize)]
struct RatesJson {
    apart: f64,
    together: f64,
}

impl RatesJson {
    fn of(rates: Rates) -> Self {
        Self { apart: rates.apart, together: rates.together }
    }
}

impl<'a> TransactionsJson<'a> {
    fn of(model: &'a Model, placement: &'a Placement, every: usize, prediction: &'a Prediction) -> Self {
        let unit: Unit = placement.problem().unit();
        let seat = |server: &'a ServerSeat| SeatJson {
            participant: server.participant,
            cpu: server.cpu.get(),
            why: &server.why,
        };
        Self {
            machine: &model.machine.name,
            origin: &model.origin,
            unit: unit.to_string(),
            members: placement.cpus().iter().map(|cpu| cpu.get()).collect(),
            levels: levels::sizes(placement.problem()),
            servers_every: every,
            servers: placement.servers().iter().map(seat).collect(),
            round_trip: placement.round_trip(),
            numbered_round_trip: placement.numbered_round_trip(),
            form: prediction.form.name(),
            messages: RatesJson::of(prediction.messages),
            shared: RatesJson::of(prediction.shared),
            why: &prediction.why,
        }
    }
}
