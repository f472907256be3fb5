//! The process that is killed: this program again, which opens its end by the region's name and waits for its death.

use std::io::{self, Read, Write};
use std::num::NonZeroU64;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use corecast::base::region::{RegionDir, SharedRegion};
use rustix::process::{Signal, set_parent_process_death_signal};

use super::DeathOptions;
use super::ends::{Channel, End};
use corecast_race::failure::Failure;

/// The name of the region and of its channel.
pub(super) const NAME: &str = "deaths";
/// Words that a victim sends before it waits: 1, 2, and so on.
pub(super) const SENT: u64 = 100;

/// A process that waits for its death.
pub(super) struct Victim {
    process: Child,
}

impl Victim {
    /// Starts the process at this end of the channel in `dir`.
    pub(super) fn start(wanted: &DeathOptions, channel: Channel, end: End, dir: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(&wanted.program);
        command.args(&wanted.arguments).args([channel.name(), end.name()]).arg(dir);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let process = command.spawn();
        let process = process.map_err(|error| Failure::NoCrew(format!("{}: {error}", wanted.program.display())))?;
        Ok(Self { process })
    }

    /// Waits until it has opened its end.
    pub(super) fn await_word(&mut self) -> Result<(), Failure> {
        let output = self.process.stdout.as_mut().expect("its standard output is a pipe");
        output.read_exact(&mut [0]).map_err(|_| Failure::Refused("a process to be killed ended before".to_owned()))
    }

    pub(super) fn kill(&mut self) -> io::Result<()> {
        self.process.kill()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        // It is dead, or has nothing to lose.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The work of a process that will be killed, given its channel, end and directory. Returns only with an error. For the
/// hidden subcommand of a program that calls [`deaths`](super::deaths).
///
/// # Errors
/// Why it cannot open its end.
pub fn victim(channel: &str, end: &str, dir: &Path) -> Result<(), Failure> {
    // Nobody else would ever end it.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(Failure::refused)?;
    let channel = Channel::ALL.into_iter().find(|known| known.name() == channel);
    let end = End::BOTH.into_iter().find(|known| known.name() == end);
    let (Some(channel), Some(end)) = (channel, end) else {
        return Err(Failure::Refused("expected ump, ff or mcast, then sender or receiver".to_owned()));
    };
    let region = SharedRegion::open(&RegionDir::at(dir), NAME).map_err(Failure::refused)?;
    match end {
        End::Sender => send_and_wait(channel, &region),
        End::Receiver => {
            let _receiver = channel.receiver(&region)?;
            wait_for_death()
        }
    }
}

fn send_and_wait(channel: Channel, region: &SharedRegion) -> Result<(), Failure> {
    let mut sender = channel.sender(region)?;
    for word in (1..=SENT).filter_map(NonZeroU64::new) {
        sender.send(word).map_err(|told| Failure::Refused(format!("word {word}: {}", told.words())))?;
    }
    sender.flush()?;
    wait_for_death()
}

fn wait_for_death() -> ! {
    let mut output = io::stdout();
    // If nobody listens there is nobody to tell.
    let _ = output.write_all(b"\n").and_then(|()| output.flush());
    loop {
        thread::park();
    }
}
