//! `corecast shim check` and `corecast run --shim`, with programs that a C compiler builds here.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use corecast_testing::skipped;
use serde_json::Value;

use crate::program::{Program, Run};

const LOCKS: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int main(int argc, char **argv) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    if (argc > 1 && !strcmp(argv[1], "abort")) abort();
    printf("%s %s\n", argc > 1 ? argv[1] : "-", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "-");
    return argc > 2 ? atoi(argv[2]) : 0;
}
"#;
const TEAMS: &str = r#"
#include <stdio.h>
int main(void) {
    int n = 0;
    #pragma omp parallel
    {
        #pragma omp atomic
        n++;
        #pragma omp barrier
    }
    printf("%d\n", n);
}
"#;
/// Stands for a preload object.
const OBJECT: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static const char *told(const char *name) { return getenv(name) ? getenv(name) : "-"; }
__attribute__((constructor)) static void start(void) {
    printf("loaded %s %s %s %s\n", told("CORECAST_SHIM"), told("CORECAST_LOCK"), told("CORECAST_SHIM_STATS"),
           told("CORECAST_SHIM_ONLY"));
    fflush(stdout);
}
"#;

/// Builds a program in the folder; `None` with a line if the compiler cannot.
fn built(program: &Program, name: &str, source: &str, flags: &[&str]) -> Option<String> {
    let (source, path) = (program.file(&format!("{name}.c"), source), program.path(name).display().to_string());
    let line = [&[source.as_str(), "-o", &path, "-pthread"], flags].concat();
    match Command::new("cc").args(line).output() {
        Ok(done) if done.status.success() => Some(path),
        Ok(done) => {
            skipped(&format!("a program built with {flags:?}"), String::from_utf8_lossy(&done.stderr));
            None
        }
        Err(error) => {
            skipped("programs that a C compiler builds", error);
            None
        }
    }
}

/// The report on a program, which ends with this code.
#[track_caller]
fn checked(program: &Program, path: &str, code: i32) -> Value {
    let run = program.run(&["shim", "check", path, "--json"]);
    assert_eq!(run.code, Some(code), "{} {}", run.stdout, run.stderr);
    run.json()
}

fn family<'a>(report: &'a Value, name: &str) -> &'a Value {
    let families = report["families"].as_array().expect("an array");
    families.iter().find(|family| family["family"] == name).expect("every family is there")
}

fn verdicts(report: &Value) -> [&str; 4] {
    ["omp", "barrier", "lock", "mpi"].map(|name| family(report, name)["verdict"].as_str().expect("a word"))
}

fn kinds<'a>(report: &'a Value, list: &str) -> Vec<&'a str> {
    let entries = report[list].as_array().expect("an array");
    entries.iter().map(|entry| entry["kind"].as_str().expect("a word")).collect()
}

#[test]
fn a_program_with_locks_is_served() {
    let program = Program::new();
    let Some(path) = built(&program, "locks", LOCKS, &[]) else { return };
    let report = checked(&program, &path, 0);
    assert_eq!(verdicts(&report), ["not_used", "not_used", "served", "not_used"]);
    let lock = family(&report, "lock");
    assert_eq!(lock["symbols"], serde_json::json!(["pthread_mutex_lock", "pthread_mutex_unlock"]));
    assert_eq!((&lock["users"][0], &lock["object"]), (&"locks".into(), &"libcorecast_pthread.so".into()));
    assert_eq!(report["obstacles"], serde_json::json!([]));
    let libraries = report["libraries"].as_array().expect("an array");
    assert!(libraries.iter().any(|library| library["name"] == "libc.so.6" && library["path"].is_string()));
    let text = program.run(&["shim", "check", "./locks"]).succeeded().stdout;
    assert!(text.contains("served") && text.contains("2 functions called by locks"), "{text}");
}

#[test]
fn a_team_is_served_by_its_runtime_unless_that_is_linked_in() {
    let program = Program::new();
    let Some(path) = built(&program, "teams", TEAMS, &["-fopenmp"]) else { return };
    let report = checked(&program, &path, 0);
    assert_eq!(family(&report, "omp")["verdict"], "served", "{report}");
    assert_eq!(report["runtimes"][0]["is_linked_in"], false);
    let Some(path) = built(&program, "own", TEAMS, &["-fopenmp", "-static-libgcc", "-Wl,-Bstatic,-lgomp,-Bdynamic"])
    else {
        return;
    };
    let report = program.run(&["shim", "check", &path, "--json"]).json();
    let own = report["runtimes"].as_array().is_some_and(|runtimes| runtimes[0]["is_linked_in"] == true);
    assert!(!own || family(&report, "omp")["verdict"] == "refused", "{report}");
}

#[test]
fn functions_of_libraries_count_and_libraries_beside_the_program_are_found() {
    let program = Program::new();
    let library =
        "#include <pthread.h>\nstatic pthread_barrier_t all;\nint meet(void) { return pthread_barrier_wait(&all); }\n";
    let Some(_) = built(&program, "libmeet.so", library, &["-shared", "-fPIC"]) else { return };
    let folder = program.path("").display().to_string();
    let source = "int meet(void);\nint main(int argc, char **argv) { return argc > 9 ? meet() : 0; }\n";
    let flags = ["-L", &folder, "-lmeet", "-Wl,-rpath,$ORIGIN"];
    let path = built(&program, "user", source, &flags).expect("a compiler is here");
    let report = checked(&program, &path, 0);
    assert_eq!(family(&report, "barrier")["users"], serde_json::json!(["libmeet.so"]));
    let library = program.path("libmeet.so").display().to_string();
    let report = checked(&program, &library, 0);
    assert_eq!((&report["kind"], kinds(&report, "remarks")), (&"library".into(), vec!["library"]));
    program.run(&["run", "--shim", "barrier", "--", &library]).failed(2, "it is a library");
    std::fs::remove_file(&library).expect("there");
    let report = checked(&program, &path, 1);
    assert_eq!(kinds(&report, "remarks"), ["not_found"]);
}

#[test]
fn programs_that_cannot_be_served_are_refused_with_the_reason() {
    let program = Program::new();
    for (name, flags, obstacle, words) in [
        ("static", &["-static"][..], "static", "linked statically"),
        ("static-pie", &["-static-pie"], "static", "linked statically"),
        ("musl", &["-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"], "musl", "its loader is musl's"),
    ] {
        let Some(path) = built(&program, name, LOCKS, flags) else { continue };
        let report = checked(&program, &path, 1);
        assert_eq!(kinds(&report, "obstacles"), [obstacle], "{name}");
        program.run(&["run", "--shim", "lock", "--", &path]).failed(2, words);
    }
    if let Some(path) = built(&program, "narrow", "void _start(void) {}\n", &["-m32", "-nostdlib", "-static"]) {
        let report = checked(&program, &path, 1);
        assert_eq!(kinds(&report, "obstacles"), ["architecture", "static"]);
        assert_eq!(report["architecture"], "i386");
    }
    if let Some(path) = built(&program, "setuid", LOCKS, &[]) {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o4755)).expect("its mode");
        let report = checked(&program, &path, 1);
        assert_eq!((kinds(&report, "obstacles"), verdicts(&report)[2]), (vec!["setuid"], "refused"));
        program.run(&["run", "--shim", "lock", "--", &path]).failed(2, "the loader ignores LD_PRELOAD");
    }
}

#[test]
fn files_that_are_no_programs_are_bad_input() {
    let program = Program::new();
    let text = program.file("text", "hello\n");
    let script = program.file("script", "#!/bin/sh\nexit 0\n");
    let empty = program.file("empty", "");
    let whole = std::fs::read(crate::PROGRAM).expect("readable");
    let cut = program.file("cut", &whole[..100]);
    let noise = program.file("noise", [&whole[..64], &[0xff; 4000][..]].concat());
    for (path, words) in [
        (text.as_str(), "it is no ELF file"),
        (&script, "it is a script of /bin/sh"),
        (&empty, "it is empty"),
        (&cut, "damaged ELF file"),
        (&noise, "damaged ELF file"),
        ("/", "it is a directory"),
        ("/dev/null", "a device"),
        ("no-such-program", "cannot be read"),
    ] {
        program.run(&["shim", "check", path]).failed(2, words);
    }
    program.run(&["run", "--shim", "lock", "--", &script]).failed(2, "a script of /bin/sh");
    program.run(&["run", "--shim", "lock", "--", "no-such-program"]).failed(2, "no program no-such-program in PATH");
}

#[test]
fn libraries_that_are_opened_at_run_time_cannot_be_seen() {
    let program = Program::new();
    let source = "#include <dlfcn.h>\nint main(int argc, char **argv) { return argc > 9 && dlopen(argv[9], 2); }\n";
    let Some(path) = built(&program, "opens", source, &["-ldl"]) else { return };
    let report = checked(&program, &path, 1);
    assert_eq!((verdicts(&report), kinds(&report, "remarks")), (["unseen"; 4], vec!["dlopen"]));
    program.run(&["shim", "check", &path]).failed(1, "nothing that is seen can be served");
}

#[test]
fn what_takes_functions_or_teams_away_from_the_objects_is_told() {
    let program = Program::new();
    let source = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <pthread.h>\nint main(void) {\n\
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;\n\
        return pthread_mutex_lock(&mutex) + !dlvsym(RTLD_DEFAULT, \"pthread_mutex_lock\", \"GLIBC_2.2.5\"); }\n";
    if let Some(path) = built(&program, "by_version", source, &["-ldl"]) {
        let report = checked(&program, &path, 0);
        assert_eq!((verdicts(&report)[2], kinds(&report, "remarks")), ("served", vec!["dlvsym"]));
    }
    if let Some(path) = built(&program, "teams", TEAMS, &["-fopenmp"]) {
        let mut command = program.command(&["shim", "check", &path, "--json"]);
        let run = Run::from(command.env("OMP_CANCELLATION", "true").output().expect("it starts")).succeeded();
        assert!(kinds(&run.json(), "remarks").contains(&"cancellation"), "{}", run.stdout);
    }
}

/// `corecast run` with objects of this test; `None` if they cannot be built.
fn with_object(program: &Program, arguments: &[&str]) -> Option<Command> {
    built(program, "libcorecast_pthread.so", OBJECT, &["-shared", "-fPIC"])?;
    let mut command = program.command(arguments);
    command.env("CORECAST_SHIM_DIR", program.path("")).env_remove("LD_PRELOAD").env_remove("CORECAST_LOCK");
    Some(command)
}

#[test]
fn a_program_runs_with_the_object_and_its_end_is_its_own() {
    let program = Program::new();
    let Some(path) = built(&program, "locks", LOCKS, &[]) else { return };
    let object = program.path("libcorecast_pthread.so").display().to_string();
    let line =
        ["run", "--shim", "lock,barrier", "--lock", "mcs", "--shim-stats", "--shim-only", "l*", "--", &path, "x", "7"];
    let run = Run::from(with_object(&program, &line).expect("a compiler is here").output().expect("it starts"));
    assert_eq!((run.code, run.stdout), (Some(7), format!("loaded lock,barrier mcs 1 l*\nx {object}\n")));
    let mut line = with_object(&program, &["run", "--shim", "lock", "--", &path]).expect("as before");
    let run = Run::from(line.env("LD_PRELOAD", "libm.so.6").output().expect("it starts"));
    assert_eq!(run.stdout, format!("loaded lock auto - -\n- {object}:libm.so.6\n"), "{}", run.stderr);
    let mut line = with_object(&program, &["run", "--shim", "lock", "--", &path, "abort"]).expect("as before");
    assert_eq!(line.output().expect("it starts").status.signal(), Some(6));
    let mut line = with_object(&program, &["run", "-n", "2", "--shim", "lock", "--", &path]).expect("as before");
    let run = Run::from(line.output().expect("it starts")).succeeded();
    assert_eq!(run.stdout.matches("loaded lock auto").count(), 2, "{}", run.stdout);
}

#[test]
fn a_sanitizer_stays_the_first() {
    let program = Program::new();
    let Some(path) = built(&program, "checked", LOCKS, &["-fsanitize=address"]) else { return };
    let report = checked(&program, &path, 0);
    assert!(kinds(&report, "remarks").contains(&"sanitizer"), "{report}");
    let mut line = with_object(&program, &["run", "--shim", "lock", "--", &path]).expect("a compiler is here");
    let run = Run::from(line.output().expect("it starts")).succeeded();
    assert!(run.stdout.contains("loaded lock auto") && run.stdout.contains("asan"), "{}", run.stdout);
}

#[test]
fn wrong_options_are_told() {
    let program = Program::new();
    let own = crate::PROGRAM;
    for (arguments, words) in [
        (&["run", "--shim", "locks", "--", own][..], "possible values: omp, barrier, lock, mpi"),
        (&["run", "--shim", "lock", "--lock", "no", "--", own], "possible values: tas"),
        (&["run", "--shim", "barrier", "--lock", "mcs", "--", own], "is not among the families"),
        (&["run", "--lock", "mcs", "--", own], "--shim"),
        (&["run", "--shim", "lock", "--", own], "cargo build --release -p corecast-shim-pthread"),
    ] {
        let mut command = program.command(arguments);
        command.env("CORECAST_SHIM_DIR", program.path("nowhere"));
        let run = Run::from(command.output().expect("it starts"));
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", run.stderr);
        let told = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(words), "{words} is not in {told}");
    }
    let mut command = program.command(&["run", "--shim", "lock", "--pin", "--", own]);
    built(&program, "libcorecast_pthread.so", OBJECT, &["-shared", "-fPIC"]);
    let run = Run::from(command.env("CORECAST_SHIM_DIR", program.path("")).output().expect("it starts"));
    assert_eq!(run.code, Some(2), "{}", run.stderr);
}
