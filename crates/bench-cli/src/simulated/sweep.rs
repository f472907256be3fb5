//! The points of a sweep, each in a process of its own, as many at a time as there are CPUs: the protocols' statics are
//! fresh, and a point gives the same alone and among others.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use corecast_race::Progress;
use serde::Serialize;
use serde::de::DeserializeOwned;

use corecast_cli::failure::Failure;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::own_program;

const LOOK: Duration = Duration::from_millis(2);

/// Something that a process of its own plays.
pub(crate) trait InProcess: Serialize {
    /// Its outcome, which the process tells as JSON.
    type Outcome: DeserializeOwned + Clone;
    /// The hidden command of `sim` that plays it.
    const COMMAND: &'static str;

    /// The words for people who wait for it.
    fn words(&self) -> String;
}

/// Plays all points, and returns their outcomes in the order of the points. Processes that are left when it fails are killed.
///
/// # Errors
/// Trouble of the environment, or an interruption.
pub(crate) fn sweep<P: InProcess>(
    points: &[P],
    progress: &mut dyn Progress,
    interrupt: &Interrupt,
) -> Result<Vec<P::Outcome>, Failure> {
    let program = own_program::path()?;
    let most = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut left: VecDeque<usize> = (0..points.len()).collect();
    let mut playing: Vec<Playing> = Vec::new();
    let mut played: Vec<Option<P::Outcome>> = vec![None; points.len()];
    while !left.is_empty() || !playing.is_empty() {
        if interrupt.is_raised() {
            return Err(Failure::Interrupted);
        }
        while playing.len() < most {
            let Some(place) = left.pop_front() else { break };
            playing.push(Playing { place, child: start(&program, &points[place])? });
        }
        let mut ended = Vec::new();
        for index in (0..playing.len()).rev() {
            if playing[index].child.try_wait().map_err(trouble)?.is_some() {
                ended.push(playing.swap_remove(index));
            }
        }
        if ended.is_empty() {
            thread::sleep(LOOK);
        }
        for playing in ended {
            let place = playing.place;
            played[place] = Some(playing.outcome()?);
            let done = played.iter().flatten().count();
            progress.step(done as f64 / points.len() as f64, &points[place].words());
        }
    }
    Ok(played.into_iter().flatten().collect())
}

/// A point under way.
struct Playing {
    place: usize,
    child: Child,
}

impl Playing {
    /// The outcome that the process has told, which has ended.
    fn outcome<O: DeserializeOwned>(mut self) -> Result<O, Failure> {
        let mut told = String::new();
        if let Some(mut out) = self.child.stdout.take() {
            std::io::Read::read_to_string(&mut out, &mut told).map_err(trouble)?;
        }
        serde_json::from_str(&told)
            .map_err(|_| Failure::environment(format!("a process of the simulation ended without an outcome: {told}")))
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        // One that has ended is only collected.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start<P: InProcess>(program: &Path, point: &P) -> Result<Child, Failure> {
    let text = serde_json::to_string(point).map_err(Failure::environment)?;
    let mut command = Command::new(program);
    command.args(["sim", P::COMMAND, &text]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    command.spawn().map_err(|error| Failure::environment(format!("cannot start {}: {error}", program.display())))
}

fn trouble(error: std::io::Error) -> Failure {
    Failure::environment(format!("cannot hear from a process of the simulation: {error}"))
}
