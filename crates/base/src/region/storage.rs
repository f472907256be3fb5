//! Files whose every byte has memory behind it, so that touching one never ends in SIGBUS.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::process::{Resource, getrlimit};

use super::attachment::publish;
use super::error::CreateError;
use super::header::encode;
use super::mapping::Mapping;
use super::places::places;
use super::plan::RegionPlan;
use crate::cgroup::memory_left;
use crate::small_file;

/// Makes the file as large as the plan says, maps it, and fills in header and directory.
pub(super) fn create_mapping(file: &File, plan: &RegionPlan) -> Result<Mapping, CreateError> {
    let bytes = plan.total_bytes()?;
    reserve(file, bytes).map_err(|source| no_space(bytes, source))?;
    let mapping = Mapping::shared(file, address_range(bytes)?).map_err(|source| no_space(bytes, source))?;
    initialise(&mapping, plan, bytes);
    Ok(mapping)
}

/// The same in memory that belongs to this process alone.
pub(super) fn create_private(plan: &RegionPlan) -> Result<Mapping, CreateError> {
    let bytes = plan.total_bytes()?;
    check_available(bytes).map_err(|source| no_space(bytes, source))?;
    let mapping = Mapping::private(address_range(bytes)?).map_err(|source| no_space(bytes, source))?;
    initialise(&mapping, plan, bytes);
    Ok(mapping)
}

fn initialise(mapping: &Mapping, plan: &RegionPlan, bytes: u64) {
    if plan.wants_huge_pages {
        mapping.prefer_huge_pages();
    }
    let (header, directory) = encode(plan, bytes);
    publish(mapping, &header, places(plan.participants, plan.channels.len() as u32).directory, &directory);
}

pub(super) fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    check_growth(0, bytes)?;
    Ok(rustix::io::retry_on_intr(|| fallocate(file, FallocateFlags::empty(), 0, bytes))?)
}

/// Checks that a file in memory may grow by these bytes, and that there is memory for them.
pub(super) fn check_growth(len: u64, more: u64) -> io::Result<()> {
    // Beyond this limit the kernel would send SIGXFSZ, which ends the process.
    if getrlimit(Resource::Fsize).current.is_some_and(|limit| len.saturating_add(more) > limit) {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    check_available(more)
}

/// A memfd has no size limit of its own. Asked for more than there is, the kernel does not refuse but kills a process (seen
/// with 256 GiB of 24). So obviously excessive sizes are refused here. Memory that other processes take meanwhile is not
/// seen.
fn check_available(bytes: u64) -> io::Result<()> {
    let root = "/".as_ref();
    let available = available_memory(root).into_iter().chain(memory_left(root)).min();
    match available.filter(|&available| available < bytes) {
        Some(available) => Err(io::Error::new(io::ErrorKind::OutOfMemory, format!("only {available} bytes are free"))),
        None => Ok(()),
    }
}

/// The memory that the machine can give without killing a process; `None` if it does not say.
fn available_memory(root: &Path) -> Option<u64> {
    let text = small_file::read(&root.join("proc/meminfo"), 1 << 16).ok()?;
    let kibibytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    Some((kibibytes("MemAvailable")?.saturating_add(kibibytes("SwapFree").unwrap_or(0))).saturating_mul(1024))
}

fn address_range(bytes: u64) -> Result<usize, CreateError> {
    usize::try_from(bytes).map_err(|_| no_space(bytes, io::Error::from_raw_os_error(libc::ENOMEM)))
}

fn no_space(bytes: u64, source: io::Error) -> CreateError {
    CreateError::NoSpace { bytes, source }
}
