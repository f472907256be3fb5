#!/usr/bin/env bash
# No warning of the compiler or of clippy, in the code as it ships and in the code as the model checker sees it.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo clippy --workspace --all-targets -- -D warnings
cargo clippy --package corecast-lock --all-targets --all-features -- -D warnings

RUSTFLAGS="--cfg loom" cargo clippy --release --target-dir "${CARGO_TARGET_DIR:-target}/loom" \
    --package corecast-base --package corecast-channel --package corecast-lock --package corecast-collective \
    --package corecast-replica --package corecast-tm --package corecast-shim-omp --package corecast-shim-pthread \
    --features corecast-lock/hierarchical --lib --test loom -- -D warnings
