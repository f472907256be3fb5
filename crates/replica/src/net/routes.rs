//! Along a tree: to whom a node passes a message on.

/// The neighbours of each node in a tree, in the order of their sends: children first, then the parent.
#[derive(Debug)]
pub(super) struct Routes {
    me: usize,
    neighbours: Vec<Vec<usize>>,
    /// Nodes that get nothing any more.
    is_closed: Vec<bool>,
    /// Nodes that pass nothing on at the moment.
    is_silent: Vec<bool>,
    /// To whom this node passes a message from each node on, and at the end its own.
    targets: Vec<Vec<usize>>,
}

impl Routes {
    /// The routes of node `me`, by the parent of each node.
    pub(super) fn new(me: usize, parents: &[Option<usize>]) -> Self {
        let nodes = parents.len();
        let mut neighbours = vec![Vec::new(); nodes];
        for (node, parent) in parents.iter().enumerate() {
            parent.iter().for_each(|&parent| neighbours[parent].push(node));
        }
        for (node, parent) in parents.iter().enumerate() {
            neighbours[node].extend(parent);
        }
        let (is_closed, is_silent) = (vec![false; nodes], vec![false; nodes]);
        let mut routes = Self { me, neighbours, is_closed, is_silent, targets: Vec::new() };
        routes.find_targets();
        routes
    }

    /// Nodes to pass on to what came from this node, or what this node itself says.
    pub(super) fn targets(&self, from: Option<usize>) -> &[usize] {
        &self.targets[from.unwrap_or(self.neighbours.len())]
    }

    /// The node gets nothing any more: its neighbours behind it get messages directly.
    pub(super) fn close(&mut self, node: usize) {
        if !std::mem::replace(&mut self.is_closed[node], true) {
            self.find_targets();
        }
    }

    /// A node has come there, and gets messages from now on.
    pub(super) fn open(&mut self, node: usize) {
        if std::mem::replace(&mut self.is_closed[node], false) {
            self.is_silent[node] = false;
            self.find_targets();
        }
    }

    /// The node stands still, or not any more: meanwhile those behind it get messages directly, and it gets them, too.
    pub(super) fn set_silent(&mut self, node: usize, is_silent: bool) {
        if std::mem::replace(&mut self.is_silent[node], is_silent) != is_silent {
            self.find_targets();
        }
    }

    fn find_targets(&mut self) {
        let nodes = self.neighbours.len();
        self.targets = (0..=nodes).map(|from| self.targets_of(from)).collect();
    }

    /// All neighbours but the one through which `from` is reached; those behind a closed one in its place.
    fn targets_of(&self, from: usize) -> Vec<usize> {
        let mut targets = Vec::new();
        for &next in &self.neighbours[self.me] {
            if !self.is_behind(next, from) {
                self.reach(next, self.me, &mut targets);
            }
        }
        targets
    }

    fn reach(&self, node: usize, before: usize, targets: &mut Vec<usize>) {
        if !self.is_closed[node] {
            targets.push(node);
        }
        if !self.is_closed[node] && !self.is_silent[node] {
            return;
        }
        for &next in self.neighbours[node].iter().filter(|&&next| next != before) {
            self.reach(next, node, targets);
        }
    }

    /// True if the way from this node to `node` begins with `next`.
    fn is_behind(&self, next: usize, node: usize) -> bool {
        let mut open = vec![(next, self.me)];
        while let Some((at, before)) = open.pop() {
            if at == node {
                return true;
            }
            open.extend(self.neighbours[at].iter().filter(|&&other| other != before).map(|&other| (other, at)));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::Routes;

    /// A tree of 0: 1, 2; 1: 3, 4; 2: 5.
    const PARENTS: [Option<usize>; 6] = [None, Some(0), Some(0), Some(1), Some(1), Some(2)];

    /// Passes a message of `origin` on until it goes no further; how often each node got it.
    fn spread(routes: &[Routes], origin: usize) -> Vec<usize> {
        let mut got = vec![0; routes.len()];
        let mut under_way: Vec<_> = routes[origin].targets(None).iter().map(|&to| (origin, to)).collect();
        while let Some((from, to)) = under_way.pop() {
            got[to] += 1;
            under_way.extend(routes[to].targets(Some(from)).iter().map(|&next| (to, next)));
        }
        got
    }

    #[test]
    fn each_node_gets_it_once_whoever_says_it() {
        let routes: Vec<_> = (0..6).map(|me| Routes::new(me, &PARENTS)).collect();
        for origin in 0..6 {
            let expected: Vec<_> = (0..6).map(|node| usize::from(node != origin)).collect();
            assert_eq!(spread(&routes, origin), expected);
        }
    }

    #[test]
    fn neighbours_stand_in_for_a_node_that_stands_still() {
        let mut routes = Routes::new(0, &PARENTS);
        assert_eq!(routes.targets(None), [1, 2]);
        routes.set_silent(1, true);
        assert_eq!(routes.targets(None), [1, 3, 4, 2]);
        assert_eq!(routes.targets(Some(2)), [1, 3, 4]);
        routes.set_silent(1, false);
        assert_eq!(routes.targets(Some(2)), [1]);
    }

    #[test]
    fn neighbours_stand_in_for_the_dead() {
        for dead in 0..6 {
            let mut routes: Vec<_> = (0..6).map(|me| Routes::new(me, &PARENTS)).collect();
            routes.iter_mut().for_each(|routes| routes.close(dead));
            for origin in (0..6).filter(|&origin| origin != dead) {
                let expected: Vec<_> = (0..6).map(|node| usize::from(node != origin && node != dead)).collect();
                assert_eq!(spread(&routes, origin), expected, "{dead} is dead");
            }
        }
    }
}
