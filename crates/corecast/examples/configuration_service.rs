//! How do worker processes follow a configuration that changes while they work?
//!
//! Every worker holds a replica of a key-value store and reads its settings from its own memory. Between changes it sleeps until
//! its replica has applied the next command; it polls nobody. The process that made the store is killed in the end: the settings
//! outlive it, and a worker makes the last change.
//!
//! Run it with `cargo run --release --example configuration_service`.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::env;
use std::error::Error;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use corecast::base::rendezvous::SocketDir;
use corecast::replica::kv::{Answer, Condition, Key, Op, Out, Query, Store, Value};
use corecast::replica::{Config, Level, Node, ReadError, Replicated, Session};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const WORKERS: usize = 3;
const LEVELS: [&str; 4] = ["error", "warn", "info", "debug"];

fn main() -> Outcome {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => direct(),
        ["host", name] => host(name),
        ["worker", name] => work(name),
        _ => Err("expected no arguments".into()),
    }
}

fn config() -> Config {
    Config::default().slots(8).window(1024).bulk_bytes(1 << 20)
}

/// Sets a key if its value is the old one: two processes that change it at the same time do not both succeed.
fn change(session: &mut Session<Store>, key: &str, old: &str, new: &str) -> Outcome<bool> {
    let op = Op::CompareAndSet { key: Key::try_from(key)?, old: Value::try_from(old)?, new: Value::try_from(new)? };
    Ok(session.execute(&op)?.0 == Out::Done)
}

/// A value, and the count of commands that it shows.
fn get(node: &Node<Store>, level: Level, key: &str) -> Outcome<(String, u64)> {
    let (answer, shown) = node.read(level, &Query::Get(Key::try_from(key)?))?;
    let Answer::Value(Some(value)) = answer else { return Err(format!("{key} is not set").into()) };
    Ok((String::from_utf8_lossy(&value).into_owned(), shown))
}

/// The first process: makes the store, and changes a setting whenever all workers have followed.
fn host(name: &str) -> Outcome {
    let node = Replicated::create_named(&config(), &SocketDir::of_user(), name, Store::default())?;
    let mut session = node.session()?;
    let set = |key: &str, value: &str| -> Outcome<Op> {
        Ok(Op::Set { key: Key::try_from(key)?, value: Value::try_from(value)?, condition: Condition::Always })
    };
    session.execute(&set("log.level", LEVELS[0])?)?;
    println!("host: log.level is {}", LEVELS[0]);
    for line in std::io::stdin().lines() {
        let line = line?;
        let (old, new) = line.split_once(' ').ok_or("expected two values")?;
        println!("host: {old} -> {new}: {}", change(&mut session, "log.level", old, new)?);
    }
    Ok(())
}

/// A worker: tells each level that it sees, and lets nothing pass unseen until the last one.
fn work(name: &str) -> Outcome {
    let node: Node<Store> = Replicated::attach(&config(), &SocketDir::of_user(), name)?;
    let mut seen = String::new();
    while seen != LEVELS[LEVELS.len() - 1] {
        let (level, shown) = get(&node, Level::Local, "log.level")?;
        if level != seen {
            println!("worker {}: log.level is {level}", node.id());
            seen = level;
            if seen == LEVELS[LEVELS.len() - 2] {
                // The host is killed at this point: one of the workers does the rest, whichever is the first.
                wait_for_death_of_host()?;
                let was_first = change(&mut node.session()?, "log.level", &seen, LEVELS[LEVELS.len() - 1])?;
                println!("worker {}: the last change, {}", node.id(), if was_first { "mine" } else { "another one's" });
                continue;
            }
        }
        // Until the next command of the log. A time without one is no trouble.
        match node.catch_up(Level::AtLeast(shown), Duration::from_secs(1)) {
            Ok(()) | Err(ReadError::Lagging { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The program that started this process says when.
fn wait_for_death_of_host() -> Outcome {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(())
}

/// Starts the host and the workers, and asks for the changes.
fn direct() -> Outcome {
    use std::io::Write;
    let name = format!("configuration_service-{}", std::process::id());
    let mut host = Process::start("host", &name)?;
    host.hear()?;
    let mut workers = (0..WORKERS).map(|_| Process::start("worker", &name)).collect::<Outcome<Vec<_>>>()?;
    workers.iter_mut().try_for_each(|worker| worker.hear().map(drop))?;
    for change in LEVELS.windows(2).take(LEVELS.len() - 2) {
        writeln!(host.child.stdin.as_mut().ok_or("no pipe")?, "{} {}", change[0], change[1])?;
        host.hear()?;
        for worker in &mut workers {
            worker.hear_until(change[1])?;
        }
    }
    host.child.kill()?;
    host.child.wait()?;
    println!("the host was killed");
    for worker in &mut workers {
        writeln!(worker.child.stdin.as_mut().ok_or("no pipe")?)?;
    }
    let mut own_changes = 0;
    for worker in &mut workers {
        while let Ok(line) = worker.hear() {
            own_changes += usize::from(line.ends_with("mine"));
        }
        let status = worker.child.wait()?;
        if !status.success() {
            return Err(format!("a worker ended with {status}").into());
        }
    }
    println!("{WORKERS} workers followed {} changes; {own_changes} of them made the last one", LEVELS.len() - 1);
    if own_changes == 1 { Ok(()) } else { Err("that should not be".into()) }
}

/// This program in another role, killed at the end.
struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(role: &str, name: &str) -> Outcome<Self> {
        let mut command = Command::new(env::current_exe()?);
        let mut child = command.args([role, name]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().ok_or("no pipe")?).lines();
        Ok(Self { child, lines })
    }

    /// Waits until it says something, and passes that on.
    fn hear(&mut self) -> Outcome<String> {
        let line = self.lines.next().ok_or("a process ended")??;
        println!("{line}");
        Ok(line)
    }

    fn hear_until(&mut self, end: &str) -> Outcome {
        while !self.hear()?.ends_with(end) {}
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended, and then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
