//! Two runtimes in one process: libraries that are opened privately, each with a copy of the runtime, as in Python's wheels.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use corecast_testing::skipped;

use crate::launch::{Program, built, compile, renamed_copy, sources};

const RUNTIME: &str = "libgomp.so.1";
/// Of the same length, so that it can stand in its place.
const COPY: &str = "libgomq.so.1";

fn library(output: &str) -> Option<PathBuf> {
    let path = built().join(output);
    let mut command = Command::new("gcc");
    command.args(["-O2", "-fopenmp", "-shared", "-fPIC", "-o"]).arg(&path).arg(sources().join("plugin.c"));
    compile(command).then_some(path)
}

fn host(output: &str, source: &str, flag: Option<&str>) -> Option<Program> {
    let path = built().join(output);
    let mut command = Command::new("gcc");
    command.args(["-O2"]).args(flag).arg("-o").arg(&path).arg(sources().join(source)).arg("-ldl");
    compile(command).then(|| Program::at(path))
}

/// The runtime as the compiler finds it.
fn runtime() -> Option<PathBuf> {
    let output = Command::new("gcc").arg(format!("-print-file-name={RUNTIME}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    path.is_absolute().then_some(path)
}

/// A library with the runtime, and a copy of it with a copy of the runtime. `None`, and a line that says so, without a compiler.
fn pair() -> Option<[PathBuf; 2]> {
    static PAIR: OnceLock<Option<[PathBuf; 2]>> = OnceLock::new();
    let build = || {
        let (Some(one), Some(runtime)) = (library("libone.so"), runtime()) else {
            skipped("two runtimes", "gcc does not tell where its runtime is");
            return None;
        };
        let two = built().join("libtwo.so");
        renamed_copy(&one, &two, RUNTIME, COPY).expect("a copy of the library");
        renamed_copy(&runtime, &built().join(COPY), RUNTIME, COPY).expect("a copy of the runtime");
        Some([one, two])
    };
    PAIR.get_or_init(build).clone()
}

/// Where the loader finds the copy of the runtime.
fn folder() -> (&'static str, &'static str) {
    ("LD_LIBRARY_PATH", built().to_str().expect("a folder of plain letters"))
}

#[test]
fn two_runtimes_do_not_share_a_team() {
    let Some(pair) = pair() else { return };
    let [one, two] = pair.map(|path| path.display().to_string());
    for (name, flag) in [("host", None), ("host-with-openmp", Some("-fopenmp"))] {
        let Some(host) = host(name, "host.c", flag) else { return };
        for threads in ["2", "4"] {
            host.is_the_same(&[threads, &one, &two], &[folder()]);
            host.is_the_same(&[threads, &two, &one], &[folder()]);
        }
        let served = host.with_object(&["2", &one, &two], &[folder(), ("CORECAST_SHIM_STATS", "1")]);
        assert!(served.errors.contains("corecast omp: barriers: served"), "{served:?}");
    }
}

/// A package of Python may have a library for each of its modules.
#[test]
fn any_number_of_libraries_is_served() {
    let (Some(pair), Some(loads)) = (pair(), host("loads", "loads.c", None)) else { return };
    let copies = (0..40).map(|number| {
        let copy = built().join(format!("libcopy-{number}.so"));
        std::fs::copy(&pair[number % 2], &copy).expect("a copy of the library");
        copy.display().to_string()
    });
    let arguments: Vec<String> = ["2".to_owned(), "keep".to_owned()].into_iter().chain(copies).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    loads.is_the_same(&arguments, &[folder()]);
    let served = loads.with_object(&arguments, &[folder(), ("CORECAST_SHIM_STATS", "1")]);
    assert!(served.errors.contains("corecast omp: regions: served 120, diverted 0, passed 0"), "{served:?}");
}

/// The second library lies where the first one was, and has another runtime.
#[test]
fn a_library_that_follows_a_closed_one_has_its_own_runtime() {
    let (Some(pair), Some(loads)) = (pair(), host("loads", "loads.c", None)) else { return };
    let [one, two] = pair.map(|path| path.display().to_string());
    for threads in ["1", "2", "4"] {
        loads.is_the_same(&[threads, "close", &one, &two], &[folder()]);
    }
}
