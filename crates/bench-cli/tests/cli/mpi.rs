//! `corecast bench mpi` with benchmarks of others, for which small programs stand in that print their tables. No MPI library is
//! found in these tests.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::Value;

use crate::fields::assert_fields;
use crate::program::{Program, Run};

const REPORT: [&str; 12] = [
    "machine",
    "commit",
    "seed",
    "quick",
    "busy",
    "preset",
    "warnings",
    "rows",
    "foreign",
    "foreign_left_out",
    "published",
    "gates",
];
const FOREIGN: [&str; 9] =
    ["program", "op", "bytes", "ranks", "oversubscribed", "without_us", "with_us", "speedup", "launches"];

/// Starts one rank and no more.
const LAUNCHER: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo "HYDRA build details:"; exit; }
while [ "$1" != -n ]; do shift; done
shift 2
exec "$@"
"#;

/// The first lines of all of them: times that are half as long with the object, and its word that it has served something.
const TIMES: &str = r#"#!/bin/sh
one=2.00; two=4.00
case "$LD_PRELOAD" in *libcorecast_mpi.so)
    one=1.00; two=2.00
    [ "$CORECAST_SHIM_STATS" = 1 ] && echo "corecast mpi: MPI_Barrier: served 9, diverted 0" >&2
esac
"#;

const INTEL: &str = r##"
[ "$1 $3 $5 $6 $7" = "-npmin -iter -msglog 0:3 Barrier" ] || exit 9
echo "# Benchmarking Barrier "
echo " #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]"
echo "         1000         0.45         $one         0.46"
echo "# Benchmarking Bcast "
echo "            0         1000         0.05         0.01         0.06"
echo "            8         1000         0.05         $two         0.06"
"##;

/// Stands for the interpreter: its arguments are code, folder, module, repetitions and length.
const PYTHON: &str = r##"
[ "$4" = osu_bcast ] && row="         8                $two"
printf '# Size [B]        Latency [us]\n         0                %s\n%s\n' $one "$row"
"##;

fn script(path: &Path, text: &str) {
    std::fs::write(path, text).expect("written");
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("set");
}

/// A folder `bin` with all programs, which is all of PATH, and `demo` with what OSU's folder has.
fn programs() -> Program {
    let program = Program::new();
    for folder in ["bin", "demo"] {
        std::fs::create_dir(program.path(folder)).expect("a folder");
    }
    let bin = program.path("bin");
    let env = ["/usr/bin/env", "/bin/env"].into_iter().find(|path| Path::new(path).exists()).expect("env");
    symlink(env, bin.join("env")).expect("linked");
    script(&bin.join("mpirun"), LAUNCHER);
    script(&bin.join("IMB-MPI1"), &[TIMES, INTEL].concat());
    script(&bin.join("python3"), &[TIMES, PYTHON].concat());
    // No library: the loader says so, and goes on.
    std::fs::write(bin.join("libcorecast_mpi.so"), "").expect("written");
    for module in ["osu_barrier.py", "osu_bcast.py"] {
        std::fs::write(program.path("demo").join(module), "").expect("written");
    }
    program
}

/// A run of `bench mpi` of eight bytes among two ranks.
fn run(program: &Program, arguments: &[&str]) -> Run {
    let usual = ["mpi", "--quick", "--n", "2", "--size", "8", "--seed", "7", "--json"];
    let mut command = program.command(&[&usual, arguments].concat());
    let bin = program.path("bin");
    command.env("PATH", &bin).env("CORECAST_SHIM_DIR", &bin);
    Run::from(command.output().expect("the program starts"))
}

fn report(program: &Program, arguments: &[&str]) -> Value {
    serde_json::from_str(&run(program, arguments).succeeded().stdout).expect("JSON")
}

#[test]
fn benchmarks_of_others_run_with_and_without_the_object() {
    let program = programs();
    let report = report(&program, &["--op", "barrier,broadcast", "--osu-dir", "demo", "--imb", "bin/IMB-MPI1"]);
    assert_fields(&report, &REPORT);
    let rows = report["foreign"].as_array().expect("an array");
    rows.iter().for_each(|row| assert_fields(row, &FOREIGN));
    let told = |row: &Value| {
        let words = ["program", "op"].map(|name| row[name].as_str().expect("words").to_owned());
        (words.join(" "), row["bytes"].as_u64(), row["without_us"].as_f64(), row["speedup"].as_f64())
    };
    let expected = [
        ("osu_barrier.py barrier", 0, 2.0, Some(2.0)),
        ("osu_bcast.py broadcast", 0, 2.0, Some(2.0)),
        ("osu_bcast.py broadcast", 8, 4.0, Some(2.0)),
        ("IMB-MPI1 barrier", 0, 2.0, Some(2.0)),
        ("IMB-MPI1 broadcast", 0, 0.01, None),
        ("IMB-MPI1 broadcast", 8, 4.0, Some(2.0)),
    ];
    let expected = expected.map(|(what, bytes, without, x)| (what.to_owned(), Some(bytes), Some(without), x));
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), expected);
    assert!(rows.iter().all(|row| row["launches"] == 3 && row["ranks"] == 2), "{rows:?}");
    assert_eq!(report["foreign_left_out"], Value::Array(Vec::new()));
}

#[test]
fn a_program_that_fails_after_its_check_is_left_out() {
    let program = programs();
    let once = "[ $4 = 100 ] || { echo no more of it >&2; exit 3; }\n";
    script(&program.path("bin/IMB-MPI1"), &[TIMES, once, INTEL].concat());
    let report = report(&program, &["--op", "barrier", "--imb", "bin/IMB-MPI1"]);
    let left_out = &report["foreign_left_out"][0];
    assert_fields(left_out, &["program", "ranks", "reason"]);
    assert!(left_out["reason"].as_str().is_some_and(|reason| reason.contains("it fails ('no more of it')")));
    assert_eq!(report["foreign"], Value::Array(Vec::new()));
}

#[test]
fn programs_that_are_not_what_they_should_be_are_told() {
    let program = programs();
    let is_refused = |arguments: &[&str], words: &str| drop(run(&program, arguments).failed(2, words));
    is_refused(&["--osu-dir", "nowhere"], "there is no nowhere/osu_barrier.py");
    is_refused(&["--osu-dir", "bin"], "there is no bin/osu_barrier.py");
    is_refused(&["--imb", "nowhere"], "there is no program nowhere");
    is_refused(&["--imb", "bin"], "there is no program bin");
    is_refused(&["--imb", "bin/libcorecast_mpi.so"], "libcorecast_mpi.so: it fails");
    is_refused(&["--imb", "bin/env"], "env: it ");
    is_refused(&["--osu-dir", "demo", "--mpirun", "nowhere"], "cannot start nowhere");
    is_refused(&["--osu-dir", "demo", "--mpirun", "bin/env"], "names neither Open MPI");
    is_refused(&["--osu-dir", "demo", "--op", "reduce"], "OSU's benchmarks perform barrier, broadcast");
    let without_module = "#!/bin/sh\necho Traceback >&2; echo 'Error: no mpi4py' >&2; echo goodbye >&2\nexit 1\n";
    script(&program.path("bin/python3"), without_module);
    is_refused(&["--osu-dir", "demo"], "osu_barrier.py: it fails ('Error: no mpi4py')");
    script(&program.path("bin/IMB-MPI1"), "#!/bin/sh\necho another one\n");
    is_refused(&["--imb", "bin/IMB-MPI1"], "IMB-MPI1: it tells no times ('another one')");
    script(&program.path("bin/IMB-MPI1"), &["#!/bin/sh\none=1.00; two=1.00\n", INTEL].concat());
    is_refused(&["--imb", "bin/IMB-MPI1"], "serves nothing of it");
    std::fs::remove_file(program.path("bin/libcorecast_mpi.so")).expect("removed");
    is_refused(&["--imb", "bin/IMB-MPI1"], "cargo build --release -p corecast-shim-mpi");
}
