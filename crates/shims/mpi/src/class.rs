//! Which operations of the standard take which of its types.
//!
//! `PMPI_Reduce_local` tells of a combination that is none by the error handler of `MPI_COMM_WORLD`, which ends the program, and
//! not by that of the call's communicator. So such calls pass, and those with types that are not in the table, which a library
//! may take beyond the standard.
//!
//! Types are known by their names, which are the same in all libraries, as handles are not. A program may give a standard type
//! another name (nobody does); it has to do that at all ranks.
//!
//! Source: MPI Forum, MPI 4.1, section on predefined reduction operations.

use corecast_mpi_engine::abi::Operation;

/// Types that the same operations take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    CInteger,
    /// Integers of Fortran, and those that the languages share.
    Integer,
    Floating,
    Logical,
    Complex,
    Byte,
    /// A value and a place.
    Pair,
}

impl Class {
    /// The class of the type of this name, without the prefix `MPI_`; `None` for types that no operation takes, and unknown
    /// ones.
    pub(crate) fn of(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"INT"
            | b"LONG"
            | b"SHORT"
            | b"UNSIGNED_SHORT"
            | b"UNSIGNED"
            | b"UNSIGNED_LONG"
            | b"LONG_LONG_INT"
            | b"LONG_LONG"
            | b"UNSIGNED_LONG_LONG"
            | b"SIGNED_CHAR"
            | b"UNSIGNED_CHAR"
            | b"INT8_T"
            | b"INT16_T"
            | b"INT32_T"
            | b"INT64_T"
            | b"UINT8_T"
            | b"UINT16_T"
            | b"UINT32_T"
            | b"UINT64_T" => Self::CInteger,
            b"INTEGER" | b"INTEGER1" | b"INTEGER2" | b"INTEGER4" | b"INTEGER8" | b"AINT" | b"OFFSET" | b"COUNT" => {
                Self::Integer
            }
            b"FLOAT" | b"DOUBLE" | b"REAL" | b"DOUBLE_PRECISION" | b"LONG_DOUBLE" | b"REAL4" | b"REAL8" | b"REAL16" => {
                Self::Floating
            }
            b"LOGICAL" | b"C_BOOL" | b"CXX_BOOL" => Self::Logical,
            b"COMPLEX"
            | b"C_COMPLEX"
            | b"C_FLOAT_COMPLEX"
            | b"C_DOUBLE_COMPLEX"
            | b"C_LONG_DOUBLE_COMPLEX"
            | b"CXX_FLOAT_COMPLEX"
            | b"CXX_DOUBLE_COMPLEX"
            | b"CXX_LONG_DOUBLE_COMPLEX"
            | b"DOUBLE_COMPLEX"
            | b"COMPLEX8"
            | b"COMPLEX16"
            | b"COMPLEX32" => Self::Complex,
            b"BYTE" => Self::Byte,
            b"FLOAT_INT" | b"DOUBLE_INT" | b"LONG_INT" | b"2INT" | b"SHORT_INT" | b"LONG_DOUBLE_INT" | b"2REAL"
            | b"2DOUBLE_PRECISION" | b"2INTEGER" => Self::Pair,
            _ => return None,
        })
    }

    /// True if the operation takes types of this class.
    pub(crate) fn takes(self, operation: Operation) -> bool {
        match operation {
            Operation::Max | Operation::Min => matches!(self, Self::CInteger | Self::Integer | Self::Floating),
            Operation::Sum | Operation::Prod => {
                matches!(self, Self::CInteger | Self::Integer | Self::Floating | Self::Complex)
            }
            Operation::Land | Operation::Lor | Operation::Lxor => matches!(self, Self::CInteger | Self::Logical),
            Operation::Band | Operation::Bor | Operation::Bxor => {
                matches!(self, Self::CInteger | Self::Integer | Self::Byte)
            }
            Operation::MinLoc | Operation::MaxLoc => self == Self::Pair,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_take_the_types_of_the_standard() {
        let takes = |name: &[u8], operation| Class::of(name).is_some_and(|class| class.takes(operation));
        assert!(takes(b"INT", Operation::Land) && takes(b"INT", Operation::Bxor) && takes(b"DOUBLE", Operation::Prod));
        assert!(takes(b"2INT", Operation::MaxLoc) && takes(b"BYTE", Operation::Bor) && takes(b"AINT", Operation::Min));
        assert!(!takes(b"DOUBLE", Operation::Band) && !takes(b"BYTE", Operation::Sum));
        assert!(!takes(b"C_COMPLEX", Operation::Max) && !takes(b"INTEGER", Operation::Lor));
        assert!(!takes(b"INT", Operation::MinLoc) && !takes(b"2INT", Operation::Sum));
        for name in [&b"CHAR"[..], b"PACKED", b"", b"LONG_LONGER"] {
            assert_eq!(Class::of(name), None);
        }
    }
}
