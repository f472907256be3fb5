//! `corecast gc`: removes the regions of this user that dead programs left.

use corecast::base::{region, rendezvous};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::Output;
use crate::region_dirs::{RegionDirs, Unusable};
use crate::{printable, table};

/// Options of `gc`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    dirs: RegionDirs,
}

/// Something that was taken away.
#[derive(Debug, Serialize)]
struct Removed {
    /// `region`: a named one; `socket`: that of a host, with its lock.
    what: &'static str,
    path: String,
    /// The memory that this frees.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    why: &'static str,
}

/// The outcome.
#[derive(Debug, Serialize)]
struct Outcome {
    removed: Vec<Removed>,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let dirs = &arguments.dirs;
    dirs.check()?;
    // Trouble with one directory does not keep the other from being cleared.
    let (regions, sockets) = (region::gc(&dirs.named()), rendezvous::gc(&dirs.sockets()));
    let mut removed = Vec::new();
    for region::Removed { path, bytes, .. } in regions.as_deref().unwrap_or_default().iter().cloned() {
        removed.push(Removed { what: "region", path, bytes: Some(bytes), why: "none of its participants lives" });
    }
    for path in sockets.as_deref().unwrap_or_default().iter().cloned() {
        removed.push(Removed { what: "socket", path, bytes: None, why: "nobody hosts this name any more" });
    }
    let outcome = Outcome { removed };
    let trouble = regions.err().map(Unusable::from).or(sockets.err().map(Unusable::from));
    if trouble.is_none() || !outcome.removed.is_empty() {
        if output.is_json() { output.json(&outcome)? } else { output.text(&describe(&outcome, dirs))? }
    }
    trouble.map_or(Ok(()), |trouble| Err(dirs.unusable(trouble)))
}

fn describe(outcome: &Outcome, dirs: &RegionDirs) -> String {
    if outcome.removed.is_empty() {
        return format!("nothing to remove in {}", dirs.describe());
    }
    let line = |Removed { what, path, bytes, why }: &Removed| {
        let size = bytes.map_or_else(String::new, |bytes| format!(" of {}", table::bytes(bytes)));
        format!("removed {what} {}{size}: {why}\n", printable::line(path))
    };
    outcome.removed.iter().map(line).collect()
}
