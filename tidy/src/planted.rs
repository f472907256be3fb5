//! Small workspaces with a violation planted in them, for the tests of the rules.

use std::path::PathBuf;

use crate::manifest::Manifest;
use crate::report::Report;
use crate::source::SourceFile;
use crate::workspace::{Package, Workspace};

/// A workspace of one package `name` in `dir`, with this manifest below `[package]` and these files.
pub(crate) fn workspace(name: &str, dir: &str, manifest: &str, files: &[(&str, &str)]) -> Workspace {
    let manifest = Manifest::parse(&format!("[package]\nname = \"{name}\"\n{manifest}"));
    let sources = files.iter().map(|(path, text)| SourceFile::parse(&format!("{dir}/{path}"), text)).collect();
    let package = Package { name: name.to_owned(), dir: dir.to_owned(), manifest, sources };
    Workspace { root: PathBuf::new(), packages: vec![package] }
}

/// What `check` says about one file of a package `corecast-channel` in `crates/channel`.
pub(crate) fn check_file(check: fn(&Workspace, &mut Report), path: &str, text: &str) -> Vec<String> {
    let workspace = workspace("corecast-channel", "crates/channel", "", &[(path, text)]);
    check_workspace(check, &workspace)
}

/// What `check` says about `workspace`.
pub(crate) fn check_workspace(check: fn(&Workspace, &mut Report), workspace: &Workspace) -> Vec<String> {
    let mut report = Report::default();
    check(workspace, &mut report);
    report.violations.iter().map(ToString::to_string).collect()
}
