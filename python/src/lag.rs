//! How far the readers of a broadcast channel are behind, by a look at its memory from outside.

use corecast::channel::inspect::{EndState, ReceiverView, inspect};
use corecast::channel::mcast::Policy;
use corecast::region::{Liveness, Participant, SharedRegion};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error;
use crate::meeting::CHANNEL;

/// A reader, and its process.
pub(crate) struct Seen {
    pid: Option<u32>,
    behind: Option<u64>,
    policy: Policy,
    state: &'static str,
}

impl Seen {
    fn of(view: &ReceiverView, participants: &[Participant]) -> Self {
        let process = participants.iter().find(|participant| Some(participant.id) == view.end.participant);
        let is_alive = process.is_some_and(|process| process.liveness == Liveness::Alive);
        let state = match view.end.state {
            _ if !is_alive => "dead",
            EndState::GivenUp => "given up",
            _ => "open",
        };
        Self { pid: process.map(|process| process.pid), behind: view.behind, policy: view.policy, state }
    }

    /// The reader as Python has it.
    pub(crate) fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let facts = PyDict::new(py);
        facts.set_item("pid", self.pid)?;
        facts.set_item("behind", self.behind)?;
        match self.policy {
            Policy::Reliable => facts.set_item("policy", "reliable")?,
            Policy::Lossy => facts.set_item("policy", "lossy")?,
            Policy::Deadline(time) => facts.set_item("policy", time.as_secs_f64())?,
        }
        facts.set_item("state", self.state)?;
        Ok(facts)
    }
}

/// All readers of the channel in a region.
pub(crate) fn readers(region: &SharedRegion) -> PyResult<Vec<Seen>> {
    let (views, participants) = look(region)?;
    Ok(views.iter().map(|view| Seen::of(view, &participants)).collect())
}

/// The distance of the reader that is this participant of the region; 0 for one that was given up and begins anew.
pub(crate) fn own(region: &SharedRegion) -> PyResult<u64> {
    let (views, _) = look(region)?;
    let own = views.iter().find(|view| view.end.participant == Some(region.me()));
    Ok(own.and_then(|view| view.behind).unwrap_or_default())
}

fn look(region: &SharedRegion) -> PyResult<(Vec<ReceiverView>, Vec<Participant>)> {
    region.check_fork().map_err(|_| error::forked("channel"))?;
    let observer = region.observer().map_err(|error| error::named("Error", error))?;
    let entry = region.entry(CHANNEL).ok_or_else(|| error::named("Corrupt", "the region holds no channel"))?;
    let view = inspect(&observer, &entry).map_err(error::open)?;
    let participants = observer.participants().map_err(|_| error::forked("channel"))?;
    Ok((view.receivers, participants))
}
