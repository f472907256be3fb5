//! The second half of [`Form::Auto`](crate::Form::Auto): both forms run transfers for a moment, in turn, on the CPUs that the
//! participants will have, and the one that commits more is taken.
//!
//! The transactions of the race are small and seldom meet. A program whose transactions are of another kind measures both with
//! those, and names the form.

use std::time::Duration;

use corecast_base::{Clock, CpuId};

use crate::choice::Outcome;
use crate::config::{Config, Values};
use crate::error::OpenError;
use crate::participant::Participant;
use crate::tm::Tm;
use crate::tvar::TVar;

/// The time of one form in one round, and the rounds of each.
const TURN: Duration = Duration::from_millis(8);
const ROUNDS: usize = 3;
/// Accounts of the race.
const ACCOUNTS: usize = 256;
/// Transfers between two looks at the clock.
const BETWEEN_LOOKS: usize = 8;

/// Lets both forms of an instance run.
pub(crate) fn race(config: &Config, cpus: &[Option<CpuId>]) -> Result<Outcome, OpenError> {
    let variables = ACCOUNTS as u32;
    let small = Config { variables, buckets: variables, values: Values::InMemory, log_entries: 0, ..*config };
    let (mut messages, mut shared) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        messages.push(turn(Config { is_shared: false, ..small }, cpus)?);
        shared.push(turn(Config { is_shared: true, ..small }, cpus)?);
    }
    Ok(Outcome { messages: median(messages), shared: median(shared) })
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

fn turn(config: Config, cpus: &[Option<CpuId>]) -> Result<f64, OpenError> {
    let tm = Tm::among_threads(config, cpus)?;
    let accounts: Result<Vec<_>, _> = (0..ACCOUNTS).map(|_| tm.new_var(0u64)).collect();
    let accounts = accounts.expect("there are as many variables");
    let rates = tm.run_threads(|participant| transfer_for(participant, &accounts))?;
    Ok(rates.into_iter().sum())
}

/// Transfers until the turn is over; returns the commits in a second.
fn transfer_for(mut participant: Participant, accounts: &[TVar<u64>]) -> f64 {
    let clock = Clock::get();
    let mut random = fastrand::Rng::with_seed(participant.id().0.into());
    let begin = clock.ticks();
    let end = begin + clock.ticks_in(TURN);
    let mut commits = 0;
    loop {
        for _ in 0..BETWEEN_LOOKS {
            let (from, to) = (accounts[random.usize(..ACCOUNTS)], accounts[random.usize(..ACCOUNTS)]);
            let moved = participant.run(|tx| {
                let rest = tx.read_for_update(from)?;
                tx.write(from, rest.wrapping_sub(1))?;
                let sum = tx.read_for_update(to)?;
                tx.write(to, sum.wrapping_add(1))
            });
            commits += u64::from(moved.is_ok());
        }
        let now = clock.ticks();
        if now >= end {
            return commits as f64 / clock.duration(now - begin).as_secs_f64();
        }
    }
}
