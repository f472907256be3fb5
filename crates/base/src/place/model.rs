//! Places of the model: counted memory of which the model checker watches every access.

use std::ops::Deref;
use std::sync::Arc;

use super::Shareable;

/// A value shared by the threads of a model.
#[derive(Debug)]
pub struct Place<T> {
    values: PlaceSlice<T>,
    index: usize,
}

/// Several values shared by the threads of a model.
#[derive(Debug)]
pub struct PlaceSlice<T>(Arc<[T]>);

impl<T: Shareable> Place<T> {
    /// A value of the model.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self { values: PlaceSlice::new(vec![value]), index: 0 }
    }
}

impl<T: Shareable> PlaceSlice<T> {
    /// Values of the model.
    #[must_use]
    pub fn new(values: Vec<T>) -> Self {
        Self(values.into())
    }
}

impl<T: Shareable + Default> PlaceSlice<T> {
    /// `len` values of the model, all zero.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        Self::new((0..len).map(|_| T::default()).collect())
    }
}

impl<T> PlaceSlice<T> {
    /// One of the values; `None` if the index is beyond the last.
    #[must_use]
    pub fn place(&self, index: usize) -> Option<Place<T>> {
        (index < self.len()).then(|| Place { values: self.clone(), index })
    }
}

impl<T> Clone for Place<T> {
    fn clone(&self) -> Self {
        Self { values: self.values.clone(), index: self.index }
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
        &self.values[self.index]
    }
}

impl<T> Deref for PlaceSlice<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}
