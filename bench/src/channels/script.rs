//! The messages of each program, in words: which channels there are, and what each node sends and receives, in order.
//!
//! The client or coordinator is the first node; the others follow in the order in which a request reaches them.

use serde::{Deserialize, Serialize};

use super::traffic::Traffic;

/// The length of a coordinator's question.
const ASKED_BYTES: usize = 128;

/// A program.
pub(super) struct Script {
    /// Its channels, each with a single sender.
    pub(super) lanes: Vec<Lane>,
    /// The turns of each node for every request.
    pub(super) nodes: Vec<Vec<Turn>>,
}

/// A channel of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lane {
    /// The length of its messages.
    pub(super) bytes: usize,
    pub(super) receivers: usize,
}

/// A step of a node: one message, sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Turn {
    /// Sends to this lane.
    Send(usize),
    /// Receives from this lane, as its receiver of this number.
    Receive(usize, usize),
}

impl Script {
    /// The program, with messages of this length and this many receivers of the message that goes to many. A stream is none.
    pub(super) fn of(traffic: Traffic, bytes: usize, receivers: usize) -> Option<Self> {
        match traffic {
            Traffic::Stream => None,
            Traffic::Paxos => Some(Self::paxos(bytes, receivers)),
            Traffic::Checkpoint => Some(Self::checkpoint(bytes, receivers)),
        }
    }

    /// Client, proposer, acceptor and learners.
    fn paxos(bytes: usize, learners: usize) -> Self {
        let mut script = Self { lanes: Vec::new(), nodes: Vec::new() };
        let asked = script.lane(bytes, 1);
        let proposed = script.lane(bytes, 1);
        let accepted = script.lane(bytes, learners);
        script.nodes = vec![
            vec![Turn::Send(asked)],
            vec![Turn::Receive(asked, 0), Turn::Send(proposed)],
            vec![Turn::Receive(proposed, 0), Turn::Send(accepted)],
        ];
        script.answered(accepted, bytes)
    }

    /// Coordinator and members.
    fn checkpoint(bytes: usize, members: usize) -> Self {
        let mut script = Self { lanes: Vec::new(), nodes: Vec::new() };
        let asked = script.lane(ASKED_BYTES, members);
        script.nodes = vec![vec![Turn::Send(asked)]];
        script.answered(asked, bytes)
    }

    /// A node for each receiver of the lane, which answers the first node.
    fn answered(mut self, lane: usize, bytes: usize) -> Self {
        for receiver in 0..self.lanes[lane].receivers {
            let answer = self.lane(bytes, 1);
            self.nodes[0].push(Turn::Receive(answer, 0));
            self.nodes.push(vec![Turn::Receive(lane, receiver), Turn::Send(answer)]);
        }
        self
    }

    fn lane(&mut self, bytes: usize, receivers: usize) -> usize {
        self.lanes.push(Lane { bytes, receivers });
        self.lanes.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_of_a_lane_is_some_nodes() {
        for (traffic, receivers) in [(Traffic::Paxos, 3), (Traffic::Checkpoint, 4), (Traffic::Paxos, 1)] {
            let script = Script::of(traffic, 1000, receivers).expect("a program");
            assert_eq!(script.nodes.len(), traffic.participants(receivers), "{traffic:?}");
            let turns: Vec<Turn> = script.nodes.concat();
            for (lane, Lane { receivers, .. }) in script.lanes.iter().enumerate() {
                let times = |turn: Turn| turns.iter().filter(|&&other| other == turn).count();
                assert_eq!(times(Turn::Send(lane)), 1, "{traffic:?}: sender of {lane}");
                assert!(
                    (0..*receivers).all(|receiver| times(Turn::Receive(lane, receiver)) == 1),
                    "{traffic:?}: {lane}"
                );
            }
        }
        assert!(Script::of(Traffic::Stream, 1000, 3).is_none());
    }
}
