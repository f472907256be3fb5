//! `corecast serve`, and programs that ask it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::program::Program;

/// A service that runs, and is killed with the test.
struct Service {
    child: Child,
    ready: String,
}

impl Service {
    fn start(program: &Program, model: &str) -> Self {
        let mut command = program.command(&["serve", "--machine", model, "--socket", "plan.sock"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let mut ready = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut ready).expect("it says that it is ready");
        Self { child, ready }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Of one that has ended already there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask(socket: &Path, request: &Value) -> Value {
    let mut stream = UnixStream::connect(socket).expect("it serves");
    stream.write_all(format!("{request}\n").as_bytes()).expect("sent");
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).expect("an answer");
    serde_json::from_str(&answer).expect("JSON")
}

#[test]
fn a_service_is_killed_restarted_and_stopped() {
    let program = Program::new();
    let model = program.model(0..8);
    let socket = program.path("plan.sock");
    let plan = json!({"corecast-plan": 1, "op": "broadcast", "cpus": "2-5", "root": 4});

    let killed = Service::start(&program, &model);
    assert_eq!(killed.ready, "serving plans for 8 CPUs, costs assumed at plan.sock\n");
    assert_eq!(std::fs::metadata(&socket).expect("there").permissions().mode() & 0o777, 0o600);
    let first = ask(&socket, &plan);
    assert_eq!((&first["plan"]["root"], &first["plan"]["cpus"]), (&json!(4), &json!([2, 3, 4, 5])));
    let second = program.run(&["serve", "--machine", &model, "--socket", "plan.sock"]);
    second.failed(1, "a plan service is listening at plan.sock already");
    drop(killed);
    assert!(socket.exists(), "a killed service leaves its socket");

    let mut service = Service::start(&program, &model);
    let mut answer = ask(&socket, &plan);
    answer["plan"]["time_ms"] = first["plan"]["time_ms"].clone();
    assert_eq!(answer, first, "the same plan by another process");
    assert_eq!(ask(&socket, &plan)["cached"], true);
    kill_process(Pid::from_child(&service.child), Signal::TERM).expect("it still runs");
    assert_eq!(service.child.wait().expect("it ends").code(), Some(0));
    assert_eq!(program.files(), ["model.json"]);
}

#[test]
fn the_default_socket_is_in_the_runtime_folder() {
    let program = Program::new();
    let model = program.model(0..2);
    let run = |folder: &Path| {
        let mut command = program.command(&["serve", "--machine", &model, "--json"]);
        command.env("XDG_RUNTIME_DIR", folder).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    };
    let mut child = run(&program.path(""));
    let mut ready = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut ready).expect("it says that it is ready");
    let _service = Service { child, ready: ready.clone() };
    let ready: Value = serde_json::from_str(&ready).expect("JSON");
    let socket = program.path("corecast/plan.sock");
    assert_eq!(ready["socket"], json!(socket));
    assert_eq!(ask(&socket, &json!({"corecast-plan": 1, "op": "status"}))["status"]["cpus"], "0-1");

    let foreign = program.path("foreign");
    std::fs::create_dir_all(foreign.join("corecast")).expect("a folder");
    std::fs::set_permissions(foreign.join("corecast"), PermissionsExt::from_mode(0o755)).expect("opened");
    let refused = run(&foreign).wait_with_output().expect("it ends");
    assert_eq!(refused.status.code(), Some(1));
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(words.contains("is not a folder that only this user may enter") && words.contains("--socket"), "{words}");
}

#[test]
fn a_file_that_is_no_socket_is_not_replaced() {
    let program = Program::new();
    let model = program.model(0..2);
    program.run(&["serve", "--machine", &model, "--socket", &model]).failed(2, "is not a socket: it is not replaced");
    program.run(&["plan", "--op", "reduce", "--machine", &model]).succeeded();
    program.run(&["serve", "--max-clients", "0"]).failed(2, "--max-clients");
}

#[test]
fn a_plan_is_asked_of_the_service_and_made_here_without_one() {
    let program = Program::new();
    let model = program.model(0..8);
    let plan = |options: &[&str]| {
        let arguments =
            [&["plan", "--machine", &model, "--op", "barrier", "--json", "--cpus", "1-6"], options].concat();
        program.run(&arguments).succeeded()
    };
    let own = plan(&[]).json();
    let without = plan(&["--service", "plan.sock"]);
    assert!(without.stderr.contains("No such file or directory"), "{}", without.stderr);
    assert!(without.stderr.contains("planning in this process"), "{}", without.stderr);
    let _service = Service::start(&program, &model);
    let served = plan(&["--service", "plan.sock"]);
    assert_eq!(served.stderr, "");
    for (field, value) in own.as_object().expect("an object") {
        let same = field == "time_ms" || field == "why" || served.json()[field] == *value;
        assert!(same && without.json().get(field).is_some(), "{field}: {value}");
    }
    assert!(served.json()["why"].as_str().expect("words").ends_with("; served"), "{}", served.stdout);
}
