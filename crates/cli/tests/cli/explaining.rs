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
fn the_form_of_an_operation_is_told_with_what_a_race_found() {
    let program = Program::new();
    let model = program.model(0..8);
    let allreduce = ["explain", "allreduce", "--machine", &model, "--members", "8", "--bytes", "262144"];
    let text = program.run(&allreduce).succeeded().stdout;
    let is_crowded = text.contains("none, as members share CPUs");
    assert!(text.contains("allreduce of 262144 bytes: ") && text.contains(", predicted "), "{text}");
    assert!(text.contains(" for one line, as the model knows no longer messages; "), "{text}");
    assert!(text.contains("\n  race: none"), "{text}");
    assert!(is_crowded || text.contains("`corecast tune` races on this machine and keeps what it finds"), "{text}");
    let json = program.json(&[&allreduce[..], &["--json"]].concat());
    let form = &json["forms"][0];
    assert_eq!((&form["op"], &form["bytes"], &form["race"]), (&"allreduce".into(), &262_144.into(), &Value::Null));
    let others = form["others"].as_array().expect("others");
    let names = [form["form"].as_str(), others[0]["form"].as_str()].map(|name| name.expect("a name"));
    assert!(others.len() == 1 && names.contains(&"direct") && names.contains(&"trees"), "{form}");
    assert!(form["predicted"].as_f64() > Some(0.0) && others[0]["predicted"].as_f64() > Some(0.0), "{form}");
    for (op, form) in [("broadcast", "tree "), ("reduce", "tree "), ("barrier", "")] {
        let json = program.json(&["explain", op, "--machine", &model, "--bytes", "4Ki", "--json"]);
        assert!(json["forms"][0]["form"].as_str().is_some_and(|name| name.starts_with(form)), "{json}");
        let bytes: u64 = if op == "barrier" { 0 } else { 4096 };
        assert_eq!((&json["forms"][0]["op"], &json["forms"][0]["bytes"]), (&op.into(), &bytes.into()));
    }
    assert_eq!(
        program.json(&["explain", "two-phase-commit", "--machine", &model, "--json"])["forms"],
        Value::Array(vec![])
    );
    program.run(&["explain", "allreduce", "--bytes", "4Kb"]).failed(2, "bytes");
}

#[test]
fn explain_shows_what_tune_has_kept() {
    let program = Program::new();
    let tuned = program.json(&["tune", "--quick", "--json"]);
    let Some(kept) = tuned["kept_races"].as_array().and_then(|kept| kept.last()) else {
        return corecast_testing::skipped("races that tune keeps", &tuned["kept_races"]);
    };
    let sizes = kept["allreduce"].as_array().expect("by size class");
    let members = kept["members"].to_string();
    for raced in sizes {
        let bytes = raced["most_bytes"].as_u64().unwrap_or(1 << 20).to_string();
        let explained = program.json(&["explain", "allreduce", "--members", &members, "--bytes", &bytes, "--json"]);
        let form = &explained["forms"][0];
        assert_eq!((&form["race"]["entries"], &form["race"]["cached"]), (&raced["race"]["entries"], &true.into()));
        assert_eq!(form["raced_up_to_bytes"], raced["most_bytes"], "{form}");
    }
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

/// A machine of two clusters of four, and replicas on all of it.
#[test]
fn replicas_are_explained_with_their_roles_and_the_tree() {
    let program = Program::new();
    let model = program.model(0..8);
    let text = program.run(&["explain", "replica", "--machine", &model]).succeeded().stdout;
    for words in [
        "8 members: CPU ",
        " leads, CPU ",
        " accepts",
        "the learn tree: ",
        "told one by one",
        "over the tree",
        "from one line",
    ] {
        assert!(text.contains(words), "'{words}' is not in {text}");
    }
    let json = program.json(&["explain", "replica", "--machine", &model, "--members", "6", "--json"]);
    assert_eq!(json["members"], serde_json::json!([0, 1, 2, 4, 5, 6]), "spread over the machine");
    let (separate, fused) = (&json["separate"], &json["fused"]);
    assert_ne!(separate["leader"], separate["acceptor"]);
    assert_eq!(fused["leader"], fused["acceptor"]);
    let parents = separate["parents"].as_array().expect("an array");
    let acceptor = separate["acceptor"].as_u64().expect("a rank") as usize;
    assert!(parents.len() == 6 && parents[acceptor].is_null(), "{separate}");
    assert_eq!(parents.iter().filter(|parent| parent.is_null()).count(), 1);
    let over = |load: &str| separate[load]["over_direct"].as_f64().expect("a number");
    assert!(over("tree") >= 0.97 && over("direct") == 1.0, "{separate}");
    assert_eq!((&separate["shared_line_measured"], &json["race"]), (&false.into(), &Value::Null));
    let learning = json["learning"].as_str().expect("a word");
    assert!(["direct", "tree"].contains(&learning) && json["why"].is_string());
}

#[test]
fn replicas_of_a_published_machine_gain_by_the_tree() {
    let path = corecast_testing::machines::model("paper-barcelona-8x4-32").display().to_string();
    let json = Program::new().json(&["explain", "replica", "--machine", &path, "--members", "28", "--json"]);
    assert!(json["separate"]["tree"]["over_direct"].as_f64().expect("a number") >= 2.5, "{json}");
    assert_eq!(json["learning"], "tree");
}

#[test]
fn replicas_that_share_cpus_learn_directly() {
    let program = Program::new();
    let model = program.model(0..8);
    let json = program.json(&["explain", "replica", "--machine", &model, "--members", "16", "--json"]);
    assert_eq!((json["members"].as_array().expect("an array").len(), &json["learning"]), (16, &"direct".into()));
    program.run(&["explain", "replica", "--machine", &model, "--members", "0"]).failed(2, "1 to 1023 members, not 0");
    program.run(&["explain", "replica", "--machine", &model, "--members", "1024"]).failed(2, "not 1024");
}

/// The winner depends on the machine; the figures that it is judged by are always there.
#[test]
fn replicas_race_and_the_race_says_how_sure_it_is() {
    let program = Program::new();
    let json = program.json(&["explain", "replica", "--race", "--members", "2", "--json"]);
    let skipped = json["race"]["skipped"].as_str().expect("a reason");
    assert!(skipped.contains("one level") && json["race"]["winner"].is_null(), "{json}");
    let skipped = json["race_over_messages"]["skipped"].as_str().expect("a reason");
    assert!(skipped.contains("one other member"), "{json}");
    let json = program.json(&["explain", "replica", "--race", "--members", "6", "--json"]);
    let race = &json["race_over_messages"];
    let entries = race["entries"].as_array().expect("an array");
    let mut ways: Vec<_> = entries.iter().map(|entry| entry["spread"].as_str().expect("a name")).collect();
    ways.sort_unstable();
    assert_eq!((ways, &race["rounds"]), (vec!["mcast", "sequential", "tree"], &15.into()), "{race}");
    assert!(entries.iter().all(|entry| entry["ns"].as_f64().expect("a number") > 0.0), "{race}");
    assert!(race["winner"].is_null() || race["winner"] == entries[0]["spread"], "{race}");
    let race = &json["race"];
    if race["skipped"].is_string() {
        return corecast_testing::skipped("a race of replicas", &race["skipped"]);
    }
    assert!(race["direct_ns"].as_f64().expect("a number") > 0.0 && race["tree_ns"].as_f64().expect("a number") > 0.0);
    let p = race["p"].as_f64().expect("a number");
    assert_eq!(race["winner"].is_null(), p >= 0.05, "{race}");
    assert_eq!((&race["rounds"], race["rounds_of_tree"].as_u64().expect("a count") <= 15), (&15.into(), true));
}
