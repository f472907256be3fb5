//! Every package inherits the lints of the root manifest, among them the one that asks for SAFETY comments.

use crate::report::Report;
use crate::workspace::Workspace;

pub(super) const NAME: &str = "lints";

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    for package in &workspace.packages {
        if package.manifest.value("lints", "workspace") != Some("true") {
            let message = "add `[lints] workspace = true`: the house lints hold everywhere";
            report.violation(NAME, &package.manifest_path(), 1, message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::planted::{check_workspace, workspace};

    #[test]
    fn a_package_with_its_own_lints_is_caught() {
        let own = workspace("corecast-plan", "crates/plan", "[lints.rust]\nmissing_docs = \"allow\"\n", &[]);
        let found = check_workspace(check, &own);
        assert!(found.len() == 1 && found[0].contains("crates/plan/Cargo.toml:1: lints"), "{found:?}");
        let inherits = workspace("corecast-plan", "crates/plan", "[lints]\nworkspace = true\n", &[]);
        assert_eq!(check_workspace(check, &inherits), [""; 0]);
    }
}
