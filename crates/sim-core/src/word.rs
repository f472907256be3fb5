//! A word of the program's memory, which the simulation reads and writes in the place of the program.

/// A word: an address, and a size of 1, 2, 4 or 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    address: usize,
    bytes: u8,
}

impl Word {
    /// The word at `pointer`.
    ///
    /// # Safety
    /// - `T` has 1, 2, 4 or 8 bytes without padding, and may have any value.
    /// - The word lies in memory that may be written by all threads, and stays there until every store to it is done, which
    ///   [`Thread::wait_for_stores`](crate::Thread::wait_for_stores) waits for.
    /// - Only this thread of the host, on which all simulated threads run, accesses it meanwhile.
    #[must_use]
    pub unsafe fn of<T>(pointer: *mut T) -> Self {
        let bytes = size_of::<T>();
        assert!(matches!(bytes, 1 | 2 | 4 | 8), "a word has 1, 2, 4 or 8 bytes, and not {bytes}");
        Self { address: pointer.expose_provenance(), bytes: bytes as u8 }
    }

    /// Its address.
    #[must_use]
    pub fn address(self) -> usize {
        self.address
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.address < other.address + usize::from(other.bytes)
            && other.address < self.address + usize::from(self.bytes)
    }

    pub(crate) fn read(self) -> u64 {
        macro_rules! read {
            ($type:ty) => {
                // SAFETY: whoever made the word has promised that it is one of this size that nobody else writes.
                unsafe { std::ptr::with_exposed_provenance::<$type>(self.address).read() }.into()
            };
        }
        match self.bytes {
            1 => read!(u8),
            2 => read!(u16),
            4 => read!(u32),
            _ => read!(u64),
        }
    }

    pub(crate) fn write(self, value: u64) {
        macro_rules! write {
            ($type:ty) => {
                // SAFETY: whoever made the word has promised that it is one of this size that nobody else accesses.
                unsafe { std::ptr::with_exposed_provenance_mut::<$type>(self.address).write(value as $type) }
            };
        }
        match self.bytes {
            1 => write!(u8),
            2 => write!(u16),
            4 => write!(u32),
            _ => write!(u64),
        }
    }
}
