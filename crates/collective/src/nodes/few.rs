//! A list whose first element needs no memory of its own.
//!
//! **When to use it:** an operation makes it anew, and nearly always it has one element. **When not:** otherwise; a `Vec` is
//! simpler.

/// A list of few elements, mostly one.
#[derive(Debug)]
pub(super) struct Few<T> {
    first: Option<T>,
    more: Vec<T>,
}

impl<T> Few<T> {
    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.more.len()
    }

    pub(super) fn push(&mut self, element: T) {
        match self.first {
            None => self.first = Some(element),
            Some(_) => self.more.push(element),
        }
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        self.more.pop().or_else(|| self.first.take())
    }

    pub(super) fn last(&self) -> Option<&T> {
        self.more.last().or(self.first.as_ref())
    }

    /// The element at a place.
    ///
    /// # Panics
    /// If the list is shorter.
    #[track_caller]
    pub(super) fn at(&mut self, place: usize) -> &mut T {
        match place.checked_sub(1) {
            None => self.first.as_mut().expect("the list has an element"),
            Some(place) => &mut self.more[place],
        }
    }
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self { first: None, more: Vec::new() }
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut elements = elements.into_iter();
        Self { first: elements.next(), more: elements.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_back_as_from_a_stack() {
        let mut few: Few<u32> = (1..=2).collect();
        few.push(3);
        assert_eq!((few.len(), *few.at(0), *few.at(2), few.last()), (3, 1, 3, Some(&3)));
        assert_eq!([few.pop(), few.pop(), few.pop(), few.pop()], [Some(3), Some(2), Some(1), None]);
        few.push(4);
        assert_eq!((few.len(), *few.at(0)), (1, 4));
    }
}
