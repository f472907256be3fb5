//! The program of the paper, which can only be run: LPD-EPFL/CLHT of March 2013 says nothing of a licence.
//!
//! Its lock is chosen when it is built, and its options changed from commit to commit. So a program of the user stands between.
//! The benchmark calls it with a lock's name, the number of threads, that of buckets, the mean number of elements of one, and the
//! time of a block in milliseconds, and takes the last number that it prints for millions of tries in a second. It may run on the
//! CPUs of our threads only, and is ended if it takes ten times as long as its block and half a minute.

use std::process::Command;
use std::time::Duration;

use super::host::Setting;
use super::latency::Latency;
use super::play::Turn;
use crate::program;
use corecast_race::cancel::Cancel;
use corecast_race::failure::Failure;

/// How long it may take besides its block, and how many times as long as that.
const START: Duration = Duration::from_secs(30);
const PATIENCE: u32 = 10;

/// The locks that both have.
pub(super) const LOCKS: [&str; 4] = ["tas", "ticket", "mcs", "clh"];
/// The names of the rows, in the same order.
pub(super) const NAMES: [&str; 4] = ["original-tas", "original-ticket", "original-mcs", "original-clh"];

/// Its tries cannot be checked from here.
pub(super) fn check(setting: &Setting<'_>) -> Result<(), Failure> {
    setting.original.map(drop).ok_or_else(|| Failure::Refused("`--original` names no program".to_owned()))
}

/// One block with a lock.
pub(super) fn turn<const LOCK: usize>(setting: &Setting<'_>) -> Result<Turn, Failure> {
    check(setting)?;
    let program = setting.original.expect("checked");
    let numbers = [setting.threads, setting.buckets, setting.mean].map(|number| number.to_string());
    let time = setting.time.as_millis().max(1).to_string();
    let mut command = Command::new(program);
    command.arg(LOCKS[LOCK]).args(numbers).arg(time);
    // Where our threads are not bound, they run on all of them.
    let bound = if setting.is_pinned { setting.threads } else { usize::MAX };
    let cpus = setting.cpus.iter().copied().take(bound).collect();
    let is_cancelled = || setting.user.is_some_and(Cancel::is_cancelled);
    let told = program::run(command, &cpus, START + setting.time * PATIENCE, &is_cancelled)?;
    let mops = last_number(&told.output).filter(|_| told.has_succeeded);
    let mops = mops.ok_or_else(|| Failure::Ended(format!("{} said: {}", program.display(), told.output)))?;
    let seconds = setting.time.as_secs_f64().max(1e-3);
    let (tries, latency) = (vec![(mops * 1e6 * seconds) as u64], Latency::default());
    Ok(Turn { tries, hits: 0, gets: 0, seconds, latency })
}

fn last_number(text: &str) -> Option<f64> {
    let numbers = text.split_whitespace().rev().filter_map(|word| word.parse::<f64>().ok());
    numbers.into_iter().find(|number| number.is_finite() && *number >= 0.0)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use corecast::machine::pin;

    use super::*;
    use crate::table::play::tests::SETTING;

    #[test]
    fn a_program_is_called_with_the_situation_and_its_last_number_counts() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let program = folder.path().join("original");
        let script = "#!/bin/sh\n[ \"$*\" = 'mcs 3 12 48 20' ] && [ $(nproc) = 1 ] && echo 'Mop/s: 2.5'\n";
        // In another name, so that nobody has it open for writing when it is run.
        let draft = folder.path().join("draft");
        fs::write(&draft, script).expect("a file");
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o700)).expect("its owner");
        fs::rename(&draft, &program).expect("the same folder");
        let setting = Setting {
            threads: 3,
            buckets: 12,
            mean: 48,
            time: Duration::from_millis(20),
            original: Some(&program),
            cpus: pin::affinity().expect("a mask").iter().take(1).collect(),
            ..SETTING
        };
        assert_eq!(turn::<2>(&setting).map(|turn| turn.tries), Ok(vec![50_000]));
        let error = turn::<0>(&setting).expect_err("it is called with another lock").to_string();
        assert!(error.contains("original said: "), "{error}");
        let error = turn::<0>(&SETTING).expect_err("none is named").to_string();
        assert!(error.contains("--original"), "{error}");
    }
}
