//! The multicast ring: claims in the slot word, cursors that gate, joins, evictions, exchanged blocks, reaping.
//!
//! Everything happens in a ring of two slots, where laps are short. A payload is one cell that is written in two steps,
//! and every sender, slot and block is named, so that whatever a reader gets instead of the whole message of its ticket
//! shows. Reading it in one step loses nothing: if something is written to the cell between two reads, the same run with
//! the first read moved next to the second one gets the wrong message, and is explored, too.

mod claim;
mod join;
mod reap;
mod receive;
mod send;
mod state;
mod verdicts;

use crate::exhaustive::checker::{Model, Steps};
use state::{Line, ReaderPc, Reaper, SenderPc, State};

/// Slots of the ring.
const SLOTS: usize = 2;
const RING: i8 = SLOTS as i8;
const SENDERS: [&str; 2] = ["sender A", "sender B"];
const READERS: [&str; 2] = ["reader R", "reader J"];

const WRONG: &str = "a reader gets something else than the message of its ticket";
const SKIPPED: &str = "the ticket of a living sender is skipped";
const OVERRUN: &str = "a gating reader is overrun";
const NO_WAY_ON: &str = "an overrun reader does not get on";
const FALSE_CORRUPT: &str = "an honest reader is taken for corrupt";
const LOST_BLOCK: &str = "a block is lost or owned twice";

/// The setup of a run.
#[derive(Debug, Clone, Copy)]
struct Setup {
    senders: Senders,
    ring: Ring,
    /// Messages of each sender.
    messages: [u8; 2],
    readers: [Option<Role>; 2],
    /// Payloads lie in blocks that senders and slots exchange.
    has_blocks: bool,
    /// The end that may die, once, at any step.
    crash: Crash,
    /// The reaper may die, too, once; the next one starts anew.
    reaper_may_die: bool,
    slip: Slip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Senders {
    Multi,
    /// Sender A alone; B takes its place if it died.
    Single,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ring {
    Gated,
    Overwrite,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Crash {
    Nobody,
    Sender,
    Reader,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Policy {
    Reliable,
    Deadline,
    Lossy,
}

/// The behaviour of a reader.
#[derive(Debug, Clone, Copy)]
struct Role {
    policy: Policy,
    /// The cursor line it uses, or takes when it joins.
    line: usize,
    /// It is not there from the start.
    joins: bool,
    /// It leaves when it has seen this many tickets; 0: it stays.
    leaves_after: u8,
    /// It leases the blocks it reads in an overwriting ring, and does not copy.
    leases: bool,
}

/// The slip that is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slip {
    /// Nothing.
    None,
    /// A sender claims by CAS on the tail, without looking at the slot.
    ClaimByTail,
    /// A reader starts at the tail it saw before it announced itself.
    JoinAtFirstTail,
    /// A scan counts active readers only.
    ScanWithoutJoining,
    /// The least cursor is taken as it is, even beyond the tail that was loaded before the scan.
    UncappedMinimum,
    /// A reader that was overrun goes on at tail - S.
    OverrunOffByOne,
    /// A copy is taken without looking at the slot word again.
    CopyWithoutLook,
    /// A sender writes without marking the slot first.
    WriteWithoutMark,
    /// The reaper lets the slot go before the block that the dead sender held is accounted for.
    SkipBeforeBlock,
    /// The reaper forgets the dead sender's exchange only after it let the slot go.
    ForgetAfterSkip,
    /// The reaper skips the ticket without helping the tail first.
    SkipWithoutTail,
    /// Nobody moves the tail behind the last message of a dead single sender.
    KeepTail,
    /// A sender that takes over takes the tail for the least cursor.
    TakeOverWithoutScan,
    /// The cursor of a joining reader is held against what was seen before.
    JudgeJoining,
    /// A lease is taken without looking at the slot word again.
    LeaseWithoutLook,
    /// A sender fills its block without looking for leases.
    FillLeased,
    /// A reader that died goes on gating.
    KeepDeadReader,
}

impl Setup {
    /// Two senders, one reader, a gated ring, nobody dies.
    const PLAIN: Self = Self {
        senders: Senders::Multi,
        ring: Ring::Gated,
        messages: [2, 2],
        readers: [Some(Role::STAYS), None],
        has_blocks: false,
        crash: Crash::Nobody,
        reaper_may_die: false,
        slip: Slip::None,
    };

    /// The policy of the readers that use a line; lines of lossy ones are not used.
    fn is_gating(&self, line: Line) -> bool {
        match line.ctl {
            state::Ctl::Active => true,
            state::Ctl::Joining => self.slip != Slip::ScanWithoutJoining,
            _ => false,
        }
    }

    fn has_deadline(&self) -> bool {
        self.readers.iter().flatten().any(|role| role.policy == Policy::Deadline)
    }
}

impl Role {
    /// A reliable reader in line 0 from start to end.
    const STAYS: Self = Self { policy: Policy::Reliable, line: 0, joins: false, leaves_after: 0, leases: false };
    /// A reliable reader that joins in line 1, which is scanned after line 0.
    const JOINS: Self = Self { line: 1, joins: true, ..Self::STAYS };
}

impl Model for Setup {
    type State = State;

    fn start(&self) -> State {
        State::start(self)
    }

    fn steps(&self, state: &State, steps: &mut Steps<State>) {
        for me in 0..2 {
            self.send(state, me, steps);
            if let Some(role) = self.readers[me] {
                self.receive(state, me, role, steps);
            }
        }
        self.reap(state, steps);
        self.die(state, steps);
    }

    fn is_done(&self, state: &State) -> bool {
        let senders = state.senders.iter().all(|sender| match sender.pc {
            SenderPc::Done | SenderPc::Dead => true,
            SenderPc::AwaitDeath => state.senders[0].pc == SenderPc::Done,
            _ => false,
        });
        let readers = self.readers.iter().zip(&state.readers).all(|(role, reader)| match (role, reader.pc) {
            (None, _) | (_, ReaderPc::Gone | ReaderPc::Dead) => true,
            (Some(role), ReaderPc::Poll) => reader.next == state.tail && self.told(state, *role, reader.next),
            _ => false,
        });
        senders && readers && matches!(state.reaper, Reaper::Idle | Reaper::Finished) && !state.has_unreaped()
    }

    fn flaw(&self, state: &State) -> Option<&'static str> {
        (self.has_blocks && !state.accounts_for_blocks() && self.is_done(state)).then_some(LOST_BLOCK)
    }
}

impl Setup {
    /// True if everybody can see how far the reader is.
    fn told(&self, state: &State, role: Role, next: i8) -> bool {
        role.policy == Policy::Lossy
            || state.lines[role.line].ctl == state::Ctl::Active && state.lines[role.line].cursor == next
    }
}
