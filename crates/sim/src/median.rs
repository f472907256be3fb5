//! The figure in the middle.

/// The figure in the middle, of an even number the greater one; `None` if there are none. Orders them.
pub(crate) fn median(figures: &mut [f64]) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_in_the_middle_and_none_of_none() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(3.0));
        assert_eq!(median(&mut []), None);
    }
}
