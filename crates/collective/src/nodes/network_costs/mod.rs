//! Measures what messages between nodes cost, over any [`Engine`](super::Engine): the parameters of a cluster model.
//!
//! **When to take it:** once per cluster and allocation, with nothing else running, before planning with
//! [`corecast_plan::cluster`]. **When not:** over the engine `local`, but for tests: it measures a lock.
//!
//! All leaders call [`measure`] at once. They meet in a tournament: in each round every node has one partner, and all pairs
//! measure at once. So the time does not grow with the number of nodes beyond 20 rounds. A pair measures in both directions:
//!
//! | found | how |
//! |---|---|
//! | one way | messages of 8 bytes there and back, each timed, after a warm-up: half the median, with its deviation |
//! | `send_ns` | a burst of messages: the time in which the sender's library takes them over |
//! | `gap_ns` | the same burst until its acknowledgement, less one way and back, by the number of messages |
//! | `receive_ns` | a burst that had time to arrive: the time in which the receiver takes it |
//! | `exchange_ns` | messages of 8 bytes that both send at once, until both have the other's: the median |
//! | `byte_ns` | the slope from 16 KiB to 64 KiB, there and back |
//! | `arrival` | exchanges that took more than 5 times the median: their share and their excess; the mean of the others over the
//! median |
//!
//! `latency_ns` is what one way leaves when both CPUs' times are taken off. Values are medians over the pairs of a tier.
//! Tiers are told by the nodes' places in the network if there are any, or else by the clusters that the costs of all pairs show.
//!
//! **Lanes:** a host on which the launcher has started several leaders, as [`Settings::host`] tells, is one node, whose leaders
//! are lanes. Only the first one of each host measures as above, while the others sleep. Then as many lanes as all hosts have
//! send 64 KiB at once between two hosts: 1, 2, 4, ... of them, until all have arrived. If some host has one leader
//! there is no such curve.
//!
//! **Limits:** messages have at most 64 KiB, as engines promise no more.
//!
//! **Progress:** blocking; a leader polls and yields, or sleeps while others measure. **Memory ordering:** nothing is shared.
//!
//! ```
//! use corecast_collective::nodes::{local::Network, network_costs};
//! let settings = network_costs::Settings { exchanges: 20, bursts: 8, ..network_costs::Settings::default() };
//! let nodes: Vec<_> = Network::of(2).engines().into_iter().map(|mut engine| {
//!     let settings = settings.clone();
//!     std::thread::spawn(move || network_costs::measure(&mut *engine, &settings))
//! }).collect();
//! for node in nodes {
//!     let costs = node.join().unwrap().unwrap();
//!     assert_eq!((costs.nodes, costs.pairs.len()), (2, 2), "both directions of one pair, at every node");
//! }
//! ```

mod gathered;
mod hosts;
mod lanes;
mod leader_end;
mod pair;
mod tiers;
mod tournament;

pub use gathered::{NetworkCosts, PairCosts, measure};

/// How much is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Messages there and back, and exchanges, of each pair and direction.
    pub exchanges: u32,
    /// Messages of a burst.
    pub bursts: u32,
    /// Rounds of the tournament, if there are nodes for more than twice as many: else all pairs meet.
    pub rounds: u32,
    /// This node's place in the network, from the outermost part to the innermost, such as `system.group1.switch7`; empty if that
    /// is not known. Slurm's SLURM_TOPOLOGY_ADDR has this form.
    pub place: String,
    /// A number that all leaders on this host give and no others; a leader that gives none has a host of its own.
    pub host: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { exchanges: 1000, bursts: 64, rounds: 20, place: String::new(), host: None }
    }
}
