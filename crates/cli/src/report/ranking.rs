//! The contenders of one group from fast to slow.

use corecast_race::{Group, Summary};

/// A contender that was timed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entrant<'a> {
    pub(super) name: &'a str,
    /// True for what corecast offers.
    pub(super) is_ours: bool,
    /// True for what corecast takes by itself, to which ratios refer.
    pub(super) is_reference: bool,
    pub(super) times: Summary,
    /// How many times the reference's median this one takes: above 1 is slower than corecast.
    pub(super) ratio: Option<f64>,
}

/// The contenders that were timed, by median; equal ones by name.
pub(super) fn ranking(group: &Group) -> Vec<Entrant<'_>> {
    let timed = group.rows.iter().filter_map(|row| {
        let is_reference = row.contender == group.reference;
        let (name, is_ours, ratio) = (row.contender.as_str(), row.ours, row.ratio);
        row.summary.map(|times| Entrant { name, is_ours, is_reference, times, ratio })
    });
    let mut ranking: Vec<Entrant<'_>> = timed.collect();
    ranking.sort_by(|a, b| a.times.median_ns.total_cmp(&b.times.median_ns).then_with(|| a.name.cmp(b.name)));
    ranking
}

/// The ranking as a small picture shows it: corecast's own choice, the fastest and the slowest of its other variants,
/// and every rival.
pub(super) fn headline(group: &Group) -> Vec<Entrant<'_>> {
    let mut ranking = ranking(group);
    let is_variant = |entrant: &Entrant<'_>| entrant.is_ours && !entrant.is_reference;
    let fastest = ranking.iter().position(is_variant);
    let slowest = ranking.iter().rposition(is_variant);
    let mut place = 0;
    ranking.retain(|entrant| {
        let is_kept = !is_variant(entrant) || Some(place) == fastest || Some(place) == slowest;
        place += 1;
        is_kept
    });
    ranking
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn the_fast_come_first_and_the_skipped_are_left_out() {
        let report = example::race(&[(8, 2)]);
        let ranking = ranking(&report.groups[0]);
        assert!(ranking.windows(2).all(|pair| pair[0].times.median_ns <= pair[1].times.median_ns));
        assert_eq!(ranking.len(), report.groups[0].rows.iter().filter(|row| row.skipped.is_none()).count());
        let reference = ranking.iter().find(|entrant| entrant.is_reference).expect("corecast took part");
        assert_eq!((reference.name, reference.ratio), ("corecast", Some(1.0)));
    }

    #[test]
    fn a_headline_keeps_every_rival_and_the_ends_of_ours() {
        let report = example::race(&[(8, 2)]);
        let rivals = |ranking: &[Entrant<'_>]| ranking.iter().filter(|entrant| !entrant.is_ours).count();
        let headline = headline(&report.groups[0]);
        assert_eq!(rivals(&headline), rivals(&ranking(&report.groups[0])));
        let ours: Vec<&str> = headline.iter().filter(|entrant| entrant.is_ours).map(|entrant| entrant.name).collect();
        assert_eq!(ours, ["corecast/dissemination", "corecast", "corecast/tree/bad"]);
    }
}
