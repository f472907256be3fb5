//! The model's predictions against what the authors measured on the machine of the golden trees.

use corecast_plan::{Problem, shape, simulate};
use corecast_testing::machines::published;

use crate::machines;

/// Spearman's coefficient: the correlation of ranks, for values without ties.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let rank = |values: &[f64], value: f64| values.iter().filter(|&&other| other < value).count() as f64;
    let differences = a.iter().zip(b).map(|(&x, &y)| (rank(a, x) - rank(b, y)).powi(2));
    let n = a.len() as f64;
    1.0 - 6.0 * differences.sum::<f64>() / (n * (n * n - 1.0))
}

#[test]
fn predicted_broadcasts_rank_as_the_measured_ones() {
    let table =
        std::fs::read_to_string(published("xeon-ivb-2x10/measured.csv")).expect("the measurements are readable");
    let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().expect("the names of the columns");
    let column = |name: &str| head.iter().position(|column| *column == name).expect("a column");
    let (shape, broadcast) = (column("shape"), column("broadcast"));

    let problem = Problem::of_machine(&machines::xeon()).expect("a machine");
    let compare = |row: Vec<&str>| {
        let tree = shape::find(row[shape]).expect("a shape").build(&problem, None);
        (simulate::broadcast(&problem, &tree), row[broadcast].parse::<f64>().expect("a number"))
    };
    let (predicted, measured): (Vec<f64>, Vec<f64>) = rows.map(compare).unzip();
    assert_eq!(measured.len(), 7, "shapes with a measurement");
    let correlation = rank_correlation(&predicted, &measured);
    assert!(correlation >= 0.93, "{correlation}: predicted {predicted:?}, measured {measured:?}");
}
