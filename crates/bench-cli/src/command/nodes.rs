//! `corecast bench nodes`: groups over several hosts, beside plain MPI.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;

use clap::ValueEnum;
use corecast_bench::{
    HostMembers, MAX_NODES, NodesCheckRow, NodesDeathPlace, NodesDeathRow, NodesIdleRow, NodesLine, NodesModelRow,
    NodesOptions, NodesPrograms, NodesRelaunch, NodesReport, NodesRow, NodesShape, NodesSkipped, NodesVictim,
    NodesWork, nodes, nodes_member, run_on_nodes,
};

use corecast::collective::MAX_MEMBERS;
use corecast::collective::nodes::Lanes;

use super::{Shared, count as number};
use crate::columns::Format::{Digits, Ratio};
use crate::columns::{self, Column, Value, count};
use crate::tell::tell;
use corecast_cli::failure::Failure;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::machine_args::MachineArgs;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;
use corecast_cli::{gate_text, own_program, printable};
use corecast_race::Options;

/// The hidden subcommand by which a process of a launch is this program again.
const MEMBER: &str = "nodes-member";

/// Options of `bench nodes`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: MachineArgs,
    /// The number of hosts, made of network namespaces [default: 2].
    #[arg(long, value_name = "N", default_value_t = 2, hide_default_value = true, value_parser = number(MAX_NODES as u64))]
    hosts: usize,
    /// The numbers of members on each host; 1+3, host by host, with --check [default: 1,2,4, or --lanes where that is more; 1
    /// with --model, 2 with --kill].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    members: Vec<HostMembers>,
    /// Take a library from this folder, which has bin/mpiexec and lib, too; may be given several times.
    #[arg(long, value_name = "FOLDER")]
    mpi_home: Vec<PathBuf>,
    /// Take only these libraries.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    libraries: Vec<String>,
    /// How members become processes [default: threads, or nested with --kill, which takes nested or ranks].
    #[arg(long, value_enum)]
    shape: Option<Shape>,
    /// Let this many members of each host share the messages of long slices, with --shape ranks [default: 1].
    #[arg(long, value_name = "K", default_value_t = 1, hide_default_value = true)]
    #[arg(value_parser = number(Lanes::MOST as u64), conflicts_with_all = ["model", "run"])]
    lanes: usize,
    /// Check N random operations in each cell instead of timing some.
    #[arg(long, value_name = "N", conflicts_with = "kill", value_parser = clap::value_parser!(u64).range(1..))]
    check: Option<u64>,
    /// Let all members wait a second for one that is late instead, and take the CPU time that they use.
    #[arg(long, conflicts_with_all = ["check", "kill"])]
    idle: bool,
    /// Measure the messages between the hosts instead, and compare the times that the model of them predicts with those of a
    /// group with one member on each: on 2 hosts, on 3, and so on to --hosts.
    #[arg(long, conflicts_with_all = ["check", "idle", "kill", "shape"])]
    model: bool,
    /// Kill a member, a leader or a host in each launch instead of timing operations.
    #[arg(long, value_enum, value_name = "WHAT")]
    kill: Option<Killed>,
    /// Let leaders die at this place of an operation, with --kill leader; without it at any time.
    #[arg(long, value_enum, value_name = "PLACE", requires = "kill")]
    at: Option<Place>,
    /// Run this shell line beside the hosts instead. It finds their names in CORECAST_HOSTS, a program that takes a host and a
    /// line for it in CORECAST_AGENT, and a launcher with one process on each host in CORECAST_MPIRUN.
    #[arg(long, value_name = "LINE")]
    #[arg(conflicts_with_all = ["check", "idle", "model", "kill", "at", "members", "shape", "runs", "quick", "seed"])]
    run: Option<String>,
    /// Launches of each kind, or deaths [default: 10, and 50 with --kill; 2 and 5 with --quick].
    #[arg(long, value_name = "N", value_parser = number(100_000))]
    runs: Option<usize>,
    /// Fewer launches, and shorter ones.
    #[arg(long)]
    quick: bool,
    /// The seed of random choices [default: drawn].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// The values of `--shape`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    /// One process on each host, with a thread for each member.
    Threads,
    /// Processes that `corecast run` starts beside the one that speaks MPI.
    Nested,
    /// An MPI process for each member.
    Ranks,
}

/// The values of `--kill`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Killed {
    /// A member that does not lead its host.
    Member,
    /// The member that leads its host.
    Leader,
    /// All processes of a host.
    Host,
}

/// The values of `--at`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Place {
    /// Its host's values are combined, and no message has left.
    Combined,
    /// Its first messages are on their way.
    Started,
    /// All messages have come, and its host's members have not been released.
    Finished,
}

/// The argument of a process of a launch.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MemberArguments {
    work: PathBuf,
}

impl Arguments {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        if let Some(line) = &self.run {
            return self.run_line(line);
        }
        self.check()?;
        let (model, options) = Shared::of_machine(&self.machine).prepare(output)?;
        let options = Options { quick: self.quick, seed: self.seed, ..options };
        let member = own_program::path()?;
        let corecast = member.with_file_name("corecast");
        let programs = NodesPrograms { member, words: vec![MEMBER.to_owned()], corecast };
        let settings = NodesOptions {
            hosts: self.hosts,
            members: self.members(),
            homes: self.mpi_home.clone(),
            libraries: self.libraries.clone(),
            shape: self.shape(),
            lanes: self.lanes,
            runs: self.runs,
            work: self.work(),
            programs,
        };
        let report = nodes(&model.machine, &settings, &options, &mut Meter::start(output))?;
        tell(output, &report, describe)?;
        match report.wrong() {
            0 => Ok(()),
            wrong => Err(Failure::environment(format!(
                "{wrong} rows have a launch of a group that did not go as it should; the seed is {}",
                report.seed
            ))),
        }
    }

    /// That there are survivors, and that each cell's members can be, and make a group.
    fn check(&self) -> Result<(), Failure> {
        if self.kill.is_some() && self.hosts < 2 {
            return Err(Failure::input("--kill needs survivors on another host: expected --hosts 2 or more, not 1"));
        }
        if self.kill.is_some() && self.shape == Some(Shape::Threads) {
            return Err(Failure::input("--kill takes a process for each member: expected --shape nested or ranks"));
        }
        if self.model && self.hosts < 2 {
            return Err(Failure::input("--model needs messages between hosts: expected --hosts 2 or more, not 1"));
        }
        if let Some(members) = self.members().iter().find(|members| self.model && members.most() != 1) {
            return Err(Failure::input(format!("--members {members}: expected 1 with --model")));
        }
        if self.at.is_some() && self.kill != Some(Killed::Leader) {
            return Err(Failure::input("--at is a place that only leaders pass: expected --kill leader"));
        }
        if self.lanes > 1 && self.shape != Some(Shape::Ranks) {
            return Err(Failure::input("--lanes needs several MPI processes on each host: expected --shape ranks"));
        }
        self.members().iter().try_for_each(|members| self.check_cell(members)).map_err(Failure::input)
    }

    fn check_cell(&self, members: &HostMembers) -> Result<(), String> {
        let hosts = self.hosts;
        if !members.fits(hosts) {
            return Err(format!("--members {members} on {hosts} hosts: expected one number, or {hosts} numbers"));
        }
        if !members.is_even() && self.check.is_none() {
            return Err(format!("--members {members}: expected --check N beside different numbers"));
        }
        if members.least() < self.lanes {
            let lanes = self.lanes;
            return Err(format!("--members {members}: expected {lanes} or more on each host with --lanes {lanes}"));
        }
        if self.kill == Some(Killed::Member) && members.most() < 2 {
            return Err(format!("--members {members}: expected 2 or more with --kill member, as the first one leads"));
        }
        match members.total(hosts) {
            0..=MAX_MEMBERS => Ok(()),
            total => Err(format!(
                "--members {members} on {hosts} hosts: expected at most {MAX_MEMBERS} members in all, not {total}"
            )),
        }
    }

    fn run_line(&self, line: &str) -> Result<(), Failure> {
        let settings = NodesLine {
            hosts: self.hosts,
            homes: self.mpi_home.clone(),
            library: self.libraries.first().cloned(),
            line: line.to_owned(),
        };
        // The hosts are to go before this program does.
        let interrupt = Interrupt::watch_for_best()?;
        let status = run_on_nodes(&settings, &interrupt.cancel()).map_err(Failure::environment)?;
        interrupt.check()?;
        let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
        match code {
            0 => Ok(()),
            code => {
                let words = format!("the line ended with {status}");
                Err(Failure::Ended { words, code: u8::try_from(code).unwrap_or(1) })
            }
        }
    }

    fn members(&self) -> Vec<HostMembers> {
        // Each lane needs a member that leads it.
        let even = |numbers: &[usize]| {
            let mut numbers: Vec<usize> = numbers.iter().map(|&number| number.max(self.lanes)).collect();
            numbers.dedup();
            numbers.into_iter().map(HostMembers::even).collect()
        };
        match (self.members.as_slice(), self.kill) {
            ([], Some(_)) => even(&[2]),
            ([], None) if self.model => even(&[1]),
            ([], None) => even(&[1, 2, 4]),
            (members, _) => members.to_vec(),
        }
    }

    fn shape(&self) -> NodesShape {
        match (self.shape, self.kill) {
            (Some(Shape::Nested), _) | (None, Some(_)) => NodesShape::Nested,
            (Some(Shape::Ranks), _) => NodesShape::Ranks,
            (Some(Shape::Threads), _) | (None, None) => NodesShape::Threads,
        }
    }

    fn work(&self) -> NodesWork {
        match (self.kill, self.check) {
            (Some(Killed::Member), _) => NodesWork::Kill(NodesVictim::Member, None),
            (Some(Killed::Leader), _) => NodesWork::Kill(NodesVictim::Leader, self.at.map(place)),
            (Some(Killed::Host), _) => NodesWork::Kill(NodesVictim::Host, None),
            (None, Some(rounds)) => NodesWork::Check(rounds),
            (None, None) if self.idle => NodesWork::Idle,
            (None, None) if self.model => NodesWork::Model,
            (None, None) => NodesWork::Race,
        }
    }
}

fn place(place: Place) -> NodesDeathPlace {
    match place {
        Place::Combined => NodesDeathPlace::Combined,
        Place::Started => NodesDeathPlace::Started,
        Place::Finished => NodesDeathPlace::Finished,
    }
}

impl MemberArguments {
    pub(super) fn run(&self) -> Result<(), Failure> {
        nodes_member(&self.work).map_err(Failure::of_member)
    }
}

const ROWS: &[Column<NodesRow>] = &[
    Column::words("library", "library", |row| row.library.as_str().into()),
    Column::figure("hosts", "hosts", "", |row: &NodesRow| count(row.hosts), Digits(0)).optional(),
    Column::figure("members", "x members", "", |row| count(row.members), Digits(0)),
    Column::words("op", "operation", |row| row.op.name().into()),
    Column::figure("bytes", "bytes", "", |row| count(row.bytes), Digits(0)),
    Column::figure("plain_us", "plain MPI, us", "", |row| Value::Figure(row.plain_us), Digits(1)),
    Column::figure("ours_us", "corecast, us", "", |row| Value::Figure(row.ours_us), Digits(1)),
    Column::figure("ratio", "x", "", |row| Value::Figure(row.ratio), Ratio(2)),
    Column::figure("least_ratio", "from", "", |row: &NodesRow| Value::Figure(row.least_ratio), Ratio(2)).optional(),
    Column::figure("most_ratio", "to", "", |row: &NodesRow| Value::Figure(row.most_ratio), Ratio(2)).optional(),
];

const CHECKS: &[Column<NodesCheckRow>] = &[
    Column::words("library", "library", |row| row.library.as_str().into()),
    Column::figure("hosts", "hosts", "", |row| count(row.hosts), Digits(0)),
    Column::figure("members", "x members", "", |row| count(row.members), Digits(0)),
    Column::words("uneven", "uneven", |row: &NodesCheckRow| row.uneven.as_deref().unwrap_or_default().into())
        .optional(),
    Column::words("shape", "shape", |row| format!("{:?}", row.shape).to_lowercase().into()),
    Column::figure("operations", "operations", "", |row| count(row.operations as usize), Digits(0)),
    Column::words("wrong", "wrong", |row| {
        row.wrong.as_deref().unwrap_or(if row.is_late { "not done at its limit" } else { "nothing" }).into()
    }),
];

const IDLE: &[Column<NodesIdleRow>] = &[
    Column::words("library", "library", |row| row.library.as_str().into()),
    Column::figure("hosts", "hosts", "", |row| count(row.hosts), Digits(0)),
    Column::figure("members", "x members", "", |row| count(row.members), Digits(0)),
    Column::figure("launches", "waits", "", |row| count(row.launches), Digits(0)),
    Column::figure("member_share", "CPU of members", "", |row| Value::Figure(row.member_share), Digits(4)),
    Column::figure("leader_share", "of leaders", "", |row| Value::Figure(row.leader_share), Digits(4)),
    Column::words("wrong", "wrong", |row| row.wrong.as_deref().unwrap_or("nothing").into()),
];

const MODEL: &[Column<NodesModelRow>] = &[
    Column::words("library", "library", |row| row.library.as_str().into()),
    Column::figure("hosts", "hosts", "", |row| count(row.hosts), Digits(0)),
    Column::words("op", "operation", |row| row.op.name().into()),
    Column::figure("bytes", "bytes", "", |row| count(row.bytes), Digits(0)),
    Column::figure("launches", "launches", "", |row: &NodesModelRow| count(row.launches), Digits(0)).optional(),
    Column::figure("predicted_us", "by the model, us", "", |row| Value::Figure(row.predicted_us), Digits(1)),
    Column::figure("measured_us", "measured, us", "", |row| Value::Figure(row.measured_us), Digits(1)),
    Column::figure("ratio", "x", "", |row| Value::Figure(row.ratio), Ratio(2)),
    Column::figure("least_ratio", "from", "", |row: &NodesModelRow| Value::Figure(row.least_ratio), Ratio(2))
        .optional(),
    Column::figure("most_ratio", "to", "", |row: &NodesModelRow| Value::Figure(row.most_ratio), Ratio(2)).optional(),
    Column::words("wrong", "wrong", |row| row.wrong.as_deref().unwrap_or("nothing").into()),
];

const DEATHS: &[Column<NodesDeathRow>] = &[
    Column::words("library", "library", |row| row.library.as_str().into()),
    Column::words("victim", "killed", |row| format!("{:?}", row.victim).to_lowercase().into()),
    Column::words("place", "at", |row| row.place.map_or("any time", |place| place.name()).into()),
    Column::words("shape", "shape", |row| format!("{:?}", row.shape).to_lowercase().into()),
    Column::figure("runs", "deaths", "", |row| count(row.runs), Digits(0)),
    Column::figure("named", "named", "", |row| count(row.named), Digits(0)),
    Column::figure("shrunk", "went on", "", |row| count(row.shrunk), Digits(0)),
    Column::figure("hung", "hung", "", |row| count(row.hung), Digits(0)),
    Column::figure("median_ms", "told after", "ms", |row| Value::Figure(row.median_ms), Digits(1)),
    Column::figure("max_ms", "at most", "ms", |row| Value::Figure(row.max_ms), Digits(1)),
    Column::figure("after_max_ms", "went on after", "ms", |row| Value::Figure(row.after_max_ms), Digits(1)),
    Column::words("first_wrong", "", |row: &NodesDeathRow| row.first_wrong.as_deref().unwrap_or_default().into())
        .optional(),
];

fn describe(report: &NodesReport) -> String {
    let NodesReport { machine, hosts, lanes, rows, checks, idle, model, deaths, relaunches, skipped, gates, .. } =
        report;
    let mut text = format!("groups over {hosts} hosts, which share {}\n", printable::line(machine));
    if *lanes > 1 {
        text += &format!("{lanes} members of each host share long slices\n");
    }
    if !rows.is_empty() {
        text += &columns::plain(ROWS, rows);
        let mut wrong: Vec<(&str, usize, &str)> =
            rows.iter().filter_map(|row| Some((row.library.as_str(), row.members, row.wrong.as_deref()?))).collect();
        // All rows of a launch have its words.
        wrong.dedup();
        for (library, members, words) in wrong {
            text += &format!("WRONG: {}, x {members}: {}\n", printable::line(library), printable::line(words));
        }
    }
    if !checks.is_empty() {
        text += &columns::plain(CHECKS, checks);
    }
    if !idle.is_empty() {
        text += &columns::plain(IDLE, idle);
    }
    if !model.is_empty() {
        text += &columns::plain(MODEL, model);
    }
    if !deaths.is_empty() {
        text += &columns::plain(DEATHS, deaths);
        for row in deaths {
            let Some(flags) = row.launch_flags else { continue };
            text += &format!("{} was launched with {flags}\n", printable::line(&row.library));
        }
    }
    for NodesRelaunch { library, reason, .. } in relaunches {
        text += &format!("launched again: {}: {}\n", printable::line(library), printable::line(reason));
    }
    for NodesSkipped { library, reason } in skipped {
        text += &format!("SKIPPED: {}: {}\n", printable::line(library), printable::line(reason));
    }
    format!("{text}\n{}", gate_text::describe(gates))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::agree_with_json;
    use corecast_bench::NodesOp;

    #[test]
    fn the_tables_show_what_json_has() {
        let row = NodesRow {
            library: "openmpi".to_owned(),
            hosts: 2,
            members: 4,
            shape: NodesShape::Threads,
            op: NodesOp::Allreduce,
            bytes: 8,
            launches: 10,
            wrong: None,
            ours_us: Some(50.5),
            plain_us: Some(200.5),
            ratio: Some(4.0),
            least_ratio: Some(3.0),
            most_ratio: Some(5.0),
        };
        agree_with_json(ROWS, &row, "bench nodes", "rows[]");
        let check = NodesCheckRow {
            library: "mpich".to_owned(),
            hosts: 2,
            members: 4,
            uneven: Some("1+4".to_owned()),
            shape: NodesShape::Nested,
            operations: 10,
            wrong: Some("something".to_owned()),
            is_late: false,
        };
        agree_with_json(CHECKS, &check, "bench nodes", "checks[]");
        let idle = NodesIdleRow {
            library: "mpich".to_owned(),
            hosts: 2,
            members: 4,
            shape: NodesShape::Threads,
            launches: 10,
            member_share: Some(0.001),
            leader_share: Some(0.99),
            wrong: Some("something".to_owned()),
        };
        agree_with_json(IDLE, &idle, "bench nodes", "idle[]");
        let model = NodesModelRow {
            library: "mpich".to_owned(),
            hosts: 3,
            op: NodesOp::Broadcast,
            bytes: 8,
            launches: 10,
            wrong: Some("something".to_owned()),
            predicted_us: Some(30.5),
            measured_us: Some(33.5),
            ratio: Some(0.9),
            least_ratio: Some(0.8),
            most_ratio: Some(1.1),
        };
        agree_with_json(MODEL, &model, "bench nodes", "model[]");
        let death = NodesDeathRow {
            library: "mpich".to_owned(),
            victim: NodesVictim::Leader,
            place: Some(NodesDeathPlace::Started),
            hosts: 2,
            members: 2,
            shape: NodesShape::Ranks,
            is_survivable: true,
            launch_flags: Some("--with-ft ulfm"),
            runs: 20,
            named: 19,
            shrunk: 18,
            hung: 1,
            median_ms: Some(2.5),
            max_ms: Some(30.5),
            after_max_ms: Some(60.5),
            first_wrong: Some("words".to_owned()),
        };
        agree_with_json(DEATHS, &death, "bench nodes", "deaths[]");
    }
}
