//! Benchmarks of MPI that were written elsewhere: the words that start them, and the tables that they print. OSU's in Python come
//! with mpi4py's sources, and Intel's in its package of Intel MPI.

use std::path::{Path, PathBuf};
use std::process::Command;

use corecast_race::Op;
use corecast_race::error::BenchError;

/// OSU's benchmarks of operations that the object serves: the module, which has a function of the same name.
const OSU: [(Op, &str); 2] = [(Op::Barrier, "osu_barrier"), (Op::Broadcast, "osu_bcast")];
/// Intel's names.
const IMB: [(Op, &str); 4] =
    [(Op::Barrier, "Barrier"), (Op::Broadcast, "Bcast"), (Op::Reduce, "Reduce"), (Op::Allreduce, "Allreduce")];
/// Calls a function of OSU's: its folder, its name, its repetitions and its longest message are arguments. Left to itself it
/// repeats a barrier a hundred times, for as long as the object only looks on.
const OSU_CALL: &str = "import sys
folder, name, loop, most = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
sys.path.insert(0, folder)
benchmark = getattr(__import__(name), name)
benchmark(skip=loop // 10, loop=loop, skip_large=loop // 10, loop_large=loop, MAX_MSG_SIZE=most)";

/// A launch's values: the operation and its bytes, and microseconds.
pub(super) type Values = Vec<((Op, u64), f64)>;

/// The length of a launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub(super) ranks: usize,
    pub(super) repetitions: u32,
    pub(super) most_bytes: usize,
}

/// A program of the ranks.
#[derive(Debug)]
pub(super) enum Program {
    /// A module in the folder of OSU's, which performs this operation.
    Osu { folder: PathBuf, op: Op, module: &'static str },
    /// Intel's, with these of its benchmarks.
    Imb { path: PathBuf, benchmarks: Vec<&'static str> },
}

impl Program {
    /// Those of OSU's in this folder that perform these operations.
    ///
    /// # Errors
    /// [`BenchError::Program`] if one is missing, or none does.
    pub(super) fn of_osu(folder: &Path, ops: &[Op]) -> Result<Vec<Self>, BenchError> {
        let program = |(op, module)| {
            let path = folder.join(module).with_extension("py");
            if path.is_file() {
                return Ok(Self::Osu { folder: folder.to_owned(), op, module });
            }
            Err(BenchError::Program(format!("there is no {}: mpi4py's sources have it in demo", path.display())))
        };
        asked_for("OSU's", &OSU, ops)?.into_iter().map(program).collect()
    }

    /// Intel's, for these operations.
    ///
    /// # Errors
    /// [`BenchError::Program`] if it is missing, or performs none of them.
    pub(super) fn of_intel(path: &Path, ops: &[Op]) -> Result<Self, BenchError> {
        if !path.is_file() {
            let hint = "the package impi-rt of PyPI has IMB-MPI1";
            return Err(BenchError::Program(format!("there is no program {}: {hint}", path.display())));
        }
        let path = std::path::absolute(path).map_err(|error| BenchError::Program(error.to_string()))?;
        let benchmarks = asked_for("Intel's", &IMB, ops)?.into_iter().map(|(_, name)| name).collect();
        Ok(Self::Imb { path, benchmarks })
    }

    /// Its name in reports.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Osu { module, .. } => format!("{module}.py"),
            Self::Imb { path, .. } => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
        }
    }

    /// Adds its own words to a launcher's.
    pub(super) fn extend(&self, command: &mut Command, effort: Effort) {
        let Effort { ranks, repetitions, most_bytes } = effort;
        let repetitions = repetitions.to_string();
        match self {
            Self::Osu { folder, module, .. } => {
                command.args(["python3", "-c", OSU_CALL]).arg(folder).arg(module);
                command.args([repetitions, most_bytes.to_string()]);
            }
            Self::Imb { path, benchmarks } => {
                let lengths = format!("0:{}", most_bytes.max(1).ilog2());
                // Else it goes through all smaller numbers of ranks before.
                command.arg(path).args(["-npmin", &ranks.to_string(), "-iter", &repetitions, "-msglog", &lengths]);
                command.args(benchmarks);
            }
        }
    }

    /// The values in what it has printed.
    pub(super) fn values(&self, text: &str) -> Values {
        match self {
            Self::Osu { op, .. } => osu_values(*op, text),
            Self::Imb { .. } => imb_values(text),
        }
    }
}

fn asked_for(whose: &str, all: &[(Op, &'static str)], ops: &[Op]) -> Result<Vec<(Op, &'static str)>, BenchError> {
    let asked: Vec<_> = all.iter().filter(|(op, _)| ops.contains(op)).copied().collect();
    if asked.is_empty() {
        let known: Vec<&str> = all.iter().map(|(op, _)| op.name()).collect();
        return Err(BenchError::Program(format!("{whose} benchmarks perform {}: --op has none", known.join(", "))));
    }
    Ok(asked)
}

/// The rows of a table of OSU's: bytes, and the latency.
fn osu_values(op: Op, text: &str) -> Values {
    let row = |line: &str| {
        let (bytes, latency) = line.trim().split_once(' ')?;
        Some(((op, bytes.parse().ok()?), latency.trim().parse().ok()?))
    };
    text.lines().filter_map(row).collect()
}

/// The rows of all tables of Intel's: bytes, which barriers have not, repetitions, and the least, the most and the mean time of
/// a rank.
fn imb_values(text: &str) -> Values {
    let (mut told, mut op) = (Vec::new(), None);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("# Benchmarking ") {
            op = IMB.into_iter().find(|(_, known)| *known == name.trim()).map(|(op, _)| op);
        }
        let numbers: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        let row = match numbers.as_deref() {
            Ok(&[_repetitions, _, slowest_us, _]) => Some((0, slowest_us)),
            Ok(&[bytes, _repetitions, _, slowest_us, _]) => Some((bytes as u64, slowest_us)),
            _ => None,
        };
        told.extend(op.zip(row).map(|(op, (bytes, slowest_us))| ((op, bytes), slowest_us)));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_testing::skipped;

    #[test]
    fn the_tables_of_both_are_read() {
        let osu = "# MPI Broadcast Latency Test\n# Size [B]        Latency [us]\n         0                0.07\n         8                1.60\n";
        assert_eq!(osu_values(Op::Broadcast, osu), [((Op::Broadcast, 0), 0.07), ((Op::Broadcast, 8), 1.6)]);
        let imb = "\
# MPI_Op                         :   MPI_SUM
# Benchmarking Barrier 
# #processes = 2 
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         0.45         0.47         0.46

# Benchmarking Bcast 
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.05         0.06         0.06
           16         1000         0.60        12.68         6.64

# Benchmarking PingPong 
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.60        12.68
";
        let expected = [((Op::Barrier, 0), 0.47), ((Op::Broadcast, 0), 0.06), ((Op::Broadcast, 16), 12.68)];
        assert_eq!(imb_values(imb), expected);
    }

    #[test]
    fn functions_of_osu_get_their_repetitions_and_lengths() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let module = "def osu_bcast(BENCHMARH='', skip=1, loop=1, skip_large=1, loop_large=1, large_message_size=1, MAX_MSG_SIZE=1):\n    print(MAX_MSG_SIZE, skip + loop + skip_large + loop_large)\n";
        std::fs::write(folder.path().join("osu_bcast.py"), module).expect("written");
        let programs = Program::of_osu(folder.path(), &[Op::Broadcast]).expect("it is there");
        let mut command = Command::new("env");
        programs[0].extend(&mut command, Effort { ranks: 2, repetitions: 1000, most_bytes: 64 });
        let told = command.output().expect("every system has env");
        if !told.status.success() {
            return skipped("OSU's benchmarks", "there is no python3");
        }
        let told = String::from_utf8(told.stdout).expect("text");
        assert_eq!(programs[0].values(&told), [((Op::Broadcast, 64), 2200.0)]);
    }

    #[test]
    fn programs_that_are_not_there_are_named() {
        let error = |made: Result<_, BenchError>| made.map(drop).expect_err("there is none").to_string();
        let nowhere = Path::new("/nowhere");
        assert!(error(Program::of_osu(nowhere, &Op::COLLECTIVES).map(drop)).contains("/nowhere/osu_barrier.py"));
        assert!(error(Program::of_intel(nowhere, &Op::COLLECTIVES).map(drop)).contains("no program /nowhere"));
        assert!(error(Program::of_osu(nowhere, &[Op::Reduce]).map(drop)).contains("--op has none"));
    }
}
