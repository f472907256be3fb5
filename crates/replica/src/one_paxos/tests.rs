//! Tests of a leader's account of members and joiners, and of what it makes of that.

use std::sync::Arc;

use super::{Adopted, Ballot, Effect, Entry, Input, Message, Node, Rules, Settings, Transport};
use crate::system::Members;
use crate::{Command, Configuration, Index, LeaveReason, NodeId, Op, RoleChange, SessionId};

const WINDOW: u64 = 32;
const FUSED: Transport = Transport::Shared { is_fused: true };

fn founder(slot: u16) -> NodeId {
    NodeId::new(slot, 1)
}

/// The first of two members, which leads and accepts.
fn leader() -> Node<u16> {
    leader_by(FUSED, founder(0))
}

/// The first of two members, which leads, and alone votes where there are voters.
fn leader_by(transport: Transport, acceptor: NodeId) -> Node<u16> {
    member(founder(0), transport, acceptor)
}

/// The second of two members.
fn follower_by_messages() -> Node<u16> {
    member(founder(1), Transport::Messages, founder(1))
}

/// One of two members, of which the first leads.
fn member(me: NodeId, transport: Transport, acceptor: NodeId) -> Node<u16> {
    let leader = founder(0);
    let founders = vec![leader, founder(1)];
    let second = if me == leader { founder(1) } else { me };
    let members = Members::founding([leader, second].map(|node| (node, 1)));
    let settings = Settings { me, transport, window: WINDOW, founders, rules: Rules::ALL };
    let change = RoleChange::Acceptor;
    let first = Configuration { epoch: 0, change, leader, acceptor, inst: 0, stable: 0, source: leader, hi: 0 };
    Node::new(settings, members, first)
}

/// Gives the node an input, carries out what it wants, and returns the commands that it has ordered.
fn step(node: &mut Node<u16>, input: Input<u16>) -> Vec<Op<u16>> {
    let (mut effects, mut ordered) = (Vec::new(), Vec::new());
    node.step(input, &mut effects);
    while !effects.is_empty() {
        for effect in std::mem::take(&mut effects) {
            match effect {
                Effect::Write { commands, .. } => ordered.extend(commands.iter().map(|command| command.op)),
                Effect::CheckEpoch { epoch, end } => {
                    node.step(Input::EpochChecked { epoch, end, is_newest: true }, &mut effects);
                }
                Effect::Apply(end) => node.applied(end, &mut effects),
                _ => {}
            }
        }
    }
    ordered
}

fn order(node: &mut Node<u16>, op: Op<u16>) -> Vec<Op<u16>> {
    step(node, Input::Requests(vec![Command { session: SessionId::SYSTEM, rid: 0, op }]))
}

/// Orders this many commands, which the other founder applies.
fn fill(node: &mut Node<u16>, count: u64) {
    for _ in 0..count {
        order(node, Op::Noop);
        let applied = node.applied_count();
        step(node, Input::Progress { node: founder(1), applied });
    }
}

fn join(applied: Index) -> Op<u16> {
    Op::Join { node: founder(2), boot: 7, applied }
}

#[test]
fn a_member_whose_process_goes_on_is_put_out_as_too_slow() {
    let leave = |reason| vec![Op::Leave { node: founder(1), reason }];
    assert_eq!(step(&mut leader(), Input::GoneOn(founder(1))), leave(LeaveReason::Lagging));
    let dead = Input::Suspect { node: founder(1), is_dead: true };
    assert_eq!(step(&mut leader(), dead), leave(LeaveReason::Dead));
}

#[test]
fn a_joiner_is_taken_in_where_the_log_reaches_back_to_it() {
    let mut node = leader();
    fill(&mut node, 10);
    let stable = node.stable();
    assert!(stable > 0, "what both have applied is trimmed");
    assert_eq!(order(&mut node, join(stable - 1)), []);
    assert_eq!(order(&mut node, join(stable)), [join(stable)], "it may ask again");
    fill(&mut node, 5);
    assert_eq!(node.stable(), stable, "what it has not applied stays");
    let applied = node.applied_count();
    step(&mut node, Input::Progress { node: founder(2), applied });
    assert!(node.stable() > stable);
}

#[test]
fn a_joiner_far_behind_is_not_taken_in() {
    let mut node = leader();
    // Users do not wait for a member that stands still.
    step(&mut node, Input::Suspect { node: founder(1), is_dead: false });
    (0..WINDOW / 2 + 1).for_each(|_| drop(order(&mut node, Op::Noop)));
    assert_eq!(node.stable(), 0);
    assert_eq!(order(&mut node, join(0)), []);
    assert_eq!(order(&mut node, join(1)), [join(1)]);
}

#[test]
fn a_member_that_has_not_said_a_word_is_not_put_out_for_it() {
    let is_leave = |ordered: &[Op<u16>]| ordered.iter().any(|op| matches!(op, Op::Leave { .. }));
    let mut silent = leader();
    let ordered: Vec<_> = (0..WINDOW * 3 / 4).flat_map(|id| order(&mut silent, Op::Barrier(id))).collect();
    assert!(!is_leave(&ordered), "it may be further than is known");
    assert!(
        is_leave(&step(&mut silent, Input::Progress { node: founder(1), applied: 1 })),
        "it has said how far it is"
    );
    let mut mute = leader();
    (0..WINDOW * 3 / 4).for_each(|id| drop(order(&mut mute, Op::Barrier(id))));
    assert!(is_leave(&step(&mut mute, Input::Suspect { node: founder(1), is_dead: false })), "nothing is to be heard");
}

/// The first of two members by messages, which accepts itself since the other is held for this.
fn leader_that_had_to_accept(is_dead: bool) -> Node<u16> {
    let mut node = leader_by(Transport::Messages, founder(1));
    step(&mut node, Input::Suspect { node: founder(1), is_dead });
    assert_eq!(node.configuration().acceptor, founder(0), "nobody else is well");
    assert!(node.orders());
    node
}

#[test]
fn by_messages_a_leader_accepts_no_longer_than_it_has_to() {
    let mut node = leader_that_had_to_accept(false);
    step(&mut node, Input::Tick);
    assert_eq!(node.configuration().acceptor, founder(0), "the other has not said a word");
    order(&mut node, Op::Noop);
    let mut hear = |applied| {
        step(&mut node, Input::Message { from: founder(1), message: Message::Progress { applied } });
        step(&mut node, Input::Tick);
        node.configuration().acceptor
    };
    assert_eq!(hear(0), founder(0), "it has not moved");
    assert_eq!(hear(1), founder(1));
}

#[test]
fn by_messages_the_first_that_joins_accepts_for_a_leader_that_had_to() {
    let mut node = leader_that_had_to_accept(true);
    assert!(!node.members().contains(founder(1)), "it is out");
    let applied = node.applied_count();
    order(&mut node, join(applied));
    assert!(node.members().contains(founder(2)));
    // A message of the node to itself is taken with the next input.
    step(&mut node, Input::Requests(Vec::new()));
    assert_eq!(node.configuration().acceptor, founder(2));
}

#[test]
fn by_messages_a_member_that_has_nothing_to_do_is_not_slow() {
    let mut node = leader_that_had_to_accept(false);
    step(&mut node, Input::Message { from: founder(1), message: Message::Progress { applied: 0 } });
    step(&mut node, Input::Tick);
    assert_eq!(node.configuration().acceptor, founder(1));
}

/// The second of two members proposes itself; the first alone votes.
#[test]
fn by_messages_a_proposal_keeps_its_ballot_until_that_is_refused() {
    let mut node = follower_by_messages();
    let mut asked = |input| {
        let mut effects = Vec::new();
        node.step(input, &mut effects);
        let ballot = |effect| match effect {
            Effect::Send { message: Message::Ask { ballot, .. } | Message::Vote { ballot, .. }, .. } => Some(ballot),
            _ => None,
        };
        effects.into_iter().filter_map(ballot).collect::<Vec<_>>()
    };
    let suspect = || Input::Suspect { node: founder(0), is_dead: false };
    let hear = |message| Input::Message { from: founder(0), message };
    let ballot = asked(suspect())[0];
    assert_eq!((asked(Input::Tick), asked(suspect())), (vec![ballot], vec![ballot]));
    let promise = Message::Promise { position: 1, ballot, vote: None };
    assert_eq!(asked(hear(promise)), [ballot], "the voter is asked for its vote");
    assert_eq!(asked(Input::Tick), [ballot]);
    let promised = Ballot { round: ballot.round, node: founder(ballot.node.slot + 1) };
    assert_eq!(asked(hear(Message::Refused { position: 1, promised })), []);
    let next = asked(Input::Tick)[0];
    assert!(next > promised);
    assert_eq!(asked(Input::Tick), [next]);
}

/// A voter may have voted for an entry of the one that died, and others for one of the next: were their ballots the same, a later
/// proposer could take the first for chosen after the second was.
#[test]
fn by_messages_a_process_that_came_back_proposes_by_other_ballots() {
    let ballot = |inc| {
        let mut node = member(NodeId::new(1, inc), Transport::Messages, founder(0));
        let mut effects = Vec::new();
        node.step(Input::Suspect { node: founder(0), is_dead: false }, &mut effects);
        let asked = effects.iter().find_map(|effect| match effect {
            Effect::Send { message: Message::Ask { ballot, .. }, .. } => Some(*ballot),
            _ => None,
        });
        asked.expect("it proposes itself")
    };
    assert!(ballot(2) > ballot(1));
}

/// The node leads by messages and is put out by the first command, whose index the acceptor has decided.
#[test]
fn by_messages_a_leader_that_was_put_out_tells_the_next_one_what_it_had() {
    let mut node = leader_by(Transport::Messages, founder(1));
    let leave = Op::Leave { node: founder(0), reason: LeaveReason::Asked };
    order(&mut node, leave);
    order(&mut node, Op::Barrier(1));
    let put_out = Command { session: SessionId::SYSTEM, rid: 0, op: leave };
    let learn = Message::Learn { stable: 0, first: 0, commands: vec![put_out] };
    step(&mut node, Input::Message { from: founder(1), message: learn });
    assert!(!node.leads());
    let change = RoleChange::Leader;
    let configuration = Configuration { epoch: 1, change, leader: founder(1), ..*node.configuration() };
    let owners = [(founder(0), 0), (founder(1), 1)].into();
    let entry = Entry { configuration, chosen: Arc::default(), voters: [founder(0)].into(), owners };
    let mut effects = Vec::new();
    node.step(Input::Message { from: founder(1), message: Message::AskFormer(entry) }, &mut effects);
    let told = effects.into_iter().find_map(|effect| match effect {
        Effect::Send { to, message: Message::Former { epoch: 1, former } } if to == founder(1) => former,
        _ => None,
    });
    let former = told.expect("it led in epoch 0");
    let had = Vec::from_iter(former.chosen.iter().map(|&(index, command)| (index, command.op)));
    assert_eq!((former.epoch, had), (0, vec![(0, leave), (1, Op::Barrier(1))]));
}

#[test]
fn a_leader_that_is_put_out_does_not_lead_by_what_it_had_proposed() {
    let mut node = leader_by(Transport::Shared { is_fused: false }, founder(1));
    let (me, mut effects) = (founder(0), Vec::new());
    node.step(Input::Suspect { node: founder(1), is_dead: false }, &mut effects);
    let proposed = effects.iter().find_map(|effect| match effect {
        Effect::ProposeConfiguration(configuration) => Some(*configuration),
        _ => None,
    });
    let proposed = proposed.expect("itself as the acceptor");
    let leave =
        Command { session: SessionId::SYSTEM, rid: 0, op: Op::Leave { node: me, reason: LeaveReason::Lagging } };
    node.step(Input::Learn { stable: 0, first: 0, commands: vec![leave] }, &mut effects);
    node.applied(1, &mut effects);
    node.step(Input::ConfigurationWon(proposed), &mut effects);
    assert!(!node.members().contains(me) && !node.leads());
}

/// A request comes twice while the node waits for what was accepted, and one comes that the former leader had ordered.
#[test]
fn a_new_leader_keeps_the_requests_that_come_before_it_orders() {
    let mut node = leader();
    let request = |rid| Command { session: SessionId::new(founder(1), 7), rid, op: Op::User(rid as u16) };
    let mut effects = Vec::new();
    let seen = Configuration { epoch: 1, leader: founder(1), ..*node.configuration() };
    node.step(Input::ConfigurationSeen(seen), &mut effects);
    node.step(Input::Suspect { node: founder(1), is_dead: false }, &mut effects);
    let proposed = effects.iter().find_map(|effect| match effect {
        Effect::ProposeConfiguration(configuration) => Some(*configuration),
        _ => None,
    });
    let won = proposed.expect("itself as the leader");
    node.step(Input::ConfigurationWon(won), &mut effects);
    assert!(node.leads() && !node.orders());
    node.step(Input::Requests(vec![request(1), request(2)]), &mut effects);
    node.step(Input::Requests(vec![request(2)]), &mut effects);
    assert_eq!(node.waiting(), 2);
    let accepted = vec![(0, 0, request(1))];
    let adopted = Adopted { epoch: won.epoch, stable: 0, commit: 1, chosen: Vec::new(), accepted };
    let ordered = step(&mut node, Input::Adopted(adopted));
    assert_eq!(ordered, [Op::User(1), Op::User(2)]);
}
