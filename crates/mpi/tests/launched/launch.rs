//! The MPIs that are installed, and how a test launches this program under them.

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The longest time of a run. Runs take seconds; on a busy machine more.
const LIMIT: Duration = Duration::from_secs(120);

/// The variable with folders of further installations, between colons: each with `bin/mpiexec` and `lib`. A library with the
/// standard's binary interface there is tried as well.
const HOMES: &str = "CORECAST_TEST_MPI_HOMES";

/// The end of the name of a library with the standard's binary interface.
pub(crate) const STANDARD: &str = " (standard interface)";

/// An MPI that is installed.
#[derive(Clone)]
pub(crate) struct Mpi {
    pub(crate) name: String,
    launcher: PathBuf,
    /// Its library, as a value of `CORECAST_MPI`.
    pub(crate) library: PathBuf,
    pub(crate) is_open_mpi: bool,
    /// True if it survives the death of a process, when its launcher is told to.
    pub(crate) survives: bool,
    /// The folder of its libraries, if the loader does not know it.
    folder: Option<PathBuf>,
}

impl fmt::Display for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// MPIs by the names that Debian gives their launchers, with the libraries that those start.
const KNOWN: [(&str, &str, &str, bool); 2] =
    [("Open MPI", "mpirun.openmpi", "libmpi.so.40", true), ("MPICH", "mpiexec.mpich", "libmpich.so.12", false)];

/// Every MPI that is installed; says which of the usual ones are not.
pub(crate) fn installed(what: &str) -> Vec<Mpi> {
    let usual = KNOWN.iter().filter_map(|&(name, launcher, library, is_open_mpi)| {
        let told = Command::new(launcher).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if told.is_err() {
            corecast_testing::skipped(&format!("{what} under {name}"), format!("{launcher} is missing"));
            return None;
        }
        let (launcher, library) = (launcher.into(), library.into());
        Some(Mpi { name: name.to_owned(), launcher, library, is_open_mpi, survives: false, folder: None })
    });
    let homes = std::env::var_os(HOMES);
    let homes = homes.iter().flat_map(std::env::split_paths);
    usual.chain(homes.flat_map(|home| in_folder(&home))).collect()
}

fn in_folder(home: &Path) -> Vec<Mpi> {
    let (launcher, folder) = (home.join("bin/mpiexec"), home.join("lib"));
    let is_open_mpi = folder.join("libmpi.so.40").exists();
    let survives = is_open_mpi && home.join("bin/prte").exists();
    let of_library = |file: &str, kind: &str| {
        let (library, name) = (folder.join(file), format!("{}{kind}", home.display()));
        let (launcher, folder) = (launcher.clone(), Some(folder.clone()));
        (launcher.exists() && library.exists()).then_some(Mpi {
            name,
            launcher,
            library,
            is_open_mpi,
            survives,
            folder,
        })
    };
    let own = of_library(if is_open_mpi { "libmpi.so.40" } else { "libmpi.so.12" }, "");
    own.into_iter().chain(of_library("libmpi_abi.so.1", STANDARD)).collect()
}

/// The end of a run.
#[derive(Debug)]
pub(crate) struct Told {
    /// `None` if it was ended at the limit.
    pub(crate) is_success: Option<bool>,
    /// All that the ranks have printed.
    pub(crate) output: String,
}

impl Told {
    /// The number of ranks that have said this.
    pub(crate) fn count(&self, words: &str) -> usize {
        self.output.matches(&format!("actor: {words}")).count()
    }
}

/// Runs a role in this number of ranks, with these variables.
pub(crate) fn run(mpi: &Mpi, role: &str, ranks: usize, variables: &[(&str, &str)]) -> Told {
    run_with(mpi, "", role, ranks, variables)
}

/// The same, with further options of the launcher.
pub(crate) fn run_with(mpi: &Mpi, options: &str, role: &str, ranks: usize, variables: &[(&str, &str)]) -> Told {
    let output = tempfile::NamedTempFile::new().expect("a file");
    let mut launch = Command::new(&mpi.launcher);
    if mpi.is_open_mpi {
        launch.args(["--allow-run-as-root", "--oversubscribe", "--mca", "btl_vader_single_copy_mechanism", "none"]);
    }
    launch.args(options.split_whitespace()).args(["-n", &ranks.to_string()]);
    launch.arg(std::env::current_exe().expect("a program has a path")).args(["--exact", "play", "--nocapture"]);
    launch.env("CORECAST_TEST_ROLE", role).env("CORECAST_TEST_PLACE", ranks.to_string());
    if let Some(folder) = &mpi.folder {
        launch.env("LD_LIBRARY_PATH", folder).env("CORECAST_MPI", &mpi.library);
    }
    launch.envs(variables.iter().copied()).stdin(Stdio::null());
    let out = |file: &File| file.try_clone().expect("a descriptor");
    launch.stdout(out(output.as_file())).stderr(out(output.as_file()));
    let mut child = launch.spawn().expect("the launcher was found before");
    let is_success = wait(&mut child);
    Told { is_success, output: std::fs::read_to_string(output.path()).expect("what was printed") }
}

/// True if it has succeeded; `None` if it was ended at the limit.
fn wait(child: &mut Child) -> Option<bool> {
    let begin = Instant::now();
    while begin.elapsed() < LIMIT {
        if let Some(status) = child.try_wait().expect("the child can be waited for") {
            return Some(status.success());
        }
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("it runs");
    child.wait().expect("it was killed");
    None
}
