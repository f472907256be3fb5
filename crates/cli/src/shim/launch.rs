//! The environment in which a program runs with the preload objects.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use corecast::lock::Algorithm;

use super::check::{self, Kind};
use super::elf::ElfError;
use super::family::Family;
use super::objects::{self, MissingObject};
use super::preload::{self, Unnameable};
use super::program_path;
use super::verdict::Verdict;

/// The families that are switched on, separated by commas.
const FAMILIES_VARIABLE: &str = "CORECAST_SHIM";
/// The lock behind `pthread_mutex_*`.
const LOCK_VARIABLE: &str = "CORECAST_LOCK";
/// Set if counts are to be told at the end.
const STATS_VARIABLE: &str = "CORECAST_SHIM_STATS";
/// The programs that are served.
const ONLY_VARIABLE: &str = "CORECAST_SHIM_ONLY";
const PRELOAD_VARIABLE: &str = "LD_PRELOAD";

/// The lock if the user names none.
const DEFAULT_LOCK: &str = "auto";

/// Leaves locks as they are, so that the price of the shim itself can be told.
const PASS_THROUGH: &str = "pthread";

/// The names that a lock of `--shim lock` may have.
pub(crate) fn lock_names() -> impl Iterator<Item = &'static str> {
    Algorithm::ALL.iter().map(|lock| lock.facts().name).chain([PASS_THROUGH])
}

/// The user's wishes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Launch {
    pub(crate) families: Vec<Family>,
    pub(crate) lock: Option<String>,
    pub(crate) tells_counts: bool,
    pub(crate) only: Option<OsString>,
}

/// Why a program is not started with the preload objects.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum LaunchError {
    #[error("there is no program {0} in PATH")]
    NotFound(String),
    #[error("nothing can be preloaded into {0}: {1}")]
    NoProgram(String, ElfError),
    #[error("nothing can be preloaded into {0}: {1}")]
    Obstacle(String, String),
    #[error("{0} is not served in {1}: {2}")]
    Refused(Family, String, String),
    #[error("{LOCK_VARIABLE} is {0:?}, which is no lock")]
    UnknownLock(OsString),
    #[error(transparent)]
    Missing(#[from] MissingObject),
    #[error(transparent)]
    Unnameable(#[from] Unnameable),
}

impl Launch {
    /// The variables to set for this program.
    ///
    /// # Errors
    /// [`LaunchError`] if nothing can be preloaded into it, the check refuses a family that it calls, an object is missing, or
    /// the environment names an unknown lock.
    pub(crate) fn environment(&self, program: &OsStr) -> Result<Vec<(&'static str, OsString)>, LaunchError> {
        let shown = || program.to_string_lossy().into_owned();
        let path = program_path::find(program).ok_or_else(|| LaunchError::NotFound(shown()))?;
        let report = check::check(&path).map_err(|error| LaunchError::NoProgram(shown(), error))?;
        if let Some(obstacle) = report.obstacles.first() {
            return Err(LaunchError::Obstacle(shown(), obstacle.why.clone()));
        }
        if report.kind == Kind::Library {
            return Err(LaunchError::Obstacle(shown(), "it is a library".to_owned()));
        }
        for &family in &self.families {
            if let Some(refused) = report.of(family).filter(|verdict| verdict.verdict == Verdict::Refused) {
                return Err(LaunchError::Refused(family, shown(), refused.why.clone()));
            }
        }
        let old = env::var_os(PRELOAD_VARIABLE).unwrap_or_default();
        let preload = preload::list(&old, &report.sanitizers, &self.objects()?)?;
        Ok(self.variables(preload, self.has_lock(env::var_os(LOCK_VARIABLE))?))
    }

    /// True if the user's environment names a lock. An object that does not know the lock passes on all calls, without a word.
    fn has_lock(&self, value: Option<OsString>) -> Result<bool, LaunchError> {
        let is_asked = self.families.contains(&Family::Lock) && self.lock.is_none();
        match value.filter(|value| is_asked && !value.is_empty()) {
            Some(lock) if !lock_names().any(|name| name == lock) => Err(LaunchError::UnknownLock(lock)),
            value => Ok(value.is_some()),
        }
    }

    /// The objects of all families, each once.
    fn objects(&self) -> Result<Vec<PathBuf>, MissingObject> {
        let mut wanted: Vec<_> = self.families.iter().map(|family| family.object()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.into_iter().map(objects::find).collect()
    }

    fn variables(&self, preload: OsString, has_lock: bool) -> Vec<(&'static str, OsString)> {
        let names: Vec<&str> = self.families.iter().map(|family| family.name()).collect();
        let mut variables = vec![(PRELOAD_VARIABLE, preload), (FAMILIES_VARIABLE, names.join(",").into())];
        let needs_lock = self.families.contains(&Family::Lock) && !has_lock;
        let lock = self.lock.clone().or_else(|| needs_lock.then(|| DEFAULT_LOCK.to_owned()));
        variables.extend(lock.map(|lock| (LOCK_VARIABLE, lock.into())));
        variables.extend(self.tells_counts.then(|| (STATS_VARIABLE, "1".into())));
        variables.extend(self.only.clone().map(|only| (ONLY_VARIABLE, only)));
        variables
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::tests::of_shims;
    use super::*;

    #[test]
    fn the_variables_say_what_was_asked_for() {
        let launch = Launch { families: vec![Family::Lock, Family::Barrier], ..Launch::default() };
        let told = |launch: &Launch, has_lock| -> Vec<String> {
            let variables = launch.variables("x.so".into(), has_lock);
            variables.into_iter().map(|(name, value)| format!("{name}={}", value.to_string_lossy())).collect()
        };
        let set = ["LD_PRELOAD=x.so", "CORECAST_SHIM=lock,barrier", "CORECAST_LOCK=auto"];
        assert_eq!(told(&launch, false), set);
        assert_eq!(told(&launch, true), set[..2], "the user's own stays");
        let has_lock = |launch: &Launch, value: &str| launch.has_lock(Some(value.into())).ok();
        assert_eq!(
            ["mcs", "pthread", "", "none"].map(|value| has_lock(&launch, value)),
            [Some(true), Some(true), Some(false), None]
        );
        let (lock, only) = (Some("mcs".to_owned()), Some("mem*".into()));
        let launch = Launch { lock, tells_counts: true, only, ..launch };
        let set = ["CORECAST_LOCK=mcs", "CORECAST_SHIM_STATS=1", "CORECAST_SHIM_ONLY=mem*"];
        assert_eq!(told(&launch, true)[2..], set);
        assert_eq!(has_lock(&launch, "none"), Some(false), "its own lock takes the place");
    }

    #[test]
    fn the_objects_read_these_variables() {
        let Some(settings) = of_shims("preload/src/settings.rs") else { return };
        for name in [FAMILIES_VARIABLE, LOCK_VARIABLE, STATS_VARIABLE, ONLY_VARIABLE] {
            assert!(settings.contains(&format!("c\"{name}\"")), "the objects do not read {name}");
        }
    }

    #[test]
    fn a_script_and_a_library_are_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let script = folder.path().join("tool");
        std::fs::write(&script, "#!/bin/sh\n").expect("written");
        let launch = Launch { families: vec![Family::Lock], ..Launch::default() };
        let told = |program: &OsStr| launch.environment(program).expect_err("no program").to_string();
        assert!(told(script.as_os_str()).contains("it is a script of /bin/sh"));
        assert!(told(OsStr::new("no-such-program")).contains("no program no-such-program in PATH"));
    }
}
