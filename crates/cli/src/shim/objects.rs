//! Where the preload objects lie: in the folder that `CORECAST_SHIM_DIR` names, beside the program, or in `../lib/corecast`.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::family::Object;

/// The variable that names the folder of the objects.
pub const DIR_VARIABLE: &str = "CORECAST_SHIM_DIR";

/// An object that is not where it is looked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {file} in {}: `cargo build --release -p {package}` in a checkout of corecast builds it", places(.folders))]
pub struct MissingObject {
    /// The name of its file.
    pub file: &'static str,
    /// The package that it is built from.
    pub package: &'static str,
    /// The folders that were looked into.
    pub folders: Vec<PathBuf>,
}

fn places(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(" or ")
}

/// The absolute path of an object.
///
/// # Errors
/// [`MissingObject`], which says how to build it.
pub fn find(object: Object) -> Result<PathBuf, MissingObject> {
    find_in(object, folders(std::env::var_os(DIR_VARIABLE), std::env::current_exe()))
}

/// The folder that the user names is the only one: a wrong name is not made up for by another build.
fn folders(named: Option<OsString>, program: io::Result<PathBuf>) -> Vec<PathBuf> {
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        return vec![PathBuf::from(named)];
    }
    let beside = program.ok().and_then(|program| program.parent().map(Path::to_owned));
    let of_prefix = |beside: &PathBuf| beside.parent().map(|prefix| prefix.join("lib/corecast"));
    let installed = beside.as_ref().and_then(of_prefix);
    beside.into_iter().chain(installed).collect()
}

fn find_in(object: Object, folders: Vec<PathBuf>) -> Result<PathBuf, MissingObject> {
    let paths = folders.iter().map(|folder| folder.join(object.file_name()));
    let found = paths.filter(|path| path.is_file()).find_map(|path| std::path::absolute(path).ok());
    found.ok_or(MissingObject { file: object.file_name(), package: object.package(), folders })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_that_is_named_is_the_only_one() {
        let program = || Ok(PathBuf::from("/usr/bin/corecast"));
        assert_eq!(folders(Some("/shims".into()), program()), [PathBuf::from("/shims")]);
        let usual = [PathBuf::from("/usr/bin"), PathBuf::from("/usr/lib/corecast")];
        assert_eq!(folders(None, program()), usual);
        assert_eq!(folders(Some(OsString::new()), program()), usual);
    }

    #[test]
    fn a_missing_object_is_named_with_the_way_to_build_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let missing = find_in(Object::Pthread, vec![folder.path().to_owned()]).expect_err("it is empty").to_string();
        assert!(missing.contains("libcorecast_pthread.so"), "{missing}");
        assert!(missing.contains("cargo build --release -p corecast-shim-pthread"), "{missing}");
        let path = folder.path().join("libcorecast_pthread.so");
        std::fs::write(&path, "").expect("written");
        assert_eq!(find_in(Object::Pthread, vec![folder.path().to_owned()]), Ok(path));
    }
}
