//! The state of a region at one observation, and its JSON.

use corecast::base::region::{Entry, KIND_GROUP, KIND_LOCK, Liveness, Observer, Participant, ParticipantId};
use corecast::channel::OpenChannelError;
use corecast::channel::inspect::{ChannelView, EndState, EndView, Unit, inspect};
use corecast::channel::mcast::Policy;
use serde::Serialize;

use super::process;

/// A region.
#[derive(Debug, Serialize)]
pub(super) struct RegionSeen {
    pub(super) name: String,
    pub(super) how: How,
    pub(super) path: String,
    /// Why it cannot be looked at; then the rest is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trouble: Option<String>,
    #[serde(flatten)]
    pub(super) inside: Option<Inside>,
}

/// How a region is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum How {
    Named,
    Hosted,
}

/// The contents of a region.
#[derive(Debug, Serialize)]
pub(super) struct Inside {
    /// In hexadecimal digits: JSON's numbers are too short for some readers.
    generation: String,
    pub(super) bytes: usize,
    pub(super) creator_pid: u32,
    pub(super) participants: Vec<ParticipantSeen>,
    pub(super) channels: Vec<ChannelSeen>,
}

/// A participant of a region.
#[derive(Debug, Serialize)]
pub(super) struct ParticipantSeen {
    #[serde(skip)]
    pub(super) id: ParticipantId,
    pub(super) seat: u32,
    pub(super) pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) process: Option<String>,
    pub(super) is_alive: bool,
}

/// A channel.
#[derive(Debug, Serialize)]
pub(super) struct ChannelSeen {
    pub(super) name: String,
    /// Why it cannot be looked at; then the rest is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trouble: Option<String>,
    #[serde(flatten)]
    pub(super) state: Option<State>,
}

/// How far a channel is.
#[derive(Debug, Serialize)]
pub(super) struct State {
    pub(super) kind: &'static str,
    /// The unit of slots, positions and rates.
    pub(super) counts: &'static str,
    pub(super) slots: u64,
    pub(super) sent: Option<u64>,
    pub(super) sent_per_s: Option<f64>,
    pub(super) senders: Vec<EndSeen>,
    pub(super) receivers: Vec<ReceiverSeen>,
}

/// An end.
#[derive(Debug, Serialize)]
pub(super) struct EndSeen {
    /// Whose it is, as `participants` tells.
    pub(super) seat: Option<u32>,
    pub(super) pid: Option<u32>,
    pub(super) state: &'static str,
}

/// An end that receives.
#[derive(Debug, Serialize)]
pub(super) struct ReceiverSeen {
    #[serde(flatten)]
    pub(super) end: EndSeen,
    pub(super) policy: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) deadline_ms: Option<f64>,
    pub(super) cursor: Option<u64>,
    pub(super) behind: Option<u64>,
    pub(super) received_per_s: Option<f64>,
}

impl Inside {
    pub(super) fn of(observer: &Observer) -> Self {
        // This program forks nobody.
        let participants = observer.participants().unwrap_or_default();
        let participants: Vec<_> = participants.iter().map(ParticipantSeen::of).collect();
        // The memory of a group of processes is no channel: its participants tell all there is to show. Locks are none either.
        let channels = observer.entries().iter().filter(|entry| ![KIND_GROUP, KIND_LOCK].contains(&entry.kind));
        let channels = channels.map(|entry| ChannelSeen::of(observer, entry, &participants)).collect();
        Self {
            generation: format!("{:016x}", observer.generation()),
            bytes: observer.total_bytes(),
            creator_pid: observer.creator().1,
            participants,
            channels,
        }
    }

    /// True if it is the same region, at another time.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.generation == other.generation
    }

    /// True if somebody is there.
    pub(super) fn is_alive(&self) -> bool {
        self.participants.iter().any(|participant| participant.is_alive)
    }
}

impl ParticipantSeen {
    fn of(participant: &Participant) -> Self {
        let Participant { id, liveness, pid, start_time, .. } = *participant;
        let is_alive = liveness == Liveness::Alive;
        Self { id, seat: id.index, pid, process: process::name(pid, start_time), is_alive }
    }
}

impl ChannelSeen {
    fn of(observer: &Observer, entry: &Entry, participants: &[ParticipantSeen]) -> Self {
        let view = inspect(observer, entry);
        let trouble = view.as_ref().err().map(OpenChannelError::to_string);
        Self { name: entry.name.clone(), trouble, state: view.ok().map(|view| State::of(&view, participants)) }
    }
}

impl State {
    fn of(view: &ChannelView, participants: &[ParticipantSeen]) -> Self {
        let end = |end: &EndView| EndSeen::of(end, participants);
        let receivers = view.receivers.iter().map(|receiver| ReceiverSeen {
            end: end(&receiver.end),
            policy: policy(receiver.policy),
            deadline_ms: match receiver.policy {
                Policy::Deadline(deadline) => Some(deadline.as_secs_f64() * 1e3),
                Policy::Reliable | Policy::Lossy => None,
            },
            cursor: receiver.cursor,
            behind: receiver.behind,
            received_per_s: None,
        });
        Self {
            kind: view.kind,
            counts: match view.unit {
                Unit::Messages => "messages",
                Unit::Words => "words",
                _ => "slots",
            },
            slots: view.slots,
            sent: view.sent,
            sent_per_s: None,
            senders: view.senders.iter().map(end).collect(),
            receivers: receivers.collect(),
        }
    }
}

impl EndSeen {
    fn of(end: &EndView, participants: &[ParticipantSeen]) -> Self {
        let who = end.participant;
        let participant = participants.iter().find(|participant| Some(participant.id) == who);
        let state = match end.state {
            EndState::Left => "left",
            _ if !participant.is_some_and(|participant| participant.is_alive) => "dead",
            EndState::GivenUp => "given up",
            _ => "open",
        };
        Self { seat: who.map(|who| who.index), pid: participant.map(|participant| participant.pid), state }
    }
}

fn policy(policy: Policy) -> &'static str {
    match policy {
        Policy::Reliable => "reliable",
        Policy::Deadline(_) => "deadline",
        Policy::Lossy => "lossy",
    }
}
