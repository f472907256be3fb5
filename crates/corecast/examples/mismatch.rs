//! What happens when my threads do not call the same operation? Each of them is told who called what.
//!
//! Run it with `cargo run --release --example mismatch`.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::time::Instant;

use corecast::{Group, machine};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let machine = machine::detect()?;
    let group = Group::builder(&machine).members(2).build()?;
    let outcomes = group.run(|me| {
        let start = Instant::now();
        let outcome = match me.rank() {
            0 => me.barrier(),
            _ => me.allreduce(1_u64, |a, b| a + b).map(drop),
        };
        (outcome, start.elapsed())
    })?;
    for (rank, (outcome, after)) in outcomes.into_iter().enumerate() {
        let error = outcome.expect_err("neither call can be completed");
        println!("member {rank} was told after {} ms: {error}", after.as_millis());
    }
    Ok(())
}
