//! The runtimes that are raced by drivers in C, and how each driver is built and started.

use super::workshop::Source;
use crate::launcher::Launcher;
use crate::op::Op;

/// A runtime. To add one: a line in [`RUNTIMES`]; its part of the driver in `driver/` if none there fits it.
#[derive(Debug)]
pub(super) struct Runtime {
    /// The contender's name.
    pub(super) name: &'static str,
    /// A description in one line, with its way to wait.
    pub(super) about: &'static str,
    /// Its part of the driver.
    pub(super) source: &'static Source,
    /// The toolchains for its driver; the first that builds it is taken.
    pub(super) toolchains: &'static [Toolchain],
    /// Advice for the user where none builds it.
    pub(super) remedy: &'static str,
    /// The operations it has.
    pub(super) ops: &'static [Op],
    /// True if its operations carry any length but nothing; else the usual one.
    pub(super) any_length: bool,
    /// A further argument of its driver; `None` stands for a file to share.
    pub(super) detail: Option<&'static str>,
    /// True if it neither yields nor sleeps.
    pub(super) only_polls: bool,
    /// True if corecast's preload object for MPI stands before it.
    pub(super) is_preloaded: bool,
}

/// A compiler, and what starts what it makes.
#[derive(Debug)]
pub(super) struct Toolchain {
    pub(super) compiler: &'static str,
    pub(super) flags: &'static [&'static str],
    pub(super) libraries: &'static [&'static str],
    /// `None` if the driver is started as it is.
    pub(super) launcher: Option<StartedBy>,
}

/// A program that starts a driver as many processes, which bind themselves, and its family.
pub(super) type StartedBy = (&'static str, &'static Launcher);

const CONCURRENCY_KIT_SOURCE: Source =
    Source { name: "concurrency_kit.c", text: include_str!("driver/concurrency_kit.c") };
const MPI_SOURCE: Source = Source { name: "mpi.c", text: include_str!("driver/mpi.c") };
const OPENMP_SOURCE: Source = Source { name: "openmp.c", text: include_str!("driver/openmp.c") };

const fn mpi(compiler: &'static str, flags: &'static [&'static str], launcher: StartedBy) -> Toolchain {
    Toolchain { compiler, flags, libraries: &[], launcher: Some(launcher) }
}

const OPEN_MPI_TOOLCHAINS: &[Toolchain] = &[
    mpi("mpicc.openmpi", &["-DWANT_OPEN_MPI"], ("mpirun.openmpi", &Launcher::OPEN_MPI)),
    mpi("mpicc", &["-DWANT_OPEN_MPI"], ("mpirun", &Launcher::OPEN_MPI)),
];

const MPICH_TOOLCHAINS: &[Toolchain] = &[
    mpi("mpicc.mpich", &["-DWANT_MPICH"], ("mpirun.mpich", &Launcher::HYDRA)),
    mpi("mpicc", &["-DWANT_MPICH"], ("mpirun", &Launcher::HYDRA)),
];

const INTEL_TOOLCHAINS: &[Toolchain] = &[
    mpi("mpiicx", &["-DWANT_INTEL_MPI"], ("mpirun", &Launcher::INTEL)),
    mpi("mpicc", &["-DWANT_INTEL_MPI"], ("mpirun", &Launcher::INTEL)),
];

const fn openmp(compiler: &'static str, flags: &'static [&'static str]) -> Toolchain {
    Toolchain { compiler, flags, libraries: &[], launcher: None }
}

const CONCURRENCY_KIT: &[Toolchain] =
    &[Toolchain { compiler: "cc", flags: &["-pthread"], libraries: &["-lck"], launcher: None }];

const fn of_concurrency_kit(name: &'static str, about: &'static str, kind: &'static str) -> Runtime {
    Runtime {
        name,
        about,
        source: &CONCURRENCY_KIT_SOURCE,
        toolchains: CONCURRENCY_KIT,
        remedy: "`apt-get install gcc libck-dev`",
        ops: &[Op::Barrier],
        any_length: false,
        detail: Some(kind),
        only_polls: true,
        is_preloaded: false,
    }
}

const LIBGOMP: Runtime = Runtime {
    name: "libgomp",
    about: "OpenMP by GCC's libgomp: polls, then sleeps; sooner if it sees more threads than CPUs",
    source: &OPENMP_SOURCE,
    toolchains: &[openmp("gcc", &["-fopenmp"])],
    remedy: "`apt-get install gcc`",
    ops: &[Op::Barrier, Op::Broadcast, Op::Allreduce],
    any_length: false,
    detail: Some("-"),
    only_polls: false,
    is_preloaded: false,
};

const OPEN_MPI: Runtime = Runtime {
    name: "openmpi",
    about: "Open MPI among processes: polls, and yields after every look if CPUs are shared",
    source: &MPI_SOURCE,
    toolchains: OPEN_MPI_TOOLCHAINS,
    remedy: "`apt-get install openmpi-bin libopenmpi-dev`",
    ops: &Op::COLLECTIVES,
    any_length: true,
    detail: None,
    only_polls: false,
    is_preloaded: false,
};

const MPICH: Runtime = Runtime {
    name: "mpich",
    about: "MPICH among processes: polls",
    toolchains: MPICH_TOOLCHAINS,
    remedy: "`apt-get install mpich libmpich-dev`",
    ..OPEN_MPI
};

const INTEL_MPI: Runtime = Runtime {
    name: "intel-mpi",
    about: "Intel MPI among processes: polls",
    toolchains: INTEL_TOOLCHAINS,
    remedy: "`pip install impi-devel`, its place in I_MPI_ROOT, its bin in PATH and its lib in LD_LIBRARY_PATH",
    ..OPEN_MPI
};

/// An MPI behind corecast's preload object. It is raced only if it is named.
const fn preloaded(name: &'static str, about: &'static str, runtime: Runtime) -> Runtime {
    Runtime { name, about, is_preloaded: true, ..runtime }
}

/// Every runtime.
pub(super) const RUNTIMES: &[Runtime] = &[
    of_concurrency_kit("ck/centralized", "Concurrency Kit's centralized barrier; only polls", "centralized"),
    of_concurrency_kit("ck/combining", "Concurrency Kit's combining barrier, in pairs; only polls", "combining"),
    of_concurrency_kit("ck/dissemination", "Concurrency Kit's dissemination barrier; only polls", "dissemination"),
    of_concurrency_kit("ck/tournament", "Concurrency Kit's tournament barrier; only polls", "tournament"),
    of_concurrency_kit("ck/mcs", "Concurrency Kit's MCS tree barrier; only polls", "mcs"),
    LIBGOMP,
    Runtime {
        name: "libomp",
        about: "OpenMP by LLVM's libomp: polls, yields if there are more threads than CPUs, then sleeps",
        toolchains: &[openmp("clang", &["-fopenmp=libomp"])],
        remedy: "`apt-get install clang libomp-dev`",
        ..LIBGOMP
    },
    OPEN_MPI,
    MPICH,
    INTEL_MPI,
    preloaded("openmpi+shim", "Open MPI behind libcorecast_mpi.so, which serves most operations", OPEN_MPI),
    preloaded("mpich+shim", "MPICH behind libcorecast_mpi.so, which serves most operations", MPICH),
    preloaded("intel-mpi+shim", "Intel MPI behind libcorecast_mpi.so, which serves most operations", INTEL_MPI),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_runtime_can_be_built_somewhere_and_says_how() {
        for runtime in RUNTIMES {
            assert!(!runtime.toolchains.is_empty() && runtime.remedy.contains(" install "), "{runtime:?}");
            assert!(runtime.ops.iter().all(|op| Op::COLLECTIVES.contains(op)), "{runtime:?}");
        }
    }
}
