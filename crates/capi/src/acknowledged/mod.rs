//! Acknowledged broadcast: one member publishes events, and learns how far all others have got.
//!
//! C has a configuration, an end of the root and an end of each other member, and owns each until it closes it. The
//! library's events are of a type; C's are bytes of up to a length that the configuration names, in one of three sizes of
//! values ([`sized`](crate::sized)). So each end is behind a trait, one call of which is made through a table.

pub mod root;

pub mod follower;

use corecast::collective::acknowledged::{AckConfig as Settings, AckOn as On, AckTuning, Discipline, Edges, Variant};

use crate::argument::{Parameters, choice, within};
use crate::error::Failure;
use crate::sized::{LARGE_BYTES, LARGE_WORDS, LINE_BYTES, LINE_WORDS, MESSAGE_BYTES, MESSAGE_WORDS};
use crate::status::Status;

/// The kind of graph over which events go out and acknowledgements come back.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum AckVariant {
    /// The one that suits the edges.
    Auto = 0,
    /// Down a balanced tree, and the acknowledgements up again.
    Tree = 1,
    /// Around a diamond ring: every member acts once for each event.
    Ring = 2,
    /// The same, and a member begins an event only after the one before.
    OrderedRing = 3,
}

/// How an event gets from one member to the next.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum AckEdges {
    /// A count of each member on a line of its own; one store passes on all events that have come.
    Counters = 0,
    /// A message for each event.
    Messages = 1,
    /// A task for each event, run in the order in which they come.
    TasksFifo = 2,
    /// A task for each event, the last one first.
    TasksLifo = 3,
}

/// When a member acknowledges an event.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum AckOn {
    /// When it has processed it.
    Processed = 0,
    /// As soon as it has a copy.
    Received = 1,
}

/// How an acknowledged broadcast is done; all members give the same. Set `size` to sizeof(corecast_ack_config), all else to
/// 0, and then the fields that matter; NULL stands for all zeroes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct AckConfig {
    /// sizeof(corecast_ack_config).
    pub size: usize,
    /// The longest event in bytes, at most 4088. 0: 48. Up to 48 bytes travel in one cache line, up to 496 in eight.
    pub longest_bytes: u32,
    /// The rank that publishes.
    pub root: u32,
    /// A corecast_ack_variant.
    pub variant: u32,
    /// A corecast_ack_edges.
    pub edges: u32,
    /// The number of members to which one member passes an event on, at most 4096. 0: 2.
    pub arity: u32,
    /// The number of events that may be on their way, at most 4096. 0: 128.
    pub window: u32,
    /// A corecast_ack_on.
    pub ack_on: u32,
    /// 1 if one member of a ring gathers in the root's place, so that the root hears one message of each event; else 0.
    pub companion: u32,
}

// SAFETY: numbers laid out as C does, without padding, the size first.
unsafe impl Parameters for AckConfig {}

impl AckConfig {
    fn check(self) -> Result<(Settings, Room), Failure> {
        Ok((self.settings()?, Room::of(self.longest_bytes as usize)?))
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let default = AckTuning::default();
        let variants = [Variant::Auto, Variant::Tree, Variant::Ring, Variant::OrderedRing];
        let tasks = [Discipline::Fifo, Discipline::Lifo].map(Edges::Tasks);
        let or = |given: u32, default: usize| if given == 0 { default } else { given as usize };
        let tuning = AckTuning {
            variant: choice(self.variant, &variants, "config.variant")?,
            edges: choice(self.edges, &[Edges::Counters, Edges::Messages, tasks[0], tasks[1]], "config.edges")?,
            arity: or(self.arity, default.arity),
            ack_on: choice(self.ack_on, &[On::Processed, On::Received], "config.ack_on")?,
            companion: within(self.companion, 0, 1, "config.companion")? == 1,
        };
        let settings = Settings::new(self.root as usize).tuning(tuning);
        Ok(settings.window(or(self.window, settings.window)))
    }
}

/// The room for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    Line,
    Message,
    Large,
}

impl Room {
    fn of(longest_bytes: usize) -> Result<Self, Failure> {
        let fits = |room: &Self| longest_bytes <= room.bytes();
        let room = [Self::Line, Self::Message, Self::Large].into_iter().find(fits);
        room.ok_or_else(|| too_large(longest_bytes, LARGE_BYTES))
    }

    fn bytes(self) -> usize {
        match self {
            Self::Line => LINE_BYTES,
            Self::Message => MESSAGE_BYTES,
            Self::Large => LARGE_BYTES,
        }
    }
}

fn too_large(len: usize, most: usize) -> Failure {
    Failure::new(Status::TooLarge, format!("an event has at most {most} bytes, not {len}"))
}

/// Calls a generic function for the room of an event.
macro_rules! for_room {
    ($room:expr, $function:ident) => {
        match $room {
            Room::Line => $function::<{ LINE_WORDS }>,
            Room::Message => $function::<{ MESSAGE_WORDS }>,
            Room::Large => $function::<{ LARGE_WORDS }>,
        }
    };
}
use for_room;
