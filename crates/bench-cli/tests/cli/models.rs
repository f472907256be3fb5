//! How a benchmark uses the model that it is given: it keeps a race in it, shows its name, and leaves nothing half-written.

use std::path::Path;
use std::process::{Command, Stdio};

use corecast::UmpProbe;
use corecast::machine::measure::{self, Options, Silent};
use corecast::machine::model_file;
use corecast::machine::source::{self, DiscoveryRequest};
use serde_json::Value;

use crate::program::{Program, Run};

#[test]
fn a_race_is_kept_in_the_model_of_this_machine_only() {
    let program = Program::new();
    measure(&program.path("model.json"));
    let read = |name| std::fs::read_to_string(program.path(name)).expect("there");
    let model = read("model.json");
    let fingerprint = "\"fingerprint\": \"";
    assert!(model.contains(fingerprint) && !model.contains("\"races\""), "{model}");
    program.file("other.json", model.replace(fingerprint, "\"fingerprint\": \"of another machine "));
    let other = read("other.json");
    for name in ["model.json", "other.json"] {
        let bench = ["collectives", "--quick", "--in-process", "--op", "barrier", "--n", "2", "--machine", name];
        program.run(&bench).succeeded();
    }
    assert!(read("model.json").contains("\"races\"") && read("model.json").contains("\"corecast/dissemination\""));
    assert_eq!(read("other.json"), other);
}

/// A name that holds ESC and a line break.
const HOSTILE: &str = "evil\x1b]0;title\nforged line";

#[track_caller]
fn assert_harmless(run: &Run) {
    for text in [&run.stdout, &run.stderr] {
        assert!(!text.contains('\x1b') && !text.lines().any(|line| line.starts_with("forged line")), "{text:?}");
    }
}

#[test]
fn a_hostile_name_is_shown_and_not_obeyed() {
    let program = Program::new();
    let path = program.model([0, 1]);
    let mut model: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("read")).expect("JSON");
    model["name"] = HOSTILE.into();
    std::fs::write(&path, model.to_string()).expect("written");
    let run = program.run(&["setup", "--quick", "--members", "2", "--machine", &path]).succeeded();
    assert_harmless(&run);
    assert!(run.stdout.contains(r"evil\u{1b}]0;title"), "{}", run.stdout);
    let run = program.run(&["locks", "--contenders", HOSTILE]);
    assert_harmless(&run);
    run.failed(2, r"\u{1b}");
}

#[test]
fn a_page_that_would_be_too_large_is_told_and_leaves_nothing() {
    let program = Program::new();
    let arguments = ["atomics", "--quick", "--threads", "1", "--contenders", "fai", "--html", "page.html"];
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 0; exec \"$0\" \"$@\"", crate::PROGRAM]).args(arguments);
    command.current_dir(program.path("")).env("XDG_CACHE_HOME", program.path("cache")).stdin(Stdio::null());
    let run = Run::from(command.output().expect("the shell starts"));
    assert!(run.stderr.contains("File too large"), "{:?} {}", run.code, run.stderr);
    assert_eq!((run.code, program.files().len()), (Some(1), 0), "{}", run.stderr);
}

/// Measures this machine quickly and writes the model.
fn measure(path: &Path) {
    let topology = source::discover(&DiscoveryRequest::default()).expect("this machine");
    let options = Options { quick: true, ..Options::default() };
    let machine = measure::measure(&topology, &UmpProbe, &options, &mut Silent).expect("two CPUs can be measured");
    model_file::write(&machine, path).expect("written");
}
