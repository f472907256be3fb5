//! A bank whose tellers are processes: one of them is killed while it stores the values of a transaction.
//!
//! Four tellers, each a process, move money between accounts. One is killed half way through a commit: it has taken money out of
//! one account, and not yet put it into the other. This process counts all money meanwhile, again and again. Run it with
//! `cargo run --release --example bank`.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::env;
use std::error::Error;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};
use std::thread;

use corecast::base::rendezvous::SocketDir;
use corecast::machine;
use corecast::tm::structures::Bank;
use corecast::tm::{Form, Participant, Role, Tm};

const ACCOUNTS: usize = 64;
const BALANCE: i32 = 1000;
/// All money there is.
const TOTAL: i64 = ACCOUNTS as i64 * BALANCE as i64;
/// Transfers of each teller.
const TRANSFERS: u32 = 2000;
/// One server for every four participants: 0 and 4.
const PARTICIPANTS: usize = 7;
const TELLERS: [usize; 4] = [1, 2, 3, 5];
const AUDITOR: usize = 6;
/// The teller that is killed, and where: a transfer stores two values, so an odd number is between two that belong together.
const KILLED: usize = 3;
const KILLED_AT: &str = "storing:1001";

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match &arguments[..] {
        [name, id, root] => work(name, id.parse()?, root.parse()?),
        _ => supervise(),
    }
}

fn application(tm: &Tm, id: usize) -> Result<Participant, Box<dyn Error>> {
    match tm.participant(id)? {
        Role::Application(participant) => Ok(participant),
        other => Err(format!("participant {id} is no application: {other:?}").into()),
    }
}

/// A teller.
fn work(name: &str, id: usize, root: u32) -> Outcome {
    let tm = Tm::attach(&SocketDir::of_user(), name)?;
    let mut participant = application(&tm, id)?;
    let bank = Bank::open(&tm, &mut participant, root, ACCOUNTS)?;
    let mut random = fastrand::Rng::with_seed(id as u64);
    for _ in 0..TRANSFERS {
        let (from, amount) = (random.usize(..ACCOUNTS), random.i32(1..100));
        // Another one: a transfer stores two values.
        let to = (from + random.usize(1..ACCOUNTS)) % ACCOUNTS;
        participant.run(|tx| bank.transfer(tx, from, to, amount))?;
    }
    let counts = participant.counts();
    println!("teller {id}: {} transactions, {} attempts were aborted", counts.commits, counts.aborts());
    Ok(())
}

fn supervise() -> Outcome {
    let machine = machine::detect()?;
    let name = format!("bank-{}", std::process::id());
    let builder = Tm::builder(&machine).participants(PARTICIPANTS).servers_every(4).form(Form::Messages);
    let tm = builder.create_named(&SocketDir::of_user(), &name)?;
    let bank = Bank::new(&tm, ACCOUNTS, BALANCE)?;
    let servers = (0..PARTICIPANTS).filter(|id| tm.is_server(*id)).map(|id| tm.participant(id));
    let servers = servers.collect::<Result<Vec<_>, _>>()?;
    thread::scope(|scope| {
        for role in servers {
            if let Role::Server(server) = role {
                scope.spawn(|| server.serve());
            }
        }
        let outcome = open_bank(&tm, &bank, &name);
        tm.stop();
        outcome
    })
}

/// Starts the tellers, and audits until all have ended.
fn open_bank(tm: &Tm, bank: &Bank, name: &str) -> Outcome {
    let mut auditor = application(tm, AUDITOR)?;
    let mut tellers = Vec::new();
    for id in TELLERS {
        let mut teller = Command::new(env::current_exe()?);
        teller.args([name, &id.to_string(), &bank.root().to_string()]);
        if id == KILLED {
            teller.env("CORECAST_CRASH_AT", KILLED_AT);
        }
        tellers.push((id, teller.spawn()?));
    }
    let mut audits = 0;
    loop {
        let have_all_ended = tellers.is_empty();
        audits += 1;
        let total = auditor.run(|tx| bank.total(tx))?;
        if total != TOTAL {
            return Err(format!("audit {audits} found {total} of {TOTAL}").into());
        }
        if have_all_ended {
            break;
        }
        dismiss(&mut tellers)?;
    }
    println!("{audits} audits, the last one after all have ended: always {TOTAL}");
    Ok(())
}

/// Takes those off the list that have ended.
fn dismiss(tellers: &mut Vec<(usize, Child)>) -> Outcome {
    let mut at = 0;
    while let Some((id, teller)) = tellers.get_mut(at) {
        let Some(status) = teller.try_wait()? else {
            at += 1;
            continue;
        };
        match status.signal() {
            Some(signal) if *id == KILLED => {
                println!("teller {id}: killed by signal {signal} between the two accounts of a transfer");
            }
            None if *id == KILLED => return Err(format!("teller {id} was not killed: {status}").into()),
            _ if !status.success() => return Err(format!("teller {id} failed: {status}").into()),
            _ => {}
        }
        tellers.swap_remove(at);
    }
    Ok(())
}
