//! The options of `corecast sim` that disturb a program's threads: CPUs that they share among themselves or with other programs,
//! moves between CPUs, stops, and the death of one of them.

use std::str::FromStr;

use corecast_sim::{Disturbance, Stops};

use crate::simulated::{Kills, Program};
use corecast_cli::failure::Failure;
use corecast_cli::number_arg;

/// Options of every program. One that means nothing for a program is refused.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Disturbances {
    /// Put this number of threads, members or clients on each CPU, which they share as under Linux's scheduler.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number_arg::within::<usize>(1..=256))]
    threads_per_cpu: usize,
    /// Let threads move among the CPUs that they are put on: one that is woken goes to an idle CPU if its own is busy, and an
    /// idle CPU takes a thread that waits for another one.
    #[arg(long)]
    unpinned: bool,
    /// Let another program compute on the first CPUS of the CPUs that threads are put on, or on all where there are fewer. It
    /// takes its share of them, and moves no lines.
    #[arg(long, value_name = "CPUS", value_parser = number_arg::within::<usize>(1..=4096))]
    foreign_load: Option<usize>,
    /// Take threads off their CPUs before one access in ACCESSES, at random by the seed, for up to US microseconds [default US:
    /// 1000]; half of the stops are shorter than a 300th of that.
    #[arg(long, value_name = "ACCESSES[:US]", value_parser = stops)]
    preempt: Option<Stops>,
    /// Kill the last thread before its access with this number, from 0; or before each one of a range in turn, such as 0..99,
    /// whose ends are both in it. Counts the runs in which the others then wait for ever.
    #[arg(long, value_name = "ACCESS|RANGE")]
    kill_at: Option<Kills>,
}

impl Disturbances {
    /// The disturbances of each run, without the kill.
    ///
    /// # Errors
    /// Bad input: one that means nothing for this program.
    pub(super) fn of(&self, program: &Program) -> Result<Disturbance, Failure> {
        let Self { threads_per_cpu, unpinned, foreign_load, preempt, kill_at } = *self;
        let asked = [
            ("--threads-per-cpu", threads_per_cpu > 1, program.keeps_cpus()),
            ("--unpinned", unpinned, program.keeps_cpus()),
            ("--kill-at", kill_at.is_some(), program.keeps_lives()),
        ];
        let refused =
            asked.into_iter().find_map(|(option, is_asked, reason)| Some((option, reason.filter(|_| is_asked)?)));
        if let Some((option, reason)) = refused {
            let program = program.figure().program;
            return Err(Failure::input(format!("{option} means nothing for sim {program}: {reason}")));
        }
        let foreign_cpus = foreign_load.unwrap_or(0);
        Ok(Disturbance { threads_per_cpu, unpinned, foreign_cpus, stops: preempt, kill_at: None })
    }

    /// The kills, one for each run of a seed; none without the option.
    pub(super) fn kills(&self) -> Option<Kills> {
        self.kill_at
    }

    /// The least number of threads: one that is killed leaves another one.
    pub(super) fn least_threads(&self) -> usize {
        if self.kill_at.is_some() { 2 } else { 1 }
    }

    /// The threads on each CPU.
    pub(super) fn threads_per_cpu(&self) -> usize {
        self.threads_per_cpu
    }

    /// The threads that take turns on a CPU, with the one of another program.
    pub(super) fn sharing(&self) -> usize {
        self.threads_per_cpu + usize::from(self.foreign_load.is_some())
    }
}

/// The stops of `ACCESSES[:US]`.
pub(super) fn stops(text: &str) -> Result<Stops, String> {
    const MOST_US: u64 = 1_000_000;
    const USUAL_US: &str = "1000";
    let (accesses, us) = text.split_once(':').unwrap_or((text, USUAL_US));
    let within = |text: &str, most: u64| u64::from_str(text).ok().filter(|number| (1..=most).contains(number));
    let found = within(accesses, u64::MAX).zip(within(us, MOST_US));
    let found = found.map(|(one_in, longest_us)| Stops { one_in, longest_us });
    found.ok_or_else(|| {
        format!("expected a number of accesses, or that and 1 to {MOST_US} microseconds, such as 1000 or 1000:500")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_are_accesses_and_microseconds() {
        assert_eq!(stops("1000"), Ok(Stops { one_in: 1000, longest_us: 1000 }));
        assert_eq!(stops("7:500"), Ok(Stops { one_in: 7, longest_us: 500 }));
        for text in ["", "0", "x", "7:", "7:0", "7:1000001", ":5", "7:5:5", "-1"] {
            assert!(stops(text).expect_err("no stops").starts_with("expected a number of accesses"), "{text}");
        }
    }
}
