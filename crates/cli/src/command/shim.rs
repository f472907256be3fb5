//! `corecast shim check`: whether a program can be served by the preload objects, and by which.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::failure::Failure;
use crate::output::Output;
use crate::shim::check::{Kind, Report, check};
use crate::shim::program_path;
use crate::shim::verdict::{FamilyVerdict, Verdict};
use crate::table;

/// The exit code if nothing can be served.
const NOTHING: u8 = 1;

/// Options of `shim`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Command {
    /// Say which runtimes a program uses, what of them would be served, and what stands in the way.
    #[command(
        after_help = "Exit codes: 0 something can be served, 1 nothing, 2 no program.\n\nExamples:\n  corecast shim check memcached\n  corecast shim check ./program --json"
    )]
    Check(CheckArguments),
}

#[derive(Clone, Debug, clap::Args)]
struct CheckArguments {
    /// The program, or a library: a path, or a name to be found in PATH.
    #[arg(value_name = "PROGRAM")]
    program: OsString,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let Command::Check(CheckArguments { program }) = &arguments.command;
    // As `run` finds it; a file in this folder is meant where no program has the name.
    let path = program_path::find(program).unwrap_or_else(|| PathBuf::from(program));
    let report = check(&path).map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
    if output.is_json() {
        output.json(&report)?
    } else {
        output.text(&describe(&report))?
    }
    if report.is_served() {
        return Ok(());
    }
    // A Java program, say, opens the library that locks at run time; `run --shim` serves it.
    let seen = if report.is_seen() { "" } else { " that is seen" };
    Err(Failure::Ended { words: format!("nothing{seen} can be served in {}", report.program), code: NOTHING })
}

fn describe(report: &Report) -> String {
    let kind = if report.kind == Kind::Program { "program" } else { "library" };
    let mut families = table::table(&["family", "verdict", "why"]);
    for family in &report.families {
        families.add_row([family.family.name().to_owned(), verdict(family.verdict).to_owned(), why(family)]);
    }
    let line = |title: &str, words: &str| format!("{title}: {words}\n");
    let obstacles = report.obstacles.iter().map(|obstacle| line("in the way", &obstacle.why));
    let runtimes = report.runtimes.iter().map(|runtime| {
        let path = runtime.path.as_deref().unwrap_or(&runtime.library);
        line("runtime", &format!("{}, {path}", runtime.runtime))
    });
    let remarks = report.remarks.iter().map(|remark| line("remark", &remark.words));
    let below: String = obstacles.chain(runtimes).chain(remarks).collect();
    format!("{}: a {kind} for {}\n{}{below}", report.program, report.architecture, table::text(&families))
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Served => "served",
        Verdict::NotUsed => "not used",
        Verdict::Unseen => "not seen",
        Verdict::Refused => "refused",
    }
}

fn why(FamilyVerdict { why, symbols, users, .. }: &FamilyVerdict) -> String {
    if symbols.is_empty() {
        return why.clone();
    }
    format!("{why}; {} called by {}", table::many(symbols.len(), "function"), users.join(", "))
}
