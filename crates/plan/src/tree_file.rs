//! Trees in files: reads the output of `corecast plan --json` for planning and running.
//!
//! `root` and `children` are read, and `up` where there is a second tree for reductions; each must be a tree over
//! exactly the CPUs to plan for, and both have one root. A `scheme` that is not `trees` is told, as its order is not
//! read. Whatever is wrong is told by CPU, and the size is checked before anything is read. Writing replaces a file in
//! one step or not at all.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use corecast_base::{CpuId, CpuSet};
use corecast_machine::{BoundedReadError, read_bounded, write_atomically};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};

use crate::operation::Operation;
use crate::plan::Plan;
use crate::plan_json::{PlanJson, SharedCpu};
use crate::problem::Problem;
use crate::tree::{Tree, TreeError};

/// The scheme of plans that their trees say all of.
const TREES: &str = "trees";

/// The longest name of a scheme that is taken over, in characters.
const MAX_NAME_CHARS: usize = 40;

/// The largest tree file that is read, in bytes: far more than a tree over the most CPUs takes.
pub const MAX_LEN_BYTES: u64 = 4 << 20;

/// Why a text is not a tree over the CPUs to plan for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TreeTextError {
    /// It is not JSON, or lacks these fields.
    #[error("expected {{\"root\": CPU, \"children\": {{\"CPU\": [CPU, ...], ...}}}}: {0}")]
    Json(serde_json::Error),
    /// It names a CPU that is not planned for.
    #[error("CPU {cpu} is not among the CPUs to plan for, {expected}")]
    UnknownCpu {
        /// The CPU.
        cpu: CpuId,
        /// The CPUs planned for.
        expected: CpuSet,
    },
    /// It is not a tree.
    #[error("this is not a tree over the CPUs to plan for: {0}")]
    Tree(TreeError),
    /// Its two trees have different roots.
    #[error("the tree `up` has root CPU {up}, but `root` is CPU {down}: both trees meet in one root")]
    TwoRoots {
        /// The root of the tree for reductions.
        up: CpuId,
        /// The root of the tree for broadcasts.
        down: CpuId,
    },
    /// Its CPUs would be ambiguous.
    #[error(transparent)]
    SharedCpu(#[from] SharedCpu),
    /// The file is not read.
    #[error("{0}")]
    NotRead(BoundedReadError),
    /// The file is not written.
    #[error("{0}")]
    NotWritten(io::Error),
}

/// Why a tree file cannot be read or written: which file, and what is wrong.
#[derive(Debug, thiserror::Error)]
#[error("tree {}: {problem}", path.display())]
pub struct TreeFileError {
    /// The file.
    pub path: PathBuf,
    /// The fault in it.
    pub problem: TreeTextError,
}

/// The trees in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trees {
    /// The tree that broadcasts go down, and reductions up if there is no other.
    pub down: Tree,
    /// The tree that reductions go up, from all members to the root of `down`.
    pub up: Option<Tree>,
    /// The scheme that the text names, if that is not `trees`: its members met otherwise, and these trees are not all
    /// of the plan. Safe to print on a terminal.
    pub other_scheme: Option<String>,
}

impl Trees {
    /// The plan to use them for an operation; `planner` says where the trees come from.
    ///
    /// # Panics
    ///
    /// If they have not as many members as the problem.
    #[must_use]
    #[track_caller]
    pub fn plan(self, problem: &Problem, operation: Operation, planner: &str) -> Plan {
        let Self { down, up, .. } = self;
        let up = up.unwrap_or_else(|| down.clone());
        let predicted = operation.cost_of_two(problem, &up, &down);
        let (tree, up) = if operation == Operation::Reduce { (up, None) } else { (down, Some(up)) };
        let up = up.filter(|_| operation.has_both_phases());
        Plan { up, predicted, ..Plan::of_tree(problem, operation, planner, tree) }
    }
}

/// The trees in a file, over the members of a problem.
///
/// # Errors
///
/// If the path is not a regular file of at most [`MAX_LEN_BYTES`], or it holds no trees over exactly the problem's
/// CPUs. The error names the file.
pub fn read(path: &Path, problem: &Problem) -> Result<Trees, TreeFileError> {
    read_bounded(path, MAX_LEN_BYTES)
        .map_err(TreeTextError::NotRead)
        .and_then(|text| parse(text, problem))
        .map_err(|problem| TreeFileError { path: path.to_owned(), problem })
}

/// The trees that this text describes, over the members of a problem.
///
/// ```
/// use corecast_base::CpuId;
/// use corecast_machine::{Cpu, Machine, Topology};
/// use corecast_plan::{Problem, tree_file};
/// let cpus = [5, 7, 9].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
/// let problem = Problem::of_machine(&Machine::from_topology(&Topology { cpus, ..Topology::default() }))?;
/// let trees = tree_file::parse(r#"{"root": 7, "children": {"7": [9], "9": [5]}}"#, &problem)?;
/// assert_eq!((trees.down.root(), trees.down.children(2)), (1, &[0][..]), "ranks are by ascending CPU id");
/// let error = tree_file::parse(r#"{"root": 7, "children": {"7": [9]}}"#, &problem).unwrap_err();
/// assert!(error.to_string().contains("CPU 5 has no parent"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If they are not trees over exactly the problem's CPUs with one root, or two members of the problem share a CPU.
pub fn parse(text: impl AsRef<[u8]>, problem: &Problem) -> Result<Trees, TreeTextError> {
    let fields: FileFields = serde_json::from_slice(text.as_ref()).map_err(TreeTextError::Json)?;
    if let Some(shared) = problem.cpus().iter().find(|&&cpu| is_shared(problem, cpu)) {
        return Err(SharedCpu { cpu: shared.get() }.into());
    }
    let down = tree(TreeFields { root: fields.root, children: fields.children }, problem)?;
    let up = fields.up.map(|fields| tree(fields, problem)).transpose()?;
    if let Some(up) = up.as_ref().filter(|up| up.root() != down.root()) {
        return Err(TreeTextError::TwoRoots { up: problem.cpu(up.root()), down: problem.cpu(down.root()) });
    }
    let other_scheme = fields.scheme.filter(|scheme| scheme != TREES).map(|scheme| name(&scheme));
    Ok(Trees { down, up, other_scheme })
}

/// A name from elsewhere made fit for a terminal: without control characters, of bounded length.
fn name(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_NAME_CHARS).collect()
}

fn tree(fields: TreeFields, problem: &Problem) -> Result<Tree, TreeTextError> {
    let member = |id: u32| {
        let cpu = CpuId::new(id);
        let expected = || problem.cpus().iter().copied().collect();
        problem.member_on(cpu).ok_or_else(|| TreeTextError::UnknownCpu { cpu, expected: expected() })
    };
    let mut children = vec![Vec::new(); problem.len()];
    for (parent, ids) in fields.children.0 {
        children[member(parent)?] = ids.into_iter().map(member).collect::<Result<Vec<_>, _>>()?;
    }
    let name = |member| problem.name(member);
    Tree::named(member(fields.root)?, children, &name).map_err(TreeTextError::Tree)
}

fn is_shared(problem: &Problem, cpu: CpuId) -> bool {
    problem.cpus().iter().filter(|&&other| other == cpu).count() > 1
}

/// Writes a plan to a file, replacing it in one step.
///
/// # Errors
///
/// If two members of the plan share a CPU, or the system refuses; the file is then as it was before.
pub fn write(plan: &Plan, path: &Path) -> Result<(), TreeFileError> {
    render(plan)
        .and_then(|text| write_atomically(path, text.as_bytes()).map_err(TreeTextError::NotWritten))
        .map_err(|problem| TreeFileError { path: path.to_owned(), problem })
}

fn render(plan: &Plan) -> Result<String, TreeTextError> {
    let mut text = serde_json::to_string(&PlanJson::of(plan)?).expect("a plan has only what JSON can say");
    text.push('\n');
    Ok(text)
}

#[derive(Deserialize)]
struct FileFields {
    root: u32,
    children: Children,
    up: Option<TreeFields>,
    scheme: Option<String>,
}

#[derive(Deserialize)]
struct TreeFields {
    root: u32,
    children: Children,
}

/// Parents with their children; a parent named twice is an error, not the later one.
struct Children(BTreeMap<u32, Vec<u32>>);

impl<'de> Deserialize<'de> for Children {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ChildrenVisitor)
    }
}

struct ChildrenVisitor;

impl<'de> Visitor<'de> for ChildrenVisitor {
    type Value = Children;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of CPUs with their children")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Children, A::Error> {
        let mut children = BTreeMap::new();
        while let Some((parent, ids)) = fields.next_entry()? {
            if children.insert(parent, ids).is_some() {
                return Err(A::Error::custom(format!("CPU {parent} is given children twice")));
            }
        }
        Ok(Children(children))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;
    use crate::shape::SHAPES;
    use corecast_machine::{Cpu, Machine, Topology};

    fn problem(ids: &[u32]) -> Problem {
        let cpus = ids.iter().map(|&id| Cpu { numa: Some(id % 2), ..Cpu::flat(CpuId::new(id)) }).collect();
        Problem::of_machine(&Machine::from_topology(&Topology { cpus, ..Topology::default() })).expect("CPUs")
    }

    #[test]
    fn an_invalid_tree_is_refused_by_cpu() {
        for (text, expected) in [
            ("", "expected {\"root\": CPU"),
            ("[]", "expected {\"root\": CPU"),
            ("{\"children\": {}}", "missing field `root`"),
            ("{\"root\": 2}", "missing field `children`"),
            ("{\"root\": 2, \"children\": [[4]]}", "expected an object of CPUs"),
            ("{\"root\": 2, \"children\": {\"x\": [4]}}", "line 1"),
            ("{\"root\": 2, \"children\": {\"2\": [4, -1]}}", "line 1"),
            ("{\"root\": 3, \"children\": {}}", "CPU 3 is not among the CPUs to plan for, 2,4,6"),
            ("{\"root\": 2, \"children\": {\"2\": [4, 5, 6]}}", "CPU 5 is not among"),
            ("{\"root\": 2, \"children\": {\"8\": [4]}}", "CPU 8 is not among"),
            ("{\"root\": 2, \"children\": {\"2\": [4]}}", "CPU 6 has no parent"),
            ("{\"root\": 2, \"children\": {\"2\": [4, 6], \"4\": [6]}}", "CPU 6 has two parents, CPU 2 and CPU 4"),
            ("{\"root\": 2, \"children\": {\"4\": [6], \"6\": [4]}}", "CPU 4 is its own ancestor"),
            ("{\"root\": 2, \"children\": {\"2\": [4, 6], \"6\": [2]}}", "the root CPU 2 is a child of CPU 6"),
            ("{\"root\": 2, \"children\": {\"2\": [4], \"2\": [6]}}", "CPU 2 is given children twice"),
            ("{\"root\": 2, \"children\": {\"2\": [4, 6]}, \"up\": 3}", "line 1"),
            ("{\"root\": 2, \"children\": {\"2\": [4, 6]}, \"up\": {\"root\": 2, \"children\": {}}}", "CPU 4 has no"),
            (
                "{\"root\": 2, \"children\": {\"2\": [4, 6]}, \"up\": {\"root\": 4, \"children\": {\"4\": [2, 6]}}}",
                "the tree `up` has root CPU 4, but `root` is CPU 2",
            ),
        ] {
            let error = parse(text, &problem(&[2, 4, 6])).expect_err(expected).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn every_plan_comes_back_from_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("tree.json");
        let problem = problem(&[1, 2, 5, 7, 8, 12]);
        for shape in SHAPES {
            let plan = Plan::of_tree(&problem, Operation::Reduce, shape.name(), shape.build(&problem, None));
            write(&plan, &file).expect("written");
            let read = read(&file, &problem).expect("own file");
            assert_eq!(read.plan(&problem, Operation::Reduce, shape.name()), plan);
        }
    }

    #[test]
    fn two_trees_come_back_and_serve_every_operation() {
        let problem = problem(&[1, 2, 5]);
        let text = r#"{"root": 2, "children": {"2": [1, 5]}, "up": {"root": 2, "children": {"2": [5], "5": [1]}}}"#;
        let trees = parse(text, &problem).expect("two trees");
        let barrier = trees.clone().plan(&problem, Operation::Barrier, "given");
        let commit = trees.clone().plan(&problem, Operation::TwoPhaseCommit, "given");
        let broadcast = trees.clone().plan(&problem, Operation::Broadcast, "given");
        let reduce = trees.clone().plan(&problem, Operation::Reduce, "given");
        assert_eq!((broadcast.tree.depth(), reduce.tree.depth(), barrier.up().depth()), (1, 2, 2));
        assert_eq!((broadcast.up, reduce.up), (None, None));
        assert_eq!(barrier.predicted, reduce.predicted + broadcast.predicted);
        assert_eq!(commit.predicted, broadcast.predicted + barrier.predicted);
        let rendered = render(&trees.plan(&problem, Operation::Barrier, "given")).expect("a plan");
        assert_eq!(parse(rendered, &problem).expect("own text").plan(&problem, Operation::Barrier, "given"), barrier);
    }

    #[test]
    fn a_scheme_that_is_not_trees_is_told() {
        for (scheme, other) in [
            ("", None),
            (r#", "scheme": "trees""#, None),
            (r#", "scheme": "leaders""#, Some("leaders")),
            (r#", "scheme": "a\u001bb""#, Some("a b")),
        ] {
            let text = format!(r#"{{"root": 1, "children": {{"1": [2]}}{scheme}}}"#);
            assert_eq!(parse(text, &problem(&[1, 2])).expect("a tree").other_scheme.as_deref(), other);
        }
    }

    #[test]
    fn files_are_named_in_errors_and_endless_ones_are_refused() {
        let problem = problem(&[0, 1]);
        let error = read(Path::new("/dev/zero"), &problem).expect_err("endless").to_string();
        assert_eq!(error, "tree /dev/zero: this is not a regular file");
        let plan = Plan::of_tree(&problem, Operation::Barrier, "mst", SHAPES[0].build(&problem, None));
        let error = write(&plan, Path::new("/dev/full")).expect_err("a full disk").to_string();
        assert!(error.starts_with("tree /dev/full: No space left"), "{error}");
    }

    #[test]
    fn members_that_share_a_cpu_have_no_file() {
        let cpus = vec![Cpu::flat(CpuId::new(3))];
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let problem = Problem::of_members(&machine, &[CpuId::new(3); 2]).expect("members");
        let plan = Plan::of_tree(&problem, Operation::Barrier, "mst", SHAPES[0].build(&problem, None));
        assert_eq!(PlanJson::of(&plan), Err(SharedCpu { cpu: 3 }));
        let error = parse("{\"root\": 3, \"children\": {}}", &problem).expect_err("ambiguous").to_string();
        assert!(error.contains("several members of the plan run on CPU 3"), "{error}");
    }
}
