//! Names beside a picture: a column of them, each tied by a thin line to the point that it names, none over another.

use super::svg::{Point, Svg};

/// From one line of text to the next.
const LINE: f64 = 13.0;

/// A name, how it is written, and where the point is that it names.
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub(super) at: Point,
    pub(super) class: &'static str,
    pub(super) text: String,
}

/// The height of a column of this many names, in pixels.
pub(super) fn height(labels: usize) -> f64 {
    LINE * labels as f64
}

/// Draws the column from `left` on, between `top` and `bottom`, in the order in which the points lie.
pub(super) fn column(svg: &mut Svg, mut labels: Vec<Label>, left: f64, (top, bottom): (f64, f64)) {
    labels.sort_by(|a, b| a.at.1.total_cmp(&b.at.1).then_with(|| a.text.cmp(&b.text)));
    let wanted: Vec<f64> = labels.iter().map(|label| label.at.1).collect();
    for (label, y) in labels.iter().zip(places(&wanted, top, bottom)) {
        svg.line(label.at, (left - 4.0, y), "grid");
        svg.text((left, y + 4.0), label.class, &label.text);
    }
}

/// Where the lines of text are, as near as can be to where they are wanted, which is in ascending order.
fn places(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut places = Vec::with_capacity(wanted.len());
    let mut free = top;
    for (i, &y) in wanted.iter().enumerate() {
        // Those that come after need room as well.
        let last = bottom - height(wanted.len() - 1 - i);
        let place = y.min(last).max(free);
        places.push(place);
        free = place + LINE;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_lies_over_another_and_all_lie_inside() {
        for wanted in [vec![], vec![50.0], vec![50.0; 5], vec![10.0, 12.0, 99.0, 99.0, 100.0]] {
            let places = places(&wanted, 10.0, 100.0);
            assert_eq!(places.len(), wanted.len());
            assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= LINE), "{places:?}");
            assert!(places.iter().all(|place| (10.0..=100.0).contains(place)), "{places:?}");
        }
        assert_eq!(places(&[20.0, 60.0], 10.0, 100.0), [20.0, 60.0], "where there is room they lie where they belong");
    }
}
