//! A tree drawn with lines, one member per line, children in send order.

use corecast::CpuId;
use corecast::plan::Tree;

/// A tree over members on these CPUs.
pub(crate) fn draw(cpus: &[CpuId], tree: &Tree) -> String {
    let root = tree.root();
    let mut text = format!("CPU {}\n", cpus[root]);
    // Depth first without recursion: a sequential tree of thousands of members may be as deep.
    let mut open = vec![Branch { indent: String::new(), children: tree.children(root) }];
    while let Some(branch) = open.last_mut() {
        let Some((&child, rest)) = branch.children.split_first() else {
            open.pop();
            continue;
        };
        branch.children = rest;
        let (corner, below) = if rest.is_empty() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        text += &format!("{}{corner}CPU {}\n", branch.indent, cpus[child]);
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
    #[test]
    fn branches_are_joined_and_in_send_order() {
        let cpus = [4, 5, 6, 7].map(CpuId::new);
        let tree = Tree::new(1, vec![vec![], vec![3, 0], vec![], vec![2]]).expect("a tree");
        assert_eq!(draw(&cpus, &tree), "CPU 5\n├─ CPU 7\n│  └─ CPU 6\n└─ CPU 4\n");
    }
}
