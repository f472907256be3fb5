//! Variables of which each thread has its own.

/// As `std::thread_local!`, of one variable whose first value is constant. The threads of a simulated machine are one thread of
/// the host, and have theirs all the same.
#[cfg(not(simulated))]
#[macro_export]
macro_rules! per_thread {
    ($(#[$meta:meta])* static $name:ident: $type:ty = const $value:block;) => {
        ::std::thread_local! {
            $(#[$meta])*
            static $name: $type = const $value;
        }
    };
}

/// As `std::thread_local!`, of one variable whose first value is constant, among simulated threads.
#[cfg(simulated)]
#[macro_export]
macro_rules! per_thread {
    ($(#[$meta:meta])* static $name:ident: $type:ty = const $value:block;) => {
        $(#[$meta])*
        static $name: $crate::sync::PerThread<$type> = $crate::sync::PerThread::new(|| $value);
    };
}
