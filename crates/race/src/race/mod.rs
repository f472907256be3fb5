//! One group of the report: all contenders of one operation among the same participants, in turns.
//!
//! First each contender is built, verified and paced. Then come rounds: in each, a probe of the bare line and one block of
//! every contender, in an order drawn anew from the seed: when the machine changes its speed, it does so for all of them. A round
//! in which the bare line changed its cost counts for nobody, as the blocks before the change and after it cannot be compared;
//! another round takes its place.

mod entrant;
mod line_probe;

pub use entrant::Entrant;
pub use line_probe::LineProbe;

use std::time::{Duration, Instant};

use corecast::machine::pin::PinError;

use crate::cancel::Cancel;
use crate::contender::{Contender, Setting};
use crate::error::BenchError;
use crate::harness::{Crew, Pace};
use crate::progress::Progress;
use crate::report::{Group, Row, Timing};

/// A block may last longer by this for each byte that an operation carries.
const LONGER_PER_BYTE: Duration = Duration::from_nanos(200);

/// A race about to be run.
pub struct Race<'a> {
    /// The participants and what they carry.
    pub setting: &'a Setting<'a>,
    /// The interval that is timed.
    pub timing: Timing,
    /// How long blocks are.
    pub pace: Pace,
    /// By which the caller may stop the race.
    pub cancel: &'a Cancel,
    /// From this the order of each round is drawn.
    pub rng: &'a mut fastrand::Rng,
}

impl Race<'_> {
    /// Runs it until about `until`. The first contender is the reference.
    ///
    /// # Errors
    /// [`BenchError::Cancelled`], or that the participants could not be started. A contender's failure is no error.
    pub fn run(
        mut self,
        contenders: Vec<Box<dyn Contender>>,
        until: Instant,
        progress: &mut dyn Progress,
    ) -> Result<Group, BenchError> {
        let start = Instant::now();
        let mut crew = self.crew()?;
        let mut probe = LineProbe::start(&self.setting.cpus)?;
        let mut entrants = Vec::with_capacity(contenders.len());
        for contender in contenders {
            self.go_on()?;
            let mut entrant = Entrant::build(contender, self.setting, self.cancel);
            progress.step(elapsed_share(start, until), &format!("{}: check {}", self.title(), entrant.name()));
            entrant.prepare(&mut crew, self.timing, &self.pace);
            entrants.push(entrant);
        }
        probe.iter_mut().for_each(LineProbe::probe);
        let mut rounds = 0;
        while self.wants_round(rounds, probe.as_ref(), start, until) {
            progress.step(elapsed_share(start, until), &self.title());
            self.round(&mut crew, &mut entrants)?;
            probe.iter_mut().for_each(LineProbe::probe);
            rounds += 1;
        }
        // A block that was stopped counts as a failure of its contender, which it is not.
        self.go_on()?;
        Ok(self.group(&entrants, probe.as_ref()))
    }

    fn crew(&self) -> Result<Crew, PinError> {
        let limit = self.pace.limit + LONGER_PER_BYTE * u32::try_from(self.setting.bytes).unwrap_or(u32::MAX);
        Crew::start(&self.setting.seats, self.setting.oversubscribed, limit)
    }

    fn go_on(&self) -> Result<(), BenchError> {
        if self.cancel.is_cancelled() { Err(BenchError::Cancelled) } else { Ok(()) }
    }

    fn title(&self) -> String {
        format!("{} of {}", self.setting.op, self.setting.participants())
    }

    fn wants_round(&self, rounds: usize, probe: Option<&LineProbe>, start: Instant, until: Instant) -> bool {
        let now = Instant::now();
        let spoilt = probe.map_or(0, |probe| probe.steady_rounds().into_iter().filter(|is_steady| !is_steady).count());
        // A machine that never rests would go on for ever.
        let rounds = rounds - spoilt.min(self.pace.min_rounds);
        let far_over = now > until + until.saturating_duration_since(start);
        let enough = if far_over { self.pace.min_rounds.min(5) } else { self.pace.min_rounds };
        rounds < enough || (rounds < self.pace.max_rounds && now < until)
    }

    fn round(&mut self, crew: &mut Crew, entrants: &mut [Entrant]) -> Result<(), BenchError> {
        let mut order: Vec<usize> = (0..entrants.len()).collect();
        self.rng.shuffle(&mut order);
        for i in order {
            self.go_on()?;
            entrants[i].block(crew);
        }
        Ok(())
    }

    fn group(&self, entrants: &[Entrant], probe: Option<&LineProbe>) -> Group {
        let steady = probe.map(LineProbe::steady_rounds).unwrap_or_default();
        let is_steady = |round: usize| steady.get(round).copied().unwrap_or(true);
        let mut rows: Vec<Row> = entrants.iter().map(|entrant| entrant.row(is_steady)).collect();
        let reference = rows.first().map(|row| row.contender.clone()).unwrap_or_default();
        let base = rows.first().and_then(|row| row.summary).map(|summary| summary.median_ns);
        for row in &mut rows {
            row.ratio = row.summary.zip(base).map(|(summary, base)| summary.median_ns / base);
        }
        Group {
            op: self.setting.op,
            burst: None,
            participants: self.setting.participants(),
            bytes: self.setting.bytes,
            cpus: self.setting.seats.iter().map(|cpu| cpu.get()).collect(),
            oversubscribed: self.setting.oversubscribed,
            timing: self.timing,
            root: self.setting.op.is_rooted().then_some(self.setting.root),
            raw_line_ns: probe.and_then(LineProbe::median_ns),
            raw_line_probes_ns: probe.map(|probe| probe.probes_ns().to_vec()).unwrap_or_default(),
            placement_changes: probe.map_or(0, LineProbe::placement_changes),
            rounds_left_out: steady.iter().filter(|is_steady| !**is_steady).count(),
            reference,
            rows,
        }
    }
}

fn elapsed_share(start: Instant, until: Instant) -> f64 {
    let total = until.saturating_duration_since(start).as_secs_f64().max(1e-3);
    (start.elapsed().as_secs_f64() / total).min(1.0)
}

#[cfg(test)]
mod tests {
    use corecast::base::wait::Wait;
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, channel};

    use super::*;
    use crate::contender::{Unfit, contenders};
    use crate::failure::Failure;
    use crate::harness::{Abort, Body};
    use crate::op::Op;
    use crate::this_machine::this_machine;

    /// A barrier that is broken in one way.
    struct Broken {
        name: &'static str,
        wait: fn(usize) -> Result<(), Failure>,
    }

    struct End {
        rank: usize,
        wait: fn(usize) -> Result<(), Failure>,
    }

    impl crate::contender::bodies::BarrierEnd for End {
        fn wait(&mut self) -> Result<(), Failure> {
            (self.wait)(self.rank)
        }
    }

    impl Contender for Broken {
        fn name(&self) -> String {
            self.name.to_owned()
        }

        fn about(&self) -> String {
            "planted".to_owned()
        }

        fn build(&self, setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
            let end = |rank| End { rank, wait: self.wait };
            Ok(crate::contender::bodies::barrier_bodies((0..setting.participants()).map(end).collect()))
        }
    }

    /// Passes its check, and hangs when it is timed.
    struct Hanging;

    struct Stuck(Receiver<()>);

    impl Body for Stuck {
        fn run(&mut self, _iterations: u64) -> Result<(), Failure> {
            self.0.recv().map_err(Failure::refused)
        }

        fn check(&mut self, _rounds: u64) -> Result<(), Failure> {
            Ok(())
        }
    }

    impl Contender for Hanging {
        fn name(&self) -> String {
            "hanging".to_owned()
        }

        fn about(&self) -> String {
            "planted".to_owned()
        }

        fn build(&self, setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
            let stuck = || {
                let (never, receiver) = channel();
                std::mem::forget(never);
                Box::new(Stuck(receiver)) as Box<dyn Body>
            };
            Ok((0..setting.participants()).map(|_| stuck()).collect())
        }
    }

    fn race(op: Op, timing: Timing, planted: Vec<Box<dyn Contender>>, cancel: &Cancel) -> Result<Group, BenchError> {
        let machine = this_machine();
        let setting = Setting::new(&machine, op, &machine.cpu_set(), 2, Wait::Adaptive);
        let pace = Pace {
            block: Duration::from_micros(200),
            min_rounds: 3,
            max_rounds: 3,
            check_rounds: 50,
            limit: Duration::from_millis(1500),
        };
        let race = Race { setting: &setting, timing, pace, cancel, rng: &mut fastrand::Rng::with_seed(1) };
        let all = contenders(op).into_iter().chain(planted).collect();
        race.run(all, Instant::now() + Duration::from_secs(1), &mut ())
    }

    fn row<'a>(group: &'a Group, name: &str) -> &'a Row {
        group.rows.iter().find(|row| row.contender == name).expect("every contender has a row")
    }

    #[test]
    fn broken_contenders_are_found_out_and_the_others_are_timed() {
        let planted: Vec<Box<dyn Contender>> = vec![
            Box::new(Broken { name: "open", wait: |_| Ok(()) }),
            Box::new(Broken { name: "panicking", wait: |rank| panic!("planted in {rank}") }),
            Box::new(Hanging),
        ];
        let group = race(Op::Barrier, Timing::Batches, planted, &Cancel::new()).expect("only contenders fail");
        for (name, why) in
            [("open", "wrong result"), ("panicking", "panicked: planted in"), ("hanging", "did not finish")]
        {
            let skipped = row(&group, name).skipped.as_deref().expect("found out");
            assert!(skipped.contains(why), "{name}: {skipped}");
            assert!(row(&group, name).summary.is_none() && row(&group, name).ratio.is_none());
            assert!(row(&group, name).failed, "{name} took part");
        }
        for name in ["corecast", "std", "pthread", "dissemination", "central", "two-flags"] {
            let row = row(&group, name);
            assert_eq!(row.summary.map(|summary| summary.samples), Some(3), "{name}: {:?}", row.skipped);
        }
        assert_eq!(group.reference, "corecast");
        assert_eq!(row(&group, "corecast").ratio, Some(1.0));
    }

    #[test]
    fn every_way_to_time_a_rooted_operation_gives_samples() {
        for timing in [Timing::Windows, Timing::Separated, Timing::LeafEcho] {
            let group = race(Op::Broadcast, timing, Vec::new(), &Cancel::new()).expect("nothing fails");
            let corecast = row(&group, "corecast");
            let counted = corecast.summary.map_or(0, |summary| summary.samples) + corecast.discarded;
            // Three rounds are asked for; on a busy machine the time ends them before.
            assert!(counted > 0, "{timing:?}: {corecast:?}");
        }
    }

    #[test]
    fn a_cancelled_race_has_no_result() {
        let cancel = Cancel::new();
        cancel.cancel();
        let outcome = race(Op::OneWay, Timing::Batches, Vec::new(), &cancel);
        assert_eq!(outcome.map(drop), Err(BenchError::Cancelled));
    }
}
