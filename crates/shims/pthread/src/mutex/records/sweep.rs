//! Records that were left: their mutex's memory is gone, or has other contents.
//!
//! A mutex that is in use has the address of its record, and says that it is in order, or about to be. A thread that puts it in
//! order says the latter before it comes for the record, and then sets the record's address before it says the former. So a
//! record is left if two looks one after the other find its mutex otherwise while no thread can come for it. The first look
//! alone may have taken the old address and then the new word: the system promises no order within a copy.
//!
//! Memory that cannot be read now, and is mapped, may have mutexes in use. If it was unmapped nobody can use them: a mutex that
//! comes back there, with a file's page, finds that its record is another one's, and is put in order again.
//!
//! The table looks when it has twice the records that were in use after the last time. So the time is a small share of what
//! it takes to make them, and there are at most twice the records that are in use, or whose memory still looks like it.

use super::Record;
use super::memory::{self, Seen};
use super::table::Table;
use crate::fork;
use crate::mutex::object;

/// Frees records that were left, unless another thread does.
#[cold]
pub(super) fn free_left(table: &'static Table) {
    table.sweeping.try_with(|| {
        let mut some = Vec::with_capacity(2 * memory::MOST);
        for list in table.lists() {
            list.each(|record| some.push((record.address(), record)));
            if some.len() >= memory::MOST {
                free_those_left(table, &some);
                some.clear();
            }
        }
        free_those_left(table, &some);
        table.sweep_later();
    });
}

/// Frees those of these records that were left.
fn free_those_left(table: &'static Table, some: &[(usize, &'static Record)]) {
    for some in some.chunks(memory::MOST) {
        let addresses: [usize; memory::MOST] =
            std::array::from_fn(|at| some.get(at).map_or(0, |(address, _)| *address));
        let seen = memory::look(&addresses[..some.len()]);
        for (&(address, record), seen) in some.iter().zip(seen) {
            if is_left(record, seen) {
                let looks_left = |record: &Record| is_left(record, memory::look(&[address])[0]);
                // SAFETY: seen twice, so its mutex is none.
                unsafe { table.free_if(address, |record| looks_left(record) && looks_left(record)) };
            }
        }
    }
}

/// True if this is not the memory of a mutex that uses the record.
fn is_left(record: &Record, seen: Seen) -> bool {
    match seen {
        Seen::Words(words) => !object::may_use(words, fork::epoch(), std::ptr::from_ref(record).addr()),
        Seen::Nothing => true,
        Seen::Unknown => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a mutex that is in order, with this record.
    fn in_order(record: &Record) -> [u64; 5] {
        [0, u64::from(fork::epoch() + 1) << 32, 0, std::ptr::from_ref(record).addr() as u64, 0]
    }

    #[test]
    fn records_whose_mutex_is_gone_are_freed_and_others_are_not() {
        let table: &'static Table = Box::leak(Box::new(Table::new()));
        let mut mutexes = vec![[0_u64; 5]; 5000];
        let records: Vec<_> = mutexes.iter().map(|mutex| table.add(mutex.as_ptr().addr())).collect();
        for (mutex, record) in mutexes.iter_mut().zip(&records) {
            *mutex = in_order(record);
        }
        let nowhere = table.add(64);
        free_left(table);
        if nowhere.address() != 0 {
            return corecast_testing::skipped("records that were left", "the system copies no memory");
        }
        assert_eq!(table.in_use(), 5000);
        for (number, mutex) in mutexes.iter_mut().enumerate() {
            match number % 4 {
                // Zeroes; another process's; about to be put in order; in order.
                0 => *mutex = [0; 5],
                1 => mutex[1] += 4 << 32,
                2 => *mutex = [0, u64::from(fork::epoch()) << 32, 0, 0, 0],
                _ => {}
            }
        }
        free_left(table);
        assert_eq!(table.in_use(), 2500);
        let is_kept = |number: usize| records[number].address() == mutexes[number].as_ptr().addr();
        assert!((0..5000).all(|number| is_kept(number) == (number % 4 >= 2)));
    }

    #[test]
    fn a_program_that_never_destroys_mutexes_uses_their_records_again() {
        let table: &'static Table = Box::leak(Box::new(Table::new()));
        // Kept, so that each round has addresses of its own.
        let mut gone = Vec::new();
        for _ in 0..10 {
            let mut mutexes = vec![[0_u64; 5]; 5000];
            for mutex in &mut mutexes {
                if table.is_due() {
                    free_left(table);
                }
                let address = mutex.as_ptr().addr();
                *mutex = in_order(table.find(address).unwrap_or_else(|| table.add(address)));
            }
            // As memory that was given back, and used for something else.
            mutexes.fill([7; 5]);
            gone.push(mutexes);
        }
        assert!(table.in_use() <= 10_001 || memory::look(&[std::ptr::from_ref(table).addr()])[0] == Seen::Unknown);
    }
}
