//! A change of the sources is told to the users, in CHANGELOG.md.
//!
//! Checked for what changed since the branch left `origin/main`, or since the last release; `TIDY_BASE` names another
//! commit to compare with. Without git, or in a shallow clone, the check is skipped and says so.

use std::env;

use crate::git::{Git, GitError};
use crate::report::Report;
use crate::workspace::Workspace;

pub(super) const NAME: &str = "changelog";

const CHANGELOG: &str = "CHANGELOG.md";

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    let wanted = env::var("TIDY_BASE").ok().filter(|base| !base.is_empty());
    check_since(workspace, wanted.as_deref(), report);
}

fn check_since(workspace: &Workspace, wanted: Option<&str>, report: &mut Report) {
    match changed_files(workspace, wanted) {
        Err(error) if wanted.is_some() => report.violation(NAME, CHANGELOG, 0, format!("TIDY_BASE: {error}")),
        Err(error) => report.skip(NAME, error),
        Ok((base, changed)) => {
            if let Some(message) = missing_line(&changed) {
                report.violation(NAME, CHANGELOG, 0, format!("{message} changed since {base}, and this file did not"));
            }
        }
    }
}

fn changed_files(workspace: &Workspace, wanted: Option<&str>) -> Result<(String, Vec<String>), GitError> {
    let git = Git::open(&workspace.root)?;
    let base = git.base(wanted)?;
    let changed = git.changed_since(&base)?;
    Ok((base, changed))
}

/// The first changed source that no changed line of the changelog tells of.
fn missing_line(changed: &[String]) -> Option<&str> {
    if changed.iter().any(|path| path == CHANGELOG) {
        return None;
    }
    changed.iter().map(String::as_str).find(|path| is_product(path))
}

/// True for a source of what users see: a crate, or the bench.
fn is_product(path: &str) -> bool {
    let below_crate = path.strip_prefix("crates/").and_then(|rest| rest.split_once('/'));
    below_crate.is_some_and(|(_, rest)| rest.starts_with("src/")) || path.starts_with("bench/src/")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::{Command, Stdio};

    use super::*;

    /// An empty checkout; none on a machine without git, where the rule is skipped as well.
    fn checkout() -> Option<tempfile::TempDir> {
        Command::new("git").arg("--version").output().ok()?;
        let root = tempfile::tempdir().expect("a temporary folder");
        git(root.path(), &["init", "--quiet"]);
        Some(root)
    }

    /// Runs git in `root` with a name of its own, so that no configuration of the machine is needed.
    fn git(root: &Path, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.arg("-C").arg(root).args(["-c", "user.name=test", "-c", "user.email=test@example.org"]);
        command.args(["-c", "commit.gpgsign=false"]).args(arguments).stdin(Stdio::null());
        let output = command.output().expect("git starts");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(root: &Path, path: &str, text: &str) {
        let file = root.join(path);
        fs::create_dir_all(file.parent().expect("a file in a folder")).expect("a temporary folder");
        fs::write(file, text).expect("a temporary file");
        git(root, &["add", "."]);
        git(root, &["commit", "--quiet", "--message", path]);
    }

    fn found(root: &Path, wanted: Option<&str>) -> Report {
        let mut report = Report::default();
        check_since(&Workspace { root: root.to_owned(), packages: Vec::new() }, wanted, &mut report);
        report
    }

    #[test]
    fn a_silent_change_is_caught() {
        let Some(root) = checkout() else { return };
        let root = root.path();
        commit(root, "crates/x/src/lib.rs", "1");
        assert_eq!(found(root, None).violations.len(), 1, "the whole history has no changelog");

        commit(root, "CHANGELOG.md", "- 1");
        assert_eq!(found(root, None).violations, []);

        git(root, &["tag", "v1"]);
        commit(root, "docs/notes.md", "no source");
        assert_eq!(found(root, None).violations, []);
        commit(root, "bench/src/lib.rs", "2");
        let caught = found(root, None).violations;
        assert!(caught.len() == 1 && caught[0].message.starts_with("bench/src/lib.rs changed since v1"), "{caught:?}");
        assert_eq!(found(root, Some("HEAD~2")).violations.len(), 1, "HEAD~2 brought the changelog");
        assert_eq!(found(root, Some("HEAD~3")).violations, []);
        assert_eq!(found(root, Some("nonsense")).violations.len(), 1, "a caller that names a base wants the check");
    }

    #[test]
    fn a_branch_is_compared_with_where_it_began() {
        let Some(root) = checkout() else { return };
        let root = root.path();
        commit(root, "CHANGELOG.md", "- 1");
        git(root, &["update-ref", "refs/remotes/origin/main", "HEAD"]);
        commit(root, "crates/x/src/lib.rs", "1");
        assert_eq!(found(root, None).violations.len(), 1);
        fs::write(root.join("CHANGELOG.md"), "- 1\n- 2").expect("a temporary file");
        assert_eq!(found(root, None).violations, [], "what is not committed yet counts");
    }

    #[test]
    fn no_checkout_and_a_shallow_one_are_skipped_in_words() {
        let Some(root) = checkout() else { return };
        let outer = tempfile::tempdir().expect("a temporary folder");
        let report = found(outer.path(), None);
        assert!(report.violations.is_empty() && report.skipped[0].1.contains("not the root of a git checkout"));

        commit(root.path(), "crates/x/src/lib.rs", "1");
        commit(root.path(), "crates/x/src/lib.rs", "2");
        let url = format!("file://{}", root.path().display());
        git(outer.path(), &["clone", "--quiet", "--depth", "1", &url, "shallow"]);
        let report = found(&outer.path().join("shallow"), None);
        assert!(report.violations.is_empty() && report.skipped[0].1.contains("shallow"), "{report:?}");
    }

    #[test]
    fn only_sources_of_the_product_count() {
        for (path, expected) in [
            ("crates/base/src/cpu.rs", true),
            ("bench/src/lib.rs", true),
            ("crates/base/tests/src/x.rs", false),
            ("crates/base/Cargo.toml", false),
            ("tidy/src/lib.rs", false),
        ] {
            assert_eq!(is_product(path), expected, "{path}");
        }
    }
}
