//! corecast's two channels together, for programs that send to one and to many: `ump` for the one, `mcast` for the many.

use std::sync::Arc;

use super::super::ends::Inlet;
use super::super::traffic::Traffic;
use super::super::wire::Wire;
use super::mcast::MCAST;
use super::ump_bytes::UmpBytes;
use super::{Carrier, Ends, Seed, Traits};
use corecast_race::contender::Unfit;
use corecast_race::harness::Abort;

pub(super) struct Combined;

impl Carrier for Combined {
    fn name(&self) -> &'static str {
        "ump+mcast"
    }

    fn about(&self) -> &'static str {
        "corecast's ump-bytes to one and mcast to many; with --macro only"
    }

    fn traits(&self) -> Traits {
        Traits::BROADCAST.among_processes().ours()
    }

    fn plays(&self, traffic: Traffic) -> bool {
        traffic != Traffic::Stream
    }

    fn open(&self, wire: &Wire, abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        of(wire).open(wire, abort)
    }

    fn attach(&self, wire: &Wire, seed: Seed, abort: &Arc<Abort>) -> Result<Box<dyn Inlet>, Unfit> {
        of(wire).attach(wire, seed, abort)
    }
}

/// The channel that carries this wire.
fn of(wire: &Wire) -> &'static dyn Carrier {
    if wire.receivers == 1 { &UmpBytes } else { &MCAST }
}
