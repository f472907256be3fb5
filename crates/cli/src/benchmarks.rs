//! The program `corecast-bench`, as `corecast` knows it: its place, its benchmarks, and how to build it.

use std::path::PathBuf;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::output::Output;
use crate::own_program;

/// The file name of the benchmarks' program.
const PROGRAM: &str = "corecast-bench";
/// The commands that build and install it. It is not published, as its rivals are not the users' concern.
pub(crate) const BUILD: &str = "in a checkout of corecast `cargo build --release --bin corecast-bench` builds it, and \
     `cargo install --path crates/bench-cli` installs it";
/// The names of all benchmarks. A test of `corecast-bench` compares them with its subcommands.
pub const NAMES: [&str; 22] = [
    "collectives",
    "acknowledged",
    "ump",
    "select",
    "channels",
    "stream",
    "idle",
    "locks",
    "atomics",
    "messages",
    "mpi",
    "nodes",
    "table",
    "tm",
    "busy",
    "deaths",
    "epcc",
    "replica",
    "memcached",
    "streamcluster",
    "setup",
    "planner",
];

/// The file beside this program in which the benchmarks' program is expected.
pub(crate) fn path() -> Result<PathBuf, Failure> {
    Ok(own_program::path()?.with_file_name(PROGRAM))
}

/// The names of all benchmarks and the way to build them, for people.
pub(crate) fn summary() -> String {
    let names = NAMES.chunks(8).map(|names| format!("  {}", names.join(", "))).collect::<Vec<_>>().join(",\n");
    format!("Benchmarks:\n{names}\n\nThey are in the program corecast-bench: {BUILD}.")
}

/// A contender, as `corecast-bench contenders` prints it.
#[derive(Debug, Deserialize, Serialize)]
pub struct Contender {
    /// The operation that it is raced at.
    pub op: String,
    /// Its name.
    pub name: String,
    /// A line about it.
    pub about: String,
}

impl From<corecast_race::Listed> for Contender {
    fn from(listed: corecast_race::Listed) -> Self {
        Self { op: listed.op.to_string(), name: listed.contender, about: listed.about }
    }
}

/// The contenders of all benchmarks. Without the benchmarks' program: those of the collectives' race, and a remark.
pub(crate) fn contenders(output: &Output) -> Result<Vec<Contender>, Failure> {
    let program = path()?;
    if !program.exists() {
        output.remark(&format!("only corecast-bench knows the contenders of the other benchmarks: {BUILD}"));
        return Ok(corecast_race::list().into_iter().map(Contender::from).collect());
    }
    let told = Command::new(&program).args(["contenders", "--json"]).output();
    let told = told.map_err(|error| Failure::environment(format!("cannot start {}: {error}", program.display())))?;
    let listed = serde_json::from_slice(&told.stdout);
    listed.map_err(|_| Failure::environment(format!("{} lists no contenders: {}", program.display(), told.status)))
}
