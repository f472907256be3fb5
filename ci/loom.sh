#!/usr/bin/env bash
# Model checks the protocols over shared memory: every interleaving, and every value a weaker ordering would let a load
# see, up to LOOM_MAX_PREEMPTIONS forced switches per run. Each crate keeps its models in tests/loom.
set -euo pipefail
cd "$(dirname "$0")/.."

export LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-2}"
RUSTFLAGS="--cfg loom" cargo test --release --target-dir "${CARGO_TARGET_DIR:-target}/loom" \
    --package corecast-base --package corecast-channel --package corecast-lock --package corecast-collective \
    --package corecast-replica --package corecast-tm --package corecast-shim-omp --package corecast-shim-pthread \
    --features corecast-lock/hierarchical --test loom
