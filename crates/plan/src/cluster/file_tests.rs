//! Tests of the reader and the writer of cluster files.

use serde_json::{Value, json};

use super::{ClusterTextError, MAX_LEN_BYTES, parse, read, render, write};

/// The example of the documentation.
const EXAMPLE: &str = include_str!("../../../../docs/examples/cluster.json");

fn assumed(value: f64) -> Value {
    json!({"value": value, "provenance": "assumed"})
}

fn example() -> Value {
    serde_json::from_str(EXAMPLE).expect("JSON")
}

#[test]
fn everything_comes_back_unknown_fields_too() {
    let mut text = example();
    text["colour"] = json!({"of": ["the", "case"]});
    text["tiers"][1]["cable"] = json!("copper");
    text["tiers"][1]["latency_ns"]["rounds"] = json!(20);
    text["nodes"] = json!([{"kind": "node", "count": 5, "row": 3}, {"kind": "node", "count": 2, "place": 64}]);
    text["machines"]["node"]["members"] = json!(128);
    text["nic"]["port"] = json!(1);
    text["arrival"]["by"] = json!("hand");
    let model = parse(text.to_string()).expect("a cluster");
    assert_eq!(model.len(), 7);
    let rendered = render(&model).expect("rendered");
    assert_eq!(parse(&rendered).expect("own text"), model);
    let mut numbers = serde_json::from_str::<Value>(&rendered).expect("JSON").to_string();
    for (written, given) in [(".0,", ","), (".0}", "}")] {
        numbers = numbers.replace(written, given);
    }
    let given = text.to_string().replace(".0,", ",").replace(".0}", "}");
    assert_eq!(numbers, given, "nothing is lost or added");
}

#[test]
fn every_broken_rule_is_named_by_its_path() {
    let cases: [(&str, Value, &str); 27] = [
        ("/name", Value::Null, "`name`: expected a text, found nothing"),
        ("/machines", json!([]), "`machines`: expected an object, found []"),
        ("/machines", json!({}), "`machines`: expected at least one kind of machine, found none"),
        (
            "/machines/node/file",
            json!("a.json"),
            "`machines.node`: expected an object with either `file` or `synthetic`",
        ),
        (
            "/machines/node/members",
            json!(0),
            "`machines.node.members`: expected a whole number from 1 to 65536, found 0",
        ),
        ("/nodes", json!([]), "`nodes`: expected at least one node, found none"),
        ("/nodes/0/kind", json!("fat"), "`nodes[0].kind`: expected one of the machines: node, found \"fat\""),
        ("/nodes/0/count", json!(-1), "`nodes[0].count`: expected a whole number, found -1"),
        ("/nodes/0/count", json!(0), "`nodes[0].count`: expected a whole number from 1 to 1000000000, found 0"),
        (
            "/nodes/0/place",
            json!(999_999_999),
            "`nodes[0]`: expected a whole number from 1 to 1000000000, found 10000010",
        ),
        ("/tiers", json!([]), "`tiers`: expected at least one tier, found none"),
        ("/tiers/0/size", Value::Null, "`tiers[0].size`: expected a size, as all tiers but the last have, found none"),
        ("/tiers/1/size", json!(40), "`tiers[1].size`: expected a multiple of 32 that is larger"),
        ("/tiers/1/size", json!(32), "`tiers[1].size`: expected a multiple of 32 that is larger"),
        ("/tiers/2/size", json!(512), "`tiers[2].size`: expected a multiple of 512 that is larger"),
        ("/tiers/0/size", json!(0), "`tiers[0].size`: expected a multiple of 1 that is larger"),
        (
            "/tiers/1/latency_ns",
            json!(7),
            "`tiers[1].latency_ns`: expected an object with `value` and `provenance`, found 7",
        ),
        ("/tiers/1/latency_ns/value", json!("7"), "`tiers[1].latency_ns.value`: expected a number, found \"7\""),
        (
            "/tiers/1/latency_ns/value",
            json!(-7),
            "`tiers[1].latency_ns.value`: expected a number from 0 to 1e15, found -7",
        ),
        (
            "/tiers/0/byte_ns/provenance",
            json!("guessed"),
            "`tiers[0].byte_ns.provenance`: expected measured, published or",
        ),
        ("/tiers/0/byte_ns/source", Value::Null, "`tiers[0].byte_ns.source`: expected the publication, found none"),
        (
            "/tiers/2/send_ns",
            Value::Null,
            "`tiers[2].send_ns`: expected an object with `value` and `provenance`, found no",
        ),
        ("/nic/curve/0/0", json!(2), "`nic.curve[0][0]`: expected 1 first, then ascending numbers of lanes"),
        ("/nic/curve/1", json!([2]), "`nic.curve[1]`: expected a pair of a number of lanes and its cost"),
        ("/nic/curve/2/1", assumed(0.0), "`nic.curve[2][1].value`: expected a time above 0, found 0"),
        ("/arrival/tail_share", assumed(2.0), "`arrival.tail_share.value`: expected a share from 0 to 1, found 2"),
        ("/arrival/mean_ns/value", json!(true), "`arrival.mean_ns.value`: expected a number, found true"),
    ];
    for (path, value, expected) in cases {
        let mut text = example();
        match text.pointer_mut(path) {
            Some(there) => *there = value,
            None => {
                let (parent, key) = path.rsplit_once('/').expect("a path");
                text.pointer_mut(parent).expect("a parent")[key] = value;
            }
        }
        let error = parse(text.to_string()).expect_err(expected).to_string();
        assert!(error.starts_with(expected), "{error}\ninstead of\n{expected}");
    }
}

#[test]
fn times_that_make_no_tree_are_refused() {
    let mut text = example();
    text["tiers"][2]["latency_ns"] = assumed(1e9);
    let error = parse(text.to_string()).expect_err("picoseconds instead of nanoseconds").to_string();
    assert!(error.contains("`tiers[2].latency_ns`: expected with `rendezvous_ns` and waits at most 100000"), "{error}");
    let mut text = example();
    for tier in ["send_ns", "receive_ns", "gap_ns"] {
        text["tiers"][0][tier] = assumed(0.0);
    }
    let error = parse(text.to_string()).expect_err("no time for a message").to_string();
    assert!(error.contains("`tiers[0].send_ns`: expected at least 1"), "{error}");
    let mut text = example();
    text["tiers"][1]["exchange_ns"] = assumed(0.0);
    let error = parse(text.to_string()).expect_err("no time for an exchange").to_string();
    assert!(error.contains("`tiers[1].exchange_ns`: expected at least 1"), "{error}");
}

#[test]
fn a_text_that_is_no_cluster_is_refused_with_the_expected_form() {
    let deep = "[".repeat(100_000);
    for (text, expected) in [
        ("", "truncated"),
        ("{\"schema\": \"corecast-clu", "truncated"),
        ("hello", "not JSON"),
        (deep.as_str(), "not JSON"),
        ("[1, 2]", "found something other than an object"),
        ("{\"root\": 3}", "found an object without `schema`"),
        ("{\"schema\": \"corecast-machine/1\"}", "found schema \"corecast-machine/1\""),
    ] {
        let error = parse(text).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
    let large = " ".repeat(usize::try_from(MAX_LEN_BYTES).expect("8 MiB") + 1);
    assert!(matches!(parse(large), Err(ClusterTextError::TooLarge { .. })));
}

#[test]
fn files_are_read_and_written_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("cluster.json");
    let missing = read(&file).expect_err("missing").to_string();
    assert!(missing.contains("cluster.json") && missing.contains("No such file"), "{missing}");
    let model = parse(EXAMPLE).expect("the example");
    write(&model, &file).expect("written");
    assert_eq!(read(&file).expect("read"), model);
    let mut broken = model;
    broken.nodes.clear();
    let error = write(&broken, &file).expect_err("no node").to_string();
    assert!(error.contains("`nodes`"), "{error}");
    assert_eq!(read(&file).expect("as it was").len(), 1024);
}

#[test]
fn a_scaled_cluster_keeps_the_shares_of_its_kinds() {
    let mut text = example();
    text["machines"]["fat"] = json!({"synthetic": "core:8 pu:1"});
    text["nodes"] = json!([{"kind": "node", "count": 3}, {"kind": "fat", "count": 1, "place": 100}]);
    let model = parse(text.to_string()).expect("a cluster");
    let counts = |nodes| model.scaled(nodes).nodes.iter().map(|run| run.count).collect::<Vec<u64>>();
    assert_eq!([counts(100_000), counts(1), counts(2)], [vec![75_000, 25_000], vec![1], vec![2]]);
    model.scaled(1_000_000_000).check().expect("as large as may be");
}
