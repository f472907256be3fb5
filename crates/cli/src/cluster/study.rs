//! The plan for a cluster, how its cost grows with the number of nodes, and what it was made from.

use std::path::Path;
use std::time::Instant;

use corecast::machine::{measure, write_atomically};
use corecast::plan::cluster::{
    self, Arrival, ClusterModel, ClusterPlan, ClusterRequest, FarScheme, Near, NearCosts, Provenance,
};
use corecast::plan::{Effort, Operation};

use super::args::ClusterArgs;
use super::{json, text};
use crate::failure::{Failure, NotWritten};
use crate::output::Output;
use crate::report::cluster_page::{self, ClusterPage};
use crate::report::cluster_rows::{self, Growth};

/// The question that a study answers.
pub(crate) struct Question<'a> {
    pub(crate) arguments: &'a ClusterArgs,
    pub(crate) operation: Operation,
    pub(crate) bytes: u64,
    pub(crate) effort: Effort,
    /// Say what the plan was made from.
    pub(crate) is_explained: bool,
}

/// A plan and all that is shown with it.
pub(super) struct Study {
    pub(super) model: ClusterModel,
    pub(super) near: NearCosts,
    pub(super) plan: ClusterPlan,
    pub(super) growth: Vec<Growth>,
    /// Milliseconds that the plan took, without the insides of nodes.
    pub(super) time_ms: f64,
    /// The node whose neighbours are asked for.
    pub(super) node: Option<u64>,
    /// True if ways are compared that groups do not take.
    pub(super) is_beyond_groups: bool,
}

/// Plans for the cluster of the arguments, and shows the result in the form that is asked for.
pub(crate) fn run(question: &Question<'_>, output: &Output) -> Result<(), Failure> {
    let study = Study::new(question)?;
    if let Some(path) = &question.arguments.html {
        study.write_page(question, path)?;
    }
    if output.is_json() {
        return output.json(&json::StudyJson::of(&study));
    }
    output.text(&text::describe(&study, question.is_explained))
}

impl Study {
    fn new(question: &Question<'_>) -> Result<Self, Failure> {
        let path = question.arguments.cluster.as_deref().expect("the caller has seen that a cluster is given");
        let mut model = cluster::read(path).map_err(Failure::input)?;
        if let Some(nodes) = question.arguments.nodes {
            model = model.scaled(nodes);
        }
        model.arrival = model.arrival.filter(|_: &Arrival| !question.arguments.punctual);
        let request = question.request(question.arguments.root_node.unwrap_or(0));
        let model = request.completed(model);
        let folder = path.parent().unwrap_or(Path::new(""));
        let near = Near::plan_all(&model, folder, question.effort).map_err(Failure::input)?;
        let start = Instant::now();
        let plan = request.plan(&model, &near).map_err(Failure::input)?;
        let time_ms = start.elapsed().as_secs_f64() * 1e3;
        if let Some(node) = question.arguments.node.filter(|&node| node >= plan.nodes) {
            let why = format!("--node {node}: the cluster has nodes 0 to {}", plan.nodes - 1);
            return Err(Failure::input(why));
        }
        let growth = growth(&model, &near, question).map_err(Failure::input)?;
        let ClusterArgs { node, beyond_groups: is_beyond_groups, .. } = *question.arguments;
        Ok(Self { model, near, plan, growth, time_ms, node, is_beyond_groups })
    }

    fn write_page(&self, question: &Question<'_>, path: &Path) -> Result<(), Failure> {
        let page = cluster_page::render(&ClusterPage {
            model: &self.model,
            near: &self.near,
            plan: &self.plan,
            growth: &self.growth,
            created_at: &measure::date::now(),
            version: env!("CARGO_PKG_VERSION"),
            command: &question.command(),
            compared: cluster_rows::compared(self.is_beyond_groups),
        });
        let written = write_atomically(path, page.as_bytes());
        written.map_err(|error| NotWritten { what: "the page", path: path.to_owned(), error })?;
        Ok(())
    }

    /// How many parameters of each provenance the plan rests on.
    pub(super) fn provenance(&self) -> [(Provenance, usize); 3] {
        let parameters = self.model.parameters();
        let count = |wanted| parameters.iter().filter(|(_, parameter)| parameter.provenance == wanted).count();
        Provenance::ALL.map(|provenance| (provenance, count(provenance)))
    }
}

impl Question<'_> {
    fn request(&self, root: u64) -> ClusterRequest {
        let request = ClusterRequest::new(self.operation).bytes(self.bytes).root(root);
        if self.arguments.beyond_groups { request } else { request.of_groups() }
    }

    /// The command that asks it again.
    fn command(&self) -> String {
        let path = self.arguments.cluster.as_deref().unwrap_or(Path::new("")).display().to_string();
        let ClusterArgs { nodes, root_node, node, punctual, beyond_groups, .. } = self.arguments;
        let option =
            |name: &str, value: &Option<u64>| value.map_or(String::new(), |value| format!(" --{name} {value}"));
        let (nodes, root, node) = (option("nodes", nodes), option("root-node", root_node), option("node", node));
        let punctual = if *punctual { " --punctual" } else { "" };
        let beyond = if *beyond_groups { " --beyond-groups" } else { "" };
        let effort = match self.effort {
            effort if effort == Effort::default() => String::new(),
            effort => format!(" --effort {effort}"),
        };
        let Self { operation, bytes, .. } = self;
        format!(
            "corecast plan --cluster {path}{nodes} --op {operation} --bytes {bytes}{root}{node}{punctual}{beyond}{effort} \
             --explain"
        )
    }
}

/// The cost with 1, 2, 4, ... nodes of the cluster, and with all.
fn growth(
    model: &ClusterModel,
    near: &NearCosts,
    question: &Question<'_>,
) -> Result<Vec<Growth>, cluster::ClusterPlanError> {
    let all = model.len();
    let powers = (0..u64::BITS).map(|power| 1 << power).take_while(|&nodes| nodes < all);
    powers.chain([all]).map(|nodes| grown(&model.scaled(nodes), near, question)).collect()
}

fn grown(model: &ClusterModel, near: &NearCosts, question: &Question<'_>) -> Result<Growth, cluster::ClusterPlanError> {
    // A cluster without the root is asked about its last node.
    let root = question.arguments.root_node.unwrap_or(0).min(model.len() - 1);
    let plan = question.request(root).plan(model, near)?;
    let of = |scheme| plan.best_of(scheme).map(|candidate| candidate.expected_ns());
    Ok(Growth {
        nodes: plan.nodes,
        members: plan.members,
        scheme: plan.best().scheme,
        quiet_ns: plan.best().quiet_ns,
        expected_ns: plan.best().expected_ns(),
        by_scheme: [FarScheme::Tree, FarScheme::Doubling, FarScheme::Halving].map(|scheme| (scheme, of(scheme))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_a_page_asks_the_same_question() {
        let cluster = Some("a.json".into());
        let arguments = ClusterArgs {
            cluster,
            nodes: Some(9),
            root_node: Some(3),
            node: Some(2),
            punctual: true,
            beyond_groups: true,
            ..ClusterArgs::default()
        };
        let of = |arguments, effort| {
            let operation = Operation::Reduce;
            Question { arguments, operation, bytes: 8, effort, is_explained: false }.command()
        };
        assert_eq!(
            of(&arguments, Effort::Exact),
            "corecast plan --cluster a.json --nodes 9 --op reduce --bytes 8 --root-node 3 --node 2 --punctual --beyond-groups \
             --effort exact --explain"
        );
        let plain = ClusterArgs { cluster: Some("a.json".into()), ..ClusterArgs::default() };
        assert_eq!(of(&plain, Effort::default()), "corecast plan --cluster a.json --op reduce --bytes 8 --explain");
    }
}
