//! The rules of the protocol that a model can leave out, to see that its checker notices.

/// Each rule is true in the protocol. Only models set one to false: then there is a run with two commands at one index, with
/// a stale read, or in which the group stands still. The numbers are those of the design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::struct_excessive_bools, reason = "each is one rule, on or off")]
pub struct Rules {
    /// F1: no acceptor change before the leader has adopted.
    pub adopt_before_acceptor_change: bool,
    /// F2: U holds commands that the leader has learned, too.
    pub chosen_holds_learned: bool,
    /// F3: a new leader starts from U.
    pub leader_starts_from_chosen: bool,
    /// F4: a restarted process is a new incarnation. Kept by the caller.
    pub restart_is_new_incarnation: bool,
    /// F5: the answer to Prepare carries the commands.
    pub prepare_answers_commands: bool,
    /// F6: the acceptor looks again for the epoch before it commits.
    pub recheck_epoch: bool,
    /// F7: a new leader adopts commands that were written and not committed.
    pub adopt_uncommitted: bool,
    /// F8: a new leader passes over slots older than the instance.
    pub skip_older_slots: bool,
    /// F9: a leader behind the trimmed part resigns, its next index is not below it, and the acceptor drops indexes below it.
    pub respect_stable: bool,
    /// F10: the configuration that chooses an acceptor carries the trimmed count.
    pub configuration_carries_stable: bool,
    /// F11: every node raises the visible count, not the leader alone.
    pub all_raise_visible: bool,
    /// F12: the visible count is raised by maximum, not by a plain store. Kept by the caller.
    pub raise_by_maximum: bool,
    /// F13: from the order of a `Join` on, what the joiner has applied bounds the trimmed count.
    pub joiners_bound_stable: bool,
    /// F14: the entry before a position of the configuration log says who votes on it, not what its proposer knows of members.
    pub voters_of_entry: bool,
    /// F15: where the acceptor is out, a new leader goes on from what a former one had.
    pub former_leaders_answer: bool,
    /// F16: before that, the owners of all newer epochs have said that they completed none.
    pub all_owners_answer: bool,
}

impl Rules {
    /// All rules.
    pub const ALL: Self = Self {
        adopt_before_acceptor_change: true,
        chosen_holds_learned: true,
        leader_starts_from_chosen: true,
        restart_is_new_incarnation: true,
        prepare_answers_commands: true,
        recheck_epoch: true,
        adopt_uncommitted: true,
        skip_older_slots: true,
        respect_stable: true,
        configuration_carries_stable: true,
        all_raise_visible: true,
        raise_by_maximum: true,
        joiners_bound_stable: true,
        voters_of_entry: true,
        former_leaders_answer: true,
        all_owners_answer: true,
    };
}

impl Default for Rules {
    fn default() -> Self {
        Self::ALL
    }
}
