//! The crates whose protocols run over shared memory have models in `tests/loom.rs`, or under `tests/loom/`.
//!
//! `ci/loom.sh` asks for that target in all of them at once, and cargo is content if one has it.

use crate::report::Report;
use crate::workspace::Workspace;

pub(super) const NAME: &str = "models";

/// The crates with protocols to model.
const MODELLED: &[&str] = &[
    "corecast-base",
    "corecast-channel",
    "corecast-lock",
    "corecast-collective",
    "corecast-replica",
    "corecast-tm",
    "corecast-shim-omp",
    "corecast-shim-pthread",
];

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    for package in workspace.packages.iter().filter(|package| MODELLED.contains(&package.name.as_str())) {
        let path = format!("{}/tests/loom.rs", package.dir);
        let folder = format!("{}/tests/loom/", package.dir);
        let mut models =
            package.sources.iter().filter(|source| source.path == path || source.path.starts_with(&folder));
        if !models.any(|model| model.tokens.iter().any(|token| token.text == "loom")) {
            report.violation(NAME, &path, 0, "this crate needs loom models of its protocols, in this file or folder");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::planted::{check_file, check_workspace, workspace};

    #[test]
    fn a_crate_without_models_is_caught() {
        assert_eq!(check_file(check, "tests/conformance.rs", "#![cfg(loom)]\n").len(), 1);
        assert_eq!(check_file(check, "tests/loom.rs", "// loom\n").len(), 1);
        for path in ["tests/loom.rs", "tests/loom/ump.rs"] {
            assert_eq!(check_file(check, path, "#![cfg(loom)]\nfn f() { loom::model(g); }\n"), [""; 0]);
        }
    }

    #[test]
    fn crates_without_protocols_need_none() {
        assert_eq!(check_workspace(check, &workspace("corecast-plan", "crates/plan", "", &[])), [""; 0]);
    }
}
