//! `corecast sim fit`: parameters that were planted in a model file come back.

use corecast::machine::{Contended, model_file};
use corecast_sim::{WhatIf, between_moves_ns, of_model};
use serde_json::{Value, json};

use crate::fields::assert_fields;
use crate::program::Program;

const TRUTH: WhatIf =
    WhatIf { interconnect: None, kappa: Some(1.2), service_ns: Some(50.0), beta: None, protocol: None };

/// Two packages of three CPUs, 60 ns within and 150 between, without contended rows.
fn model() -> Value {
    let cpus: Vec<Value> = (0..6).map(|id| json!({"id": id, "numa": id / 3, "package": id / 3})).collect();
    let matrix = |near: u32, far: u32| -> Vec<Vec<u32>> {
        let cost = |one: usize, other: usize| match one / 3 == other / 3 {
            _ if one == other => 0,
            true => near,
            false => far,
        };
        (0..6).map(|one| (0..6).map(|other| cost(one, other)).collect()).collect()
    };
    let coherence = json!({"unit": "ns", "classes": ["near", "far"], "distances": matrix_of_classes()});
    json!({"schema": "corecast-machine/1", "name": "planted", "unit": "ns", "cpus": cpus, "send": matrix(10, 10),
           "receive": matrix(70, 160), "coherence": coherence, "provenance": {"kind": "measured"}})
}

fn matrix_of_classes() -> Vec<Vec<u32>> {
    (0..6).map(|one| (0..6).map(|other| u32::from(one / 3 != other / 3)).collect()).collect()
}

/// The same with rows of these CPUs as a simulation has them with the planted parameters.
fn planted(cpus: &[usize]) -> String {
    let mut value = model();
    let model = model_file::parse(value.to_string()).expect("a model");
    let machine = of_model(&model).expect("a machine").machine;
    let costs = TRUTH.apply(machine.costs(), machine.units_per_us());
    let machine = machine.with_costs(costs).expect("a machine");
    let rows = [1, 64].map(|lines| {
        let row = Contended { clusters: cpus.len().div_ceil(3), cpus: cpus.to_vec(), lines, time: 1.0, handed: 0.5 };
        let between = between_moves_ns(&machine, &row, 50.0, 7).expect("it ends").expect("lines move");
        Contended { time: between * 0.5 * cpus.len() as f64, ..row }
    });
    // CPUs that did not run at the same time.
    let alone = Contended { handed: 3e-5, ..rows[0].clone() };
    value["coherence"]["contended"] = json!([rows[0], rows[1], alone]);
    value.to_string()
}

#[test]
fn planted_parameters_come_back_and_are_written_as_fitted() {
    let program = Program::new();
    let text = planted(&[0, 1, 2, 3, 4, 5]);
    let file = program.file("mine.json", &text);
    let report = program.json(&["sim", "fit", "--machine", &file, "--json", "--out", "fitted.json"]);
    let fields = "simulated version machine cpus costs seed evaluations rows left_out given fitted parameters out";
    assert_fields(&report, &fields.split(' ').collect::<Vec<_>>());
    let row = "clusters cpus lines measured_ns given_ns given_ratio fitted_ns fitted_ratio";
    assert_fields(&report["rows"][0], &row.split(' ').collect::<Vec<_>>());
    let told = "parameter unit given origin suggested undecided";
    assert_fields(&report["parameters"][0], &told.split(' ').collect::<Vec<_>>());
    assert_fields(&report["given"], &["median", "mean"]);
    assert_eq!((report["rows"].as_array().map(Vec::len), &report["left_out"]), (Some(2), &1.into()));
    let suggested = |place: usize| report["parameters"][place]["suggested"].as_f64().expect("a value");
    assert!((suggested(0) / 50.0 - 1.0).abs() < 0.1, "service: {report}");
    assert!((suggested(1) / 1.2 - 1.0).abs() < 0.1, "kappa: {report}");
    let p = &report["parameters"][2];
    assert_eq!((&p["parameter"], &p["suggested"]), (&"p".into(), &Value::Null));
    assert!(p["undecided"].as_str().is_some_and(|words| words.contains("the oldest request")), "{p}");
    let median = |which: &str| report[which]["median"].as_f64().expect("a factor");
    assert!(median("given") > 1.2 && median("fitted") < 1.05, "{report}");
    assert_eq!(std::fs::read_to_string(&file).expect("still there"), text, "the file that was given");
    let written = std::fs::read_to_string(program.path("fitted.json")).expect("written");
    let written: Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!(written["coherence"]["service"], json!({"value": suggested(0), "origin": "fitted"}));
    assert!(written["notes"][0].as_str().is_some_and(|note| note.contains("service and kappa")), "{written}");
    let text = program.run(&["sim", "atomics", "--machine", "fitted.json", "--explain"]).succeeded().stdout;
    assert!(text.lines().any(|line| line.contains("kappa") && line.contains("fitted")), "{text}");
}

#[test]
fn rows_of_one_package_decide_nothing_and_nothing_is_written() {
    let program = Program::new();
    let file = program.file("mine.json", planted(&[0, 1, 2]));
    let run = program.run(&["sim", "fit", "--machine", &file, "--out", "fitted.json"]).succeeded();
    for words in [
        "kappa stays as it is: the CPUs of each row are in one package",
        "service stays as it is: the CPUs of each row are in one package",
        "1 row left out, whose CPUs did not compete",
        "these are the 2 rows that the parameters were fitted to, none was held back",
    ] {
        assert!(run.stdout.contains(words), "'{words}' is not in {}", run.stdout);
    }
    assert!(run.stderr.contains("fitted.json is not written: the rows decide no parameter"), "{}", run.stderr);
    assert!(!program.path("fitted.json").exists());
}

#[test]
fn files_that_cannot_be_fitted_are_named() {
    let program = Program::new();
    let bare = program.file("bare.json", model().to_string());
    let words =
        "bare.json has no increments of contended lines (of 0 rows in `coherence.contended` two CPUs competed in none)";
    program.run(&["sim", "fit", "--machine", &bare]).failed(2, words);
    program.run(&["sim", "fit", "--machine", "opteron-4x12"]).failed(2, "`corecast measure coherence --out FILE`");
    program.run(&["sim", "fit", "--machine", "nothing"]).failed(2, "no machine is called 'nothing'");
    let mine = program.file("mine.json", planted(&[0, 1, 2]));
    let same = program.run(&["sim", "fit", "--machine", &mine, "--out", &mine]);
    same.failed(2, "is the file of --machine, which stays as it is: expected another one");
    program.run(&["sim", "fit"]).failed(2, "--machine <FILE>");
}
