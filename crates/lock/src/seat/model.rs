//! The seats of a model, whose threads have no memory of their own: each read takes the next one.

use corecast_base::sync::{Mutex, in_each_run};

in_each_run! {
    static ref NEXT: Mutex<usize> = Mutex::new(0);
}

pub(crate) fn of_this_thread() -> usize {
    let mut next = NEXT.lock().expect("nobody panics while holding the number");
    *next += 1;
    *next
}
