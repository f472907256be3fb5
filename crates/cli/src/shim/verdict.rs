//! Whether a family of functions would be served in a program, judged by what its files import.

use std::collections::BTreeSet;

use serde::Serialize;

use super::family::Family;
use super::libraries::Loaded;
use super::openmp_entries::is_unknown_maker;
use super::runtimes::{Runtime, Standard};

/// How a family fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// Something calls it, and the shim would answer.
    Served,
    /// Nothing calls it.
    NotUsed,
    /// Nothing that can be seen calls it, but libraries that are opened at run time may.
    Unseen,
    /// Something calls it, and the shim cannot be loaded, or would not see all of it.
    Refused,
}

/// The verdict on one family.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct FamilyVerdict {
    pub(crate) family: Family,
    /// The file of the object that serves it.
    pub(crate) object: &'static str,
    pub(crate) verdict: Verdict,
    /// For people.
    pub(crate) why: String,
    /// The functions that would be served.
    pub(crate) symbols: Vec<String>,
    /// The files that call them.
    pub(crate) users: Vec<String>,
}

/// All files of a program, and what is known of them.
pub(crate) struct Evidence<'a> {
    pub(crate) files: &'a [Loaded],
    pub(crate) runtimes: &'a [Runtime],
    /// Why nothing can be preloaded, if so.
    pub(crate) obstacle: Option<&'a str>,
    /// Whether files open libraries at run time.
    pub(crate) opens: bool,
}

impl Evidence<'_> {
    /// The verdict on a family.
    pub(crate) fn judge(&self, family: Family) -> FamilyVerdict {
        let calls = self.calls(family);
        let users: Vec<String> = calls.iter().map(|(user, _)| user.clone()).collect();
        let symbols: BTreeSet<String> = calls.into_iter().flat_map(|(_, symbols)| symbols).collect();
        let (verdict, why) = if symbols.is_empty() {
            self.uncalled(family)
        } else {
            match self.obstacle.map(str::to_owned).or_else(|| self.refusal(family)) {
                Some(why) => (Verdict::Refused, why),
                None => (Verdict::Served, served(family, self.runtimes)),
            }
        };
        let symbols = symbols.into_iter().collect();
        FamilyVerdict { family, object: family.object().file_name(), verdict, why, symbols, users }
    }

    /// The functions of the family that each file calls, those files left out that define them.
    fn calls(&self, family: Family) -> Vec<(String, Vec<String>)> {
        let calls = self.files.iter().filter_map(|file| {
            let imports = file.facts.imports.iter().flatten();
            let called: Vec<String> = imports.filter(|name| is_of(family, name)).cloned().collect();
            (!called.is_empty() && !is_part_of_system(file)).then(|| (file.name.clone(), called))
        });
        calls.collect()
    }

    fn uncalled(&self, family: Family) -> (Verdict, String) {
        if let Some(linked_in) = self.linked_in(family) {
            return (Verdict::Refused, linked_in);
        }
        if self.files.first().is_some_and(|program| program.facts.imports.is_none()) && self.obstacle.is_none() {
            return (Verdict::Unseen, "the file has no table of symbols".to_owned());
        }
        if family == Family::Lock && self.files.iter().any(calls_locks_of_c) {
            let why = "its locks are mtx_* and cnd_* of C, which the C library does not pass through the loader";
            return (Verdict::Refused, why.to_owned());
        }
        let called = called(family);
        if self.opens && self.obstacle.is_none() {
            return (Verdict::Unseen, format!("no file that is seen here {called}"));
        }
        (Verdict::NotUsed, format!("nothing {called}"))
    }

    /// Why the shim of this family is not to be loaded.
    fn refusal(&self, family: Family) -> Option<String> {
        if let Some(linked_in) = self.linked_in(family) {
            return Some(linked_in);
        }
        if matches!(family, Family::Omp | Family::Lock) && self.is_watched() {
            return Some("ThreadSanitizer has to see it, so the object passes everything on".to_owned());
        }
        if family == Family::Lock && self.calls_only_unknown_locks() {
            return Some(
                "the layout of mutexes and the like is known on x86-64 only; spin locks are served".to_owned(),
            );
        }
        if family != Family::Omp {
            return None;
        }
        if let Some(tool) = self.other_tool() {
            return Some(format!("{tool} is the tool of the runtime, so that the shim cannot be it"));
        }
        let imports = self.files.iter().flat_map(|file| file.facts.imports.iter().flatten());
        let unknown: BTreeSet<&str> = imports.map(String::as_str).filter(|name| is_unknown_maker(name)).collect();
        let unknown: Vec<&str> = unknown.into_iter().collect();
        (!unknown.is_empty()).then(|| format!("calls {}, which may make teams or tasks unseen", unknown.join(", ")))
    }

    /// True on processors for which the object has no locks but spin locks, if none of these is called.
    fn calls_only_unknown_locks(&self) -> bool {
        let is_known = self.files.first().is_none_or(|program| program.facts.format.name() == "x86-64");
        let is_spin = |name: &String| name.starts_with("pthread_spin_");
        !is_known && !self.calls(Family::Lock).iter().flat_map(|(_, symbols)| symbols).any(is_spin)
    }

    /// The file that is a tool of OpenMP's runtimes, if all of these ask for one: each has one tool.
    fn other_tool(&self) -> Option<&str> {
        let mut openmp = self.runtimes.iter().filter(|runtime| runtime.is_openmp()).peekable();
        let asks = openmp.peek().is_some() && openmp.all(Runtime::has_tools);
        let is_tool = |file: &&Loaded| {
            let defines = |name| file.facts.definitions.contains(name);
            defines("ompt_start_tool") && !defines("__kmpc_barrier")
        };
        self.files.iter().find(is_tool).filter(|_| asks).map(|file| file.name.as_str())
    }

    /// True if ThreadSanitizer's runtime is in the program or among its libraries.
    fn is_watched(&self) -> bool {
        self.files.iter().any(|file| file.facts.definitions.contains("__tsan_init"))
    }

    /// A runtime in the program itself: its calls do not pass the loader.
    fn linked_in(&self, family: Family) -> Option<String> {
        let standard = standard(family)?;
        let runtime = self.runtimes.iter().find(|runtime| runtime.is_linked_in && runtime.standard() == standard)?;
        Some(format!("{} is linked into the program, whose calls of it do not pass the loader", runtime.runtime))
    }
}

fn standard(family: Family) -> Option<Standard> {
    match family {
        Family::Omp => Some(Standard::OpenMp),
        Family::Mpi => Some(Standard::Mpi),
        Family::Barrier | Family::Lock => None,
    }
}

/// True of a function that the shim of this family replaces.
fn is_of(family: Family, name: &str) -> bool {
    match family {
        Family::Omp => matches!(
            name,
            "GOMP_barrier"
                | "GOMP_loop_end"
                | "GOMP_sections_end"
                | "GOMP_single_start"
                | "GOMP_single_copy_start"
                | "GOMP_single_copy_end"
                | "__kmpc_barrier"
        ),
        Family::Barrier => name.starts_with("pthread_barrier_"),
        Family::Lock => LOCKS.iter().any(|prefix| name.starts_with(prefix)),
        Family::Mpi => COLLECTIVES.contains(&name.strip_suffix("_c").unwrap_or(name)),
    }
}

/// True of a file that uses C's own mutexes or condition variables.
pub(super) fn calls_locks_of_c(file: &Loaded) -> bool {
    let is_one = |name: &String| name.starts_with("mtx_") || name.starts_with("cnd_");
    file.facts.imports.iter().flatten().any(is_one) && !is_part_of_system(file)
}

const LOCKS: [&str; 4] = ["pthread_mutex_", "pthread_cond_", "pthread_rwlock_", "pthread_spin_"];
const COLLECTIVES: [&str; 10] = [
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Reduce",
    "MPI_Allreduce",
    "MPI_Allgather",
    "mpi_barrier_",
    "mpi_bcast_",
    "mpi_reduce_",
    "mpi_allreduce_",
    "mpi_allgather_",
];

/// True of the C library's files, and of those that define MPI: calls within them are their own affair.
fn is_part_of_system(file: &Loaded) -> bool {
    let is_named = ["libc.so", "libpthread.so", "ld-linux"].iter().any(|name| file.name.starts_with(name));
    is_named || file.facts.definitions.contains("PMPI_Barrier")
}

/// The rest of a sentence that begins with "nothing".
fn called(family: Family) -> &'static str {
    match family {
        Family::Omp => "meets at a barrier of OpenMP",
        Family::Barrier => "calls pthread_barrier_*",
        Family::Lock => "calls pthread_mutex_*, pthread_cond_*, pthread_rwlock_* or pthread_spin_*",
        Family::Mpi => "calls MPI_Barrier, MPI_Bcast, MPI_Reduce, MPI_Allreduce or MPI_Allgather",
    }
}

/// The reason for which it is served, with the runtimes behind.
fn served(family: Family, runtimes: &[Runtime]) -> String {
    let of_family = runtimes.iter().filter(|runtime| Some(runtime.standard()) == standard(family));
    let names: Vec<&str> = of_family.map(|runtime| runtime.runtime).collect();
    match (family, names.is_empty()) {
        (Family::Barrier, _) => "pthread barriers that are not shared with other processes".to_owned(),
        (Family::Lock, _) => {
            "mutexes, condition variables and the like that are not shared with other processes".to_owned()
        }
        (_, false) => format!("of {}", names.join(" and ")),
        (_, true) => "the runtime was not found among the libraries".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::elf::{Elf, Format};
    use super::super::libraries::Search;
    use super::*;
    use std::path::Path;

    fn program(imports: &[&str], definitions: &[&str]) -> Vec<Loaded> {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let (imports, definitions) = (Some(set(imports)), set(definitions));
        let format = Format { machine: object::elf::EM_X86_64, ..Format::own() };
        let facts = Elf { format, is_fixed: true, imports, definitions, ..Elf::default() };
        Search::of_system().all(Path::new("/bin/a"), facts)
    }

    fn judge(files: &[Loaded], family: Family, opens: bool) -> FamilyVerdict {
        let runtimes = super::super::runtimes::all(files);
        Evidence { files, runtimes: &runtimes, obstacle: None, opens }.judge(family)
    }

    #[test]
    fn what_is_called_is_served_and_what_is_not_is_not_used_or_unseen() {
        let files = program(&["pthread_mutex_lock", "pthread_create"], &[]);
        let lock = judge(&files, Family::Lock, false);
        assert_eq!((lock.verdict, lock.symbols.as_slice()), (Verdict::Served, &["pthread_mutex_lock".to_owned()][..]));
        assert_eq!(lock.users, ["a"]);
        assert_eq!(judge(&files, Family::Barrier, false).verdict, Verdict::NotUsed);
        assert_eq!(judge(&files, Family::Barrier, true).verdict, Verdict::Unseen);
    }

    #[test]
    fn an_unknown_maker_of_teams_and_a_runtime_in_the_program_are_refused() {
        let served = judge(&program(&["GOMP_barrier", "GOMP_parallel"], &[]), Family::Omp, false);
        assert_eq!(served.verdict, Verdict::Served);
        let unknown = judge(&program(&["GOMP_barrier", "GOMP_parallel_tiles"], &[]), Family::Omp, false);
        assert_eq!(unknown.verdict, Verdict::Refused);
        assert!(unknown.why.contains("GOMP_parallel_tiles"), "{}", unknown.why);
        let linked_in = judge(&program(&[], &["GOMP_barrier"]), Family::Omp, false);
        assert!(linked_in.verdict == Verdict::Refused && linked_in.why.contains("libgomp"), "{}", linked_in.why);
    }

    #[test]
    fn what_a_sanitizer_watches_and_locks_of_c_are_refused() {
        let watched = program(&["pthread_mutex_lock", "GOMP_barrier", "pthread_barrier_wait"], &["__tsan_init"]);
        let verdicts =
            [Family::Lock, Family::Omp, Family::Barrier].map(|family| judge(&watched, family, false).verdict);
        assert_eq!(verdicts, [Verdict::Refused, Verdict::Refused, Verdict::Served]);
        let of_c = judge(&program(&["mtx_lock", "cnd_wait"], &[]), Family::Lock, false);
        assert!(of_c.verdict == Verdict::Refused && of_c.why.contains("mtx_"), "{}", of_c.why);
        let both = judge(&program(&["mtx_lock", "pthread_mutex_lock"], &[]), Family::Lock, false);
        assert_eq!(both.verdict, Verdict::Served);
    }

    #[test]
    fn locks_are_served_where_their_layout_is_known() {
        let of_machine = |imports: &[&str], machine| {
            let mut files = program(imports, &[]);
            files[0].facts.format.machine = machine;
            judge(&files, Family::Lock, false).verdict
        };
        let (x86_64, aarch64) = (object::elf::EM_X86_64, object::elf::EM_AARCH64);
        assert_eq!(of_machine(&["pthread_mutex_lock"], x86_64), Verdict::Served);
        assert_eq!(of_machine(&["pthread_mutex_lock"], aarch64), Verdict::Refused);
        assert_eq!(of_machine(&["pthread_mutex_lock", "pthread_spin_lock"], aarch64), Verdict::Served);
    }

    #[test]
    fn a_runtime_with_another_tool_is_refused() {
        let judge = |definitions: &[&str], runtimes: &[&'static str]| {
            let files = program(&["__kmpc_barrier"], definitions);
            let runtimes: Vec<_> = runtimes.iter().map(|name| Runtime::named(name)).collect();
            Evidence { files: &files, runtimes: &runtimes, obstacle: None, opens: false }.judge(Family::Omp)
        };
        let refused = judge(&["ompt_start_tool"], &["libomp"]);
        assert!(refused.verdict == Verdict::Refused && refused.why.contains("a is the tool"), "{}", refused.why);
        assert_eq!(judge(&[], &["libomp"]).verdict, Verdict::Served);
        assert_eq!(judge(&["ompt_start_tool"], &["libomp", "libgomp"]).verdict, Verdict::Served);
        assert_eq!(judge(&["ompt_start_tool"], &[]).verdict, Verdict::Served);
    }

    #[test]
    fn an_obstacle_refuses_what_is_called_only() {
        let files = program(&["MPI_Bcast_c"], &[]);
        let evidence = Evidence { files: &files, runtimes: &[], obstacle: Some("it is setuid"), opens: true };
        assert_eq!(evidence.judge(Family::Mpi).verdict, Verdict::Refused);
        assert_eq!(evidence.judge(Family::Omp).verdict, Verdict::NotUsed);
    }
}
