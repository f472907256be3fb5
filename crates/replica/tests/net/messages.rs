//! Exact counts of messages in the normal case: n + 2 for each command with the client's request and reply, whatever the way.

use std::time::Duration;

use corecast_replica::net::{Config, Node, Spread};

use crate::counter::Counter;
use crate::{group, spreads};

const COMMANDS: u64 = 100;

/// Nodes that send nothing a second time.
fn patient(count: usize, spread: &Spread) -> Vec<Node<Counter>> {
    group(&Config::new(count).spread(spread.clone()).patience(Duration::from_secs(600)), count)
}

/// A client at a node writes alone; the sums of all nodes once all of them have learned everything.
fn write_at(nodes: &[Node<Counter>], at: usize) -> [u64; 5] {
    let mut session = nodes[at].session().expect("a member");
    let mut last = 0;
    for _ in 0..COMMANDS {
        last = session.execute(&1).expect("done").1;
    }
    let level = corecast_replica::Level::AtLeast(last);
    nodes.iter().for_each(|node| node.catch_up(level, Duration::from_secs(60)).expect("they learn it"));
    let counters: Vec<_> = nodes.iter().map(|node| node.status().counters).collect();
    assert!(counters.iter().all(|counters| counters.lost + counters.damaged + counters.role_changes == 0));
    let sum = |of: fn(&corecast_replica::net::Counters) -> u64| counters.iter().map(of).sum();
    [sum(|of| of.requests), sum(|of| of.accepts), sum(|of| of.learns), sum(|of| of.relayed), sum(|of| of.multicasts)]
}

#[test]
fn a_command_costs_as_many_messages_as_the_formula_says() {
    // The opening of the session is a command, too.
    let commands = COMMANDS + 1;
    for count in [3, 5, 8] {
        for spread in spreads(count) {
            // The client's request and the reply stay in its process, where its node leads.
            let others = count as u64 - 1;
            let nodes = patient(count, &spread);
            let [requests, accepts, learns, relayed, multicasts] = write_at(&nodes, 0);
            let sent = [requests, accepts, learns + relayed, multicasts].map(|sum| sum / commands);
            assert_eq!((requests + accepts + learns + relayed + multicasts) % commands, 0);
            let [_, _, unicast, _] = sent;
            match spread {
                Spread::Ring => assert_eq!(sent, [0, 1, 0, 1]),
                _ => {
                    assert_eq!(sent, [0, 1, others, 0]);
                    let with_request_and_reply = 2 + 1 + unicast;
                    assert_eq!(with_request_and_reply, count as u64 + 2, "{spread:?}");
                }
            }
            if let Spread::Tree(_) = spread {
                let children = others.min(2);
                assert_eq!(learns, commands * children, "the acceptor sends to its children only");
            }
        }
    }
}

#[test]
fn a_client_elsewhere_costs_its_request() {
    let nodes = patient(3, &Spread::Sequential);
    let commands = COMMANDS + 1;
    assert_eq!(write_at(&nodes, 2), [commands, commands, 2 * commands, 0, 0]);
}
