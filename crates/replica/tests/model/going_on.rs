//! Whether a group over messages goes on once it is calm: all messages come, and only the dead are suspected.

use corecast_replica::one_paxos::Input;
use corecast_replica::{Command, Op, SessionId};

use crate::world::{Body, World};

/// The most rounds until a command is decided.
const ROUNDS: usize = 20;
/// The command that leaders are asked for.
const ASKED: Command<Body> = Command { session: SessionId::SYSTEM, rid: 0, op: Op::Barrier(7) };

/// True if a command comes to be decided that was asked for from now on; also if none need be, as a leader and its acceptor are
/// dead.
pub(crate) fn goes_on(world: &World) -> bool {
    let mut world = world.clone();
    has_lost_both_roles(&world) || ((0..ROUNDS).any(|_| pass(&mut world)) && world.is_right())
}

/// The acceptor is dead, and an owner of its instance's epochs. The others cannot know all that it has accepted.
fn has_lost_both_roles(world: &World) -> bool {
    let is_dead = |node| !world.processes[world.at(node)].is_alive;
    is_dead(world.newest().acceptor) && world.owners().any(is_dead)
}

/// A round. True if the command is decided.
fn pass(world: &mut World) -> bool {
    let alive = Vec::from_iter((0..world.processes.len()).filter(|&at| world.processes[at].is_alive));
    for &at in &alive {
        suspect_dead(world, at);
        world.step(at, Input::Tick);
        if world.processes[at].node.orders() {
            world.step(at, Input::Requests(vec![ASKED]));
        }
    }
    loop {
        alive.iter().for_each(|&at| execute_all(world, at));
        let Some((from, to)) = world.links.iter().map(|(from, to, _)| (from, to)).next() else { break };
        world.deliver(from, to, 0);
    }
    world.monitor.decided().values().any(|command| *command == ASKED)
}

/// Members and role holders, which may be none any more; the leader only in its turn.
fn suspect_dead(world: &mut World, at: usize) {
    let node = &world.processes[at].node;
    let (leader, acceptor) = (node.configuration().leader, node.configuration().acceptor);
    for other in Vec::from_iter(node.members().iter().chain([leader, acceptor])) {
        let is_turn = other != leader || world.processes[at].node.rank() == Some(0);
        if !world.processes[world.at(other)].is_alive && is_turn {
            world.step(at, Input::Suspect { node: other, is_dead: true });
        }
    }
}

fn execute_all(world: &mut World, at: usize) {
    while !world.processes[at].pending.is_empty() {
        world.execute(at);
    }
}
