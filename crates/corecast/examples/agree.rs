//! How do my threads agree: on changes that each may refuse, on an order of events, on how far all are?
//!
//! Run it with `cargo run --release --example agree`.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::time::Duration;

use corecast::collective::Error;
use corecast::collective::acknowledged::{AckConfig, AckError};
use corecast::{Group, Member, machine};

const MEMBERS: usize = 4;
const PROPOSALS: u32 = 9;
const EVENTS: u32 = 100;
const ENTRIES: u64 = 1000;

/// The observations of one member: proposals applied, publishers of events in their order, entries processed.
type Seen = (u32, Vec<usize>, u64);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let group = Group::builder(&machine::detect()?).members(MEMBERS).pin(false).build()?;
    let seen = group.run(|me| Ok((decide(me)?, order(me)?, replicate(me)?)))?;
    let seen = seen.into_iter().collect::<Result<Vec<Seen>, AckError>>()?;
    let (applied, order, processed) = &seen[0];
    assert!(seen.iter().all(|other| other == &seen[0]), "all agree");
    let events = order.len();
    println!(
        "all applied {applied} of {PROPOSALS} proposals, saw {events} events in one order, and processed {processed} entries"
    );
    Ok(())
}

/// Two-phase commit: a proposal is applied by all or by none. The last member refuses every third one.
fn decide(me: &mut Member) -> Result<u32, Error> {
    let rank = me.rank();
    let mut applied = 0;
    if rank == 0 {
        let mut coordinator = me.coordinator::<u32>()?;
        for number in 1..=PROPOSALS {
            applied += u32::from(coordinator.commit(&number, Duration::from_secs(60))?);
        }
    } else {
        let mut participant = me.participant::<u32>(0)?;
        let vote = |number: &u32| rank != MEMBERS - 1 || number % 3 != 0;
        while participant.serve(vote, |_, is_committed| applied += u32::from(is_committed))? {}
    }
    Ok(applied)
}

/// An atomic stream: events of all members, in one order for all.
fn order(me: &mut Member) -> Result<Vec<usize>, Error> {
    let mut order = Vec::new();
    let mut stream = me.atomic_stream()?;
    for number in 0..EVENTS {
        stream.publish(&number.to_ne_bytes(), |_, origin, _| order.push(origin))?;
    }
    stream.finish(|_, origin, _| order.push(origin))?;
    Ok(order)
}

/// An acknowledged broadcast: a log that is known to be processed by all.
fn replicate(me: &mut Member) -> Result<u64, AckError> {
    let config = AckConfig::default();
    if me.rank() != config.root {
        return me.ack_follower::<u64>(config)?.serve(|_| ());
    }
    let mut root = me.ack_root::<u64>(config)?;
    for entry in 1..=ENTRIES {
        root.publish(&entry)?;
    }
    root.wait(ENTRIES)?;
    root.close()?;
    Ok(ENTRIES)
}
