//! The workspace as the rules see it: packages, their manifests and their sources.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::manifest::Manifest;
use crate::source::SourceFile;

/// Folders that are workspaces of their own, whose sources keep the rules of this one.
const OUTSIDE: [&str; 1] = ["python"];

/// Why a workspace could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file or folder could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The path that could not be read.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The root manifest names no members, so that every rule would hold of nothing.
    #[error("{} names no workspace members", path.display())]
    NoMembers {
        /// The root manifest.
        path: PathBuf,
    },
}

/// One member of the workspace.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its folder relative to the workspace root, with `/`.
    pub dir: String,
    /// Its manifest.
    pub manifest: Manifest,
    /// Its Rust files in the order of their paths.
    pub sources: Vec<SourceFile>,
}

impl Package {
    /// The path of its manifest relative to the workspace root.
    #[must_use]
    pub fn manifest_path(&self) -> String {
        format!("{}/Cargo.toml", self.dir)
    }
}

/// A workspace.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// Its root folder.
    pub root: PathBuf,
    /// Its members in the order of the root manifest, and then the packages beside them.
    pub packages: Vec<Package>,
}

impl Workspace {
    /// Reads the workspace whose `Cargo.toml` is in `root`.
    ///
    /// # Errors
    /// When a manifest or a source cannot be read, or no members are named.
    pub fn load(root: &Path) -> Result<Self, LoadError> {
        let path = root.join("Cargo.toml");
        let members = Manifest::parse(&read(&path)?).texts("workspace", "members");
        if members.is_empty() {
            return Err(LoadError::NoMembers { path });
        }
        let outside = OUTSIDE.into_iter().filter(|dir| root.join(dir).join("Cargo.toml").is_file());
        let members = members.iter().map(String::as_str).chain(outside);
        let packages = members.map(|dir| load_package(root, dir)).collect::<Result<_, _>>()?;
        Ok(Self { root: root.to_owned(), packages })
    }

    /// All sources with the package they belong to.
    pub fn sources(&self) -> impl Iterator<Item = (&Package, &SourceFile)> {
        self.packages.iter().flat_map(|package| package.sources.iter().map(move |source| (package, source)))
    }
}

fn load_package(root: &Path, dir: &str) -> Result<Package, LoadError> {
    let manifest = Manifest::parse(&read(&root.join(dir).join("Cargo.toml"))?);
    let mut paths = Vec::new();
    for folder in ["src", "tests", "benches", "examples"] {
        collect_rust_files(root, &format!("{dir}/{folder}"), &mut paths)?;
    }
    paths.sort();
    let mut sources = Vec::new();
    for path in paths {
        sources.push(SourceFile::parse(&path, &read(&root.join(&path))?));
    }
    mark_test_modules(&mut sources);
    let name = manifest.value("package", "name").unwrap_or_default().trim_matches('"').to_owned();
    Ok(Package { name, dir: dir.to_owned(), manifest, sources })
}

fn collect_rust_files(root: &Path, dir: &str, paths: &mut Vec<String>) -> Result<(), LoadError> {
    let folder = root.join(dir);
    if !folder.is_dir() {
        return Ok(());
    }
    let failed = |source| LoadError::Read { path: folder.clone(), source };
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = format!("{dir}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect_rust_files(root, &path, paths)?;
        } else if path.ends_with(".rs") {
            paths.push(path);
        }
    }
    Ok(())
}

/// Marks the files of modules that are declared behind `#[cfg(test)]` in another file.
fn mark_test_modules(sources: &mut [SourceFile]) {
    let mut marked: Vec<String> = Vec::new();
    for source in sources.iter() {
        let folder = module_folder(&source.path);
        for module in source.test_modules() {
            marked.extend([format!("{folder}/{module}.rs"), format!("{folder}/{module}/")]);
        }
    }
    for source in sources {
        if marked.iter().any(|mark| source.path == *mark || (mark.ends_with('/') && source.path.starts_with(mark))) {
            source.mark_as_test();
        }
    }
}

/// The folder in which the submodules of the file at `path` are.
fn module_folder(path: &str) -> String {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    match file {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        _ => format!("{folder}/{}", file.trim_end_matches(".rs")),
    }
}

fn read(path: &Path) -> Result<String, LoadError> {
    fs::read_to_string(path).map_err(|source| LoadError::Read { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a file in a folder")).expect("a temporary folder");
        fs::write(path, text).expect("a temporary file");
    }

    #[test]
    fn reads_members_and_marks_test_files() {
        let root = tempfile::tempdir().expect("a temporary folder");
        write(root.path(), "Cargo.toml", "[workspace]\nmembers = [\"crates/x\"]\n");
        write(root.path(), "crates/x/Cargo.toml", "[package]\nname = \"corecast-x\"\n");
        write(root.path(), "crates/x/src/lib.rs", "mod a;\n#[cfg(test)]\nmod planted;\n");
        write(root.path(), "crates/x/src/a.rs", "#[cfg(test)]\nmod cases;\n");
        write(root.path(), "crates/x/src/a/cases.rs", "fn f() {}\n");
        write(root.path(), "crates/x/src/planted.rs", "fn f() {}\n");
        write(root.path(), "crates/x/tests/t.rs", "fn f() {}\n");

        let workspace = Workspace::load(root.path()).expect("a workspace");
        assert_eq!(workspace.packages[0].name, "corecast-x");
        let tests: Vec<(&str, bool)> = workspace.sources().map(|(_, s)| (s.path.as_str(), s.test_lines[0])).collect();
        assert_eq!(
            tests,
            [
                ("crates/x/src/a.rs", true),
                ("crates/x/src/a/cases.rs", true),
                ("crates/x/src/lib.rs", false),
                ("crates/x/src/planted.rs", true),
                ("crates/x/tests/t.rs", true)
            ]
        );
    }

    #[test]
    fn an_empty_workspace_is_refused() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let missing = Workspace::load(root.path()).expect_err("no manifest");
        assert!(missing.to_string().contains("cannot read"), "{missing}");
        write(root.path(), "Cargo.toml", "[workspace]\n");
        let empty = Workspace::load(root.path()).expect_err("no members");
        assert!(empty.to_string().contains("names no workspace members"), "{empty}");
    }
}
