//! Sets of members as bits: those of a member leave its own bit out.

/// All sets of `members` bits below `sets`, ascending.
pub(super) fn subsets(sets: usize, members: usize) -> impl Iterator<Item = usize> {
    let first = (members < usize::BITS as usize).then(|| (1 << members) - 1);
    let next = |&set: &usize| {
        let lowest = set & set.wrapping_neg();
        let carried = set + lowest;
        Some(carried | (((set ^ carried) >> 2) / lowest))
    };
    std::iter::successors(first, next).take_while(move |&set| set < sets)
}

/// The places of the bits of a set, ascending.
pub(super) fn ones(set: usize) -> impl Iterator<Item = usize> {
    let rest = |&set: &usize| Some(set & (set - 1)).filter(|&rest| rest != 0);
    std::iter::successors(Some(set).filter(|&set| set != 0), rest).map(|set| set.trailing_zeros() as usize)
}

/// The member behind a bit of v's sets.
pub(super) fn member(v: usize, at: usize) -> usize {
    at + usize::from(at >= v)
}

/// The rest of the set of v's that `child` takes, below the child itself: a set of the child's.
pub(super) fn handed(v: usize, child: usize, set: usize) -> usize {
    packed(child, spread(v, set))
}

/// A set of v's with the members as bits, v's own among them as 0.
pub(super) fn spread(v: usize, set: usize) -> usize {
    let low = (1 << v) - 1;
    (set & low) | ((set & !low) << 1)
}

/// The inverse of [`spread`].
pub(super) fn packed(v: usize, all: usize) -> usize {
    let low = (1 << v) - 1;
    (all & low) | ((all >> 1) & !low)
}
