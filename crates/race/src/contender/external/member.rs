//! The participants that stand for a driver's members in the harness: one of them talks to the driver, the others hear what
//! it saw.
//!
//! All of them sleep while the driver works, which has their CPUs to itself.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use corecast::base::Clock;

use super::workshop::Workshop;
use crate::contender::Setting;
use crate::contender::elsewhere::{Elsewhere, Performer};
use crate::dialogue::Dialogue;
use crate::failure::Failure;
use crate::harness::{Abort, Body, LEAD, Stamps, TOLERANCE, Task};
use crate::op::Op;

/// Operations that a driver checks between two looks at the clock.
const CHECKED_AT_ONCE: u64 = 10;
/// A driver whose operations are slow checks fewer of them: what fits here, and [`CHECKED_AT_ONCE`] at least.
const CHECK_LIMIT: Duration = Duration::from_millis(500);

/// A block as the driver saw it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Block {
    /// Ticks from the last start to the last end.
    took: u64,
    /// Of each member, by rank; empty for windows.
    cpu: Vec<Duration>,
    /// The longest time of all members in each window; `None` if one began late.
    windows: Vec<Option<u64>>,
    /// The time of each round that was timed by itself, at rank 0.
    rounds: Vec<u64>,
}

/// The participant who talks to the driver.
pub(super) struct Speaker {
    dialogue: Dialogue,
    /// The operation and the length of what it carries, as the driver reads them.
    what: String,
    abort: Arc<Abort>,
    others: Vec<Sender<Arc<Block>>>,
}

/// How a participant comes to know a block.
enum Part {
    Speaker(Speaker),
    Listener(Receiver<Arc<Block>>),
}

/// A participant.
struct Member {
    rank: usize,
    part: Part,
    block: Arc<Block>,
    /// Keeps what was built until the race is over.
    _workshop: Arc<Workshop>,
}

/// The bodies of all participants, by rank.
pub(super) fn bodies(mut speaker: Speaker, participants: usize, workshop: Arc<Workshop>) -> Vec<Box<dyn Body>> {
    let member = |rank, part| -> Box<dyn Body> {
        let (block, workshop) = (Arc::default(), Arc::clone(&workshop));
        Box::new(Elsewhere::new(Member { rank, part, block, _workshop: workshop }))
    };
    let mut bodies: Vec<_> = (0..participants - 1)
        .map(|rank| {
            let (tell, told) = channel();
            speaker.others.push(tell);
            member(rank, Part::Listener(told))
        })
        .collect();
    bodies.push(member(participants - 1, Part::Speaker(speaker)));
    bodies
}

impl Performer for Member {
    fn perform(&mut self, task: Task) -> Result<(), Failure> {
        self.block = match &mut self.part {
            Part::Speaker(speaker) => speaker.block(task)?,
            // The speaker never waits for ever; it is gone if it has failed, and has said why.
            Part::Listener(told) => told.recv().map_err(|_| Failure::Aborted)?,
        };
        Ok(())
    }

    fn amend(&self, timing: &mut Stamps) {
        // All of them begin and end at the same ticks, so that any of them tells the driver's time.
        timing.start = 0;
        timing.end = self.block.took;
        timing.cpu = self.block.cpu.get(self.rank).copied().unwrap_or_default();
        timing.windows.clone_from(&self.block.windows);
        timing.marks.clone_from(&self.block.rounds);
    }
}

impl Speaker {
    pub(super) fn new(dialogue: Dialogue, op: Op, setting: &Setting<'_>, abort: Arc<Abort>) -> Self {
        Self { dialogue, what: format!("{op} {}", setting.bytes), abort, others: Vec::new() }
    }

    fn block(&mut self, task: Task) -> Result<Arc<Block>, Failure> {
        let block = Arc::new(self.ask_for(task)?);
        for other in &self.others {
            // A member that is gone has failed, and says so.
            let _ = other.send(Arc::clone(&block));
        }
        Ok(block)
    }

    fn ask_for(&mut self, task: Task) -> Result<Block, Failure> {
        let ticks = |duration| Clock::get().ticks_in(duration);
        match task {
            Task::Check { rounds } => self.check(rounds),
            Task::Batch { iterations } => self.ask("run", &[iterations]),
            Task::Separated { operations } => self.ask("separated", &[operations]),
            Task::Windows { count, width } => self.ask("windows", &[count, width, ticks(LEAD), ticks(TOLERANCE)]),
            Task::Rounds { count, steps, timed } => self.ask("rounds", &[count, steps, timed.min(count)]),
            Task::Late { .. } | Task::Paced { .. } | Task::Echoed { .. } => {
                Err(Failure::refused("its driver was not made for this task"))
            }
        }
    }

    fn check(&mut self, rounds: u64) -> Result<Block, Failure> {
        let start = Instant::now();
        let (mut block, mut checked) = (Block::default(), 0);
        while checked < rounds && (checked == 0 || start.elapsed() < CHECK_LIMIT) {
            let count = CHECKED_AT_ONCE.min(rounds - checked);
            block = self.ask("check", &[count])?;
            checked += count;
        }
        Ok(block)
    }

    fn ask(&mut self, verb: &str, numbers: &[u64]) -> Result<Block, Failure> {
        let numbers: String = numbers.iter().map(|number| format!(" {number}")).collect();
        let answer = self.dialogue.ask(&format!("{verb} {}{numbers}", self.what), &self.abort)?;
        read(&answer)
    }
}

/// The block that an answer tells of.
fn read(answer: &str) -> Result<Block, Failure> {
    let misunderstood = || Failure::Refused(format!("the driver answers '{answer}'"));
    let (kind, rest) = answer.split_once(' ').ok_or_else(misunderstood)?;
    let number = |word: &str| word.parse::<u64>().map_err(|_| misunderstood());
    match kind {
        "done" => {
            let numbers = rest.split(' ').map(number).collect::<Result<Vec<_>, _>>()?;
            let (&took, cpu) = numbers.split_first().ok_or_else(misunderstood)?;
            let cpu = cpu.iter().copied().map(Duration::from_nanos).collect();
            Ok(Block { took, cpu, ..Block::default() })
        }
        "rounds" => {
            let (cpu, rounds) = rest.split_once(" ; ").ok_or_else(misunderstood)?;
            let rounds = rounds.split(' ').map(number).collect::<Result<_, _>>()?;
            read(&format!("done {cpu}")).map(|block| Block { rounds, ..block })
        }
        "windows" => {
            let window = |word| if word == "-" { Ok(None) } else { number(word).map(Some) };
            let windows = rest.split(' ').map(window).collect::<Result<_, _>>()?;
            Ok(Block { windows, ..Block::default() })
        }
        "wrong" => Err(Failure::Wrong(rest.to_owned())),
        _ => Err(misunderstood()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_or_quoted() {
        let [two, three] = [2, 3].map(Duration::from_nanos);
        assert_eq!(read("done 7 2 3"), Ok(Block { took: 7, cpu: vec![two, three], ..Block::default() }));
        assert_eq!(
            read("rounds 7 2 3 ; 4 5"),
            Ok(Block { took: 7, cpu: vec![two, three], rounds: vec![4, 5], ..Block::default() })
        );
        assert_eq!(read("windows 5 - 6").map(|block| block.windows), Ok(vec![Some(5), None, Some(6)]));
        assert_eq!(read("wrong sum: 1"), Err(Failure::Wrong("sum: 1".to_owned())));
        for answer in ["", "done", "done x", "ready", "windows 5 x", "hello world"] {
            let failure = read(answer).expect_err("no block's answer").to_string();
            assert!(failure.contains(&format!("'{answer}'")), "{failure}");
        }
    }
}
