//! Bad input ends with code 2, nothing on standard output, and an error that names the input and what was expected.

use crate::program::Program;

#[test]
fn cpus_that_will_not_do() {
    let program = Program::new();
    for (list, words) in [
        ("0-99999", "above 65535"),
        ("0-60000", "of --cpus 0-60000 is not among the CPUs of this machine that may be used, "),
        ("", "the set of CPUs is empty, expected a list such as 0-3,8"),
        ("0,0", "CPU 0 is given twice in list '0,0'"),
        ("0-3,2", "CPU 2 is given twice"),
        ("3-1", "ends below its start"),
        ("zero", "'zero' in CPU list 'zero' is neither a number nor a range"),
    ] {
        for command in ["topo", "tune", "measure", "explain"] {
            let run = program.run(&[command, "--cpus", list]).failed(2, words);
            assert_eq!(run.stdout, "", "{command} --cpus {list}");
        }
    }
    assert_eq!(program.files(), [""; 0], "nothing is written");
}

#[test]
fn more_cpus_than_the_model_has() {
    let program = Program::new();
    let model = program.model(0..2);
    let words = format!("CPU 2 of --cpus 0-99 is not among the CPUs of {model}, 0-1");
    program.run(&["plan", "--op", "barrier", "--machine", &model, "--cpus", "0-99"]).failed(2, &words);
    program.run(&["topo", "--machine", &model, "--cpus", "0-99"]).failed(2, &words);
}

#[test]
fn a_root_outside_the_set() {
    let program = Program::new();
    let model = program.model(0..8);
    let plan = |options: &[&str]| program.run(&[&["plan", "--op", "reduce", "--machine", &model], options].concat());
    plan(&["--root", "8"]).failed(2, "root CPU 8 is not among the CPUs to plan for, 0-7");
    plan(&["--root", "0", "--cpus", "1-3"]).failed(2, "root CPU 0 is not among the CPUs to plan for, 1-3");
    plan(&["--root", "x"]).failed(2, "'x' for '--root <CPU>'");
    plan(&["--root", "-1"]).failed(2, "'-1'");
}

#[test]
fn a_plan_that_nobody_can_make() {
    let program = Program::new();
    let model = program.model(0..8);
    let plan = |options: &[&str]| program.run(&[&["plan", "--op", "broadcast", "--machine", &model], options].concat());
    let words = "no tree over 8 members has at most 1 children per member and at most 2 levels below the root";
    plan(&["--max-children", "1", "--max-depth", "2"]).failed(2, words);
    plan(&["--shape", "sequential", "--max-children", "2"]).failed(2, "its tree has up to 7 children per member");
    plan(&["--planner", "dissemination"]).failed(2, "the planner dissemination cannot plan this");
    let extended = plan(&["--model", "extended"]);
    extended.failed(2, "has none of fan_out, fan_in, readers and fetch_add").failed(2, "corecast measure");
}

#[test]
fn more_than_exact_can_prove() {
    let program = Program::new();
    let model = program.model(0..40);
    let arguments = ["plan", "--op", "broadcast", "--machine", &model, "--max-children", "1", "--effort", "exact"];
    let run = program.run(&arguments).succeeded();
    assert!(run.stderr.contains("effort exact could not prove this plan for 40 CPUs: "), "{}", run.stderr);
    assert!(run.stderr.contains("the subset programme reaches"), "{}", run.stderr);
}

#[test]
fn a_tree_that_is_no_tree() {
    let program = Program::new();
    let model = program.model(0..3);
    for (tree, words) in [
        (r#"{"root":0,"children":{"0":[1],"1":[0]}}"#, "the root CPU 0 is a child of CPU 1"),
        (r#"{"root":0,"children":{"0":[1]}}"#, "CPU 2 has no parent"),
        (r#"{"root":0,"children":{"0":[1,2],"1":[2]}}"#, "CPU 2 has two parents, CPU 0 and CPU 1"),
        (r#"{"root":0,"children":{"1":[2],"2":[1]}}"#, "CPU 1 is its own ancestor"),
        (r#"{"root":0,"children":{"0":[1,2,7]}}"#, "CPU 7 is not among the CPUs to plan for, 0-2"),
        (r#"{"root":0,"children":"#, "expected {\"root\": CPU, \"children\""),
        ("no JSON", "expected {\"root\": CPU, \"children\""),
    ] {
        let file = program.file("tree.json", tree);
        let run = program.run(&["plan", "--op", "barrier", "--machine", &model, "--tree", &file]);
        run.failed(2, words).failed(2, &file);
    }
    program.run(&["plan", "--op", "barrier", "--machine", &model, "--tree", "none.json"]).failed(2, "none.json");
    let both = program.run(&["plan", "--op", "barrier", "--machine", &model, "--tree", "t", "--shape", "mst"]);
    both.failed(2, "'--tree <FILE>' cannot be used with '--planner <NAME>'");
    let both = program.run(&["plan", "--op", "barrier", "--machine", &model, "--tree", "t", "--seed", "1"]);
    both.failed(2, "'--tree <FILE>' cannot be used with '--seed <N>'");
}

#[test]
fn a_model_file_that_is_unreadable_or_foreign() {
    let program = Program::new();
    let whole = std::fs::read_to_string(program.model(0..2)).expect("written before");
    let lacking = whole.replacen("[0", "[-7", 1);
    assert_ne!(whole, lacking);
    for (text, words) in [
        (&whole[..whole.len() / 2], "the file looks truncated"),
        (&lacking, "`send`"),
        (
            &whole.replace("corecast-machine/1", "corecast-machine/9"),
            "expected an object with \"schema\": \"corecast-machine/1\"",
        ),
        (
            &whole.replacen("\"unit\"", "\"lock_hand_over_ns\": {\"spin\": [[2, 5], [2, 5]]}, \"unit\"", 1),
            "has k = 2 after 2",
        ),
        (&whole.replacen("\"unit\"", "\"lock_hand_over_ns\": {\"spin\": [[1, 0]]}, \"unit\"", 1), "has a cost of 0"),
        ("{\"schema\": 7}", "corecast-machine/1"),
        ("#!/bin/sh\n", "neither a corecast-machine/1 model (JSON) nor hwloc XML: it begins with \"#!/bin/sh"),
        ("", "neither a corecast-machine/1 model"),
        ("<svg/>", "is not hwloc XML"),
    ] {
        let file = program.file("foreign", text);
        for command in [&["plan", "--op", "barrier"][..], &["explain"], &["tune"], &["topo"]] {
            let run = program.run(&[command, &["--machine", &file]].concat());
            assert_eq!(run.failed(2, words).failed(2, &file).stdout, "", "{command:?}");
        }
    }
    assert_eq!(program.files(), ["foreign", "model.json"], "nothing else is written");
}

#[test]
fn files_that_are_no_files() {
    let program = Program::new();
    for (path, words) in
        [("none.json", "No such file"), ("/dev/zero", "not a regular file"), (".", "not a regular file")]
    {
        program.run(&["plan", "--op", "barrier", "--machine", path]).failed(2, words).failed(2, path);
    }
    let huge = std::fs::File::create(program.path("huge.json")).expect("created");
    huge.set_len(100 << 20).expect("a hole of 100 MB");
    program.run(&["plan", "--op", "barrier", "--machine", "huge.json"]).failed(2, "huge.json");
}

#[test]
fn names_that_nobody_has() {
    let program = Program::new();
    for (arguments, words) in [
        (&["plan", "--op", "barrier", "--shape", "star"][..], "[possible values: auto, "),
        (&["plan", "--op", "barrier", "--planner", "star"], "annealing"),
        (&["plan", "--op", "barrier", "--effort", "hard"], "[possible values: quick, normal, patient, exact]"),
        (&["plan", "--op", "barrier", "--max-children", "0"], "0 is not in 1.."),
        (&["plan", "--op", "barrier", "--max-depth", "-1"], "'-1'"),
        (&["plan", "--op", "barrier", "--seed", "x"], "'x' for '--seed <N>'"),
        (&["plan", "--op", "barrier", "--model", "full"], "[possible values: pairwise, extended]"),
        (&["plan", "--op", "scatter"], "barrier, allreduce, two-phase-commit, acknowledged]"),
        (&["plan"], "--op <OP>"),
        (&["explain", "scatter"], "[possible values: broadcast"),
        (&["explain", "reduce", "--op", "barrier"], "cannot be used with"),
        (&["explain", "--members", "0"], "1 to 4096 members, not 0"),
        (&["explain", "tm", "--members", "1"], "--members 1: a transactional memory has 2 to 1024 participants"),
        (
            &["explain", "tm", "--members", "4", "--servers-every", "5"],
            "--servers-every 5: expected 2 to the number of",
        ),
        (&["explain", "tm", "--servers-every", "1"], "1 is not in 2.."),
        (&["explain", "tm", "--race"], "--race is not for `explain tm`"),
        (&["explain", "barrier", "--servers-every", "3"], "--servers-every is for transactional memory"),
        (&["list", "mutexes"], "[possible values: operations, shapes"),
        (&["man", "locks"], "'locks' is no subcommand; expected one of tune, topo"),
        (&["completions", "tcsh"], "[possible values: bash"),
        (&["tunes"], "unrecognized subcommand 'tunes'"),
        (&["--fast"], "unexpected argument '--fast'"),
        (&["--quick", "topo"], "options before a subcommand belong to `tune`"),
        (&["topo", "--synthetic", "pack:2 core:x"], "synthetic topology 'pack:2 core:x'"),
        (&["topo", "--synthetic", "pu:2", "--machine", "m.json"], "cannot be used with"),
    ] {
        let run = program.run(arguments).failed(2, words);
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}

#[test]
fn a_folder_that_is_no_system() {
    let program = Program::new();
    program.run(&["topo", "--sysfs-root", "."]).failed(2, "is not the root of a Linux machine");
    program.run(&["topo", "--sysfs-root", "none"]).failed(2, "none is not the root of a Linux machine");
}
