//! Size and layout of a datatype.

use std::cell::Cell;
use std::ffi::c_int;

use crate::class::Class;
use crate::library::{Handle, Library, SUCCESS};

/// The properties of a datatype that count here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Datatype {
    pub(crate) handle: Handle,
    /// The bytes of data of one element.
    pub(crate) size: usize,
    /// The distance of elements, in bytes.
    pub(crate) extent: usize,
    /// True for types that the standard names.
    is_named: bool,
    /// Of those: what operations take it.
    pub(crate) class: Option<Class>,
}

/// The named types that a thread remembers.
const REMEMBERED: usize = 4;

const NONE: Datatype = Datatype { handle: 0, size: 0, extent: 0, is_named: false, class: None };

thread_local! {
    /// The last named types that this thread has used. Others are asked for each time, as their handles may be freed and
    /// given anew.
    static LAST: Cell<[Datatype; REMEMBERED]> = const { Cell::new([NONE; REMEMBERED]) };
}

impl Datatype {
    /// The datatype of this handle; `None` for one that is none.
    #[inline]
    pub(crate) fn of(library: &Library, handle: Handle) -> Option<Self> {
        let is_it = |datatype: &Self| datatype.handle == handle && datatype.is_named;
        // One by one: a copy of all takes 160 bytes.
        let known = LAST.with(|last| {
            let last: &Cell<[Self]> = last;
            last.as_slice_of_cells().iter().map(Cell::get).find(is_it)
        });
        known.or_else(|| Self::ask(library, handle))
    }

    #[cold]
    fn ask(library: &Library, handle: Handle) -> Option<Self> {
        // The library tells of an invalid handle by the error handler of another communicator than that of the call.
        if handle == library.constants.datatype_null {
            return None;
        }
        let functions = &library.functions;
        let (mut integers, mut addresses, mut datatypes, mut combiner): (c_int, c_int, c_int, c_int) = (0, 0, 0, 0);
        let (mut size, mut lower_bound, mut extent) = (0, 0, 0);
        let is_known = {
            // SAFETY: the library's own function, and a place for each answer.
            let code = unsafe {
                (functions.type_get_envelope)(handle, &mut integers, &mut addresses, &mut datatypes, &mut combiner)
            };
            code == SUCCESS
        };
        // SAFETY: the same.
        let has_size = is_known && unsafe { (functions.type_size)(handle, &mut size) } == SUCCESS;
        // SAFETY: the same.
        let has_extent =
            has_size && unsafe { (functions.type_get_extent)(handle, &mut lower_bound, &mut extent) } == SUCCESS;
        if !has_extent {
            return None;
        }
        let is_named = combiner == library.constants.combiner_named;
        let (size, extent) = (usize::try_from(size).ok()?, usize::try_from(extent).unwrap_or(0));
        let class = if is_named { class_of(library, handle) } else { None };
        let datatype = Self { handle, size, extent, is_named, class };
        if is_named {
            datatype.remember();
        }
        Some(datatype)
    }

    fn remember(self) {
        let mut last = LAST.get();
        last.rotate_right(1);
        last[0] = self;
        LAST.set(last);
    }

    /// True if elements lie side by side, as the data of the type does in a message.
    #[inline]
    pub(crate) fn is_contiguous(&self) -> bool {
        self.is_named && self.size == self.extent
    }

    /// The bytes of data of that many elements; `None` for a number that is none.
    #[inline]
    pub(crate) fn data_bytes(&self, count: i64) -> Option<usize> {
        usize::try_from(count).ok()?.checked_mul(self.size)
    }
}

/// The bytes of the longest name of any library, and more.
const LONGEST_NAME: usize = 512;

/// The class of a type that the standard names.
fn class_of(library: &Library, handle: Handle) -> Option<Class> {
    let (mut name, mut len) = ([0_u8; LONGEST_NAME], 0);
    // SAFETY: the library's own function; room for a name, and for its length.
    let code = unsafe { (library.functions.type_get_name)(handle, name.as_mut_ptr().cast(), &mut len) };
    let name = name.get(..usize::try_from(len).ok()?)?;
    Class::of(name.strip_prefix(b"MPI_")?).filter(|_| code == SUCCESS)
}
