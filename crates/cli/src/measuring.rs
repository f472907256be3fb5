//! Measuring this machine, and keeping what was found.
//!
//! A model of a quick measurement says so in its file, and does not take the place of a model that was measured in full.

use std::path::PathBuf;

use corecast::Machine;
use corecast::UmpProbe;
use corecast::machine::measure::{MeasureError, Options};
use corecast::machine::{Cache, Fingerprint, Topology, measure};

use crate::interrupt::Interrupt;
use crate::meter::Meter;
use crate::output::Output;

/// Measures what messages between these CPUs cost, over the channel that collectives use.
pub(crate) fn measure_machine(
    topology: &Topology,
    quick: bool,
    output: &Output,
    interrupt: &Interrupt,
) -> Result<Machine, MeasureError> {
    let options = Options { quick, cancelled: Some(interrupt.flag()), ..Options::default() };
    let mut machine = measure::measure(topology, &UmpProbe, &options, &mut Meter::start(output))?;
    if quick {
        machine.provenance.other.insert(QUICK.to_owned(), true.into());
    }
    Ok(machine)
}

/// The field of a model's provenance by which a quick measurement is known.
const QUICK: &str = "quick";

/// Whether it was measured with fewer samples.
fn is_quick(machine: &Machine) -> bool {
    machine.provenance.other.get(QUICK).is_some_and(|quick| *quick == true)
}

/// When the model in the cache was measured, if a quick one must not take its place.
fn full_model(cache: &Cache, fingerprint: &Fingerprint) -> Option<String> {
    let known = cache.load(fingerprint).ok().filter(|known| known.provenance.kind == "measured" && !is_quick(known))?;
    Some(known.extended.measured_at.map_or_else(String::new, |date| format!(" of {date}")))
}

/// Keeps a model for the next time. A cache that cannot be written costs time then, and is no error now. A quick model takes the
/// place of a full one only if it is `forced`.
pub(crate) fn keep(machine: &Machine, topology: &Topology, forced: bool, output: &Output) -> Option<PathBuf> {
    let Some(cache) = Cache::of_user() else {
        output.remark("the model is not kept: neither XDG_CACHE_HOME nor HOME names a folder");
        return None;
    };
    let fingerprint = Fingerprint::of_this_machine(topology);
    if let (true, Some(date)) = (is_quick(machine) && !forced, full_model(&cache, &fingerprint)) {
        output.remark(&format!(
            "the full model{date} stays in {}: this quick one is not kept there; `corecast measure --quick --force` replaces it, \
             `--out FILE` writes it elsewhere",
            cache.path(&fingerprint).display()
        ));
        return None;
    }
    let kept = cache.store(&fingerprint, machine);
    kept.inspect_err(|error| output.remark(&format!("the model is not kept: {error}"))).ok()
}
