//! Programs of packages, with the object and without: equal results. Those that are not installed are skipped.

use std::path::Path;

use corecast_testing::skipped;

use crate::launch::Program;

const STATISTICS: (&str, &str) = ("CORECAST_SHIM_STATS", "1");

/// Runs a program of a package; `None`, and a line that says so, if it is not here or does not do what it should.
fn prepared(what: &str, path: &str, arguments: &[&str]) -> Option<Program> {
    let program = Program::at(path.into());
    let is_ready = Path::new(path).is_file() && program.alone(arguments, &[]).status.success();
    if !is_ready {
        skipped(what, format!("{path} is missing, or does not do it"));
    }
    is_ready.then_some(program)
}

/// Prints the same with teams of this size, and the object serves regions of it.
#[track_caller]
fn prints_the_same(program: &Program, arguments: &[&str], threads: &str) {
    let threads = ("OMP_NUM_THREADS", threads);
    let alone = program.alone(arguments, &[threads]);
    let with_object = program.with_object(arguments, &[threads, STATISTICS]);
    assert!(alone.status.success() && with_object.status.success(), "{alone:?}, {with_object:?}");
    assert_eq!(with_object.output, alone.output, "{threads:?}");
    assert!(with_object.errors.contains("corecast omp: regions: served"), "{with_object:?}");
}

/// Debian's numpy calls the BLAS that is installed; OpenBLAS has a build on OpenMP.
#[test]
fn numpy_multiplies_the_same_matrices() {
    let asks = "import numpy; assert 'openmp' in open('/proc/self/maps').read()";
    let python = "/usr/bin/python3";
    let Some(python) = prepared("numpy on OpenBLAS with OpenMP", python, &["-c", asks]) else { return };
    let script = "import numpy, hashlib\n\
        g = numpy.random.default_rng(7)\n\
        a, b = g.standard_normal((300, 300)), g.standard_normal((300, 300))\n\
        for _ in range(5): a = a @ b / 17\n\
        print(hashlib.sha256(a.tobytes()).hexdigest())";
    for threads in ["2", "4"] {
        prints_the_same(&python, &["-c", script], threads);
    }
}

#[test]
fn imagemagick_draws_the_same_picture() {
    let Some(convert) = prepared("ImageMagick", "/usr/bin/convert", &["-version"]) else { return };
    let picture =
        ["-seed", "7", "-size", "400x300", "plasma:tomato-steelblue", "-blur", "0x2", "-wave", "10x64", "txt:-"];
    for threads in ["2", "4"] {
        prints_the_same(&convert, &[&["-limit", "thread", threads][..], &picture].concat(), threads);
    }
}

/// Molecular dynamics of a box of water, 1 nm wide: barriers, loops that are given out, reductions.
#[test]
fn gromacs_computes_the_same_water() {
    const TOPOLOGY: &str =
        "#include \"oplsaa.ff/forcefield.itp\"\n#include \"oplsaa.ff/spc.itp\"\n[ system ]\nwater\n[ molecules ]\n";
    const RUN: &str = "integrator = md\nnsteps = 20\ndt = 0.001\ncoulombtype = PME\nrcoulomb = 0.8\nrvdw = 0.8\n\
        constraints = h-bonds\ngen_vel = yes\ngen_seed = 4711\n";
    let Some(gmx) = prepared("GROMACS", "/usr/bin/gmx", &["-version"]) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let [topology, box_of_water, settings, all, state] = ["w.top", "w.gro", "w.mdp", "w.tpr", "mdout.mdp"].map(path);
    std::fs::write(&topology, TOPOLOGY).expect("written");
    std::fs::write(&settings, RUN).expect("written");
    let solvate =
        ["-quiet", "solvate", "-cs", "spc216.gro", "-box", "2", "2", "2", "-p", &topology, "-o", &box_of_water];
    let collect = [
        "-quiet",
        "grompp",
        "-f",
        &settings,
        "-c",
        &box_of_water,
        "-p",
        &topology,
        "-o",
        &all,
        "-po",
        &state,
        "-maxwarn",
        "3",
    ];
    for step in [&solvate[..], &collect] {
        let outcome = gmx.alone(step, &[]);
        assert!(outcome.status.success(), "{outcome:?}");
    }
    let last_state = |name: &str| std::fs::read(path(&format!("{name}.gro"))).expect("the last state is written");
    for threads in ["2", "4"] {
        let run = |name: &str, with_object: bool| {
            let prefix = path(name);
            let arguments = [
                "-quiet", "mdrun", "-s", &all, "-deffnm", &prefix, "-ntmpi", "1", "-ntomp", threads, "-reprod", "-pin",
                "off",
            ];
            let variables = [("GMX_MAXBACKUP", "-1"), STATISTICS];
            let outcome =
                if with_object { gmx.with_object(&arguments, &variables) } else { gmx.alone(&arguments, &variables) };
            assert!(outcome.status.success(), "{outcome:?}");
            outcome.errors
        };
        run("alone", false);
        let told = run("with", true);
        assert!(told.contains("corecast omp: barriers: served"), "{told}");
        assert_eq!(last_state("with"), last_state("alone"), "{threads} threads");
    }
}
