//! A tree drawn with lines, one member per line, children in send order.

use corecast::plan::{Plan, Tree};

/// One of the trees of a plan.
pub(crate) fn draw(plan: &Plan, tree: &Tree) -> String {
    let root = tree.root();
    let mut text = format!("CPU {}\n", plan.cpus[root]);
    // Depth first without recursion: a sequential tree of thousands of members may be as deep.
    let mut open = vec![Branch { indent: String::new(), children: tree.children(root) }];
    while let Some(branch) = open.last_mut() {
        let Some((&child, rest)) = branch.children.split_first() else {
            open.pop();
            continue;
        };
        branch.children = rest;
        let (corner, below) = if rest.is_empty() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        text += &format!("{}{corner}CPU {}\n", branch.indent, plan.cpus[child]);
        let indent = format!("{}{below}", branch.indent);
        open.push(Branch { indent, children: tree.children(child) });
    }
    text
}

/// Children that are not drawn yet, and what stands before each.
struct Branch<'a> {
    indent: String,
    children: &'a [usize],
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::machine::{Cpu, Topology};
    use corecast::plan::{Operation, Problem};
    use corecast::{CpuId, Machine};

    #[test]
    fn branches_are_joined_and_in_send_order() {
        let cpus = [4, 5, 6, 7].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let problem = Problem::of_machine(&machine).expect("CPUs");
        let tree = Tree::new(1, vec![vec![], vec![3, 0], vec![], vec![2]]).expect("a tree");
        let plan = Plan::of_tree(&problem, Operation::Broadcast, "given", tree);
        assert_eq!(draw(&plan, &plan.tree), "CPU 5\n├─ CPU 7\n│  └─ CPU 6\n└─ CPU 4\n");
    }
}
