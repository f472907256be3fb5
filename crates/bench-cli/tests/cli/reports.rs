//! The reports of the benchmarks of messages, groups and deaths.

use corecast::machine::pin;
use serde_json::json;

use crate::program::Program;

/// Runs `body` on one CPU, which the programs that it starts inherit.
fn on_one_cpu<R>(body: impl FnOnce() -> R) -> R {
    let cpu = pin::affinity().expect("own mask").as_slice()[0];
    let _pinned = pin::pin(cpu).expect("an allowed CPU");
    body()
}

#[test]
fn message_channels_are_raced_and_streamed() {
    let program = Program::new();
    let race = program.json(&["ump", "--quick", "--json", "--seed", "7"]);
    assert_eq!(race["seed"], 7);
    let row = &race["groups"][0]["rows"][0];
    assert!(row["median_ns"].is_number() && row["p99_ns"].is_number(), "{row}");
    assert_eq!(race["gates"].as_array().map(Vec::len), Some(4));
    let acknowledged =
        program.json(&["acknowledged", "--quick", "--json", "--n", "2,5", "--arity", "2", "--bursts", "1,4"]);
    let bursts: Vec<_> = acknowledged["groups"].as_array().into_iter().flatten().map(|group| &group["burst"]).collect();
    assert_eq!(bursts, [1, 4, 1, 4]);
    let select = program.json(&["select", "--quick", "--json", "--seed", "7"]);
    assert_eq!((&select["groups"][0]["op"], &select["fairness"]["channels"]), (&json!("select"), &json!(64)));
    let stream = program.json(&["stream", "--messages", "10000", "--json"]);
    assert_eq!(
        (&stream["messages"], &stream["torn"], &stream["lost"], &stream["reordered"]),
        (&json!(10_000), &json!(0), &json!(0), &json!(0))
    );
    let idle = program.json(&["idle", "--late", "20", "--json"]);
    assert_eq!((&idle["late_ms"], &idle["channels"][0]["contender"]), (&json!(20), &json!("ump")));
}

#[test]
fn groups_of_any_model_are_put_together() {
    let program = Program::new();
    let setup = program.json(&["setup", "--quick", "--synthetic", "core:18 pu:1", "--n", "2,18", "--json"]);
    let rows = setup["rows"].as_array().expect("rows");
    assert_eq!([&rows[0]["members"], &rows[1]["members"]], [&json!(2), &json!(18)]);
    assert!(rows.iter().all(|row| row["searched_ms"].is_number() && row["kept_ms"].is_number()), "{rows:?}");
    assert_eq!(setup["gates"].as_array().map(Vec::len), Some(2));
    let refused = program.run(&["setup", "--synthetic", "core:3 pu:1", "--n", "4"]);
    refused.failed(2, "3 participants");
}

#[test]
fn deaths_are_told_at_every_end() {
    let program = Program::new();
    let deaths = program.json(&["deaths", "--deaths", "3", "--json"]);
    let rows = deaths["rows"].as_array().expect("rows");
    let ends: Vec<_> = rows.iter().map(|row| (&row["channel"], &row["killed"], &row["told"])).collect();
    let died = json!("told of the death");
    let expected = ["ump", "ff", "mcast"].map(|channel| (json!(channel), json!("sender"), died.clone()));
    let receivers = ["ump", "ff", "mcast"].map(|channel| {
        (json!(channel), json!("receiver"), if channel == "mcast" { json!("sent") } else { died.clone() })
    });
    for (channel, killed, told) in expected.iter().chain(&receivers) {
        assert!(ends.contains(&(channel, killed, told)), "{ends:?}");
    }
    assert!(rows.iter().all(|row| row["deaths"] == 3 && row["left"] == 0 && row["median_ms"].is_number()), "{rows:?}");
    assert_eq!((ends.len(), deaths["gates"].as_array().map(Vec::len)), (6, Some(2)));
    program.run(&["victim", "pipe", "sender", "."]).failed(1, "expected ump, ff or mcast");
    program.run(&["deaths", "--deaths", "0"]).failed(2, "0 is not in 1..=100000");
}

#[test]
fn eight_members_share_one_cpu() {
    let program = Program::new();
    let race = on_one_cpu(|| program.json(&["collectives", "--quick", "--in-process", "--members", "8", "--json"]));
    for group in race["groups"].as_array().expect("an array") {
        assert_eq!((&group["participants"], &group["oversubscribed"]), (&8.into(), &true.into()));
        let rows = group["rows"].as_array().expect("an array");
        let timed = rows.iter().filter(|row| row["median_ns"].is_number()).count();
        assert!(timed >= 3 && rows[0]["median_ns"].is_number(), "{group}");
    }
}
