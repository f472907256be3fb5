//! Published figures of other machines, to be shown beside those found here: heights may not be compared.

use corecast::machine::Machine;
use serde::Serialize;

/// The CPUs of the machine whose figures the authors of Smelt have published with its sources.
const SMELT_CPUS: usize = 20;

/// The participants of one of Smelt's experiments, of which each has a CPU: as many as there, or as there are CPUs here.
pub(crate) fn smelt_participants(cpus: usize) -> Vec<usize> {
    vec![cpus.clamp(2, SMELT_CPUS)]
}

/// T. David, R. Guerraoui, V. Trigonakis, Everything You Always Wanted to Know About Synchronization but Were Afraid to Ask.
const SSYNC: &str = "David, Guerraoui, Trigonakis, SOSP 2013";

/// A number, or a range of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublishedFigure {
    /// The quantity, with its unit.
    pub figure: &'static str,
    /// The machine that it was published of: not this one.
    pub machine: &'static str,
    /// The least that was published.
    pub least: f64,
    /// The most that was published.
    pub most: f64,
    /// Where it was published.
    pub source: &'static str,
    /// The same as found here; `null` if it was not measured, or the CPUs here are too few.
    pub here: Option<f64>,
}

/// One line of a table of published figures.
pub(crate) struct Published<E: ?Sized> {
    pub(crate) figure: &'static str,
    pub(crate) machine: &'static str,
    /// The least and the most that was published.
    pub(crate) there: [f64; 2],
    /// The same as found here, in what was measured.
    pub(crate) here: fn(&E) -> Option<f64>,
}

/// All figures of a table of SSYNC's, beside what was found here.
pub(crate) fn beside<E: ?Sized>(table: &[Published<E>], evidence: &E) -> Vec<PublishedFigure> {
    beside_of(SSYNC, table, evidence)
}

/// All figures of a table from this source, beside what was found here.
pub(crate) fn beside_of<E: ?Sized>(source: &'static str, table: &[Published<E>], evidence: &E) -> Vec<PublishedFigure> {
    let row = |&Published { figure, machine, there: [least, most], here }: &Published<E>| PublishedFigure {
        figure,
        machine,
        least,
        most,
        source,
        here: here(evidence),
    };
    table.iter().map(row).collect()
}

/// True if all CPUs are known to be in the same package, as those of figures that are told of one socket.
pub(crate) fn is_one_package(machine: &Machine) -> bool {
    let package = machine.cpus.first().and_then(|cpu| cpu.package);
    package.is_some() && machine.cpus.iter().all(|cpu| cpu.package == package)
}
