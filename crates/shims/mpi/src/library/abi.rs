//! The constants of the three binary interfaces: Open MPI, MPICH with its kin, and the standard one of MPI 5.
//!
//! Open MPI's handles are addresses of variables, found by their names. MPICH and Intel MPI have 32-bit numbers, and the standard
//! interface small ones in the width of an address. A test compares this table with the headers that are installed.

use std::ffi::{CStr, c_int};

use super::find::Source;

/// A handle of any interface: an address or a number.
pub(crate) type Handle = usize;

/// The binary interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interface {
    /// Open MPI, to version 5 at least.
    OpenMpi,
    /// MPICH from version 3.1 on, and libraries that agreed on its interface, such as Intel MPI.
    Mpich,
    /// The interface of the MPI 5 standard.
    Standard,
}

/// A handle that is predefined.
struct Predefined {
    /// Its name in headers.
    #[cfg_attr(not(test), expect(dead_code, reason = "the test compares it with headers"))]
    name: &'static str,
    /// Open MPI's variable.
    open_mpi: &'static CStr,
    mpich: Handle,
    standard: Handle,
}

/// Operations that are predefined for reductions.
const OPERATIONS: usize = 12;
/// The place of `MPI_BOR` among them.
const BOR: usize = 7;

macro_rules! table {
    ($($name:literal $open_mpi:literal $mpich:literal $standard:literal;)*) => {
        [$(Predefined { name: $name, open_mpi: $open_mpi, mpich: $mpich, standard: $standard },)*]
    };
}

static HANDLES: [Predefined; 4] = table! {
    "MPI_COMM_SELF" c"ompi_mpi_comm_self" 0x4400_0001 0x102;
    "MPI_COMM_NULL" c"ompi_mpi_comm_null" 0x0400_0000 0x100;
    "MPI_DATATYPE_NULL" c"ompi_mpi_datatype_null" 0x0c00_0000 0x200;
    "MPI_BYTE" c"ompi_mpi_byte" 0x4c00_010d 0x247;
};

static OPERATION_HANDLES: [Predefined; OPERATIONS] = table! {
    "MPI_MAX" c"ompi_mpi_op_max" 0x5800_0001 0x23;
    "MPI_MIN" c"ompi_mpi_op_min" 0x5800_0002 0x22;
    "MPI_SUM" c"ompi_mpi_op_sum" 0x5800_0003 0x21;
    "MPI_PROD" c"ompi_mpi_op_prod" 0x5800_0004 0x24;
    "MPI_LAND" c"ompi_mpi_op_land" 0x5800_0005 0x30;
    "MPI_BAND" c"ompi_mpi_op_band" 0x5800_0006 0x28;
    "MPI_LOR" c"ompi_mpi_op_lor" 0x5800_0007 0x31;
    "MPI_BOR" c"ompi_mpi_op_bor" 0x5800_0008 0x29;
    "MPI_LXOR" c"ompi_mpi_op_lxor" 0x5800_0009 0x32;
    "MPI_BXOR" c"ompi_mpi_op_bxor" 0x5800_000a 0x2a;
    "MPI_MINLOC" c"ompi_mpi_op_minloc" 0x5800_000b 0x38;
    "MPI_MAXLOC" c"ompi_mpi_op_maxloc" 0x5800_000c 0x39;
};

/// The constants of a library.
pub(crate) struct Constants {
    interface: Interface,
    pub(crate) comm_self: Handle,
    pub(crate) comm_null: Handle,
    pub(crate) datatype_null: Handle,
    pub(crate) byte: Handle,
    pub(crate) bor: Handle,
    operations: [Handle; OPERATIONS],
    pub(crate) in_place: usize,
    pub(crate) status_ignore: usize,
    pub(crate) any_source: c_int,
    pub(crate) any_tag: c_int,
    pub(crate) combiner_named: c_int,
}

impl Constants {
    /// The constants of the library there; `None` if it lacks one.
    pub(super) fn of(source: &Source) -> Option<Self> {
        let interface = Interface::of(source);
        let handle = |predefined: &Predefined| interface.handle(predefined, source);
        let [comm_self, comm_null, datatype_null, byte] = all(HANDLES.each_ref().map(handle))?;
        let operations = all(OPERATION_HANDLES.each_ref().map(handle))?;
        let Numbers { in_place, status_ignore, any_source, any_tag, combiner_named } = interface.numbers();
        Some(Self {
            interface,
            comm_self,
            comm_null,
            datatype_null,
            byte,
            bor: operations[BOR],
            operations,
            in_place: in_place as usize,
            status_ignore,
            any_source,
            any_tag,
            combiner_named,
        })
    }

    /// A handle as the library made it: callers of an interface with 32-bit handles leave anything in the upper half.
    #[inline]
    pub(crate) fn handle(&self, passed: Handle) -> Handle {
        if self.interface == Interface::Mpich { passed & 0xffff_ffff } else { passed }
    }

    /// True for Open MPI.
    pub(crate) fn is_open_mpi(&self) -> bool {
        self.interface == Interface::OpenMpi
    }

    /// True for operations that the standard defines.
    #[inline]
    pub(crate) fn is_predefined(&self, op: Handle) -> bool {
        self.operations.contains(&op)
    }
}

/// The constants that are no handles.
struct Numbers {
    in_place: isize,
    status_ignore: usize,
    any_source: c_int,
    any_tag: c_int,
    combiner_named: c_int,
}

impl Interface {
    fn of(source: &Source) -> Self {
        if !source.variable(c"ompi_mpi_byte").is_null() {
            return Self::OpenMpi;
        }
        // Libraries of both interfaces have the same functions, so the library's name decides.
        let is_standard = source.file_name().is_some_and(|name| name.starts_with("libmpi_abi."));
        if is_standard { Self::Standard } else { Self::Mpich }
    }

    fn handle(self, predefined: &Predefined, source: &Source) -> Option<Handle> {
        match self {
            Self::OpenMpi => Some(source.variable(predefined.open_mpi).addr()).filter(|&address| address != 0),
            Self::Mpich => Some(predefined.mpich),
            Self::Standard => Some(predefined.standard),
        }
    }

    fn numbers(self) -> Numbers {
        let [in_place, status_ignore, any_source, any_tag, combiner_named] = match self {
            Self::OpenMpi => [1, 0, -1, -1, 0],
            Self::Mpich => [-1, 1, -2, -1, 1],
            Self::Standard => [1, 0, -1, -2, 101],
        };
        Numbers {
            in_place: in_place as isize,
            status_ignore: status_ignore as usize,
            any_source,
            any_tag,
            combiner_named,
        }
    }
}

fn all<const N: usize>(handles: [Option<Handle>; N]) -> Option<[Handle; N]> {
    let found = handles.iter().flatten().count() == N;
    found.then(|| handles.map(|handle| handle.expect("all were counted")))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    /// The numbers of an interface, with their names in headers.
    fn named(interface: Interface) -> [(&'static str, i64); 5] {
        let Numbers { in_place, status_ignore, any_source, any_tag, combiner_named } = interface.numbers();
        [
            ("MPI_IN_PLACE", in_place as i64),
            ("MPI_STATUS_IGNORE", status_ignore as i64),
            ("MPI_ANY_SOURCE", any_source.into()),
            ("MPI_ANY_TAG", any_tag.into()),
            ("MPI_COMBINER_NAMED", combiner_named.into()),
        ]
    }

    /// A program that says which constants differ from the table.
    fn probe(interface: Interface) -> String {
        let mut lines = String::from("#include <mpi.h>\n#include <stdio.h>\nint main(void) {\nint wrong = 0;\n");
        let mut add = |name: &str, expected: &str| {
            let line = format!(
                "if ((long)({name}) != (long)({expected})) wrong = 1, printf(\"{name} is %#lx\\n\", (long)({name}));\n"
            );
            lines.push_str(&line);
        };
        for handle in HANDLES.iter().chain(&OPERATION_HANDLES) {
            let symbol = handle.open_mpi.to_str().expect("an identifier");
            match interface {
                Interface::OpenMpi => add(handle.name, &format!("&{symbol}")),
                Interface::Mpich => add(handle.name, &handle.mpich.to_string()),
                Interface::Standard => add(handle.name, &handle.standard.to_string()),
            }
        }
        for (name, value) in named(interface) {
            add(name, &value.to_string());
        }
        lines.push_str("return wrong;\n}\n");
        lines
    }

    /// Builds and runs the probe; `None` if the compiler is missing.
    fn differences(interface: Interface, compiler: &str, folder: &Path) -> Option<String> {
        let (source, program) = (folder.join("probe.c"), folder.join("probe"));
        std::fs::write(&source, probe(interface)).expect("a file");
        let built = Command::new(compiler).arg("-w").arg("-o").arg(&program).arg(&source).output().ok()?;
        assert!(built.status.success(), "{compiler}: {}", String::from_utf8_lossy(&built.stderr));
        let told = Command::new(program).output().expect("it was built");
        Some(String::from_utf8_lossy(&told.stdout).into_owned())
    }

    #[test]
    fn the_table_says_what_installed_headers_say() {
        let folder = tempfile::tempdir().expect("a folder");
        for (interface, compiler) in [(Interface::OpenMpi, "mpicc.openmpi"), (Interface::Mpich, "mpicc.mpich")] {
            match differences(interface, compiler, folder.path()) {
                Some(told) => assert_eq!(told, "", "{interface:?}"),
                None => corecast_testing::skipped(&format!("constants of {interface:?}"), "its compiler is missing"),
            }
        }
    }

    #[test]
    fn handles_of_32_bits_lose_what_callers_left_above() {
        let constants = |interface| Constants {
            interface,
            comm_self: 0,
            comm_null: 0,
            datatype_null: 0,
            byte: 0,
            bor: 0,
            operations: OPERATION_HANDLES.each_ref().map(|operation| operation.mpich),
            in_place: 0,
            status_ignore: 0,
            any_source: 0,
            any_tag: 0,
            combiner_named: 0,
        };
        let passed = 0xdead_beef_4400_0000;
        assert_eq!(constants(Interface::Mpich).handle(passed), 0x4400_0000);
        assert_eq!(constants(Interface::OpenMpi).handle(passed), passed);
        let mpich = constants(Interface::Mpich);
        assert!(mpich.is_predefined(0x5800_0003) && !mpich.is_predefined(0x5800_000d));
    }
}
