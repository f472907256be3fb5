//! The guarded data of these tests: two numbers that are the same, unless somebody else is inside.

/// Adds without an atomic, and shows a torn pair if two are inside at once.
pub(crate) fn add(pair: &mut (usize, usize)) {
    assert_eq!(pair.0, pair.1, "two threads are inside");
    pair.0 += 1;
    std::hint::black_box(&mut *pair);
    pair.1 += 1;
}
