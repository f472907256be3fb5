//! The values that a thread, or a run, has of its own, by name.

use std::any::Any;
use std::cell::{Cell, RefCell};

/// A thread has none any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended;

/// The variables of a thread or a run that were asked for, by name.
#[derive(Default)]
pub(crate) struct Values {
    values: RefCell<Vec<(usize, Box<dyn Any>)>>,
    has_ended: Cell<bool>,
}

impl Values {
    /// Calls `f` with the value of this name, which `init` makes when it is first asked for. A name has one type.
    pub(crate) fn with<T: 'static, R>(
        &self,
        name: usize,
        init: fn() -> T,
        f: impl FnOnce(&T) -> R,
    ) -> Result<R, Ended> {
        if self.has_ended.get() {
            return Err(Ended);
        }
        let find = |values: &Vec<(usize, Box<dyn Any>)>| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            value.downcast_ref::<T>().map(std::ptr::from_ref)
        };
        let known = find(&self.values.borrow());
        let value = known.unwrap_or_else(|| {
            let fresh = Box::new(init());
            let place = std::ptr::from_ref(&*fresh);
            self.values.borrow_mut().push((name, fresh));
            place
        });
        // SAFETY: values stay in their boxes until the thread or the run ends, which its own code does not outlive.
        Ok(f(unsafe { &*value }))
    }

    /// Drops them all, the last first. Destructors that ask for one are told that the thread has ended.
    pub(crate) fn end(&self) {
        self.has_ended.set(true);
        while let Some(value) = self.take_last() {
            drop(value);
        }
    }

    fn take_last(&self) -> Option<Box<dyn Any>> {
        self.values.borrow_mut().pop().map(|(_, value)| value)
    }
}
