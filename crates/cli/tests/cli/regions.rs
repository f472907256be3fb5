//! `top` and `gc`: what they say of regions, and what they leave alone.
//!
//! A test that needs another process starts this very program with a role.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use corecast::base::region::{RegionDir, RegionPlan, SharedRegion};
use corecast::base::rendezvous::{self, SocketDir};
use corecast::channel::{mcast, ump};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use serde_json::{Value, json};

use crate::program::{Program, Run};
use crate::terminal::Terminal;

const ROLE: &str = "CORECAST_TEST_REGIONS";

/// A folder in memory, as named regions need it, with a directory for them that is this user's alone.
struct Stage {
    program: Program,
    _folder: tempfile::TempDir,
    dir: PathBuf,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").expect("memory");
        let dir = folder.path().join("regions");
        fs::create_dir(&dir).expect("created");
        fs::set_permissions(&dir, PermissionsExt::from_mode(0o700)).expect("ours");
        Self { program: Program::new(), _folder: folder, dir }
    }

    fn run(&self, arguments: &[&str]) -> Run {
        self.program.run(&[arguments, &["--dir", &self.dir.display().to_string()]].concat())
    }

    /// The outcome of `top`, whose looks are close to each other.
    fn top(&self) -> Value {
        self.run(&["top", "--json", "--interval", "10ms"]).succeeded().json()["regions"].clone()
    }

    fn files(&self) -> Vec<String> {
        let files = fs::read_dir(&self.dir).expect("ours");
        let mut names: Vec<_> =
            files.map(|file| file.expect("readable").file_name().into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }

    fn named(&self, name: &str) -> SharedRegion {
        SharedRegion::named(&RegionDir::at(&self.dir), name, &plan()).expect("a free name")
    }
}

fn plan() -> RegionPlan {
    let plan = ump::bytes::spec(ump::Config::default()).declare(RegionPlan::new(), "orders");
    let config = mcast::Config { slots: 8, ..mcast::Config::default() };
    plan.and_then(|plan| mcast::bytes::spec(config).declare(plan, "news")).expect("good names")
}

/// Another process that makes a named region and hosts another one, killed at the end.
struct Owner(Child);

impl Owner {
    fn start(dir: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("a program has a path"))
            .args(["--exact", "regions::own", "--nocapture"])
            .env(ROLE, dir)
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started");
        let stdout = child.stdout.as_mut().expect("piped");
        let is_ready = BufReader::new(stdout).lines().any(|line| line.expect("UTF-8").ends_with("ready"));
        assert!(is_ready, "the owner ended without a word");
        Self(child)
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    fn kill(mut self) {
        self.0.kill().expect("our child");
        self.0.wait().expect("our child");
    }

    fn stop(&self) {
        kill_process(self.pid(), Signal::STOP).expect("our child");
        waitpid(Some(self.pid()), WaitOptions::UNTRACED).expect("our child").expect("it has stopped");
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Not a test: what this program does in its role.
#[test]
fn own() {
    let Some(dir) = std::env::var_os(ROLE) else { return };
    let region = SharedRegion::named(&RegionDir::at(&dir), "file", &plan()).expect("a free name");
    let memfd = SharedRegion::memfd(&plan()).expect("memory");
    let _meeting = rendezvous::host(&SocketDir::at(&dir), "meeting", memfd.clone()).expect("a free name");
    let _ends = [&region, &memfd].map(|region| {
        let mut tx = mcast::bytes::sender(region, "news").expect("a place");
        let rx = mcast::bytes::receiver(region, "news", mcast::Policy::Reliable).expect("a place");
        (0..3).for_each(|_| tx.send(b"something").expect("room"));
        (tx, rx)
    });
    let mut out = std::io::stdout();
    writeln!(out, "ready").and_then(|()| out.flush()).expect("a pipe");
    loop {
        std::thread::park();
    }
}

#[test]
fn nothing_is_said_of_nothing() {
    let stage = Stage::new();
    let dir = stage.dir.display();
    assert_eq!(stage.run(&["gc"]).succeeded().stdout, format!("nothing to remove in {dir}\n"));
    assert_eq!(stage.run(&["gc", "--json"]).succeeded().json(), json!({"removed": []}));
    assert_eq!(stage.run(&["top"]).succeeded().stdout, format!("no regions in {dir}\n"));
    assert_eq!(stage.top(), json!([]));
    // The user's own directories need not be there.
    let (named, runtime) = (stage.program.path("none"), stage.program.path("nothing"));
    for command in ["top", "gc"] {
        let mut command = stage.program.command(&[command]);
        let output = command.env("CORECAST_REGION_DIR", &named).env("XDG_RUNTIME_DIR", &runtime).output();
        let said = Run::from(output.expect("the program starts")).succeeded().stdout;
        let places = format!(" in {} and {}\n", named.display(), runtime.join("corecast").display());
        assert!(said.ends_with(&places), "{said}");
    }
    assert_eq!(stage.program.files(), [""; 0], "looking makes nothing");
}

#[test]
fn regions_of_the_dead_are_removed_and_those_of_the_living_stay() {
    let stage = Stage::new();
    let living = stage.named("living");
    let owner = Owner::start(&stage.dir);
    assert_eq!(stage.run(&["gc", "--json"]).succeeded().json(), json!({"removed": []}));
    owner.kill();
    assert_eq!(stage.files(), ["file", "living", "meeting.lock", "meeting.sock"]);
    let said = stage.run(&["gc"]).succeeded().stdout;
    let lines: Vec<_> = said.lines().collect();
    let path = |name: &str| stage.dir.join(name).display().to_string();
    assert!(lines[0].starts_with(&format!("removed region {} of ", path("file"))), "{said}");
    assert!(lines[0].ends_with(": none of its participants lives"), "{said}");
    assert_eq!(lines[1], format!("removed socket {}: nobody hosts this name any more", path("meeting.sock")));
    assert_eq!((lines.len(), stage.files()), (2, vec!["living".to_owned()]));
    drop(living);
    assert_eq!(stage.files(), [""; 0]);
}

#[test]
fn a_file_that_is_no_region_is_left_alone() {
    let stage = Stage::new();
    let _plan_service = UnixListener::bind(stage.dir.join("plan.sock")).expect("a free path");
    let victim = stage.program.file("victim", vec![7; 1 << 16]);
    symlink(&victim, stage.dir.join("link")).expect("created");
    symlink(&victim, stage.dir.join("link.sock")).expect("created");
    fs::write(stage.dir.join("Cargo.lock"), "").expect("written");
    fs::write(stage.dir.join("noise"), vec![0xA5; 1 << 16]).expect("written");
    fs::create_dir(stage.dir.join("folder")).expect("created");
    let before = stage.files();
    assert_eq!(stage.top(), json!([]));
    assert_eq!(stage.run(&["gc", "--json"]).succeeded().json(), json!({"removed": []}));
    assert_eq!((stage.files(), fs::read(&victim).expect("there")), (before, vec![7; 1 << 16]));
}

#[test]
fn directories_that_will_not_do() {
    let stage = Stage::new();
    let program = &stage.program;
    let open = program.path("open");
    fs::create_dir(&open).expect("created");
    fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).expect("ours");
    symlink(&stage.dir, program.path("link")).expect("created");
    program.file("file", "text");
    for command in ["top", "gc"] {
        let refused = |dir: &str, words: &str| {
            assert_eq!(program.run(&[command, "--dir", dir]).failed(2, words).stdout, "", "{command} --dir {dir}");
        };
        refused("none", "--dir none is no directory");
        refused("file", "--dir file is no directory");
        refused("link", "links are not followed");
        refused("open", "open: a directory of mode 777, expected at most 700");
        if rustix::process::geteuid().is_root() {
            let foreign = program.path("foreign");
            fs::create_dir_all(&foreign).expect("created");
            std::os::unix::fs::chown(&foreign, Some(12_345), None).expect("we are root");
            refused("foreign", "a directory of user 12345, expected one of user 0");
        }
        // Not what the user named: trouble of the environment.
        let output = program.command(&[command]).env("CORECAST_REGION_DIR", &open).output();
        Run::from(output.expect("the program starts"))
            .failed(1, "expected at most 700")
            .failed(1, "--dir names another");
    }
    for interval in ["0", "9ms", "x", "1.5s", "2h"] {
        program.run(&["top", "--interval", interval]).failed(2, "--interval");
    }
}

#[test]
fn top_shows_participants_and_how_far_they_are() {
    let stage = Stage::new();
    let region = stage.named("file-2");
    let mut tx = ump::bytes::sender(&region, "orders").expect("free");
    let mut rx = ump::bytes::receiver(&region, "orders").expect("free");
    let mut news = mcast::bytes::sender(&region, "news").expect("a place");
    let reader = mcast::bytes::receiver(&region, "news", mcast::Policy::Reliable).expect("a place");
    (0..5).for_each(|_| tx.send(&[7; 100]).expect("room"));
    (0..3).for_each(|_| drop(rx.recv().expect("sent")));
    (0..4).for_each(|_| news.send(b"x").expect("room"));
    drop(reader.recv().expect("sent"));
    drop(rx);
    let owner = Owner::start(&stage.dir);
    let seen = stage.top();
    let seen = seen.as_array().expect("an array");
    let heads: Vec<_> = seen.iter().map(|region| (region["name"].as_str(), region["how"].as_str())).collect();
    let head = |name, how| (Some(name), Some(how));
    assert_eq!(heads, [head("file", "named"), head("file-2", "named"), head("meeting", "hosted")]);

    let me = std::process::id();
    assert_eq!(seen[1]["creator_pid"], me);
    let participant = &seen[1]["participants"][0];
    assert_eq!((&participant["seat"], &participant["pid"]), (&json!(0), &json!(me)));
    assert_eq!(participant["is_alive"], true);
    let own_name = fs::read_to_string("/proc/self/comm").expect("/proc is there");
    assert_eq!(participant["process"], own_name.trim_end());
    let [orders, news] = [0, 1].map(|channel| &seen[1]["channels"][channel]);
    assert_eq!((&orders["kind"], &orders["counts"], &orders["sent"]), (&json!("ump"), &json!("slots"), &json!(10)));
    assert_eq!((&orders["receivers"][0]["state"], &orders["receivers"][0]["behind"]), (&json!("left"), &json!(4)));
    let sender = json!([{"seat": 0, "pid": me, "state": "open"}]);
    assert_eq!((&news["senders"], &news["sent"], &news["sent_per_s"]), (&sender, &json!(4), &json!(0.0)));
    let expected = json!([{"seat": 0, "pid": me, "state": "open", "policy": "reliable", "cursor": 1, "behind": 3,
        "received_per_s": 0.0}]);
    assert_eq!(news["receivers"], expected);
    assert_eq!(seen[2]["channels"][1]["receivers"][0]["pid"], owner.0.id());

    let text = stage.run(&["top", "--interval", "10ms"]).succeeded().stdout;
    assert!(text.contains(&format!("file-2: named, {}/file-2, ", stage.dir.display())), "{text}");
    let line = text.lines().find(|line| line.contains("left")).expect("the receiver of ump");
    let words: Vec<_> = line.split_whitespace().collect();
    assert_eq!(words, ["receiver", &me.to_string(), "left", "reliable", "6", "4", "0", "slots"]);
    owner.kill();
    let text = stage.run(&["top", "--once", "--interval", "10ms"]).succeeded().stdout;
    assert!(text.contains("dead") && text.contains("nobody is there: `corecast gc` removes it"), "{text}");
    assert!(text.contains("nobody hosts"), "{text}");
    assert_eq!(stage.files(), ["file", "file-2", "meeting.lock", "meeting.sock"], "top only looks");
    assert_eq!(region.participants().expect("not forked").len(), 1, "and takes no seat");
}

#[test]
fn a_host_that_is_stopped_is_told_so() {
    let stage = Stage::new();
    let owner = Owner::start(&stage.dir);
    owner.stop();
    let seen = stage.top();
    assert_eq!(seen[0]["participants"][0]["is_alive"], true, "stopped is not dead");
    assert!(seen[1]["trouble"].as_str().expect("words").ends_with("does not answer"), "{seen}");
    owner.kill();
}

#[test]
fn readers_who_are_gone_and_full_disks() {
    let stage = Stage::new();
    let _region = stage.named("file");
    let dir = stage.dir.display().to_string();
    for arguments in [&["top", "--interval", "10ms", "--dir", &dir][..], &["gc", "--dir", &dir]] {
        let (reader, writer) = UnixStream::pair().expect("a pair of sockets");
        drop(reader);
        let output = stage.program.command(arguments).stdout(OwnedFd::from(writer)).output();
        let run = Run::from(output.expect("the program starts")).succeeded();
        assert_eq!(run.stderr, "");
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let output = stage.program.command(arguments).stdout(full).output().expect("the program starts");
        Run::from(output).failed(1, "cannot write to standard output");
    }
}

#[test]
fn a_terminal_shows_it_again_until_ctrl_c() {
    let stage = Stage::new();
    let _region = stage.named("file");
    let (mut terminal, line) = Terminal::open();
    let before = terminal.settings();
    let arguments = ["top", "--interval", "20ms", "--dir", &stage.dir.display().to_string()];
    let child = stage.program.command(&arguments).stdout(line).stderr(Stdio::piped()).spawn().expect("it starts");
    for _ in 0..2 {
        terminal.read_until(Some("file: named"));
    }
    stage.named("another");
    let _another = stage.named("one-more");
    terminal.read_until(Some("one-more: named"));
    kill_process(Pid::from_child(&child), Signal::INT).expect("it still runs");
    terminal.read_until(None);
    let run = Run::from(child.wait_with_output().expect("it ends")).succeeded();
    assert_eq!((run.stderr.as_str(), terminal.settings()), ("", before));
}
