//! The CPU time of members that wait for one that is late.

use std::thread;
use std::time::{Duration, Instant};

use corecast::collective::nodes::Member;
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use super::Run;
use super::library::Library;
use super::work::{HostMembers, NodesShape, Task};
use crate::stats::most;

/// The time by which rank 0 is late.
const LATE: Duration = Duration::from_secs(1);
/// A launch that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// The CPU time in waits of a second.
#[derive(Clone, Debug, Serialize)]
pub struct NodesIdleRow {
    /// The library.
    pub library: String,
    /// Hosts.
    pub hosts: usize,
    /// Members on each host.
    pub members: usize,
    /// How members are processes and threads.
    pub shape: NodesShape,
    /// Launches that ended well, with a wait each.
    pub launches: usize,
    /// The share of a CPU that a member which does not lead its host used in a wait: the largest; `null` without such members.
    pub member_share: Option<f64>,
    /// The same of leaders.
    pub leader_share: Option<f64>,
    /// The reason why a launch has no outcome, after which no further one was made; `null` if all ended well.
    pub wrong: Option<String>,
}

/// All members wait for rank 0, which is late. Rank 0 gets the share of a CPU that each has used meanwhile, and whether it leads.
pub(super) fn wait(me: &mut Member) -> Result<Vec<f64>, Failure> {
    me.barrier().map_err(Failure::refused)?;
    if me.rank() == 0 {
        thread::sleep(LATE);
    }
    let (begin, used) = (Instant::now(), cpu_time());
    me.barrier().map_err(Failure::refused)?;
    let share = (cpu_time() - used).as_secs_f64() / begin.elapsed().as_secs_f64();
    let own = [share, f64::from(u8::from(me.is_leader()))];
    let all = me.gather(0, own).map_err(Failure::refused)?;
    Ok(all.into_iter().flatten().flatten().collect())
}

/// The CPU time of this thread.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

impl Run<'_> {
    pub(super) fn idle(
        &mut self,
        library: &Library,
        members: &HostMembers,
        step: &mut dyn FnMut(f64, &str),
    ) -> Result<(), BenchError> {
        let launches = self.settings.runs.unwrap_or(if self.options.quick { 2 } else { 10 });
        let (mut shares, mut wrong, mut done) = ([Vec::new(), Vec::new()], None, 0);
        for launch in 0..launches {
            step(launch as f64 / launches as f64, &format!("launch {} of {launches}", launch + 1));
            let cell = (self.settings.hosts, members);
            match self.outcome(library, cell, self.settings.shape, Task::Idle, LIMIT)? {
                Ok(told) => {
                    // Rank 0 has waited for nobody.
                    for of_rank in told.chunks_exact(2).skip(1) {
                        shares[usize::from(of_rank[1] > 0.0)].push(of_rank[0]);
                    }
                    done += 1;
                }
                Err(trouble) => {
                    wrong = Some(trouble.words);
                    break;
                }
            }
        }
        let [of_members, of_leaders] = shares;
        self.report.idle.push(NodesIdleRow {
            library: library.name.clone(),
            hosts: self.settings.hosts,
            members: members.most(),
            shape: self.settings.shape,
            launches: done,
            member_share: most(of_members),
            leader_share: most(of_leaders),
            wrong,
        });
        Ok(())
    }
}
