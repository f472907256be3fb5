//! The libraries that corecast is raced against are dependencies of the two crates that race them, and of nothing else.

use crate::report::Report;
use crate::workspace::Workspace;

pub(super) const NAME: &str = "rivals";

/// The rivals. `tokio` is one too, and besides what an example runs on.
const RIVALS: &[&str] = &[
    "arc-swap",
    "async-broadcast",
    "bus",
    "clhlock",
    "crossbeam-channel",
    "crossbeam-queue",
    "crossfire",
    "dashmap",
    "disruptor",
    "fast-stm",
    "flume",
    "hurdles",
    "iceoryx2",
    "ipc-channel",
    "kanal",
    "left-right",
    "mcslock",
    "nexus-queue",
    "papaya",
    "parking_lot",
    "ringbuf",
    "rtrb",
    "scc",
    "spin",
    "stm-core",
    "thingbuf",
];

/// The crates that race.
const RACING: [&str; 2] = ["corecast-race", "corecast-bench"];

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    for package in workspace.packages.iter().filter(|package| !RACING.contains(&package.name.as_str())) {
        for dependency in package.manifest.dependencies() {
            if RIVALS.contains(&dependency.package.as_str()) {
                let message =
                    format!("{} is a rival: only {} may depend on it", dependency.package, RACING.join(" and "));
                report.violation(NAME, &package.manifest_path(), dependency.line, message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::planted::{check_workspace, workspace};

    const MANIFEST: &str = "[dev-dependencies]\nrtrb.workspace = true\nfastrand.workspace = true\n";

    #[test]
    fn a_rival_outside_the_bench_is_caught() {
        let found = check_workspace(check, &workspace("corecast-channel", "crates/channel", MANIFEST, &[]));
        assert!(found.len() == 1 && found[0].contains("rtrb is a rival"), "{found:?}");
        assert_eq!(check_workspace(check, &workspace("corecast-bench", "bench", MANIFEST, &[])), [""; 0]);
    }
}
