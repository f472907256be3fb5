//! A program's libraries, found as the loader would find them, and theirs.
//!
//! A name without a slash is looked for in the folders of `DT_RPATH` (of a file without `DT_RUNPATH`, and of those that need
//! it), of `LD_LIBRARY_PATH`, of `DT_RUNPATH`, in the loader's cache, and in the system's folders, and a file for other
//! processors is passed over. The loader itself is not started: it would run code of a program that is only to be looked at.
//! Source: `ld.so(8)`.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::elf::{self, Elf, Format};
use super::ld_cache::LdCache;

/// The most libraries that are looked at.
const MOST: usize = 1024;
/// The folder names that `$LIB` may stand for, and the system's folders.
const LIB: [&str; 3] = ["lib/x86_64-linux-gnu", "lib64", "lib"];
const SYSTEM: [&str; 8] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// One file that is loaded with a program: itself, or a library.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// The name by which it was asked for.
    pub(crate) name: String,
    /// Where it is; `None` if there is none, or none that can be read.
    pub(crate) path: Option<PathBuf>,
    pub(crate) facts: Elf,
    /// The name of the first one that needs it; `None` of the program.
    pub(crate) needed_by: Option<String>,
    /// The folders of `DT_RPATH` that its libraries inherit.
    inherited: Vec<PathBuf>,
}

/// Looks for libraries.
#[derive(Debug)]
pub(crate) struct Search {
    cache: LdCache,
    /// The folders of `LD_LIBRARY_PATH`.
    asked: Vec<PathBuf>,
}

impl Search {
    /// As a program that this one starts would.
    pub(crate) fn of_system() -> Self {
        Self::new(LdCache::of_system(), std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default())
    }

    fn new(cache: LdCache, asked: OsString) -> Self {
        let asked = std::env::split_paths(&asked).filter(|folder| !folder.as_os_str().is_empty()).collect();
        Self { cache, asked }
    }

    /// The program, then its libraries in the order in which they are loaded.
    pub(crate) fn all(&self, path: &Path, facts: Elf) -> Vec<Loaded> {
        let format = facts.format;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let program = Loaded { name, path: Some(path.to_owned()), facts, needed_by: None, inherited: Vec::new() };
        let (mut waiting, mut all) = (VecDeque::from([program]), Vec::new());
        let mut seen = BTreeSet::new();
        while let Some(mut loaded) = waiting.pop_front() {
            loaded.inherited.extend(loaded.own_folders(&loaded.facts.rpath));
            for name in &loaded.facts.needed {
                if seen.len() < MOST && seen.insert(name.clone()) {
                    waiting.push_back(self.library(name, &loaded, format));
                }
            }
            all.push(loaded);
        }
        all
    }

    fn library(&self, name: &str, needed_by: &Loaded, format: Format) -> Loaded {
        let found = self.places(name, needed_by).into_iter().find_map(|path| {
            let facts = elf::read(&path).ok().filter(|facts| facts.format == format)?;
            Some((path, facts))
        });
        let (path, facts) = found.map_or((None, Elf::default()), |(path, facts)| (Some(path), facts));
        let inherited = needed_by.inherited.clone();
        Loaded { name: name.to_owned(), path, facts, needed_by: Some(needed_by.name.clone()), inherited }
    }

    /// All places where it might be, in the loader's order.
    fn places(&self, name: &str, needed_by: &Loaded) -> Vec<PathBuf> {
        if name.contains('/') {
            return needed_by.own_folders(std::slice::from_ref(&name.to_owned()));
        }
        let runpath = needed_by.own_folders(&needed_by.facts.runpath);
        let rpath: &[PathBuf] = if runpath.is_empty() { &needed_by.inherited } else { &[] };
        let in_folder = |folder: &PathBuf| folder.join(name);
        let before = rpath.iter().chain(&self.asked).chain(&runpath).map(in_folder);
        let system = SYSTEM.iter().map(|folder| Path::new(folder).join(name));
        before.chain(self.cache.paths(name).iter().cloned()).chain(system).collect()
    }
}

impl Loaded {
    /// Folders as this file writes them, with the loader's words replaced. `$PLATFORM` is no folder of today.
    fn own_folders(&self, written: &[String]) -> Vec<PathBuf> {
        let origin = self.path.as_deref().and_then(|path| path.canonicalize().ok());
        let origin = origin.as_deref().and_then(Path::parent).unwrap_or(Path::new(".")).to_string_lossy().into_owned();
        let folders = written.iter().filter(|folder| !folder.is_empty()).flat_map(|folder| {
            let folder = folder.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin).replace("${LIB}", "$LIB");
            let of_lib = |lib: &&str| PathBuf::from(folder.replace("$LIB", lib));
            if folder.contains("$LIB") { LIB.iter().map(of_lib).collect() } else { vec![PathBuf::from(folder)] }
        });
        folders.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(path: &Path, facts: Elf) -> Loaded {
        Loaded { name: "a".to_owned(), path: Some(path.to_owned()), facts, needed_by: None, inherited: Vec::new() }
    }

    #[test]
    fn the_loader_s_words_are_replaced() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "").expect("written");
        let origin = folder.path().canonicalize().expect("there");
        let program = loaded(&path, Elf::default());
        let folders = program.own_folders(&["$ORIGIN/../lib".to_owned(), "${ORIGIN}".to_owned(), String::new()]);
        assert_eq!(folders, [origin.join("../lib"), origin]);
        assert_eq!(program.own_folders(&["/opt/$LIB".to_owned()])[1], PathBuf::from("/opt/lib64"));
    }

    #[test]
    fn folders_are_looked_into_in_the_loader_s_order() {
        let search = Search::new(LdCache::default(), OsString::from("/asked::"));
        let facts = Elf { rpath: vec!["/r".to_owned()], ..Elf::default() };
        let mut program = loaded(Path::new("/bin/a"), facts);
        program.inherited = program.own_folders(&program.facts.rpath);
        let places = search.places("libx.so", &program);
        assert_eq!(places[..2], [PathBuf::from("/r/libx.so"), PathBuf::from("/asked/libx.so")]);
        program.facts.runpath = vec!["/u".to_owned()];
        let places = search.places("libx.so", &program);
        assert_eq!(places[..2], [PathBuf::from("/asked/libx.so"), PathBuf::from("/u/libx.so")]);
        assert_eq!(search.places("/l/libx.so", &program), [PathBuf::from("/l/libx.so")]);
    }

    #[test]
    fn this_program_s_libraries_are_found() {
        let path = std::env::current_exe().expect("a program has a path");
        let all = Search::of_system().all(&path, elf::read(&path).expect("a program"));
        let libc = all.iter().find(|loaded| loaded.name.starts_with("libc.so")).expect("every program needs it");
        assert!(libc.path.is_some() && libc.needed_by.is_some(), "{:?}", libc.path);
        assert!(libc.facts.definitions.contains("pthread_mutex_lock"));
        let names: BTreeSet<_> = all.iter().map(|loaded| &loaded.name).collect();
        assert_eq!(names.len(), all.len(), "each is there once");
    }
}
