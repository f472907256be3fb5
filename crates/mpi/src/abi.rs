//! The constants of the three binary interfaces: Open MPI, MPICH with its kin, and the standard one of MPI 5.
//!
//! Open MPI's handles are addresses of variables, found by their names. MPICH and Intel MPI have 32-bit numbers, and the standard
//! interface small ones in the width of an address. Both the engine and the preload object of `shims/mpi` read this table. A test
//! compares it with the headers that are installed. Source: MPI Forum, MPI 5.0, chapter on the application binary interface.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;

/// A handle of any interface: an address or a number.
pub type Handle = usize;

/// The code of success, in every interface.
pub const SUCCESS: c_int = 0;

/// The binary interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Abi {
    /// Open MPI, to version 5 at least.
    OpenMpi,
    /// MPICH from version 3.1 on, and libraries that agreed on its interface, such as Intel MPI and Cray's.
    Mpich,
    /// The interface of the MPI 5 standard.
    Standard,
}

impl fmt::Display for Abi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
            Self::Standard => "standard (MPI 5)",
        })
    }
}

/// The place where a library's symbols are looked up.
pub trait Symbols {
    /// The address of the function of this name, null if there is none.
    fn function(&self, name: &CStr) -> *mut c_void;
    /// The address of the variable of this name, null if there is none.
    fn variable(&self, name: &CStr) -> *mut c_void;
    /// The name of the file that the library was loaded from, without its folder.
    fn file_name(&self) -> Option<String>;
}

/// The types of elements that the engine reduces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the type of its name")]
pub enum Scalar {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

/// The operations that the standard defines for reductions, without the prefix `MPI_`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the operation of its name")]
pub enum Operation {
    Max,
    Min,
    Sum,
    Prod,
    Land,
    Band,
    Lor,
    Bor,
    Lxor,
    Bxor,
    MinLoc,
    MaxLoc,
}

impl Operation {
    const ALL: [Self; OPERATIONS] = [
        Self::Max,
        Self::Min,
        Self::Sum,
        Self::Prod,
        Self::Land,
        Self::Band,
        Self::Lor,
        Self::Bor,
        Self::Lxor,
        Self::Bxor,
        Self::MinLoc,
        Self::MaxLoc,
    ];
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

const OPERATIONS: usize = 12;
const SCALARS: usize = 10;

macro_rules! table {
    ($($name:literal $open_mpi:literal $mpich:literal $standard:literal;)*) => {
        [$(Predefined { name: $name, open_mpi: $open_mpi, mpich: $mpich, standard: $standard },)*]
    };
}

static HANDLES: [Predefined; 7] = table! {
    "MPI_COMM_WORLD" c"ompi_mpi_comm_world" 0x4400_0000 0x101;
    "MPI_COMM_SELF" c"ompi_mpi_comm_self" 0x4400_0001 0x102;
    "MPI_COMM_NULL" c"ompi_mpi_comm_null" 0x0400_0000 0x100;
    "MPI_DATATYPE_NULL" c"ompi_mpi_datatype_null" 0x0c00_0000 0x200;
    "MPI_BYTE" c"ompi_mpi_byte" 0x4c00_010d 0x247;
    "MPI_REQUEST_NULL" c"ompi_request_null" 0x2c00_0000 0x180;
    "MPI_ERRORS_RETURN" c"ompi_mpi_errors_return" 0x5400_0001 0x143;
};

/// In the order of [`Operation`].
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

/// In the order of [`Scalar`].
static SCALAR_HANDLES: [Predefined; SCALARS] = table! {
    "MPI_INT8_T" c"ompi_mpi_int8_t" 0x4c00_0137 0x240;
    "MPI_INT16_T" c"ompi_mpi_int16_t" 0x4c00_0238 0x248;
    "MPI_INT32_T" c"ompi_mpi_int32_t" 0x4c00_0439 0x250;
    "MPI_INT64_T" c"ompi_mpi_int64_t" 0x4c00_083a 0x258;
    "MPI_UINT8_T" c"ompi_mpi_uint8_t" 0x4c00_013b 0x241;
    "MPI_UINT16_T" c"ompi_mpi_uint16_t" 0x4c00_023c 0x249;
    "MPI_UINT32_T" c"ompi_mpi_uint32_t" 0x4c00_043d 0x251;
    "MPI_UINT64_T" c"ompi_mpi_uint64_t" 0x4c00_083e 0x259;
    "MPI_FLOAT" c"ompi_mpi_float" 0x4c00_040a 0x210;
    "MPI_DOUBLE" c"ompi_mpi_double" 0x4c00_080b 0x214;
};

/// The constants of a library.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "each field is the constant of its name in headers, without the prefix MPI_")]
pub struct Constants {
    /// The interface that they are of.
    pub abi: Abi,
    pub comm_world: Handle,
    pub comm_self: Handle,
    pub comm_null: Handle,
    pub datatype_null: Handle,
    pub byte: Handle,
    pub request_null: Handle,
    pub errors_return: Handle,
    operations: [Handle; OPERATIONS],
    scalars: [Handle; SCALARS],
    pub in_place: usize,
    pub status_ignore: usize,
    pub any_source: c_int,
    pub any_tag: c_int,
    pub combiner_named: c_int,
    pub thread_serialized: c_int,
    /// The offset of `MPI_SOURCE` in a status, in words of 32 bits.
    pub status_source: usize,
}

impl Constants {
    /// The constants of the library there; `None` if it lacks one, or its interface is unknown.
    #[must_use]
    pub fn of(symbols: &dyn Symbols) -> Option<Self> {
        let abi = Abi::of(symbols)?;
        let handle = |predefined: &Predefined| abi.handle(predefined, symbols);
        let [comm_world, comm_self, comm_null, datatype_null, byte, request_null, errors_return] =
            all(HANDLES.each_ref().map(handle))?;
        let numbers = abi.numbers();
        Some(Self {
            abi,
            comm_world,
            comm_self,
            comm_null,
            datatype_null,
            byte,
            request_null,
            errors_return,
            operations: all(OPERATION_HANDLES.each_ref().map(handle))?,
            scalars: all(SCALAR_HANDLES.each_ref().map(handle))?,
            in_place: numbers.in_place as usize,
            status_ignore: numbers.status_ignore,
            any_source: numbers.any_source,
            any_tag: numbers.any_tag,
            combiner_named: numbers.combiner_named,
            thread_serialized: numbers.thread_serialized,
            status_source: numbers.status_source,
        })
    }

    /// A handle as the library made it: callers of an interface with 32-bit handles leave anything in the upper half.
    #[inline]
    #[must_use]
    pub fn handle(&self, passed: Handle) -> Handle {
        if self.abi == Abi::Mpich { passed & 0xffff_ffff } else { passed }
    }

    /// True for Open MPI.
    #[must_use]
    pub fn is_open_mpi(&self) -> bool {
        self.abi == Abi::OpenMpi
    }

    /// True of the address that stands for `MPI_IN_PLACE`.
    #[inline]
    #[must_use]
    pub fn is_in_place(&self, buffer: *const c_void) -> bool {
        buffer.addr() == self.in_place
    }

    /// The operation of this handle; `None` if it is none that the standard defines.
    #[inline]
    #[must_use]
    pub fn operation_of(&self, op: Handle) -> Option<Operation> {
        self.operations.iter().zip(Operation::ALL).find_map(|(&known, operation)| (known == op).then_some(operation))
    }

    /// The handle of an operation.
    #[must_use]
    pub fn operation(&self, operation: Operation) -> Handle {
        self.operations[operation as usize]
    }

    /// The datatype of an element.
    #[must_use]
    pub fn scalar(&self, scalar: Scalar) -> Handle {
        self.scalars[scalar as usize]
    }
}

/// The constants that are no handles.
struct Numbers {
    in_place: isize,
    status_ignore: usize,
    any_source: c_int,
    any_tag: c_int,
    combiner_named: c_int,
    thread_serialized: c_int,
    status_source: usize,
}

impl Abi {
    /// The interface of the library there; `None` if it is none of the three. Libraries of the standard interface have that in
    /// their names, as their functions are those of the others; MPICH and its kin say in their version that they are.
    #[must_use]
    pub fn of(symbols: &dyn Symbols) -> Option<Self> {
        if symbols.file_name().is_some_and(|name| name.starts_with("libmpi_abi.")) {
            return Some(Self::Standard);
        }
        if !symbols.variable(c"ompi_mpi_byte").is_null() {
            return Some(Self::OpenMpi);
        }
        is_of_mpich(&version(symbols)?).then_some(Self::Mpich)
    }

    fn handle(self, predefined: &Predefined, symbols: &dyn Symbols) -> Option<Handle> {
        match self {
            Self::OpenMpi => Some(symbols.variable(predefined.open_mpi).addr()).filter(|&address| address != 0),
            Self::Mpich => Some(predefined.mpich),
            Self::Standard => Some(predefined.standard),
        }
    }

    fn numbers(self) -> Numbers {
        let [in_place, status_ignore, any_source, any_tag, combiner_named, thread_serialized, status_source] =
            match self {
                Self::OpenMpi => [1, 0, -1, -1, 0, 2, 0],
                Self::Mpich => [-1, 1, -2, -1, 1, 2, 2],
                Self::Standard => [1, 0, -1, -2, 101, 2048, 0],
            };
        Numbers {
            in_place: in_place as isize,
            status_ignore: status_ignore as usize,
            any_source,
            any_tag,
            combiner_named,
            thread_serialized,
            status_source: status_source as usize,
        }
    }
}

/// The room for a version, in bytes: the largest `MPI_MAX_LIBRARY_VERSION_STRING` is 8,192.
const MAX_VERSION: usize = 16_384;

/// The library's own words about itself; it may be asked before it is initialised.
fn version(symbols: &dyn Symbols) -> Option<String> {
    let found = symbols.function(c"PMPI_Get_library_version");
    if found.is_null() {
        return None;
    }
    // SAFETY: the MPI standard gives the function of this name this signature.
    let ask =
        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int>(found) };
    let (mut text, mut length) = (vec![0u8; MAX_VERSION], 0);
    // SAFETY: room for the longest version and for its length.
    if unsafe { ask(text.as_mut_ptr().cast(), &mut length) } != SUCCESS {
        return None;
    }
    let text = CStr::from_bytes_until_nul(&text).ok()?;
    Some(text.to_string_lossy().into_owned())
}

/// True of the libraries that share MPICH's interface. MPItrampoline and others that wrap MPICH name it further behind.
fn is_of_mpich(version: &str) -> bool {
    let names = ["MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation MPI"];
    names.iter().any(|name| version.starts_with(name))
        || version.starts_with("MPI VERSION") && version.contains("CRAY MPICH")
}

fn all<const N: usize>(handles: [Option<Handle>; N]) -> Option<[Handle; N]> {
    let found = handles.iter().flatten().count() == N;
    found.then(|| handles.map(|handle| handle.expect("all were counted")))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use super::*;

    /// The numbers of an interface, with their expressions in C.
    fn named(abi: Abi) -> [(&'static str, i64); 7] {
        let numbers = abi.numbers();
        [
            ("MPI_IN_PLACE", numbers.in_place as i64),
            ("MPI_STATUS_IGNORE", numbers.status_ignore as i64),
            ("MPI_ANY_SOURCE", numbers.any_source.into()),
            ("MPI_ANY_TAG", numbers.any_tag.into()),
            ("MPI_COMBINER_NAMED", numbers.combiner_named.into()),
            ("MPI_THREAD_SERIALIZED", numbers.thread_serialized.into()),
            ("offsetof(MPI_Status, MPI_SOURCE)", 4 * numbers.status_source as i64),
        ]
    }

    /// A program that says which constants differ from the table.
    fn probe(abi: Abi, header: &str) -> String {
        let mut lines = format!(
            "#include <{header}>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {{\nint wrong = 0;\n\
             if (sizeof(MPI_Status) > 64 || MPI_SUCCESS != {SUCCESS}) wrong = 1, printf(\"status or success\\n\");\n"
        );
        let mut add = |name: &str, expected: &str| {
            let line = format!(
                "if ((long)({name}) != (long)({expected})) wrong = 1, printf(\"{name} is %#lx\\n\", (long)({name}));\n"
            );
            lines.push_str(&line);
        };
        for handle in HANDLES.iter().chain(&OPERATION_HANDLES).chain(&SCALAR_HANDLES) {
            let symbol = handle.open_mpi.to_str().expect("an identifier");
            match abi {
                Abi::OpenMpi => add(handle.name, &format!("&{symbol}")),
                Abi::Mpich => add(handle.name, &handle.mpich.to_string()),
                Abi::Standard => add(handle.name, &handle.standard.to_string()),
            }
        }
        for (name, value) in named(abi) {
            add(name, &value.to_string());
        }
        lines.push_str("return wrong;\n}\n");
        lines
    }

    /// Builds and runs the probe; `None` if the compiler is missing.
    fn differences(probe: &str, build: &mut Command, folder: &Path) -> Option<String> {
        let (source, program) = (folder.join("probe.c"), folder.join("probe"));
        std::fs::write(&source, probe).expect("a file");
        let built = build.arg("-w").arg("-o").arg(&program).arg(&source).output().ok()?;
        assert!(built.status.success(), "{build:?}: {}", String::from_utf8_lossy(&built.stderr));
        let told = Command::new(program).output().expect("it was built");
        Some(String::from_utf8_lossy(&told.stdout).into_owned())
    }

    #[test]
    fn the_table_says_what_installed_headers_say() {
        let folder = tempfile::tempdir().expect("a folder");
        for (abi, compiler) in [(Abi::OpenMpi, "mpicc.openmpi"), (Abi::Mpich, "mpicc.mpich")] {
            match differences(&probe(abi, "mpi.h"), &mut Command::new(compiler), folder.path()) {
                Some(told) => assert_eq!(told, "", "{abi:?}"),
                None => corecast_testing::skipped(&format!("constants of {abi}"), "its compiler is missing"),
            }
        }
    }

    /// A folder in which `mpi_abi.h` lies.
    fn standard_header() -> Option<PathBuf> {
        let named = std::env::var_os("CORECAST_MPI_ABI_INCLUDE").map(PathBuf::from);
        let usual = ["/usr/include", "/usr/local/include", "/usr/include/x86_64-linux-gnu"].map(PathBuf::from);
        named.into_iter().chain(usual).find(|folder| folder.join("mpi_abi.h").exists())
    }

    #[test]
    fn the_table_says_what_the_standard_header_says() {
        let folder = tempfile::tempdir().expect("a folder");
        let Some(include) = standard_header() else {
            let how = "there is no mpi_abi.h; CORECAST_MPI_ABI_INCLUDE may name its folder";
            return corecast_testing::skipped("constants of the standard interface", how);
        };
        let mut build = Command::new("cc");
        match differences(&probe(Abi::Standard, "mpi_abi.h"), build.arg("-I").arg(include), folder.path()) {
            Some(told) => assert_eq!(told, ""),
            None => corecast_testing::skipped("constants of the standard interface", "there is no C compiler"),
        }
    }

    /// A library whose file has this name, and which says that it is MPICH.
    struct Named(&'static str);

    unsafe extern "C" fn version_of_mpich(text: *mut c_char, length: *mut c_int) -> c_int {
        let version = c"MPICH Version:\t4.0.2";
        // SAFETY: the caller has room for a version.
        unsafe { text.copy_from(version.as_ptr(), version.count_bytes() + 1) };
        // SAFETY: and for its length.
        unsafe { *length = version.count_bytes() as c_int };
        SUCCESS
    }

    impl Symbols for Named {
        fn function(&self, name: &CStr) -> *mut c_void {
            let is_asked = name == c"PMPI_Get_library_version";
            if is_asked { version_of_mpich as *mut c_void } else { std::ptr::null_mut() }
        }

        fn variable(&self, _name: &CStr) -> *mut c_void {
            std::ptr::null_mut()
        }

        fn file_name(&self) -> Option<String> {
            Some(self.0.to_owned())
        }
    }

    #[test]
    fn libraries_that_wrap_or_rebuild_mpi_are_not_taken_for_mpich() {
        for version in
            ["MPICH Version:\t4.0.2", "Intel(R) MPI Library 2021.8 for Linux* OS", "MVAPICH2 Version      :\t2.3.7"]
        {
            assert!(is_of_mpich(version), "{version}");
        }
        assert!(is_of_mpich("MPI VERSION    : CRAY MPICH version 8.1.25 (ANL base 3.4a2)"));
        for version in
            ["HPE MPT 2.23", "MPItrampoline 5.0.0, using MPIwrapper, wrapping: MPICH Version: 4.0", "Microsoft MPI", ""]
        {
            assert!(!is_of_mpich(version), "{version}");
        }
    }

    #[test]
    fn handles_of_32_bits_lose_what_callers_left_above() {
        let of = |name| Constants::of(&Named(name)).expect("its handles are numbers");
        let (mpich, standard) = (of("libmpi.so.12"), of("libmpi_abi.so.1"));
        let passed = 0xdead_beef_4400_0000;
        assert_eq!(mpich.handle(passed), mpich.comm_world);
        assert_eq!(standard.handle(passed), passed);
        assert!(Operation::ALL.iter().all(|&known| mpich.operation_of(mpich.operation(known)) == Some(known)));
        assert_eq!(mpich.operation_of(0x5800_000d), None);
        assert_eq!(standard.operation(Operation::MaxLoc), 0x39);
        assert_eq!(standard.scalar(Scalar::F64), 0x214);
    }
}
