//! Every package that is published tells its readers on crates.io what it is: its manifest names a page, keywords and categories.
//!
//! That page and the licences lie beside the manifest, as nothing outside a package's folder is published with it.

use crate::report::Report;
use crate::workspace::Workspace;

pub(super) const NAME: &str = "published";

const KEYS: [&str; 4] = ["description", "readme", "keywords", "categories"];
const FILES: [&str; 3] = ["README.md", "LICENSE-APACHE", "LICENSE-MIT"];

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    let published =
        workspace.packages.iter().filter(|package| package.manifest.value("package", "publish") != Some("false"));
    for package in published {
        for key in KEYS.iter().filter(|key| package.manifest.value("package", key).is_none()) {
            report.violation(NAME, &package.manifest_path(), 1, format!("add `{key}`: this package is published"));
        }
        let folder = workspace.root.join(&package.dir);
        for file in FILES.iter().filter(|file| !folder.join(file).exists()) {
            let message = format!("add the file {file} beside it: this package is published");
            report.violation(NAME, &package.manifest_path(), 1, message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planted;

    fn found(manifest: &str, files: &[&str]) -> Vec<String> {
        let mut workspace = planted::workspace("corecast-plan", "crates/plan", manifest, &[]);
        let root = tempfile::tempdir().expect("a temporary folder");
        let folder = root.path().join("crates/plan");
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        for file in files {
            std::fs::write(folder.join(file), "").expect("a temporary file");
        }
        workspace.root = root.path().to_owned();
        planted::check_workspace(check, &workspace)
    }

    const COMPLETE: &str = "description = \"x\"\nreadme = \"README.md\"\nkeywords = [\"x\"]\ncategories = [\"x\"]\n";

    #[test]
    fn what_readers_miss_is_caught() {
        assert_eq!(found(COMPLETE, &FILES), [""; 0]);
        let without_keywords = COMPLETE.replace("keywords", "words");
        assert_eq!(
            found(&without_keywords, &["README.md", "LICENSE-MIT"]),
            [
                "crates/plan/Cargo.toml:1: published: add `keywords`: this package is published",
                "crates/plan/Cargo.toml:1: published: add the file LICENSE-APACHE beside it: this package is published",
            ]
        );
    }

    #[test]
    fn packages_of_the_workspace_only_are_left_alone() {
        assert_eq!(found("publish = false\n", &[]), [""; 0]);
    }
}
