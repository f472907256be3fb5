//! Names, paths and arguments with characters that a terminal obeys.

use serde_json::Value;

use crate::program::{Program, Run};

/// ESC, BEL, CR, DEL, a C1 control, a bidi override and isolate, a line separator, and a line of its own.
const HOSTILE: &str = "evil\x1b]0;title\x07\r\x7f\u{9b}31m\u{202e}\u{2066}\u{2028}\nforged line";

/// The model of a machine with this name.
fn model(program: &Program) -> String {
    let path = program.model([0, 1]);
    let mut model: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("read")).expect("JSON");
    model["name"] = HOSTILE.into();
    std::fs::write(&path, model.to_string()).expect("written");
    path
}

#[track_caller]
fn assert_harmless(run: &Run) {
    for text in [&run.stdout, &run.stderr] {
        let obeyed = |c: char| (c != '\n' && c.is_control()) || "\u{202e}\u{2066}\u{2028}".contains(c);
        assert!(!text.contains(obeyed), "{text:?}");
        assert!(!text.lines().any(|line| line.starts_with("forged line")), "{text}");
    }
}

#[test]
fn a_model_s_name_is_shown_and_not_obeyed() {
    let program = Program::new();
    let path = model(&program);
    let of_model = ["--machine", &path];
    for command in
        [&["topo"][..], &["plan", "--op", "barrier"], &["plan", "--op", "broadcast", "--compare"], &["explain"]]
    {
        let run = program.run(&[command, &of_model].concat()).succeeded();
        assert_harmless(&run);
        assert!(
            !command.contains(&"explain") || run.stdout.contains(r"evil\u{1b}]0;title\u{7}\u{d}\u{7f}\u{9b}31m"),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn json_has_the_name_as_it_is_and_shows_it_harmlessly() {
    let program = Program::new();
    let path = model(&program);
    let run = program.run(&["explain", "--json", "--machine", &path]).succeeded();
    assert_harmless(&run);
    assert_eq!(run.json()["machine"], HOSTILE);
}

#[test]
fn errors_about_paths_and_arguments_are_shown_and_not_obeyed() {
    let program = Program::new();
    for arguments in [
        &["topo", "--machine", HOSTILE][..],
        &["plan", "--op", HOSTILE],
        &["plan", "--op", "barrier", "--out", HOSTILE, "--machine", "none.json"],
        &[HOSTILE],
        &["man", HOSTILE],
        &["gc", "--dir", HOSTILE],
        &["plan", "--op", "barrier", "--synthetic", HOSTILE],
    ] {
        let run = program.run(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert_harmless(&run);
        assert!(run.stderr.contains(r"\u{1b}") || arguments.contains(&"none.json"), "{arguments:?}: {}", run.stderr);
    }
}
