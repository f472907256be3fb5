//! Rank 0, which plans the group and makes its memory, and the offer by which the others find that.
//!
//! The memory has no name: the others open the founder's descriptor through `/proc`, so nothing stays behind, whoever dies.

use std::fs::{self, File};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::process;
use std::sync::Mutex;
use std::thread;

use corecast::machine::{self, Machine, pin};
use corecast::processes::Founding;
use corecast::{CpuSet, Group};

const WORD: usize = size_of::<u64>();
const WORDS: usize = 5;

/// The bytes of an offer in a message.
pub(super) type OfferBytes = [u8; WORDS * WORD];

/// The group that rank 0 has made. It stays open until all ranks have joined.
pub(super) struct Founded {
    _founding: Founding,
    shared: OwnedFd,
}

/// Bytes of memory for objects of the group, in which slices travel: for each member, and beside.
const ROOM_EACH: usize = 256 << 10;
const ROOM: usize = 512 << 10;

/// Founds a group for a number of ranks, which run on these CPUs. `None` if any step of that fails.
///
/// Launchers bind ranks, often to a CPU each. A group of two that is founded by a thread with one CPU takes its members to share
/// that CPU, and they sleep instead of polling (a barrier took 2 us and not 0.1), so a thread with all the CPUs founds it.
pub(super) fn found(ranks: usize, cpus: &CpuSet) -> Option<Founded> {
    if pin::affinity().is_ok_and(|mine| mine == *cpus) {
        return found_here(ranks, cpus);
    }
    let cpus = cpus.clone();
    // A program at its limit of threads is not served.
    let founder = thread::Builder::new().spawn(move || move_to(&cpus).then(|| found_here(ranks, &cpus))?).ok()?;
    founder.join().ok()?
}

fn found_here(ranks: usize, cpus: &CpuSet) -> Option<Founded> {
    let machine = machine_here(cpus)?;
    let builder = Group::builder(&machine).members(ranks).pin(false).plan_folder(None);
    let founding = builder.room_bytes(ROOM + ranks * ROOM_EACH).found().ok()?;
    let shared = founding.share().ok()?;
    Some(Founded { _founding: founding, shared })
}

impl Founded {
    /// The offer to the other ranks.
    pub(super) fn offer(&self) -> Option<OfferBytes> {
        let told = File::from(self.shared.try_clone().ok()?).metadata().ok()?;
        let words = [1, u64::from(process::id()), self.shared.as_raw_fd() as u64, told.dev(), told.ino()];
        let mut bytes = [0; WORDS * WORD];
        for (into, word) in bytes.chunks_exact_mut(WORD).zip(words) {
            into.copy_from_slice(&word.to_ne_bytes());
        }
        Some(bytes)
    }
}

/// Opens the memory that is offered; `None` if there was no offer, or the descriptor is of another file by now.
pub(super) fn open(offer: &OfferBytes) -> Option<OwnedFd> {
    let word = |at: usize| {
        let bytes = offer[at * WORD..][..WORD].try_into().expect("a word has that many bytes");
        u64::from_ne_bytes(bytes)
    };
    let [is_there, process, descriptor, device, inode] = [0, 1, 2, 3, 4].map(word);
    if is_there != 1 {
        return None;
    }
    let path = format!("/proc/{process}/fd/{descriptor}");
    let file = fs::OpenOptions::new().read(true).write(true).open(path).ok()?;
    let told = file.metadata().ok()?;
    (told.dev() == device && told.ino() == inode).then(|| file.into())
}

/// The model of the machine, of these CPUs, which are those of this thread.
fn machine_here(cpus: &CpuSet) -> Option<Machine> {
    static LAST: Mutex<Option<(CpuSet, Machine)>> = Mutex::new(None);
    let mut last = LAST.lock().ok()?;
    if let Some((_, machine)) = last.as_ref().filter(|(known, _)| known == cpus) {
        return Some(machine.clone());
    }
    let machine = machine::detect().ok()?;
    *last = Some((cpus.clone(), machine.clone()));
    Some(machine)
}

/// Lets this thread run on these CPUs.
fn move_to(cpus: &CpuSet) -> bool {
    // SAFETY: zeroes are a set, of no CPUs.
    let mut mask: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus.iter() {
        // SAFETY: the set is there; terms name no CPU beyond it.
        unsafe { libc::CPU_SET(cpu.get() as usize, &mut mask) };
    }
    // SAFETY: this thread, and a set of that size.
    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &mask) == 0 }
}
