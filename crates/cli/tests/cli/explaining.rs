//! `corecast explain --race`: what is shown of a race, and of whose CPUs there is none.

use corecast::machine::pin;
use serde_json::Value;

use crate::program::Program;

/// The result of a race depends on the machine's mood; the parts shown of it do not.
#[test]
fn explain_shows_a_race_and_then_what_is_kept_of_it() {
    let program = Program::new();
    let arguments = ["explain", "barrier", "--race", "--members", "2", "--json"];
    let explained = program.json(&arguments);
    let barrier = &explained["barrier"];
    let race = &barrier["race"];
    for (tree, op) in explained["trees"].as_array().expect("trees").iter().zip(["broadcast", "reduce"]) {
        assert_eq!((&tree["op"], &tree["race"]), (&op.into(), &Value::Null), "all trees of two are one");
    }
    if race.is_null() {
        return corecast_testing::skipped("a race explained", &barrier["why"]);
    }
    assert_eq!((&race["cached"], &race["left_out"]), (&false.into(), &0.into()));
    let names: Vec<&str> =
        race["entries"].as_array().expect("entries").iter().filter_map(|e| e["name"].as_str()).collect();
    assert!(["tree", "flat", "ticket"].iter().all(|control| names.contains(control)), "{names:?}");
    assert!(names.contains(&barrier["name"].as_str().expect("a name")), "{barrier}");

    let folder = std::fs::read_dir(program.path("cache/corecast/races")).expect("it is kept");
    let files: Vec<_> = folder.map(|entry| entry.expect("readable").path()).collect();
    assert_eq!(files.len(), 1);
    let read = || serde_json::from_str::<Value>(&std::fs::read_to_string(&files[0]).expect("there")).expect("JSON");
    // The winner's time has to be about right for all of it to be believed; if not, they race anew, and the file is another one.
    let text = (0..50).find_map(|_| {
        let mut kept = read();
        let race = &mut kept["races"]["barrier"];
        let winner = race["winner"].clone();
        let loser = race["entries"].as_array_mut().expect("entries").iter_mut().find(|entry| entry["name"] != winner);
        loser.expect("several have run")["median_ns"] = 123_456.0.into();
        std::fs::write(&files[0], kept.to_string()).expect("written");
        let text = program.run(&arguments[..5]).succeeded().stdout;
        text.contains("in an earlier race").then_some(text)
    });
    assert!(text.expect("the machine stays in its mood once in fifty times").contains(": 123456 ns in "));

    let mut kept = read();
    for entry in kept["races"]["barrier"]["entries"].as_array_mut().expect("entries") {
        entry["median_ns"] = 123_456_000.0.into();
    }
    std::fs::write(&files[0], kept.to_string()).expect("written");
    let race = &program.json(&arguments)["barrier"]["race"];
    assert_eq!(race["cached"], false, "what is no longer so is raced anew: {race}");
}

#[test]
fn nothing_races_on_the_cpus_of_another_machine() {
    let program = Program::new();
    let model = program.model(4000..4002);
    program.run(&["explain", "barrier", "--machine", &model]).succeeded();
    let run = program.run(&["explain", "barrier", "--race", "--machine", &model]);
    let run = run.failed(2, &format!("CPU 4000 of model {model} cannot be used here"));
    let run = run.failed(2, "--race runs on the CPUs of the model, expected some of ");
    assert_eq!(run.stdout, "");
}

#[test]
fn a_race_needs_the_cpus_of_its_members_only() {
    let program = Program::new();
    let usable: Vec<u32> = pin::affinity().expect("own mask").iter().take(2).map(|cpu| cpu.get()).collect();
    let model = program.model(usable.iter().copied().chain([4000]));
    let race = ["explain", "barrier", "--race", "--machine", &model];
    program.run(&race).failed(2, &format!("CPU 4000 of model {model} cannot be used here"));
    program.run(&[&race[..], &["--members", &usable.len().to_string()]].concat()).succeeded();
}
