//! The names of the rows for corecast's own choice and for the tree of a shape.

/// The row of the group's own choice.
pub const CHOSEN: &str = "corecast";

/// The row of the tree of a shape.
pub(crate) fn of_shape(shape: &str) -> String {
    format!("{CHOSEN}/tree/{shape}")
}
