//! The crates whose protocols run over shared memory have models in `tests/loom.rs`.
//!
//! `ci/loom.sh` asks for that target in all of them at once, and cargo is content if one has it.

use crate::report::Report;
use crate::workspace::Workspace;

pub(super) const NAME: &str = "models";

/// The crates with protocols to model.
const MODELLED: &[&str] = &["corecast-base", "corecast-channel", "corecast-lock", "corecast-collective"];

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    for package in workspace.packages.iter().filter(|package| MODELLED.contains(&package.name.as_str())) {
        let path = format!("{}/tests/loom.rs", package.dir);
        let model = package.sources.iter().find(|source| source.path == path);
        if !model.is_some_and(|model| model.tokens.iter().any(|token| token.text == "loom")) {
            report.violation(NAME, &path, 0, "this crate needs loom models of its protocols, in this file");
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
        assert_eq!(check_file(check, "tests/loom.rs", "#![cfg(loom)]\nfn f() { loom::model(g); }\n"), [""; 0]);
    }

    #[test]
    fn crates_without_protocols_need_none() {
        assert_eq!(check_workspace(check, &workspace("corecast-plan", "crates/plan", "", &[])), [""; 0]);
    }
}
