//! Pipes, as large as the kernel lets any user make them.

use std::sync::Arc;

use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

use super::super::ends::Inlet;
use super::super::wire::Wire;
use super::{Carrier, Ends, Seed, Traits, byte_stream};
use corecast_race::contender::Unfit;
use corecast_race::harness::Abort;

pub(super) struct Pipe;

/// The usual limit for users (fs.pipe-max-size).
const MOST_BYTES: usize = 1 << 20;
/// The capacity of a pipe by default.
const LEAST_BYTES: usize = 1 << 16;

impl Carrier for Pipe {
    fn name(&self) -> &'static str {
        "pipe"
    }

    fn about(&self) -> &'static str {
        "a pipe for each receiver; sleeps"
    }

    fn traits(&self) -> Traits {
        Traits::UNICAST.among_processes()
    }

    fn open(&self, wire: &Wire, _abort: &Arc<Abort>) -> Result<Ends, Unfit> {
        byte_stream::open(wire, || {
            let (from, to) = pipe_with(PipeFlags::CLOEXEC)?;
            // A refusal (too many large pipes of one user) leaves the pipe as it is.
            let _ = fcntl_setpipe_size(&to, (wire.depth * wire.bytes).clamp(LEAST_BYTES, MOST_BYTES));
            Ok((to, from))
        })
    }

    fn attach(&self, wire: &Wire, seed: Seed, _abort: &Arc<Abort>) -> Result<Box<dyn Inlet>, Unfit> {
        byte_stream::attach(wire, seed)
    }
}
