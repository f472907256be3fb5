//! The numbers of threads, sharers or pairs that a benchmark runs with by default.

/// 1, 2, 4 and so on, and at last `most` itself.
pub(crate) fn doubled_up_to(most: usize) -> Vec<usize> {
    let doubled = std::iter::successors(Some(1), |count| Some(2 * count));
    doubled.take_while(|&count| count < most).chain([most]).collect()
}

/// Those asked for, or the usual ones if none is.
pub(crate) fn or_usual<T: Clone>(asked: &[T], usual: impl FnOnce() -> Vec<T>) -> Vec<T> {
    if asked.is_empty() { usual() } else { asked.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_double_and_end_with_the_most() {
        assert_eq!(
            [1, 2, 3, 8, 9].map(doubled_up_to),
            [vec![1], vec![1, 2], vec![1, 2, 3], vec![1, 2, 4, 8], vec![1, 2, 4, 8, 9]]
        );
        assert_eq!((or_usual(&[3], || vec![1]), or_usual(&[], || vec![1])), (vec![3], vec![1]));
    }
}
