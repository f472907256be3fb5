//! Output as people see it: tables of 80 columns, and colours on terminals alone.

use std::fs::File;
use std::process::{Command, Stdio};

use corecast_testing::machines;

use crate::program::Program;
use crate::terminal::Terminal;

fn model(name: &str) -> String {
    machines::model(name).display().to_string()
}

#[test]
fn output_fits_80_columns() {
    let program = Program::new();
    let (ivy, epyc) = (model("paper-xeon-ivb-2x10-20"), model("epyc-7742-2x32-128"));
    for arguments in [
        &["list"][..],
        &["list", "locks"],
        &["topo", "--machine", &ivy],
        &["topo", "--machine", &epyc],
        &["topo", "--synthetic", "pack:2 numa:2 l3:2 l2:2 core:2 pu:2"],
        &["plan", "--op", "barrier", "--machine", &ivy, "--cpus", "0-7", "--compare"],
    ] {
        let text = program.run(arguments).succeeded().stdout;
        // Remarks below a table and the lines above it are sentences, which a terminal may break where it likes.
        let is_sentence = |line: &str| {
            line.starts_with("   skipped, ")
                || line.starts_with("note: ")
                || line.contains(", told by ")
                || line.ends_with(" ms)")
        };
        for line in text.lines().filter(|line| !is_sentence(line)) {
            assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
        }
    }
}

#[test]
fn a_machine_is_drawn_as_boxes_in_boxes() {
    let program = Program::new();
    let text = program.run(&["topo", "--synthetic", "pack:1 l3:2 core:2 pu:2"]).succeeded().stdout;
    let drawn: Vec<&str> = text.lines().filter(|line| line.starts_with(['┌', '│', '└'])).collect();
    assert_eq!(drawn.len(), 5, "{text}");
    assert!(drawn[2].contains("[0 1] [2 3]") && drawn[2].contains("[4 5] [6 7]"), "{text}");
}

#[test]
fn explain_and_list_say_the_same_of_the_exact_planner() {
    let program = Program::new();
    let explained =
        program.run(&["explain", "barrier", "--machine", &model("paper-xeon-ivb-2x10-20"), "--members", "8"]);
    let explained = explained.succeeded().stdout;
    let lists = program.json(&["list", "planners", "--json"]);
    let exact = lists["planners"].as_array().expect("an array").iter().find(|entry| entry["name"] == "exact");
    let about = exact.expect("a planner")["about"].as_str().expect("a line").to_owned();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&explained).contains(&words(&format!("exact: {about}"))), "{explained}");
    assert!(about.contains("a barrier"), "{about}");
}

/// What `measure` prints on a terminal of that kind.
fn measured(variables: &[(&str, &str)]) -> String {
    let program = Program::new();
    let (mut terminal, line): (Terminal, File) = Terminal::open();
    let mut command = Command::new(crate::PROGRAM);
    command.args(["measure", "--quick", "--quiet"]).stdin(Stdio::null()).stderr(Stdio::null()).stdout(line);
    command.env("XDG_CACHE_HOME", program.path("cache")).env_remove("NO_COLOR").env("TERM", "xterm-256color");
    let mut child = command.envs(variables.iter().copied()).spawn().expect("the program starts");
    drop(command);
    let shown = terminal.read_until(None);
    assert!(child.wait().expect("it ends").success(), "{shown}");
    shown
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let cpus = corecast::machine::pin::affinity().expect("told").len();
    assert_eq!(measured(&[]).contains("\x1b[48;5;"), cpus > 2, "two CPUs have a sentence");
    for variables in [[("NO_COLOR", "1")], [("TERM", "dumb")]] {
        assert!(!measured(&variables).contains('\x1b'), "{variables:?}");
    }
    let piped = Program::new().run(&["measure", "--quick"]).succeeded().stdout;
    assert!(!piped.contains('\x1b'), "{piped}");
}
