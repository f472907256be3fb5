//! Two runtimes in one process: libraries that are opened privately, each with a copy of the runtime, as in Python's wheels.

use std::path::PathBuf;
use std::process::Command;

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

fn host(output: &str, flag: Option<&str>) -> Option<Program> {
    let path = built().join(output);
    let mut command = Command::new("gcc");
    command.args(["-O2"]).args(flag).arg("-o").arg(&path).arg(sources().join("host.c")).arg("-ldl");
    compile(command).then(|| Program::at(path))
}

/// The runtime as the compiler finds it.
fn runtime() -> Option<PathBuf> {
    let output = Command::new("gcc").arg(format!("-print-file-name={RUNTIME}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    path.is_absolute().then_some(path)
}

#[test]
fn two_runtimes_do_not_share_a_team() {
    let (Some(one), Some(runtime)) = (library("libone.so"), runtime()) else {
        return skipped("two runtimes", "gcc does not tell where its runtime is");
    };
    let two = built().join("libtwo.so");
    renamed_copy(&one, &two, RUNTIME, COPY).expect("a copy of the library");
    renamed_copy(&runtime, &built().join(COPY), RUNTIME, COPY).expect("a copy of the runtime");
    let folder = built().display().to_string();
    let variables = [("LD_LIBRARY_PATH", folder.as_str())];
    let [one, two] = [one, two].map(|path| path.display().to_string());
    for (name, flag) in [("host", None), ("host-with-openmp", Some("-fopenmp"))] {
        let Some(host) = host(name, flag) else { return };
        for threads in ["2", "4"] {
            host.is_the_same(&[threads, &one, &two], &variables);
            host.is_the_same(&[threads, &two, &one], &variables);
        }
        let served = host.with_object(&["2", &one, &two], &[variables[0], ("CORECAST_SHIM_STATS", "1")]);
        assert!(served.errors.contains("corecast omp: barriers: served"), "{served:?}");
    }
}
