//! Plays one point of a program on a machine.

use corecast_sim::machine::Machine;
use corecast_sim::plan::Effort;
use corecast_sim::{
    Algorithm, AtomicLoad, AtomicOperation, BankLoad, Barrier, Channel, Collective, Contest, Disturbed, Episodes,
    Learning, MemoryKind, Operation, OperationTimes, Pair, Replicas, Server, SimError, TableLoad, TableServer,
    TreeChoice, atomics, bank, barriers, collectives, contest, messages, pairs_by_distance, replicas, server, table,
    table_by_messages,
};

use super::point::Figures;
use super::{Loaded, MessageFigure, Played, Point, Program, ReplicaFigure};
use corecast_cli::failure::Failure;

/// The contender of barriers that the group chooses.
pub(crate) const AUTO: &str = "auto";
/// The contender of collectives that the group plans.
pub(crate) const PLANNED: &str = "planned";

/// The contenders of tables that are no locks: servers that own the buckets, and such that do nothing but look at their rings.
pub(crate) const MESSAGES: &str = "messages";
pub(crate) const MESSAGE_SERVER: &str = "msg-server";

/// The time of an episode at first, microseconds. It is doubled until all episodes end in theirs.
const LEAST_WINDOW_US: u64 = 50;
const MOST_WINDOW_US: u64 = 1_000_000;
/// The CPU of a server.
const SERVER: usize = 0;

impl Point {
    /// Plays it. A run that does not end is an outcome that says so.
    ///
    /// # Errors
    /// Bad input: no such contender, or no such machine.
    pub(crate) fn play(&self) -> Result<Played, Failure> {
        let loaded = self.described.load()?;
        let Self { contender, step, seed, disturbance, .. } = self;
        let (machine, threads, seed, disturbance) = (loaded.machine(), *step, *seed, *disturbance);
        match self.program {
            Program::Locks { .. } => self.contest(machine),
            Program::Table { buckets, mean, own_ns, warm_up_us, duration_us } => {
                let asked = TableLoad { threads, buckets, mean, warm_up_us, duration_us, own_ns, seed, disturbance };
                self.table(machine, asked)
            }
            Program::Atomics { words, pause_ns, warm_up_us, duration_us } => {
                let operation: AtomicOperation = contender.parse().map_err(Failure::input)?;
                let is_steady = false;
                let asked =
                    AtomicLoad { threads, words, warm_up_us, duration_us, pause_ns, is_steady, seed, disturbance };
                Ok(Played::of(atomics(machine, operation, asked), |outcome| {
                    of_rates(outcome.mops(), outcome.jain(), outcome.transfers(), outcome.disturbed)
                }))
            }
            Program::Tm { .. } => self.bank(&loaded),
            Program::Barriers { warm_up, episodes, plans_quickly } => {
                self.barriers(&loaded, Episodes { warm_up, episodes, ..self.episodes(&loaded, plans_quickly) })
            }
            Program::Collectives { operation, bytes, warm_up, episodes, plans_quickly } => {
                let episodes = Episodes { warm_up, episodes, ..self.episodes(&loaded, plans_quickly) };
                Ok(self.collectives(&loaded, (operation, bytes), episodes))
            }
            Program::Replica { .. } => self.replica(&loaded),
            Program::Messages { figure, messages } => self.messages(&loaded, figure, messages),
        }
    }

    fn contest(&self, machine: &Machine) -> Result<Played, Failure> {
        let Self { contender, step: threads, seed, disturbance, .. } = self;
        let Program::Locks { locks, warm_up_us, duration_us, inside_ns, outside_ns } = self.program else {
            unreachable!("only locks are contended for");
        };
        let algorithm: Algorithm = contender.parse().map_err(Failure::input)?;
        let asked = Contest {
            threads: *threads,
            locks,
            warm_up_us,
            duration_us,
            inside_ns,
            outside_ns,
            is_steady: false,
            seed: *seed,
            disturbance: *disturbance,
        };
        Ok(Played::of(contest(machine, algorithm, asked), |outcome| {
            of_rates(outcome.mops(), outcome.jain(), outcome.transfers(), outcome.disturbed)
        }))
    }

    fn table(&self, machine: &Machine, asked: TableLoad) -> Result<Played, Failure> {
        let outcome = match self.contender.as_str() {
            MESSAGES => table_by_messages(machine, TableServer::Select, asked),
            MESSAGE_SERVER => table_by_messages(machine, TableServer::Polls, asked),
            lock => table(machine, lock.parse::<Algorithm>().map_err(Failure::input)?, asked),
        };
        Ok(Played::of(outcome, |outcome| {
            of_rates(outcome.mops(), outcome.jain(), outcome.transfers(), outcome.disturbed)
        }))
    }

    fn episodes(&self, loaded: &Loaded, plans_quickly: bool) -> Episodes {
        let effort = if plans_quickly { Effort::Quick } else { Effort::Normal };
        let (members, seed, disturbance) = (self.step, self.seed, self.disturbance);
        Episodes { members, seed, disturbance, model: loaded.model.clone(), effort, ..Episodes::default() }
    }

    fn bank(&self, loaded: &Loaded) -> Result<Played, Failure> {
        let Program::Tm { every, accounts, checks_percent, scans_percent, readers, own_ns, warm_up_us, duration_us } =
            self.program
        else {
            unreachable!("the program has a bank");
        };
        let kind: MemoryKind = self.contender.parse().map_err(Failure::input)?;
        let (participants, seed, disturbance) = (self.step, self.seed, self.disturbance);
        let asked = BankLoad {
            participants,
            every,
            accounts,
            checks_percent,
            scans_percent,
            readers,
            warm_up_us,
            duration_us,
            own_ns,
            seed,
            disturbance,
        };
        Ok(Played::of(bank(loaded.machine(), kind, asked), |outcome| {
            of_rates(outcome.mtps(), outcome.jain(), outcome.transfers(), outcome.disturbed)
        }))
    }

    fn barriers(&self, loaded: &Loaded, episodes: Episodes) -> Result<Played, Failure> {
        let barrier = (self.contender != AUTO).then(|| self.contender.parse::<Barrier>()).transpose();
        let barrier = barrier.map_err(Failure::input)?;
        let outcome = in_windows(episodes, |episodes| barriers(loaded.machine(), barrier, episodes));
        Ok(Played::of(outcome, |outcome| of_times(&outcome.times)))
    }

    fn collectives(&self, loaded: &Loaded, (operation, bytes): (Operation, usize), episodes: Episodes) -> Played {
        let tree =
            if self.contender == PLANNED { TreeChoice::Planned } else { TreeChoice::Shape(self.contender.clone()) };
        let asked = Collective { operation, root: None, words: bytes / size_of::<u64>() };
        let episodes = Episodes { tree, ..episodes };
        let outcome = in_windows(episodes, |episodes| collectives(loaded.machine(), asked, episodes));
        Played::of(outcome, |outcome| of_times(&outcome.times))
    }

    fn replica(&self, loaded: &Loaded) -> Result<Played, Failure> {
        let Program::Replica { figure, clients, outstanding, ref wait, own_ns, warm_up_us, duration_us } = self.program
        else {
            unreachable!("the point is one of replicas");
        };
        let asked = Replicas {
            replicas: self.step,
            clients: clients.min(self.step),
            outstanding,
            learning: learning(&self.contender),
            wait: wait.parse().map_err(Failure::input)?,
            warm_up_us,
            duration_us,
            own_ns,
            model: loaded.model.clone(),
            seed: self.seed,
            disturbance: self.disturbance,
            ..Replicas::default()
        };
        Ok(Played::of(replicas(loaded.machine(), &asked), |outcome| {
            let figure = match figure {
                ReplicaFigure::Commands => outcome.kops(),
                ReplicaFigure::Median => outcome.latency_ns(0.5),
                ReplicaFigure::P99 => outcome.latency_ns(0.99),
            };
            of_rates(figure, None, outcome.transfers.clone(), outcome.disturbed)
        }))
    }

    fn messages(&self, loaded: &Loaded, figure: MessageFigure, number: u64) -> Result<Played, Failure> {
        let channel: Channel = self.contender.parse().map_err(Failure::input)?;
        let (machine, seed, disturbance) = (loaded.machine(), self.seed, self.disturbance);
        if figure.is_of_server() {
            let cpus = disturbance.cpus(self.step);
            let asked = Server {
                server: SERVER,
                clients: (0..self.step).map(|client| SERVER + 1 + client % cpus).collect(),
                answers: figure == MessageFigure::Answers,
                clears_slots: channel == Channel::UmpSlotClear,
                warm_up: number,
                messages: number,
                seed,
                disturbance,
            };
            return Ok(Played::of(server(machine, &asked), |outcome| Figures {
                figure: outcome.mops,
                jain: None,
                transfers: outcome.transfers.clone(),
                disturbed: outcome.disturbed,
            }));
        }
        let Some(&(sender, receiver)) = pairs_by_distance(machine).get(self.step) else {
            return Err(Failure::input(format!("the machine has no distance {}", self.step)));
        };
        let counted = Pair { warm_up: number, messages: number, ..Pair::default() };
        let pair = Pair { sender, receiver, seed, disturbance, ..counted };
        Ok(Played::of(messages(machine, channel, pair), |times| {
            let (figure, transfers) = match figure {
                MessageFigure::OneWay => (times.one_way_ns, Vec::new()),
                MessageFigure::RoundTrip => (times.round_trip_ns, Vec::new()),
                _ => (times.stream_ns, times.stream_transfers.clone()),
            };
            Figures { figure, jain: None, transfers, disturbed: times.disturbed }
        }))
    }
}

fn of_rates(figure: f64, jain: Option<f64>, transfers: Vec<f64>, disturbed: Disturbed) -> Figures {
    Figures { figure, jain, transfers, disturbed }
}

fn of_times(times: &OperationTimes) -> Figures {
    Figures { figure: times.median_ns(), jain: None, transfers: times.transfers(), disturbed: times.disturbed }
}

/// The way of learning that a contender's name stands for.
fn learning(name: &str) -> Learning {
    match name {
        PLANNED => Learning::Planned,
        "sequential" => Learning::Sequential,
        "ring" => Learning::Ring,
        shape => Learning::Shape(shape.to_owned()),
    }
}

/// Plays episodes in windows that are long enough for them.
pub(crate) fn in_windows<O>(asked: Episodes, play: impl Fn(&Episodes) -> Result<O, SimError>) -> Result<O, SimError> {
    let mut window_us = LEAST_WINDOW_US;
    loop {
        match play(&Episodes { window_us, ..asked.clone() }) {
            Err(SimError::Window { .. }) if window_us < MOST_WINDOW_US => window_us *= 2,
            outcome => return outcome,
        }
    }
}
