//! Checkpoints of all replicas, as ZIMP's experiment: one node asks, all answer, and the next begins.
//!
//! Ours gather digests in lines of 64 bytes, and write one state out, or none where states are only compared. The other way is
//! what the paper's program does: every node sends its whole state through a channel to the one that asked, which reads it.

use std::thread;
use std::time::{Duration, Instant};

use corecast::base::Clock;
use corecast::channel::ump;

use super::host::Setting;
use super::payloads::Logs;
use super::play::{Block, Tally};
use super::series::Series;
use corecast_race::failure::Failure;

/// The name of the row in which states are sent.
pub(super) const COPIED: &str = "states copied";
/// The name of the row in which digests are compared and no state is written.
pub(super) const COMPARED: &str = "digests compared";
/// How long a checkpoint may take.
const LIMIT: Duration = Duration::from_secs(10);
/// The longest part of a state that is one message.
const PART: usize = 16 << 10;

/// Checkpoints of a group of ours, until the time is over; their states are written, or only compared.
pub(super) fn of_group(
    (series, is_written): (&Series, bool),
    setting: &Setting,
    bytes: usize,
    time: Duration,
) -> Result<Block, Failure> {
    let logs = Logs::open(series, setting, bytes)?;
    let initiator = logs.nodes.last().expect("a group has a node");
    let mut state = Vec::with_capacity(bytes + (64 << 10));
    let mut tally = Tally::begun();
    let until = Instant::now() + time;
    while Instant::now() < until {
        let begin = Clock::get().ticks();
        state.clear();
        let cut = if is_written { initiator.checkpoint(&mut state, LIMIT) } else { initiator.compare(LIMIT) };
        let cut = cut.map_err(Failure::refused)?;
        tally.writes.add(Clock::get().ticks() - begin);
        tally.operations += 1;
        if cut.digests.len() != setting.members || !cut.diverged.is_empty() || is_written && state.len() < bytes {
            return Err(Failure::Wrong(format!("{cut:?} of {} members, {} bytes", setting.members, state.len())));
        }
    }
    Ok(Block::of(&[tally.end()]))
}

/// The same by messages: a request to each node, and its whole state back through a `ump` channel.
pub(super) fn of_copies(setting: &Setting, bytes: usize, time: Duration) -> Result<Block, Failure> {
    let part = PART.min(bytes.next_multiple_of(8));
    let config = ump::Config::default().holding(part);
    thread::scope(|scope| {
        let mut nodes = Vec::new();
        for _ in 1..setting.members {
            let (asking, mut asked) = ump::bytes::channel(ump::Config::default());
            let (mut replying, replies) = ump::bytes::channel(config.clone());
            nodes.push((asking, replies));
            scope.spawn(move || {
                let state = vec![7; bytes];
                // It ends when the initiator has left.
                while asked.recv().is_ok() {
                    if state.chunks(part).any(|part| replying.send(part).is_err()) {
                        return;
                    }
                }
            });
        }
        gather(&mut nodes, bytes, time)
    })
}

type Way = (ump::bytes::Sender, ump::bytes::Receiver);

fn gather(nodes: &mut [Way], bytes: usize, time: Duration) -> Result<Block, Failure> {
    let (own, mut state) = (vec![7; bytes], Vec::with_capacity(bytes * (nodes.len() + 1)));
    let mut tally = Tally::begun();
    let until = Instant::now() + time;
    while Instant::now() < until {
        let begin = Clock::get().ticks();
        state.clear();
        for (asking, _) in &mut *nodes {
            asking.send(&tally.operations.to_le_bytes()).map_err(Failure::refused)?;
        }
        state.extend_from_slice(&own);
        for (number, (_, replies)) in nodes.iter_mut().enumerate() {
            let whole = bytes * (number + 2);
            while state.len() < whole {
                let message = replies.recv().map_err(Failure::refused)?;
                let at = state.len();
                state.resize(at + message.len(), 0);
                message.copy_to(&mut state[at..]);
            }
        }
        tally.writes.add(Clock::get().ticks() - begin);
        tally.operations += 1;
    }
    Ok(Block::of(&[tally.end()]))
}
