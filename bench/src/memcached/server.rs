//! `memcached` with a shim under its locks or without, and the CPU time that it has used.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use corecast::base::CpuId;
use rustix::thread::{CpuSet as Mask, sched_getaffinity, sched_setaffinity};

use super::load::KEYS;
use super::protocol::{Connection, Request};
use crate::server::Server;
use corecast_race::failure::Failure;

const PROGRAM: &str = "memcached";
const INSTALLS: &str = "apt-get install memcached";
/// Keys that are stored with one call.
const BATCH: u32 = 100;
/// The size of the table is fixed: to grow it, memcached switches to one lock.
const OPTIONS: [&str; 8] = ["-m", "256", "-c", "1024", "-o", "hashpower=18", "-a", "0700"];

/// A server with all keys in it.
pub(super) struct Memcached(Server);

impl Memcached {
    /// Starts one with this number of threads on these CPUs, or on all if there are none, and stores the keys. `shim` is the
    /// object that is preloaded, and the lock that it takes.
    pub(super) fn start(threads: usize, cpus: &[CpuId], shim: Option<(&Path, &str)>) -> Result<Self, Failure> {
        let variables: Vec<(&str, OsString)> =
            shim.into_iter().flat_map(|(object, lock)| variables(object, lock)).collect();
        let threads = threads.to_string();
        let words = |socket: &Path| {
            let mut words = vec!["-s".to_owned(), socket.display().to_string(), "-t".to_owned(), threads];
            words.extend(OPTIONS.map(str::to_owned));
            if rustix::process::getuid().is_root() {
                words.extend(["-u", "root"].map(str::to_owned));
            }
            words
        };
        let started = on(cpus, || Server::start_in(&variables, Path::new(PROGRAM), words, INSTALLS))?;
        let server = Self(started?);
        if let Some((object, _)) = shim {
            server.check_loaded(object)?;
        }
        server.store_all()?;
        Ok(server)
    }

    pub(super) fn socket(&self) -> &Path {
        self.0.socket()
    }

    /// The CPU time of all its threads until now, in nanoseconds; `None` where the system does not tell.
    pub(super) fn cpu_ns(&self) -> Option<f64> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.0.pid())).ok()?;
        let of_task = |task: fs::DirEntry| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse::<f64>().ok()
        };
        Some(tasks.filter_map(Result::ok).filter_map(of_task).sum())
    }

    /// The loader tells nobody but the terminal if it leaves an object out.
    fn check_loaded(&self, object: &Path) -> Result<(), Failure> {
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.0.pid()));
        let maps = maps.map_err(Failure::while_doing("read which files memcached has loaded"))?;
        let object = fs::canonicalize(object).unwrap_or_else(|_| object.to_owned());
        let is_there = maps.lines().any(|line| line.ends_with(&*object.to_string_lossy()));
        if is_there { Ok(()) } else { Err(Failure::Refused(format!("memcached has not loaded {}", object.display()))) }
    }

    /// Stores each key, and reads the first and the last one.
    fn store_all(&self) -> Result<(), Failure> {
        let mut connection = Connection::open(self.socket())?;
        for first in (0..KEYS).step_by(BATCH as usize) {
            connection.ask((first..KEYS.min(first + BATCH)).map(Request::Set))?;
            connection.hear()?;
        }
        connection.ask([Request::Get(0), Request::Get(KEYS - 1)].into_iter())?;
        connection.hear().map(drop)
    }
}

fn variables(object: &Path, lock: &str) -> [(&'static str, OsString); 3] {
    [("LD_PRELOAD", object.into()), ("CORECAST_SHIM", "lock".into()), ("CORECAST_LOCK", lock.into())]
}

/// The server's version in its own words.
///
/// # Errors
/// The reason for which there is none, and the way to install it.
pub(super) fn version() -> Result<String, Failure> {
    let told = Command::new(PROGRAM).arg("-V").output();
    let told = told.map_err(|error| Failure::Refused(format!("cannot start {PROGRAM}: {error}; {INSTALLS}")))?;
    Ok(String::from_utf8_lossy(&told.stdout).trim().to_owned())
}

/// Does this while the thread may run on these CPUs only, which the processes that it starts inherit.
fn on<R>(cpus: &[CpuId], work: impl FnOnce() -> R) -> Result<R, Failure> {
    if cpus.is_empty() {
        return Ok(work());
    }
    let refused = |error: rustix::io::Errno| Failure::refused(format!("cannot bind memcached to CPUs: {error}"));
    let before = sched_getaffinity(None).map_err(refused)?;
    let mut mask = Mask::new();
    cpus.iter().for_each(|cpu| mask.set(cpu.get() as usize));
    sched_setaffinity(None, &mask).map_err(refused)?;
    let done = work();
    sched_setaffinity(None, &before).map_err(refused)?;
    Ok(done)
}
