//! Builds the programs, and starts them with the object preloaded or without.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::{env, fs, io};

use corecast_testing::launched::output_of;
use corecast_testing::skipped;
use tempfile::TempDir;

/// A compiler, and how it links OpenMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Compiler {
    /// Its runtime is libgomp.
    Gcc,
    /// Its runtime is libomp.
    Clang,
}

impl Compiler {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gcc => "gcc",
            Self::Clang => "clang",
        }
    }
}

/// A program that was built.
#[derive(Clone, Debug)]
pub(crate) struct Program(PathBuf);

/// How a program ended, and what it printed.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
    pub(crate) errors: String,
}

/// The object that this test is of. Cargo builds it beside the test.
pub(crate) fn object() -> PathBuf {
    let test = env::current_exe().expect("a program has a path");
    let object = test.with_file_name("libcorecast_omp.so");
    assert!(object.is_file(), "{} is missing", object.display());
    object
}

/// The folder of the programs' sources.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// A folder for what is built; it goes when all that were handed out are gone.
fn folder() -> &'static Path {
    static FOLDER: Mutex<Option<&'static TempDir>> = Mutex::new(None);
    let mut folder = FOLDER.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let made = || Box::leak(Box::new(tempfile::tempdir().expect("a temporary folder"))) as &TempDir;
    folder.get_or_insert_with(made).path()
}

/// The program of this name, built once. `None`, and a line that says so, if the compiler is not here or does not know OpenMP.
pub(crate) fn program(compiler: Compiler, name: &str) -> Option<Program> {
    type Built = HashMap<(Compiler, String), Arc<Mutex<Option<Option<Program>>>>>;
    static BUILT: Mutex<Option<Built>> = Mutex::new(None);
    let place = {
        let mut built = BUILT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let built = built.get_or_insert_with(HashMap::new);
        Arc::clone(built.entry((compiler, name.to_owned())).or_default())
    };
    let mut place = place.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    place.get_or_insert_with(|| build(compiler, name)).clone()
}

fn build(compiler: Compiler, name: &str) -> Option<Program> {
    let program = folder().join(format!("{name}-{}", compiler.name()));
    let source = sources().join(format!("{name}.c"));
    let arguments = ["-O2", "-fopenmp", "-o"].map(std::ffi::OsStr::new);
    let mut command = Command::new(compiler.name());
    command.args(arguments).arg(&program).arg(source).arg("-lpthread");
    compile(command).then_some(Program(program))
}

/// Runs a compiler; false, and a line that says so, if it is not here. A program that it refuses is a failure.
pub(crate) fn compile(mut command: Command) -> bool {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            skipped(&format!("programs of {name}"), "it is not installed");
            false
        }
        Err(error) => panic!("{name} does not start: {error}"),
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            let has_no_runtime =
                ["'omp.h'", "omp.h: No", "-lgomp", "-lomp"].iter().any(|missing| errors.contains(missing));
            if has_no_runtime {
                skipped(&format!("programs of {name}"), "its OpenMP is not installed");
                return false;
            }
            assert!(output.status.success(), "{name}: {errors}");
            true
        }
    }
}

impl Program {
    /// A program at this path.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Runs it without the object.
    pub(crate) fn alone(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
        self.run(arguments, variables, None)
    }

    /// Runs it with the object preloaded.
    pub(crate) fn with_object(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
        self.run(arguments, variables, Some(&object()))
    }

    fn run(&self, arguments: &[&str], variables: &[(&str, &str)], object: Option<&Path>) -> Outcome {
        let mut command = Command::new(&self.0);
        command.args(arguments);
        for name in ["OMP_NUM_THREADS", "OMP_WAIT_POLICY", "OMP_DYNAMIC", "OMP_CANCELLATION", "LD_PRELOAD"] {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied());
        let preloaded = variables.iter().find(|(name, _)| *name == "LD_PRELOAD").map(|(_, value)| *value);
        let objects = [object.map(|object| object.display().to_string()), preloaded.map(str::to_owned)];
        let objects: Vec<String> = objects.into_iter().flatten().collect();
        if !objects.is_empty() {
            command.env("LD_PRELOAD", objects.join(":"));
        }
        end_of(command, &format!("{} {arguments:?} {variables:?}", self.0.display()))
    }

    /// Both ways give the same output and status, and the program finds no error.
    #[track_caller]
    pub(crate) fn is_the_same(&self, arguments: &[&str], variables: &[(&str, &str)]) {
        let alone = self.alone(arguments, variables);
        let with_object = self.with_object(arguments, variables);
        let name = self.0.file_name().unwrap_or_default().to_string_lossy();
        let what = format!("{name} {arguments:?} {variables:?}");
        assert!(alone.status.success(), "{what} alone: {alone:?}");
        assert!(with_object.status.success(), "{what} with the object: {with_object:?}");
        assert_eq!(with_object.output, alone.output, "{what}");
        assert!(alone.output.contains("errors 0"), "{what}: {alone:?}");
    }
}

/// Runs a command to its end; one that hangs is a failure.
///
/// One at a time: members that spin keep the CPUs from the members of other programs, which they wait for in vain. Of four
/// programs at once each took so much longer that all took twice as long, and twice the CPU time.
fn end_of(mut command: Command, what: &str) -> Outcome {
    static CPUS: Mutex<()> = Mutex::new(());
    let _alone = CPUS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let output = output_of(&mut command).unwrap_or_else(|hang| panic!("{what} hangs: {hang:?}"));
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Outcome { status: output.status, output: text(output.stdout), errors: text(output.stderr) }
}

/// Writes a copy of a file in which one text stands for another of the same length.
pub(crate) fn renamed_copy(from: &Path, to: &Path, old: &str, new: &str) -> io::Result<()> {
    assert_eq!(old.len(), new.len(), "the places of all else must stay");
    let mut bytes = fs::read(from)?;
    for at in 0..bytes.len().saturating_sub(old.len()) {
        if bytes[at..].starts_with(old.as_bytes()) {
            bytes[at..at + new.len()].copy_from_slice(new.as_bytes());
        }
    }
    fs::write(to, bytes)
}

/// The folder in which everything is built.
pub(crate) fn built() -> &'static Path {
    folder()
}
