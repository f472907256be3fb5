//! The order in which pairs meet: rounds of disjoint pairs in which every pair occurs once, as in a chess tournament.
//!
//! The circle method: one player stays, the others move on by one seat per round, and opposite seats play. An odd
//! player has a bye. So n CPUs take n - 1 rounds (n if odd), not n (n - 1) / 2. A round is then cut into sets that may
//! run at the same time without disturbing each other.
//!
//! Source: the tables of R. Schurig, 1886, as used for chess tournaments (Berger tables).

/// Two positions, the lower one first.
pub(super) type Pair = (usize, usize);

/// The rounds of a tournament of `players`; none for fewer than two.
pub(super) fn rounds(players: usize) -> Vec<Vec<Pair>> {
    if players < 2 {
        return Vec::new();
    }
    let seats = players + players % 2;
    (0..seats - 1).map(|round| one_round(players, seats, round)).collect()
}

fn one_round(players: usize, seats: usize, round: usize) -> Vec<Pair> {
    let circle = seats - 1;
    let at = |seat: usize| (round + seat) % circle;
    let opposite = (1..seats / 2).map(|seat| (at(seat), at(circle - seat)));
    let pairs = std::iter::once((circle, at(0))).chain(opposite);
    pairs.map(|(a, b)| (a.min(b), a.max(b))).filter(|&(_, b)| b < players).collect()
}

/// Cuts a round into sets of at most `at_once` pairs. No core occurs in two pairs of a set: SMT siblings that both
/// measure would steal each other's cycles. `core` tells the core of a position, `None` where it shares with no other.
pub(super) fn sets_of(round: &[Pair], at_once: usize, core: impl Fn(usize) -> Option<u32>) -> Vec<Vec<Pair>> {
    let cores = |&(a, b): &Pair| [core(a), core(b)].into_iter().flatten();
    let mut sets: Vec<Vec<Pair>> = Vec::new();
    for pair in round {
        let is_apart = |set: &Vec<Pair>| set.iter().flat_map(cores).all(|taken| cores(pair).all(|own| own != taken));
        match sets.iter_mut().find(|set| set.len() < at_once && is_apart(set)) {
            Some(set) => set.push(*pair),
            None => sets.push(vec![*pair]),
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_pair_meets_once_and_nobody_plays_twice_in_a_round() {
        for players in 1..=65 {
            let rounds = rounds(players);
            assert!(rounds.len() <= players, "{} rounds for {players}", rounds.len());
            let mut met = BTreeSet::new();
            for round in &rounds {
                let playing: BTreeSet<usize> = round.iter().flat_map(|&(a, b)| [a, b]).collect();
                assert_eq!(playing.len(), 2 * round.len(), "{players} players: {round:?}");
                assert_eq!(round.len(), players / 2);
                for &(a, b) in round {
                    assert!(a < b && b < players, "{players} players: {a} meets {b}");
                    assert!(met.insert((a, b)), "{players} players: {a} meets {b} twice");
                }
            }
            assert_eq!(met.len(), players * (players - 1) / 2);
        }
    }

    #[test]
    fn sets_keep_siblings_apart_and_lose_nobody() {
        for players in [2, 4, 16, 48] {
            let core = |position: usize| Some(position as u32 / 2);
            for round in rounds(players) {
                for at_once in [1, 3, usize::MAX] {
                    let sets = sets_of(&round, at_once, core);
                    let mut all: Vec<Pair> = sets.concat();
                    all.sort_unstable();
                    let mut expected = round.clone();
                    expected.sort_unstable();
                    assert_eq!(all, expected);
                    for set in &sets {
                        assert!(set.len() <= at_once);
                        let cores: Vec<_> = set.iter().flat_map(|&(a, b)| BTreeSet::from([core(a), core(b)])).collect();
                        let distinct: BTreeSet<_> = cores.iter().collect();
                        assert_eq!(distinct.len(), cores.len(), "a core in two pairs of {set:?}");
                    }
                    assert!(at_once < usize::MAX || sets.len() <= 3, "a pair shares cores with two others at most");
                }
            }
        }
    }

    #[test]
    fn unknown_cores_disturb_nobody() {
        let round = &rounds(8)[0];
        assert_eq!(sets_of(round, usize::MAX, |_| None), vec![round.clone()]);
    }
}
