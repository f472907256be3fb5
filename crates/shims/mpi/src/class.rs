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
        let name = std::str::from_utf8(name).ok()?;
        NAMES.iter().find_map(|(class, names)| names.contains(&name).then_some(*class))
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

/// A type with two names is here under both: libraries differ in which one they report.
const NAMES: [(Class, &[&str]); 7] = [
    (
        Class::CInteger,
        &[
            "INT",
            "LONG",
            "SHORT",
            "UNSIGNED_SHORT",
            "UNSIGNED",
            "UNSIGNED_LONG",
            "LONG_LONG_INT",
            "LONG_LONG",
            "UNSIGNED_LONG_LONG",
            "SIGNED_CHAR",
            "UNSIGNED_CHAR",
            "INT8_T",
            "INT16_T",
            "INT32_T",
            "INT64_T",
            "UINT8_T",
            "UINT16_T",
            "UINT32_T",
            "UINT64_T",
        ],
    ),
    (Class::Integer, &["INTEGER", "INTEGER1", "INTEGER2", "INTEGER4", "INTEGER8", "AINT", "OFFSET", "COUNT"]),
    (Class::Floating, &["FLOAT", "DOUBLE", "REAL", "DOUBLE_PRECISION", "LONG_DOUBLE", "REAL4", "REAL8", "REAL16"]),
    (Class::Logical, &["LOGICAL", "C_BOOL", "CXX_BOOL"]),
    (
        Class::Complex,
        &[
            "COMPLEX",
            "C_COMPLEX",
            "C_FLOAT_COMPLEX",
            "C_DOUBLE_COMPLEX",
            "C_LONG_DOUBLE_COMPLEX",
            "CXX_FLOAT_COMPLEX",
            "CXX_DOUBLE_COMPLEX",
            "CXX_LONG_DOUBLE_COMPLEX",
            "DOUBLE_COMPLEX",
            "COMPLEX8",
            "COMPLEX16",
            "COMPLEX32",
        ],
    ),
    (Class::Byte, &["BYTE"]),
    (
        Class::Pair,
        &[
            "FLOAT_INT",
            "DOUBLE_INT",
            "LONG_INT",
            "2INT",
            "SHORT_INT",
            "LONG_DOUBLE_INT",
            "2REAL",
            "2DOUBLE_PRECISION",
            "2INTEGER",
        ],
    ),
];

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
