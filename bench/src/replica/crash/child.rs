//! A process that is a node, as the parent sees it.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use corecast_race::failure::Failure;
use rustix::process::{Pid, Signal, kill_process};

use super::plan::NodePlan;
use super::report::CrashOptions;

/// The environment variable by which a process kills itself at a place of its code.
const CRASH_AT: &str = "CORECAST_CRASH_AT";

/// The roles, as a node knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Roles {
    /// The slot of the leader.
    pub(super) leader: u16,
    /// The slot of the acceptor.
    pub(super) acceptor: u16,
    /// Whether the node that was asked is a member.
    pub(super) is_member: bool,
}

/// The words that a process has said without being asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// It could not join.
    NotJoined(String),
    /// A client of it has ended.
    Ended(String),
}

/// A process. It is killed when this is dropped.
pub(super) struct Node {
    process: Child,
    orders: ChildStdin,
    lines: Receiver<String>,
    /// Lines that are no answers.
    news: VecDeque<News>,
    /// Its slot, once it has joined.
    pub(super) slot: Option<u16>,
    /// Whether it makes the group.
    pub(super) founds: bool,
    /// Whether it may kill itself at any time.
    pub(super) is_armed: bool,
    /// Whether it has too little memory to give its state to others.
    pub(super) is_cramped: bool,
    /// The place at which it does, if it was given one.
    pub(super) place: Option<String>,
    /// Whether the parent has killed it. It may take a while to end, and its group as long to see it dead.
    is_killed: bool,
    /// The time at which it is to be continued, while it is stopped.
    pub(super) stopped_until: Option<Instant>,
    pub(super) started: Instant,
}

impl Node {
    /// Starts a process that dies at `crash_at`, if that is given.
    pub(super) fn start(wanted: &CrashOptions, plan: &NodePlan, crash_at: Option<String>) -> Result<Self, Failure> {
        let mut command = Command::new(&wanted.program);
        command.args(&wanted.arguments).args(plan.words()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let (is_armed, is_cramped) = (crash_at.is_some(), plan.room_bytes > 0);
        if let Some(place) = &crash_at {
            command.env(CRASH_AT, place);
        }
        let started = command.spawn();
        let mut process = started.map_err(|error| Failure::NoCrew(format!("{}: {error}", wanted.program.display())))?;
        let orders = process.stdin.take().expect("its standard input is a pipe");
        let output = BufReader::new(process.stdout.take().expect("its standard output is a pipe"));
        let (to, lines) = channel();
        // Ends with the process: a stopped one must not keep the parent from its work.
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| to.send(line)));
        let (news, started) = (VecDeque::new(), Instant::now());
        Ok(Self {
            process,
            orders,
            lines,
            news,
            slot: None,
            founds: plan.founds,
            is_armed,
            is_cramped,
            place: crash_at,
            is_killed: false,
            stopped_until: None,
            started,
        })
    }

    /// Whether it can be asked: it has joined and runs.
    pub(super) fn is_at_work(&self) -> bool {
        self.slot.is_some() && self.stopped_until.is_none() && !self.is_killed
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    pub(super) fn kill(&mut self) -> Result<(), Failure> {
        self.is_killed = true;
        self.process.kill().map_err(Failure::while_doing("kill a process"))
    }

    pub(super) fn stop(&mut self, until: Instant) {
        self.stopped_until = Some(until);
        // It may have ended by itself.
        let _ = kill_process(self.pid(), Signal::STOP);
    }

    pub(super) fn go_on(&mut self) {
        self.stopped_until = None;
        let _ = kill_process(self.pid(), Signal::CONT);
    }

    /// True once it has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(Some(_)) | Err(_))
    }

    /// True if it ends by then: one that was killed just now may still be at it.
    pub(super) fn ends_by(&mut self, until: Instant) -> bool {
        while !self.has_ended() {
            if Instant::now() >= until {
                return false;
            }
            thread::sleep(Duration::from_millis(1));
        }
        true
    }

    /// Takes note of what it has said, and returns the news.
    pub(super) fn hear(&mut self) -> Option<News> {
        while let Ok(line) = self.lines.try_recv() {
            let _late_answer = self.note(line);
        }
        self.news.pop_front()
    }

    /// Takes note of a line; the line itself if it answers an order.
    fn note(&mut self, line: String) -> Option<String> {
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match word {
            "joined" => self.slot = rest.parse().ok(),
            "failed" => self.news.push_back(News::NotJoined(rest.to_owned())),
            "ended" => self.news.push_back(News::Ended(rest.to_owned())),
            _ => return Some(line),
        }
        None
    }

    /// Gives an order without waiting for the answer. False if the process is gone.
    pub(super) fn order(&mut self, order: &str) -> bool {
        self.orders.write_all(format!("{order}\n").as_bytes()).is_ok()
    }

    /// The next answer that begins with `word`, or with `un` and it; `None` if it does not come in time, or never.
    pub(super) fn answer(&mut self, word: &str, until: Instant) -> Option<String> {
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    let answer = self.note(line).filter(|line| line.trim_start_matches("un").starts_with(word));
                    if answer.is_some() {
                        return answer;
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Asks for the roles.
    pub(super) fn roles(&mut self, patience: Duration) -> Option<Roles> {
        let until = Instant::now() + patience;
        // An answer that came too late for an earlier question is of no use.
        while let Ok(line) = self.lines.try_recv() {
            self.note(line);
        }
        if !self.order("roles") {
            return None;
        }
        let answer = self.answer("roles", until)?;
        let mut words = answer.split(' ').skip(1).map(str::parse::<u16>);
        let mut next = || words.next()?.ok();
        Some(Roles { leader: next()?, acceptor: next()?, is_member: next()? == 1 })
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // It is dead, or has nothing to lose.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
