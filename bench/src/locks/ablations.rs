//! Variants of the lock `auto` with one part left out, which show what that part is worth.

use corecast::lock::{Auto, Mode, Mutex, Params, Setup};

use super::contenders::{Contender, contender};
use super::crowd::crowd;
use super::distance::handed;
use super::flips::flips;
use super::guarded::{Guarded, Line};
use super::pair::pair_ns;
use corecast_race::failure::Failure;

/// One that keeps to a mode: that of this number.
struct Kept<const MODE: usize>(Mutex<Line, Auto>);

impl<const MODE: usize> Guarded for Kept<MODE> {
    fn new(setup: &Setup) -> Self {
        let mutex: Mutex<Line, Auto> = Guarded::new(setup);
        mutex.raw().pin_mode(Some(Mode::ALL[MODE]));
        Self(mutex)
    }

    #[inline(always)]
    fn with<R>(&self, work: impl FnOnce(&mut Line) -> R) -> R {
        self.0.with(work)
    }
}

fn kept<const MODE: usize>(name: &'static str) -> Contender {
    Contender { is_ablation: true, ..contender::<Kept<MODE>>(name, true, true) }
}

/// Sets these again when it is dropped.
struct Restored(&'static Params);

impl Drop for Restored {
    fn drop(&mut self) {
        self.0.clone().set_for_process();
    }
}

/// Runs this as where no machine was measured.
fn assumed<R>(run: impl FnOnce() -> R) -> R {
    let _restored = Restored(Params::of_process());
    Params::ASSUMED.clone().set_for_process();
    run()
}

/// The same where that says something of measuring: without measured hand-overs `auto` itself decides by costs that are
/// reckoned, if perhaps of a line that takes longer.
fn if_measured<R>(run: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
    let params = Params::of_process();
    if Mode::ALL.iter().any(|&mode| params.is_measured(mode)) {
        assumed(run)
    } else {
        Err(Failure::Refused("no hand-overs were measured: corecast measure locks".to_owned()))
    }
}

/// One that decides by costs that are reckoned.
fn prior() -> Contender {
    type Prior = Mutex<Line, Auto>;
    Contender {
        is_ablation: true,
        pair_ns: |pairs, domains| assumed(|| pair_ns::<Prior>(pairs, domains)),
        handed: |group, turns, domains| if_measured(|| handed::<Prior>(group, turns, domains)),
        crowd: |who| if_measured(|| crowd::<Prior>(who)),
        flips: |who| if_measured(|| flips::<Prior>(who)),
        ..contender::<Prior>("auto-prior", true, true)
    }
}

/// All of them.
pub(super) fn ablations() -> Vec<Contender> {
    vec![
        prior(),
        kept::<{ Mode::Spin as usize }>("auto-spin"),
        kept::<{ Mode::Queue as usize }>("auto-queue"),
        kept::<{ Mode::Park as usize }>("auto-park"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_name_and_keeps_its_mode() {
        let names: Vec<&str> = ablations().iter().map(|contender| contender.name).collect();
        assert_eq!(names, ["auto-prior", "auto-spin", "auto-queue", "auto-park"]);
        let mode_of = |kept: &Mutex<Line, Auto>| kept.raw().stats().mode;
        let setup = Setup::default();
        let queue: Kept<{ Mode::Queue as usize }> = Guarded::new(&setup);
        let park: Kept<{ Mode::Park as usize }> = Guarded::new(&setup);
        let before = [&queue.0, &park.0].map(mode_of);
        assert_eq!(before, [Mode::Queue, Mode::Park], "from the first acquisition on");
        park.with(|line| line.0 += 1);
        assert_eq!(mode_of(&park.0), Mode::Park);
    }

    #[test]
    fn without_measured_costs_nothing_is_raced() {
        let refused = if_measured(|| Ok(())).expect_err("nothing was measured in tests");
        assert_eq!(refused.to_string(), "no hand-overs were measured: corecast measure locks");
    }
}
