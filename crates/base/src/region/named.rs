//! Regions with a name: files in a directory of the user, in memory.
//!
//! No process can open a half-made region: the file gets its name when it is finished. The last participant removes the
//! name, or [`gc`](super::gc) does when no participant lives.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Gid, Mode, OFlags, fchmod, fchown, openat};
use rustix::io::Errno;

use super::attachment::{Attachment, Source};
use super::error::{AttachError, CreateError, Subject};
use super::file::check_file;
use super::fork::OwnFile;
use super::gc;
use super::link::{Link, each, open};
use super::mapping::Mapping;
use super::name::check_region_name;
use super::observer::Observer;
use super::plan::RegionPlan;
use super::region_dir::RegionDir;
use super::storage::create_mapping;

/// Creates a region, joins it as its first participant and gives it its name.
pub(super) fn create(dir: &RegionDir, name: &str, plan: &RegionPlan) -> Result<Attachment, CreateError> {
    check_region_name(name)?;
    let what = dir.path_of(name);
    let failed = |verb: &str| {
        let what = format!("{verb} {what}");
        move |source: Errno| CreateError::System { what, source: source.into() }
    };
    let handle = dir.make_and_open()?;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = OwnFile::open(|| Ok(openat(&handle, c".", flags, Mode::from_raw_mode(0o600))?.into()))
        .map_err(|source| CreateError::System { what: format!("make {what}"), source })?;
    if let Some(gid) = plan.group {
        fchown(&*file, None, Some(Gid::from_raw(gid))).map_err(failed("give to a group"))?;
        fchmod(&*file, Mode::from_raw_mode(0o660)).map_err(failed("open to a group"))?;
    }
    let mapping = create_mapping(&file, plan)?;
    let link = Link { dir: handle, name: name.to_owned() };
    let source = Source { what: what.clone(), file: Some(file), has_own_file: true, link: Some(link) };
    let attachment = Attachment::begin(mapping, source)?;
    match attachment.publish_name() {
        Err(Errno::EXIST) if gc::sweep_name(dir, name) => {
            attachment.publish_name().map_err(|errno| taken(&what, errno))?;
        }
        result => result.map_err(|errno| taken(&what, errno))?,
    }
    Ok(attachment)
}

fn taken(what: &str, errno: Errno) -> CreateError {
    match errno {
        Errno::EXIST => CreateError::Exists(what.to_owned()),
        errno => CreateError::System { what: format!("give its name to {what}"), source: errno.into() },
    }
}

/// Joins the region with this name.
pub(super) fn attach(dir: &RegionDir, name: &str) -> Result<Attachment, AttachError> {
    let (what, handle) = find(dir, name)?;
    let subject = Subject(&what);
    let file = OwnFile::open(|| open(&handle, name, OFlags::RDWR)).map_err(not_opened(subject))?;
    let len = check_file(subject, &file, dir.owner())?;
    let mapping = Mapping::shared(&file, len).map_err(subject.refused("map"))?;
    let link = Link { dir: handle, name: name.to_owned() };
    Attachment::begin(mapping, Source { what, file: Some(file), has_own_file: true, link: Some(link) })
}

/// Looks at the region with this name.
pub(super) fn observe(dir: &RegionDir, name: &str) -> Result<Observer, AttachError> {
    let (what, handle) = find(dir, name)?;
    let subject = Subject(&what);
    let file = open(&handle, name, OFlags::RDONLY).map_err(not_opened(subject))?;
    let len = check_file(subject, &file, dir.owner())?;
    Observer::begin(&what, file, true, len)
}

/// The names in this directory that may be those of regions, sorted.
///
/// # Errors
/// [`AttachError`] if the directory is not to be trusted or cannot be read. A missing directory is no error.
pub fn names(dir: &RegionDir) -> Result<Vec<String>, AttachError> {
    match dir.open() {
        Err(AttachError::NotFound(_)) => Ok(Vec::new()),
        handle => each(dir, &handle?),
    }
}

fn find(dir: &RegionDir, name: &str) -> Result<(String, OwnedFd), AttachError> {
    check_region_name(name)?;
    Ok((dir.path_of(name), dir.open()?))
}

fn not_opened(what: Subject<'_>) -> impl FnOnce(io::Error) -> AttachError {
    move |error| match Errno::from_io_error(&error) {
        Some(Errno::NOENT) => AttachError::NotFound(what.0.to_owned()),
        Some(Errno::LOOP) => AttachError::NotOurs(what.doubt("a symbolic link, expected a regular file")),
        Some(Errno::NXIO | Errno::ISDIR) => AttachError::NotOurs(what.doubt("not a regular file")),
        _ => what.refused("open")(error),
    }
}
