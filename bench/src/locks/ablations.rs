//! `auto` with something left out: what it is worth to choose, and to choose by what was measured.

use corecast::lock::{Auto, Mode, Mutex, Params, Setup};

use super::contenders::{Contender, contender};
use super::crowd::crowd;
use super::distance::handed;
use super::flips::flips;
use super::guarded::{Guarded, Line};
use super::pair::pair_ns;

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

/// Runs this as where no machine was measured.
fn assumed<R>(run: impl FnOnce() -> R) -> R {
    let measured = Params::of_process();
    Params::ASSUMED.clone().set_for_process();
    let result = run();
    measured.clone().set_for_process();
    result
}

/// One that decides by costs that are reckoned.
fn prior() -> Contender {
    type Prior = Mutex<Line, Auto>;
    Contender {
        is_ablation: true,
        pair_ns: |pairs, domains| assumed(|| pair_ns::<Prior>(pairs, domains)),
        handed: |group, count, domains| assumed(|| handed::<Prior>(group, count, domains)),
        crowd: |who| assumed(|| crowd::<Prior>(who)),
        flips: |who| assumed(|| flips::<Prior>(who)),
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
}
