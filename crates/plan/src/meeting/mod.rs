//! The schemes by which all members hear of all, and the choice of the cheapest.
//!
//! | scheme | what happens | planned by |
//! |---|---|---|
//! | trees | messages up one tree and down another with the same root | [`two_trees`] |
//! | leaders | groups reduce to leaders, who exchange and tell their groups | [`leaders`] |
//! | dissemination | every member signals the member 1, 2, 4, ... places further | [`exchange`] |
//! | release line | messages up a tree, then one store that all others read | the tree alone |
//! | counter | one increment each, then one store that all others read | nothing to plan |
//!
//! Only a barrier has all of them. An allreduce and a two-phase commit run over trees: their values must be combined in
//! one order for all members to have the same bits, and a decision has one member that decides. A root or limits asked
//! for mean trees as well. The last two schemes are predicted where the problem has the terms for it.
//!
//! First every scheme is planned by greedy rules. Those that are near the cheapest then share the work of two searches.

mod exchange;
mod leaders;
mod two_trees;

use crate::effort::Effort;
use crate::operation::Operation;
use crate::plan::{Plan, Scheme};
use crate::problem::Problem;
use crate::request::Request;
use crate::search::search;
use crate::settings::Settings;
use crate::simulate;
use crate::tree::Tree;
use exchange::Exchange;
use two_trees::{Phases, TwoTrees, two_trees};

/// A scheme stays in the race if its greedy plan costs at most this many times the cheapest one. Over the captured
/// machines 1.07 to 1.3 find the same costs within 0.3 %; with more contenders each gets less work.
const NEAR: f64 = 1.1;
/// The work of the race, in searches for one tree.
const SEARCHES: f64 = 2.0;

/// The schemes by name, with a line about each.
pub(crate) const SCHEMES: [(&str, &str); 5] = [
    ("trees", "barriers: messages up one tree and down another, with a common root"),
    ("leaders", "barriers: clusters reduce to leaders, which exchange and tell their clusters"),
    ("dissemination", "barriers: everybody signals 1, 2, 4, ... places further, in the best order found"),
    ("release-line", "barriers: messages up a tree, then one line that all others read"),
    ("counter", "barriers: everybody increments one word, then one line that all others read"),
];

/// One way to meet, planned.
#[derive(Clone, Debug)]
struct Meeting {
    /// Its name where several are compared.
    title: String,
    scheme: Scheme,
    up: Tree,
    down: Tree,
    predicted: f64,
    by: &'static str,
    iterations: u64,
    is_optimal: bool,
}

/// A scheme that may be planned for the problem at hand.
#[derive(Clone, Debug)]
enum Contender {
    Trees,
    Leaders(Vec<Vec<usize>>),
    Dissemination,
    ReleaseLine,
    Counter,
}

/// The inputs of all contenders.
struct Race<'a> {
    problem: &'a Problem,
    operation: Operation,
    root: Option<usize>,
    phases: Phases,
    /// Clusters, finest first, and NUMA nodes: each numbered from 0.
    levels: Vec<Vec<u32>>,
    settings: Settings<'a>,
    /// The two trees that effort quick finds, for the plan of that effort and for schemes that need none.
    trees: TwoTrees,
}

/// The cheapest way to meet that the effort finds, of one scheme or of all: for operations of both phases. `None` if
/// no tree within the limits is found, or if the scheme asked for is none for this problem.
pub(crate) fn plan(problem: &Problem, request: &Request<'_>, scheme: Option<&str>) -> Option<Plan> {
    let race = Race::new(problem, request)?;
    let mut meetings = race.run(scheme);
    meetings.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));
    let why = why(&meetings, problem);
    let iterations = meetings.iter().map(|meeting| meeting.iterations).sum();
    let best = meetings.into_iter().next()?;
    Some(Plan {
        up: Some(best.up),
        scheme: best.scheme,
        predicted: best.predicted,
        is_proven: best.is_optimal,
        bound: best.is_optimal.then_some(best.predicted),
        effort: Some(request.settings.effort),
        iterations,
        why,
        ..Plan::of_tree(problem, request.operation, best.by, best.down)
    })
}

/// All predicted costs in words, cheapest first.
fn why(meetings: &[Meeting], problem: &Problem) -> String {
    let cost = |meeting: &Meeting| format!("{} {:.1} {}", meeting.title, meeting.predicted, problem.unit());
    let costs: Vec<String> = meetings.iter().map(cost).collect();
    if costs.len() < 2 {
        format!("predicted: {}", costs.join(""))
    } else {
        format!("the cheapest of: {}", costs.join(", "))
    }
}

impl<'a> Race<'a> {
    fn new(problem: &'a Problem, request: &Request<'a>) -> Option<Self> {
        let phases = Phases::of(problem, request.operation);
        let settings = request.settings;
        let trees = two_trees(&phases, request.root, &Settings { effort: Effort::Quick, share: 1.0, ..settings })?;
        let (operation, root, levels) = (request.operation, request.root, problem.levels());
        Some(Self { problem, operation, root, phases, levels, settings, trees })
    }

    /// The plan of each contender; those far behind after the greedy rules are not searched.
    fn run(&self, scheme: Option<&str>) -> Vec<Meeting> {
        let quick = Settings { effort: Effort::Quick, share: 1.0, ..self.settings };
        let mut contenders = self.contenders();
        contenders.retain(|contender| scheme.is_none_or(|scheme| contender.scheme() == scheme));
        let greedy = contenders.iter().map(|contender| Some((contender, self.plan(contender, &quick)?)));
        let greedy: Vec<(&Contender, Meeting)> = greedy.flatten().collect();
        let best = greedy.iter().map(|(_, meeting)| meeting.predicted).fold(f64::INFINITY, f64::min);
        let is_near = |meeting: &Meeting| meeting.predicted <= NEAR * best;
        let near = greedy.iter().filter(|(_, meeting)| is_near(meeting)).count();
        if self.settings.effort == Effort::Quick {
            return greedy.into_iter().map(|(_, meeting)| meeting).collect();
        }
        let settings = Settings { share: SEARCHES / near as f64, ..self.settings };
        let searched = |(contender, meeting): (&Contender, Meeting)| match is_near(&meeting) {
            true => {
                self.plan(contender, &settings).filter(|found| found.predicted <= meeting.predicted).unwrap_or(meeting)
            }
            false => meeting,
        };
        greedy.into_iter().map(searched).collect()
    }

    fn contenders(&self) -> Vec<Contender> {
        let mut contenders = vec![Contender::Trees];
        let is_free = self.root.is_none() && self.settings.limits.is_none();
        if self.operation == Operation::Barrier && self.problem.len() > 1 && is_free {
            contenders
                .extend(self.levels.iter().filter_map(|clusters| leaders::groups(clusters)).map(Contender::Leaders));
            contenders.extend([Contender::Dissemination, Contender::ReleaseLine, Contender::Counter]);
        }
        contenders
    }

    /// The plan of a contender; `None` if the problem has not the terms for it.
    fn plan(&self, contender: &Contender, settings: &Settings<'_>) -> Option<Meeting> {
        match contender {
            Contender::Trees => self.trees(settings),
            Contender::Leaders(groups) => self.leaders(groups, settings),
            Contender::Dissemination => Some(self.dissemination(settings)),
            Contender::ReleaseLine => self.release_line(settings),
            Contender::Counter => {
                simulate::counter(self.problem).map(|cost| self.treeless(Scheme::Counter, cost, 0, true))
            }
        }
    }

    fn trees(&self, settings: &Settings<'_>) -> Option<Meeting> {
        let TwoTrees { up, down, is_optimal, .. } = match settings.effort {
            Effort::Quick => self.trees.clone(),
            _ => two_trees(&self.phases, self.root, settings)?,
        };
        let by = if up.by == "annealing" { up.by } else { down.by };
        let iterations = up.iterations + down.iterations;
        let (up, down) = (up.best.tree, down.best.tree);
        let predicted = self.operation.cost_of_two(self.problem, &up, &down);
        Some(Meeting {
            title: "trees".to_owned(),
            scheme: Scheme::Trees,
            up,
            down,
            predicted,
            by,
            iterations,
            is_optimal,
        })
    }

    fn leaders(&self, groups: &[Vec<usize>], settings: &Settings<'_>) -> Option<Meeting> {
        let led = leaders::led(self.problem, &self.phases, groups, settings)?;
        Some(Meeting {
            title: format!("leaders of {} clusters", groups.len()),
            scheme: Scheme::Leaders(led.leaders),
            up: led.up,
            down: led.down,
            predicted: led.cost,
            by: "leaders",
            iterations: led.iterations,
            is_optimal: false,
        })
    }

    fn dissemination(&self, settings: &Settings<'_>) -> Meeting {
        let starts = exchange::starts(self.problem.len(), &self.levels);
        let found = Exchange::of_all(self.problem).ordered(&starts, settings);
        let cost = simulate::dissemination(self.problem, &found.order);
        self.treeless(Scheme::Dissemination(found.order), cost, found.iterations, false)
    }

    fn release_line(&self, settings: &Settings<'_>) -> Option<Meeting> {
        simulate::release_line(self.problem, &self.trees.up.best.tree)?;
        let up = search(&self.phases.up, None, settings)?;
        let quick = Settings { effort: Effort::Quick, ..*settings };
        let down = search(&self.phases.down, Some(up.best.tree.root()), &quick)?;
        Some(Meeting {
            title: "release-line".to_owned(),
            scheme: Scheme::ReleaseLine,
            predicted: simulate::release_line(self.problem, &up.best.tree)?,
            by: up.by,
            iterations: up.iterations,
            is_optimal: up.is_optimal,
            up: up.best.tree,
            down: down.best.tree,
        })
    }

    /// A scheme that needs no trees; the plan has some all the same, for callers that can use nothing else.
    fn treeless(&self, scheme: Scheme, predicted: f64, iterations: u64, is_optimal: bool) -> Meeting {
        let (up, down) = (self.trees.up.best.tree.clone(), self.trees.down.best.tree.clone());
        let by = scheme.name();
        Meeting { title: by.to_owned(), scheme, up, down, predicted, by, iterations, is_optimal }
    }
}

impl Contender {
    /// The name of the scheme, one of [`SCHEMES`].
    fn scheme(&self) -> &'static str {
        match self {
            Self::Trees => "trees",
            Self::Leaders(_) => "leaders",
            Self::Dissemination => "dissemination",
            Self::ReleaseLine => "release-line",
            Self::Counter => "counter",
        }
    }
}
