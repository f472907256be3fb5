//! The demands on corecast's channels that other commands judge, listed so that `corecast bench channels` shows them as well.

use corecast_race::gate::Demand;

use crate::rules::{at_least, at_most};

/// The channels that one receiver looks at in `corecast bench select`.
pub(crate) const CHANNELS: usize = 64;

const UMP: &str = "corecast bench ump";
const SELECT: &str = "corecast bench select";
const DEATHS: &str = "corecast bench deaths";

pub(crate) const ONE_WAY_LINES: Demand = at_most(1.8, "ump, 56 bytes one way, in bare line transfers", UMP);
pub(crate) const ONE_WAY_RTRB: Demand = at_most(1.0, "ump, 56 bytes one way, time / rtrb's", UMP);
pub(crate) const STREAM_RTRB: Demand = at_least(1.5, "ump / rtrb, stream of 56 bytes, 1024 slots", UMP);
pub(crate) const WORDS_RTRB: Demand = at_least(1.5, "ff / rtrb, stream of words, 1024 slots", UMP);
pub(crate) const ONE_BUSY: Demand =
    at_most(2.0 * CHANNELS as f64, "select of 64 ump, one busy, ns per message more than ump alone", SELECT);
pub(crate) const ALL_BUSY: Demand =
    at_least(0.8, "select of 64 ump, all busy, the worst channel's part of its fair share", SELECT);
pub(crate) const IDLE: Demand =
    at_most(0.3, "idle receiver, % of one CPU, the worst of corecast's", "corecast bench idle");
pub(crate) const TOLD: Demand = at_most(100.0, "death to its news, ms, p99, the worst row", DEATHS);
pub(crate) const LEFT: Demand = at_most(0.0, "files left after a death, all rows", DEATHS);
