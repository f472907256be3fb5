//! Runs the program in a folder of its own, with a cache of its own.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use corecast::machine::{Cpu, Topology, model_file, pin};
use corecast::{CpuId, Machine};
use serde_json::Value;
use tempfile::TempDir;

/// A folder that the program works in.
pub(crate) struct Program {
    folder: TempDir,
}

/// The number of the first CPU that this process may use.
pub(crate) fn first_cpu() -> String {
    pin::affinity().expect("own mask").as_slice()[0].to_string()
}

/// The outcome of a run of the program.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Program {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file in the folder and returns its path.
    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    }

    /// Writes the model of a machine with assumed costs and these CPUs, four to a node, and returns its path.
    pub(crate) fn model(&self, cpus: impl IntoIterator<Item = u32>) -> String {
        let cpu = |id| Cpu { numa: Some(id / 4), ..Cpu::flat(CpuId::new(id)) };
        let topology = Topology { cpus: cpus.into_iter().map(cpu).collect(), ..Topology::default() };
        let path = self.path("model.json");
        model_file::write(&Machine::from_topology(&topology), &path).expect("written");
        path.display().to_string()
    }

    /// Names of the files in the folder, but for the cache.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("listed");
        let names = entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| name != "cache").collect();
        names.sort();
        names
    }

    /// Models in the cache, and whatever else was left there.
    pub(crate) fn cached(&self) -> Vec<PathBuf> {
        match std::fs::read_dir(self.path("cache/corecast/machines")) {
            Ok(entries) => entries.map(|entry| entry.expect("readable").path()).collect(),
            Err(_) => Vec::new(),
        }
    }

    /// The program with these arguments, to be run.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(crate::PROGRAM);
        command.args(arguments).current_dir(self.folder.path()).env("XDG_CACHE_HOME", self.path("cache"));
        command.stdin(Stdio::null());
        command
    }

    /// Runs it.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::from(self.command(arguments).output().expect("the program starts"))
    }

    /// Runs it, which must succeed, and reads the JSON that it prints.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.run(arguments).succeeded().json()
    }
}

impl Run {
    /// The same, if it succeeded.
    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// The same, if it ended with this code, nothing on standard output, and these words on standard error.
    #[track_caller]
    pub(crate) fn failed(self, code: i32, words: &str) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        assert!(self.stderr.contains(words), "'{words}' is not in: {}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in: {}", self.stdout))
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}
