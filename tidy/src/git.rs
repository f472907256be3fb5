//! The few questions the changelog rule asks of git.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Why git gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// The program is not there or cannot be started.
    #[error("git cannot be started: {0}")]
    NotStarted(String),
    /// The folder is not the root of a checkout.
    #[error("{} is not the root of a git checkout", .0.display())]
    NoCheckout(PathBuf),
    /// The history needed for the comparison was not fetched.
    #[error("the clone is shallow, so that it is unknown what changed; set TIDY_BASE to a commit it holds")]
    Shallow,
    /// A command failed.
    #[error("`git {command}` failed: {reason}")]
    Failed {
        /// The command.
        command: String,
        /// The message of git.
        reason: String,
    },
}

/// A checkout.
#[derive(Clone, Debug)]
pub struct Git {
    root: PathBuf,
}

impl Git {
    /// The checkout whose root is `root`.
    ///
    /// # Errors
    /// When there is no git, or `root` is not the root of a checkout.
    pub fn open(root: &Path) -> Result<Self, GitError> {
        let git = Self { root: root.to_owned() };
        // A folder inside somebody else's checkout answers too, with a prefix.
        match git.ask(&["rev-parse", "--show-prefix"]) {
            Ok(prefix) if prefix.is_empty() => Ok(git),
            Err(not_started @ GitError::NotStarted(_)) => Err(not_started),
            _ => Err(GitError::NoCheckout(root.to_owned())),
        }
    }

    /// The commit with which to compare: `wanted` if given; else where this branch left `origin/main`, if it has moved
    /// on since; else the last tag; else the empty tree, so that all of history counts as changed.
    ///
    /// # Errors
    /// When `wanted` is no commit, or history is missing.
    pub fn base(&self, wanted: Option<&str>) -> Result<String, GitError> {
        if let Some(wanted) = wanted {
            return self.ask(&["rev-parse", "--verify", "--end-of-options", &format!("{wanted}^{{commit}}")]);
        }
        let head = self.ask(&["rev-parse", "HEAD"])?;
        match self.ask(&["merge-base", "HEAD", "origin/main"]) {
            Ok(base) if base != head => return Ok(base),
            _ => {}
        }
        if let Ok(tag) = self.ask(&["describe", "--tags", "--abbrev=0"]) {
            return Ok(tag);
        }
        if self.ask(&["rev-parse", "--is-shallow-repository"])? == "true" {
            return Err(GitError::Shallow);
        }
        self.ask(&["hash-object", "-t", "tree", "--stdin"])
    }

    /// The files that differ between `base` and the working tree, untracked ones included.
    ///
    /// # Errors
    /// When git fails.
    pub fn changed_since(&self, base: &str) -> Result<Vec<String>, GitError> {
        let tracked = self.ask(&["diff", "--name-only", base])?;
        let untracked = self.ask(&["ls-files", "--others", "--exclude-standard"])?;
        Ok(tracked.lines().chain(untracked.lines()).map(str::to_owned).collect())
    }

    fn ask(&self, arguments: &[&str]) -> Result<String, GitError> {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.root).args(arguments).stdin(Stdio::null());
        let output = command.output().map_err(|error| GitError::NotStarted(error.to_string()))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(GitError::Failed { command: arguments.join(" "), reason })
    }
}
