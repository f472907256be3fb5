//! How do two processes find the memory they share by a name, and who is there?
//!
//! Run it with `cargo run --release --example region`.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::env;
use std::error::Error;
use std::process::Command;

use corecast::base::region::{RegionDir, RegionPlan, SharedRegion};
use corecast::channel::{RecvError, ump};

fn main() -> Result<(), Box<dyn Error>> {
    // Another program: all it knows is the directory and the name.
    if let Some(name) = env::args().nth(1) {
        return visit(&name);
    }
    let name = format!("shop-{}", std::process::id());
    let channel = ump::bytes::spec(ump::Config::default());
    let plan = channel.declare(channel.declare(RegionPlan::new(), "orders")?, "answers")?;
    let region = SharedRegion::named(&RegionDir::of_user(), &name, &plan)?;
    let (mut rx, mut tx) = (ump::bytes::receiver(&region, "orders")?, ump::bytes::sender(&region, "answers")?);
    let mut visitor = Command::new(env::current_exe()?).arg(&name).spawn()?;
    let message = rx.recv()?;
    for participant in region.participants()? {
        let who = if participant.id == region.me() { "this process" } else { "the visitor" };
        println!("seat {}: {who}, {:?}", participant.id.index, participant.liveness);
    }
    println!("ordered: {}", String::from_utf8_lossy(&message.to_vec()));
    drop(message);
    tx.send(b"coming")?;
    println!("after that: {}", rx.recv().map(|_| "more").or_else(words)?);
    if !visitor.wait()?.success() {
        return Err("the visitor failed".into());
    }
    // The last one who leaves takes the name away.
    Ok(())
}

fn visit(name: &str) -> Result<(), Box<dyn Error>> {
    let region = SharedRegion::open(&RegionDir::of_user(), name)?;
    let (mut tx, mut rx) = (ump::bytes::sender(&region, "orders")?, ump::bytes::receiver(&region, "answers")?);
    // Written where the receiver will read it.
    let order = b"two coffees";
    let mut loan = tx.reserve(order.len())?;
    loan.bytes().copy_from(order);
    loan.commit();
    println!("the visitor hears: {}", String::from_utf8_lossy(&rx.recv()?.to_vec()));
    Ok(())
}

/// The meaning of the end of a channel.
fn words(error: RecvError) -> Result<&'static str, RecvError> {
    match error {
        RecvError::Closed => Ok("the visitor left"),
        RecvError::Died => Ok("the visitor died"),
        other => Err(other),
    }
}
