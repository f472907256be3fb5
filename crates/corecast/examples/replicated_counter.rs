//! Does a counter that three processes share lose an addition when processes are killed?
//!
//! Each process holds a replica, and adds as fast as it can. The leader is killed with SIGKILL, a new process joins in its place,
//! and then the acceptor is killed. The survivors go on after a pause, which is printed. At the end every addition that was
//! acknowledged is in the counter, once: also those of the processes that were killed.
//!
//! Run it with `cargo run --release --example replicated_counter`.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use corecast::base::rendezvous::SocketDir;
use corecast::replica::{Config, ExecuteError, Index, Level, Replicated, Session, StateMachine};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// How long the processes add before and after each kill.
const PHASE: Duration = Duration::from_millis(700);
/// How long the program waits for a process before it gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// The additions of each client.
#[derive(Debug, Default)]
struct Counter(BTreeMap<u64, u64>);

impl StateMachine for Counter {
    /// The client that adds 1.
    type Op = u64;
    /// Its additions so far.
    type Out = u64;
    type Query = ();
    type Answer = BTreeMap<u64, u64>;

    fn apply(&mut self, _at: Index, client: &u64) -> u64 {
        let sum = self.0.entry(*client).or_default();
        *sum += 1;
        *sum
    }

    fn query(&self, (): &()) -> BTreeMap<u64, u64> {
        self.0.clone()
    }

    fn digest(&self) -> u128 {
        let prime = 0x0100_0000_0000_0000_0000_013b;
        let add = |sum: u128, (client, count): (&u64, &u64)| {
            (sum ^ (u128::from(*client) << 64 | u128::from(*count))).wrapping_mul(prime)
        };
        self.0.iter().fold(1, add)
    }

    fn snapshot(&self, to: &mut dyn Write) -> io::Result<()> {
        self.0.iter().flat_map(|(client, count)| [client, count]).try_for_each(|word| to.write_all(&word.to_le_bytes()))
    }

    fn restore(from: &mut dyn Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        let words: Vec<u64> =
            bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes"))).collect();
        Ok(Self(words.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()))
    }
}

fn main() -> Outcome {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => direct(),
        ["replica", name, client] => replicate(name, client.parse()?),
        _ => Err("expected no arguments".into()),
    }
}

/// One of the processes: adds until it gets a line, and prints the counter when it gets another one.
fn replicate(name: &str, client: u64) -> Outcome {
    let (dir, config) = (SocketDir::of_user(), Config::default().slots(8).window(4096).bulk_bytes(1 << 20));
    let node = match client {
        1 => Replicated::create_named(&config, &dir, name, Counter::default())?,
        _ => Replicated::attach(&config, &dir, name)?,
    };
    let mut session = node.session()?;
    let lines = lines_of_parent();
    println!("node {}", node.id());
    while lines.try_recv() == Err(TryRecvError::Empty) {
        let sum = add(&mut session, client)?;
        println!("sum {sum} {}", SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_nanos());
        if sum % 100 == 1 {
            let status = node.status();
            println!("roles {} {} {}", status.epoch, status.leader, status.acceptor);
        }
    }
    println!("stopped");
    lines.recv()?;
    let (sums, _) = node.read(Level::Linearizable, &())?;
    let sums: Vec<String> = sums.iter().map(|(client, sum)| format!("{client}:{sum}")).collect();
    println!("total {}", sums.join(" "));
    // The others still ask for theirs.
    let _ = lines.recv();
    Ok(())
}

/// Adds 1, once. A request without an answer is sent again under its number, so that it is not done again.
fn add(session: &mut Session<Counter>, client: u64) -> Result<u64, ExecuteError> {
    let limit = Duration::from_secs(1);
    let mut outcome = session.execute_timeout(&client, limit);
    while let Err(ExecuteError::Unknown { rid }) = outcome {
        outcome = session.resume(rid, limit);
    }
    outcome.map(|(sum, _)| sum)
}

/// Lines from the program that started this process; no more when it is gone.
fn lines_of_parent() -> Receiver<String> {
    let (to, lines) = channel();
    thread::spawn(move || io::stdin().lines().map_while(Result::ok).try_for_each(|line| to.send(line)));
    lines
}

/// Starts the processes, kills two, and counts.
fn direct() -> Outcome {
    let name = format!("replicated_counter-{}", std::process::id());
    let mut all: Vec<Process> = (1..=3).map(|client| Process::start(&name, client)).collect::<Outcome<_>>()?;
    thread::sleep(PHASE);
    println!("three processes add; the longest pause of one of them: {:.1?}", longest_pause(&all));
    kill(&mut all, "leader", |roles| roles.leader.clone())?;
    all.push(Process::start(&name, 4)?);
    println!("another process has joined in its place");
    thread::sleep(PHASE);
    kill(&mut all, "acceptor", |roles| roles.acceptor.clone())?;
    count(&mut all)
}

/// Kills the process with a role, and says for how long the others did not get on.
fn kill(all: &mut [Process], role: &str, of: impl Fn(&Roles) -> String) -> Outcome {
    let roles = all.iter().filter(|one| one.lives).map(|one| one.seen().roles.clone()).max_by_key(|roles| roles.epoch);
    let node = of(&roles.ok_or("no process lives")?);
    let victim = all.iter_mut().find(|one| one.lives && one.seen().node == node).ok_or("nobody has that role")?;
    victim.lives = false;
    victim.child.kill()?;
    victim.child.wait()?;
    let client = victim.client;
    let before: Vec<u64> = all.iter().map(Process::reset).collect();
    for (one, before) in all.iter().zip(before).filter(|(one, _)| one.lives) {
        // The one that was under way when the role holder died, and one behind it.
        one.wait_for(|seen| seen.sum >= before + 2)?;
    }
    thread::sleep(PHASE);
    println!("killed process {client}, the {role}; the others paused for at most {:.1?}", longest_pause(all));
    Ok(())
}

/// The longest time between two acknowledged additions of a living process since that was last asked.
fn longest_pause(all: &[Process]) -> Duration {
    all.iter().filter(|one| one.lives).map(|one| std::mem::take(&mut one.seen().longest)).max().unwrap_or_default()
}

/// Stops the survivors, and compares the counter with what was acknowledged.
fn count(all: &mut [Process]) -> Outcome {
    for round in ["stop", "total"] {
        for one in all.iter_mut().filter(|one| one.lives) {
            writeln!(one.stdin, "{round}")?;
        }
        for one in all.iter().filter(|one| one.lives) {
            one.wait_for(|seen| if round == "stop" { seen.has_stopped } else { seen.total.is_some() })?;
        }
    }
    all.iter_mut().try_for_each(Process::finish)?;
    let mut is_right = true;
    for one in all.iter() {
        let (acknowledged, in_flight) = (one.seen().sum, u64::from(!one.lives));
        for other in all.iter().filter(|other| other.lives) {
            let counted = other.seen().total.as_ref().and_then(|total| total.get(&one.client)).copied().unwrap_or(0);
            is_right &= (acknowledged..=acknowledged + in_flight).contains(&counted);
        }
        let fate = if one.lives { "lives" } else { "was killed" };
        println!("process {} {fate}: {acknowledged} additions acknowledged", one.client);
    }
    let total: u64 = all.iter().find_map(|one| one.seen().total.clone()).ok_or("no total")?.values().sum();
    println!("the counter is {}: {total}", if is_right { "right" } else { "wrong" });
    if is_right { Ok(()) } else { Err("an addition was lost, or done twice".into()) }
}

/// The roles, as a process has told them.
#[derive(Debug, Default, Clone)]
struct Roles {
    epoch: u32,
    leader: String,
    acceptor: String,
}

/// The words of a process so far.
#[derive(Debug, Default)]
struct Seen {
    node: String,
    roles: Roles,
    sum: u64,
    last_ns: u64,
    longest: Duration,
    has_stopped: bool,
    total: Option<BTreeMap<u64, u64>>,
}

impl Seen {
    /// Takes note of a line.
    fn note(&mut self, line: &str) -> Option<()> {
        let mut words = line.split(' ');
        match words.next()? {
            "node" => words.next()?.clone_into(&mut self.node),
            "sum" => {
                self.sum = words.next()?.parse().ok()?;
                let now: u64 = words.next()?.parse().ok()?;
                if self.last_ns != 0 {
                    self.longest = self.longest.max(Duration::from_nanos(now.saturating_sub(self.last_ns)));
                }
                self.last_ns = now;
            }
            "roles" => {
                let epoch = words.next()?.parse().ok()?;
                self.roles = Roles { epoch, leader: words.next()?.to_owned(), acceptor: words.next()?.to_owned() };
            }
            "stopped" => self.has_stopped = true,
            "total" => {
                let pair = |pair: &str| {
                    pair.split_once(':').and_then(|(client, sum)| Some((client.parse().ok()?, sum.parse().ok()?)))
                };
                self.total = Some(words.map(pair).collect::<Option<_>>()?);
            }
            _ => return None,
        }
        Some(())
    }
}

/// This program as a replica, killed at the end.
struct Process {
    client: u64,
    lives: bool,
    child: Child,
    stdin: ChildStdin,
    seen: Arc<Mutex<Seen>>,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts it, and waits until it adds.
    fn start(name: &str, client: u64) -> Outcome<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.args(["replica", name, &client.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let (stdin, stdout) = (child.stdin.take().ok_or("no pipe")?, child.stdout.take().ok_or("no pipe")?);
        let seen = Arc::new(Mutex::new(Seen::default()));
        let to = Arc::clone(&seen);
        let reader = thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // The last line of a process that was killed may be cut off: that addition does not count as acknowledged.
                let _ = to.lock().unwrap_or_else(PoisonError::into_inner).note(&line);
            }
        });
        let process = Self { client, lives: true, child, stdin, seen, reader: Some(reader) };
        process.wait_for(|seen| seen.sum > 0)?;
        Ok(process)
    }

    /// Forgets the longest pause so far, and tells how many additions were acknowledged.
    fn reset(&self) -> u64 {
        let mut seen = self.seen();
        seen.longest = Duration::ZERO;
        seen.sum
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for(&self, has: impl Fn(&Seen) -> bool) -> Outcome {
        let start = Instant::now();
        while !has(&self.seen()) {
            if start.elapsed() > PATIENCE || self.reader.as_ref().is_none_or(JoinHandle::is_finished) {
                return Err(format!("process {} said nothing more", self.client).into());
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Reads the last words of a process that was killed.
    fn finish(&mut self) -> Outcome {
        match self.reader.take() {
            Some(reader) if !self.lives => reader.join().map_err(|_| "the reader panicked".into()),
            reader => {
                self.reader = reader;
                Ok(())
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended, and then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
