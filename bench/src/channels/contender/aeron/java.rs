//! Finds the two things that the Aeron contender needs: a JDK that runs source files, and Aeron's jar.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that names the jar.
const VARIABLE: &str = "CORECAST_AERON_JAR";
/// Where Maven keeps the jars that it was asked for, below the home directory.
const REPOSITORY: &str = ".m2/repository/io/aeron/aeron-all";
/// The first Java that runs a source file as it is.
const OLDEST_JAVA: u32 = 11;

/// Aeron's jar, if there is a Java machine to run it.
///
/// # Errors
/// The missing part and how to get it.
pub(super) fn jar() -> Result<PathBuf, String> {
    let jar = runs_source_files().and_then(|()| {
        let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        find_jar(env::var_os(VARIABLE).map(PathBuf::from), &home.join(REPOSITORY))
    });
    jar.map_err(|missing| {
        format!(
            "needs a Java machine and Aeron's jar: {missing}; get the jar with \
            `mvn dependency:get -Dartifact=io.aeron:aeron-all:1.44.1`, or name it in {VARIABLE}"
        )
    })
}

fn runs_source_files() -> Result<(), String> {
    let output = Command::new("java").arg("--list-modules").output();
    let output = output.map_err(|error| format!("`java` does not start ({error})"))?;
    let modules = String::from_utf8_lossy(&output.stdout).into_owned();
    let compiler = compiler_version(&modules);
    if compiler.is_some_and(|version| version >= OLDEST_JAVA) {
        return Ok(());
    }
    Err(format!("`java` has no compiler of version {OLDEST_JAVA} or later, which a JDK has"))
}

/// The feature version of the compiler among these modules, which are named like `jdk.compiler@17.0.15`.
fn compiler_version(modules: &str) -> Option<u32> {
    let version = modules.lines().find_map(|module| module.strip_prefix("jdk.compiler@"))?;
    version.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

/// The jar that was named, or the newest of Maven's.
fn find_jar(named: Option<PathBuf>, repository: &Path) -> Result<PathBuf, String> {
    match named {
        Some(jar) if jar.is_file() => return Ok(jar),
        Some(jar) => return Err(format!("{VARIABLE} says {}, which is no file", jar.display())),
        None => {}
    }
    let versions = std::fs::read_dir(repository).into_iter().flatten().flatten();
    let versions = versions.filter_map(|entry| entry.file_name().into_string().ok());
    let jars = versions.map(|version| (numbers(&version), jar_of(repository, &version)));
    let newest = jars.filter(|(_, jar)| jar.is_file()).max().map(|(_, jar)| jar);
    newest.ok_or_else(|| format!("no jar of Aeron in {}", repository.display()))
}

fn jar_of(repository: &Path, version: &str) -> PathBuf {
    repository.join(version).join(format!("aeron-all-{version}.jar"))
}

/// `1.44.1` as numbers, which sort as versions do.
fn numbers(version: &str) -> Vec<u32> {
    version.split(['.', '-']).map(|number| number.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_newest_jar_is_found_and_the_named_one_goes_before() {
        let repository = tempfile::tempdir().expect("a temporary directory");
        let missing = find_jar(None, repository.path()).expect_err("an empty repository");
        assert!(missing.contains(&repository.path().display().to_string()), "{missing}");
        for version in ["1.9.3", "1.44.1", "1.44.0"] {
            fs::create_dir(repository.path().join(version)).expect("a version's directory");
            fs::write(jar_of(repository.path(), version), "").expect("a jar");
        }
        fs::create_dir(repository.path().join("1.51.0")).expect("a version whose jar was not loaded");
        let newest = jar_of(repository.path(), "1.44.1");
        assert_eq!(find_jar(None, repository.path()), Ok(newest));
        let old = jar_of(repository.path(), "1.9.3");
        assert_eq!(find_jar(Some(old.clone()), repository.path()), Ok(old));
        let wrong = find_jar(Some("/nowhere/aeron.jar".into()), repository.path()).expect_err("no such file");
        assert!(wrong.contains("/nowhere/aeron.jar"), "{wrong}");
    }

    #[test]
    fn only_a_java_with_a_compiler_runs_source_files() {
        assert_eq!(compiler_version("java.base@17.0.15\njdk.compiler@17.0.15\n"), Some(17));
        assert_eq!(compiler_version("jdk.compiler@22-ea\n"), Some(22));
        assert_eq!(compiler_version("java.base@17.0.15\njdk.compilers@1\n"), None);
    }
}
