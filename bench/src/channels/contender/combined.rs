//! corecast's two channels together, for programs that send to one and to many: `ump` for the one, `mcast` for the many.

use std::sync::Arc;

use super::super::traffic::Traffic;
use super::super::wire::Wire;
use super::mcast::MCAST;
use super::ump_bytes::UmpBytes;
use super::{Carrier, Ends, Traits};
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

    /// Programs are played by threads.
    fn traits(&self) -> Traits {
        Traits::BROADCAST.ours()
    }

    fn plays(&self, traffic: Traffic) -> bool {
        traffic != Traffic::Stream
    }

    fn open(&self, wire: &Wire, abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        if wire.receivers == 1 { UmpBytes.open(wire, abort) } else { MCAST.open(wire, abort) }
    }
}
