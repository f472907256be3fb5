//! corecast's transactional memory under each workload.

use std::thread;

use corecast::base::CpuId;
use corecast::tm::{Participant, Role, Server, TVar, Tm, Value, structures};

use super::bank::{Account, Bank, Banker, accounts};
use super::histogram::{COUNTERS, Counter, Counts, Histogram};
use super::host::{Player, Seat, Session, Setting, check_readers};
use super::queue::{Passer, Queue};
use super::sets;
use super::steps::{Step, Stepper, VARIABLES, WRITTEN};
use super::variant::Variant;
use super::workload::{BankWork, Work};
use corecast_race::failure::Failure;

/// The blocking round trips of a transfer: a claim for each account, where the rest goes without an answer.
const ROUND_TRIPS: usize = 2;

/// A memory of this variant.
pub(super) fn with(variant: Variant, setting: &Setting<'_>, session: Session<'_>) -> Result<(), Failure> {
    let tm = variant.open(setting)?;
    let room = Room { tm: &tm, setting };
    match setting.work {
        Work::Bank(work) => {
            check_readers(setting, tm.participants() - tm.servers())?;
            let bank = variables(&tm, accounts())?;
            room.hold(session, |participant, rank| {
                Banker::new(Client::at_bank(participant, &bank, work), work, setting, rank)
            })
        }
        Work::MapReduce => {
            let shared = variables(&tm, [0u64; COUNTERS + 1])?;
            room.hold(session, |participant, _| Counter::new(Client { participant, vars: &shared }, setting))
        }
        Work::Writes => {
            let words = variables(&tm, [0u64; VARIABLES])?;
            room.hold(session, |participant, rank| Stepper::new(Client { participant, vars: &words }, setting, rank))
        }
        Work::Mp => room.ping(session, 1),
        Work::Queue => {
            let queue = structures::Queue::new(&tm).map_err(Failure::refused)?;
            room.hold(session, |participant, rank| Passer::new(QueueClient { participant, queue }, setting, rank))
        }
        Work::Table(_) | Work::List(_) | Work::Map(_) => {
            let set = sets::Sets::new(&tm, setting.work, variant.search)?;
            room.hold(session, |participant, rank| set.worker(participant, setting, rank))
        }
    }
}

/// A memory of this variant whose clients do nothing but the blocking round trips of a transfer.
pub(super) fn round_trips(variant: Variant, setting: &Setting<'_>, session: Session<'_>) -> Result<(), Failure> {
    let tm = variant.open(setting)?;
    Room { tm: &tm, setting }.ping(session, ROUND_TRIPS)
}

fn variables<T: Value>(tm: &Tm, values: impl IntoIterator<Item = T>) -> Result<Vec<TVar<T>>, Failure> {
    values.into_iter().map(|value| tm.new_var(value)).collect::<Result<_, _>>().map_err(Failure::refused)
}

/// An instance and where its participants run.
struct Room<'a> {
    tm: &'a Tm,
    setting: &'a Setting<'a>,
}

impl Room<'_> {
    /// Clients with this number of empty round trips in each step.
    fn ping(&self, session: Session<'_>, trips: usize) -> Result<(), Failure> {
        let servers = self.tm.servers();
        self.hold(session, |participant, rank| {
            Stepper::new(Pings { participant, servers, next: rank, trips }, self.setting, rank)
        })
    }

    /// The CPU of a participant.
    fn cpu(&self, id: usize) -> Option<CpuId> {
        let cpus = self.setting.cpus;
        (!cpus.is_empty()).then(|| cpus[id % cpus.len()])
    }

    /// Starts the servers, lets the applications work, and waits for the servers' end, which comes when all applications have
    /// left.
    fn hold<'a, P: Player + 'a>(
        &self,
        session: Session<'_>,
        player: impl Fn(Participant, usize) -> P,
    ) -> Result<(), Failure> {
        let (mut servers, mut seats): (Vec<(Server, Option<CpuId>)>, Vec<Seat<'a>>) = Default::default();
        for id in 0..self.tm.participants() {
            match self.tm.participant(id).map_err(Failure::refused)? {
                Role::Application(participant) => {
                    let player = Box::new(player(participant, seats.len()));
                    seats.push(Seat { player, cpu: self.cpu(id) });
                }
                Role::Server(server) => servers.push((server, self.cpu(id))),
                _ => return Err(Failure::Refused("a participant is neither application nor server".to_owned())),
            }
        }
        thread::scope(|scope| {
            let serving: Vec<_> =
                servers.into_iter().map(|(server, cpu)| scope.spawn(move || serve(server, cpu))).collect();
            let result = session(seats);
            for server in serving {
                server.join().expect("no server panics")?;
            }
            result
        })
    }
}

/// Serves where the server is bound to. Its clients wait for it, wherever it runs: so it serves where it could not be bound, too.
fn serve(server: Server, cpu: Option<CpuId>) -> Result<(), Failure> {
    let pinned = cpu.map(corecast::machine::pin::pin).transpose();
    let served = server.serve().map_err(Failure::refused);
    pinned.map_err(Failure::refused)?;
    served.map(drop)
}

/// A participant and the variables that it uses.
pub(super) struct Client<'a, T> {
    participant: Participant,
    vars: &'a [TVar<T>],
}

impl<'a, T> Client<'a, T> {
    /// Of a bank. Where one client only reads, the time of all attempts is judged, and each is timed: FairCM itself takes most of
    /// them to last as long as one before.
    pub(super) fn at_bank(mut participant: Participant, vars: &'a [TVar<T>], work: BankWork) -> Self {
        if work.readers > 0 {
            participant.time_all_attempts();
        }
        Self { participant, vars }
    }
}

impl Bank for Client<'_, Account> {
    fn transfer(&mut self, from: usize, to: usize, amount: i32) -> Result<(), Failure> {
        let (from, to) = (self.vars[from], self.vars[to]);
        let done = self.participant.run(|tx| {
            let [number, balance] = tx.read_for_update(from)?;
            let [other, held] = tx.read_for_update(to)?;
            tx.write(from, [number, balance - amount])?;
            tx.write(to, [other, held + amount])
        });
        done.map_err(Failure::refused)
    }

    fn check(&mut self, one: usize, other: usize) -> Result<i64, Failure> {
        let (one, other) = (self.vars[one], self.vars[other]);
        let sum = self.participant.run(|tx| Ok(i64::from(tx.read(one)?[1]) + i64::from(tx.read(other)?[1])));
        sum.map_err(Failure::refused)
    }

    fn total(&mut self) -> Result<i64, Failure> {
        let vars = self.vars;
        let sum = self.participant.run(|tx| vars.iter().try_fold(0, |sum, &var| Ok(sum + i64::from(tx.read(var)?[1]))));
        sum.map_err(Failure::refused)
    }

    fn aborts(&self) -> u64 {
        self.participant.counts().aborts()
    }

    fn effective(&self) -> u64 {
        self.participant.timed_ns()
    }
}

/// The first variable is the next chunk, the others are the counts.
impl Histogram for Client<'_, u64> {
    fn next_chunk(&mut self) -> Result<u64, Failure> {
        let next = self.vars[0];
        let taken = self.participant.run(|tx| {
            let number = tx.read_for_update(next)?;
            tx.write(next, number + 1)?;
            Ok(number)
        });
        taken.map_err(Failure::refused)
    }

    fn add(&mut self, counts: &Counts) -> Result<(), Failure> {
        let vars = self.vars;
        let done = self.participant.run(|tx| {
            vars[1..].iter().zip(counts).try_for_each(|(&var, count)| {
                let sum = tx.read_for_update(var)? + count;
                tx.write(var, sum)
            })
        });
        done.map_err(Failure::refused)
    }

    fn counts(&mut self) -> Result<Counts, Failure> {
        let vars = self.vars;
        let counts = self.participant.run(|tx| {
            let mut counts = [0; COUNTERS];
            for (count, &var) in counts.iter_mut().zip(&vars[1..]) {
                *count = tx.read(var)?;
            }
            Ok(counts)
        });
        counts.map_err(Failure::refused)
    }

    fn aborts(&self) -> u64 {
        self.participant.counts().aborts()
    }
}

impl Step for Client<'_, u64> {
    fn step(&mut self, variables: &[usize; WRITTEN], value: u64) -> Result<(), Failure> {
        let vars = self.vars;
        let done = self.participant.run(|tx| variables.iter().try_for_each(|&at| tx.write(vars[at], value)));
        done.map_err(Failure::refused)
    }

    fn read(&mut self, variable: usize) -> Result<Option<u64>, Failure> {
        let var = self.vars[variable];
        self.participant.run(|tx| tx.read(var)).map(Some).map_err(Failure::refused)
    }

    fn aborts(&self) -> u64 {
        self.participant.counts().aborts()
    }
}

/// A participant's way to a queue.
struct QueueClient {
    participant: Participant,
    queue: structures::Queue,
}

impl Queue for QueueClient {
    #[inline]
    fn push(&mut self, value: u64) -> Result<(), Failure> {
        let queue = self.queue;
        self.participant.run(|tx| queue.push(tx, value)).map_err(Failure::refused)
    }

    #[inline]
    fn pop(&mut self) -> Result<Option<u64>, Failure> {
        let queue = self.queue;
        self.participant.run(|tx| queue.pop(tx)).map_err(Failure::refused)
    }

    fn aborts(&self) -> u64 {
        self.participant.counts().aborts()
    }
}

/// A participant that asks each server in turn for nothing.
struct Pings {
    participant: Participant,
    servers: usize,
    next: usize,
    /// In each step.
    trips: usize,
}

impl Step for Pings {
    fn step(&mut self, _variables: &[usize; WRITTEN], _value: u64) -> Result<(), Failure> {
        for _ in 0..self.trips {
            let server = self.next % self.servers.max(1);
            self.next = server + 1;
            self.participant.ping(server).map_err(Failure::refused)?;
        }
        Ok(())
    }

    fn read(&mut self, _variable: usize) -> Result<Option<u64>, Failure> {
        Ok(None)
    }
}
