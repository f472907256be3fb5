//! Acknowledged broadcasts as the paper on diamond rings shows them: what one broadcast takes, and how many a long burst
//! gets through, a point for each kind and arity; and the points that the paper published, of another machine.

use corecast_race::{Op, Report};
use maud::{Markup, PreEscaped, html};

use super::axis::Axis;
use super::labels::{self, Label};
use super::number::{significant, time};
use super::svg::{Paint, Svg};

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 560.0;
const NAMES: f64 = 600.0;
const TOP: f64 = 22.0;
const BELOW: f64 = 44.0;

/// The results of the paper on diamond rings on a machine of 80 hardware threads (Intel Xeon), without payload: microseconds of
/// one broadcast, broadcasts per microsecond in a burst. Read off its plot of the best of each kind.
const PUBLISHED: [(&str, f64, f64); 3] =
    [("SDR, k = 6", 5.4, 0.35), ("SDR, k = 2", 6.0, 0.65), ("DR, k = 1", 17.0, 1.45)];
const SOURCE: &str = "the paper on diamond rings, a Xeon of 80 hardware threads";

/// One kind of acknowledged broadcast.
#[derive(Clone, Debug, PartialEq)]
struct Kind {
    name: String,
    is_ours: bool,
    /// The time of one broadcast until all have acknowledged it.
    one_ns: f64,
    /// Broadcasts per microsecond in the longest burst.
    per_us: f64,
}

/// A picture for each number of members that was raced in bursts of one and of more.
pub(super) fn of_report(report: &Report) -> Markup {
    let mut sizes: Vec<usize> = report.groups.iter().map(|group| group.participants).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let found = sizes.into_iter().map(|members| (members, kinds(report, members)));
    let found: Vec<_> = found.filter(|(_, (_, kinds))| !kinds.is_empty()).collect();
    html! {
        @if !found.is_empty() {
            h3 { "One broadcast against many" }
            p {
                "Further left, one broadcast is acknowledged sooner; further up, more of them get through when they follow "
                "each other. The points named published are those of " (SOURCE) ": another machine, and another number of "
                "members. They show what trade-off the authors found; times of two machines cannot be compared."
            }
            @for (members, (burst, kinds)) in &found {
                figure class="wide" { (PreEscaped(picture(*members, *burst, kinds))) }
                (table(*burst, kinds))
            }
        }
    }
}

/// The longest burst among this many members, and every kind that was timed in it and alone.
fn kinds(report: &Report, members: usize) -> (usize, Vec<Kind>) {
    let groups = || {
        let acknowledged = report.groups.iter().filter(|group| group.op == Op::Acknowledged);
        acknowledged.filter(move |group| group.participants == members)
    };
    let one = groups().find(|group| group.burst == Some(1));
    let many = groups().filter(|group| group.burst > Some(1)).max_by_key(|group| group.burst);
    let (Some(one), Some(many)) = (one, many) else { return (0, Vec::new()) };
    let burst = many.burst.unwrap_or(0);
    let kind = |row: &corecast_race::Row| {
        let long = many.rows.iter().find(|other| other.contender == row.contender)?.summary?;
        let (one_ns, per_us) = (row.summary?.median_ns, burst as f64 / long.median_ns * 1e3);
        (one_ns > 0.0 && per_us.is_finite()).then(|| Kind {
            name: row.contender.clone(),
            is_ours: row.ours,
            one_ns,
            per_us,
        })
    };
    (burst, one.rows.iter().filter_map(kind).collect())
}

fn published() -> impl Iterator<Item = Kind> {
    PUBLISHED.into_iter().map(|(name, one_us, per_us)| Kind {
        name: format!("published: {name}"),
        is_ours: false,
        one_ns: 1e3 * one_us,
        per_us,
    })
}

fn picture(members: usize, burst: usize, kinds: &[Kind]) -> String {
    let all: Vec<Kind> = kinds.iter().cloned().chain(published()).collect();
    let ends = |value: fn(&Kind) -> f64| {
        let values = || all.iter().map(value);
        (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
    };
    let height = HEIGHT.max(labels::height(all.len()) + TOP + BELOW);
    let bottom = height - BELOW;
    let ((fast, slow), (few, many)) = (ends(|kind| kind.one_ns), ends(|kind| kind.per_us));
    let across = Axis::logarithmic(fast, slow, LEFT, RIGHT - LEFT);
    let up = Axis::logarithmic(few, many, bottom, TOP - bottom);
    let title = format!("acknowledged broadcast, {members} members: time of one, and rate in bursts of {burst}");
    let described =
        all.iter().map(|kind| format!("{} {}, {} per µs", kind.name, time(kind.one_ns), significant(kind.per_us)));
    let mut svg = Svg::begin(WIDTH, height, &title, &format!("{}.", described.collect::<Vec<_>>().join("; ")));
    svg.text((LEFT, 12.0), "small", &title);
    grid(&mut svg, &across, &up);
    let names = all.iter().map(|kind| point(&mut svg, kind, (across.pixel(kind.one_ns), up.pixel(kind.per_us))));
    let names = names.collect();
    labels::column(&mut svg, names, NAMES, (TOP, bottom));
    svg.finish()
}

fn grid(svg: &mut Svg, across: &Axis, up: &Axis) {
    let (bottom, top) = (up.start(), up.end());
    for tick in across.ticks() {
        let x = across.pixel(tick);
        svg.line((x, top), (x, bottom), "grid");
        svg.text((x, bottom + 15.0), "small middle quiet", &time(tick));
    }
    for tick in up.ticks() {
        let y = up.pixel(tick);
        svg.line((across.start(), y), (across.end(), y), "grid");
        svg.text((across.start() - 6.0, y + 4.0), "small end quiet", &significant(tick));
    }
    svg.text(
        (across.start(), bottom + 34.0),
        "small quiet",
        "across: time of one broadcast; up: broadcasts per µs; both logarithmic",
    );
}

fn point(svg: &mut Svg, kind: &Kind, at: (f64, f64)) -> Label {
    let tip = format!("{}: {}, {} per µs", kind.name, time(kind.one_ns), significant(kind.per_us));
    let (mark, class) = if kind.is_ours { ("median-ours", "small text-ours") } else { ("median-rival", "small") };
    svg.circle(at, 4.0, Paint::Class(mark), &tip);
    Label { at, class, text: kind.name.clone() }
}

fn table(burst: usize, kinds: &[Kind]) -> Markup {
    html! {
        details {
            summary { "Numbers: time of one, and rate in bursts of " (burst) }
            div class="scroll" { table {
                thead { tr {
                    th class="words" scope="col" { "kind" } th scope="col" { "one broadcast" } th scope="col" { "per µs" }
                } }
                tbody {
                    @for kind in kinds.iter().cloned().chain(published()) {
                        tr class=(if kind.is_ours { "ours" } else { "rival" }) {
                            th class="words" scope="row" { (kind.name) }
                            td { (time(kind.one_ns)) } td { (significant(kind.per_us)) }
                        }
                    }
                }
            } }
            p class="note" { "Published points: " (SOURCE) "." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn raced(bursts: &[usize]) -> Report {
        let mut report = example::race(&[(8, 8)]);
        let group = report.groups[0].clone();
        let of = |&burst: &usize| corecast_race::Group { op: Op::Acknowledged, burst: Some(burst), ..group.clone() };
        report.groups = bursts.iter().map(of).collect();
        report
    }

    #[test]
    fn a_kind_has_the_time_of_one_and_the_rate_of_the_longest_burst() {
        let (burst, kinds) = kinds(&raced(&[1, 8, 128]), 8);
        assert_eq!(burst, 128);
        let corecast = kinds.iter().find(|kind| kind.name == "corecast").expect("timed in both");
        assert_eq!((corecast.one_ns, corecast.per_us), (104.0, 128.0 / 104.0 * 1e3));
        assert!(kinds.iter().all(|kind| kind.name != "two flags"), "it was not timed");
    }

    #[test]
    fn published_points_stand_beside_with_their_source() {
        let page = of_report(&raced(&[1, 128])).into_string();
        for words in ["published: SDR, k = 6", "published: DR, k = 1", "5.40 µs", "1.45", SOURCE, "bursts of 128"] {
            assert!(page.contains(words), "{words}");
        }
        assert!(!page.contains("NaN") && !page.contains("inf"));
    }

    #[test]
    fn without_bursts_of_one_and_more_there_is_no_picture() {
        for bursts in [&[1][..], &[8, 128], &[]] {
            assert_eq!(of_report(&raced(bursts)).into_string(), "", "{bursts:?}");
        }
        assert_eq!(of_report(&example::race(&[(2, 2)])).into_string(), "");
    }
}
