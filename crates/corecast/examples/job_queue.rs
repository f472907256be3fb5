//! How are jobs dealt to worker processes so that each is done once, also if a worker is killed?
//!
//! The queue is a state machine with a replica in each process. A worker claims a job, does it, and says that it is done; every
//! step is an operation, so all processes agree on each job's owner. One worker is killed while it has one: when the group has
//! put its node out, the job goes back into the queue, and another worker claims it.
//!
//! Run it with `cargo run --release --example job_queue`.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::collections::{BTreeMap, VecDeque};
use std::env;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use corecast::base::rendezvous::SocketDir;
use corecast::replica::{Config, Index, Level, Node, NodeId, ReadError, Replicated, StateMachine, Wire};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const WORKERS: usize = 3;
const JOBS: u64 = 3000;
/// The victim is killed at about this job, of those that it has claimed.
const LAST_CLAIM: usize = 100;

/// A job: its worker while it is claimed, and the number of times that it was claimed and done.
#[derive(Debug, Default, Clone)]
struct Job {
    worker: u64,
    claims: u64,
    done: u64,
}

/// Jobs that wait, by number, and all jobs.
#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<u64>,
    jobs: BTreeMap<u64, Job>,
}

/// A step of a process. Workers are named by the bits of their nodes, which no other process ever has.
#[derive(Debug, Clone, Copy)]
enum Step {
    Add(u64),
    Claim {
        worker: u64,
    },
    Finish {
        worker: u64,
        job: u64,
    },
    /// The worker is dead: what it had claimed waits again.
    Release {
        worker: u64,
    },
}

impl Wire for Step {
    fn encode(&self, to: &mut Vec<u8>) {
        let words = match *self {
            Self::Add(job) => [0, job, 0],
            Self::Claim { worker } => [1, worker, 0],
            Self::Finish { worker, job } => [2, worker, job],
            Self::Release { worker } => [3, worker, 0],
        };
        words.iter().for_each(|word| word.encode(to));
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Some(match words(bytes)?[..] {
            [0, job, 0] => Self::Add(job),
            [1, worker, 0] => Self::Claim { worker },
            [2, worker, job] => Self::Finish { worker, job },
            [3, worker, 0] => Self::Release { worker },
            _ => return None,
        })
    }
}

fn words(bytes: &[u8]) -> Option<Vec<u64>> {
    bytes.chunks(8).map(u64::decode).collect()
}

/// The number of a claimed job, or the count of jobs that the step changed.
type Answer = u64;

/// The claim of a worker while no job waits.
const NONE: Answer = u64::MAX;

impl StateMachine for Queue {
    type Op = Step;
    type Out = Answer;
    type Query = ();
    type Answer = Vec<Job>;

    fn apply(&mut self, _at: Index, step: &Step) -> Answer {
        match *step {
            Step::Add(job) => {
                self.jobs.entry(job).or_default();
                self.waiting.push_back(job);
                1
            }
            Step::Claim { worker } => {
                let Some(number) = self.waiting.pop_front() else { return NONE };
                let job = self.jobs.entry(number).or_default();
                (job.worker, job.claims) = (worker, job.claims + 1);
                number
            }
            // A worker that was held for dead has its job no more.
            Step::Finish { worker, job } => match self.jobs.get_mut(&job) {
                Some(job) if job.worker == worker => {
                    (job.worker, job.done) = (0, job.done + 1);
                    1
                }
                _ => 0,
            },
            Step::Release { worker } => {
                let claimed = self.jobs.iter_mut().filter(|(_, job)| job.worker == worker);
                let freed: Vec<u64> = claimed.map(|(&number, job)| (job.worker = 0, number).1).collect();
                self.waiting.extend(&freed);
                freed.len() as u64
            }
        }
    }

    fn query(&self, (): &()) -> Vec<Job> {
        self.jobs.values().cloned().collect()
    }

    fn digest(&self) -> u128 {
        let mut bytes = Vec::new();
        self.snapshot(&mut bytes).expect("memory takes everything");
        let prime = 0x0100_0000_0000_0000_0000_013b;
        bytes.iter().fold(1, |sum: u128, &byte| (sum ^ u128::from(byte)).wrapping_mul(prime))
    }

    fn snapshot(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut all = vec![self.waiting.len() as u64];
        all.extend(&self.waiting);
        all.extend(self.jobs.iter().flat_map(|(&number, job)| [number, job.worker, job.claims, job.done]));
        all.iter().try_for_each(|word| to.write_all(&word.to_le_bytes()))
    }

    fn restore(from: &mut dyn Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        let parse = || {
            let all = words(&bytes)?;
            let (&count, rest) = all.split_first()?;
            let (waiting, jobs) = rest.split_at_checked(usize::try_from(count).ok()?)?;
            let job = |job: &[u64]| (job[0], Job { worker: job[1], claims: job[2], done: job[3] });
            Some(Self { waiting: waiting.iter().copied().collect(), jobs: jobs.chunks_exact(4).map(job).collect() })
        };
        parse().ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

fn main() -> Outcome {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => direct(),
        ["worker", name] => work(name),
        _ => Err("expected no arguments".into()),
    }
}

fn config() -> Config {
    Config::default().slots(8).window(1024).bulk_bytes(1 << 20)
}

fn bits(node: NodeId) -> u64 {
    node.to_bits().into()
}

/// Claims and does jobs until all are done.
fn work(name: &str) -> Outcome {
    let node: Node<Queue> = Replicated::attach(&config(), &SocketDir::of_user(), name)?;
    let mut session = node.session()?;
    let worker = bits(node.id());
    println!("worker {worker}");
    // Until all workers are there.
    io::stdin().read_line(&mut String::new())?;
    let mut done = 0;
    loop {
        let (job, at) = session.execute(&Step::Claim { worker })?;
        if job != NONE {
            println!("claimed {job}");
            // Here the work would be.
            done += session.execute(&Step::Finish { worker, job })?.0;
            continue;
        }
        let (jobs, _) = node.read(Level::Local, &())?;
        if jobs.iter().all(|job| job.done > 0) {
            println!("done {done}");
            return Ok(());
        }
        // Until something changes: another worker finishes, or a job comes back.
        match node.catch_up(Level::AtLeast(at + 1), Duration::from_secs(1)) {
            Ok(()) | Err(ReadError::Lagging { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Makes the queue, starts the workers, kills one, and counts.
fn direct() -> Outcome {
    let name = format!("job_queue-{}", std::process::id());
    let node = Replicated::create_named(&config(), &SocketDir::of_user(), &name, Queue::default())?;
    let mut session = node.session()?;
    for job in 0..JOBS {
        session.execute(&Step::Add(job))?;
    }
    let mut workers = (0..WORKERS).map(|_| Worker::start(&name)).collect::<Outcome<Vec<_>>>()?;
    workers.iter_mut().try_for_each(Worker::begin)?;
    let mut victim = workers.pop().ok_or("no worker")?;
    for _ in 0..LAST_CLAIM {
        victim.hear()?;
    }
    victim.child.kill()?;
    victim.child.wait()?;
    await_expulsion(&node, victim.node)?;
    let (released, _) = session.execute(&Step::Release { worker: victim.node })?;
    println!("a worker was killed; {released} job that it had claimed went back into the queue");
    for worker in &mut workers {
        let told = worker.hear_last()?;
        println!("another worker: {told} jobs");
    }
    let (jobs, _) = node.read(Level::Linearizable, &())?;
    let once = jobs.iter().filter(|job| job.done == 1).count();
    let again: u64 = jobs.iter().map(|job| job.claims - 1).sum();
    println!("{once} of {JOBS} jobs were done once, and {again} claimed a second time");
    if once as u64 == JOBS && again == released { Ok(()) } else { Err("a job was lost, or done twice".into()) }
}

/// Waits until the group has put the node of a dead process out.
fn await_expulsion(node: &Node<Queue>, gone: u64) -> Outcome {
    while node.status().members.iter().any(|&member| bits(member) == gone) {
        let shown = node.status().applied;
        match node.catch_up(Level::AtLeast(shown), Duration::from_millis(10)) {
            Ok(()) | Err(ReadError::Lagging { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// This program as a worker, killed at the end.
struct Worker {
    child: Child,
    lines: io::Lines<BufReader<std::process::ChildStdout>>,
    /// The bits of its node.
    node: u64,
}

impl Worker {
    fn start(name: &str) -> Outcome<Self> {
        let mut command = Command::new(env::current_exe()?);
        let mut child = command.args(["worker", name]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().ok_or("no pipe")?).lines();
        let mut worker = Self { child, lines, node: 0 };
        worker.node = worker.hear()?.parse()?;
        Ok(worker)
    }

    fn begin(&mut self) -> Outcome {
        Ok(writeln!(self.child.stdin.as_mut().ok_or("no pipe")?)?)
    }

    /// The number in its next line.
    fn hear(&mut self) -> Outcome<String> {
        let line = self.lines.next().ok_or("a worker ended")??;
        Ok(line.split(' ').nth(1).ok_or("a line without a number")?.to_owned())
    }

    /// The number in its last line.
    fn hear_last(&mut self) -> Outcome<String> {
        let mut last = Err("a worker ended".into());
        while let Ok(number) = self.hear() {
            last = Ok(number);
        }
        last
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended, and then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
