//! The bank: transfers between accounts, sums of two, and clients that only sum all of them.
//!
//! No money is made or lost, so that every sum of all accounts is the same, also one that is taken amid transfers.

use corecast::base::Clock;
use fastrand::Rng;

use super::host::{Block, Player, Setting};
use super::session::goes_on;
use super::tally::Tally;
use super::workload::BankWork;
use corecast_race::failure::Failure;

/// The number of accounts, as in the paper.
pub(super) const ACCOUNTS: usize = 1024;
/// The balance of each at the start.
pub(super) const BALANCE: i32 = 1000;
/// Transactions of each client in the check.
const CHECKED: usize = 200;

/// A number and a balance: 8 bytes, unpadded.
pub(super) type Account = [i32; 2];

/// The accounts at the start.
pub(super) fn accounts() -> impl Iterator<Item = Account> {
    (0..ACCOUNTS as i32).map(|number| [number, BALANCE])
}

/// A client's way to the accounts.
pub(super) trait Bank: Send {
    /// Moves money between two different accounts.
    ///
    /// # Errors
    /// A failure of the memory.
    fn transfer(&mut self, from: usize, to: usize, amount: i32) -> Result<(), Failure>;

    /// The sum of two different accounts.
    ///
    /// # Errors
    /// A failure of the memory.
    fn check(&mut self, one: usize, other: usize) -> Result<i64, Failure>;

    /// The sum of all accounts.
    ///
    /// # Errors
    /// A failure of the memory.
    fn total(&mut self) -> Result<i64, Failure>;

    /// Attempts so far that were not the last of their transaction.
    fn aborts(&self) -> u64 {
        0
    }

    /// Nanoseconds so far in attempts that committed, where they are timed.
    fn effective(&self) -> u64 {
        0
    }
}

/// A client that works at a bank.
pub(super) struct Banker<B> {
    bank: B,
    work: BankWork,
    random: Rng,
}

impl<B: Bank> Banker<B> {
    /// The client of this number.
    pub(super) fn new(bank: B, work: BankWork, setting: &Setting<'_>, rank: usize) -> Self {
        Self::seeded(bank, work, setting.seed, rank)
    }

    /// The client of this number in a run with this seed.
    pub(super) fn seeded(bank: B, work: BankWork, seed: u64, rank: usize) -> Self {
        Self { bank, work, random: Rng::with_seed(seed ^ (rank as u64) << 32) }
    }

    /// Two different accounts.
    #[inline]
    fn pair(&mut self) -> (usize, usize) {
        let one = self.random.usize(..ACCOUNTS);
        let other = self.random.usize(..ACCOUNTS - 1);
        (one, if other >= one { other + 1 } else { other })
    }

    fn scan(&mut self) -> Result<(), Failure> {
        let (found, all) = (self.bank.total()?, ACCOUNTS as i64 * i64::from(BALANCE));
        if found == all { Ok(()) } else { Err(Failure::Wrong(format!("all accounts hold {found}, not {all}"))) }
    }

    /// One transaction of a client that does not only read. True if it was a sum of all accounts.
    #[inline]
    fn step(&mut self) -> Result<bool, Failure> {
        let BankWork { checks_percent, scans_percent, .. } = self.work;
        let (one, other) = self.pair();
        let drawn = self.random.u32(..100);
        if drawn < checks_percent {
            std::hint::black_box(self.bank.check(one, other)?);
        } else if drawn < checks_percent + scans_percent {
            self.scan()?;
            return Ok(true);
        } else {
            let amount = self.random.i32(1..=10);
            self.bank.transfer(one, other, amount)?;
        }
        Ok(false)
    }
}

impl<B: Bank> Player for Banker<B> {
    fn record(&mut self, _block: &Block<'_>) -> Result<Vec<i64>, Failure> {
        for at in 0..CHECKED {
            // Sums amid transfers are where a memory that is not opaque errs.
            if at % 20 == 0 {
                self.scan()?;
            } else {
                self.step()?;
            }
        }
        Ok(Vec::new())
    }

    fn verify(&mut self, _recorded: &[Vec<i64>]) -> Result<(), Failure> {
        self.scan()
    }

    fn play(&mut self, block: &Block<'_>) -> Result<Tally, Failure> {
        let clock = Clock::get();
        let is_reader = block.rank + self.work.readers >= block.clients;
        let mut tally = Tally { is_reader, ..Tally::default() };
        let before = (self.bank.aborts(), self.bank.effective());
        tally.start = clock.ticks();
        while goes_on(block) {
            if is_reader {
                self.scan()?;
                tally.scans += 1;
            } else if self.step()? {
                tally.scans += 1;
            } else {
                tally.commits += 1;
            }
        }
        tally.end = clock.ticks();
        tally.aborts = self.bank.aborts() - before.0;
        tally.effective = self.bank.effective() - before.1;
        Ok(tally)
    }
}
