//! `redis-benchmark` against `corecast kv serve` with three replicas and against `redis-server`, side by side.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::report::RedisRow;
use super::rivals::sockets::redis_words;
use crate::bound::end_with_parent;
use crate::server::Server;
use crate::stats::median;
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::options::Options;
use corecast_race::progress::Progress;

const ROUNDS: usize = 5;
const QUICK_ROUNDS: usize = 3;
const PIPELINES: [usize; 2] = [1, 16];
const COMMANDS: [&str; 2] = ["SET", "GET"];

/// Requests in a second, by command.
type Rates = Vec<(String, f64)>;

/// Runs it against both in turns.
pub(super) fn race(
    corecast: Option<&PathBuf>,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Vec<RedisRow>, BenchError> {
    let ours = corecast.ok_or_else(|| Failure::Refused("no program corecast lies beside this one".to_owned()));
    let ours = ours.and_then(|program| Server::start(program, corecast_words, "cargo build --release"));
    let theirs = Server::start(Path::new("redis-server"), redis_words, "apt-get install redis-server");
    let rounds = if options.quick { QUICK_ROUNDS } else { ROUNDS };
    let mut rows = Vec::new();
    for pipeline in PIPELINES {
        let mut found: [Result<Vec<Rates>, Failure>; 2] = [Ok(Vec::new()), Ok(Vec::new())];
        for round in 0..rounds {
            progress.step(round as f64 / rounds as f64, &format!("redis-benchmark -P {pipeline}"));
            for (server, found) in [&ours, &theirs].into_iter().zip(&mut found) {
                options.go_on()?;
                let Ok(rates) = found else { continue };
                match server.as_ref().map_err(Clone::clone).and_then(|server| run(server, pipeline, options.quick)) {
                    Ok(one) => rates.push(one),
                    Err(failure) => *found = Err(failure),
                }
            }
        }
        rows.extend(COMMANDS.map(|command| row(command, pipeline, &found)));
    }
    Ok(rows)
}

fn corecast_words(socket: &Path) -> Vec<String> {
    let (path, name) = (socket.display().to_string(), format!("bench-{}", std::process::id()));
    ["kv", "serve", &name, "--replicas", "3", "--resp", &path].map(str::to_owned).to_vec()
}

fn run(server: &Server, pipeline: usize, is_quick: bool) -> Result<Rates, Failure> {
    let requests = if is_quick { 50_000 } else { 500_000 } * pipeline.min(4);
    let mut command = Command::new("redis-benchmark");
    command.arg("-s").arg(server.socket()).args(["-t", "set,get", "-q", "--csv"]);
    command.args(["-P", &pipeline.to_string(), "-n", &requests.to_string()]);
    let absent =
        |error| Failure::Refused(format!("cannot start redis-benchmark: {error}; apt-get install redis-tools"));
    let told = end_with_parent(&mut command).stdin(Stdio::null()).output().map_err(absent)?;
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    let rates = rates(&text);
    if rates.len() == COMMANDS.len() {
        return Ok(rates);
    }
    let errors = String::from_utf8_lossy(&told.stderr);
    let words = errors.lines().chain(text.lines()).find(|line| !line.trim().is_empty()).unwrap_or("nothing");
    Err(Failure::Refused(format!("redis-benchmark told '{words}'")))
}

/// The second column of the lines of the commands.
fn rates(csv: &str) -> Rates {
    let line = |line: &str| {
        let mut cells = line.split(',').map(|cell| cell.trim_matches('"'));
        let command = cells.next().filter(|command| COMMANDS.contains(command))?;
        Some((command.to_owned(), cells.next()?.parse().ok()?))
    };
    csv.lines().filter_map(line).collect()
}

fn row(command: &str, pipeline: usize, found: &[Result<Vec<Rates>, Failure>; 2]) -> RedisRow {
    let of = |rates: &Result<Vec<Rates>, Failure>| {
        let rates = rates.as_ref().ok()?;
        let all = rates.iter().flatten().filter(|(named, _)| named == command).map(|&(_, rate)| rate);
        median(&all.collect::<Vec<f64>>())
    };
    let [corecast_rps, redis_rps] = [of(&found[0]), of(&found[1])];
    let skipped = found.iter().find_map(|found| found.as_ref().err()).map(ToString::to_string);
    RedisRow {
        command: command.to_owned(),
        pipeline,
        corecast_rps,
        redis_rps,
        ratio: corecast_rps.zip(redis_rps).map(|(ours, theirs)| ours / theirs),
        skipped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_from_lines_of_both_forms() {
        let new = "\"test\",\"rps\",\"avg_latency_ms\"\n\"SET\",\"61349.70\",\"0.434\"\n\"GET\",\"62500.00\",\"0.4\"\n";
        let old = "\"SET\",\"61349.70\"\n\"GET\",\"62500.00\"\n";
        for text in [new, old] {
            assert_eq!(rates(text), [("SET".to_owned(), 61349.7), ("GET".to_owned(), 62500.0)]);
        }
        assert!(rates("Error: no server").is_empty());
    }

    #[test]
    fn a_server_that_is_not_there_is_the_reason() {
        let failed = Err(Failure::Refused("no program".to_owned()));
        let row = row("GET", 16, &[failed, Ok(vec![vec![("GET".to_owned(), 5.0)]])]);
        assert_eq!((row.redis_rps, row.ratio, row.skipped.as_deref()), (Some(5.0), None, Some("no program")));
    }
}
