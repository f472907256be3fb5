//! Trees between nodes as the planner makes them from a model of the cluster, in the place of binomial ones.
//!
//! **When to take it:** the costs between the nodes are known, by `corecast measure --cluster` or from a file, and differ: by
//! switches, or because a message costs its sender much less than its way takes. **When not:** otherwise; a binomial tree is
//! the planner's where a message costs its sender as much as the whole way.
//!
//! The model travels from member 0 to all leaders, so that all plan with the same one; no plan travels. Each leader derives its
//! own neighbours in the tree of a root when an operation first needs them, and keeps them. Operations by rank keep the binomial
//! tree, whose parts lie side by side. What nodes do inside is left out of the plan: they count as ready at once. Where the model
//! does not say what it takes to combine long values, 0.1 ns for each byte is assumed.
//!
//! **Progress:** blocking.

use std::collections::HashMap;

use corecast_base::sync::Arc;
use corecast_plan::cluster::{self, ClusterModel, ClusterPlan, ClusterRequest, FarScheme, Near, NearCosts, Neighbours};
use corecast_plan::{Direction, Operation};

use super::error::Error;
use super::exchange::HALVED_BYTES;
use super::forms::{BYTES, FarForm, Forms};
use super::member::Member;
use super::schedule::{Action, Actions};

/// The most bytes of a model that travels: those of a file.
const MAX_LEN_BYTES: usize = cluster::MAX_LEN_BYTES as usize;

/// The model, and this node's neighbours in the trees that were needed so far.
#[derive(Clone, Debug)]
pub(super) struct FarPlan {
    model: Arc<ClusterModel>,
    near: Arc<NearCosts>,
    node: u64,
    /// By operation, size class and root.
    trees: HashMap<(Operation, usize, usize), Actions>,
}

impl Member {
    /// Plans the trees between nodes from a model of the cluster, which has as many nodes as the group, in the same order. All
    /// members call it; only the model of member 0 matters. Allreductions go by a tree, by recursive doubling or, if they are
    /// long, by recursive halving, whichever the model says is fastest for their size; [`race`](Self::race) may decide otherwise.
    /// A group that has shrunk has no plan.
    ///
    /// ```
    /// # use corecast_collective::nodes::{Error, Member};
    /// # use corecast_plan::cluster::{self, ClusterTextError};
    /// fn plan(me: &mut Member) -> Result<(), Box<dyn std::error::Error>> {
    ///     let model = if me.rank() == 0 { Some(cluster::read("cluster.json".as_ref())?) } else { None };
    ///     Ok(me.plan_between_nodes(model.as_ref())?)
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::NoPlan`] at all members, if member 0 gave no model, or one of other nodes; nothing has changed then. Those of any
    /// operation.
    pub fn plan_between_nodes(&mut self, model: Option<&ClusterModel>) -> Result<(), Error> {
        let text = model.filter(|_| self.rank() == 0).and_then(|model| cluster::render(model).ok());
        let text = text.filter(|text| text.len() <= MAX_LEN_BYTES).unwrap_or_default();
        let mut len = text.len() as u64;
        self.broadcast(0, &mut len)?;
        let mut bytes = text.into_bytes();
        bytes.resize(usize::try_from(len).unwrap_or(MAX_LEN_BYTES).min(MAX_LEN_BYTES), 0);
        self.broadcast_slice(0, &mut bytes)?;
        let plan = FarPlan::of(&bytes, self.node(), self.nodes())?;
        let ends = self.ends_mut();
        ends.forms = plan.forms(ends.forms);
        ends.far_plan = Some(plan);
        Ok(())
    }
}

impl FarPlan {
    /// The plan of a node from the text of a model.
    fn of(text: &[u8], node: usize, nodes: usize) -> Result<Self, Error> {
        let none = |reason: String| Error::NoPlan { reason };
        if text.is_empty() {
            return Err(none("member 0 gave no model of the cluster".to_owned()));
        }
        let model = cluster::parse(text).map_err(|error| none(error.to_string()))?;
        if model.len() != nodes as u64 {
            return Err(none(format!("the model has {} nodes, and the group has {nodes}", model.len())));
        }
        let longest = ClusterRequest::new(Operation::Allreduce).bytes(BYTES[BYTES.len() - 1] as u64);
        let model = longest.completed(model);
        let near: NearCosts = model.machines.keys().map(|kind| (kind.clone(), Near::alone())).collect();
        let plan = Self { model: Arc::new(model), near: Arc::new(near), node: node as u64, trees: HashMap::new() };
        // A model that cannot be planned with shows that here, at all nodes alike.
        plan.plan(Operation::Allreduce, 0, 0).map(|_| plan).map_err(|error| none(error.to_string()))
    }

    /// These forms, with the allreductions that the model prefers, also of operations that the engine knows.
    fn forms(&self, mut forms: Forms) -> Forms {
        for (class, form) in forms.allreduce.iter_mut().enumerate() {
            // Longer values travel in pieces.
            let bytes = BYTES[class].min(HALVED_BYTES);
            let Ok(plan) = self.plan_of(Operation::Allreduce, bytes, 0) else { continue };
            let cost = |scheme| plan.best_of(scheme).map_or(f64::INFINITY, |candidate| candidate.expected_ns());
            let schemes = [FarScheme::Doubling, FarScheme::Tree, FarScheme::Halving];
            *form = match schemes.into_iter().min_by(|&a, &b| cost(a).total_cmp(&cost(b))) {
                Some(FarScheme::Tree) => FarForm::Tree,
                Some(FarScheme::Halving) => FarForm::Halving,
                _ => FarForm::Doubling,
            };
            forms.known[class] = *form;
        }
        forms
    }

    fn plan(&self, operation: Operation, class: usize, root: usize) -> Result<ClusterPlan, cluster::ClusterPlanError> {
        self.plan_of(operation, BYTES[class], root)
    }

    fn plan_of(
        &self,
        operation: Operation,
        bytes: usize,
        root: usize,
    ) -> Result<ClusterPlan, cluster::ClusterPlanError> {
        let request = ClusterRequest::new(operation).root(root as u64).bytes(bytes as u64).of_groups();
        request.plan(&self.model, &self.near)
    }

    /// The messages of this node in an operation of values of a size class, with this root.
    pub(super) fn actions(&mut self, operation: Operation, class: usize, root: usize) -> Actions {
        let key = (operation, class, root);
        if let Some(actions) = self.trees.get(&key) {
            return Actions::clone(actions);
        }
        let plan =
            self.plan(operation, class, root).expect("the operations are those between nodes, the root is a node");
        let up = plan.neighbours(Direction::Up, self.node).map(|place| up(&place));
        let down = plan.neighbours(Direction::Down, self.node).map(|place| down(&place));
        let actions: Actions = up.into_iter().chain(down).flatten().collect();
        self.trees.insert(key, Actions::clone(&actions));
        actions
    }
}

/// A reduction: from the children, and then to the parent.
fn up(place: &Neighbours) -> Vec<Action> {
    let children = place.children.iter().rev().map(|&child| Action::Combine { from: child as usize });
    children.chain(place.parent.map(|parent| Action::Send { to: parent as usize })).collect()
}

/// A broadcast: from the parent, and then to the children.
fn down(place: &Neighbours) -> Vec<Action> {
    let parent = place.parent.map(|parent| Action::Replace { from: parent as usize });
    parent.into_iter().chain(place.children.iter().map(|&child| Action::Send { to: child as usize })).collect()
}

#[cfg(test)]
mod tests {
    use corecast_plan::cluster::Provenance;

    use super::*;
    use crate::nodes::schedule::Place;

    /// Twelve nodes of one member behind switches of four; a message costs its sender a fifth of its way.
    const MODEL: &str = r#"{
        "schema": "corecast-cluster/1", "name": "three switches",
        "machines": {"node": {"synthetic": "core:1 pu:1"}},
        "nodes": [{"kind": "node", "count": 12}],
        "tiers": [{"name": "switch", "size": 4,
            "latency_ns": {"value": 1000, "provenance": "assumed"},
            "send_ns": {"value": 200, "provenance": "assumed"},
            "receive_ns": {"value": 200, "provenance": "assumed"},
            "byte_ns": {"value": 0.1, "provenance": "assumed"}},
            {"name": "system",
            "latency_ns": {"value": 5000, "provenance": "assumed"},
            "send_ns": {"value": 200, "provenance": "assumed"},
            "receive_ns": {"value": 200, "provenance": "assumed"},
            "byte_ns": {"value": 0.1, "provenance": "assumed"}}]
    }"#;

    fn plans(nodes: usize) -> Vec<FarPlan> {
        (0..nodes).map(|node| FarPlan::of(MODEL.as_bytes(), node, nodes).expect("a plan")).collect()
    }

    #[test]
    fn a_message_enters_each_switch_once_and_every_node_knows_its_place() {
        let mut plans = plans(12);
        for root in 0..12 {
            let mut parents = [None; 12];
            let mut sends = Vec::new();
            for (node, plan) in plans.iter_mut().enumerate() {
                for &action in &*plan.actions(Operation::Broadcast, 0, root) {
                    match action {
                        Action::Replace { from } => parents[node] = Some(from),
                        Action::Send { to } => sends.push((node, to)),
                        other => panic!("{other:?} in a broadcast"),
                    }
                }
            }
            assert_eq!((sends.len(), parents[root]), (11, None));
            assert!(sends.iter().all(|&(from, to)| parents[to] == Some(from)), "{root}: {sends:?}");
            let far = sends.iter().filter(|(from, to)| from / 4 != to / 4).count();
            assert_eq!(far, 2, "root {root}: {sends:?}");
        }
        let binomial = Place { node: 1, nodes: 12 }.broadcast(1);
        assert_ne!(*plans[1].actions(Operation::Broadcast, 0, 1), *binomial);
    }

    /// The forms of allreductions, by size class, for nodes between which a byte costs a nanosecond.
    fn allreductions(nodes: usize) -> [FarForm; BYTES.len()] {
        let model = MODEL
            .replace(r#""count": 12"#, &format!(r#""count": {nodes}"#))
            .replace(r#""byte_ns": {"value": 0.1"#, r#""byte_ns": {"value": 1"#);
        let plan = FarPlan::of(model.as_bytes(), 0, nodes).expect("a plan");
        let forms = plan.forms(Forms::of_nodes(nodes));
        assert_eq!(forms.known, forms.allreduce);
        forms.allreduce
    }

    #[test]
    fn ways_are_compared_by_the_pieces_that_travel() {
        // A MiB at once would go by halving, and a piece of 120 KiB takes too little time for the further rounds.
        let model = MODEL.replace(r#""value": 5000"#, r#""value": 50000"#);
        let plan = FarPlan::of(model.as_bytes(), 0, 12).expect("a plan");
        let forms = plan.forms(Forms::of_nodes(12));
        assert!(!forms.allreduce.contains(&FarForm::Halving), "{forms:?}");
    }

    #[test]
    fn long_allreductions_among_four_nodes_or_more_go_by_halving() {
        for nodes in [4, 8, 12, 16] {
            let [shortest, short, .., longest] = allreductions(nodes);
            assert_eq!(longest, FarForm::Halving, "{nodes}");
            assert!(![shortest, short].contains(&FarForm::Halving), "{nodes}");
        }
        for nodes in [1, 2, 3] {
            assert!(!allreductions(nodes).contains(&FarForm::Halving), "{nodes}");
        }
    }

    #[test]
    fn long_reductions_are_planned_for_their_length() {
        let plan = &plans(12)[0];
        for operation in [Operation::Reduce, Operation::Allreduce] {
            let cost = |class: usize| {
                let plan = plan.plan(operation, class, 0).expect("a plan");
                assert_eq!(plan.bytes, BYTES[class] as u64);
                plan.best().expected_ns()
            };
            let costs: Vec<f64> = (0..BYTES.len()).map(cost).collect();
            assert!(costs.is_sorted_by(|shorter, longer| shorter < longer), "{operation}: {costs:?}");
        }
        let parameter = plan.model.parameters().into_iter().find(|(field, _)| field.ends_with("combine_byte_ns"));
        let (_, parameter) = parameter.expect("a cost of combining");
        assert_eq!((parameter.value, parameter.provenance), (0.1, Provenance::Assumed));
    }

    #[test]
    fn models_of_other_clusters_are_refused() {
        let refused = |text: &str, nodes| FarPlan::of(text.as_bytes(), 0, nodes).expect_err("no plan").to_string();
        assert_eq!(refused(MODEL, 3), "no plan between the nodes: the model has 12 nodes, and the group has 3");
        assert!(refused("", 12).ends_with("member 0 gave no model of the cluster"));
        assert!(refused("{}", 12).starts_with("no plan between the nodes: "));
    }
}
