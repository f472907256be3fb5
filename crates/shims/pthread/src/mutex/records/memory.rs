//! A look at memory that may be gone.
//!
//! The system copies what is there and says where there is nothing; a load would end the program.

use std::ptr;

/// Words that are read at an address.
pub(super) const WORDS: usize = 4;
const BYTES: usize = WORDS * size_of::<u64>();
/// Addresses that are read by one call of the system.
pub(super) const MOST: usize = 64;

/// The words at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    Words([u64; WORDS]),
    /// Nothing is mapped there.
    Nothing,
    /// The system does not tell. The program may have closed the memory for a while.
    Unknown,
}

/// The first words at each of these addresses, of which there are at most [`MOST`].
pub(super) fn look(addresses: &[usize]) -> [Seen; MOST] {
    let (mut seen, mut words) = ([Seen::Unknown; MOST], [[0; WORDS]; MOST]);
    // The system takes in all addresses of a call, also those behind one that cannot be read: after such a one the next calls are
    // for a few.
    let (mut at, mut run) = (0, MOST);
    while at < addresses.len().min(MOST) {
        let some = &addresses[at..][..run.min(addresses.len() - at)];
        let Some(whole) = copy(some, &mut words) else { break };
        for (into, &words) in seen[at..].iter_mut().zip(&words).take(whole) {
            *into = Seen::Words(words);
        }
        at += whole;
        run = MOST.min(2 * run);
        if whole < some.len() {
            if is_unmapped(addresses[at]) {
                seen[at] = Seen::Nothing;
            }
            at += 1;
            run = 1;
        }
    }
    seen
}

/// Copies the words at as many of these addresses as can be read one after the other; `None` if the system copies nothing.
fn copy(addresses: &[usize], words: &mut [[u64; WORDS]; MOST]) -> Option<usize> {
    let empty = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
    let (mut there, count) = ([empty; MOST], addresses.len().min(MOST));
    for (part, &address) in there.iter_mut().zip(addresses) {
        *part = libc::iovec { iov_base: ptr::without_provenance_mut(address), iov_len: BYTES };
    }
    let here = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: count * BYTES };
    // SAFETY: asks for the number of this process.
    let me = unsafe { libc::getpid() };
    // SAFETY: room for all that is copied; the system looks whether the other addresses can be read.
    let copied = unsafe { libc::process_vm_readv(me, &here, 1, there.as_ptr(), count as libc::c_ulong, 0) };
    match usize::try_from(copied) {
        Ok(bytes) => Some(bytes / BYTES),
        Err(_) => (std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT)).then_some(0),
    }
}

fn is_unmapped(address: usize) -> bool {
    const PAGE: usize = 4096;
    let (first, last) = (address & !(PAGE - 1), (address + BYTES - 1) & !(PAGE - 1));
    let mut pages = [0; 2];
    // SAFETY: room for the answers of two pages; the system looks whether they are there.
    let code = unsafe { libc::mincore(ptr::without_provenance_mut(first), last - first + PAGE, pages.as_mut_ptr()) };
    code != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOMEM)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = 1 << 16;

    #[test]
    fn memory_is_seen_as_it_is_or_as_gone_or_closed() {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory.
        let mapped = unsafe { libc::mmap(ptr::null_mut(), LEN, access, flags, -1, 0) };
        assert_ne!(mapped, libc::MAP_FAILED);
        // SAFETY: the middle of it.
        let closed = unsafe { mapped.byte_add(LEN / 2) };
        // SAFETY: whole pages of it, which nobody uses.
        assert_eq!(unsafe { libc::mprotect(closed, LEN / 2, libc::PROT_NONE) }, 0);
        let value = [1_u64, 2, 3, 4];
        let here = value.as_ptr().addr();
        let [open, closed] = [mapped.addr(), closed.addr()];
        let addresses = [here, open, 64, closed, here, open, 64, 128, here];
        let seen = look(&addresses);
        if seen[0] == Seen::Unknown {
            return corecast_testing::skipped("a look at memory", "the system copies none");
        }
        let (ours, zeroes, nothing) = (Seen::Words(value), Seen::Words([0; 4]), Seen::Nothing);
        let expected = [ours, zeroes, nothing, Seen::Unknown, ours, zeroes, nothing, nothing, ours];
        assert_eq!(seen[..addresses.len()], expected);
        assert_eq!(look(&[closed - 8])[0], Seen::Unknown, "one half of it is closed");
        // SAFETY: mapped above, and used no more.
        unsafe { libc::munmap(mapped, LEN) };
        assert_eq!(look(&[open, here])[..2], [Seen::Nothing, ours]);
    }
}
