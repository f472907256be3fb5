//! The captured machines in the folder `machines/` of the repository, which its README describes.
//!
//! Tests read them from there and fail loudly if they are missing. A larger collection of the same form may lie beside
//! the checkout, in `../shared/data`: where it does, tests judge its machines as well, and where it does not, nothing is
//! skipped, because the repository's own machines are what the tests are about.
//!
//! ```
//! use corecast_testing::machines;
//! assert!(machines::models().iter().any(|model| model.name == "intel-i7-6700k-8"));
//! assert!(machines::model("paper-xeon-ivb-2x10-20").is_file());
//! ```

use std::fs;
use std::path::{Path, PathBuf};

/// A file that describes a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineFile {
    /// The file's name without its ending. A machine of the larger collection may have the name of one of ours.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// True for a machine of this repository, false for one of the larger collection.
    pub is_ours: bool,
}

/// All models of costs (`corecast-machine/1`), ours first, each collection by name.
///
/// # Panics
///
/// If the repository's folder has none.
#[must_use]
#[track_caller]
pub fn models() -> Vec<MachineFile> {
    let mut models = files(&folder().join("models"), "json", true);
    assert!(!models.is_empty(), "{} has no models", folder().display());
    models.extend(larger_collection().into_iter().flat_map(|data| files(&data.join("machines"), "json", false)));
    models
}

/// The repository's model of that name.
///
/// # Panics
///
/// If there is none.
#[must_use]
#[track_caller]
pub fn model(name: &str) -> PathBuf {
    existing(folder().join("models").join(format!("{name}.json")))
}

/// The tables of what the system's files say on captured machines, ours only.
///
/// # Panics
///
/// If there are none.
#[must_use]
#[track_caller]
pub fn systems() -> Vec<MachineFile> {
    let systems = files(&folder().join("systems"), "txt", true);
    assert!(!systems.is_empty(), "{} has no systems", folder().display());
    systems
}

/// A file of published results, such as `xeon-ivb-2x10/trees.json`.
///
/// # Panics
///
/// If there is none.
#[must_use]
#[track_caller]
pub fn published(name: &str) -> PathBuf {
    existing(folder().join("published").join(name))
}

/// The larger collection beside the checkout, if there is one.
#[must_use]
pub fn larger_collection() -> Option<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    ["machines", "sysfs/expected.json"].iter().all(|part| data.join(part).exists()).then_some(data)
}

#[track_caller]
fn folder() -> PathBuf {
    existing(Path::new(env!("CARGO_MANIFEST_DIR")).join("../machines"))
}

#[track_caller]
fn existing(path: PathBuf) -> PathBuf {
    assert!(path.exists(), "{} is missing: the tests need the repository's folder machines/", path.display());
    path
}

#[track_caller]
fn files(folder: &Path, ending: &str, is_ours: bool) -> Vec<MachineFile> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == ending)).collect();
    paths.sort();
    let name = |path: &Path| path.file_stem().expect("a name before the ending").to_string_lossy().into_owned();
    paths.into_iter().map(|path| MachineFile { name: name(&path), path, is_ours }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_has_machines_of_each_kind() {
        assert!(models().iter().filter(|model| model.is_ours).count() >= 32);
        assert!(systems().len() >= 15);
    }

    #[test]
    #[should_panic(expected = "absent.json is missing")]
    fn a_missing_machine_is_no_skipped_test() {
        let _ = model("absent");
    }
}
