//! Arrows between the crates point down only, along the edges of ARCHITECTURE.md.
//!
//! The compiler enforces what the manifests say; this rule enforces that the manifests, dependencies for tests
//! included, say what the architecture says. Names in the sources are checked too: they would catch a crate that
//! reaches a lower layer through an alias.

use crate::report::Report;
use crate::token::{Token, reads};
use crate::workspace::{Package, Workspace};

pub(super) const NAME: &str = "layers";

/// The crates that each crate may depend on.
const ALLOWED: &[(&str, &[&str])] = &[
    // Its sources name the simulated machine where they are built for it, as corecast-base-simulated.
    ("corecast-base", &["corecast-sim-core"]),
    ("corecast-machine", &["corecast-base"]),
    ("corecast-plan", &["corecast-base", "corecast-machine"]),
    ("corecast-channel", &["corecast-base"]),
    ("corecast-lock", &["corecast-base", "corecast-machine"]),
    ("corecast-collective", &["corecast-base", "corecast-machine", "corecast-plan", "corecast-channel"]),
    ("corecast-mpi", &["corecast-base", "corecast-machine", "corecast-collective"]),
    (
        "corecast-replica",
        &[
            "corecast-base",
            "corecast-machine",
            "corecast-plan",
            "corecast-collective",
            "corecast-channel",
            "corecast-lock",
        ],
    ),
    ("corecast-tm", &["corecast-base", "corecast-machine", "corecast-plan", "corecast-channel", "corecast-lock"]),
    (
        "corecast",
        &[
            "corecast-base",
            "corecast-machine",
            "corecast-plan",
            "corecast-channel",
            "corecast-lock",
            "corecast-collective",
            "corecast-mpi",
            "corecast-replica",
            "corecast-tm",
        ],
    ),
    ("corecast-capi", &["corecast"]),
    ("corecast-python", &["corecast"]),
    // The harness, and the race that `corecast tune` runs.
    ("corecast-race", &["corecast"]),
    ("corecast-bench", &["corecast", "corecast-race"]),
    ("corecast-cli", &["corecast", "corecast-race"]),
    // The second program shows its results as the first one does.
    (
        "corecast-bench-cli",
        &["corecast", "corecast-race", "corecast-bench", "corecast-cli", "corecast-sim", "corecast-sim-core"],
    ),
    // Preload objects: each on the layer it serves, and on what they share.
    ("corecast-preload", &["corecast-base"]),
    ("corecast-shim-omp", &["corecast-preload", "corecast-base"]),
    ("corecast-shim-pthread", &["corecast-preload", "corecast-base", "corecast-lock"]),
    ("corecast-shim-mpi", &["corecast-preload", "corecast-base", "corecast-collective", "corecast-mpi", "corecast"]),
    // parking_lot's names over our locks: a library, not a preload object.
    ("corecast-parking-lot", &["corecast-base", "corecast-lock"]),
    // A simulated machine, and crates built from the same sources as those without the suffix.
    ("corecast-sim-core", &[]),
    ("corecast-base-simulated", &["corecast-sim-core"]),
    ("corecast-machine-simulated", &["corecast-base-simulated"]),
    ("corecast-plan-simulated", &["corecast-base-simulated", "corecast-machine-simulated"]),
    ("corecast-channel-simulated", &["corecast-base-simulated"]),
    ("corecast-lock-simulated", &["corecast-base-simulated", "corecast-machine-simulated"]),
    (
        "corecast-collective-simulated",
        &[
            "corecast-base-simulated",
            "corecast-machine-simulated",
            "corecast-plan-simulated",
            "corecast-channel-simulated",
        ],
    ),
    (
        "corecast-replica-simulated",
        &[
            "corecast-base-simulated",
            "corecast-machine-simulated",
            "corecast-plan-simulated",
            "corecast-channel-simulated",
            "corecast-lock-simulated",
        ],
    ),
    (
        "corecast-tm-simulated",
        &[
            "corecast-base-simulated",
            "corecast-machine-simulated",
            "corecast-plan-simulated",
            "corecast-channel-simulated",
            "corecast-lock-simulated",
        ],
    ),
    // Its sources name the twins by the names of the crates that they are twins of.
    (
        "corecast-sim",
        &[
            "corecast-sim-core",
            "corecast-base-simulated",
            "corecast-machine-simulated",
            "corecast-plan-simulated",
            "corecast-channel-simulated",
            "corecast-lock-simulated",
            "corecast-collective-simulated",
            "corecast-replica-simulated",
            "corecast-tm-simulated",
            "corecast-base",
            "corecast-machine",
            "corecast-plan",
            "corecast-channel",
            "corecast-lock",
            "corecast-collective",
            "corecast-replica",
            "corecast-tm",
        ],
    ),
    ("corecast-testing", &[]),
    ("corecast-tidy", &[]),
];

/// The crate that tests share. Any crate may depend on it for its tests, and none otherwise: it is not published.
const FOR_TESTS: &str = "corecast-testing";

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    for package in &workspace.packages {
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == package.name) else {
            let message = format!("'{}' is on no layer: add it to ARCHITECTURE.md and to this rule", package.name);
            report.violation(NAME, &package.manifest_path(), 1, message);
            continue;
        };
        check_manifest(package, allowed, report);
        check_sources(package, allowed, report);
    }
}

fn check_manifest(package: &Package, allowed: &[&str], report: &mut Report) {
    for dependency in package.manifest.dependencies() {
        let name = dependency.package.as_str();
        let is_for_tests = name == FOR_TESTS && dependency.is_for_tests;
        if is_ours(name) && !allowed.contains(&name) && !is_for_tests {
            report.violation(NAME, &package.manifest_path(), dependency.line, no_such_edge(package, name));
        }
    }
}

fn check_sources(package: &Package, allowed: &[&str], report: &mut Report) {
    for source in &package.sources {
        for (at, token) in source.tokens.iter().enumerate() {
            let name = token.text.replace('_', "-");
            // In which sources it may be named is for the manifest, and so for the compiler, to say.
            let is_edge =
                is_ours(&name) && name != FOR_TESTS && is_path_head(&source.tokens, at) && name != package.name;
            if is_edge && !allowed.contains(&name.as_str()) {
                report.violation(NAME, &source.path, token.line + 1, no_such_edge(package, &name));
            }
        }
    }
}

/// True for a word that begins a path (`corecast_plan::Tree`), and not for a field or a local of that name.
fn is_path_head(tokens: &[Token], at: usize) -> bool {
    let begins = at == 0 || !matches!(tokens[at - 1].text.as_str(), "." | ":");
    begins && reads(tokens, at + 1, &[":", ":"])
}

fn is_ours(name: &str) -> bool {
    ALLOWED.iter().any(|(ours, _)| *ours == name)
}

fn no_such_edge(package: &Package, name: &str) -> String {
    format!("{} must not depend on {name}: arrows point down only, see ARCHITECTURE.md", package.name)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::planted::{check_workspace, workspace};

    #[test]
    fn an_upward_edge_in_the_manifest_is_caught() {
        for table in ["dependencies", "dev-dependencies", "target.\"cfg(loom)\".dependencies"] {
            let manifest = format!("[{table}]\ncorecast-base.workspace = true\ncorecast-plan.workspace = true\n");
            let found = check_workspace(check, &workspace("corecast-channel", "crates/channel", &manifest, &[]));
            let expected = "corecast-channel must not depend on corecast-plan";
            assert!(found.len() == 1 && found[0].contains(expected), "{table}: {found:?}");
            assert!(found[0].starts_with("crates/channel/Cargo.toml:5: layers: "), "{found:?}");
        }
    }

    #[test]
    fn an_upward_edge_in_a_source_is_caught() {
        let files = [("src/a.rs", "use corecast_base::CpuId;\nfn f() { corecast::detect(); }\n")];
        let found = check_workspace(check, &workspace("corecast-machine", "crates/machine", "", &files));
        assert!(found.len() == 1 && found[0].starts_with("crates/machine/src/a.rs:2: layers: "), "{found:?}");
    }

    #[test]
    fn downward_edges_and_the_own_name_are_fine() {
        let manifest = "[dependencies]\ncorecast.workspace = true\ncorecast-race.workspace = true\nclap = \"4\"\n";
        let files = [("src/main.rs", "use corecast::Machine;\nlet x = a.corecast::<u8>();\n")];
        let found = check_workspace(check, &workspace("corecast-cli", "crates/cli", manifest, &files));
        assert_eq!(found, [""; 0]);
        let own = [("tests/t.rs", "use corecast_plan::Tree;\n")];
        assert_eq!(check_workspace(check, &workspace("corecast-plan", "crates/plan", "", &own)), [""; 0]);
    }

    #[test]
    fn the_crate_that_tests_share_is_for_tests_only() {
        let found = |table: &str| {
            let manifest = format!("[{table}]\ncorecast-testing.workspace = true\n");
            let files = [("tests/t.rs", "use corecast_testing::skipped;\n")];
            check_workspace(check, &workspace("corecast-base", "crates/base", &manifest, &files))
        };
        assert_eq!(found("dev-dependencies"), [""; 0]);
        assert_eq!(found("target.\"cfg(loom)\".dev-dependencies"), [""; 0]);
        let wrong = found("dependencies");
        assert!(wrong.len() == 1 && wrong[0].contains("must not depend on corecast-testing"), "{wrong:?}");
    }

    #[test]
    fn a_package_without_a_layer_is_caught() {
        let found = check_workspace(check, &workspace("corecast-extra", "crates/extra", "", &[]));
        assert!(found.len() == 1 && found[0].contains("is on no layer"), "{found:?}");
    }
}
