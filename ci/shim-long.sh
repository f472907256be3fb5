#!/usr/bin/env bash
# Launches OpenMP, pthread and MPI programs with the preload objects ten thousand times each, or as often as the argument says: none may
# hang, and each must end as it does without. The OpenMP programs take about a quarter of an hour on two CPUs, the others some hours;
# no part of `.ci/run`, which launches a hundred and twenty-six. CORECAST_LAUNCH_LIMIT=600 is for a machine that does other work.
set -euo pipefail
cd "$(dirname "$0")/.."

export CORECAST_LAUNCHES="${1:-10000}"
cargo test --release --package corecast-shim-omp --test shim -- many_launches
cargo test --release --package corecast-shim-pthread --test preloaded -- many_launches
cargo test --release --package corecast-shim-mpi --test served -- many_launches
