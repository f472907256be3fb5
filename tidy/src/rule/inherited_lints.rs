//! Every package inherits the lints of the root manifest, among them the one that asks for SAFETY comments. One that is a
//! workspace of its own cannot, and denies by itself what those deny about `unsafe`.

use crate::report::Report;
use crate::workspace::Workspace;

pub(super) const NAME: &str = "lints";

/// The lints of a workspace of its own.
const OWN: [&str; 2] = ["undocumented_unsafe_blocks", "multiple_unsafe_ops_per_block"];

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    for package in &workspace.packages {
        if package.manifest.sections.iter().any(|section| section.header == "workspace") {
            for lint in OWN {
                if package.manifest.value("lints.clippy", lint) != Some("\"deny\"") {
                    let message = format!("add `{lint} = \"deny\"` to `[lints.clippy]`");
                    report.violation(NAME, &package.manifest_path(), 1, message);
                }
            }
        } else if package.manifest.value("lints", "workspace") != Some("true") {
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
    #[test]
    fn a_workspace_of_its_own_without_the_lints_is_caught() {
        let manifest = "[workspace]\n[lints.clippy]\nundocumented_unsafe_blocks = \"deny\"\n";
        let found = check_workspace(check, &workspace("corecast-python", "python", manifest, &[]));
        assert!(found.len() == 1 && found[0].contains("multiple_unsafe_ops_per_block"), "{found:?}");
    }
}
