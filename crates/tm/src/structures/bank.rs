//! A bank: money that moves between accounts, and is neither lost nor made.

use std::sync::Arc;

use crate::error::RunError;
use crate::participant::Participant;
use crate::structures::directory;
use crate::tm::Tm;
use crate::tvar::TVar;
use crate::tx::{Abort, Tx};
use crate::value::Value;

/// What is in an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    /// Its number.
    pub number: i32,
    /// Its money, which may be negative.
    pub balance: i32,
}

impl Value for Account {
    #[inline]
    fn to_word(self) -> u64 {
        (self.number, self.balance).to_word()
    }

    #[inline]
    fn from_word(word: u64) -> Self {
        let (number, balance) = Value::from_word(word);
        Self { number, balance }
    }
}

/// A number of accounts, each a variable. A clone is the same bank.
#[derive(Debug, Clone)]
pub struct Bank {
    accounts: Arc<[TVar<Account>]>,
    root: u32,
}

impl Bank {
    /// A bank with `count` accounts of `balance` each.
    ///
    /// # Errors
    /// [`RunError::Full`].
    ///
    /// # Panics
    /// If `count` is 0.
    pub fn new(tm: &Tm, count: usize, balance: i32) -> Result<Self, RunError> {
        assert!(count > 0, "a bank has an account");
        let account = |at| tm.new_var(Account { number: at as i32, balance });
        let accounts = (0..count).map(account).collect::<Result<Arc<[_]>, _>>()?;
        let links: Vec<u64> = accounts.iter().map(|account| account.to_word()).collect();
        let root = directory::write(tm, &links)?;
        Ok(Self { accounts, root })
    }

    /// The bank with this root, which has `count` accounts; in another process than that which made it.
    ///
    /// # Errors
    /// [`RunError`].
    pub fn open(tm: &Tm, participant: &mut Participant, root: u32, count: usize) -> Result<Self, RunError> {
        let links = directory::read(tm, participant, root, count)?;
        Ok(Self { accounts: links.into_iter().map(Value::from_word).collect(), root })
    }

    /// By which another process [opens](Self::open) it.
    #[must_use]
    pub fn root(&self) -> u32 {
        self.root
    }

    /// The number of accounts.
    #[must_use]
    pub fn accounts(&self) -> usize {
        self.accounts.len()
    }

    /// Moves money; between an account and itself nothing moves.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    ///
    /// # Panics
    /// If there is no such account.
    pub fn transfer(&self, tx: &mut Tx<'_>, from: usize, to: usize, amount: i32) -> Result<(), Abort> {
        self.add(tx, from, -amount)?;
        self.add(tx, to, amount)
    }

    fn add(&self, tx: &mut Tx<'_>, at: usize, amount: i32) -> Result<(), Abort> {
        let account = tx.read_for_update(self.accounts[at])?;
        tx.write(self.accounts[at], Account { balance: account.balance.wrapping_add(amount), ..account })
    }

    /// What is in an account.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    ///
    /// # Panics
    /// If there is no such account.
    pub fn balance(&self, tx: &mut Tx<'_>, at: usize) -> Result<i32, Abort> {
        Ok(tx.read(self.accounts[at])?.balance)
    }

    /// The money of all accounts at one moment.
    ///
    /// # Errors
    /// [`Abort`]: return it.
    pub fn total(&self, tx: &mut Tx<'_>) -> Result<i64, Abort> {
        self.accounts.iter().try_fold(0, |sum, account| Ok(sum + i64::from(tx.read(*account)?.balance)))
    }
}
