//! Tests of the whole page, on machines from one CPU to 256.

use std::path::{Path, PathBuf};

use corecast::machine::{CostMatrix, Cpu, Machine, Topology, model_file};
use corecast::plan::Operation;
use corecast_testing::machines;

use super::{PlannedTree, ReportInput, example, race_picture, render, render_race};

const LIMIT_BYTES: usize = 5_000_000;

/// A page of that machine with every tree, and with a race if `race` has one.
fn page(machine: &Machine, trees: &[PlannedTree], race: Option<&corecast_race::Report>) -> String {
    let commands =
        ["corecast measure --out m.json".to_owned(), "corecast plan --machine m.json --op barrier".to_owned()];
    render(&ReportInput {
        machine,
        trees,
        race,
        warnings: &["a made-up warning".to_owned()],
        created_at: "2026-02-01T12:00:00Z",
        version: "0.1.0",
        commands: &commands,
    })
}

/// The page as XML: HTML leaves elements without content open, and it has no others than these.
fn as_xml(page: &str) -> String {
    let mut xml = page.replacen("<!DOCTYPE html>", "", 1);
    for meta in page.match_indices("<meta ").map(|(at, _)| &page[at..=at + page[at..].find('>').expect("closed")]) {
        xml = xml.replacen(meta, &format!("{}/>", &meta[..meta.len() - 1]), 1);
    }
    xml
}

/// Checks what holds for every page.
fn check(page: &str) {
    assert!(page.len() < LIMIT_BYTES, "{} bytes", page.len());
    let xml = as_xml(page);
    let document = roxmltree::Document::parse(&xml).expect("well-formed");
    for number in ["NaN", "inf\"", "\"inf", "-inf"] {
        assert!(!page.contains(number), "{number}");
    }
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        assert!(!["script", "link", "img", "iframe", "object", "image"].contains(&node.tag_name().name()), "{node:?}");
        for attribute in node.attributes().filter(|attribute| ["src", "href"].contains(&attribute.name())) {
            assert!(attribute.value().starts_with('#'), "{attribute:?} loads something");
        }
        if node.tag_name().name() == "svg" {
            let has = |name| node.children().any(|child| child.tag_name().name() == name && child.text().is_some());
            assert!(has("title") && has("desc"), "a picture without words");
        }
    }
    for loader in ["url(", "@import", "@font-face"] {
        assert!(!page.contains(loader), "{loader}");
    }
}

#[test]
fn every_size_of_machine_has_a_page() {
    for len in [1, 2, 20, 64, 256] {
        let machine = example::machine(len);
        let race = example::race(&[(len as usize, len as usize), (2 * len as usize, len as usize)]);
        let page = page(&machine, &example::trees(&machine), Some(&race));
        check(&page);
        assert!(page.contains("oversubscribed"), "{len}");
    }
}

#[test]
fn sections_without_content_say_so() {
    let machine = example::machine(2);
    let page = page(&machine, &[], None);
    check(&page);
    for words in ["Nothing was planned.", "Nothing was raced"] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn texts_from_outside_stay_texts() {
    let hostile = "<script>alert('x')</script>\"&<img src=http://example.org/x>";
    let mut machine = example::machine(2);
    machine.name = hostile.to_owned();
    machine.provenance.kind = hostile.to_owned();
    machine.provenance.source = hostile.to_owned();
    machine.extended.notes = vec![hostile.to_owned()];
    machine.extended.warnings = vec![hostile.to_owned()];
    let mut race = example::race(&[(2, 2)]);
    race.groups[0].rows[4].contender = hostile.to_owned();
    race.groups[0].rows[7].skipped = Some(hostile.to_owned());
    race.machine = hostile.to_owned();
    let page = page(&machine, &example::trees(&machine), Some(&race));
    check(&page);
    let xml = as_xml(&page);
    let document = roxmltree::Document::parse(&xml).expect("well-formed");
    let heading = document.descendants().find(|node| node.has_tag_name("h1")).and_then(|node| node.text());
    assert_eq!(heading, Some(hostile));
}

#[test]
fn provenance_and_warnings_cannot_be_missed() {
    let mut machine = example::machine(2);
    let assumed = page(&machine, &[], None);
    assert!(assumed.contains("Nothing was measured") && assumed.contains("origin doubtful"), "assumed");
    assert!(assumed.contains("a made-up warning"));
    machine.provenance.kind = "measured".to_owned();
    let measured = page(&machine, &[], None);
    assert!(!measured.contains("Nothing was measured") && measured.contains("class=\"origin\""), "measured");
}

#[test]
fn a_contender_that_was_not_timed_is_listed_with_the_reason() {
    let page = page(&example::machine(2), &[], Some(&example::race(&[(2, 2)])));
    assert!(page.contains("Not timed, for 2 participants only: two flags."));
}

#[test]
fn a_free_machine_and_a_uniform_one_have_pages() {
    let cpus: Vec<Cpu> = (0..3).map(|id| Cpu::flat(corecast::CpuId::new(id))).collect();
    let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
    check(&page(&machine, &example::trees(&machine), None));
    machine.send = CostMatrix::zero(3);
    machine.receive = CostMatrix::zero(3);
    check(&page(&machine, &example::trees(&machine), None));
}

#[test]
fn a_race_alone_has_a_page_with_curves() {
    let mut race = example::race(&[(2, 2), (4, 4), (8, 4), (16, 4)]);
    race.warnings = vec!["a made-up <b>warning</b>".to_owned()];
    let page = render_race(&race, "2026-02-01", "0.1.0", "corecast bench collectives --n 2,4,8,16");
    check(&page);
    for words in ["barrier: time against members", "a made-up &lt;b&gt;warning", "corecast bench collectives --n"] {
        assert!(page.contains(words), "{words}");
    }
}

/// Pages to look at, in the folder that the variable `CORECAST_EXAMPLES` names, or else in one that is deleted.
#[test]
fn examples_to_look_at() {
    let deleted = tempfile::tempdir().expect("a folder for a moment");
    let folder = std::env::var_os("CORECAST_EXAMPLES").map_or_else(|| deleted.path().to_owned(), PathBuf::from);
    for len in [2, 8, 16, 48, 256] {
        let machine = example::machine(len);
        let race = example::race(&[(2, 2), (8, 2)]);
        write(&folder, &format!("report-{len}.html"), &page(&machine, &example::trees(&machine), Some(&race)));
    }
    let race = example::race(&[(2, 2), (4, 4), (8, 4), (16, 4)]);
    write(&folder, "race.html", &render_race(&race, "2026-02-01", "0.1.0", "corecast bench collectives"));
    write(&folder, "race.svg", &race_picture(&example::race(&[(2, 2), (8, 2)]), "2026-02-01"));
    let machine = model_file::read(&machines::model("paper-xeon-ivb-2x10-20")).expect("a captured machine");
    let mut trees = example::trees(&machine);
    trees[0] = example::tree(&machine, Operation::Broadcast, "adaptive");
    let text = page(&machine, &trees, Some(&example::race(&[(20, 20)])));
    check(&text);
    assert!(text.contains("broadcast: adaptive, predicted 1426 cycles"), "the published cost");
    write(&folder, "report-golden.html", &text);
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("the folder can be written to");
}
