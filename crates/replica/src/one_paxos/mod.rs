//! 1Paxos as one function: a [`Node`] takes an [`Input`] and gives [`Effect`]s. No threads, clocks, atomics or files.
//!
//! # How a runtime uses it
//! 1. It makes a node: [`Node::new`] for a member that the group begins with, [`Node::restored`] for one that starts from a
//!    snapshot; the latter gives itself no role before it has applied its own `Join`.
//! 2. It calls [`Node::step`] with each input, and executes the effects at once, in order. Answers
//!    ([`Input::EpochChecked`], [`Input::ConfigurationWon`], [`Input::ConfigurationSeen`], [`Input::Adopted`]) go back as
//!    the next inputs, before any other.
//! 3. On [`Effect::Apply`] it applies, up to the count that the effect names and no further, since the visible count covers
//!    no more: while [`Node::next_to_apply`] gives a command, [`System::begin`] decides, the state machine runs,
//!    [`System::finish`] keeps the reply, and [`Node::applied`] is told, which may give effects, too; one call for a run of
//!    commands will do. A client is answered where it is, by the apply of its own replica. The node publishes its count.
//! 4. Before it hands a request in, it asks [`System::status`] and answers done requests itself, and unknown sessions where
//!    they were opened: a leader's replica may not have got to the opening yet. The node orders a request in flight only
//!    once. After a change of the leader ([`Node::configuration`]) each node hands in its unanswered requests again: those
//!    that the former leader had not yet proposed are lost.
//! 5. Shared: the acceptor pulls what [`Node::pulls_from`] says, a learner reads the log of
//!    [`configuration().acceptor`](Node::configuration) from [`Node::learned_end`] on, the leader reads the counts of all
//!    members, once more before it executes [`Effect::ReadLog`]; all poll for a newer configuration first.
//! 6. It suspects: a dead node, the leader (after a delay by [`Node::rank`]), the acceptor, and, while it leads, members of
//!    [`Node::slow_members`] whose beat stands still.
//! 7. On [`Effect::Lagging`] it hands in the `Leave` of its own node, in case that is a member still, takes the snapshot of a
//!    member, and goes on as an incarnation that no process of its slot had, whether or not that one joined (at least
//!    [`Members::next_incarnation`]). It asks for its `Join` until it has applied it.
//!
//! [`Members::next_incarnation`]: crate::system::Members::next_incarnation
//! [`System::begin`]: crate::system::System::begin
//! [`System::finish`]: crate::system::System::finish
//! [`System::status`]: crate::system::System::status

mod accept;
mod acceptor_change;
mod configuration_log;
mod effects;
mod handover;
mod io;
mod leader_change;
mod learn;
mod log;
mod message;
mod messages;
mod node;
mod order;
mod preference;
mod rules;
mod voters;

pub use effects::Effects;
pub use io::{Adopted, Effect, Input, Transport};
pub use message::{Ballot, Entry, Former, Message};
pub use node::{Node, Settings};
pub use rules::Rules;

#[cfg(test)]
mod tests;
