//! Places of the model: counted memory whose every access the model checker watches.

use std::ops::Deref;
use std::sync::Arc;

use super::Shareable;

/// A value shared by the threads of a model.
#[derive(Debug)]
pub struct Place<T>(Arc<T>);

/// Some values shared by the threads of a model.
#[derive(Debug)]
pub struct PlaceSlice<T>(Arc<[T]>);

impl<T: Shareable> Place<T> {
    /// A value of the model.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T: Shareable> PlaceSlice<T> {
    /// Values of the model.
    #[must_use]
    pub fn new(values: Vec<T>) -> Self {
        Self(values.into())
    }
}

impl<T> Clone for Place<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Clone for PlaceSlice<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Place<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Deref for PlaceSlice<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}
