//! Files whose every byte has memory behind it, so that touching one never ends in SIGBUS.

use std::fs::File;
use std::io;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::process::{Resource, getrlimit};

use super::attachment::publish;
use super::error::CreateError;
use super::header::{encode, places};
use super::mapping::Mapping;
use super::plan::RegionPlan;

/// Makes the file as large as the plan wants, maps it, and fills in header and directory.
pub(super) fn furnish(file: &File, plan: &RegionPlan) -> Result<Mapping, CreateError> {
    let bytes = plan.total_bytes()?;
    reserve(file, bytes).map_err(|source| no_space(bytes, source))?;
    let mapping = Mapping::shared(file, address_range(bytes)?).map_err(|source| no_space(bytes, source))?;
    furnish_mapping(&mapping, plan, bytes);
    Ok(mapping)
}

/// The same in memory of this process alone.
pub(super) fn furnish_private(plan: &RegionPlan) -> Result<Mapping, CreateError> {
    let bytes = plan.total_bytes()?;
    let mapping = Mapping::private(address_range(bytes)?).map_err(|source| no_space(bytes, source))?;
    furnish_mapping(&mapping, plan, bytes);
    Ok(mapping)
}

fn furnish_mapping(mapping: &Mapping, plan: &RegionPlan, bytes: u64) {
    if plan.wants_huge_pages {
        mapping.prefer_huge_pages();
    }
    let (header, directory) = encode(plan, bytes);
    publish(mapping, &header, places(plan.participants, plan.channels.len() as u32).directory, &directory);
}

fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    // Beyond this limit the kernel would send SIGXFSZ, which ends the process.
    if getrlimit(Resource::Fsize).current.is_some_and(|limit| bytes > limit) {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    Ok(rustix::io::retry_on_intr(|| fallocate(file, FallocateFlags::empty(), 0, bytes))?)
}

fn address_range(bytes: u64) -> Result<usize, CreateError> {
    usize::try_from(bytes).map_err(|_| no_space(bytes, io::Error::from_raw_os_error(libc::ENOMEM)))
}

fn no_space(bytes: u64, source: io::Error) -> CreateError {
    CreateError::NoSpace { bytes, source }
}
