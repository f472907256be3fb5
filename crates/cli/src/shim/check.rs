//! `corecast shim check`: what a program calls, what would be served, and what stands in the way.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::elf::{self, ElfError};
use super::family::Family;
use super::libraries::{Loaded, Search};
use super::obstacle::{self, Obstacle};
use super::openmp_settings;
use super::preload;
use super::runtimes::{self, Runtime};
use super::verdict::{Evidence, FamilyVerdict, Verdict, calls_locks_of_c};

/// Functions of sanitizers that are linked into a program.
const SANITIZED: [(&str, &str); 3] =
    [("__asan_init", "AddressSanitizer"), ("__tsan_init", "ThreadSanitizer"), ("__msan_init", "MemorySanitizer")];

/// The outcome.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) program: String,
    pub(crate) kind: Kind,
    pub(crate) architecture: String,
    pub(crate) interpreter: Option<String>,
    pub(crate) obstacles: Vec<Obstacle>,
    pub(crate) families: Vec<FamilyVerdict>,
    pub(crate) runtimes: Vec<Runtime>,
    pub(crate) remarks: Vec<Remark>,
    pub(crate) libraries: Vec<Library>,
    /// Libraries that have to stay the first ones to be preloaded.
    #[serde(skip)]
    pub(crate) sanitizers: Vec<PathBuf>,
}

/// Whether the file is a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Program,
    Library,
}

/// Something to know before the verdicts are believed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Remark {
    /// `dlopen`, `dlvsym`, `sanitizer`, `not_found`, `copy`, `runtimes`, `cancellation`, `tool`, `threads_h`, `symbols` or
    /// `library`.
    pub(crate) kind: &'static str,
    /// For people.
    pub(crate) words: String,
}

/// A library of the program, or of one of its libraries.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Library {
    name: String,
    path: Option<String>,
    needed_by: String,
}

impl Report {
    /// True if a family would be served.
    pub(crate) fn is_served(&self) -> bool {
        self.families.iter().any(|family| family.verdict == Verdict::Served)
    }

    /// False if a library that is opened at run time may make calls that no file shows.
    pub(crate) fn is_seen(&self) -> bool {
        self.families.iter().all(|family| family.verdict != Verdict::Unseen)
    }

    /// The verdict on a family.
    pub(crate) fn of(&self, family: Family) -> Option<&FamilyVerdict> {
        self.families.iter().find(|verdict| verdict.family == family)
    }
}

/// Looks at the file at this path and at its libraries.
///
/// # Errors
/// [`ElfError`] if it is no program and no library.
pub(crate) fn check(path: &Path) -> Result<Report, ElfError> {
    let facts = elf::read(path)?;
    let mut obstacles = obstacle::all(path, &facts);
    let kind = if facts.is_program() { Kind::Program } else { Kind::Library };
    let (architecture, interpreter) = (facts.format.name(), facts.interpreter.clone());
    let files = Search::of_system().all(path, facts);
    obstacles.extend(obstacle::old_glibc(&files, obstacle::newest_glibc_needed()));
    let runtimes = runtimes::all(&files);
    let mut remarks = remarks(&files, &runtimes, kind);
    remarks.extend(openmp_settings::remarks(&runtimes, |name| std::env::var_os(name)));
    let opens = remarks.iter().any(|remark| remark.kind == "dlopen");
    let obstacle = obstacles.first().map(|obstacle| obstacle.why.as_str());
    let evidence = Evidence { files: &files, runtimes: &runtimes, obstacle, opens };
    Ok(Report {
        program: path.to_string_lossy().into_owned(),
        kind,
        architecture,
        interpreter,
        families: Family::ALL.map(|family| evidence.judge(family)).to_vec(),
        obstacles,
        remarks,
        libraries: files.iter().filter_map(Library::of).collect(),
        sanitizers: files.iter().filter(|file| is_sanitizer(file)).filter_map(|file| file.path.clone()).collect(),
        runtimes,
    })
}

impl Library {
    /// `None` of the program itself.
    fn of(file: &Loaded) -> Option<Self> {
        let needed_by = file.needed_by.clone()?;
        let path = file.path.as_ref().map(|path| path.to_string_lossy().into_owned());
        Some(Self { name: file.name.clone(), path, needed_by })
    }
}

fn is_sanitizer(file: &Loaded) -> bool {
    file.needed_by.is_some() && preload::is_sanitizer(&file.name)
}

/// All remarks on these files, the first of which is the program.
fn remarks(files: &[Loaded], runtimes: &[Runtime], kind: Kind) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut add = |kind, words: Option<String>| remarks.extend(words.map(|words| Remark { kind, words }));
    let is_library = kind == Kind::Library;
    add(
        "library",
        is_library.then(|| "it is a library: the program that loads it decides what can be preloaded".into()),
    );
    let no_symbols = files.first().is_some_and(|file| file.facts.imports.is_none() && file.facts.interpreter.is_some());
    add("symbols", no_symbols.then(|| "it has no table of symbols, so that its calls cannot be seen".into()));
    let opens = named(files, |file| file.facts.imports("dlopen") || file.facts.imports("dlmopen"));
    add("dlopen", opens.map(|who| format!("opened at run time by {who}, libraries cannot be seen here")));
    let by_version = named(files, |file| file.facts.imports("dlvsym") && !is_sanitizer(file));
    add("dlvsym", by_version.map(|who| format!("functions that {who} looks for by version are the C library's own")));
    let absent = named(files, |file| file.path.is_none());
    add("not_found", absent.map(|names| format!("not found: {names}; the loader may refuse the program")));
    let copies = runtimes.iter().filter(|runtime| runtime.is_copy).map(|runtime| runtime.library.as_str());
    add("copy", joined(copies).map(|names| format!("a runtime of its own, whose teams are kept apart: {names}")));
    let openmp = || runtimes.iter().filter(|runtime| runtime.is_openmp());
    let several = (openmp().count() > 1).then(|| joined(openmp().map(|runtime| runtime.library.as_str()))).flatten();
    add("runtimes", several.map(|names| format!("several runtimes of OpenMP in one process: {names}")));
    let cancels = named(files, |file| file.facts.imports("GOMP_cancel") || file.facts.imports("__kmpc_cancel"));
    add(
        "cancellation",
        cancels.map(|who| format!("with OMP_CANCELLATION=true nothing of OpenMP is served: {who} cancels")),
    );
    let of_c = named(files, calls_locks_of_c);
    add("threads_h", of_c.map(|who| format!("mtx_* and cnd_* of C are not served: {who} calls them")));
    add("sanitizer", sanitizer(files));
    remarks
}

fn sanitizer(files: &[Loaded]) -> Option<String> {
    let program = files.first()?;
    let linked = SANITIZED.iter().find(|(name, _)| program.facts.definitions.contains(*name)).map(|(_, name)| *name);
    let library = files.iter().find(|file| is_sanitizer(file)).map(|file| file.name.as_str());
    let name = library.or(linked)?;
    Some(format!("{name} has to be loaded before the preload objects, which `corecast run --shim` sees to"))
}

/// The names of those files of which this is true; `None` if it is of none.
fn named(files: &[Loaded], is_meant: impl Fn(&Loaded) -> bool) -> Option<String> {
    const SYSTEM: [&str; 3] = ["libc.so", "libdl.so", "ld-linux"];
    let is_system = |file: &Loaded| SYSTEM.iter().any(|name| file.name.starts_with(name)) && file.path.is_some();
    joined(files.iter().filter(|file| !is_system(file) && is_meant(file)).map(|file| file.name.as_str()))
}

fn joined<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| names.join(", "))
}
