//! The file that a name stands for, as the system finds a program to start.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A name with a slash is a path; another one is looked for in `PATH`. `None` if no program there has it.
pub(crate) fn find(name: &OsStr) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(name));
    }
    find_in(name, &env::var_os("PATH").unwrap_or_default())
}

fn find_in(name: &OsStr, folders: &OsStr) -> Option<PathBuf> {
    let mut paths = env::split_paths(folders).map(|folder| folder.join(name));
    (!name.is_empty()).then(|| paths.find(|path| is_program(path))).flatten()
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_for_among_programs_and_a_path_is_taken() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let folders = env::join_paths([Path::new("/nowhere"), folder.path()]).expect("no colon");
        let path = folder.path().join("tool");
        std::fs::write(&path, "").expect("written");
        assert_eq!(find_in(OsStr::new("tool"), &folders), None, "nobody may run it");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("its mode");
        assert_eq!(find_in(OsStr::new("tool"), &folders), Some(path));
        assert_eq!(find_in(OsStr::new(""), &folders), None);
        assert_eq!(find(OsStr::new("./tool")), Some(PathBuf::from("./tool")));
    }
}
