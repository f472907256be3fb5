//! How do my threads meet, share and add up? A group with a member on every CPU of this machine.
//!
//! Run it with `cargo run --release --example group`.
#![allow(clippy::print_stdout, reason = "this is a program")]

use corecast::{Group, machine};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let machine = machine::detect()?;
    let group = Group::builder(&machine).build()?;
    println!("{} members on {}", group.size(), machine.name);
    println!("{}", group.choice());

    let results = group.run(|me| {
        let mut seed = if me.rank() == 0 { 42u64 } else { 0 };
        me.broadcast(0, &mut seed)?;
        let share = seed * (me.rank() as u64 + 1);
        me.barrier()?;
        me.allreduce(share, |a, b| a + b)
    })?;
    println!("every member has the sum {}", results[0]?);
    Ok(())
}
