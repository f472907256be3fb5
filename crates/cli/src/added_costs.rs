//! Costs that are measured by themselves and added to the model of this machine: those of locks, and of single accesses to lines.
//!
//! The model is the one given, the one that is kept, or one that is measured first. Only a model of this machine gets them.

use std::path::{Path, PathBuf};

use corecast::machine::measure::MeasureError;
use corecast::machine::{model_file, pin};
use corecast::{CpuSet, Machine};

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::machine_args::{MachineArgs, Model};
use crate::model_source;
use crate::output::Output;

/// Which costs, and what the user wants with them.
#[derive(Clone, Copy, Debug)]
pub struct AddedCosts<'a> {
    /// The things whose costs are added, in words.
    pub what: &'static str,
    /// The machine, as the user gave it.
    pub machine: &'a MachineArgs,
    /// Whether a model that is measured first is measured with fewer samples.
    pub quick: bool,
    /// Where the model is written, too.
    pub out: Option<&'a Path>,
    /// Where it is told.
    pub output: &'a Output,
}

/// A result for people, with a picture that may have colours.
#[derive(Clone, Debug, Default)]
pub struct ModelText {
    /// The lines before the picture.
    pub before: String,
    /// The picture.
    pub picture: String,
    /// The lines behind it.
    pub behind: String,
}

impl AddedCosts<'_> {
    /// The model that the costs are added to.
    ///
    /// # Errors
    /// Bad input: CPUs that cannot be used, or a model of another machine that is to be written. Trouble of the environment.
    pub fn model(&self, interrupt: &Interrupt) -> Result<Model, Failure> {
        let Self { what, machine, quick, output, .. } = *self;
        check_cpus(machine)?;
        let model = model_source::model(machine, quick, false, output, interrupt)?;
        if model.is_foreign {
            self.check_nothing_is_mixed()?;
            output.remark(&format!(
                "the model is not known to be of this machine, on which {what} are measured: it stays as it is"
            ));
        }
        if model.machine.provenance.kind == "assumed" {
            output.remark(&format!("what messages cost is assumed in this model: only what {what} cost is measured"));
        }
        Ok(model)
    }

    /// Adds costs to a model, and to its file if that is of the same CPUs; returns the file then. A file that cannot be written
    /// loses them, and is no error.
    pub fn keep(&self, model: &mut Model, add: impl Fn(&mut Machine)) -> Option<PathBuf> {
        let Self { what, output, .. } = *self;
        let cpus = model.machine.cpu_set();
        add(&mut model.machine);
        let path = model.file.clone()?;
        let added = model_file::read(&path).and_then(|mut whole| {
            let is_whole = whole.cpu_set() == cpus;
            add(&mut whole);
            if is_whole { model_file::write(&whole, &path).map(|()| true) } else { Ok(false) }
        });
        match added {
            Ok(true) => return Some(path),
            Ok(false) => output
                .remark(&format!("what {what} cost is not kept: the model is of more CPUs; `--out FILE` writes it")),
            Err(error) => output.remark(&format!("what {what} cost is not kept: {error}")),
        }
        None
    }

    /// That nobody wants a model which has the costs of another machine, and of this one what is measured.
    fn check_nothing_is_mixed(&self) -> Result<(), Failure> {
        if self.out.is_none() && !self.output.is_json() {
            return Ok(());
        }
        let (model, what) = (self.machine.described(), self.what);
        let error =
            format!("the model {model} is not known to be of this machine, whose {what} cannot be written into it");
        Err(Failure::input(error).with_help("without --machine the model of this machine is taken, or measured"))
    }
}

/// That threads can be on the CPUs of a machine that was given.
fn check_cpus(given: &MachineArgs) -> Result<(), Failure> {
    let cpus: CpuSet = given.topology()?.cpus.iter().map(|cpu| cpu.id).collect();
    let usable = pin::affinity().map_err(Failure::environment)?;
    match cpus.difference(&usable).as_slice().first() {
        None => Ok(()),
        Some(&cpu) => {
            let error = MeasureError::NotUsable { cpu, usable };
            Err(Failure::input(format!("the machine of {}: {error}", given.described())))
        }
    }
}

/// Writes the model where it is wanted, and tells it: `kept` is where it is already.
///
/// # Errors
/// A `Failure` with its exit code: trouble of the environment.
pub fn tell(
    output: &Output,
    machine: &Machine,
    out: Option<&Path>,
    kept: Option<&Path>,
    text: impl FnOnce() -> ModelText,
) -> Result<(), Failure> {
    if let Some(path) = out {
        model_file::write(machine, path)?;
    }
    if output.is_json() {
        return output.json_text(&model_file::render(machine).map_err(Failure::environment)?);
    }
    let written: String =
        [kept, out].into_iter().flatten().map(|path| format!("model written to {}\n", path.display())).collect();
    let ModelText { before, picture, behind } = text();
    output.text_around(&before, &picture, &(behind + &written))
}
