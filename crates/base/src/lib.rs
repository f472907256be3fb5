//! Words that every layer of corecast shares: CPU ids and sets, cache lines, clocks, waiting, and the one door to
//! atomics.

mod cpu;

pub use cpu::{CpuId, CpuSet, CpuSetError, MAX_CPU_ID};
