//! The form in which this crate writes the functions that C calls: `c_functions!`.
//!
//! ```text
//! c_functions! {
//!     /// The comment in the header.
//!     unsafe fn corecast_ff_sender_open(region: &Region, name: text) -> (sender: new FfSender) {
//!         FfSender(ff::sender(&region.shared, name)?)
//!     }
//! }
//! ```
//!
//! becomes the exported function of these arguments, `Option<&Region>`, `*const c_char` and a place for the pointer to the new
//! object. It checks each argument in turn, and that there are places for its outputs; a wrong one is
//! `CORECAST_INVALID_ARGUMENT`, and the message has its name. Then it runs the body, where each name stands for the checked
//! argument and `?` is open to every error of the library, writes the outputs, and returns `CORECAST_OK`. An error, and a
//! panic anywhere in between, becomes a status and a message ([`call`](crate::error::call)).
//!
//! | written | what C passes | what the body finds |
//! |---|---|---|
//! | `x: &T`, `x: &mut T` | a pointer to an object | the same, which is not NULL |
//! | `x: text`, `x: text?` | `*const c_char` | `&str`; an `Option`, `None` for NULL |
//! | `x: bytes[len]` | `*const c_void` and `len: usize` | `&[u8]`, and `len` |
//! | `x: bytes_mut[len]` | `*mut c_void` and `len: usize` | `&mut [u8]`, and `len` |
//! | `x: parameters T` | `*const T`, NULL for all defaults | what `T::check` makes of it |
//! | `x: in_place T` | `*mut T`, a lock or the like which lies where C has put it | what `T::at` makes of it |
//! | `x: out T` | where to write a `T` | `&mut MaybeUninit<T>`, for bodies that write it themselves |
//! | `x: Wait` | `u32`, a `corecast_wait` | the policy |
//! | `timeout_ns: Duration` | `u64`, nanoseconds | `Duration` |
//! | `x: T`, any other type | `T` | the same, unchecked |
//! | `-> (x: T)` | where to write a `T` | nothing; its value is that of the body |
//! | `-> (x: new T)` | where to write a `*mut T` | the same: the body's `T` goes into a box that C owns |
//! | `-> (x: T, y: U)` | both | the same; the value of the body is a pair |
//!
//! `unsafe fn` is for functions that follow pointers which Rust knows nothing of, `text` and what is below it among them, so
//! `safe fn` does not have these. Two more forms are for what does not fit: `=> (T)` behind the arguments is the type that the
//! function returns instead of a status, from a body that gets its arguments as C passes them; and
//! `closing fn corecast_x_close(x: X);` ends an object, or does nothing with NULL.
//!
//! Each file has one `c_functions!`. In tests it also makes a list of the declarations, `DECLARATIONS`, of which
//! [`header`](crate::header) makes `corecast.h`, as cbindgen does not look into macros. rustfmt does not either: keep the bodies
//! in shape by hand.

/// See the [module](crate::c_functions).
macro_rules! c_functions {
    ($(
        $(#[$doc:meta])*
        $kind:ident fn $name:ident($($argument:tt)*) $(-> ($($output:tt)*))? $(=> ($returned:ty))?
            $({$($body:tt)*})? $(;)?
    )*) => {
        $(c_function! {
            $kind {[$(#[$doc])*] $name} [$($argument)*] [$($($output)*)?] [$($returned)?] $({$($body)*})?
        })*

        /// How the header declares them.
        #[cfg(test)]
        pub(crate) const DECLARATIONS: &[&str] = &[$($name::DECLARATION),*];
    };
}

/// One function: chooses the form.
macro_rules! c_function {
    (closing $head:tt [$object:ident: $type:ty] [] []) => {
        c_item! { safe $head [$object: Option<Box<$type>>] [] { $crate::error::finish(|| drop($object)); } }
    };
    ($safety:ident $head:tt [$($argument:tt)*] [] [$returned:ty] $body:block) => {
        c_item! { $safety $head [$($argument)*] [-> $returned] $body }
    };
    ($safety:ident $head:tt [$($argument:tt)*] [$($output:tt)*] [] $body:block) => {
        c_checked! { $safety $head [] {} () [$($argument)*,] {[$($output)*,] $body} }
    };
}

/// Reads arguments and outputs one after the other, and collects the parameters in `[]`, the checks in `{}` and the places for
/// the outputs in `()`. Last come the outputs that are not read yet, with the body.
macro_rules! c_checked {
    ($safety:ident $head:tt [$($parameter:tt)*] {$($check:tt)*} ($($place:expr,)*) [$(,)?] {[$(,)?] $body:block}) => {
        c_item! {
            $safety $head [$($parameter)*] [-> $crate::status::Status] {
                $crate::error::call(|| {
                    $($check)*
                    $crate::argument::Outputs::put(($($place),*), $body);
                    Ok(())
                })
            }
        }
    };

    // Outputs, when no argument is left.
    ($safety:ident $head:tt [$($p:tt)*] $c:tt ($($to:tt)*) [$(,)?] {[$x:ident: new $t:ty, $($rest:tt)*] $body:block}) => {
        c_checked! {
            $safety $head
            [$($p)* $x: Option<&mut std::mem::MaybeUninit<*mut $t>>,]
            $c
            ($($to)* $crate::argument::New($crate::argument::required($x, stringify!($x))?),)
            [] {[$($rest)*] $body}
        }
    };
    ($safety:ident $head:tt [$($p:tt)*] $c:tt ($($to:tt)*) [$(,)?] {[$x:ident: $t:ty, $($rest:tt)*] $body:block}) => {
        c_checked! {
            $safety $head
            [$($p)* $x: Option<&mut std::mem::MaybeUninit<$t>>,]
            $c
            ($($to)* $crate::argument::required($x, stringify!($x))?,)
            [] {[$($rest)*] $body}
        }
    };

    // Arguments that are checked.
    ($safety:ident $head:tt [$($p:tt)*] {$($c:tt)*} () [$x:ident: &mut $t:ty, $($rest:tt)*] $end:tt) => {
        c_checked! {
            $safety $head
            [$($p)* $x: Option<&mut $t>,]
            {$($c)* let $x = $crate::argument::required($x, stringify!($x))?;}
            () [$($rest)*] $end
        }
    };
    ($safety:ident $head:tt [$($p:tt)*] {$($c:tt)*} () [$x:ident: &$t:ty, $($rest:tt)*] $end:tt) => {
        c_checked! {
            $safety $head
            [$($p)* $x: Option<&$t>,]
            {$($c)* let $x = $crate::argument::required($x, stringify!($x))?;}
            () [$($rest)*] $end
        }
    };
    (unsafe $head:tt [$($p:tt)*] {$($c:tt)*} () [$x:ident: text, $($rest:tt)*] $end:tt) => {
        c_checked! {
            unsafe $head
            [$($p)* $x: *const std::ffi::c_char,]
            {
                $($c)*
                // SAFETY: C passes a text.
                let $x = unsafe { $crate::argument::text($x, stringify!($x)) }?;
            }
            () [$($rest)*] $end
        }
    };
    (unsafe $head:tt [$($p:tt)*] {$($c:tt)*} () [$x:ident: text?, $($rest:tt)*] $end:tt) => {
        c_checked! {
            unsafe $head
            [$($p)* $x: *const std::ffi::c_char,]
            {
                $($c)*
                // SAFETY: C passes a text, or NULL.
                let $x = unsafe { $crate::argument::optional_text($x, stringify!($x)) }?;
            }
            () [$($rest)*] $end
        }
    };
    (unsafe $head:tt [$($p:tt)*] {$($c:tt)*} () [$x:ident: bytes[$len:ident], $($rest:tt)*] $end:tt) => {
        c_checked! {
            unsafe $head
            [$($p)* $x: *const std::ffi::c_void, $len: usize,]
            {
                $($c)*
                // SAFETY: C passes `len` bytes, and leaves them as they are for as long as the header asks.
                let $x = unsafe { $crate::argument::bytes($x, $len, stringify!($x)) }?;
            }
            () [$($rest)*] $end
        }
    };
    (unsafe $head:tt [$($p:tt)*] {$($c:tt)*} () [$x:ident: bytes_mut[$len:ident], $($rest:tt)*] $end:tt) => {
        c_checked! {
            unsafe $head
            [$($p)* $x: *mut std::ffi::c_void, $len: usize,]
            {
                $($c)*
                // SAFETY: C passes `len` bytes, which nothing else reaches for as long as the header asks.
                let $x = unsafe { $crate::argument::elements_mut($x.cast::<u8>(), $len, stringify!($x)) }?;
            }
            () [$($rest)*] $end
        }
    };
    (unsafe $head:tt [$($p:tt)*] {$($c:tt)*} () [$x:ident: parameters $t:ty, $($rest:tt)*] $end:tt) => {
        c_checked! {
            unsafe $head
            [$($p)* $x: *const $t,]
            {
                $($c)*
                // SAFETY: C passes parameters, with their size.
                let $x = unsafe { $crate::argument::parameters::<$t>($x, stringify!($x)) }?.check()?;
            }
            () [$($rest)*] $end
        }
    };
    (unsafe $head:tt [$($p:tt)*] {$($c:tt)*} () [$x:ident: in_place $t:ty, $($rest:tt)*] $end:tt) => {
        c_checked! {
            unsafe $head
            [$($p)* $x: *mut $t,]
            {
                $($c)*
                // SAFETY: C passes the address of one.
                let $x = unsafe { <$t>::at($x) }?;
            }
            () [$($rest)*] $end
        }
    };
    ($safety:ident $head:tt [$($p:tt)*] {$($c:tt)*} () [$x:ident: out $t:ty, $($rest:tt)*] $end:tt) => {
        c_checked! {
            $safety $head
            [$($p)* $x: Option<&mut std::mem::MaybeUninit<$t>>,]
            {$($c)* let $x = $crate::argument::required($x, stringify!($x))?;}
            () [$($rest)*] $end
        }
    };
    ($safety:ident $head:tt [$($p:tt)*] {$($c:tt)*} () [$x:ident: Wait, $($rest:tt)*] $end:tt) => {
        c_checked! {
            $safety $head
            [$($p)* $x: u32,]
            {$($c)* let $x = $crate::wait::policy($x, stringify!($x))?;}
            () [$($rest)*] $end
        }
    };
    ($safety:ident $head:tt [$($p:tt)*] {$($c:tt)*} () [$x:ident: Duration, $($rest:tt)*] $end:tt) => {
        c_checked! {
            $safety $head
            [$($p)* $x: u64,]
            {$($c)* let $x = std::time::Duration::from_nanos($x);}
            () [$($rest)*] $end
        }
    };

    // Any other argument.
    ($safety:ident $head:tt [$($p:tt)*] $c:tt () [$x:ident: $t:ty, $($rest:tt)*] $end:tt) => {
        c_checked! { $safety $head [$($p)* $x: $t,] $c () [$($rest)*] $end }
    };
}

/// Writes the function and its declaration.
macro_rules! c_item {
    (safe $head:tt $parameters:tt $returned:tt $body:block) => {
        c_item! { @ $head [extern "C"] $parameters $returned $body }
    };
    (unsafe $head:tt $parameters:tt $returned:tt $body:block) => {
        c_item! { @ $head [unsafe extern "C"] $parameters $returned $body }
    };
    (@ {[$($doc:tt)*] $name:ident} [$($qualifier:tt)*] [$($x:ident: $t:ty),* $(,)?] [$($returned:tt)*] $body:block) => {
        $($doc)*
        #[unsafe(no_mangle)]
        pub $($qualifier)* fn $name($($x: $t),*) $($returned)* $body

        #[cfg(test)]
        mod $name {
            pub(super) const DECLARATION: &str = stringify! {
                $($doc)*
                #[unsafe(no_mangle)]
                pub $($qualifier)* fn $name($($x: $t),*) $($returned)* {}
            };
        }
    };
}
