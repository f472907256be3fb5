//! The value of `LD_PRELOAD` with corecast's objects in it.
//!
//! The order decides whose functions a program calls. Runtimes of sanitizers have to come first: AddressSanitizer ends a program
//! otherwise, and ThreadSanitizer has to see the program's calls, which it passes on to the next object, ours. Everything else
//! comes behind ours: a runtime of OpenMP that the user preloads has the functions that are to be replaced, and an allocator
//! has none of them, so that its place does not matter.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The beginnings of the names of sanitizers' runtimes that insist on being loaded first.
const SANITIZERS: [&str; 5] = ["libasan.so", "libtsan.so", "liblsan.so", "libhwasan.so", "libclang_rt."];
/// The beginning of the names of corecast's objects.
const OURS: &str = "libcorecast_";

/// A path that cannot stand in `LD_PRELOAD`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} has a blank or a colon, which separate the entries of LD_PRELOAD: move it", .0.display())]
pub(crate) struct Unnameable(PathBuf);

/// The entries of `before`, the sanitizers' runtimes that a program is linked with, and `objects`, in their order. Objects of
/// corecast in `before` are replaced.
///
/// # Errors
/// [`Unnameable`] if an object's path cannot stand in the list.
pub(crate) fn list(before: &OsStr, sanitizers: &[PathBuf], objects: &[PathBuf]) -> Result<OsString, Unnameable> {
    if let Some(path) = objects.iter().find(|path| path.as_os_str().as_bytes().iter().any(is_separator)) {
        return Err(Unnameable(path.clone()));
    }
    let old = before.as_bytes().split(is_separator).filter(|entry| !entry.is_empty());
    let (mut first, behind): (Vec<&[u8]>, Vec<&[u8]>) =
        old.filter(|entry| !is_named(entry, &[OURS])).partition(|entry| is_named(entry, &SANITIZERS));
    for path in sanitizers {
        let name = path.file_name().unwrap_or_default().as_bytes();
        if !first.iter().any(|entry| entry.ends_with(name)) {
            first.push(path.as_os_str().as_bytes());
        }
    }
    let ours = objects.iter().map(|path| path.as_os_str().as_bytes());
    let entries: Vec<&[u8]> = first.into_iter().chain(ours).chain(behind).collect();
    Ok(OsString::from_vec(entries.join(&b':')))
}

/// True of the file name of a library that has to come first.
pub(super) fn is_sanitizer(name: &str) -> bool {
    SANITIZERS.iter().any(|beginning| name.starts_with(beginning))
}

fn is_separator(byte: &u8) -> bool {
    matches!(byte, b' ' | b':')
}

fn is_named(entry: &[u8], beginnings: &[&str]) -> bool {
    let name = Path::new(OsStr::from_bytes(entry)).file_name().unwrap_or_default().as_bytes();
    beginnings.iter().any(|beginning| name.starts_with(beginning.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(before: &str, sanitizers: &[&str], objects: &[&str]) -> String {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let list = list(OsStr::new(before), &paths(sanitizers), &paths(objects)).expect("no blanks");
        list.into_string().expect("UTF-8")
    }

    #[test]
    fn sanitizers_come_first_and_others_behind() {
        let ours = ["/c/libcorecast_omp.so", "/c/libcorecast_pthread.so"];
        assert_eq!(listed("", &[], &ours), ours.join(":"));
        assert_eq!(listed("libjemalloc.so.2", &[], &ours[1..]), format!("{}:libjemalloc.so.2", ours[1]));
        assert_eq!(
            listed("/l/libomp.so.5 /l/libasan.so.8", &[], &ours[..1]),
            format!("/l/libasan.so.8:{}:/l/libomp.so.5", ours[0])
        );
        assert_eq!(listed("", &["/l/libtsan.so.2"], &ours[1..]), format!("/l/libtsan.so.2:{}", ours[1]));
        assert_eq!(listed("libtsan.so.2", &["/l/libtsan.so.2"], &ours[1..]), format!("libtsan.so.2:{}", ours[1]));
    }

    #[test]
    fn older_objects_of_ours_are_replaced_and_blanks_refused() {
        let new = "/new/libcorecast_pthread.so";
        assert_eq!(listed("/old/libcorecast_pthread.so:a.so", &[], &[new]), format!("{new}:a.so"));
        let refused = list(OsStr::new(""), &[], &[PathBuf::from("/my shims/libcorecast_mpi.so")]);
        assert!(refused.is_err_and(|error| error.to_string().contains("my shims")));
    }
}
