//! What does my machine cost?
//!
//! Measures for about a second what a message costs between every two CPUs of this machine, and prints it.
//! Run it with `cargo run --release --example measure`.
#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use corecast::UmpProbe;
use corecast::machine::CostMatrix;
use corecast::machine::measure::{Options, Silent, measure};
use corecast::machine::source::{DiscoveryRequest, discover};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let topology = discover(&DiscoveryRequest::default())?;
    let quick = Options { quick: std::env::args().all(|arg| arg != "--thorough"), ..Options::default() };
    let machine = measure(&topology, &UmpProbe, &quick, &mut Silent)?;

    println!("{} ({}: {})", machine.name, machine.provenance.kind, machine.provenance.source);
    print("a message keeps its sender busy for", &machine.send);
    print("a message keeps its receiver busy for", &machine.receive);
    if let Some(bounce) = &machine.extended.bounce {
        print("a bare cache line is handed over in", bounce);
    }
    for (what, costs) in [("sending to", &machine.extended.fan_out), ("receiving from", &machine.extended.fan_in)] {
        for (count, cost) in costs.iter().flatten() {
            println!("{what} {count} at once: {cost:.1} {}", machine.unit);
        }
    }
    let words = machine.extended.notes.iter().chain(&machine.extended.warnings);
    words.for_each(|words| println!("- {words}"));
    Ok(())
}

/// Rows are senders, columns receivers.
fn print(title: &str, costs: &CostMatrix) {
    println!("\n{title} (ns)");
    for row in costs.rows() {
        println!("{}", row.iter().map(|cost| format!("{cost:8.1}")).collect::<String>());
    }
}
