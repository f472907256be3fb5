//! `corecast mpi`: the MPI that would carry messages between machines.
//!
//! Started by itself it finds and loads the library, and initialises nothing. Under a launcher all of its processes open the
//! cluster, with all the checks that a program makes, and rank 0 tells the outcome.

use corecast::collective::nodes::Survival;
use corecast::mpi::{Cluster, Launcher, LibraryInfo};
use serde::Serialize;

use crate::cluster::open_failure;
use crate::failure::Failure;
use crate::output::Output;
use crate::printable;

/// The reason why nodes may die, and its price.
const SURVIVES: &str =
    "ULFM is enabled, for messages of the component ob1 only: with UCX a cluster is faster, and survives nothing";

/// Options of `mpi`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Print only the options to give to the library's launcher.
    #[arg(long)]
    launch_flags: bool,
}

/// The outcome.
#[derive(Debug, Serialize)]
struct Outcome {
    version: String,
    abi: String,
    standard: String,
    path: String,
    reason: String,
    launcher: Option<String>,
    /// The hosts of all nodes; `None` without a launcher.
    nodes: Option<Vec<String>>,
    survives: &'static str,
    why: String,
    launch_flags: &'static str,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    if arguments.launch_flags {
        let info = LibraryInfo::find().map_err(open_failure)?;
        return output.text(&format!("{}\n", info.launch_flags()));
    }
    let Some(launcher) = Launcher::from_env() else {
        let info = LibraryInfo::find().map_err(open_failure)?;
        return tell(&Outcome::of(&info, None, None), output);
    };
    let cluster = Cluster::from_env().map_err(open_failure)?;
    let outcome = cluster.library().zip(cluster.facts()).map(|(info, facts)| {
        let survives_nodes = facts.survival == Survival::Nodes;
        (facts.node, Outcome::of(info, Some(launcher), Some((facts.hosts.clone(), survives_nodes))))
    });
    // Every rank has to close before one may fail to write.
    cluster.close(true);
    match outcome {
        Some((0, outcome)) => tell(&outcome, output),
        _ => Ok(()),
    }
}

fn tell(outcome: &Outcome, output: &Output) -> Result<(), Failure> {
    if output.is_json() { output.json(outcome) } else { output.text(&describe(outcome)) }
}

impl Outcome {
    fn of(info: &LibraryInfo, launcher: Option<Launcher>, nodes: Option<(Vec<String>, bool)>) -> Self {
        let survives_nodes = nodes.as_ref().map_or(info.mortality.is_none(), |&(_, survives)| survives);
        let (survives, why) = match info.mortality {
            None if survives_nodes => ("nodes", SURVIVES),
            mortality => ("members", mortality.unwrap_or("the launcher was not told to")),
        };
        Self {
            version: info.version.clone(),
            abi: info.abi.to_string(),
            standard: format!("{}.{}", info.standard.0, info.standard.1),
            path: info.path.clone(),
            reason: info.reason.clone(),
            launcher: launcher.map(|launcher| launcher.to_string()),
            nodes: nodes.map(|(hosts, _)| hosts),
            survives,
            why: why.to_owned(),
            launch_flags: info.launch_flags(),
        }
    }
}

fn describe(outcome: &Outcome) -> String {
    let Outcome { version, abi, standard, path, reason, launcher, nodes, survives, why, launch_flags } = outcome;
    let launcher = launcher.as_deref().unwrap_or("none told rank and size");
    let nodes = nodes.as_ref().map_or_else(String::new, |hosts| {
        format!("nodes      {}: {}\n", hosts.len(), printable::line(&hosts.join(", ")))
    });
    let survives = match *survives {
        "nodes" => "the death of members and of nodes",
        _ => "the death of members that do not lead their node, and no other",
    };
    format!(
        "library    {}\nfile       {} ({reason})\ninterface  {abi}, MPI {standard}\nlauncher   {launcher}\n{nodes}\
         survives   {survives}: {why}\nstart with {launch_flags}\n",
        printable::line(version),
        printable::line(path),
    )
}

#[cfg(test)]
mod tests {
    use corecast::mpi::abi::Abi;

    use super::*;

    fn info(mortality: Option<&'static str>) -> LibraryInfo {
        LibraryInfo {
            version: "Open MPI v4.1.4".to_owned(),
            path: "libmpi.so.40".to_owned(),
            reason: "it is a test".to_owned(),
            abi: Abi::OpenMpi,
            standard: (3, 1),
            mortality,
        }
    }

    #[test]
    fn a_library_that_survives_nothing_says_why() {
        let outcome = Outcome::of(&info(Some("it is old")), None, None);
        assert_eq!((outcome.survives, outcome.why.as_str()), ("members", "it is old"));
        let text = describe(&outcome);
        assert!(text.contains("launcher   none told rank and size"), "{text}");
        assert!(text.contains("that do not lead their node, and no other: it is old"), "{text}");
    }

    #[test]
    fn hosts_are_listed() {
        let nodes = Some((vec!["h1".to_owned(), "h2".to_owned()], true));
        let outcome = Outcome::of(&info(None), None, nodes);
        assert_eq!(outcome.survives, "nodes");
        assert!(describe(&outcome).contains("nodes      2: h1, h2\n"));
    }
}
