//! A service in a thread, on a socket in a folder of its own.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

use corecast_base::CpuId;
use corecast_machine::{Cpu, Machine, Topology};
use corecast_plan::service::{Client, Options, Server, Stopper};
use serde_json::Value;
use tempfile::TempDir;

/// Longer than any answer of a test takes: a test that waits for it has failed.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// A service that ends with the test.
pub(crate) struct Served {
    pub(crate) folder: TempDir,
    pub(crate) stopper: Stopper,
    serving: Option<JoinHandle<std::io::Result<()>>>,
}

/// Four CPUs to a node, as many CPUs as asked for.
pub(crate) fn machine(cpus: u32) -> Machine {
    let cpu = |id| Cpu { numa: Some(id / 4), ..Cpu::flat(CpuId::new(id)) };
    Machine::from_topology(&Topology { cpus: (0..cpus).map(cpu).collect(), ..Topology::default() })
}

/// The time that a patient test grants.
pub(crate) fn patient() -> Options {
    Options { idle_timeout: LONG, searches: 2, ..Options::default() }
}

impl Served {
    /// A service for a machine of this many CPUs.
    pub(crate) fn start(cpus: u32, options: Options) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let server = Server::bind(&folder.path().join("plan.sock"), machine(cpus), options).expect("bound");
        let stopper = server.stopper();
        Self { folder, stopper, serving: Some(std::thread::spawn(|| server.serve())) }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("plan.sock")
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.path(), LONG).expect("it serves")
    }

    /// A client that writes and reads as it likes.
    pub(crate) fn raw(&self) -> Raw {
        let stream = UnixStream::connect(self.path()).expect("it serves");
        Raw { reading: BufReader::new(stream.try_clone().expect("another handle")), stream }
    }

    /// Ends the service, which must end well.
    pub(crate) fn stop(&mut self) {
        self.stopper.stop();
        if let Some(serving) = self.serving.take() {
            serving.join().expect("no panic").expect("no trouble");
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A client without manners.
pub(crate) struct Raw {
    reading: BufReader<UnixStream>,
    pub(crate) stream: UnixStream,
}

impl Raw {
    pub(crate) fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).expect("sent");
    }

    /// The next answer; `None` if the service closed the connection.
    pub(crate) fn answer(&mut self) -> Option<Value> {
        let mut line = String::new();
        // A service that closes with something unread resets the connection.
        let read = self.reading.read_line(&mut line).unwrap_or(0);
        (read > 0).then(|| serde_json::from_str(&line).expect("answers are JSON"))
    }

    /// The kind of the next answer, which is an error.
    #[track_caller]
    pub(crate) fn refusal(&mut self) -> String {
        let answer = self.answer().expect("an answer");
        answer["error"]["kind"].as_str().unwrap_or_else(|| panic!("no refusal: {answer}")).to_owned()
    }
}
