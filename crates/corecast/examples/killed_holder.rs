//! What becomes of a lock among processes whose holder is killed?
//!
//! Two processes move money between two accounts in memory that they share. One is killed half way, while it holds the lock: the
//! other one is told so, and puts right what it finds. Run it with `cargo run --release --example killed_holder`.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::env;
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread;

use corecast::base::PlaceSlice;
use corecast::base::region::{RegionPlan, SharedRegion};
use corecast::base::rendezvous::{self, SocketDir};
use corecast::base::sync::{AtomicU64, Ordering};
use corecast::lock::Algorithm;
use corecast::lock::shared::{self, SharedLock, SharedLockError};

const TOTAL: u64 = 100;
/// The accounts' kind in the region's directory: any number of one's own.
const KIND_ACCOUNTS: u32 = 1000;

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    match env::args().nth(1) {
        Some(name) => take_half(&name),
        None => survive(),
    }
}

/// Two amounts, read and written while the lock is held.
fn accounts(region: &SharedRegion) -> Result<PlaceSlice<AtomicU64>, Box<dyn Error>> {
    let entry = region.entry("balances").ok_or("no balances")?;
    Ok(region.section(&entry).words(0, 2)?)
}

/// The one that is killed.
fn take_half(name: &str) -> Outcome {
    let meeting = rendezvous::connect(&SocketDir::of_user(), name)?;
    let (lock, accounts) = (SharedLock::open(meeting.region(), "accounts")?, accounts(meeting.region())?);
    let _guard = lock.lock().map_err(|error| error.to_string())?;
    // ORDERING: Relaxed, the lock orders it
    accounts[0].fetch_sub(30, Ordering::Relaxed);
    println!("taken");
    loop {
        thread::park();
    }
}

fn survive() -> Outcome {
    let plan = shared::declare(RegionPlan::new(), "accounts", Algorithm::Word)?;
    let plan = plan.add("balances", KIND_ACCOUNTS, [0; 6], 16)?;
    let name = format!("killed-holder-{}", std::process::id());
    let meeting = rendezvous::host(&SocketDir::of_user(), &name, SharedRegion::memfd(&plan)?)?;
    let (lock, accounts) = (SharedLock::open(meeting.region(), "accounts")?, accounts(meeting.region())?);
    // ORDERING: Relaxed, the other process is not there yet
    accounts[0].store(TOTAL, Ordering::Relaxed);

    let mut child = Command::new(env::current_exe()?).arg(&name).stdout(Stdio::piped()).spawn()?;
    let mut said = String::new();
    BufReader::new(child.stdout.take().ok_or("no pipe")?).read_line(&mut said)?;
    child.kill()?;
    child.wait()?;

    // ORDERING: Relaxed, the lock orders it
    let amounts = || [0, 1].map(|account: usize| accounts[account].load(Ordering::Relaxed));
    match lock.lock() {
        Ok(_) => return Err(format!("nobody held the lock, but the other process said '{}'", said.trim()).into()),
        Err(SharedLockError::OwnerDied(_guard)) => {
            let [mine, yours] = amounts();
            println!("the holder died, and left {} of {TOTAL}", mine + yours);
            // ORDERING: Relaxed, the lock orders it
            accounts[1].store(TOTAL - mine, Ordering::Relaxed);
        }
        Err(error) => return Err(error.to_string().into()),
    }

    // The lock is one like any other again.
    let _guard = lock.lock().map_err(|error| error.to_string())?;
    println!("repaired: {} of {TOTAL}", amounts().iter().sum::<u64>());
    Ok(())
}
