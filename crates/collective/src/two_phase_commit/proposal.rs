//! The things that can be proposed: values, and slices of them.

use std::slice;

use corecast_channel::Plain;

/// A value of a plain type, or a slice of such values.
pub trait Proposal: sealed::Sealed {
    /// The type of the values.
    type Value: Plain;

    /// The values that it consists of.
    fn values(&self) -> &[Self::Value];

    /// The proposal that consists of these values; `None` if none has as many.
    fn of(values: &[Self::Value]) -> Option<&Self>;
}

impl<T: Plain> Proposal for T {
    type Value = T;

    #[inline(always)]
    fn values(&self) -> &[T] {
        slice::from_ref(self)
    }

    #[inline(always)]
    fn of(values: &[T]) -> Option<&T> {
        if let [value] = values { Some(value) } else { None }
    }
}

impl<T: Plain> Proposal for [T] {
    type Value = T;

    #[inline(always)]
    fn values(&self) -> &[T] {
        self
    }

    #[inline(always)]
    fn of(values: &[T]) -> Option<&[T]> {
        Some(values)
    }
}

mod sealed {
    use corecast_channel::Plain;

    /// Nobody else makes proposals: a participant relies on what they consist of.
    pub trait Sealed {}

    impl<T: Plain> Sealed for T {}
    impl<T: Plain> Sealed for [T] {}
}
