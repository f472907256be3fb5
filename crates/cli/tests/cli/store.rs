//! `corecast kv`: a store served by processes, its clients, and processes that are killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use corecast::base::sync::{AtomicBool, Ordering};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::{Value, json};

use crate::program::{Program, Run};

/// How long a test waits for something that takes milliseconds on an idle machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A store that is served, and stopped with the test.
struct Store<'a> {
    program: &'a Program,
    child: Child,
    socket: PathBuf,
    pids: Vec<u32>,
    stderr: BufReader<ChildStderr>,
}

/// The program with sockets in the test's folder.
fn command(program: &Program, arguments: &[&str]) -> Command {
    let mut command = program.command(arguments);
    command.env("XDG_RUNTIME_DIR", program.path(""));
    command
}

fn run(program: &Program, arguments: &[&str]) -> Run {
    Run::from(command(program, arguments).output().expect("the program starts"))
}

impl<'a> Store<'a> {
    fn serve(program: &'a Program, options: &[&str]) -> Self {
        Self::serve_as(program, &[&["s"], options].concat())
    }

    /// The name, if any, comes first among these.
    fn serve_as(program: &'a Program, options: &[&str]) -> Self {
        let arguments = [&["kv", "serve"], options, &["--json", "--bulk", "1Mi"]].concat();
        let mut command = command(program, &arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let mut ready = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut ready).expect("it says that it is ready");
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        if ready.is_empty() {
            let mut why = String::new();
            stderr.read_to_string(&mut why).expect("text");
            panic!("it does not serve: {why}");
        }
        let ready: Value = serde_json::from_str(&ready).expect("JSON");
        let pids = ready["pids"].as_array().expect("a list").iter();
        let pids = pids.map(|pid| pid.as_u64().expect("a number") as u32).collect();
        let socket = program.path(ready["socket"].as_str().expect("a path"));
        Self { program, child, socket, pids, stderr }
    }

    fn connect(&self) -> UnixStream {
        UnixStream::connect(&self.socket).expect("somebody listens")
    }

    /// Sends a line of commands and returns the first line of each of `count` replies.
    fn ask(&self, line: &str) -> std::io::Result<String> {
        ask_at(&self.socket, line)
    }

    /// The same, as often as it takes while processes come and go.
    fn ask_until(&self, line: &str, expected: &str) {
        let begun = Instant::now();
        loop {
            let answer = self.ask(line);
            if matches!(&answer, Ok(answer) if answer == expected) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{line}: {answer:?} instead of {expected}");
            std::thread::yield_now();
        }
    }

    /// The value of a line of INFO.
    fn fact(&self, name: &str) -> Option<String> {
        let info = self.ask("INFO").ok()?;
        let line = info.split('|').find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(str::to_owned)
    }

    /// Waits until the group has this many members.
    fn await_members(&self, count: usize) {
        let begun = Instant::now();
        while self.fact("members").is_none_or(|members| members.split(',').count() != count) {
            assert!(begun.elapsed() < PATIENCE, "{:?} instead of {count} members", self.fact("members"));
            std::thread::yield_now();
        }
    }

    /// The slot of the leader.
    fn leader(&self) -> usize {
        let leader = self.fact("leader").expect("a leader");
        leader.split('.').next().expect("a slot").parse().expect("a number")
    }

    /// The next remark of the program that starts the processes.
    fn remark(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).expect("text");
        line
    }

    fn stop(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).expect("it still runs");
        assert_eq!(self.child.wait().expect("it ends").code(), Some(0));
        let left: Vec<&u32> =
            self.pids.iter().filter(|pid| std::path::Path::new(&format!("/proc/{pid}")).exists()).collect();
        assert!(left.is_empty(), "processes {left:?} are left");
        assert!(!self.socket.exists());
        let _ = self.program;
    }
}

fn ask_at(socket: &Path, line: &str) -> std::io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{line}\nQUIT\n").as_bytes())?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    Ok(text.strip_suffix("+OK\r\n").unwrap_or(&text).replace("\r\n", "|"))
}

impl Drop for Store<'_> {
    fn drop(&mut self) {
        // It stops its processes, unless it has done so already.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid as i32).expect("a process"), signal).expect("it runs");
}

/// The process that a remark says was started in the place of a dead one.
fn started(remark: &str) -> u32 {
    let (_, pid) = remark.trim_end().rsplit_once("is started again as process ").expect("a start");
    pid.parse().expect("a number")
}

#[test]
fn a_store_is_served_looked_into_and_stopped() {
    let program = Program::new();
    let store = Store::serve(&program, &["--resp", "store.sock"]);
    assert_eq!(store.socket, program.path("store.sock"));
    assert_eq!(std::fs::metadata(&store.socket).expect("there").permissions().mode() & 0o777, 0o600);
    let kv = |arguments: &[&str]| run(&program, &[&["kv"], arguments].concat());
    kv(&["get", "s", "a"]).failed(1, "there is no key 'a'");
    assert_eq!(kv(&["set", "s", "a", "1", "--if-absent"]).succeeded().stdout, "");
    kv(&["set", "s", "a", "2", "--if-absent"]).failed(1, "the condition does not hold");
    kv(&["set", "s", "a", "2", "--if-value", "3"]).failed(1, "the condition does not hold");
    kv(&["set", "s", "a", "2", "--if-value", "1"]).succeeded();
    kv(&["set", "s", "b", "x\ty", "--if-present"]).failed(1, "the condition does not hold");
    kv(&["set", "s", "b", "x\ty"]).succeeded();
    assert_eq!(kv(&["get", "s", "b"]).succeeded().stdout, "x\\u{9}y\n");
    assert_eq!(kv(&["get", "s", "b", "--raw"]).succeeded().stdout, "x\ty");
    assert_eq!(kv(&["get", "s", "a", "--json"]).succeeded().json(), json!({"key": "a", "value": "2"}));
    assert_eq!(kv(&["get", "s", "c", "--json"]).succeeded().json(), json!({"key": "c", "value": null}));
    assert_eq!(kv(&["watch", "s", "a", "--count", "1"]).succeeded().stdout, "2\n");
    // Longer than an argument may be.
    let long = program.file("long", "l".repeat(1 << 19));
    kv(&["set", "s", "l", "--from", &long]).succeeded();
    assert_eq!(kv(&["get", "s", "l", "--raw"]).succeeded().stdout.len(), 1 << 19);
    let mut set = command(&program, &["kv", "set", "s", "l", "--from", "-"]);
    let mut set = set.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the program starts");
    set.stdin.take().expect("piped").write_all(b"from a pipe\n").expect("it is read");
    assert!(set.wait().expect("it ends").success());
    assert_eq!(kv(&["get", "s", "l", "--raw"]).succeeded().stdout, "from a pipe\n");
    assert_eq!(kv(&["delete", "./store.sock", "a", "c"]).succeeded().stdout, "1\n");
    let load = kv(&["bench", "s", "--clients", "2", "--pipeline", "4", "--seconds", "1", "--json"]).succeeded().json();
    assert!(load["requests"].as_u64() > Some(0), "{load}");
    store.stop();
    kv(&["get", "s", "a"]).failed(2, "no store is served at");
}

/// A store without a name has that of its socket.
#[test]
fn a_store_has_the_name_of_its_socket() {
    let program = Program::new();
    let store = Store::serve_as(&program, &["--replicas", "1", "--resp", "accounts.sock"]);
    assert_eq!(store.ask("SET alice 100").expect("answered"), "+OK|");
    assert_eq!(run(&program, &["kv", "get", "accounts", "alice"]).succeeded().stdout, "100\n");
    store.stop();
}

#[test]
fn names_and_sockets_in_use_are_refused() {
    let program = Program::new();
    let store = Store::serve(&program, &["--replicas", "1"]);
    let serve = |name: &str, options: &[&str]| run(&program, &[&["kv", "serve", name], options].concat());
    serve("s", &[]).failed(1, "somebody is listening at");
    serve("s", &["--resp", "other.sock"]).failed(1, "somebody is listening at");
    let socket = store.socket.to_str().expect("UTF-8");
    serve("t", &["--resp", socket]).failed(1, "somebody is listening at");
    let file = program.file("file", "text");
    serve("t", &["--resp", &file]).failed(2, "is not a socket: it is not replaced");
    serve("a/b", &[]).failed(2, "only letters, digits");
    serve("t", &["--replicas", "0"]).failed(2, "--replicas");
    serve("t", &["--replicas", "1024"]).failed(2, "--replicas");
    serve("t", &["--fsync", "always"]).failed(2, "--data");
    serve("t", &["--data", &file]).failed(2, "is not a folder");
    let below = format!("{file}/below");
    serve("t", &["--data", &below]).failed(2, &format!("--data {below}: the folder cannot be made: "));
    run(&program, &["kv", "replica", "t", "--slot", "0"]).failed(2, "standard input is no listening socket");
    store.stop();
}

/// Bad arguments end with 2, and with words that name the argument and what was expected, before a server is asked.
#[test]
fn wrong_arguments_are_named() {
    let program = Program::new();
    let kv = |arguments: &[&str]| run(&program, &[&["kv"], arguments].concat());
    let long = "x".repeat(1025);
    let expected = "expected a whole number from";
    let too_long = program.file("too long", "x".repeat((16 << 20) + 1));
    let cases: [(&[&str], [&str; 2]); 28] = [
        (&["frobnicate"], ["'frobnicate'", "unrecognized subcommand"]),
        (&["serve"], ["<NAME>", "required"]),
        (&["serve", ""], ["bad name \"\"", "empty"]),
        (&["serve", "--resp", "a b.sock"], ["bad name \"a b\"", "kv serve NAME --resp SOCKET"]),
        (&["serve", "s", "--replicas", "x"], ["'x' for '--replicas <N>'", expected]),
        (&["serve", "s", "--replicas", "1024"], ["'1024' for '--replicas <N>'", expected]),
        (&["serve", "s", "--max-clients", "0"], ["'0' for '--max-clients <N>'", expected]),
        (&["serve", "s", "--bulk", "100"], ["'100' for '--bulk <BYTES>'", "65536..=1073741824"]),
        (&["serve", "s", "--placement", "other"], ["'other' for '--placement <PLACEMENT>'", "separate, fused"]),
        (
            &["serve", "s", "--data", "d", "--fsync", "often"],
            ["'often' for '--fsync <FSYNC>'", "always, everysec, never"],
        ),
        (&["serve", "s", "--resp", "none/sock"], ["none/sock", "none is not there"]),
        (&["serve", "s", "--resp", &long], [&long[..50], "longer than 107 bytes"]),
        (&["replica", "s", "--slot", "1023"], ["'1023' for '--slot <N>'", expected]),
        (&["get", "s", ""], ["'' for '<KEY>'", "a key has 1 to 1024 bytes, not 0"]),
        (&["set", "s", &long, "v"], ["for '<KEY>'", "a key has 1 to 1024 bytes, not 1025"]),
        (&["set", "s", "k"], ["<VALUE>", "required"]),
        (&["set", "s", "k", "v", "--from", "f"], ["[VALUE]", "cannot be used with"]),
        (&["set", "s", "k", "--from", "no file"], ["cannot open 'no file'", "No such file"]),
        (&["set", "s", "k", "--from", &too_long], ["a value has at most 16777216 bytes", "too long' has more"]),
        (&["delete", "s", "a", ""], ["'' for '<KEYS>...'", "a key has 1 to 1024 bytes, not 0"]),
        (&["watch", "s", ""], ["'' for '<KEY>'", "a key has 1 to 1024 bytes, not 0"]),
        (&["watch", "s", "k", "--count", "0"], ["'0' for '--count <N>'", expected]),
        (&["watch", "s", "k", "--every", "x"], ["'x' for '--every <TIME>'", "from 1ms to 3600s"]),
        (&["bench", "s", "--gets", "101"], ["'101' for '--gets <PERCENT>'", "expected a whole number from 0 to 100"]),
        (
            &["bench", "s", "--pipeline", "10000", "--bytes", "16Mi"],
            ["--pipeline 10000 --bytes 16777216: values of 167772160000 bytes", "at most 48 MiB and 1024 MiB"],
        ),
        (&["bench", "s", "--clients", "1000", "--bytes", "2Mi"], ["2097152000 for all", "1024 MiB"]),
        (&["get", "a@b", "k"], ["bad name \"a@b\"", "only letters, digits"]),
        (&["get", "./none.sock", "k"], ["./none.sock", "no store is served at"]),
    ];
    for (arguments, words) in cases {
        words.into_iter().for_each(|words| _ = kv(arguments).failed(2, words));
    }
}

#[test]
fn files_bring_a_store_back() {
    let program = Program::new();
    for (asked, answer) in [("SET k v", "+OK|"), ("GET k", "$1|v|")] {
        let store = Store::serve(&program, &["--replicas", "2", "--data", "folder", "--fsync", "always"]);
        assert_eq!(store.ask(asked).expect("answered"), answer);
        store.stop();
    }
}

#[test]
fn garbage_does_no_harm() {
    let program = Program::new();
    let store = Store::serve(&program, &["--replicas", "1"]);
    for (bytes, told) in [
        ("*1\r\n$1073741824\r\n", "-ERR Protocol error: invalid bulk length\r\n"),
        ("*1\r\n*1\r\n*1\r\n", "-ERR Protocol error: expected '$', got '*'\r\n"),
    ] {
        let mut stream = store.connect();
        stream.write_all(bytes.as_bytes()).expect("sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("told");
        assert_eq!(text, told);
    }
    let mut half = store.connect();
    half.write_all(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$10\r\nv").expect("sent");
    drop(half);
    assert_eq!(store.ask("GET k").expect("answered"), "$-1|");
    store.stop();
}

/// Each process is killed in turn, the leader among them. Nothing that was acknowledged is lost, the socket stays, and clients
/// connect at most once more.
#[test]
fn killed_processes_come_back_and_nothing_is_lost() {
    let program = Program::new();
    let mut store = Store::serve(&program, &[]);
    let mut sum = 0;
    for round in 0..2 {
        for slot in 0..store.pids.len() {
            sum += 1;
            assert_eq!(
                store.ask(&format!("INCR n\nSET k{sum} {round}.{slot}")).expect("answered"),
                format!(":{sum}|+OK|")
            );
            signal(store.pids[slot], Signal::KILL);
            let ended = store.remark();
            assert!(
                ended.contains(&format!("replica {slot}, process {}, ended by signal 9", store.pids[slot])),
                "{ended}"
            );
            store.pids[slot] = started(&store.remark());
            store.ask_until("GET n", &format!("$1|{sum}|"));
            // The next one dies only when three are members again, so that one of those lives that have all.
            store.await_members(3);
        }
    }
    for (at, key) in (1..=sum).enumerate() {
        assert_eq!(store.ask(&format!("GET k{key}")).expect("answered"), format!("$3|{}.{}|", at / 3, at % 3));
    }
    store.stop();
}

/// Without files, a store is gone with its last process. The next one serves at the same socket: nobody should take it for the
/// old one. Files bring back what was acknowledged, though nothing was written through to the disk.
#[test]
fn a_store_that_begins_anew_says_so() {
    let program = Program::new();
    for (options, begins, left) in
        [(&[][..], "empty", "$-1|"), (&["--data", "folder", "--fsync", "never"], "with what its files hold", "$1|1|")]
    {
        let mut store = Store::serve(&program, &[&["--replicas", "1"], options].concat());
        assert_eq!(store.ask("SET a 1").expect("answered"), "+OK|");
        signal(store.pids[0], Signal::KILL);
        assert!(store.remark().contains("ended by signal 9"));
        let words = store.remark();
        assert!(words.contains(&format!("no process of the store was left: it begins anew, {begins}")), "{words}");
        store.pids[0] = started(&store.remark());
        store.ask_until("GET a", left);
        store.stop();
    }
}

/// Each process is killed, the leader first, while a client sends pipelines, whose changes are ordered as one: all that was
/// acknowledged is there.
#[test]
fn acknowledged_pipelines_outlive_the_processes() {
    let program = Program::new();
    let mut store = Store::serve(&program, &[]);
    let (socket, is_over) = (store.socket.clone(), AtomicBool::new(false));
    let acknowledged = std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            let mut acknowledged = Vec::new();
            for number in 0.. {
                // ORDERING: Relaxed, the flag says everything
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let sets: String = (0..16).map(|at| format!("SET k{number}.{at} {number}\n")).collect();
                if ask_at(&socket, &sets).is_ok_and(|answer| answer == "+OK|".repeat(16)) {
                    acknowledged.push(number);
                }
            }
            acknowledged
        });
        for process in 0..store.pids.len() {
            signal(store.pids[process], Signal::KILL);
            assert!(store.remark().contains("ended by signal 9"));
            store.pids[process] = started(&store.remark());
            store.await_members(3);
        }
        // ORDERING: Relaxed, the flag says everything
        is_over.store(true, Ordering::Relaxed);
        client.join().expect("it only asks")
    });
    assert!(!acknowledged.is_empty());
    for number in acknowledged {
        let keys: String = (0..16).map(|at| format!(" k{number}.{at}")).collect();
        let number = number.to_string();
        let expected = format!("*16|{}", format!("${}|{number}|", number.len()).repeat(16));
        assert_eq!(store.ask(&format!("MGET{keys}")).expect("answered"), expected);
    }
    store.stop();
}

/// A store is not lost with the command that only started it; its processes end at SIGTERM.
#[test]
fn processes_go_on_without_the_one_that_started_them() {
    let program = Program::new();
    let mut store = Store::serve(&program, &[]);
    assert_eq!(store.ask("SET a 1").expect("answered"), "+OK|");
    store.child.kill().expect("it still runs");
    store.child.wait().expect("it ends");
    assert_eq!(store.ask("INCR a").expect("answered"), ":2|");
    let end_of = |pid: &u32| pidfd_open(Pid::from_raw(*pid as i32).expect("a process"), PidfdFlags::empty());
    let ends: Vec<_> = store.pids.iter().map(|pid| end_of(pid).expect("it runs")).collect();
    store.pids.iter().for_each(|&pid| signal(pid, Signal::TERM));
    let patience = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
    for end in &ends {
        let ended = poll(&mut [PollFd::new(end, PollFlags::IN)], Some(&patience)).expect("a process is watched");
        assert_eq!(ended, 1, "a replica goes on");
    }
}

/// A leader that is stopped does not keep clients from being served.
#[test]
fn a_stopped_leader_does_not_stop_the_store() {
    let program = Program::new();
    let store = Store::serve(&program, &[]);
    assert_eq!(store.ask("SET a 1").expect("answered"), "+OK|");
    let leader = store.pids[store.leader()];
    signal(leader, Signal::STOP);
    store.ask_until("INCR a", ":2|");
    signal(leader, Signal::CONT);
    store.ask_until("GET a", "$1|2|");
    store.stop();
}

/// The operations of a pipeline are applied in their order, whatever the processes are busy with.
#[test]
fn a_pipeline_keeps_its_order() {
    let program = Program::new();
    let store = Store::serve(&program, &[]);
    let count = 400;
    std::thread::scope(|scope| {
        for client in 0..3 {
            let store = &store;
            scope.spawn(move || {
                for round in 0..5 {
                    let key = format!("k{client}.{round}");
                    let appends: String = (0..count).map(|at| format!("APPEND {key} {at:04}\n")).collect();
                    store.ask(&appends).expect("answered");
                    let expected: String = (0..count).map(|at| format!("{at:04}")).collect();
                    assert_eq!(
                        store.ask(&format!("GET {key}")).expect("answered"),
                        format!("${}|{expected}|", expected.len())
                    );
                }
            });
        }
    });
    store.stop();
}
