//! Inside a crate arrows point down, too: the modules of a folder form no circle of imports that a subfolder is part of.
//!
//! That holds for the folders at every depth of `src/`. A module depends on its sibling if a file in or below it names an
//! item in or below the sibling, outside of tests; re-exports are followed to the item. The folder's own `mod.rs`
//! (`lib.rs`, `main.rs`) is left out: an index knows everything below it, and may hold words that all below it share. In a
//! circle no part can be understood, tested or moved without all others.
//!
//! Files of one folder below the top may name each other in a circle: they are one idea, and are moved together.

use std::collections::{BTreeMap, BTreeSet};

use crate::module_tree::{ModulePath, ModuleTree};
use crate::report::Report;
use crate::workspace::{Package, Workspace};

pub(super) const NAME: &str = "circles";

type Graph = BTreeMap<String, BTreeSet<String>>;

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    for package in &workspace.packages {
        for (folder, graph) in graphs(package) {
            let path = [&[format!("{}/src", package.dir)], &folder[..]].concat().join("/");
            let has_folder = |circle: &BTreeSet<String>| circle.iter().any(|module| is_folder(package, &path, module));
            for circle in circles(&graph).iter().filter(|circle| folder.is_empty() || has_folder(circle)) {
                let list = Vec::from_iter(circle.iter().map(String::as_str)).join(", ");
                let message = format!("modules that depend on each other in a circle: {list}");
                report.violation(NAME, &path, 1, message);
            }
        }
    }
}

fn is_folder(package: &Package, path: &str, module: &str) -> bool {
    let folder = format!("{path}/{module}/");
    package.sources.iter().any(|source| source.path.starts_with(&folder))
}

/// For each folder of the package, which of its child modules names which.
fn graphs(package: &Package) -> BTreeMap<ModulePath, Graph> {
    let tree = ModuleTree::of(package);
    let mut graphs: BTreeMap<ModulePath, Graph> = BTreeMap::new();
    for (from, to) in tree.dependencies() {
        let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        if let (Some(child), Some(sibling)) = (from.get(shared), to.get(shared)) {
            let graph = graphs.entry(to[..shared].to_vec()).or_default();
            graph.entry(sibling.clone()).or_default();
            graph.entry(child.clone()).or_default().insert(sibling.clone());
        }
    }
    graphs
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
    fn a_circle_at_the_top_is_found() {
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
    fn a_circle_in_a_nested_folder_is_found() {
        let files = [
            ("src/lib.rs", "mod a;\n"),
            ("src/a/mod.rs", "mod b;\nmod c;\nmod d;\npub use d::deep::D;\n"),
            ("src/a/b/mod.rs", "mod below;\n"),
            ("src/a/b/below.rs", "use super::super::c::{self, C};\n"),
            ("src/a/c.rs", "use super::D;\npub struct C;\n"),
            ("src/a/d/mod.rs", "pub mod deep;\n"),
            ("src/a/d/deep.rs", "pub struct D;\nfn f() { crate::a::b::g(); }\n"),
        ];
        let found = found(&files);
        assert!(found.len() == 1 && found[0].contains("src/a:1: circles: "), "{found:?}");
        assert!(found[0].ends_with("in a circle: b, c, d"), "{found:?}");
    }

    #[test]
    fn files_of_one_nested_folder_may_name_each_other() {
        let files = [
            ("src/lib.rs", "mod a;\n"),
            ("src/a/mod.rs", "mod b;\nmod c;\n"),
            ("src/a/b.rs", "use super::c::C;\npub struct B;\n"),
            ("src/a/c.rs", "use super::b::B;\npub struct C;\n"),
        ];
        assert_eq!(found(&files), [""; 0]);
        let top = [("src/lib.rs", ""), ("src/b.rs", "use crate::c::C;\n"), ("src/c.rs", "use crate::b::B;\n")];
        assert!(found(&top)[0].ends_with("in a circle: b, c"));
    }

    #[test]
    fn an_index_knows_what_lies_below_and_lends_its_words() {
        let files = [
            ("src/lib.rs", "mod a;\npub use a::A;\npub struct Shared;\n"),
            ("src/a/mod.rs", "mod b;\nmod c;\npub use b::B as A;\npub struct Job(b::B, c::C);\n"),
            ("src/a/b.rs", "use super::Job;\nuse crate::Shared;\n"),
            ("src/a/c/mod.rs", "use crate::A;\nmod inner { use super::super::Job; }\n"),
        ];
        assert_eq!(found(&files), [""; 0]);
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
