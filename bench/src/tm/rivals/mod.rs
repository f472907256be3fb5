//! What people have in the place of corecast's transactional memory, one file each: locks, and other memories.

pub(super) mod itm;
pub(super) mod object_locks;
pub(super) mod one_lock;
pub(super) mod sequential;
pub(super) mod stm;
