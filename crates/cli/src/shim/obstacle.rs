//! The reasons for which nothing can be preloaded into a program, whatever it calls.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::getxattr;
use serde::Serialize;

use super::elf::{self, Elf, Format};
use super::family::Object;
use super::libraries::Loaded;
use super::objects;

/// Bits of a file's mode by which a program runs as somebody else.
const SETUID: u32 = 0o4000;
const SETGID: u32 = 0o2000;

/// One reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Obstacle {
    pub(crate) kind: ObstacleKind,
    /// For people.
    pub(crate) why: String,
}

/// The kinds of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ObstacleKind {
    /// For other processors than the preload objects, or of another width.
    Architecture,
    /// No loader is started.
    Static,
    /// The loader of musl, which cannot load libraries of glibc.
    Musl,
    /// Another loader than glibc's.
    Loader,
    /// An older glibc than the preload objects were built with.
    Glibc,
    /// Runs as its owner.
    Setuid,
    /// Runs with its group.
    Setgid,
    /// Runs with capabilities of its own.
    Capabilities,
}

/// Those of the file at this path.
pub(crate) fn all(path: &Path, facts: &Elf) -> Vec<Obstacle> {
    let of_loader = [other_processor(facts.format), no_glibc(facts)];
    let obstacle = |(kind, why): (ObstacleKind, String)| Obstacle { kind, why };
    of_loader.into_iter().flatten().chain(privileges(path)).map(obstacle).collect()
}

fn other_processor(format: Format) -> Option<(ObstacleKind, String)> {
    let own = Format::own();
    let words = || format!("it is a program for {}, and the preload objects are for {}", format.name(), own.name());
    (format != own).then(|| (ObstacleKind::Architecture, words()))
}

fn no_glibc(facts: &Elf) -> Option<(ObstacleKind, String)> {
    let Some(interpreter) = &facts.interpreter else {
        let words = "it is linked statically: no loader is started that could preload anything";
        return facts.is_static().then(|| (ObstacleKind::Static, words.to_owned()));
    };
    let name = interpreter.rsplit('/').next().unwrap_or_default();
    if name.starts_with("ld-musl") {
        let words = format!("its loader is musl's, {interpreter}; the preload objects need glibc's");
        return Some((ObstacleKind::Musl, words));
    }
    let is_known = name.starts_with("ld-linux") || name.starts_with("ld64") || name.starts_with("ld.so");
    let words = || format!("its loader is {interpreter}; the preload objects need glibc's");
    (!is_known).then(|| (ObstacleKind::Loader, words()))
}

/// The preload object that needs the newest glibc, and the N of that version 2.N; `None` if no object is there.
pub(crate) fn newest_glibc_needed() -> Option<(&'static str, u32)> {
    let needed =
        |object: Object| Some((object.file_name(), elf::read(&objects::find(object).ok()?).ok()?.newest_glibc?));
    [Object::Omp, Object::Pthread, Object::Mpi].into_iter().filter_map(needed).max_by_key(|(_, version)| *version)
}

/// The obstacle that the C library among these files is, if it is older than the one that this object needs: the loader then says
/// that the object cannot be preloaded, and starts the program without it.
pub(crate) fn old_glibc(files: &[Loaded], needed: Option<(&'static str, u32)>) -> Option<Obstacle> {
    let (object, needed) = needed?;
    let library = files.iter().find(|file| file.name.starts_with("libc.so."))?;
    let newest = library.facts.newest_glibc.filter(|newest| *newest < needed)?;
    let path = library.path.as_ref()?.display();
    let why = format!("its C library, {path}, is glibc 2.{newest}, and {object} needs 2.{needed}");
    Some(Obstacle { kind: ObstacleKind::Glibc, why })
}

/// The system starts such a program in secure mode, in which the loader leaves `LD_PRELOAD` out.
fn privileges(path: &Path) -> Vec<(ObstacleKind, String)> {
    const SECURE: &str = "for which the loader ignores LD_PRELOAD";
    let mode = path.metadata().map_or(0, |metadata| metadata.permissions().mode());
    let has_capabilities = getxattr(path, c"security.capability", &mut [0; 64]).is_ok();
    [
        (mode & SETUID != 0, ObstacleKind::Setuid, "it is setuid"),
        (mode & SETGID != 0, ObstacleKind::Setgid, "it is setgid"),
        (has_capabilities, ObstacleKind::Capabilities, "it has file capabilities"),
    ]
    .into_iter()
    .filter(|(is_there, ..)| *is_there)
    .map(|(_, kind, words)| (kind, format!("{words}, {SECURE}")))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::libraries::Search;
    use super::*;

    fn kinds(facts: &Elf) -> Vec<ObstacleKind> {
        all(Path::new("/nowhere"), facts).into_iter().map(|obstacle| obstacle.kind).collect()
    }

    #[test]
    fn each_loader_is_told() {
        let with = |interpreter: Option<&str>| {
            let interpreter = interpreter.map(str::to_owned);
            kinds(&Elf { format: Format::own(), is_fixed: true, interpreter, ..Elf::default() })
        };
        assert_eq!(with(Some("/lib64/ld-linux-x86-64.so.2")), []);
        assert_eq!(with(Some("/lib/ld-musl-x86_64.so.1")), [ObstacleKind::Musl]);
        assert_eq!(with(Some("/system/bin/linker64")), [ObstacleKind::Loader]);
        assert_eq!(with(None), [ObstacleKind::Static]);
        assert_eq!(kinds(&Elf { format: Format::own(), ..Elf::default() }), [], "a library has no loader");
    }

    #[test]
    fn an_older_glibc_than_an_object_needs_is_told() {
        let own = std::env::current_exe().expect("a program has a path");
        let files = Search::of_system().all(&own, elf::read(&own).expect("a program"));
        let found = old_glibc(&files, Some(("x.so", 999))).expect("no glibc has this version yet");
        assert_eq!(found.kind, ObstacleKind::Glibc);
        assert!(
            found.why.contains("libc.so.6, is glibc 2.") && found.why.ends_with(", and x.so needs 2.999"),
            "{found:?}"
        );
        assert_eq!(old_glibc(&files, Some(("x.so", 17))), None);
        assert_eq!(old_glibc(&files, None), None, "no object is there");
    }

    #[test]
    fn other_processors_and_privileges_are_told() {
        let narrow = Format { is_64: false, ..Format::own() };
        assert_eq!(kinds(&Elf { format: narrow, ..Elf::default() }), [ObstacleKind::Architecture]);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "").expect("written");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o6755)).expect("its mode");
        let found: Vec<ObstacleKind> = privileges(&path).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(found, [ObstacleKind::Setuid, ObstacleKind::Setgid]);
    }
}
