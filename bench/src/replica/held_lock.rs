//! Stratum 1 of a store behind a lock: LMDB, one of whose writers is stopped or killed in the middle of a write.

use std::time::{Duration, Instant};

use corecast::base::wait::Wait;
use rustix::event::Timespec;
use rustix::process::{Pid, Signal, kill_process};

use super::host::Setting;
use super::member::Assignment;
use super::report::RobustRow;
use super::rivals::lmdb;
use super::robust_writer::as_ms;
use super::robustness::Run;
use super::standstill;
use corecast_race::child::Child;
use corecast_race::failure::Failure;

/// Writes of the other writer.
const WRITES: u64 = 100;

/// The event, as the report names it.
pub(super) fn words(is_killed: bool) -> &'static str {
    if is_killed { "writer killed" } else { "writer stopped" }
}

/// The writes of another process, which has `limit` for all of them.
pub(super) fn lmdb(run: &Run<'_>, is_killed: bool, limit: Duration) -> Result<RobustRow, Failure> {
    let row = RobustRow { contender: "lmdb".to_owned(), event: words(is_killed), ..RobustRow::default() };
    let setting = Setting { members: 1, clients: 1, cpus: Vec::new(), wait: Wait::Adaptive };
    let store = match lmdb::open(&setting) {
        Ok(store) => store,
        Err(missing) => return Ok(RobustRow { skipped: Some(missing.to_string()), ..row }),
    };
    let folder = store.entrance()?.path.ok_or_else(|| Failure::Refused("LMDB has no folder".to_owned()))?;
    let (program, arguments) = run.program;
    let start = |who: &str, assignment: &Assignment| {
        let mut child = Child::start(who.to_owned(), (program, arguments), assignment, &[], &run.abort)?;
        child.await_ready().map(|()| child)
    };
    // First, as it could not even open the store later.
    let mut writer = start("the other writer", &Assignment::WriteLmdb { folder: folder.clone(), writes: WRITES })?;
    let holder = start("a writer inside a write", &Assignment::HoldLmdb { folder })?;
    let pid = Pid::from_raw(holder.pid() as i32).expect("a process has a number");
    let begin = Instant::now();
    match is_killed {
        true => kill_process(pid, Signal::KILL).map_err(Failure::refused)?,
        false => standstill::stop(pid)?,
    }
    writer.tell(&(), &[])?;
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
    let has_written = writer.has_news_within(limit);
    let writes: u64 = if has_written { writer.await_told()? } else { 0 };
    let longest_ms = has_written.then(|| as_ms(begin.elapsed()));
    Ok(RobustRow { events: 1, asked: WRITES, writes, longest_ms, ..row })
}
