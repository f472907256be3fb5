//! Inside a crate arrows point down, too: its top-level modules form no circle of imports.
//!
//! A module depends on another one of the same crate if a file of it names `crate::other`, outside of tests. Files that only
//! index (`lib.rs`, `main.rs`) are left out. In a circle no part can be understood, tested or moved without all others.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::Report;
use crate::source::SourceFile;
use crate::token::reads;
use crate::workspace::{Package, Workspace};

pub(super) const NAME: &str = "circles";

type Graph = BTreeMap<String, BTreeSet<String>>;

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    for package in &workspace.packages {
        for circle in circles(&graph(package)) {
            let list = Vec::from_iter(circle.iter().map(String::as_str)).join(", ");
            let message = format!("modules that depend on each other in a circle: {list}");
            report.violation(NAME, &format!("{}/src", package.dir), 1, message);
        }
    }
}

/// Which top-level module names which.
fn graph(package: &Package) -> Graph {
    let sources: Vec<(String, &SourceFile)> =
        package.sources.iter().filter_map(|source| Some((top_module(package, source)?, source))).collect();
    let mut graph: Graph = sources.iter().map(|(module, _)| (module.clone(), BTreeSet::new())).collect();
    let modules: BTreeSet<String> = graph.keys().cloned().collect();
    for (module, source) in sources {
        let mut named = named(source);
        named.retain(|name| modules.contains(name) && *name != module);
        graph.entry(module).or_default().append(&mut named);
    }
    graph
}

/// The top-level module that a file belongs to; `None` for an index, and for what is not in `src`.
fn top_module(package: &Package, source: &SourceFile) -> Option<String> {
    let path = source.path.strip_prefix(&format!("{}/src/", package.dir))?;
    let top = path.split('/').next()?.trim_end_matches(".rs");
    (!["lib", "main"].contains(&top)).then(|| top.to_owned())
}

/// The modules behind `crate::` in a file, outside of tests.
fn named(source: &SourceFile) -> BTreeSet<String> {
    let imports = source.imports().into_iter().filter(|import| !source.is_test_line(import.line));
    let imported = imports.filter(|import| import.path.first().is_some_and(|first| first == "crate"));
    let mut named: BTreeSet<String> = imported.filter_map(|import| import.path.get(1).cloned()).collect();
    let tokens = &source.tokens;
    let paths = (0..tokens.len())
        .filter(|&at| reads(tokens, at, &["crate", ":", ":"]) && !source.is_test_line(tokens[at].line));
    named.extend(paths.filter_map(|at| tokens.get(at + 3)).map(|token| token.text.clone()));
    named
}

/// The sets of two modules or more each of which reaches all others of its set.
fn circles(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        graph.keys().map(|module| (module, reached_from(graph, module))).collect();
    let mut circles = BTreeSet::new();
    for (module, others) in &reached {
        let mut circle: BTreeSet<String> =
            others.iter().filter(|other| reached[**other].contains(module)).map(|&other| other.clone()).collect();
        circle.insert((*module).clone());
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

fn reached_from<'a>(graph: &'a Graph, start: &String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&String> = graph[start].iter().collect();
    while let Some(module) = next.pop() {
        if reached.insert(module) {
            next.extend(graph.get(module).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::planted::{check_workspace, workspace};

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check_workspace(check, &workspace("corecast-base", "crates/base", "", files))
    }

    #[test]
    fn a_circle_of_folders_is_found() {
        let files = [
            ("src/lib.rs", "mod a;\nmod b;\nmod c;\n"),
            ("src/a/mod.rs", "use crate::b::B;\npub struct A(B);\n"),
            ("src/b/mod.rs", "mod deep;\n"),
            ("src/b/deep.rs", "fn f() { crate::c::g(); }\n"),
            ("src/c.rs", "use crate::{a::A};\npub fn g() -> Option<A> { None }\n"),
        ];
        let found = found(&files);
        assert!(found.len() == 1 && found[0].contains("in a circle: a, b, c"), "{found:?}");
    }

    #[test]
    fn arrows_that_point_down_are_fine_and_tests_may_look_up() {
        let files = [
            ("src/lib.rs", "mod a;\nmod b;\n"),
            ("src/a/mod.rs", "use crate::b::B;\n"),
            ("src/b/mod.rs", "pub struct B;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }
}
