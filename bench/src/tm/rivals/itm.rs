//! The bank on GCC's transactional memory, libitm: a C source that the compiler builds when the benchmark runs.

use std::ffi::c_void;
use std::sync::OnceLock;

use crate::c_object::Source;
use crate::tm::bank::{ACCOUNTS, Account, Bank, Banker, accounts};
use crate::tm::host::{Session, Setting, check_readers, seats};
use crate::tm::workload::Work;
use corecast_race::failure::Failure;

const SOURCE: Source = Source {
    text: include_str!("itm_bank.c"),
    file: "itm_bank.c",
    compilers: &["gcc"],
    flags: &["-fgnu-tm"],
    package: "",
};
const INSTALLS: &str = "apt-get install gcc libitm1";

type Transfer = unsafe extern "C" fn(*mut Account, u64, u64, i32);
type Check = unsafe extern "C" fn(*mut Account, u64, u64) -> i64;
type Total = unsafe extern "C" fn(*mut Account, u64) -> i64;

/// The functions of the source.
#[derive(Clone, Copy)]
struct Calls {
    transfer: Transfer,
    check: Check,
    total: Total,
}

/// A memory of libitm.
pub(in crate::tm) fn with(setting: &Setting<'_>, session: Session<'_>) -> Result<(), Failure> {
    let Work::Bank(work) = setting.work else {
        return Err(Failure::Refused("its C source has the bank only".to_owned()));
    };
    let clients = setting.participants;
    check_readers(setting, clients)?;
    let calls = *calls().as_ref().map_err(|why| Failure::Refused(format!("{why} ({INSTALLS})")))?;
    let accounts = Accounts::new();
    session(seats(setting, clients, |rank| Banker::new(Itm { calls, accounts: &accounts }, work, setting, rank)))
}

/// Built and loaded at the first call.
fn calls() -> &'static Result<Calls, String> {
    static CALLS: OnceLock<Result<Calls, String>> = OnceLock::new();
    CALLS.get_or_init(|| {
        let object = SOURCE.build()?;
        let find = |verb: &str| object.find(&format!("corecast_bench_itm_{verb}"));
        let (transfer, check, total) = (find("transfer")?, find("check")?, find("total")?);
        // SAFETY: the source beside this file declares it so.
        let transfer = unsafe { std::mem::transmute::<*mut c_void, Transfer>(transfer) };
        // SAFETY: as above.
        let check = unsafe { std::mem::transmute::<*mut c_void, Check>(check) };
        // SAFETY: as above.
        let total = unsafe { std::mem::transmute::<*mut c_void, Total>(total) };
        Ok(Calls { transfer, check, total })
    })
}

/// [`ACCOUNTS`] accounts that only libitm's transactions touch.
struct Accounts {
    first: *mut Account,
}

// SAFETY: all accesses are in transactions of libitm, which are isolated from each other.
unsafe impl Sync for Accounts {}

impl Accounts {
    fn new() -> Self {
        let accounts: Box<[Account]> = accounts().collect();
        assert_eq!(accounts.len(), ACCOUNTS, "the first one is the start of this many");
        Self { first: Box::into_raw(accounts).cast() }
    }
}

impl Drop for Accounts {
    fn drop(&mut self) {
        // SAFETY: the pointer and the length are those of the box in `new`, which nobody else has.
        drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(self.first, ACCOUNTS)) });
    }
}

/// A client's way to them.
struct Itm<'a> {
    calls: Calls,
    accounts: &'a Accounts,
}

impl Bank for Itm<'_> {
    fn transfer(&mut self, from: usize, to: usize, amount: i32) -> Result<(), Failure> {
        assert!(from < ACCOUNTS && to < ACCOUNTS, "an account is one of those that there are");
        // SAFETY: both are accounts, which nothing but such transactions touches.
        unsafe { (self.calls.transfer)(self.accounts.first, from as u64, to as u64, amount) };
        Ok(())
    }

    fn check(&mut self, one: usize, other: usize) -> Result<i64, Failure> {
        assert!(one < ACCOUNTS && other < ACCOUNTS, "an account is one of those that there are");
        // SAFETY: as above.
        Ok(unsafe { (self.calls.check)(self.accounts.first, one as u64, other as u64) })
    }

    fn total(&mut self) -> Result<i64, Failure> {
        // SAFETY: as above, of all accounts.
        Ok(unsafe { (self.calls.total)(self.accounts.first, ACCOUNTS as u64) })
    }
}
