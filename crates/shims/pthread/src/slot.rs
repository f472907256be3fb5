//! A function that an exported one jumps to, chosen at the start.
//!
//! The first call of any function of a family chooses for all of them; from then on a call is a load and a jump.

use std::marker::PhantomData;

use corecast_base::sync::{AtomicPtr, Ordering};

/// A function of type `F`, which is a function pointer.
#[derive(Debug)]
pub(crate) struct Slot<F> {
    /// Written by the thread that chooses; several write the same.
    function: AtomicPtr<()>,
    kind: PhantomData<F>,
}

impl<F: Copy> Slot<F> {
    /// With the address of the function that chooses.
    pub(crate) const fn new(first: *const ()) -> Self {
        const { assert!(size_of::<F>() == size_of::<*const ()>(), "a function pointer") };
        Self { function: AtomicPtr::new(first.cast_mut()), kind: PhantomData }
    }

    #[inline]
    pub(crate) fn get(&self) -> F {
        // ORDERING: Relaxed, code is there before the process starts
        let function = self.function.load(Ordering::Relaxed);
        // SAFETY: only functions of this type are put here.
        unsafe { std::mem::transmute_copy::<*mut (), F>(&function) }
    }

    pub(crate) fn put(&self, function: F) {
        // SAFETY: a function pointer, which is as large.
        let function = unsafe { std::mem::transmute_copy::<F, *mut ()>(&function) };
        // ORDERING: Relaxed, as in get
        self.function.store(function, Ordering::Relaxed);
    }

    /// Puts a function of the C library, if it has it.
    pub(crate) fn put_real(&self, function: *mut std::ffi::c_void) {
        if !function.is_null() {
            // ORDERING: Relaxed, as in get
            self.function.store(function.cast(), Ordering::Relaxed);
        }
    }
}

/// Exports functions that jump to the one in a slot: at first a function that calls `choose` of its module, and then the
/// chosen one. With `unless f for PASSED`, calls for whose first argument `f` is true jump to the one in the slot `PASSED`: so a
/// call that is passed on takes one jump and not two.
macro_rules! export {
    ($abi:literal, unless $is_passed:ident:
        $($slot:ident, $passed:ident: $kind:ty = $first:ident, $($name:ident),+ ($argument:ident: $type:ty);)*) => {
        $(
            static $slot: $crate::slot::Slot<$kind> = $crate::slot::Slot::new($first as *const ());
            static $passed: $crate::slot::Slot<$kind> = $crate::slot::Slot::new($first as *const ());

            unsafe extern $abi fn $first($argument: $type) -> std::ffi::c_int {
                choose();
                // SAFETY: the caller's promise.
                unsafe { $slot.get()($argument) }
            }

            $crate::slot::export!(@unless $abi, $is_passed, $slot, $passed, $argument, $type, $($name),+);
        )*
    };
    (@unless $abi:literal, $is_passed:ident, $slot:ident, $passed:ident, $argument:ident, $type:ty, $($name:ident),+) => {
        $(
            /// # Safety
            /// - As of the C library's function of this name.
            #[cfg_attr(not(test), unsafe(no_mangle))]
            unsafe extern $abi fn $name($argument: $type) -> std::ffi::c_int {
                // SAFETY: the caller's promise.
                let function = if unsafe { $is_passed($argument) } { $passed.get() } else { $slot.get() };
                // SAFETY: the caller's promise.
                unsafe { function($argument) }
            }
        )+
    };
    ($abi:literal: $($slot:ident: $kind:ty = $first:ident, $($name:ident),+ ($($argument:ident: $type:ty),*);)*) => {
        $(
            static $slot: $crate::slot::Slot<$kind> = $crate::slot::Slot::new($first as *const ());

            unsafe extern $abi fn $first($($argument: $type),*) -> std::ffi::c_int {
                choose();
                // SAFETY: the caller's promise.
                unsafe { $slot.get()($($argument),*) }
            }

            $crate::slot::export!(@named $abi, $slot, ($($argument: $type),*), $($name),+);
        )*
    };
    (@named $abi:literal, $slot:ident, $arguments:tt, $($name:ident),+) => {
        $($crate::slot::export!(@one $abi, $slot, $arguments, $name);)+
    };
    (@one $abi:literal, $slot:ident, ($($argument:ident: $type:ty),*), $name:ident) => {
        /// # Safety
        /// - As of the C library's function of this name.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        unsafe extern $abi fn $name($($argument: $type),*) -> std::ffi::c_int {
            // SAFETY: the caller's promise.
            unsafe { $slot.get()($($argument),*) }
        }
    };
}

pub(crate) use export;
