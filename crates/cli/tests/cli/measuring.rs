//! `corecast measure`, and what other commands make of the model.

use serde_json::{Value, json};

use crate::program::Program;

#[test]
fn a_model_is_written_cached_and_planned_with() {
    let program = Program::new();
    let model = program.json(&["measure", "--quick", "--out", "model.json", "--json"]);
    assert_eq!(model["schema"], "corecast-machine/1");
    let file = std::fs::read_to_string(program.path("model.json")).expect("written");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&file).expect("JSON"), model);
    assert_eq!((program.files(), program.cached().len()), (vec!["model.json".to_owned()], 1));

    let by_file = program.json(&["plan", "--op", "barrier", "--json", "--machine", "model.json"]);
    let run = program.run(&["plan", "--op", "barrier", "--json"]).succeeded();
    let cached = run.json();
    assert_eq!((&cached["up"], &cached["predicted"]), (&by_file["up"], &by_file["predicted"]));
    assert_eq!(run.stderr, "", "the cached model is used without a word");
}

#[test]
fn the_costs_of_locks_are_added_to_the_model() {
    let program = Program::new();
    let text = program.run(&["measure", "locks", "--quick", "--out", "model.json"]).succeeded().stdout;
    assert!(text.ends_with("model written to model.json\n"), "{text}");
    let [cached] = &program.cached()[..] else { panic!("one model is kept") };
    let written = program.path("model.json");
    let models = [cached, &written].map(|path| std::fs::read_to_string(path).expect("written"));
    assert_eq!(models[0], models[1], "the machine was measured first, and is kept with its locks");
    let several = corecast::machine::pin::affinity().expect("told").len() > 1;
    let again = program.json(&["measure", "locks", "--quick", "--json"]);
    assert_eq!(again["lock_hand_over_ns"]["queue"][0][0], if several { json!(1) } else { json!(null) });
    assert_eq!(text.contains("waiting"), several, "{text}");
    let model: serde_json::Value = serde_json::from_str(&models[0]).expect("JSON");
    assert_eq!(again["send"], model["send"], "messages are not measured again");
}

#[test]
fn locks_that_cannot_be_measured_or_kept() {
    let program = Program::new();
    let model = program.model([0]);
    let before = std::fs::read_to_string(&model).expect("written");
    let run = program.run(&["measure", "locks", "--quick", "--machine", &model]).succeeded();
    assert_eq!(run.stdout, "only one CPU can be used, so no lock is handed over\n");
    assert!(run.stderr.contains("the model is not known to be of this machine"), "{}", run.stderr);
    assert!(run.stderr.contains("what messages cost is assumed in this model"), "{}", run.stderr);
    assert_eq!(std::fs::read_to_string(&model).expect("there"), before);
    for output in [&["--out", "mixed.json"][..], &["--json"]] {
        let run = program.run(&[&["measure", "locks", "--quick", "--machine", &model], output].concat());
        run.failed(2, "is not known to be of this machine, whose locks cannot be written into it");
    }
    assert_eq!(program.files(), ["model.json"]);
    let absent = program.model(1000..1004);
    let run = program.run(&["measure", "locks", "--quick", "--machine", &absent]);
    run.failed(2, "model.json: CPU 1000 cannot be measured: it is not among the usable CPUs ");
    program.run(&["measure", "locks", "--out", "absent/m.json"]).failed(1, "cannot write the model to absent/m.json");
    program.run(&["measure", "spins"]).failed(2, "[possible values: messages, locks]");
}

#[test]
fn a_full_disk_is_told_and_the_cache_keeps_the_model() {
    let program = Program::new();
    let run = program.run(&["measure", "--quick", "--out", "/dev/full"]);
    assert_eq!(run.failed(1, "machine model /dev/full: No space left on device").stdout, "");
    assert_eq!((program.files(), program.cached().len()), (Vec::new(), 1));
}

#[test]
fn a_cache_that_cannot_be_written_is_no_error() {
    let program = Program::new();
    program.file("cache", "a file where the folder should be");
    let run = program.run(&["measure", "--quick"]).succeeded();
    assert!(run.stderr.contains("the model is not kept: "), "{}", run.stderr);
    assert!(run.stdout.contains("costs are "), "{}", run.stdout);
}

#[test]
fn progress_goes_to_standard_error_and_can_be_silenced() {
    let program = Program::new();
    let run = program.run(&["measure", "--quick"]).succeeded();
    assert!(run.stderr.lines().all(|line| line.starts_with("corecast: ")), "{}", run.stderr);
    assert!(run.stderr.contains("clock"), "{}", run.stderr);
    assert_eq!(program.run(&["measure", "--quick", "--quiet"]).succeeded().stderr, "");
}

#[test]
fn cpus_that_are_not_here_cannot_be_measured() {
    let program = Program::new();
    crate::system_tree::write(&program.path("root"), 1000..1004);
    let run = program.run(&["measure", "--quick", "--sysfs-root", "root"]);
    run.failed(1, "cannot measure costs without pinned threads: cannot pin to CPU 100");
    assert!(program.cached().is_empty());
}

#[test]
fn a_file_without_a_folder_is_noticed_before_anything_is_measured() {
    let program = Program::new();
    program.run(&["measure", "--out", "absent/m.json"]).failed(1, "cannot write the model to absent/m.json");
    program.run(&["tune", "--report", "absent/r.html"]).failed(1, "cannot write the report to absent/r.html");
    assert!(program.cached().is_empty(), "nothing was measured");
}

#[test]
fn a_quick_model_does_not_replace_a_full_one_in_silence() {
    let program = Program::new();
    program.run(&["measure", "--quick"]).succeeded();
    let [kept] = &program.cached()[..] else { panic!("one model: {:?}", program.cached()) };
    let read = || serde_json::from_str::<Value>(&std::fs::read_to_string(kept).expect("read")).expect("JSON");
    let mut model = read();
    assert_eq!(model["provenance"]["quick"], true, "it says that it is a quick one");
    model["provenance"].as_object_mut().expect("an object").remove("quick");
    let full = model.to_string();
    std::fs::write(kept, &full).expect("written");
    let run = program.run(&["measure", "--quick", "--out", "quick.json"]).succeeded();
    assert!(run.stderr.contains("stays in") && run.stderr.contains("--force"), "{}", run.stderr);
    assert!(run.stdout.contains("quick.json") && !run.stdout.contains("cache/"), "{}", run.stdout);
    assert_eq!(std::fs::read_to_string(kept).expect("read"), full);
    program.run(&["measure", "--quick", "--force"]).succeeded();
    assert_eq!(read()["provenance"]["quick"], true);
    program.run(&["measure", "--force"]).failed(2, "--quick");
}
