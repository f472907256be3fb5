//! `corecast tune`, and `corecast` alone.

use crate::program::Program;
use crate::system_tree;

#[test]
fn alone_it_measures_plans_races_and_reports() {
    let program = Program::new();
    let run = program.run(&["--quick"]).succeeded();
    for words in
        ["costs are ", "planned", "barrier: ", "* corecast", "pthread", "std", "report written to corecast-report.html"]
    {
        assert!(run.stdout.contains(words), "'{words}' is not in: {}", run.stdout);
    }
    let last: Vec<&str> = run.stdout.lines().rev().take(3).collect();
    let begins = ["next: `corecast ", "against the fastest rival: barrier ", "messages: "];
    assert!(last.iter().zip(begins).all(|(line, begin)| line.starts_with(begin)), "{}", run.stdout);
    let report = std::fs::read_to_string(program.path("corecast-report.html")).expect("written");
    assert!(report.contains("<html") && !report.contains("src=\"http"), "self-contained");
    assert_eq!((program.files(), program.cached().len()), (vec!["corecast-report.html".to_owned()], 1));

    let again = program.json(&["tune", "--quick", "--json", "--report", "again.html", "--picture", "race.svg"]);
    assert_eq!((&again["report"], &again["picture"]), (&"again.html".into(), &"race.svg".into()));
    assert!(std::fs::read_to_string(program.path("race.svg")).expect("written").starts_with("<svg"));
    assert_eq!(again["machine"]["schema"], "corecast-machine/1");
    let plans = again["plans"].as_array().expect("an array");
    assert!(plans.len() == 3 && plans.iter().all(|plan| plan["time_ms"].is_number()), "{plans:?}");
    let report = std::fs::read_to_string(program.path("again.html")).expect("written");
    assert!(report.contains("measured / predicted"), "the table of checks");
    assert!(again["race"]["groups"][0]["rows"][0]["median_ns"].is_number(), "{}", again["race"]);
    assert_eq!(program.cached().len(), 1, "the cached model was used");
    let races = again["machine"]["races"].as_array().expect("the race checked the model");
    assert!(races.iter().any(|race| race["operation"] == "barrier" && race["ratio"].is_number()), "{races:?}");
    let kept = std::fs::read_to_string(&program.cached()[0]).expect("cached");
    assert!(kept.contains("\"races\""), "and the file keeps it");
}

#[test]
fn a_full_disk_for_the_report_is_told_after_the_table() {
    let program = Program::new();
    let run = program.run(&["tune", "--quick", "--report", "/dev/full"]);
    let run = run.failed(1, "cannot write the report to /dev/full: No space left on device");
    assert!(run.stdout.contains("* corecast"), "the table is there: {}", run.stdout);
    assert!(!run.stdout.contains("report written"), "{}", run.stdout);
    assert_eq!(program.files(), [""; 0]);
}

#[test]
fn another_machine_is_planned_and_reported_but_not_raced() {
    let program = Program::new();
    let root = program.path("root");
    system_tree::write(&root, 1000..1008);
    let outcome = program.json(&["tune", "--sysfs-root", "root", "--json"]);
    assert!(outcome["race"].is_null());
    let warning = outcome["machine"]["warnings"][0].as_str().expect("a warning");
    assert!(
        warning.contains("costs are assumed, not measured") && warning.contains("cannot pin to CPU 100"),
        "{warning}"
    );
    assert_eq!(program.files(), ["corecast-report.html", "root"]);
    assert!(program.cached().is_empty(), "assumptions are not kept as measurements");
}
