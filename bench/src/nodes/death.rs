//! A member of a group in which others are killed: it notes how and when it learns of that, and goes on with the survivors.

use corecast::collective::nodes::{Error, Member};
use corecast_race::failure::Failure;
use rustix::time::{ClockId, clock_gettime};

use super::work::{After, Told, Work};

/// Operations among the survivors of each death.
const AFTER: usize = 50;
/// The values of a slice.
const SLICE: usize = 64;

/// This many times: operations until one fails, and then some among the survivors.
pub(super) fn die(me: &mut Member, work: &Work, deaths: usize) -> Result<(), Failure> {
    let first = me.rank();
    me.barrier().map_err(Failure::refused)?;
    work.tell(&format!("pid-{first}"), &std::process::id())?;
    let mut group = survive(me, work, (first, 0))?;
    for death in 1..deaths {
        group = survive(&mut group, work, (first, death))?;
    }
    // The launcher ends the job when a host's processes have ended with an error, which the killed one is.
    group.barrier().map_err(Failure::refused)
}

/// The group of those that survive the next death. `first` is this member's rank in the first group.
fn survive(me: &mut Member, work: &Work, (first, death): (usize, usize)) -> Result<Member, Failure> {
    let own = me.rank() as u64;
    let error = loop {
        // A slice, if there are lanes that it can go by.
        let done = match me.lanes().count() {
            1 => me.allreduce(own, |a, b| a + b).map(drop),
            _ => me.allreduce_slice(&mut [own; SLICE], |a, b| a + b),
        };
        if let Err(error) = done {
            break error;
        }
    };
    work.tell(&format!("told-{first}-{death}"), &told(&error))?;
    let mut shrunk = me.shrink().map_err(Failure::refused)?.me;
    let mut at_ns = 0;
    for round in 0..AFTER {
        let sum = shrunk.allreduce(1_u64, |a, b| a + b).map_err(Failure::refused)?;
        if sum != shrunk.size() as u64 {
            return Err(Failure::Wrong(format!("a sum of {} survivors is {sum}", shrunk.size())));
        }
        if round == 0 {
            at_ns = now_ns();
        }
    }
    work.tell(&format!("after-{first}-{death}"), &After { at_ns, members: shrunk.size(), leads: shrunk.is_leader() })?;
    Ok(shrunk)
}

fn told(error: &Error) -> Told {
    let (named, node) = match error {
        Error::MemberLost { rank, node, .. } => (Some(*rank), Some(*node)),
        Error::NodeLost { node, .. } => (None, Some(*node)),
        _ => (None, None),
    };
    Told { at_ns: now_ns(), named, node, words: error.to_string() }
}

/// The monotonic clock, which all processes of this machine share.
pub(super) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
