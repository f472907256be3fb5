//! The preload objects, each found where [`corecast_race::preload`] looks, or told to be missing with the way to build it.

use std::path::PathBuf;

use corecast_race::preload;

use super::family::Object;

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
    find_in(object, preload::folders())
}

fn find_in(object: Object, folders: Vec<PathBuf>) -> Result<PathBuf, MissingObject> {
    let found = preload::find(object.file_name(), &folders);
    found.ok_or(MissingObject { file: object.file_name(), package: object.package(), folders })
}

#[cfg(test)]
mod tests {
    use super::*;

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
