//! Whether ThreadSanitizer watches the process.

// The address of the runtime's entry, or 0: the loader fills it in. To ask the loader for a name that is missing would allocate,
// and an allocator may lock a mutex, which asks for this.
std::arch::global_asm!(
    ".weak __tsan_init",
    ".pushsection .data.rel.ro,\"aw\"",
    ".balign 8",
    ".globl corecast_preload_tsan_init",
    ".hidden corecast_preload_tsan_init",
    "corecast_preload_tsan_init: .quad __tsan_init",
    ".popsection",
);

unsafe extern "C" {
    #[link_name = "corecast_preload_tsan_init"]
    static TSAN_INIT: usize;
}

/// True if ThreadSanitizer's runtime is in the process. It has to see what orders the program's threads: an object that orders
/// them in its place, unseen, makes it report races that are none. It also finds the C library's functions behind an object by
/// their versions, so that it would mix them with the object's.
#[must_use]
pub fn is_watched() -> bool {
    // SAFETY: the word above, which nobody writes once the loader has.
    let address = unsafe { TSAN_INIT };
    address != 0
}
