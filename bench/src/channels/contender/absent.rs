//! Contenders that this build, or any, cannot start: they stand in every table with the reason and the way to have them.

use std::sync::Arc;

use super::super::wire::Wire;
use super::{Carrier, Ends, Traits};
use crate::contender::Unfit;
use crate::harness::Abort;

/// Aeron has no Rust library that would do without its media driver.
pub(super) static AERON: Absent = Absent {
    name: "aeron-ipc",
    about: "Aeron's IPC publication and subscriptions, from its Java package; not started by this program",
    reason: "needs a Java machine and Aeron's own jar, which this program does not start: get it with \
        `mvn dependency:get -Dartifact=io.aeron:aeron-all:1.48.0` and run its sample EmbeddedIpcThroughput",
};

#[cfg(not(feature = "iceoryx2"))]
pub(super) static ICEORYX2: Absent = Absent {
    name: "iceoryx2",
    about: "crate iceoryx2, publish and subscribe through shared memory; not in this build",
    reason: "built without feature iceoryx2: `cargo build --release -p corecast-cli --features iceoryx2`",
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
