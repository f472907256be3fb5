//! Load generators that were written elsewhere: libmemcached's memslap and Redis' memtier_benchmark. Their clients ask again once
//! they are answered, and they tell a rate.

use std::path::Path;
use std::process::{Command, Stdio};

use super::load::{KEYS, MemcachedMix};
use super::protocol::VALUE_BYTES;
use corecast_race::failure::Failure;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemcachedGenerator {
    /// It draws keys, values and their lengths by itself, and stores what it then gets.
    Memslap,
    /// Its keys are numbered.
    Memtier,
}

/// The clients of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crowd {
    pub(super) threads: usize,
    /// Of each thread.
    pub(super) connections: usize,
    /// Of each connection.
    pub(super) requests: usize,
}

impl MemcachedGenerator {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Memslap, Self::Memtier];

    /// The name in options and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memslap => "memslap",
            Self::Memtier => "memtier",
        }
    }

    /// The names of its program; Debian's memslap has another one than its authors'.
    const fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Memslap => &["memcslap", "memslap"],
            Self::Memtier => &["memtier_benchmark"],
        }
    }

    const fn installs(self) -> &'static str {
        match self {
            Self::Memslap => "apt-get install libmemcached-tools",
            Self::Memtier => "packages.redis.io has memtier-benchmark, Debian 12 has not",
        }
    }

    /// The program that is installed.
    ///
    /// # Errors
    /// The reason for which there is none, and the way to install it.
    pub(super) fn find(self) -> Result<&'static str, Failure> {
        let starts = |program: &&&str| {
            let told = Command::new(program).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
            told.is_ok_and(|told| told.status.success())
        };
        let missing = || {
            let (programs, installs) = (self.programs().join(" or "), self.installs());
            Failure::Refused(format!("there is no {programs} in PATH: {installs}"))
        };
        self.programs().iter().find(starts).copied().ok_or_else(missing)
    }

    /// Whether it can make these requests.
    pub(super) fn makes(self, mix: MemcachedMix) -> bool {
        self == Self::Memtier || matches!(mix, MemcachedMix::Get | MemcachedMix::Set)
    }

    /// The run of it that stores what a run of this mix gets, if it does not do that itself.
    pub(super) fn storing(self, program: &str, socket: &Path, mix: MemcachedMix) -> Option<Command> {
        let one = Crowd { threads: 1, connections: 1, requests: KEYS as usize };
        let mut command = self.command(program, socket, MemcachedMix::Set, one);
        command.arg("--key-pattern=P:P");
        (self == Self::Memtier && mix.gets_percent() > 0).then_some(command)
    }

    /// A run of it.
    pub(super) fn command(self, program: &str, socket: &Path, mix: MemcachedMix, crowd: Crowd) -> Command {
        let Crowd { threads, connections, requests } = crowd;
        let (gets, socket) = (mix.gets_percent(), socket.display());
        let mut command = Command::new(program);
        let words = match self {
            Self::Memslap => vec![
                format!("--servers={socket}"),
                format!("--test={}", mix.name()),
                format!("--concurrency={}", threads * connections),
                format!("--execute-number={requests}"),
            ],
            Self::Memtier => vec![
                format!("--unix-socket={socket}"),
                "--protocol=memcache_text".to_owned(),
                format!("--threads={threads}"),
                format!("--clients={connections}"),
                format!("--requests={requests}"),
                format!("--ratio={}:{gets}", 100 - gets),
                format!("--key-maximum={KEYS}"),
                format!("--data-size={VALUE_BYTES}"),
                // Of a run below a second its table tells a rate of 0.
                "--out-file=/dev/null".to_owned(),
                "--json-out-file=/dev/stdout".to_owned(),
            ],
        };
        command.args(words);
        command
    }

    /// Requests in a second, as it tells them.
    pub(super) fn rate(self, text: &str) -> Option<f64> {
        match self {
            Self::Memslap => text.lines().find_map(memslap_rate),
            Self::Memtier => memtier_rate(text),
        }
    }
}

/// Of its JSON: the requests, and how long all took. It is read as text: the program goes back in a file to take commas out,
/// which a pipe does not allow.
fn memtier_rate(text: &str) -> Option<f64> {
    let number_behind = |names: [&str; 3]| {
        let rest = names.into_iter().try_fold(text, |rest, name| rest.split_once(name).map(|(_, rest)| rest))?;
        rest.split([',', '\n', '}']).next()?.trim().parse::<f64>().ok()
    };
    let requests = number_behind([r#""ALL STATS""#, r#""Totals""#, r#""Count":"#])?;
    let milliseconds = number_behind([r#""ALL STATS""#, r#""Runtime""#, r#""Total duration":"#])?;
    let rate = 1000.0 * requests / milliseconds;
    // The program takes times from a clock that may be put back meanwhile.
    (rate > 0.0 && rate.is_finite()).then_some(rate)
}

/// Of a line such as `Time to get 8000 keys by 4 threads: 0.448 seconds.` The one that tells of the keys which are stored before
/// names no threads.
fn memslap_rate(line: &str) -> Option<f64> {
    let (work, time) = line.strip_prefix("Time to ")?.split_once(':')?;
    let words: Vec<&str> = work.split_whitespace().collect();
    let &[_, keys, "keys", "by", _, "threads"] = &words[..] else { return None };
    let seconds: f64 = time.split_whitespace().next()?.parse().ok()?;
    let rate = keys.parse::<f64>().ok()? / seconds;
    rate.is_finite().then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_they_are_told() {
        let memslap = "\
Time to generate       2000 test keys:                0.007 seconds.
Time to set            2000 keys:                     0.634 seconds.
Time to start             4 threads:                  0.000 seconds.
--------------------------------------------------------------------
Time to get            8000 keys by    4 threads:     0.500 seconds.
Time total:                                           1.090 seconds.
";
        assert_eq!(MemcachedGenerator::Memslap.rate(memslap), Some(16_000.0));
        let short = "Time to get            8000 keys by    4 threads:     0.000 seconds.\n";
        assert_eq!(MemcachedGenerator::Memslap.rate(short), None);
        let memtier = r#"{"configuration": {"Count": 1,},
  "ALL STATS":{
    "Runtime":{
      "Start time": 1795753890022
      ,"Total duration": 400
      ,"Time unit": "MILLISECONDS"
    ,"Sets":{
      "Count": 200
    ,"Totals":{
      "Count": 32000
      ,"Ops/sec": 0.00
"#;
        assert_eq!(MemcachedGenerator::Memtier.rate(memtier), Some(80_000.0));
        assert_eq!(MemcachedGenerator::Memtier.rate(&memtier.replace(": 400", ": -400")), None);
        assert_eq!(MemcachedGenerator::ALL.map(|generator| generator.rate("error: no server")), [None, None]);
    }

    #[test]
    fn only_mixes_that_a_generator_has_are_asked_of_it() {
        let made = |generator: MemcachedGenerator| {
            let mixes = MemcachedMix::ALL.into_iter().filter(|&mix| generator.makes(mix));
            mixes.map(MemcachedMix::name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(made(MemcachedGenerator::Memslap), "get set");
        assert_eq!(made(MemcachedGenerator::Memtier), "get set mixed half");
        let crowd = Crowd { threads: 2, connections: 8, requests: 5 };
        let command = MemcachedGenerator::Memtier.command("m", Path::new("/s"), MemcachedMix::Mixed, crowd);
        assert!(command.get_args().any(|word| word == "--ratio=10:90"), "{command:?}");
    }
}
