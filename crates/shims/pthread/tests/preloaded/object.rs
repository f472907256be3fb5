//! The shared object, programs that are built for a test, and runs of them.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{LazyLock, Mutex, PoisonError};

use corecast_testing::launched::output_of;
use corecast_testing::skipped;
use tempfile::TempDir;

/// The names of all locks, and the pass-through.
pub(crate) const LOCKS: [&str; 12] =
    ["pthread", "tas", "ttas", "ticket", "array", "mcs", "clh", "word", "auto", "byte", "qword", "hmcs"];

/// The shared object, which cargo has built beside the tests.
pub(crate) fn object() -> PathBuf {
    let this = std::env::current_exe().expect("a test has a path");
    let deps = this.parent().expect("a test lies in a folder");
    let found = deps.ancestors().take(2).map(|folder| folder.join("libcorecast_pthread.so")).find(|path| path.exists());
    found.expect("cargo builds the object with the tests")
}

/// The compiler of C or C++, if there is one.
fn has(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok_and(|run| run.status.success())
}

/// The program of this source in `tests/c`; `None`, and a word about it, without a compiler.
pub(crate) fn program(source: &str) -> Option<PathBuf> {
    built(source, None)
}

/// The same, with this option of the compiler, which links a sanitizer's runtime.
pub(crate) fn sanitized(source: &str, option: &str) -> Option<PathBuf> {
    built(source, Some(option))
}

fn built(source: &str, option: Option<&str>) -> Option<PathBuf> {
    static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a temporary folder"));
    // Each is built once: a test may run it while another one asks for it.
    static BUILT: Mutex<Option<HashMap<String, PathBuf>>> = Mutex::new(None);
    let compiler = if source.ends_with(".cpp") { "c++" } else { "cc" };
    if !has(compiler) {
        skipped(&format!("{source} under the object"), format!("there is no {compiler}"));
        return None;
    }
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let built = built.get_or_insert_default();
    let name = format!("{source}{}", option.unwrap_or_default()).replace(['.', '='], "_");
    let compiled = || compiled(compiler, source, option, FOLDER.path().join(&name));
    let program = built.entry(name.clone()).or_insert_with(compiled);
    Some(program.clone())
}

fn compiled(compiler: &str, source: &str, option: Option<&str>, program: PathBuf) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(source);
    let mut command = Command::new(compiler);
    command.args(["-O1", "-g", "-Wall", "-Werror", "-pthread"]).args(option).arg("-o").arg(&program).arg(&path);
    let run = command.output().expect("the compiler starts");
    assert!(run.status.success(), "{source}: {}", String::from_utf8_lossy(&run.stderr));
    program
}

/// This program under the object.
pub(crate) fn preloaded(program: impl AsRef<OsStr>, lock: &str) -> Command {
    let mut command = plain(program);
    command.env("LD_PRELOAD", object()).env("CORECAST_LOCK", lock).env("CORECAST_SHIM", "barrier,lock");
    command
}

/// This program without the object, whatever this test was started with.
pub(crate) fn plain(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for name in ["LD_PRELOAD", "CORECAST_LOCK", "CORECAST_SHIM", "CORECAST_SHIM_ONLY", "CORECAST_SHIM_OFF"] {
        command.env_remove(name);
    }
    command
}

/// The output of a run that ends well.
#[track_caller]
pub(crate) fn output(command: &mut Command) -> Output {
    let output = output_of(command).unwrap_or_else(|hang| panic!("{command:?} hangs: {hang:?}"));
    let (told, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{told}\n{errors}", output.status);
    output
}
