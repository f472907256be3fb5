//! One cost per ordered pair of CPUs: a square matrix of finite, non-negative numbers with a zero diagonal.
//!
//! Rows and columns are positions in the machine's list of CPUs, not CPU ids. A matrix that exists is valid, so a
//! planner that plans on one need not check it again.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The highest cost that is accepted, in any unit: ten days in nanoseconds. Sums over all pairs of the largest machine
/// stay finite.
pub const MAX_COST: f64 = 1e15;

/// A square matrix of costs, `get(from, to)`.
///
/// ```
/// use corecast_machine::CostMatrix;
/// let cost_ns = CostMatrix::from_rows(vec![vec![0.0, 20.0], vec![25.0, 0.0]])?;
/// assert_eq!(cost_ns.get(1, 0), 25.0);
/// assert!(CostMatrix::from_rows(vec![vec![0.0, 20.0]]).is_err(), "not square");
/// # Ok::<(), corecast_machine::CostMatrixError>(())
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec<Option<f64>>>", into = "Vec<Vec<f64>>")]
pub struct CostMatrix {
    len: usize,
    costs: Vec<f64>,
}

/// Why rows of numbers are not a [`CostMatrix`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostMatrixError {
    /// A row is longer or shorter than the number of rows.
    #[error("row {row} has {found} entries, but there are {expected} rows and the matrix must be square")]
    NotSquare {
        /// The row, from 0.
        row: usize,
        /// Its entries.
        found: usize,
        /// The number of rows.
        expected: usize,
    },
    /// An entry is missing (`null`).
    #[error("entry [{row}][{column}] is null, expected a number")]
    Missing {
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
    },
    /// An entry is negative, not a number, infinite or absurdly large.
    #[error("entry [{row}][{column}] is {cost}, expected a number from 0 to {MAX_COST:e}")]
    NoCost {
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// The entry.
        cost: f64,
    },
    /// A CPU has a cost for a message to itself.
    #[error("entry [{row}][{row}] on the diagonal is {cost}, expected 0")]
    Diagonal {
        /// The row and column, from 0.
        row: usize,
        /// The entry.
        cost: f64,
    },
}

impl CostMatrix {
    /// The matrix with these rows.
    ///
    /// # Errors
    ///
    /// If the rows do not form a square, an entry is not a number from 0 to [`MAX_COST`], or the diagonal is not zero.
    pub fn from_rows(rows: Vec<Vec<f64>>) -> Result<Self, CostMatrixError> {
        let len = rows.len();
        if let Some(row) = rows.iter().position(|row| row.len() != len) {
            return Err(CostMatrixError::NotSquare { row, found: rows[row].len(), expected: len });
        }
        Self::from_fn(len, |row, column| rows[row][column])
    }

    /// The matrix of `len` rows whose entries are `cost(from, to)`.
    ///
    /// # Errors
    ///
    /// As [`CostMatrix::from_rows`].
    pub fn from_fn(len: usize, mut cost: impl FnMut(usize, usize) -> f64) -> Result<Self, CostMatrixError> {
        let mut costs = Vec::with_capacity(len * len);
        for row in 0..len {
            for column in 0..len {
                costs.push(checked(cost(row, column), row, column)?);
            }
        }
        Ok(Self { len, costs })
    }

    /// The matrix of `len` rows that is zero everywhere.
    #[must_use]
    pub fn zero(len: usize) -> Self {
        Self { len, costs: vec![0.0; len * len] }
    }

    /// The number of rows, which is the number of columns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The cost from the CPU at position `from` to the one at position `to`.
    ///
    /// # Panics
    ///
    /// If a position is not below [`CostMatrix::len`].
    #[must_use]
    #[track_caller]
    pub fn get(&self, from: usize, to: usize) -> f64 {
        assert!(from < self.len && to < self.len, "no entry [{from}][{to}] in a matrix of {} rows", self.len);
        self.costs[from * self.len + to]
    }

    /// The rows, from the first.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        (0..self.len).map(|row| &self.costs[row * self.len..(row + 1) * self.len])
    }

    /// The largest entry; 0 if there is none.
    #[must_use]
    pub fn largest(&self) -> f64 {
        self.costs.iter().copied().fold(0.0, f64::max)
    }

    /// The matrix of the CPUs at `positions`, in that order.
    ///
    /// # Panics
    ///
    /// If a position is not below [`CostMatrix::len`].
    #[must_use]
    pub fn restricted_to(&self, positions: &[usize]) -> Self {
        let pairs = positions.iter().flat_map(|&from| positions.iter().map(move |&to| (from, to)));
        Self { len: positions.len(), costs: pairs.map(|(from, to)| self.get(from, to)).collect() }
    }
}

/// True for a number that is accepted as a cost.
pub(crate) fn is_cost(cost: f64) -> bool {
    (0.0..=MAX_COST).contains(&cost)
}

/// The entry itself, with -0 made 0 so that equal costs compare as equal everywhere.
fn checked(cost: f64, row: usize, column: usize) -> Result<f64, CostMatrixError> {
    if !is_cost(cost) {
        Err(CostMatrixError::NoCost { row, column, cost })
    } else if row == column && cost != 0.0 {
        Err(CostMatrixError::Diagonal { row, cost })
    } else {
        Ok(cost + 0.0)
    }
}

impl TryFrom<Vec<Vec<Option<f64>>>> for CostMatrix {
    type Error = CostMatrixError;

    /// As [`CostMatrix::from_rows`]; JSON writes `null`, here `None`, for a number that it cannot represent.
    fn try_from(rows: Vec<Vec<Option<f64>>>) -> Result<Self, CostMatrixError> {
        let mut numbers = Vec::with_capacity(rows.len());
        for (row, entries) in rows.into_iter().enumerate() {
            let known = entries.into_iter().enumerate();
            let known = known.map(|(column, cost)| cost.ok_or(CostMatrixError::Missing { row, column }));
            numbers.push(known.collect::<Result<Vec<f64>, _>>()?);
        }
        Self::from_rows(numbers)
    }
}

impl From<CostMatrix> for Vec<Vec<f64>> {
    fn from(matrix: CostMatrix) -> Self {
        matrix.rows().map(<[f64]>::to_vec).collect()
    }
}

impl fmt::Debug for CostMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CostMatrix({} rows, largest {})", self.len, self.largest())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_no_cost_by_row_and_column() {
        for (rows, expected) in [
            (vec![vec![0.0, 1.0]], "row 0 has 2 entries"),
            (vec![vec![0.0, 1.0], vec![1.0]], "row 1 has 1 entries"),
            (vec![vec![0.0, f64::NAN], vec![1.0, 0.0]], "[0][1] is NaN"),
            (vec![vec![0.0, 1.0], vec![f64::INFINITY, 0.0]], "[1][0] is inf"),
            (vec![vec![0.0, -1.0], vec![1.0, 0.0]], "[0][1] is -1"),
            (vec![vec![0.0, 1e16], vec![1.0, 0.0]], "[0][1] is 1"),
            (vec![vec![0.0, 1.0], vec![1.0, 7.0]], "[1][1] on the diagonal is 7"),
        ] {
            let error = CostMatrix::from_rows(rows).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn restricts_in_the_order_asked_for() {
        let matrix = CostMatrix::from_fn(4, |i, j| if i == j { 0.0 } else { (10 * i + j) as f64 }).expect("costs");
        let part = matrix.restricted_to(&[3, 1]);
        assert_eq!(Vec::<Vec<f64>>::from(part), [[0.0, 31.0], [13.0, 0.0]]);
        assert_eq!(matrix.largest(), 32.0);
    }

    #[test]
    fn negative_zero_becomes_zero() {
        let matrix = CostMatrix::from_rows(vec![vec![0.0, -0.0], vec![0.0, 0.0]]).expect("costs");
        assert!(matrix.get(0, 1).is_sign_positive());
    }
}
