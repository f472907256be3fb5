//! Reductions of values of the caller's own, with a function of the caller's own: at once, started, and with limits.
//!
//! The function and its context stay C's. They are used within the calls that begin and finish an operation, by the thread
//! that makes them.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use corecast::collective::Order;

use crate::argument::{Parameters, elements_mut, parameters, required, within};
use crate::error::Failure;
use crate::member::Member;
use crate::sized::MESSAGE_WORDS;
use crate::started::Started;

/// The bytes of the largest value: what goes into one message.
const LARGEST_BYTES: usize = MESSAGE_WORDS * size_of::<u64>();

/// A function that combines two values: it leaves the combination of both in `accumulator`, the left one. It makes no call
/// with the member, and neither throws nor jumps; it may use the values until it returns.
pub type Combine = Option<unsafe extern "C" fn(context: *mut c_void, accumulator: *mut c_void, operand: *const c_void)>;

/// How values of the caller's own are combined; all members give the same, but for `context`. Set `size` to
/// sizeof(corecast_combination), all else to 0, and then the fields that matter.
///
/// The combination has to be associative, up to rounding. Values must mean the same in every process: no pointers.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Combination {
    /// sizeof(corecast_combination).
    pub size: usize,
    /// The sizeof of a value, 1 to 504.
    pub value_bytes: u32,
    /// 1 if operands may change places, up to rounding: members combine values on the way, in the order of the plan. 0 if
    /// not: all values travel to one member, which combines them by rank, in the same bracketing under every plan.
    pub commutes: u32,
    /// The function. Its values are aligned as elements of an array are.
    pub combine: Combine,
    /// Passed to the function as it is.
    pub context: *mut c_void,
}

// SAFETY: laid out as C does, without padding, the size first; a function and a pointer may have any bytes until they are used.
unsafe impl Parameters for Combination {}

/// A combination that has been checked, as the library calls it.
struct Combining {
    function: unsafe extern "C" fn(context: *mut c_void, accumulator: *mut c_void, operand: *const c_void),
    context: *mut c_void,
    value_bytes: usize,
    order: Order,
}

// SAFETY: used within C's calls only, with a started operation, which one thread at a time uses by C's promise.
unsafe impl Send for Combining {}

impl Combining {
    /// # Safety
    /// - As for [`parameters`].
    unsafe fn read(combination: *const Combination) -> Result<Self, Failure> {
        required(NonNull::new(combination.cast_mut()), "combination")?;
        // SAFETY: the caller's promise.
        let combination = unsafe { parameters(combination, "combination") }?;
        let bytes = within(combination.value_bytes, 1, LARGEST_BYTES as u32, "combination.value_bytes")?;
        let commutes = within(combination.commutes, 0, 1, "combination.commutes")? == 1;
        Ok(Self {
            function: required(combination.combine, "combination.combine")?,
            context: combination.context,
            value_bytes: bytes as usize,
            order: if commutes { Order::Plan } else { Order::Rank },
        })
    }

    /// Leaves the combination of two values in the first one.
    #[inline]
    fn combine(&self, accumulator: &mut [u8], operand: &[u8]) {
        let (accumulator_at, operand_at) = (accumulator.as_mut_ptr(), operand.as_ptr());
        if self.is_aligned(accumulator_at) && self.is_aligned(operand_at) {
            // SAFETY: two values, aligned as those of an array, and the caller's function, called as the header says.
            unsafe { (self.function)(self.context, accumulator_at.cast(), operand_at.cast()) };
        } else {
            self.combine_lifted(accumulator, operand);
        }
    }

    /// Whether a value may lie there. No type is aligned to more than its size has factors of two.
    #[inline]
    fn is_aligned<T>(&self, at: *const T) -> bool {
        at.addr().trailing_zeros() >= self.value_bytes.trailing_zeros()
    }

    /// The same with values at addresses where no type would lie.
    fn combine_lifted(&self, accumulator: &mut [u8], operand: &[u8]) {
        let (mut left, right) = (Lifted::of(accumulator), Lifted::of(operand));
        // SAFETY: two values, aligned for all, and the caller's function, called as the header says.
        unsafe { (self.function)(self.context, left.0.as_mut_ptr().cast(), right.0.as_ptr().cast()) };
        // SAFETY: `Lifted::of` has written that many bytes there, and the function writes bytes.
        let combined = unsafe { std::slice::from_raw_parts(left.0.as_ptr().cast::<u8>(), accumulator.len()) };
        accumulator.copy_from_slice(combined);
    }
}

/// A copy of a value, aligned for every type: to the largest power of two that is no more than the largest value.
#[repr(align(256))]
struct Lifted([MaybeUninit<u8>; LARGEST_BYTES]);

impl Lifted {
    fn of(value: &[u8]) -> Self {
        let mut lifted = Self([MaybeUninit::uninit(); LARGEST_BYTES]);
        lifted.0.iter_mut().zip(value).for_each(|(to, &byte)| _ = to.write(byte));
        lifted
    }
}

/// # Safety
/// - `combination` is as for [`parameters`].
/// - `values` is NULL, or readable and writable for `count` values, which nothing else reaches for `'a`.
unsafe fn values_and_combining<'a>(
    values: *mut c_void,
    count: usize,
    combination: *const Combination,
) -> Result<(&'a mut [u8], Combining), Failure> {
    // SAFETY: the caller's promise.
    let by = unsafe { Combining::read(combination) }?;
    // SAFETY: the caller's promise.
    let values = unsafe { elements_mut(values.cast(), count.saturating_mul(by.value_bytes), "values") }?;
    Ok((values, by))
}

/// Starts a reduction, to all where there is no root.
///
/// # Safety
/// - As for [`values_and_combining`], until the operation is dropped.
unsafe fn start(
    member: &mut Member,
    root: Option<u32>,
    values: *mut c_void,
    count: usize,
    combination: *const Combination,
) -> Result<Started, Failure> {
    // SAFETY: the caller's promise.
    let (values, by) = unsafe { values_and_combining(values, count, combination) }?;
    let (order, bytes) = (by.order, by.value_bytes);
    let combine = move |own: &mut [u8], their: &[u8]| by.combine(own, their);
    // SAFETY: the reference to the member is kept only in the returned object.
    unsafe {
        Started::start(member, |place| match root {
            Some(root) => place.start().reduce_records(order, root as usize, values, bytes, combine),
            None => place.start().allreduce_records(order, values, bytes, combine),
        })
    }
}

c_functions! {
    /// Combines the `count` values of all members, first with first and so on, and leaves the results in the root's
    /// `values`; those of the others are of no use afterwards. Members that give another number of bytes are CORECAST_LOST;
    /// if a member takes the same bytes for values of another size, that may go unnoticed.
    unsafe fn corecast_member_reduce_with(
        member: &mut Member,
        root: u32,
        values: *mut c_void,
        count: usize,
        combination: *const Combination
    ) {
        // SAFETY: C passes parameters, and `count` values.
        let (values, by) = unsafe { values_and_combining(values, count, combination) }?;
        let combine = |own: &mut [u8], their: &[u8]| by.combine(own, their);
        member.operate(|place| place.reduce_records(by.order, root as usize, values, by.value_bytes, combine))?
    }

    /// The same with the results in all members' `values`, the same bytes in each.
    unsafe fn corecast_member_allreduce_with(
        member: &mut Member,
        values: *mut c_void,
        count: usize,
        combination: *const Combination
    ) {
        // SAFETY: C passes parameters, and `count` values.
        let (values, by) = unsafe { values_and_combining(values, count, combination) }?;
        let combine = |own: &mut [u8], their: &[u8]| by.combine(own, their);
        member.operate(|place| place.allreduce_records(by.order, values, by.value_bytes, combine))?
    }

    /// Begins to combine the `count` values of all members for the root, as corecast_member_reduce_with does. `combination` is
    /// copied; its function is called within the calls that begin and finish the operation.
    unsafe fn corecast_member_start_reduce_with(
        member: &mut Member,
        root: u32,
        values: *mut c_void,
        count: usize,
        combination: *const Combination
    ) -> (started: new Started) {
        // SAFETY: C passes parameters, and values, which it leaves until the operation is finished or closed.
        unsafe { start(member, Some(root), values, count, combination) }?
    }

    /// The same for all members.
    unsafe fn corecast_member_start_allreduce_with(
        member: &mut Member,
        values: *mut c_void,
        count: usize,
        combination: *const Combination
    ) -> (started: new Started) {
        // SAFETY: C passes parameters, and values, which it leaves until the operation is finished or closed.
        unsafe { start(member, None, values, count, combination) }?
    }

    /// corecast_member_start_reduce_with and what finishes it, for at most `timeout_ns` nanoseconds in all. After
    /// CORECAST_TIMEOUT the member can only leave.
    unsafe fn corecast_member_reduce_with_timeout_ns(
        member: &mut Member,
        root: u32,
        values: *mut c_void,
        count: usize,
        combination: *const Combination,
        timeout_ns: Duration
    ) {
        // SAFETY: C passes parameters, and values, and the operation is dropped within.
        unsafe { start(member, Some(root), values, count, combination) }?.finish(timeout_ns)?
    }

    /// The same with corecast_member_start_allreduce_with.
    unsafe fn corecast_member_allreduce_with_timeout_ns(
        member: &mut Member,
        values: *mut c_void,
        count: usize,
        combination: *const Combination,
        timeout_ns: Duration
    ) {
        // SAFETY: C passes parameters, and values, and the operation is dropped within.
        unsafe { start(member, None, values, count, combination) }?.finish(timeout_ns)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails where a value is not aligned as its size says; `context` is where the size is, and counts the calls.
    unsafe extern "C" fn add(context: *mut c_void, accumulator: *mut c_void, operand: *const c_void) {
        // SAFETY: the tests pass this.
        let (bytes, calls) = unsafe { &mut *context.cast::<(usize, usize)>() };
        for value in [accumulator.cast_const(), operand] {
            assert_eq!(value.addr() % (1 << bytes.trailing_zeros()), 0, "{value:?} of {bytes} bytes");
        }
        // SAFETY: a value of `bytes` bytes.
        let own = unsafe { std::slice::from_raw_parts_mut(accumulator.cast::<u8>(), *bytes) };
        // SAFETY: another one.
        let their = unsafe { std::slice::from_raw_parts(operand.cast::<u8>(), *bytes) };
        own.iter_mut().zip(their).for_each(|(own, their)| *own += *their);
        *calls += 1;
    }

    #[repr(align(256))]
    struct Aligned([u8; 1024]);

    #[test]
    fn values_are_aligned_wherever_they_lie() {
        let (mut own, mut their) = (Aligned([0; 1024]), Aligned([0; 1024]));
        for (bytes, left, right) in [1, 4, 8, 12, 256, 504].into_iter().flat_map(places) {
            let mut context = (bytes, 0);
            let by =
                Combining { function: add, context: (&raw mut context).cast(), value_bytes: bytes, order: Order::Plan };
            let own = &mut own.0[left..][..bytes];
            let their = &mut their.0[right..][..bytes];
            own.fill(3);
            their.fill(4);
            by.combine(own, their);
            assert!(own.iter().all(|&byte| byte == 7) && their.iter().all(|&byte| byte == 4));
            assert_eq!(context.1, 1);
        }
    }

    /// Aligned ones, and such where one of two is not.
    fn places(bytes: usize) -> [(usize, usize, usize); 4] {
        [(bytes, 0, 0), (bytes, 1, 0), (bytes, 0, 1), (bytes, 256, 3)]
    }

    #[test]
    fn the_largest_value_is_the_longest_message() {
        assert_eq!((LARGEST_BYTES, align_of::<Lifted>()), (504, LARGEST_BYTES.next_power_of_two() / 2));
    }
}
