//! The families of functions that preload objects can replace, and the object that has each.

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;

/// A group of functions that is switched on as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Barriers of OpenMP programs: libgomp, libomp, libiomp5.
    Omp,
    /// `pthread_barrier_*`.
    Barrier,
    /// `pthread_mutex_*`, `pthread_cond_*`, `pthread_rwlock_*` and `pthread_spin_*`.
    Lock,
    /// Collectives of MPI programs within a node.
    Mpi,
}

/// A library that is preloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Object {
    /// Serves `omp`.
    Omp,
    /// Serves `barrier` and `lock`.
    Pthread,
    /// Serves `mpi`.
    Mpi,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Omp, Self::Barrier, Self::Lock, Self::Mpi];

    /// The name in `--shim` and in `CORECAST_SHIM`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Omp => "omp",
            Self::Barrier => "barrier",
            Self::Lock => "lock",
            Self::Mpi => "mpi",
        }
    }

    /// The object that serves it.
    #[must_use]
    pub const fn object(self) -> Object {
        match self {
            Self::Omp => Object::Omp,
            Self::Barrier | Self::Lock => Object::Pthread,
            Self::Mpi => Object::Mpi,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Object {
    /// The name of its file.
    #[must_use]
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Omp => "libcorecast_omp.so",
            Self::Pthread => "libcorecast_pthread.so",
            Self::Mpi => "libcorecast_mpi.so",
        }
    }

    /// The package that it is built from.
    #[must_use]
    pub const fn package(self) -> &'static str {
        match self {
            Self::Omp => "corecast-shim-omp",
            Self::Pthread => "corecast-shim-pthread",
            Self::Mpi => "corecast-shim-mpi",
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::path::Path;

    use super::*;

    /// A file of the preload objects' packages, on which this one may not depend; `None` with a line outside the workspace.
    pub(in crate::shim) fn of_shims(path: &str) -> Option<String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shims").join(path);
        let read = std::fs::read_to_string(&path);
        read.map_err(|error| corecast_testing::skipped(&path.display().to_string(), error)).ok()
    }

    #[test]
    fn the_objects_know_the_same_families() {
        let Some(settings) = of_shims("preload/src/settings.rs") else { return };
        assert!(settings.contains(&format!("const ALL: [Self; {}]", Family::ALL.len())));
        for family in Family::ALL {
            let arm = format!("Self::{family:?} => \"{family}\",");
            assert!(settings.contains(&arm), "no {arm} in the settings of the objects");
        }
    }

    #[test]
    fn files_and_packages_are_those_of_the_objects() {
        for (object, folder) in [(Object::Omp, "omp"), (Object::Pthread, "pthread"), (Object::Mpi, "mpi")] {
            let Some(manifest) = of_shims(&format!("{folder}/Cargo.toml")) else { return };
            let library = object.file_name().strip_prefix("lib").and_then(|name| name.strip_suffix(".so"));
            for name in [object.package(), library.expect("the name of a shared library")] {
                assert!(manifest.contains(&format!("\nname = \"{name}\"\n")), "no {name} in {manifest}");
            }
        }
    }

    #[test]
    fn the_names_are_those_of_the_options() {
        for family in Family::ALL {
            let value = family.to_possible_value().expect("no family is skipped");
            assert_eq!(value.get_name(), family.to_string());
            assert_eq!(serde_json::to_value(family).expect("a name is JSON"), family.name());
        }
    }
}
