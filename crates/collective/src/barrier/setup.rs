//! The inputs from which a family builds its members' parts, and predicts their cost.

use std::cell::LazyCell;

use corecast_plan::{Plan, Problem, Scheme, Tree};

use crate::tree::TreeLayout;

/// The inputs from which a family builds its parts.
pub(crate) struct Setup<'a> {
    /// The number of members.
    pub(crate) members: usize,
    /// The members, and what is planned for them.
    pub(crate) problem: &'a Problem,
    pub(crate) meeting: &'a Plan,
    /// All members in the order in which they disseminate: the planned one, or by rank.
    pub(crate) order: Vec<usize>,
    /// The members that exchange for their groups: the planned leaders in the order of their exchange, or only the root of
    /// the trees.
    pub(crate) leaders: Vec<usize>,
    /// The tree planned for each direction, numbered when a family asks for it.
    pub(crate) up: Lazy<'a, TreeLayout>,
    pub(crate) down: Lazy<'a, TreeLayout>,
    /// The groups that gather: each leader, followed by the members below it in the planned trees.
    pub(crate) clusters: Lazy<'a, Vec<Vec<usize>>>,
    /// The clusters of members, finest first, looked for when a family asks.
    pub(crate) levels: Lazy<'a, Vec<Vec<u32>>>,
}

/// Made for all members at once, and only if the family asks for it.
pub(crate) type Lazy<'a, T> = LazyCell<T, Box<dyn FnOnce() -> T + 'a>>;

impl<'a> Setup<'a> {
    /// The plan of a barrier, as its family's parts need it.
    pub(crate) fn of(problem: &'a Problem, meeting: &'a Plan) -> Self {
        let members = problem.len();
        let (order, leaders) = match &meeting.scheme {
            Scheme::Dissemination(order) => (order.clone(), vec![meeting.tree.root()]),
            Scheme::Leaders(leaders) => ((0..members).collect(), leaders.clone()),
            _ => ((0..members).collect(), vec![meeting.tree.root()]),
        };
        let up = lazy(|| TreeLayout::in_arrival_order(problem, meeting.up()));
        let down = lazy(|| TreeLayout::in_send_order(&meeting.tree));
        let led = leaders.clone();
        let clusters = lazy(move || clusters(meeting.up(), &led));
        let levels = lazy(|| problem.levels());
        Self { members, problem, meeting, order, leaders, up, down, clusters, levels }
    }
}

/// Each leader, and the members below it in the tree that have no leader below it.
fn clusters(tree: &Tree, leaders: &[usize]) -> Vec<Vec<usize>> {
    let mut clusters: Vec<Vec<usize>> = leaders.iter().map(|&leader| vec![leader]).collect();
    let mut led_by = vec![0; tree.len()];
    leaders.iter().enumerate().for_each(|(cluster, &leader)| led_by[leader] = cluster);
    for &member in tree.top_down().iter().filter(|member| !leaders.contains(member)) {
        led_by[member] = led_by[tree.parent(member).expect("the root leads")];
        clusters[led_by[member]].push(member);
    }
    clusters
}

fn lazy<'a, T>(make: impl FnOnce() -> T + 'a) -> Lazy<'a, T> {
    LazyCell::new(Box::new(make))
}
