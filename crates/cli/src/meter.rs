//! The progress of a long run: a bar with the time left on a terminal, a line now and then elsewhere.
//!
//! All of it goes to standard error. Dropping the meter clears the bar, whatever ended the run.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use corecast::machine::measure::{self, Step};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;
use crate::printable;

/// Steps of the bar.
const LENGTH: u64 = 1000;
/// Where there is no terminal: the time between two lines about the same thing.
const BETWEEN_LINES: Duration = Duration::from_secs(2);
/// Before this part of a run the time left is not guessed from the time gone.
const LEAST_TO_GUESS: f64 = 0.05;

/// Shows how far one run is.
#[derive(Debug)]
pub struct Meter<'a> {
    output: &'a Output,
    begun: Instant,
    shown: Shown,
}

#[derive(Debug)]
enum Shown {
    Bar(ProgressBar),
    /// Lines, the last one then.
    Lines(Option<Instant>),
    Nothing,
}

impl<'a> Meter<'a> {
    /// A meter that shows what the user wants to see: a bar in a terminal, else lines, or nothing.
    pub fn start(output: &'a Output) -> Self {
        let shown = match (output.is_quiet(), io::stderr().is_terminal()) {
            (true, _) => Shown::Nothing,
            (false, true) => Shown::Bar(bar()),
            (false, false) => Shown::Lines(None),
        };
        Self { output, begun: Instant::now(), shown }
    }

    /// `fraction` of the run is done, if that is known; `left` is the time that the rest takes, where the caller knows it.
    fn show(&mut self, doing: &str, fraction: Option<f64>, left: Option<Duration>) {
        let doing = &*printable::line(doing);
        let left = left.or_else(|| guess_left(fraction?, self.begun.elapsed())).map(left_text);
        match &mut self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                if let Some(fraction) = fraction {
                    bar.set_position((fraction * LENGTH as f64) as u64);
                }
                bar.set_prefix(left.unwrap_or_default());
                bar.set_message(doing.to_owned());
            }
            Shown::Lines(last) => {
                let is_early = last.is_some_and(|last| last.elapsed() < BETWEEN_LINES) && fraction.is_some();
                // The result itself says that the run is over.
                if is_early || fraction.is_some_and(|fraction| fraction >= 1.0) {
                    return;
                }
                self.output.remark(&line(doing, fraction, left));
                *last = Some(Instant::now());
            }
        }
    }
}

impl Drop for Meter<'_> {
    fn drop(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

impl measure::Progress for Meter<'_> {
    fn step(&mut self, step: &Step<'_>) {
        let fraction = (step.total > 0).then(|| step.done as f64 / step.total as f64);
        self.show(step.label, fraction, step.left);
    }
}

impl corecast_race::Progress for Meter<'_> {
    fn step(&mut self, fraction: f64, doing: &str) {
        self.show(doing, Some(fraction.clamp(0.0, 1.0)), None);
    }
}

fn bar() -> ProgressBar {
    let style =
        ProgressStyle::with_template("{percent:>3} % {bar:25} {prefix:>12}  {wide_msg}").expect("a valid template");
    let bar = ProgressBar::with_draw_target(Some(LENGTH), ProgressDrawTarget::stderr());
    bar.with_style(style)
}

fn line(doing: &str, fraction: Option<f64>, left: Option<String>) -> String {
    let done = fraction.filter(|&fraction| fraction > 0.0).map(|fraction| format!("{:.0} % done", 100.0 * fraction));
    [Some(doing.to_owned()), done, left].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn guess_left(fraction: f64, gone: Duration) -> Option<Duration> {
    (fraction >= LEAST_TO_GUESS).then(|| gone.mul_f64((1.0 - fraction) / fraction))
}

fn left_text(left: Duration) -> String {
    let seconds = left.as_secs_f64().ceil() as u64;
    if seconds < 120 { format!("{seconds} s left") } else { format!("{} min left", seconds.div_ceil(60)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_told_when_it_can_be_guessed() {
        assert_eq!(guess_left(0.01, Duration::from_secs(1)), None);
        assert_eq!(guess_left(0.25, Duration::from_secs(2)), Some(Duration::from_secs(6)));
        assert_eq!(left_text(Duration::from_millis(1500)), "2 s left");
        assert_eq!(left_text(Duration::from_secs(121)), "3 min left");
        assert_eq!(line("pairs", Some(0.5), Some("2 s left".to_owned())), "pairs, 50 % done, 2 s left");
        assert_eq!([line("clock", None, None), line("race", Some(0.0), None)], ["clock", "race"]);
    }
}
