//! One group of the race as a chart: a line for each contender, from fast to slow.
//!
//! The dot is the median, the bar reaches from the 10th to the 90th percentile, the line from there to a tick at the
//! 99th. Where the times are more than a factor of 30 apart the axis is logarithmic, and says so.

use corecast_race::Group;

use crate::race_text;

use super::axis::Axis;
use super::number::{ratio, time};
use super::race_layout::{BROAD, NARROW, RaceLayout};
use super::ranking::Entrant;
use super::svg::{Area, Paint, Point, Svg};

const LOGARITHMIC_RATIO: f64 = 30.0;
const TITLE: f64 = 20.0;
const ABOVE: f64 = 20.0;
const BELOW: f64 = 26.0;

/// A group and those of its contenders that are shown.
pub(super) struct RaceChart<'a> {
    group: &'a Group,
    entrants: Vec<Entrant<'a>>,
    axis: Axis,
    layout: RaceLayout,
}

impl<'a> RaceChart<'a> {
    /// `None` if there is nobody to show.
    pub(super) fn of(group: &'a Group, entrants: Vec<Entrant<'a>>) -> Option<Self> {
        Self::laid_out(group, entrants, BROAD)
    }

    /// The same for a narrow page.
    pub(super) fn narrow(group: &'a Group, entrants: Vec<Entrant<'a>>) -> Option<Self> {
        Self::laid_out(group, entrants, NARROW)
    }

    fn laid_out(group: &'a Group, entrants: Vec<Entrant<'a>>, layout: RaceLayout) -> Option<Self> {
        let fastest = entrants.iter().map(|entrant| entrant.times.p10_ns).reduce(f64::min)?;
        let slowest = entrants.iter().map(|entrant| entrant.times.p99_ns).fold(0.0, f64::max);
        let axis = if fastest > 0.0 && slowest > LOGARITHMIC_RATIO * fastest {
            Axis::logarithmic(fastest, slowest, layout.axis_start, layout.axis_length)
        } else {
            Axis::linear(slowest * 1.02, layout.axis_start, layout.axis_length)
        };
        Some(Self { group, entrants, axis, layout })
    }

    fn height(&self) -> f64 {
        ABOVE + self.layout.row * self.entrants.len() as f64 + BELOW
    }

    /// The chart as a picture of its own.
    pub(super) fn picture(&self) -> String {
        let mut svg = Svg::begin(self.layout.width, self.height(), &title(self.group), &self.description());
        self.draw(&mut svg, 0.0);
        svg.finish()
    }

    /// Draws the chart below its title into a picture, `top` pixels from above; it is [`RaceChart::titled_height`]
    /// high.
    pub(super) fn draw_titled(&self, svg: &mut Svg, top: f64) {
        svg.text((0.0, top + 14.0), "subject", &title(self.group));
        self.draw(svg, top + TITLE);
    }

    pub(super) fn titled_height(&self) -> f64 {
        TITLE + self.height()
    }

    fn draw(&self, svg: &mut Svg, top: f64) {
        let heads = top + ABOVE - 8.0;
        if self.axis.is_logarithmic() {
            svg.text((self.axis.start(), heads), "small quiet", "logarithmic scale");
        }
        let ratios =
            if self.layout.names_reference { format!("× {}", self.group.reference) } else { "ratio".to_owned() };
        svg.text((self.layout.medians_end, heads), "small end quiet", "median");
        svg.text((self.layout.ratios_end, heads), "small end quiet", &ratios);
        self.grid(svg, top + ABOVE);
        for (row, entrant) in self.entrants.iter().enumerate() {
            self.row(svg, top + ABOVE + self.layout.row * row as f64, entrant);
        }
    }

    fn description(&self) -> String {
        let lines = self.entrants.iter().map(|entrant| format!("{} {}", entrant.name, time(entrant.times.median_ns)));
        format!("Medians from fast to slow: {}.", lines.collect::<Vec<_>>().join(", "))
    }

    fn grid(&self, svg: &mut Svg, top: f64) {
        let bottom = top + self.layout.row * self.entrants.len() as f64;
        let ticks = self.axis.ticks();
        for tick in ticks.iter().copied().step_by(ticks.len().div_ceil(self.layout.ticks).max(1)) {
            let x = self.axis.pixel(tick);
            svg.line((x, top), (x, bottom + 4.0), "grid");
            svg.text((x, bottom + 17.0), "small middle quiet", &time(tick));
        }
        if let Some(reference) = self.entrants.iter().find(|entrant| entrant.is_reference) {
            let x = self.axis.pixel(reference.times.median_ns);
            svg.line((x, top), (x, bottom), "reference");
        }
    }

    fn row(&self, svg: &mut Svg, top: f64, entrant: &Entrant<'_>) {
        let layout = &self.layout;
        let (words, marks) = (top + layout.words + 4.0, top + layout.marks);
        let area = Area { x: 0.0, y: top, width: layout.width, height: layout.row };
        if entrant.is_reference {
            svg.rect(area, Paint::Class("band"), "");
            // The band hides the grid, so that the row that matters most is the calmest.
        }
        let (kind, ours) = if entrant.is_ours { ("ours", "text-ours") } else { ("rival", "") };
        let name_class = format!("{} {ours}", layout.name_class);
        svg.text((layout.names, words), name_class.trim(), &shortened(entrant.name, layout.name_length));
        self.marks(svg, marks, kind, entrant);
        svg.text((layout.medians_end, words), "end digits", &time(entrant.times.median_ns));
        let is_loss = !entrant.is_ours && entrant.ratio.is_some_and(|ratio| ratio < 1.0);
        let class = if is_loss { "end digits lost" } else { "end digits quiet" };
        let text = entrant.ratio.map_or_else(|| "–".to_owned(), ratio);
        svg.text((layout.ratios_end, words), class, &text);
        svg.rect(area, Paint::Class("hover"), &tip(entrant));
    }

    fn marks(&self, svg: &mut Svg, y: f64, kind: &str, entrant: &Entrant<'_>) {
        let times = &entrant.times;
        let [p10, p90, p99, median] =
            [times.p10_ns, times.p90_ns, times.p99_ns, times.median_ns].map(|time_ns| self.axis.pixel(time_ns));
        let tail = format!("tail-{kind}");
        svg.line((p90, y), (p99, y), &tail);
        svg.line((p99, y - 5.0), (p99, y + 5.0), &tail);
        let bar = Area { x: p10, y: y - 5.0, width: (p90 - p10).max(1.0), height: 10.0 };
        svg.rect(bar, Paint::Class(&format!("spread-{kind}")), "");
        svg.circle((median, y), 4.0, Paint::Class(&format!("median-{kind}")), "");
    }
}

/// The operation, its members and their CPUs, and whether they share these.
pub(super) fn title(group: &Group) -> String {
    let cpus = distinct_cpus(group);
    let members = counted(group.participants, "member");
    let shared = if group.oversubscribed { " · oversubscribed" } else { "" };
    let bytes = race_text::length(group);
    format!("{}{bytes}, {members} on {}{shared}", group.op.name().replace('_', "-"), counted(cpus, "CPU"))
}

/// The height of a line of the legend.
const LEGEND_LINE: f64 = 18.0;

/// The meaning of the marks: in a row of about 560 pixels from `at` on, or in two rows if it `is_narrow`.
pub(super) fn legend(svg: &mut Svg, at: Point, is_narrow: bool) {
    let (x, y) = at;
    for (offset, kind, word) in [(0.0, "ours", "corecast"), (84.0, "rival", "rival or yardstick")] {
        svg.circle((x + offset + 5.0, y), 4.0, Paint::Class(&format!("median-{kind}")), "");
        svg.text((x + offset + 15.0, y + 4.0), "small", word);
    }
    let (from, y) = if is_narrow { (x, y + LEGEND_LINE) } else { (x + 206.0, y) };
    svg.rect(Area { x: from, y: y - 5.0, width: 34.0, height: 10.0 }, Paint::Class("spread-rival"), "");
    svg.line((from + 34.0, y), (from + 58.0, y), "tail-rival");
    svg.line((from + 58.0, y - 5.0), (from + 58.0, y + 5.0), "tail-rival");
    svg.circle((from + 14.0, y), 4.0, Paint::Class("median-rival"), "");
    svg.text((from + 66.0, y + 4.0), "small", "dot: median; bar: 10th to 90th percentile; tick: 99th");
}

/// The legend as a picture of its own.
pub(super) fn key(is_narrow: bool) -> String {
    let layout = if is_narrow { NARROW } else { BROAD };
    let height = if is_narrow { 20.0 + LEGEND_LINE } else { 20.0 };
    let mut svg = Svg::begin(
        layout.width,
        height,
        "Key to the charts",
        "The dot is the median, the bar the 10th to 90th \
        percentile, the tick the 99th percentile. Filled blue marks are corecast's, hollow grey ones are not.",
    );
    legend(&mut svg, (0.0, 10.0), is_narrow);
    svg.finish()
}

fn distinct_cpus(group: &Group) -> usize {
    let mut cpus = group.cpus.clone();
    cpus.sort_unstable();
    cpus.dedup();
    cpus.len()
}

fn counted(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

fn shortened(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most - 1).chain(['…']).collect()
}

fn tip(entrant: &Entrant<'_>) -> String {
    let times = &entrant.times;
    let [median, p10, p90, p99] = [times.median_ns, times.p10_ns, times.p90_ns, times.p99_ns].map(time);
    format!("{}: median {median}, p10 {p10}, p90 {p90}, p99 {p99}, {} samples", entrant.name, times.samples)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use crate::report::ranking::ranking;

    fn chart(group: &Group) -> String {
        RaceChart::of(group, ranking(group)).expect("contenders").picture()
    }

    #[test]
    fn far_apart_times_get_a_logarithmic_axis_that_is_labelled() {
        assert!(chart(&example::duel(100.0, 9000.0).groups[0]).contains("logarithmic scale"));
        assert!(!chart(&example::duel(100.0, 450.0).groups[0]).contains("logarithmic scale"));
    }

    #[test]
    fn a_rival_that_is_faster_is_marked() {
        assert!(chart(&example::duel(450.0, 100.0).groups[0]).contains("lost"));
        assert!(!chart(&example::duel(100.0, 450.0).groups[0]).contains("lost"));
    }

    #[test]
    fn sharing_cpus_is_said_in_the_title() {
        let report = example::race(&[(8, 2), (2, 2), (1, 1)]);
        let titles: Vec<String> = report.groups.iter().map(title).collect();
        assert_eq!(titles[0], "barrier, 8 members on 2 CPUs · oversubscribed");
        assert_eq!(titles[3], "barrier, 2 members on 2 CPUs");
        assert_eq!(titles[6], "barrier, 1 member on 1 CPU");
    }

    #[test]
    fn a_narrow_chart_has_every_name_and_fewer_ticks() {
        let report = example::race(&[(2, 2)]);
        let group = &report.groups[0];
        let [broad, narrow] = [RaceChart::of(group, ranking(group)), RaceChart::narrow(group, ranking(group))]
            .map(|chart| chart.expect("contenders").picture());
        assert!(narrow.contains("width=\"350\"") && narrow.contains("corecast/tree/adaptive+shuffle+sort"), "{narrow}");
        let ticks = |picture: &str| picture.matches("small middle quiet").count();
        assert!(ticks(&narrow) <= 6 && ticks(&narrow) < ticks(&broad), "{} of {}", ticks(&narrow), ticks(&broad));
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(shortened(&"ü".repeat(38), 38), "ü".repeat(38));
        assert_eq!(shortened(&"ü".repeat(39), 38), "ü".repeat(37) + "…");
    }

    #[test]
    fn nobody_makes_no_chart() {
        let report = example::duel(1.0, 2.0);
        assert!(RaceChart::of(&report.groups[0], Vec::new()).is_none());
    }
}
