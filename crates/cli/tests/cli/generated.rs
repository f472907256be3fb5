//! Texts that are generated from the definition of the command line and from the registries.

use crate::program::Program;

#[test]
fn completions_for_every_shell_name_the_subcommands() {
    let program = Program::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = program.run(&["completions", shell]).succeeded().stdout;
        for word in ["corecast", "measure", "explain", "sysfs-root"] {
            assert!(script.contains(word), "{word} is not in the script for {shell}");
        }
    }
    let bash = program.run(&["completions", "bash"]).succeeded().stdout;
    assert!(bash.contains("adaptive+shuffle+sort"), "names from the registries are completed too");
}

#[test]
fn manual_pages_name_every_option() {
    let program = Program::new();
    let page = program.run(&["man"]).succeeded().stdout;
    for word in [".TH corecast", "\\-\\-remeasure", "\\-\\-json", "topo", "Exit codes"] {
        assert!(page.contains(word), "{word} is not in {page}");
    }
    let page = program.run(&["man", "plan"]).succeeded().stdout;
    assert!(page.contains("two\\-phase\\-commit") && page.contains("\\-\\-root"), "{page}");
}

#[test]
fn all_pages_and_completions_are_written_into_a_folder() {
    let program = Program::new();
    let folder = program.path("manual");
    program.run(&["man", "--all", folder.to_str().expect("UTF-8")]).succeeded();
    for name in ["corecast.1", "corecast-plan.1", "corecast-topo.1", "corecast.bash", "_corecast", "corecast.fish"] {
        assert!(folder.join(name).is_file(), "{name} is missing");
    }
}

#[test]
fn lists_have_the_registries() {
    let program = Program::new();
    let lists = program.json(&["list", "--json"]);
    for (list, name) in [
        ("operations", "two-phase-commit"),
        ("shapes", "fibonacci"),
        ("planners", "annealing"),
        ("efforts", "patient"),
        ("barriers", "dissemination"),
        ("contenders", "pthread"),
        ("sources", "synthetic"),
        ("locks", "mcs"),
        ("locks", "rw_phase"),
        ("locks", "combine"),
    ] {
        let names: Vec<&str> = lists[list].as_array().expect(list).iter().filter_map(|e| e["name"].as_str()).collect();
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    let shapes = program.json(&["list", "shapes", "--json"]);
    assert_eq!(shapes.as_object().expect("an object").len(), 1);
    assert!(shapes["shapes"][0]["about"].is_string());
    for lock in lists["locks"].as_array().expect("locks") {
        let (name, properties) = (&lock["name"], &lock["lock"]);
        assert!(properties["bytes"].as_u64() > Some(0), "{name}");
        // Only what a C program can ask for has a number.
        assert_eq!(properties["id"].is_u64(), properties["front"] == "Mutex", "{name}");
    }
    let text = program.run(&["list", "barriers"]).succeeded().stdout;
    assert!(text.starts_with("barriers\n") && text.contains("ticket"), "{text}");
}

#[test]
fn the_version_is_told() {
    let text = Program::new().run(&["--version"]).succeeded().stdout;
    assert_eq!(text, format!("corecast {}\n", env!("CARGO_PKG_VERSION")));
}
