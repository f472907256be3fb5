//! `--cpus LIST`: which CPUs to use.

use corecast::base::CpuSetError;
use corecast::{CpuId, CpuSet};

/// Why a list of CPUs given on the command line will not do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CpusArgError {
    /// The list cannot be read.
    #[error(transparent)]
    List(#[from] CpuSetError),
    /// No CPU is in it.
    #[error("the set of CPUs is empty, expected a list such as 0-3,8")]
    Empty,
}

/// A CPU that was asked for and is not there.
#[derive(Debug, thiserror::Error)]
#[error("CPU {cpu} of --cpus {asked} is not among the CPUs of {machine}, {usable}")]
pub(crate) struct OutsideMachine {
    cpu: CpuId,
    asked: CpuSet,
    machine: String,
    usable: CpuSet,
}

/// Reads a list of at least one CPU.
pub(crate) fn parse(list: &str) -> Result<CpuSet, CpusArgError> {
    let cpus: CpuSet = list.parse()?;
    if cpus.is_empty() { Err(CpusArgError::Empty) } else { Ok(cpus) }
}

/// The CPUs asked for, or all that are usable, of what the user knows as `machine`.
pub(crate) fn choose(asked: Option<&CpuSet>, usable: CpuSet, machine: &str) -> Result<CpuSet, OutsideMachine> {
    let Some(asked) = asked else { return Ok(usable) };
    match asked.difference(&usable).iter().next() {
        None => Ok(asked.clone()),
        Some(cpu) => Err(OutsideMachine { cpu, asked: asked.clone(), machine: machine.to_owned(), usable }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(list: &str) -> CpuSet {
        list.parse().expect("a list")
    }

    #[test]
    fn empty_lists_are_refused() {
        for list in ["", "  "] {
            assert!(matches!(parse(list), Err(CpusArgError::Empty)), "'{list}'");
        }
        assert_eq!(parse("0-2").expect("a list"), cpus("0-2"));
    }

    #[test]
    fn the_first_cpu_outside_is_named_with_those_there_are() {
        assert_eq!(choose(None, cpus("0-3"), "this machine").expect("all"), cpus("0-3"));
        assert_eq!(choose(Some(&cpus("1,3")), cpus("0-3"), "this machine").expect("some"), cpus("1,3"));
        let error = choose(Some(&cpus("0-99")), cpus("0-1"), "this machine").expect_err("too many").to_string();
        assert_eq!(error, "CPU 2 of --cpus 0-99 is not among the CPUs of this machine, 0-1");
    }
}
