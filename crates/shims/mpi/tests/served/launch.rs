//! How a test builds the program and launches its ranks.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use corecast_testing::launched;

/// The seed of a program's random numbers, printed with a failure.
const SEED: usize = 4711;

/// An MPI that is installed, and the test program built for it.
pub(crate) struct Mpi {
    name: &'static str,
    launcher: &'static str,
    program: PathBuf,
}

/// MPIs by the names that Debian gives their commands.
const KNOWN: [(&str, &str, &str); 2] =
    [("Open MPI", "mpicc.openmpi", "mpirun.openmpi"), ("MPICH", "mpicc.mpich", "mpiexec.mpich")];
/// Their compilers of Fortran.
const FORTRAN: [&str; KNOWN.len()] = ["mpifort.openmpi", "mpifort.mpich"];

/// Every MPI that is installed; says which are not.
pub(crate) fn installed(what: &str) -> Vec<Mpi> {
    let found = KNOWN.iter().filter_map(|&(name, compiler, launcher)| {
        if !is_installed(compiler) || !is_installed(launcher) {
            corecast_testing::skipped(&format!("{what} under {name}"), format!("{compiler} or {launcher} is missing"));
            return None;
        }
        Some(Mpi { name, launcher, program: program(name, compiler) })
    });
    found.collect()
}

fn is_installed(command: &str) -> bool {
    let found = Command::new(command).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    found.is_ok()
}

/// The test program, built once for each MPI.
fn program(name: &str, compiler: &str) -> PathBuf {
    static FOLDERS: [OnceLock<tempfile::TempDir>; KNOWN.len()] = [const { OnceLock::new() }; KNOWN.len()];
    let place = KNOWN.iter().position(|known| known.0 == name).expect("it is known");
    let folder = FOLDERS[place].get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/served/program.c");
        let mut build = Command::new(compiler);
        build.args(["-O1", "-Wall", "-pthread", "-o"]).arg(folder.path().join("program")).arg(source);
        if place == 1 {
            build.arg("-DHAS_LARGE_COUNTS");
        }
        let built = build.arg("-ldl").output().expect("the compiler runs");
        assert!(built.status.success(), "{compiler}: {}", String::from_utf8_lossy(&built.stderr));
        folder
    });
    folder.path().join("program")
}

impl Mpi {
    /// True if it has the functions whose names end in `_c`.
    pub(crate) fn has_large_counts(&self) -> bool {
        self.launcher == KNOWN[1].2
    }

    /// True for Open MPI.
    pub(crate) fn is_open_mpi(&self) -> bool {
        self.launcher == KNOWN[0].2
    }
}

impl fmt::Display for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (seed {SEED})", self.name)
    }
}

/// The Fortran program of an MPI, and a library of the same; `None` if the compiler is missing.
pub(crate) fn fortran_program(mpi: &Mpi, folder: &Path) -> Option<[PathBuf; 2]> {
    let compiler = FORTRAN[usize::from(!mpi.is_open_mpi())];
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/served/program.f90");
    let build = |name: &str, options: &[&str]| {
        let file = folder.join(format!("{name}-{compiler}"));
        let built = Command::new(compiler).args(options).arg("-o").arg(&file).arg(&source).output().ok()?;
        // The wrapper is there without the compiler that it calls.
        built.status.success().then_some(file)
    };
    Some([build("program", &[])?, build("library", &["-shared", "-fPIC"])?])
}

/// The program that opens a library privately.
pub(crate) fn private_program(folder: &Path) -> PathBuf {
    let program = folder.join("private");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/served/private.c");
    let built = Command::new("cc").arg("-o").arg(&program).arg(source).arg("-ldl").output();
    let built = built.expect("the compiler behind that of MPI runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program
}

/// The library that refuses threads to the object.
pub(crate) fn refusing_library(folder: &Path) -> PathBuf {
    let library = folder.join("librefused.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/served/refused.c");
    let mut build = Command::new("cc");
    build.args(["-shared", "-fPIC", "-Wall", "-o"]).arg(&library).arg(source).arg("-ldl");
    let built = build.output().expect("the compiler behind that of MPI runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    library
}

/// A run of a case.
pub(crate) struct Run<'a> {
    mpi: &'a Mpi,
    program: PathBuf,
    case: &'a str,
    ranks: usize,
    seed: usize,
    /// Variables of the environment, for all ranks.
    variables: Vec<(String, String)>,
    /// One for the last rank alone.
    of_last: Option<(String, String)>,
    /// A command that starts the last rank.
    before_last: &'a [&'a str],
}

/// The end of a run.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) is_success: bool,
    pub(crate) has_hung: bool,
    /// All that the ranks have printed.
    pub(crate) output: String,
}

impl Told {
    /// Calls of a function that the ranks have served together.
    pub(crate) fn served(&self, function: &str) -> u64 {
        let begin = format!("corecast mpi: {function}: served ");
        let counts = self.output.split(&begin).skip(1);
        counts.filter_map(|rest| rest.split(',').next()?.parse::<u64>().ok()).sum()
    }
}

impl<'a> Run<'a> {
    /// A run in which communicators are served from their third call on.
    pub(crate) fn of(mpi: &'a Mpi, case: &'a str, ranks: usize) -> Self {
        let object = object();
        let variables = [
            ("LD_PRELOAD", object.to_str().expect("the name of a build folder is text")),
            ("CORECAST_MPI_AFTER", "2"),
            ("CORECAST_SHIM_STATS", "1"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Self { mpi, program: mpi.program.clone(), case, ranks, seed: SEED, variables, of_last: None, before_last: &[] }
    }

    /// With other random numbers.
    pub(crate) fn with_seed(mut self, seed: usize) -> Self {
        self.seed = seed;
        self
    }

    /// With this library before the object.
    pub(crate) fn behind(mut self, library: &Path) -> Self {
        let [(_, preloaded), ..] = self.variables.as_mut_slice() else { return self };
        *preloaded = format!("{}:{preloaded}", library.display());
        self
    }

    /// With this library behind the object.
    pub(crate) fn before(mut self, library: &Path) -> Self {
        let [(_, preloaded), ..] = self.variables.as_mut_slice() else { return self };
        *preloaded = format!("{preloaded}:{}", library.display());
        self
    }

    /// With this variable at every rank.
    pub(crate) fn of_all_ranks(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With this variable at the last rank only.
    pub(crate) fn of_one_rank(mut self, name: &str, value: &str) -> Self {
        self.of_last = Some((name.to_owned(), value.to_owned()));
        self
    }

    /// With this command to start the last rank.
    pub(crate) fn of_one_rank_by(mut self, command: &'a [&'a str]) -> Self {
        self.before_last = command;
        self
    }

    /// Another program than the usual one.
    pub(crate) fn of_program(mut self, program: PathBuf) -> Self {
        self.program = program;
        self
    }

    /// Runs it.
    pub(crate) fn finish(self) -> Told {
        let output = tempfile::NamedTempFile::new().expect("a file");
        let mut child = self.spawn(output.as_file()).expect("the launcher starts");
        let end = launched::end_of(&mut child);
        let output = std::fs::read_to_string(output.path()).expect("what was printed");
        Told { is_success: end.is_ok_and(|status| status.success()), has_hung: end.is_err(), output }
    }

    fn spawn(&self, output: &File) -> io::Result<Child> {
        let mut launch = Command::new(self.mpi.launcher);
        if self.mpi.is_open_mpi() {
            launch.args(["--allow-run-as-root", "--oversubscribe", "--mca", "btl_vader_single_copy_mechanism", "none"]);
        }
        let is_apart = self.of_last.is_some() || !self.before_last.is_empty();
        self.add_ranks(&mut launch, self.ranks - usize::from(is_apart), None, &[]);
        if is_apart {
            launch.arg(":");
            self.add_ranks(&mut launch, 1, self.of_last.as_ref(), self.before_last);
        }
        launch.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output.try_clone()?).spawn()
    }

    fn add_ranks(&self, launch: &mut Command, ranks: usize, own: Option<&(String, String)>, before: &[&str]) {
        launch.args(["-n", &ranks.to_string()]);
        for (name, value) in self.variables.iter().chain(own) {
            match self.mpi.is_open_mpi() {
                true => launch.arg("-x").arg(format!("{name}={value}")),
                false => launch.args(["-env", name, value]),
            };
        }
        launch.args(before).arg(&self.program).args([self.case, &self.seed.to_string()]);
    }
}

/// The object, which cargo builds for this test beside it.
fn object() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a name");
    let beside = test.ancestors().skip(1).take(2).map(|folder| folder.join("libcorecast_mpi.so"));
    beside.into_iter().find(|object| object.exists()).expect("cargo builds the library for its tests")
}
