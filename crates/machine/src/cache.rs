//! Measured models kept between runs, one file per fingerprint, in the user's cache folder.
//!
//! `$XDG_CACHE_HOME/corecast/machines/<fingerprint>.json`, or below `~/.cache` where the variable is not set. A file
//! that cannot be read or belongs to another machine is never an error: it is ignored with a reason, and the next
//! measurement replaces it. Two processes may store at once; the last one wins, whole.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::bounded_file::BoundedReadError;
use crate::extended::Extended;
use crate::fingerprint::Fingerprint;
use crate::machine::Machine;
use crate::model_file::{self, ModelError, ModelFileError};

/// A folder of measured models.
///
/// ```
/// use corecast_machine::{Cache, CacheMiss, Fingerprint, Machine, Topology, Cpu};
/// # use corecast_base::CpuId;
/// let topology = Topology { cpus: vec![Cpu::flat(CpuId::new(0))], ..Topology::default() };
/// let fingerprint = Fingerprint::of_this_machine(&topology);
/// # let folder = tempfile::tempdir()?;
/// let cache = Cache::at(folder.path());
/// assert!(matches!(cache.load(&fingerprint), Err(CacheMiss::Absent { .. })));
/// cache.store(&fingerprint, &Machine::from_topology(&topology))?;
/// assert_eq!(cache.load(&fingerprint)?.cpu_set().to_string(), "0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
}

/// Why the cache has no model to give.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheMiss {
    /// This machine was not measured yet.
    #[error("no model of this machine in the cache, looked for {}", path.display())]
    Absent {
        /// Where it would be.
        path: PathBuf,
    },
    /// The file does not hold a model.
    #[error("the cached model is ignored: {0}")]
    Unreadable(ModelFileError),
    /// The model in the file says that it belongs to another machine.
    #[error("the cached model {} is ignored: it has {} instead of the fingerprint in its name",
        path.display(), found.as_deref().unwrap_or("none"))]
    OtherMachine {
        /// The file.
        path: PathBuf,
        /// The fingerprint in it.
        found: Option<String>,
    },
}

impl Cache {
    /// The cache in this folder.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The user's cache; `None` if neither `XDG_CACHE_HOME` nor `HOME` names an absolute path.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        user_cache_folder("machines").map(Self::at)
    }

    /// The folder with the models.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file of the machine with this fingerprint, whether or not it is there.
    #[must_use]
    pub fn path(&self, fingerprint: &Fingerprint) -> PathBuf {
        self.folder.join(format!("{}.json", fingerprint.id()))
    }

    /// The model stored for this fingerprint.
    ///
    /// # Errors
    ///
    /// Why there is none: a reason to measure, not to stop.
    pub fn load(&self, fingerprint: &Fingerprint) -> Result<Machine, CacheMiss> {
        let path = self.path(fingerprint);
        let machine = match model_file::read(&path) {
            Ok(machine) => machine,
            Err(ModelFileError { problem: ModelError::NotRead(BoundedReadError::Io(error)), path })
                if error.kind() == std::io::ErrorKind::NotFound =>
            {
                return Err(CacheMiss::Absent { path });
            }
            Err(error) => return Err(CacheMiss::Unreadable(error)),
        };
        match &machine.extended.fingerprint {
            Some(id) if *id == fingerprint.id() => Ok(machine),
            found => Err(CacheMiss::OtherMachine { path, found: found.clone() }),
        }
    }

    /// Stores a model under this fingerprint, which the file will carry, and returns where.
    ///
    /// # Errors
    ///
    /// If the folder or the file cannot be written; a model stored before is then still there.
    pub fn store(&self, fingerprint: &Fingerprint, machine: &Machine) -> Result<PathBuf, ModelFileError> {
        let path = self.path(fingerprint);
        fs::create_dir_all(&self.folder)
            .map_err(|error| ModelFileError { path: self.folder.clone(), problem: ModelError::NotWritten(error) })?;
        let extended = Extended { fingerprint: Some(fingerprint.id()), ..machine.extended.clone() };
        model_file::write(&Machine { extended, ..machine.clone() }, &path)?;
        Ok(path)
    }
}

/// The folder in which corecast keeps files of this kind for the user; `None` if neither `XDG_CACHE_HOME` nor `HOME`
/// names an absolute path.
#[must_use]
pub fn user_cache_folder(kind: &str) -> Option<PathBuf> {
    folder(kind, std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME"))
}

/// The folder by the two variables. A relative path is ignored, as the XDG base directory specification asks.
fn folder(kind: &str, xdg_cache_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |path: Option<OsString>| path.map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute(xdg_cache_home).or_else(|| absolute(home).map(|home| home.join(".cache")));
    cache.map(|cache| cache.join("corecast").join(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Cpu, Topology};
    use corecast_base::CpuId;

    fn machine(ids: &[u32]) -> (Machine, Fingerprint) {
        let cpus = ids.iter().map(|&id| Cpu::flat(CpuId::new(id))).collect();
        let topology = Topology { cpus, ..Topology::default() };
        (Machine::from_topology(&topology), Fingerprint::from_parts(&topology, "", "6.1"))
    }

    #[test]
    fn the_variables_decide_on_the_folder() {
        let path = |text: &str| Some(OsString::from(text));
        assert_eq!(folder("machines", path("/x"), path("/home/u")), Some("/x/corecast/machines".into()));
        assert_eq!(
            folder("machines", path("relative"), path("/home/u")),
            Some("/home/u/.cache/corecast/machines".into())
        );
        assert_eq!(folder("machines", None, path("/home/u")), Some("/home/u/.cache/corecast/machines".into()));
        assert_eq!(folder("machines", path(""), None), None);
    }

    #[test]
    fn a_stored_model_is_loaded_for_its_machine_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(folder.path().join("not/there/yet"));
        let ((two, of_two), (three, of_three)) = (machine(&[0, 1]), machine(&[0, 1, 2]));
        let path = cache.store(&of_two, &two).expect("stored");
        assert_eq!(path, cache.path(&of_two));
        assert_eq!(cache.load(&of_two).expect("loaded").cpus, two.cpus);
        assert!(matches!(cache.load(&of_three), Err(CacheMiss::Absent { .. })));

        fs::copy(path, cache.path(&of_three)).expect("copied under a wrong name");
        assert!(matches!(cache.load(&of_three), Err(CacheMiss::OtherMachine { found: Some(_), .. })));
        cache.store(&of_three, &three).expect("replaced");
        assert_eq!(cache.load(&of_three).expect("loaded").cpus.len(), 3);
    }

    #[test]
    fn a_broken_file_is_ignored_with_a_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(folder.path());
        let (machine, fingerprint) = machine(&[0]);
        fs::write(cache.path(&fingerprint), "{\"schema\": \"corecast-machi").expect("written");
        let reason = cache.load(&fingerprint).expect_err("broken").to_string();
        assert!(reason.contains("ignored") && reason.contains("truncated"), "{reason}");
        fs::write(folder.path().join("file"), "").expect("written");
        Cache::at(folder.path().join("file")).store(&fingerprint, &machine).expect_err("no folder");
    }
}
