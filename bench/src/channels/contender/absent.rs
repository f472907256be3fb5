//! Contenders that this build lacks: every table lists them with the reason and how to build with them.

use std::sync::Arc;

use super::super::wire::Wire;
use super::{Carrier, Ends, Traits};
use corecast_race::contender::Unfit;
use corecast_race::harness::Abort;

/// How to build with iceoryx2.
#[cfg(not(feature = "iceoryx2"))]
const WITHOUT_ICEORYX2: &str =
    "built without feature iceoryx2: `cargo build --release -p corecast-cli --features iceoryx2`";

#[cfg(not(feature = "iceoryx2"))]
pub(super) static ICEORYX2: Absent = Absent {
    name: "iceoryx2",
    about: "crate iceoryx2, publish and subscribe through shared memory; not in this build",
    reason: WITHOUT_ICEORYX2,
};

#[cfg(not(feature = "iceoryx2"))]
pub(super) static ICEORYX2_COPY: Absent = Absent {
    name: "iceoryx2-copy",
    about: "crate iceoryx2, copied in and out; not in this build",
    reason: WITHOUT_ICEORYX2,
};

#[cfg(not(feature = "iceoryx2"))]
pub(super) static ICEORYX2_OVERFLOW: Absent = Absent {
    name: "iceoryx2-overflow",
    about: "crate iceoryx2, overwriting what a subscriber is late for; not in this build",
    reason: WITHOUT_ICEORYX2,
};

#[cfg(not(feature = "ipc-channel"))]
pub(super) static IPC_CHANNEL: Absent = Absent {
    name: "ipc-channel",
    about: "crate ipc-channel, Servo's channel among processes; not in this build",
    reason: "built without feature ipc-channel: `cargo build --release -p corecast-cli --features ipc-channel`",
};

/// A contender that is only named.
pub(super) struct Absent {
    name: &'static str,
    about: &'static str,
    reason: &'static str,
}

impl Carrier for Absent {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn traits(&self) -> Traits {
        Traits::BROADCAST.among_processes()
    }

    fn open(&self, _wire: &Wire, _abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        Err(Unfit(self.reason.to_owned()))
    }
}
