//! Where corecast's preload objects lie: in the folder that `CORECAST_SHIM_DIR` names, beside the program, or in
//! `../lib/corecast`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, io};

/// The variable that names the folder of the objects.
pub const DIR_VARIABLE: &str = "CORECAST_SHIM_DIR";

/// The folders in which objects are looked for, the first one first.
#[must_use]
pub fn folders() -> Vec<PathBuf> {
    folders_for(env::var_os(DIR_VARIABLE), env::current_exe())
}

/// The folder that the user names is the only one: a wrong name is not made up for by another build.
fn folders_for(named: Option<OsString>, program: io::Result<PathBuf>) -> Vec<PathBuf> {
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        return vec![PathBuf::from(named)];
    }
    let beside = program.ok().and_then(|program| program.parent().map(Path::to_owned));
    let of_prefix = |beside: &PathBuf| beside.parent().map(|prefix| prefix.join("lib/corecast"));
    let installed = beside.as_ref().and_then(of_prefix);
    beside.into_iter().chain(installed).collect()
}

/// The absolute path of the object with this file name in the first of these folders that has it.
#[must_use]
pub fn find(file: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let paths = folders.iter().map(|folder| folder.join(file));
    paths.filter(|path| path.is_file()).find_map(|path| std::path::absolute(path).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_that_is_named_is_the_only_one() {
        let program = || Ok(PathBuf::from("/usr/bin/corecast"));
        assert_eq!(folders_for(Some("/shims".into()), program()), [PathBuf::from("/shims")]);
        let usual = [PathBuf::from("/usr/bin"), PathBuf::from("/usr/lib/corecast")];
        assert_eq!(folders_for(None, program()), usual);
        assert_eq!(folders_for(Some(OsString::new()), program()), usual);
    }

    #[test]
    fn the_first_folder_that_has_the_object_is_taken() {
        let [empty, first, second] = [(); 3].map(|()| tempfile::tempdir().expect("a temporary folder"));
        let folders = [&empty, &first, &second].map(|folder| folder.path().to_owned());
        assert_eq!(find("object.so", &folders), None);
        for folder in &folders[1..] {
            std::fs::write(folder.join("object.so"), "").expect("written");
        }
        assert_eq!(find("object.so", &folders), Some(folders[1].join("object.so")));
    }
}
