//! Programs started as the members of a group. The program is this one, with a role in its environment.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use corecast::base::rendezvous::{self, SocketDir};
use corecast::base::sync::{Arc, AtomicU64, Ordering};
use corecast::processes::{Invitation, RANK_VARIABLE};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::program::{Program, Run};
use crate::terminal::Terminal;

const ROLE: &str = "CORECAST_TEST_ROLE";
/// Set for a process that starts `corecast run` on a terminal: where that program is.
const SHELL_OF: &str = "CORECAST_TEST_SHELL_OF";
/// The prefix of a member's words, as the test harness writes to the same place.
const SAYS: &str = "member: ";

/// `corecast run` with these options, of this program in this role.
fn command(program: &Program, options: &[&str], role: &str) -> Command {
    let this = std::env::current_exe().expect("a program has a path");
    let this = this.to_str().expect("UTF-8");
    let line = [&["run"], options, &["--", this, "--exact", "running::play", "--nocapture"]].concat();
    let mut command = program.command(&line);
    command.env(ROLE, role);
    command
}

fn run(options: &[&str], role: &str) -> Run {
    Run::from(command(&Program::new(), options, role).output().expect("the program starts"))
}

/// The members' words, sorted.
fn said(run: &Run) -> Vec<&str> {
    let mut said: Vec<&str> = run.stdout.lines().filter_map(|line| Some(line.split_once(SAYS)?.1)).collect();
    said.sort_unstable();
    said
}

/// Not a test: what this program does when it is a member.
#[test]
fn play() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let rank = std::env::var(RANK_VARIABLE).expect("every member is told");
    let say = |words: &str| {
        let mut out = std::io::stdout();
        writeln!(out, "{SAYS}{words}").and_then(|()| out.flush()).expect("a pipe");
    };
    match role.as_str() {
        "exit with the rank" => std::process::exit(rank.parse().expect("a number")),
        "be killed as rank 1" if rank == "1" => {
            kill_process(rustix::process::getpid(), Signal::TERM).expect("a process may kill itself");
        }
        // It would wait for the other one.
        "be killed as rank 1" => return,
        "count interrupts" => return count_interrupts(say),
        "end before joining as rank 1" if rank == "1" => return,
        "end before joining as rank 1" => {
            let joined = Invitation::from_env().expect("good words").expect("started by run").join();
            say(&joined.expect_err("one never comes").to_string());
            std::process::exit(3);
        }
        _ => {}
    }
    let mut me = Invitation::from_env().expect("good words").expect("started by run").join().expect("a place");
    if role == "tell races" {
        return say(&me.races().map_or("none".to_owned(), |races| races.barrier.winner.to_string()));
    }
    let sum = me.allreduce(1 + me.rank(), |a, b| a + b).expect("nobody is lost");
    say(&format!("{} of {}: {sum}", me.rank(), me.size()));
    if role == "split" {
        let part = me.split(0, 0).map(|part| part.expect("a colour was named").size());
        return say(&part.map_or_else(|error| error.to_string(), |members| format!("a part of {members}")));
    }
    if role == "meet for ever" {
        say(&format!("process {} {}", me.rank(), std::process::id()));
        let lost = std::iter::repeat_with(|| me.barrier()).find_map(Result::err).expect("somebody is lost");
        say(&format!("{} heard: {lost}", me.rank()));
        std::process::exit(3);
    }
}

#[test]
fn members_race_if_they_are_told_to() {
    let told = run(&["-n", "2"], "tell races").succeeded();
    assert_eq!(said(&told), ["none", "none"]);
    let program = Program::new();
    let told = Run::from(command(&program, &["-n", "2", "--race"], "tell races").output().expect("it starts"));
    let told = told.succeeded();
    let winners = said(&told);
    assert!(winners.len() == 2 && winners[0] == winners[1], "all know the same: {winners:?}");
    if winners[0] == "none" {
        return corecast_testing::skipped("a race of members", "two members share CPUs here");
    }
    let kept = std::fs::read_dir(program.path("cache/corecast/races")).expect("it is kept").count();
    assert_eq!(kept, 1);
    run(&["--race", "--barrier", "flat"], "tell races").failed(2, "cannot be used with");
}

/// Says how many interrupts have come when it is asked to, by a line from its terminal.
fn count_interrupts(say: impl Fn(&str) + Copy + Send + 'static) {
    let count = Arc::new(AtomicU64::new(0));
    let counting = Arc::clone(&count);
    // ORDERING: Relaxed, a count
    let handler = move || say(&format!("interrupt {}", 1 + counting.fetch_add(1, Ordering::Relaxed)));
    ctrlc::set_handler(handler).expect("nobody else handles them");
    std::thread::spawn(|| {
        // Nobody asks any more if the test has failed.
        std::thread::sleep(Duration::from_secs(60));
        std::process::exit(9);
    });
    say("ready");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a terminal");
    // Time for one more, if it is on its way.
    std::thread::sleep(Duration::from_millis(200));
    // ORDERING: Relaxed, a count
    say(&format!("{} in all", count.load(Ordering::Relaxed)));
}

/// Not a test: the first process of a terminal, which starts `corecast run` there, and lets interrupts pass by.
#[test]
fn play_shell() {
    let Ok(corecast) = std::env::var(SHELL_OF) else { return };
    rustix::process::setsid().expect("a child leads no session");
    rustix::process::ioctl_tiocsctty(std::io::stdin()).expect("nobody's terminal");
    ctrlc::set_handler(|| ()).expect("nobody else handles them");
    let this = std::env::current_exe().expect("a program has a path");
    let mut run = Command::new(corecast);
    run.args(["run", "-n", "1", "--"]).arg(this).args(["--exact", "running::play", "--nocapture"]);
    let mut child = run.env(ROLE, "count interrupts").env_remove(SHELL_OF).spawn().expect("the program starts");
    println!("process {}", child.id());
    println!("the run ended: {}", child.wait().expect("our child"));
}

/// The process of `corecast run`, as the first process of the terminal has told it, once its member is ready and it reads
/// signals: while it started the member one would have ended it.
fn begun(terminal: &mut Terminal) -> Pid {
    let mut shown = String::new();
    loop {
        let told = shown.split_once("process ").and_then(|(_, rest)| rest.split_once('\r'));
        if let Some((pid, _)) = told.filter(|_| shown.contains("ready")) {
            while !reads_signals(pid) {
                std::thread::yield_now();
            }
            return Pid::from_raw(pid.parse().expect("a number")).expect("a process");
        }
        let more = terminal.read_until(Some("\n"));
        assert!(!more.is_empty(), "it ended after {shown:?}");
        shown += &more;
    }
}

/// True if the process has the descriptor from which it reads signals.
fn reads_signals(pid: &str) -> bool {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("it is there");
    let target = |entry: std::io::Result<std::fs::DirEntry>| std::fs::read_link(entry.ok()?.path()).ok();
    descriptors.filter_map(target).any(|target| target.to_string_lossy().contains("signalfd"))
}

#[test]
fn a_key_on_the_terminal_interrupts_the_members_once() {
    let program = Program::new();
    let corecast = program.command(&[]);
    let (mut terminal, line) = Terminal::open();
    let input = || line.try_clone().expect("a descriptor");
    let mut shell = Command::new(std::env::current_exe().expect("a program has a path"))
        .args(["--exact", "running::play_shell", "--nocapture"])
        .envs(corecast.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env(SHELL_OF, corecast.get_program())
        .stdin(input())
        .stdout(input())
        .stderr(input())
        .spawn()
        .expect("this program starts");
    drop(line);
    let runner = begun(&mut terminal);
    // So that the member has dealt with the terminal's interrupt before another one could be passed on.
    kill_process(runner, Signal::STOP).expect("it is there");
    terminal.press(b"\x03");
    let shown = terminal.read_until(Some("interrupt 1"));
    kill_process(runner, Signal::CONT).expect("it is there");
    terminal.read_until(Some("interrupted: waiting for the members"));
    terminal.press(b"\n");
    let rest = terminal.read_until(Some("the run ended"));
    assert!(rest.contains("1 in all"), "{shown:?} {rest:?}");
    assert!(rest.contains("exit status: 0"), "{rest:?}");
    assert!(shell.wait().expect("our child").success());
}

#[test]
fn every_member_has_its_rank_and_the_memory() {
    for options in [&["-n", "4"][..], &["-n", "4", "--wait", "park", "--no-pin", "--barrier", "flat"]] {
        let run = run(options, "add up").succeeded();
        assert_eq!(said(&run), ["0 of 4: 10", "1 of 4: 10", "2 of 4: 10", "3 of 4: 10"]);
    }
}

#[test]
fn parts_take_the_room_that_is_asked_for() {
    let parts = |room: &[&str]| -> Vec<String> {
        let run = run(&[&["-n", "2", "--no-pin"], room].concat(), "split").succeeded();
        said(&run).into_iter().filter(|words| !words.contains(" of 2: ")).map(str::to_owned).collect()
    };
    for room in [&[][..], &["--room", "1Mi"]] {
        assert_eq!(parts(room), ["a part of 2"; 2], "{room:?}");
    }
    let told = parts(&["--room", "0"]);
    assert!(told.len() == 2 && told.iter().all(|words| words.contains("memory")), "{told:?}");
    let program = Program::new();
    let refused = |room| program.run(&["run", "-n", "2", "--room", room, "--", "true"]);
    refused("4K").failed(2, "'4K' is no number of bytes such as 56, 4Ki, 1Mi or 1M").failed(2, "--room <BYTES>");
    refused("65537Mi").failed(2, "expected 65536Mi at most").failed(2, "--room <BYTES>");
}

#[test]
fn the_first_that_ends_badly_decides_and_is_named() {
    let ended = run(&["-n", "2"], "exit with the rank");
    ended.failed(1, "rank 1 ended with exit code 1");
    let ended = run(&["-n", "2", "--no-pin"], "be killed as rank 1");
    ended.failed(128 + 15, "rank 1 was killed by signal 15 (SIGTERM)");
}

#[test]
fn nobody_waits_for_a_member_that_ended_before_it_joined() {
    let ended = run(&["-n", "3", "--no-pin"], "end before joining as rank 1");
    assert_eq!(said(&ended), ["member 1 died"; 2], "long before their minute is over");
    ended.failed(3, "ended with exit code 3");
}

#[test]
fn a_program_that_cannot_be_started_is_told() {
    let program = Program::new();
    program.run(&["run", "-n", "2", "--", "/nowhere/program"]).failed(2, "cannot start /nowhere/program");
    program.run(&["run", "-n", "0", "--", "true"]).failed(2, "not 0");
    program.run(&["run", "-n", "5000", "--", "true"]).failed(2, "not 5000");
    program.run(&["run", "-n", "2", "--barrier", "star", "--", "true"]).failed(2, "unknown barrier 'star'");
    program.run(&["run", "-n", "2", "--name", "../x", "--", "true"]).failed(2, "../x");
    program.run(&["run", "-n", "2"]).failed(2, "PROGRAM");
}

/// The next thing that a member says.
fn hear(lines: &mut BufReader<ChildStdout>) -> Option<String> {
    let mut line = String::new();
    while lines.read_line(&mut line).expect("a pipe") > 0 {
        if let Some((_, said)) = line.trim_end().split_once(SAYS) {
            return Some(said.to_owned());
        }
        line.clear();
    }
    None
}

/// Three members under `corecast run`, that all have begun to meet, and the process of each.
fn meeting(program: &Program, options: &[&str]) -> (Child, BufReader<ChildStdout>, [Pid; 3]) {
    let mut child = command(program, &[&["-n", "3"], options].concat(), "meet for ever")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped"));
    let mut pids = [None; 3];
    while pids.contains(&None) {
        let words = hear(&mut lines).expect("they meet for ever");
        if let Some(("process", words)) = words.split_once(' ') {
            let (rank, pid) = words.split_once(' ').expect("a rank and a number");
            let rank: usize = rank.parse().expect("a rank");
            pids[rank] = Pid::from_raw(pid.parse().expect("a number"));
        }
    }
    (child, lines, pids.map(|pid| pid.expect("told")))
}

#[test]
fn the_others_name_a_member_that_is_killed() {
    let program = Program::new();
    let (child, mut lines, pids) = meeting(&program, &[]);
    kill_process(pids[2], Signal::KILL).expect("it is there");
    let mut heard = [hear(&mut lines), hear(&mut lines)].map(|words| words.expect("survivors"));
    heard.sort_unstable();
    assert_eq!(heard, ["0 heard: member 2 died", "1 heard: member 2 died"]);
    let run = Run::from(child.wait_with_output().expect("it ends"));
    run.failed(128 + 9, "rank 2 was killed by signal 9 (SIGKILL)");
}

#[test]
fn an_interrupt_reaches_the_members_and_nothing_is_left_of_a_name() {
    let program = Program::new();
    let name = format!("run-test-{}", std::process::id());
    let (child, _lines, _) = meeting(&program, &["--name", &name]);
    let names = || rendezvous::names(&SocketDir::of_user()).expect("this user's");
    assert!(names().contains(&name));
    let seen = program.json(&["top", "--once", "--json"]);
    let region = seen["regions"].as_array().expect("regions").iter().find(|region| region["name"] == name.as_str());
    let region = region.expect("it is hosted");
    let seats = region["participants"].as_array().expect("seats").len();
    // The program that runs them sits there too.
    assert_eq!((seats, &region["channels"], &region["trouble"]), (4, &json!([]), &json!(null)));
    while !reads_signals(&child.id().to_string()) {
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is there");
    let run = Run::from(child.wait_with_output().expect("it ends"));
    run.failed(128 + 2, "was killed by signal 2 (SIGINT)");
    assert!(!names().contains(&name), "nothing is left of it");
}

#[test]
fn nothing_is_left_of_a_start_that_is_interrupted() {
    let program = Program::new();
    // The first member interrupts the process that starts the others, and all would stay for long.
    let member = "echo $$ >> pids; if [ $CORECAST_RANK = 0 ]; then kill -INT $PPID; fi; exec sleep 600";
    let line = ["run", "-n", "300", "--no-pin", "--", "sh", "-c", member];
    let mut child = program.command(&line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let status = child.wait().expect("our child");
    // On a slow day all have started before the first one gets a turn, and are interrupted.
    assert!([Some(130), Some(128 + 2)].contains(&status.code()), "{status}");
    let pids = std::fs::read_to_string(program.path("pids")).expect("the first one has written");
    let is_left = |pid: &&str| std::path::Path::new("/proc").join(pid).exists();
    assert_eq!(pids.lines().find(is_left), None, "of {} members", pids.lines().count());
}
