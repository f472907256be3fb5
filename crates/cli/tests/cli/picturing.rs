//! `corecast plan --dot` and `--svg`.

use crate::program::Program;

const PLAN: [&str; 4] = ["plan", "--op", "barrier", "--machine"];

#[test]
fn a_graph_has_every_cpu_once() {
    let program = Program::new();
    let model = program.model(0..8);
    let text = program.run(&[&PLAN[..], &[&model, "--planner", "trees", "--dot", "-"]].concat()).succeeded().stdout;
    assert!(text.starts_with("digraph plan {\n") && text.ends_with("}\n"), "{text}");
    assert_eq!(text.matches('{').count(), text.matches('}').count());
    assert_eq!(text.matches('"').count() % 2, 0);
    for cpu in 0..8 {
        assert_eq!(text.matches(&format!("[label=\"CPU {cpu}\\n")).count(), 1, "CPU {cpu} in {text}");
    }
    assert_eq!((text.matches(" -> ").count(), text.matches("subgraph cluster_").count()), (14, 2), "{text}");
}

#[test]
fn pictures_go_to_files_beside_the_plan() {
    let program = Program::new();
    let model = program.model(0..8);
    let plain = program.json(&[&PLAN[..], &[&model, "--json"]].concat());
    let options = [&model, "--json", "--dot", "plan.dot", "--svg", "plan.svg"];
    let plan = program.json(&[&PLAN[..], &options[..]].concat());
    assert_eq!((&plan["predicted"], &plan["up"]), (&plain["predicted"], &plain["up"]));
    let read = |name| std::fs::read_to_string(program.path(name)).expect("written");
    assert!(read("plan.dot").starts_with("digraph"));
    let picture = read("plan.svg");
    let document = roxmltree::Document::parse(&picture).expect("well-formed");
    assert_eq!(document.root_element().tag_name().name(), "svg");
    assert!(picture.contains("prefers-color-scheme: dark"), "light and dark");
    let loads = document.descendants().flat_map(|node| node.attributes()).any(|attribute| attribute.name() == "href");
    assert!(!loads && !picture.contains("url(") && !picture.contains("@import"), "self-contained");
}

#[test]
fn a_picture_is_printed_instead_of_the_plan() {
    let program = Program::new();
    let model = program.model(0..8);
    let picture = program.run(&[&PLAN[..], &[&model, "--svg", "-"]].concat()).succeeded().stdout;
    let document = roxmltree::Document::parse(&picture).expect("well-formed, and nothing else");
    assert_eq!(document.root_element().tag_name().name(), "svg");
    assert_eq!(program.files(), ["model.json"]);
}

#[test]
fn a_picture_that_cannot_be_written_is_told() {
    let program = Program::new();
    let model = program.model(0..2);
    for option in ["--dot", "--svg"] {
        let run = program.run(&[&PLAN[..], &[&model, option, "/dev/full"]].concat());
        assert_eq!(run.failed(1, "cannot write the picture to /dev/full: No space left").stdout, "");
    }
    let both = program.run(&[&PLAN[..], &[&model, "--dot", "-", "--json"]].concat());
    both.failed(2, "--dot - and --json both want standard output");
    let both = program.run(&[&PLAN[..], &[&model, "--svg", "-", "--json"]].concat());
    both.failed(2, "--svg - and --json both want standard output");
    let both = program.run(&[&PLAN[..], &[&model, "--svg", "-", "--dot", "-"]].concat());
    both.failed(2, "--dot - and --svg - both want standard output");
}
