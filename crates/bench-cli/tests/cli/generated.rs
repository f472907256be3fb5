//! Texts that are generated from the definition of the command line.

use crate::program::Program;

#[test]
fn manual_pages_name_every_option() {
    let program = Program::new();
    let page = program.run(&["man"]).succeeded().stdout;
    for word in [".TH corecast-bench 1", "collectives", "\\-\\-json", "Exit codes"] {
        assert!(page.contains(word), "{word} is not in {page}");
    }
    assert!(!page.contains("busy\\-member"), "no user starts it: {page}");
    let page = program.run(&["man", "locks"]).succeeded().stdout;
    assert!(page.contains("\\-\\-flips") && page.contains("\\-\\-html"), "{page}");
    program.run(&["man", "plan"]).failed(2, "'plan' is no subcommand; expected one of collectives");
}

#[test]
fn no_mpi_is_needed_to_start() {
    corecast_testing::assert_no_mpi(crate::PROGRAM.as_ref());
}

#[test]
fn completions_name_the_program_and_its_benchmarks() {
    let program = Program::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = program.run(&["completions", shell]).succeeded().stdout;
        for word in ["corecast-bench", "collectives", "leaf-echo"] {
            assert!(script.contains(word), "{word} is not in the script for {shell}");
        }
    }
}

#[test]
fn all_pages_and_completions_are_written_into_a_folder() {
    let program = Program::new();
    let folder = program.path("manual");
    program.run(&["man", "--all", folder.to_str().expect("UTF-8")]).succeeded();
    for name in [
        "corecast-bench.1",
        "corecast-bench-locks.1",
        "corecast-bench-cc.1",
        "corecast-bench.bash",
        "_corecast-bench",
        "corecast-bench.fish",
    ] {
        assert!(folder.join(name).is_file(), "{name} is missing");
    }
    assert!(!folder.join("corecast-bench-victim.1").exists());
}
