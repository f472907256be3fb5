//! A process of a host beside its voter: it has a replica of the host's state, and reads from its own memory.

use std::env;
use std::io::{self, BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use corecast::base::rendezvous::SocketDir;
use corecast::replica::{Batched, Config, Index, Level, ReadError, Replicated};

use crate::Outcome;
use crate::state::{Replica, State, tell_of};

/// Reads of a name after each change.
const READS: u32 = 100;
/// The time after which a reader that waits for a change looks whether it was asked something.
const LOOK: Duration = Duration::from_millis(10);

/// Reads after each change, until the voter closes the input.
pub(crate) fn read(name: &str) -> Outcome {
    let replica: Replica = Replicated::attach(&Config::default(), &SocketDir::of_user(), name)?;
    println!("ready");
    let asked = lines_of_parent();
    let (mut spent, mut reads, mut shown) = (Duration::ZERO, 0, 0);
    loop {
        match asked.try_recv() {
            Ok(line) => {
                let told = tell_of(&replica, line.parse()?)?;
                println!("reader {told} {reads} {}", spent.as_nanos() / u128::from(reads.max(1)));
            }
            Err(TryRecvError::Disconnected) => return Ok(()),
            Err(TryRecvError::Empty) => {}
        }
        if wait_for_change(&replica, shown)? {
            let (time, now) = time_reads(&replica)?;
            (spent, reads, shown) = (spent + time, reads + u64::from(READS), now);
        }
    }
}

/// The time of some reads of this process's memory, and the number of commands that the last one shows.
fn time_reads(replica: &Replica) -> Outcome<(Duration, Index)> {
    let (begin, mut shown) = (Instant::now(), 0);
    for _ in 0..READS {
        let look = |state: &Batched<State>| state.machine().texts.contains_key("client 0, write 0");
        let (found, now) = replica.read_with(Level::Local, look)?;
        std::hint::black_box(found);
        shown = now;
    }
    Ok((begin.elapsed(), shown))
}

/// Waits a moment for a command beyond these; false if none has come.
pub(crate) fn wait_for_change(replica: &Replica, shown: Index) -> Outcome<bool> {
    match replica.catch_up(Level::AtLeast(shown), LOOK) {
        Ok(()) => Ok(true),
        Err(ReadError::Lagging { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Lines from the process that started this one; no more when it is gone.
fn lines_of_parent() -> Receiver<String> {
    let (to, lines) = channel();
    thread::spawn(move || io::stdin().lines().map_while(Result::ok).try_for_each(|line| to.send(line)));
    lines
}

/// A reader as its voter sees it. It ends when its input does.
#[derive(Debug)]
pub(crate) struct Reader {
    _child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Reader {
    /// Starts it, and waits until it has a replica.
    pub(crate) fn start(name: &str) -> Outcome<Self> {
        let mut command = Command::new(env::current_exe()?);
        let mut child = command.args(["reader", name]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (stdin, stdout) = (child.stdin.take().ok_or("no pipe")?, child.stdout.take().ok_or("no pipe")?);
        let mut reader = Self { _child: child, stdin, lines: BufReader::new(stdout).lines() };
        reader.hear()?;
        Ok(reader)
    }

    /// Asks for the state at an entry of the log.
    pub(crate) fn tell_of(&mut self, entry: u64) -> Outcome<String> {
        writeln!(self.stdin, "{entry}")?;
        self.hear()
    }

    fn hear(&mut self) -> Outcome<String> {
        Ok(self.lines.next().ok_or("a reader has ended")??)
    }
}
