//! A tree of members in the order of their numbers: member i is below the member whose number is i without its lowest digit that
//! is not zero, in a base that is the tree's radix. So members with neighbouring numbers meet first.

use super::Position;

/// The member above this one; `None` for member 0.
pub(super) fn parent(tid: usize, radix: usize) -> Option<usize> {
    let step = step_below(tid, radix)?;
    Some(tid - tid / step % radix * step)
}

/// The members right below this one, those with near numbers first.
pub(super) fn children(Position { tid, size }: Position, radix: usize) -> impl Iterator<Item = usize> {
    let most = step_below(tid, radix).unwrap_or(size);
    let steps = std::iter::successors(Some(1), move |step| Some(step * radix)).take_while(move |&step| step < most);
    steps.flat_map(move |step| (1..radix).map(move |digit| tid + digit * step)).take_while(move |&child| child < size)
}

/// The value of the lowest place in which the number has a digit other than zero.
fn step_below(tid: usize, radix: usize) -> Option<usize> {
    let mut step = 1;
    while tid != 0 && tid / step % radix == 0 {
        step *= radix;
    }
    (tid != 0).then_some(step)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_member_but_the_first_is_once_below_its_parent() {
        for (radix, size) in [(2, 1), (2, 7), (2, 33), (3, 28), (8, 9), (8, 64), (8, 200)] {
            let mut above = vec![None; size];
            for tid in 0..size {
                for child in children(Position { tid, size }, radix) {
                    assert_eq!(above[child].replace(tid), None, "{child} of {size}");
                }
            }
            let parents: Vec<_> = (0..size).map(|tid| parent(tid, radix)).collect();
            assert_eq!(above, parents, "radix {radix}, {size} members");
            assert!((1..size).all(|tid| parent(tid, radix).is_some_and(|up| up < tid && up % radix == 0)));
        }
        assert_eq!(children(Position { tid: 0, size: 20 }, 8).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7, 8, 16]);
    }
}
