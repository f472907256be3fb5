//! Regions without a name: files in memory that exist for as long as a process holds them open.
//!
//! They are sealed, so that no process can cut off memory that another has mapped.

use std::fs::{File, Permissions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, memfd_create};

use super::attachment::{Attachment, Source};
use super::error::{AttachError, CreateError, Subject};
use super::file::check_file;
use super::fork::OwnFile;
use super::mapping::Mapping;
use super::observer::Observer;
use super::plan::RegionPlan;
use super::storage::create_mapping;

const NAME: &str = "an unnamed region";
const SIZE_SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

/// Creates a region and joins it as its first participant.
pub(super) fn create(plan: &RegionPlan) -> Result<Attachment, CreateError> {
    let failed = |what: &str| {
        let what = format!("{what} a file in memory");
        move |source| CreateError::System { what, source }
    };
    let make = || Ok(memfd_create(c"corecast", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?.into());
    let file = OwnFile::open(make).map_err(failed("make"))?;
    file.set_permissions(Permissions::from_mode(0o600)).map_err(failed("protect"))?;
    let mapping = create_mapping(&file, plan)?;
    fcntl_add_seals(&*file, SIZE_SEALS | SealFlags::SEAL).map_err(io::Error::from).map_err(failed("seal"))?;
    let source = Source { what: NAME.to_owned(), file: Some(file), has_own_file: true, link: None };
    Ok(Attachment::begin(mapping, source)?)
}

/// Attaches to the region behind a descriptor, which another process may hold too. Locks belong to the open file, so the
/// file is opened anew. Where that fails, the descriptor is used as it is, and the participant's record says that it has no
/// lock.
pub(super) fn attach(fd: &OwnedFd, what: &str, owner: u32) -> Result<Attachment, AttachError> {
    let subject = Subject(what);
    let (file, has_own_file) = match OwnFile::open(|| reopen(fd)) {
        Ok(file) => (file, true),
        Err(_) => {
            let file = OwnFile::open(|| Ok(fd.try_clone()?.into())).map_err(subject.refused("copy"))?;
            (file, false)
        }
    };
    attach_file(file, has_own_file, what, owner)
}

/// Attaches through an open file, which no other process has if `has_own_file`.
pub(super) fn attach_file(
    file: OwnFile,
    has_own_file: bool,
    what: &str,
    owner: u32,
) -> Result<Attachment, AttachError> {
    let subject = Subject(what);
    let len = check_file(subject, &file, owner)?;
    check_seals(subject, &file)?;
    let mapping = Mapping::shared(&file, len).map_err(subject.refused("map"))?;
    Attachment::begin(mapping, Source { what: what.to_owned(), file: Some(file), has_own_file, link: None })
}

/// Without these seals a process could cut off memory that this one has mapped.
fn check_seals(what: Subject<'_>, file: &File) -> Result<(), AttachError> {
    what.expect(is_sealed(file), AttachError::NotOurs, || {
        "its size is not sealed, expected a memfd with the seals SHRINK and GROW".to_owned()
    })
}

/// Looks at the region behind a descriptor.
pub(super) fn observe(file: File, has_own_file: bool, what: &str, owner: u32) -> Result<Observer, AttachError> {
    let len = check_file(Subject(what), &file, owner)?;
    check_seals(Subject(what), &file)?;
    Observer::begin(what, file, has_own_file, len)
}

/// True if no process can cut off memory that others have mapped.
pub(super) fn is_sealed(file: &File) -> bool {
    fcntl_get_seals(file).is_ok_and(|seals| seals.contains(SIZE_SEALS))
}

/// Opens the file behind a descriptor anew.
pub(super) fn reopen(fd: &impl AsRawFd) -> io::Result<File> {
    File::options().read(true).write(true).open(format!("/proc/self/fd/{}", fd.as_raw_fd()))
}
